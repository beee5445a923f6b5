"""Triangular systems: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import boolean, result, tensor
from conform.domains.engine.constraints import Rank
from conform.domains.engine.vocabulary import dtype_of, shaped
from conform.domains.linalg.matrices import matrix, matrix_of, right_sides, rows_of, stack_beside, stacked
from conform.domains.specs import spec

CONVERTED = "torch converts B to the dtype of self"

spec(
    "aten::linalg_solve_triangular",
    matrix("self", lambda self, B: 0 in (self.numel, B.numel)),
    tensor("B", dtype_of("self").unjudged(CONVERTED), Rank.Ge(2), stack_beside("self"), rows_of("self", "left")),
    boolean("upper"),
    boolean("left"),
    boolean("unitriangular"),
    result(dtype_of("self"), shaped(lambda self, B: stacked(self, B))),
)  # fmt: skip
spec(
    "aten::triangular_solve",
    right_sides("self"),
    matrix_of("A", "self"),
    boolean("upper"),
    boolean("transpose"),
    boolean("unitriangular"),
    result(dtype_of("self"), shaped(lambda self, A: stacked(A, self))),
    result(dtype_of("self"), shaped(lambda self, A: (*stacked(A, self)[:-2], *A.shape[-2:]))),
)
