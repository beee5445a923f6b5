"""Triangular systems: their exact solutions, each number rounded once."""

from __future__ import annotations

from math import prod

from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, broadcast_shapes
from conform.refs.linalg.exact import (
    Exact,
    check_square,
    flattened,
    is_finite,
    matrices_of,
    rounded,
    solve,
    transposed,
)  # fmt: skip
from conform.refs.references import reference


@reference("aten::linalg_solve_triangular")
def solve_triangular(self: RefTensor, B: RefTensor, upper: bool, left: bool, unitriangular: bool) -> RefTensor:
    """X of self X = B, or X self = B; nothing is read of self's other triangle, nor of its diagonal if unitriangular.

    Open where what is read of self has a NaN, an infinity, or 0 on the diagonal; and columns (rows) of B that have.
    """
    check_square(self)
    if B.dtype != self.dtype:
        raise NotImplementedError(f"B of {B.dtype} beside {self.dtype}")
    if len(B.shape) < 2 or B.shape[-2 if left else -1] != self.shape[-1]:
        raise ValueError(f"self of shape {self.shape} with B of shape {B.shape}")
    batch = broadcast_shapes(self.shape[:-2], B.shape[:-2])
    columns = B.shape[-1 if left else -2]
    results = []
    for matrix, sides in zip(matrices_of(self, batch), matrices_of(B, batch), strict=True):
        if left:
            results.append(_solution(matrix, sides, columns, upper, unitriangular, B.dtype))
        else:  # (X self)^T = self^T X^T
            turned = transposed(matrix, len(matrix)), transposed(sides, B.shape[-1])
            solution = _solution(*turned, columns, not upper, unitriangular, B.dtype)
            results.append(transposed(solution, columns))
    return RefTensor(B.dtype, (*batch, *B.shape[-2:]), flattened(results))


@reference("aten::triangular_solve")
def triangular_solve(
    self: RefTensor, A: RefTensor, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[RefTensor, RefTensor]:
    """X of A X = self, or of A^T X = self; and A, once for each system."""
    check_square(A)
    if self.dtype != A.dtype or len(self.shape) < 2 or self.shape[-2] != A.shape[-1]:
        raise ValueError(f"A of {A.dtype}, shape {A.shape}, with self of {self.dtype}, shape {self.shape}")
    batch = broadcast_shapes(A.shape[:-2], self.shape[:-2])
    results = []
    for matrix, sides in zip(matrices_of(A, batch), matrices_of(self, batch), strict=True):
        turned = transposed(matrix, len(matrix)) if transpose else matrix
        results.append(_solution(turned, sides, self.shape[-1], upper != transpose, unitriangular, self.dtype))
    copies = flattened(matrices_of(A, batch))
    solution = RefTensor(self.dtype, (*batch, *self.shape[-2:]), flattened(results))
    return solution, RefTensor(A.dtype, _shape(batch, A), copies)


def _shape(batch: Shape, tensor: RefTensor) -> Shape:
    return (*batch, *tensor.shape[-2:])


def _solution(
    matrix: list[list], sides: list[list], columns: int, upper: bool, unitriangular: bool, dtype: str
) -> list[list]:
    size = len(matrix)
    read = [[_read(matrix[i][j], i, j, upper, unitriangular) for j in range(size)] for i in range(size)]
    if not is_finite([z for row in read for z in row]) or prod(read[i][i] != 0 for i in range(size)) == 0:
        return [[UNSPECIFIED] * columns for _ in range(size)]
    known = [is_finite([row[j] for row in sides]) for j in range(columns)]
    filled = [[z if is_known else 0.0 for z, is_known in zip(row, known, strict=True)] for row in sides]
    solution = solve(Exact.of(read, size), Exact.of(filled, columns))
    return [[rounded(dtype, z) if is_known else UNSPECIFIED for z, is_known in zip(row, known, strict=True)]
            for row in solution]  # fmt: skip


def _read(element: float | complex, i: int, j: int, upper: bool, unitriangular: bool) -> float | complex:
    if i == j:
        return 1.0 if unitriangular else element
    return element if (i < j) == upper else 0.0
