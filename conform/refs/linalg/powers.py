"""Powers of square matrices: products of as many factors, exact and rounded once."""

from __future__ import annotations

import math
from fractions import Fraction

from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.linalg.exact import Complex, Exact, check_square, flattened, is_finite, matrices_of, rounded, solve
from conform.refs.references import reference


@reference("aten::linalg_matrix_power", "aten::matrix_power")
def matrix_power(self: RefTensor, n: int) -> RefTensor:
    """self^n; of n < 0 (self^-n)^-1, which is the power of the inverse.

    Open are, for n < 0, matrices that are singular or not finite; for n > 1 what some order of work computes of an
    infinity, or of a complex number that is none, where it need not be NaN.
    """
    check_square(self)
    stack = matrices_of(self, self.shape[:-2])
    return RefTensor(self.dtype, self.shape, flattened([_power(self.dtype, matrix, n) for matrix in stack]))


def _power(dtype: str, matrix: list[list], n: int) -> list[list]:
    size = len(matrix)
    if n == 1:
        return matrix
    if n == 0:
        return [[rounded(dtype, (Fraction(i == j), Fraction(0))) for j in range(size)] for i in range(size)]
    if not is_finite([z for row in matrix for z in row]):
        return [[_special(dtype, matrix, n, i, j) for j in range(size)] for i in range(size)]
    return _finite(dtype, matrix, n)


def _finite(dtype: str, matrix: list[list], n: int) -> list[list]:
    size = len(matrix)
    factor = Exact.of(matrix, size)
    power = factor
    for _ in range(abs(n) - 1):
        power = power.times(factor)
    if n > 0:
        found = [[_number(power, i, j) for j in range(size)] for i in range(size)]
    elif factor.determinant() == (0, 0):
        return [[UNSPECIFIED] * size for _ in range(size)]
    else:
        ones = Exact.of([[float(i == j) for j in range(size)] for i in range(size)], size)
        found = solve(power, ones)
    return [[rounded(dtype, z) for z in row] for row in found]


def _number(matrix: Exact, i: int, j: int) -> Complex:
    scale = Fraction(2) ** matrix.exponent
    return int(matrix.real[i, j]) * scale, int(matrix.imag[i, j]) * scale


def _special(dtype: str, matrix: list[list], n: int, i: int, j: int) -> object:
    """An element of a power of a matrix that is not finite."""
    if n < 0:
        return UNSPECIFIED
    numbers = [*matrix[i], *(row[j] for row in matrix)] if n == 2 else [z for row in matrix for z in row]
    if is_finite(numbers):
        cleared = [[z if is_finite([z]) else 0.0 for z in row] for row in matrix]
        return _finite(dtype, cleared, n)[i][j]
    return math.nan if not dtype.startswith("complex") and any(map(math.isnan, numbers)) else UNSPECIFIED
