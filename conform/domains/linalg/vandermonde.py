"""Vandermonde matrices: the domain of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import length, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Optional, Rank, Value
from conform.domains.engine.dtypes import is_integral
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import not_complex_here, shaped
from conform.domains.specs import spec

HALVES = ("float16", "bfloat16")
ONE_COLUMN = "one column is one of ones, and none nothing"


def _shape(x: MetaArgument, N: int | None) -> tuple[int, ...]:
    return (*x.shape, x.size(-1) if N is None else N)


spec(
    "aten::linalg_vander",
    tensor(
        "x", not_complex_here(), Dtype.Ne("bool"), Dtype.NotIn(HALVES).lenient("a kernel may take them"),
        Rank.Ge(1).unjudged("torch takes a number as a vector of one"),
    ),
    optional(
        length("N", Value.Ge(2).unjudged(ONE_COLUMN), Value.Be((4, 2, 3, 7))),
        Optional.In(
            lambda x: (False,) if x.rank == 0 or x.size(-1) < 2 else ANYTHING, text="{False} where size(x, -1) < 2"
        ).unjudged(ONE_COLUMN),
    ),
    result(Dtype.Eq(lambda x: "int64" if is_integral(x.dtype) else x.dtype), shaped(_shape)),
)
