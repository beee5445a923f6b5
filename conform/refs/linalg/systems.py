"""Systems of any square matrices and their inverses: exact solutions, each number rounded once."""

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


@reference("aten::linalg_solve_ex")
def solve_ex(A: RefTensor, B: RefTensor, left: bool, check_errors: bool) -> tuple[RefTensor, RefTensor]:
    """X with A X = B, or X A = B, and for each A the least k for which its first k columns are dependent, else 0.

    B is a stack of vectors where it has one dim, or the shape of A without the last one. Open are solutions with a
    singular matrix, one with a NaN or an infinity, or of a right side with one.
    """
    check_square(A)
    infos = RefTensor("int32", A.shape[:-2], [_info(matrix) for matrix in matrices_of(A, A.shape[:-2])])
    if B.dtype != A.dtype or not B.shape:
        raise ValueError(f"B of {B.dtype}, {B.shape}, with A of {A.dtype}")
    if len(B.shape) == 1 or B.shape == A.shape[:-1]:
        if not left:
            raise ValueError("vectors on the left")
        columns = _solutions(A, RefTensor(B.dtype, (*B.shape, 1), B.data), True)
        return RefTensor(B.dtype, columns.shape[:-1], columns.data), infos
    return _solutions(A, B, left), infos


@reference("aten::_linalg_solve_ex")
def solve_ex_with_factors(A: RefTensor, B: RefTensor, left: bool, check_errors: bool) -> tuple[RefTensor, ...]:
    """linalg_solve_ex with factors and pivots, all open, in between."""
    solution, infos = solve_ex(A, B, left, check_errors)
    factors = RefTensor(A.dtype, A.shape, [UNSPECIFIED] * prod(A.shape))
    return solution, factors, RefTensor("int32", A.shape[:-1], [UNSPECIFIED] * prod(A.shape[:-1])), infos


@reference("aten::linalg_solve")
def linalg_solve(A: RefTensor, B: RefTensor, left: bool) -> RefTensor:
    """The first result of linalg_solve_ex."""
    return solve_ex(A, B, left, False)[0]


@reference("aten::linalg_inv_ex")
def inv_ex(A: RefTensor, check_errors: bool) -> tuple[RefTensor, RefTensor]:
    """The solution of A X = I, and the info of linalg_solve_ex."""
    check_square(A)
    size = A.shape[-1]
    ones = RefTensor(A.dtype, (size, size), [float(i == j) for i in range(size) for j in range(size)])
    infos = RefTensor("int32", A.shape[:-2], [_info(matrix) for matrix in matrices_of(A, A.shape[:-2])])
    return _solutions(A, ones, True), infos


@reference("aten::linalg_inv")
def inv(A: RefTensor) -> RefTensor:
    """The first result of linalg_inv_ex."""
    return inv_ex(A, False)[0]


@reference("aten::inverse")
def inverse(self: RefTensor) -> RefTensor:
    """linalg_inv by another name."""
    return inv(self)


def _solutions(A: RefTensor, B: RefTensor, left: bool) -> RefTensor:
    if B.shape[-2 if left else -1] != A.shape[-1]:
        raise ValueError(f"A of shape {A.shape} with B of shape {B.shape}")
    batch = broadcast_shapes(A.shape[:-2], B.shape[:-2])
    rows, columns = B.shape[-2:]
    results = []
    for matrix, sides in zip(matrices_of(A, batch), matrices_of(B, batch), strict=True):
        if left:
            results.append(_solution(matrix, sides, columns, A.dtype))
        else:  # (X A)^T = A^T X^T
            turned = _solution(transposed(matrix, len(matrix)), transposed(sides, columns), rows, A.dtype)
            results.append(transposed(turned, rows))
    return RefTensor(A.dtype, _shape(batch, B), flattened(results))


def _shape(batch: Shape, sides: RefTensor) -> Shape:
    return (*batch, *sides.shape[-2:])


def _solution(matrix: list[list], sides: list[list], columns: int, dtype: str) -> list[list]:
    size = len(matrix)
    if _info(matrix) != 0:
        return [[UNSPECIFIED] * columns for _ in range(size)]
    known = [is_finite([row[j] for row in sides]) for j in range(columns)]
    filled = [[z if is_known else 0.0 for z, is_known in zip(row, known, strict=True)] for row in sides]
    solution = solve(Exact.of(matrix, size), Exact.of(filled, columns))
    return [[rounded(dtype, z) if is_known else UNSPECIFIED for z, is_known in zip(row, known, strict=True)]
            for row in solution]  # fmt: skip


def _info(matrix: list[list]) -> object:
    """The least k for which the first k columns are dependent, 0 of a regular matrix; open of numbers not finite."""
    size = len(matrix)
    if not is_finite([z for row in matrix for z in row]):
        return UNSPECIFIED
    numbers = Exact.of(matrix, size)
    if numbers.determinant() != (0, 0):
        return 0
    return next(k for k in range(1, size + 1) if numbers.rows(list(range(size)), k).rank() < k)
