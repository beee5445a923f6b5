"""Distances of vectors: the domains of the arguments."""

from __future__ import annotations

import math

from conform.domains.engine.arguments import integer, optional, real, result, scalar, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, NUMBERS_WITH_INFINITIES, REALS, Space
from conform.domains.engine.vocabulary import broadcast, broadcastable_with, dtype_of, shaped
from conform.domains.specs import FLOATS, spec

VECTORS = (
    Dtype.In(FLOATS),
    Dtype.In(("float32", "float64")).lenient("a kernel may take half types"),
)
REFUSED_BEFORE = "pdist, which calls it, has refused it"
ORDERS = (0.0, 1.0, 2.0, math.inf, 0.5, 3.0, 1.5)
ORDER = real("p", Value.Ge(0), Value.Be(ORDERS))


def _result(x1: MetaArgument, x2: MetaArgument) -> tuple[int, ...]:
    return (*_batch(x1, x2), x1.shape[-2], x2.shape[-2])


def _batch(x1: MetaArgument, x2: MetaArgument) -> tuple[int, ...]:
    rank = max(x1.rank, x2.rank) - 2
    own, its = ((1,) * (rank - x.rank + 2) + x.shape[:-2] for x in (x1, x2))
    return tuple(n if m == 1 else m for m, n in zip(own, its, strict=True))


def _beside(x1: MetaArgument, rank: int, d: int) -> object:
    """{size(x1, d), from the end}, in the batch {1, size(x1, d)}"""
    place = d - rank
    if place == -1:
        return (x1.shape[-1],)
    if place == -2 or -place > x1.rank or x1.shape[place] == 1:
        return ANYTHING
    return (1, x1.shape[place])


def _orders(own: MetaArgument, self: MetaArgument, other: MetaArgument) -> Space:
    if own.dtype not in ("int", "float"):
        return ANYTHING
    has_none = 0 in broadcast(self, other)
    return REALS.narrowed("Ge", 0) if has_none else NUMBERS_WITH_INFINITIES.within(0, math.inf)


X1, X2 = tensor("x1", VECTORS, Rank.Ge(2)), tensor("x2", dtype_of("x1"), Rank.Ge(2), Size.In(_beside))
DISTANCES = result(dtype_of("x1"), shaped(_result, "(*batch, rows of x1, rows of x2)"))
for _name in ("aten::cdist", "aten::_cdist_forward"):
    spec(_name, X1, X2, ORDER, optional(integer("compute_mode", Value.In((0, 1, 2)))), DISTANCES)
spec(
    "aten::_euclidean_dist",
    tensor("x1", VECTORS, Rank.Ge(2).unjudged("torch multiplies a vector, too")),
    X2,
    DISTANCES,
)
spec(
    "aten::_pdist_forward",
    tensor("self", VECTORS, Rank.Eq(2).unjudged(REFUSED_BEFORE)),
    real("p", Value.Ge(0).unjudged(REFUSED_BEFORE), Value.Be(ORDERS)),
    result(dtype_of("self"), shaped(lambda self: (self.shape[0] * (self.shape[0] - 1) // 2,), "(pairs of rows,)")),
)

PROMOTED = "torch promotes, and takes complex numbers"
spec(
    "aten::dist",
    tensor("self", Dtype.In(FLOATS).unjudged(PROMOTED)),
    tensor("other", dtype_of("self").unjudged(PROMOTED), broadcastable_with("self")),
    scalar(
        "p",
        Dtype.In(("int", "float")).unjudged(PROMOTED),
        Value.In(_orders, ("", "self", "other"), "[0, inf], below inf of no elements").unjudged(
            "P60: norms of no elements, and of a negative order, have rules of their own"
        ),
        Value.Be(lambda own: ORDERS if own.dtype == "float" else (2, 0, 1, 3), ("",)),
    ),
    result(dtype_of("self"), shaped(lambda self: (), "()")),
)
