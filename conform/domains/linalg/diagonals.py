"""Diagonals of stacks of matrices: the domain of the arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import dim, length, result, tensor
from conform.domains.engine.constraints import Rank
from conform.domains.engine.vocabulary import another_dim_than, dim_of, dtype_of, shaped
from conform.domains.shape.views import diagonal_shape
from conform.domains.specs import spec

spec(
    "aten::linalg_diagonal",
    tensor("A", Rank.Ge(2)),
    length("offset"),
    dim("dim1", dim_of("A")),
    dim("dim2", dim_of("A"), another_dim_than("dim1", "A")),
    result(dtype_of("A"), shaped(lambda A, offset, dim1, dim2: diagonal_shape(A, offset, dim1, dim2))),
)
