"""Distances: the domains of their arguments."""

from __future__ import annotations

import math

from conform.domains.engine.arguments import boolean, dim, index_tensor, real, result, tensor
from conform.domains.engine.constraints import Constraint, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import (
    broadcast,
    broadcastable_with,
    dim_of,
    dtype_of,
    shape_of,
    shaped,
)
from conform.domains.loss.outcomes import FLOAT, NONE, ONE_DTYPE, ORDINARY, REDUCTION, SIGN
from conform.domains.specs import spec

ONE_RANK = Rank.Eq(lambda x1: x1.rank, text="rank(x1)").unjudged("which dim is meant depends on the broadcast")
SOME_TERMS = Size.Ge(1).unjudged("nothing has no angle and no distance")


def _without_dim(x1: MetaArgument, x2: MetaArgument, dim: int) -> tuple[int, ...]:
    shape = broadcast(x1, x2)
    return tuple(size for d, size in enumerate(shape) if d != dim % len(shape)) if shape else ()


def _with_last_reduced(x1: MetaArgument, x2: MetaArgument, keepdim: bool) -> tuple[int, ...]:
    shape = broadcast(x1, x2)[:-1]
    return (*shape, 1) if keepdim else shape


spec(
    "aten::cosine_similarity",
    tensor("x1", FLOAT.unjudged("torch converts integers"), SOME_TERMS),
    tensor("x2", dtype_of("x1").unjudged(ONE_DTYPE), broadcastable_with("x1"), ONE_RANK, SOME_TERMS),
    dim("dim", dim_of("x1")),
    real("eps", Value.Gt(0).unjudged("0 / 0"), ORDINARY),
    result(dtype_of("x1"), shaped(_without_dim, "broadcast of x1, x2 without dim")),
)
spec(
    "aten::pairwise_distance",
    tensor("x1", FLOAT.unjudged("torch converts integers"), Rank.Ge(1).unjudged("a number is no line"), SOME_TERMS),
    tensor("x2", dtype_of("x1").unjudged(ONE_DTYPE), broadcastable_with("x1"), SOME_TERMS),
    real("p", Value.In((1.0, 2.0, math.inf)).unjudged("the kit has three orders")),
    real("eps", ORDINARY),
    boolean("keepdim"),
    result(dtype_of("x1"), shaped(_with_last_reduced, "broadcast of x1, x2 without its last dim, or with size 1")),
)


def _of_rank(name: str) -> Constraint:
    return Rank.Eq(lambda first: first.rank, (name,), f"rank({name})")


ITS_TERMS = Size.In(
    lambda anchor, rank, d: anchor.shape[-1:] if d == rank - 1 else ANYTHING, text="size(anchor, -1) if d = rank - 1"
).unjudged("torch broadcasts each pair by itself")
OF_ANCHOR = dtype_of("anchor").unjudged(ONE_DTYPE)
spec(
    "aten::triplet_margin_loss",
    tensor("anchor", FLOAT.unjudged("torch converts integers"), Rank.Ge(1).unjudged("a number is no line"), SOME_TERMS),
    tensor("positive", OF_ANCHOR, _of_rank("anchor"), broadcastable_with("anchor"), ITS_TERMS),
    tensor("negative", OF_ANCHOR, _of_rank("anchor"), broadcastable_with("anchor", "positive"), ITS_TERMS),
    real("margin", Value.Gt(0).unjudged("documented as greater than 0"), Value.Le(1e4).unjudged("torch takes any")),
    real("p", Value.In((1.0, 2.0, math.inf)).unjudged("the kit has three orders")),
    real("eps", ORDINARY),
    boolean("swap"),
    REDUCTION,
    result(
        dtype_of("anchor"),
        shaped(
            lambda anchor, positive, negative, reduction: (
                broadcast(anchor, positive, negative)[:-1] if reduction == NONE else ()
            ),
            "broadcast of the tensors without its last dim, if reduction = 0",
        ),
    ),
)

spec(
    "aten::cosine_embedding_loss",
    tensor("input1", FLOAT.unjudged("torch converts integers"), Rank.In((1, 2)), SOME_TERMS),
    tensor(
        "input2",
        dtype_of("input1").unjudged(ONE_DTYPE),
        [one.unjudged("torch broadcasts") for one in shape_of("input1")],
    ),
    index_tensor(
        "target",
        dtype_of("input1").unjudged(ONE_DTYPE),
        Rank.Eq(lambda input1: input1.rank - 1, text="rank(input1) - 1"),
        Size.Eq(lambda input1: input1.shape[0], text="size(input1, 0)").unjudged("torch broadcasts"),
        SIGN,
    ),
    real("margin", Value.Ge(-1).unjudged("documented so"), Value.Le(1).unjudged("documented so")),
    REDUCTION,
    result(
        dtype_of("input1"),
        shaped(lambda target, reduction: target.shape if reduction == NONE else (), "shape(target), if reduction = 0"),
    ),
)
