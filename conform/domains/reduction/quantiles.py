"""Quantiles: the domains of the arguments."""

from __future__ import annotations

import numpy as np

from conform.domains.engine.arguments import dim, index_tensor, optional, real, result, string, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dim_of, dtype_of, shaped
from conform.domains.reduction.sums import KEEPDIM, REDUCED, shape_without
from conform.domains.specs import spec
from conform.numerics.draws import Stream
from conform.numerics.formats import format_named

BETWEEN_ENDS = Value.Ge(0), Value.Le(1)


def _drawn(stream: Stream, q: MetaArgument) -> np.ndarray:
    shares = np.array([0.0, 0.1, 0.25, 0.3, 0.5, 0.625, 0.75, 0.9, 1.0]).astype(format_named(q.dtype).storage)
    return shares[stream.integers(0, len(shares) - 1, q.shape)]


SELF = tensor("self", Dtype.In(("float32", "float64")), Size.Ge(1))
ONE_OR_ALL = optional(dim("dim", dim_of("self")))
INTERPOLATION = string("interpolation", Value.In(("linear", "lower", "higher", "nearest", "midpoint")))

for _name in ("aten::quantile", "aten::nanquantile"):
    spec(
        _name,
        SELF,
        index_tensor("q", dtype_of("self"), Rank.Le(1), BETWEEN_ENDS, Value.Gen(_drawn)),
        ONE_OR_ALL,
        KEEPDIM,
        INTERPOLATION,
        result(
            dtype_of("self"),
            shaped(
                lambda self, q, dim, keepdim: (*q.shape, *shape_without(self, dim, keepdim)),
                "shape(q), shape(self) without dim",
            ),
        ),
    )
    spec(
        f"{_name}.scalar",
        SELF,
        real("q", BETWEEN_ENDS, Value.Be((0.5, 0.3))),
        ONE_OR_ALL,
        KEEPDIM,
        INTERPOLATION,
        result(dtype_of("self"), REDUCED),
    )
