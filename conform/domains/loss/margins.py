"""Losses of margins and counts: the domains of their arguments."""

from __future__ import annotations

import numpy as np

from conform.domains.engine.arguments import boolean, index_tensor, optional, real, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import integers_between
from conform.domains.engine.vocabulary import (
    broadcast,
    broadcast_sizes,
    broadcastable_with,
    dtype_of,
    parameter,
    shape_of,
    shaped,
    typically,
)
from conform.domains.loss.outcomes import FLOAT, LOSS, NONE, OF_ITS_DTYPE, ONE_DTYPE, ORDINARY, REDUCTION, SIGN
from conform.domains.specs import spec
from conform.numerics.draws import Stream

spec(
    "aten::soft_margin_loss",
    tensor("self", FLOAT),
    tensor("target", OF_ITS_DTYPE, [one.unjudged("torch broadcasts") for one in shape_of("self")], Value.Be((1, -1))),
    REDUCTION,
    LOSS,
)
spec(
    "aten::hinge_embedding_loss",
    tensor("self", FLOAT.unjudged("torch takes what has a difference")),
    index_tensor("target", OF_ITS_DTYPE, broadcastable_with("self"), SIGN),
    real("margin"),
    REDUCTION,
    LOSS,
)
spec(
    "aten::margin_ranking_loss",
    tensor("input1", FLOAT.unjudged("torch takes what has a difference")),
    tensor("input2", dtype_of("input1").unjudged(ONE_DTYPE), broadcastable_with("input1")),
    tensor("target", dtype_of("input1").unjudged(ONE_DTYPE), broadcastable_with("input1", "input2"), Value.Be((1, -1))),
    real("margin"),
    REDUCTION,
    result(
        dtype_of("input1"),
        shaped(
            lambda input1, input2, target, reduction: (
                broadcast_sizes(input1.shape, input2.shape, target.shape) if reduction == NONE else ()
            ),
            "broadcast of the tensors, if reduction = 0",
        ),
    ),
)
spec(
    "aten::poisson_nll_loss",
    tensor("input", FLOAT.unjudged("torch takes what has an exponential"), typically(0, 4)),
    tensor("target", dtype_of("input").unjudged(ONE_DTYPE), broadcastable_with("input"), typically(0, 9)),
    boolean("log_input"),
    boolean("full"),
    real("eps", ORDINARY),
    REDUCTION,
    result(
        dtype_of("input"),
        shaped(
            lambda input, target, reduction: broadcast(input, target) if reduction == NONE else (),
            "broadcast of input, target, if reduction = 0",
        ),
    ),
)

TERMS = 2**17  # of a sample that is drawn, a class against a label: of more a bound says nothing


def _drawn_labels(stream: Stream, target: MetaArgument, self: MetaArgument) -> np.ndarray:
    """Labels up to a -1; of many samples the first alone may have none, or all: its loss is 0, whatever it reads."""
    classes = max(self.shape[-1], 1) if self.rank else 1
    drawn = stream.integers(-1, classes - 1, target.shape)
    if target.rank == 2:
        drawn[1:, :1] %= classes
        drawn[1:, max(classes - 1, 1) :] = -1
    return np.where(np.arange(drawn.shape[-1]) < max(TERMS // classes, 1), drawn, -1) if target.rank else drawn


SOME_CLASSES = Size.Ge(lambda rank, d: int(d == rank - 1), text="1 for the classes")
OF_SAMPLES = result(
    dtype_of("self"),
    shaped(
        lambda self, reduction: self.shape[:-1] if reduction == NONE else (), "shape of the samples, if reduction = 0"
    ),
)
CLASS_WEIGHTS = shaped(lambda self: self.shape[-1:], "[number of classes]")


def _is_the_only_one(self: MetaArgument, weight: MetaArgument) -> bool:
    return self.size(-1) == 1 and weight.rank == 0


spec(
    "aten::multi_margin_loss",
    tensor("self", FLOAT, Rank.In((1, 2)), SOME_CLASSES),
    index_tensor(
        "target",
        Dtype.Eq("int64"),
        shaped(lambda self: self.shape[:-1], "shape of the samples"),
        Value.In(lambda self: integers_between(0, self.shape[-1] - 1), text="{0, ..., number of classes - 1}"),
    ),
    scalar("p", Dtype.Eq("int").unjudged("torch converts it"), Value.In((1, 2))),
    parameter("margin"),
    optional(
        tensor(
            "weight",
            dtype_of("self"),
            [one.unjudged("one class has one weight", _is_the_only_one) for one in CLASS_WEIGHTS],
        )
    ),
    REDUCTION,
    OF_SAMPLES,
)
spec(
    "aten::multilabel_margin_loss",
    tensor("self", FLOAT, Rank.In((1, 2)), SOME_CLASSES),
    index_tensor(
        "target",
        Dtype.Eq("int64"),
        shape_of("self"),
        Value.In(lambda self: integers_between(-1, self.shape[-1] - 1), text="{-1, ..., number of classes - 1}"),
        Value.Gen(_drawn_labels),
    ),
    REDUCTION,
    OF_SAMPLES,
)
