"""Frobenius's norm: the domain of the arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import dims, result
from conform.domains.engine.constraints import Length
from conform.domains.engine.vocabulary import distinct_dims_of, dtype_of
from conform.domains.reduction.sums import FLOAT, KEEPDIM, REDUCED
from conform.domains.specs import spec

spec(
    "aten::frobenius_norm.dim",
    FLOAT,
    dims("dim", Length.Le(lambda self: min(max(self.rank, 1), 2), text="min(max(rank(self), 1), 2)"),
         distinct_dims_of("self")),
    KEEPDIM,
    result(dtype_of("self"), REDUCED),
)  # fmt: skip
