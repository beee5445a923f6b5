"""Cholesky's factor by minors, and what is solved with a factor, exactly."""

from __future__ import annotations

from fractions import Fraction

from conform.refs.exact.rounding import COMPONENTS, round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, broadcast_shapes
from conform.refs.linalg.exact import (
    Complex,
    Exact,
    check_square,
    flattened,
    is_finite,
    matrices_of,
    rounded,
    solve,
)  # fmt: skip
from conform.refs.references import reference


@reference("aten::linalg_cholesky_ex")
def cholesky_ex(self: RefTensor, upper: bool, check_errors: bool) -> tuple[RefTensor, RefTensor]:
    """L with self = L L^H, or L^H if upper, and the order of the first leading minor that is not positive, else 0.

    All is open of a matrix that is not Hermitian or not finite, and L of one that is not positive definite.
    """
    check_square(self)
    results = [_decomposed(matrix, upper, self.dtype) for matrix in matrices_of(self, self.shape[:-2])]
    factors = RefTensor(self.dtype, self.shape, flattened([factor for factor, _ in results]))
    return factors, RefTensor("int32", self.shape[:-2], [info for _, info in results])


@reference("aten::linalg_cholesky", "aten::cholesky")
def cholesky(self: RefTensor, upper: bool) -> RefTensor:
    """The first result of linalg_cholesky_ex."""
    return cholesky_ex(self, upper, False)[0]


def _decomposed(matrix: list[list], upper: bool, dtype: str) -> tuple[list[list], object]:
    size = len(matrix)
    nothing = [[UNSPECIFIED] * size for _ in range(size)]
    if not is_finite([z for row in matrix for z in row]):
        return nothing, UNSPECIFIED
    numbers = Exact.of(matrix, size)
    if numbers != numbers.adjoint():
        return nothing, UNSPECIFIED
    leading = [numbers.rows(list(range(k)), k).determinant()[0] for k in range(size + 1)]
    failed = next((k for k in range(size + 1) if leading[k] <= 0), 0)
    if failed:
        return nothing, failed
    factor = [[_element(numbers, leading, i, j, dtype) for j in range(size)] for i in range(size)]
    if not upper:
        return factor, 0
    return [[_conjugate(factor[j][i]) for j in range(size)] for i in range(size)], 0


def _conjugate(z: float | complex) -> float | complex:
    return z.conjugate() if isinstance(z, complex) else z


def _element(numbers: Exact, leading: list[Fraction], i: int, j: int, dtype: str) -> float | complex:
    """M / sqrt(D_j D_(j+1)), D_j the leading minor of order j and M that of order j + 1 with row i in place of its
    last."""
    if j > i:
        return rounded(dtype, (Fraction(0), Fraction(0)))
    minor = numbers.rows([*range(j), i], j + 1).determinant()
    below = leading[j] * leading[j + 1]
    if dtype not in COMPONENTS:
        return _over_root(dtype, minor[0], below)
    return complex(*(_over_root(COMPONENTS[dtype], part, below) for part in minor))


def _over_root(dtype: str, number: Fraction, square: Fraction) -> float:
    ratio = number * number / square
    root = round_sqrt(dtype, ratio.numerator, ratio.denominator) if ratio else 0.0
    return -root if number < 0 else root


@reference("aten::cholesky_solve")
def cholesky_solve(self: RefTensor, input2: RefTensor, upper: bool) -> RefTensor:
    """X of L L^H X = self for the lower triangle L of input2, or of U^H U X = self for the upper one U.

    Open where the triangle has a NaN, an infinity, or a diagonal that is 0 or not real; and columns of self that have a
    NaN or an infinity.
    """
    check_square(input2)
    if self.dtype != input2.dtype or len(self.shape) < 2 or self.shape[-2] != input2.shape[-1]:
        raise ValueError(f"input2 of {input2.dtype}, {input2.shape}, with self of {self.dtype}, {self.shape}")
    batch = broadcast_shapes(input2.shape[:-2], self.shape[:-2])
    pairs = zip(matrices_of(input2, batch), matrices_of(self, batch), strict=True)
    results = [_solved(factor, sides, self.shape[-1], upper, self.dtype) for factor, sides in pairs]
    return RefTensor(self.dtype, (*batch, *self.shape[-2:]), flattened(results))


@reference("aten::cholesky_inverse")
def cholesky_inverse(self: RefTensor, upper: bool) -> RefTensor:
    """The inverse of L L^H, or of U^H U, for a triangle of self."""
    check_square(self)
    size = self.shape[-1]
    ones = [[float(i == j) for j in range(size)] for i in range(size)]
    results = [_solved(factor, ones, size, upper, self.dtype) for factor in matrices_of(self, self.shape[:-2])]
    return RefTensor(self.dtype, self.shape, flattened(results))


def _solved(factor: list[list], sides: list[list], columns: int, upper: bool, dtype: str) -> list[list]:
    size = len(factor)
    read = [[factor[i][j] if i == j or (i < j) == upper else 0.0 for j in range(size)] for i in range(size)]
    nothing = [[UNSPECIFIED] * columns for _ in range(size)]
    if not is_finite([z for row in read for z in row]):
        return nothing
    if any(complex(read[i][i]).real == 0 or complex(read[i][i]).imag != 0 for i in range(size)):
        return nothing
    triangle = Exact.of(read, size)
    matrix = triangle.adjoint().times(triangle) if upper else triangle.times(triangle.adjoint())
    known = [is_finite([row[j] for row in sides]) for j in range(columns)]
    filled = [[z if is_known else 0.0 for z, is_known in zip(row, known, strict=True)] for row in sides]
    return [[_or_open(dtype, z, is_known) for z, is_known in zip(row, known, strict=True)]
            for row in solve(matrix, Exact.of(filled, columns))]  # fmt: skip


def _or_open(dtype: str, z: Complex, is_known: bool) -> object:
    return rounded(dtype, z) if is_known else UNSPECIFIED
