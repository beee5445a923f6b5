"""Determinants, their signs and logarithms: exact, each number rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan, prod

from conform.refs.exact.reals import log_ball, round_real
from conform.refs.exact.rounding import COMPONENTS, round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.linalg.exact import Complex, Exact, check_square, is_finite, matrices_of, rounded
from conform.refs.references import reference


@reference("aten::linalg_det")
def linalg_det(A: RefTensor) -> RefTensor:
    """The determinant of each matrix; open where that has a NaN or an infinity."""
    values = [UNSPECIFIED if one is None else rounded(A.dtype, one) for one in _determinants(A)]
    return RefTensor(A.dtype, A.shape[:-2], values)


@reference("aten::det")
def det(self: RefTensor) -> RefTensor:
    """linalg_det by another name."""
    return linalg_det(self)


@reference("aten::_linalg_det")
def det_with_factors(A: RefTensor) -> tuple[RefTensor, ...]:
    """linalg_det with factors and pivots, all open."""
    return linalg_det(A), *_factors(A)


@reference("aten::linalg_slogdet")
def linalg_slogdet(A: RefTensor) -> tuple[RefTensor, RefTensor]:
    """det / |det| and log |det|, of a determinant of 0 (0, -inf); open where the matrix has a NaN or an infinity."""
    found = _determinants(A)
    real = COMPONENTS.get(A.dtype, A.dtype)
    signs = [UNSPECIFIED if one is None else _sign(A.dtype, one) for one in found]
    logarithms = [UNSPECIFIED if one is None else _logarithm(real, one) for one in found]
    return RefTensor(A.dtype, A.shape[:-2], signs), RefTensor(real, A.shape[:-2], logarithms)


@reference("aten::slogdet")
def slogdet(self: RefTensor) -> tuple[RefTensor, RefTensor]:
    """linalg_slogdet by another name."""
    return linalg_slogdet(self)


@reference("aten::_linalg_slogdet")
def slogdet_with_factors(A: RefTensor) -> tuple[RefTensor, ...]:
    """linalg_slogdet with factors and pivots, all open."""
    return *linalg_slogdet(A), *_factors(A)


@reference("aten::logdet")
def logdet(self: RefTensor) -> RefTensor:
    """log det, NaN of a negative one, -inf of 0; of real matrices."""
    if self.dtype in COMPONENTS:
        raise NotImplementedError(f"logdet of {self.dtype}")
    values = [
        UNSPECIFIED if one is None else nan if one[0] < 0 else _logarithm(self.dtype, one)
        for one in _determinants(self)
    ]
    return RefTensor(self.dtype, self.shape[:-2], values)


def _determinants(A: RefTensor) -> list[Complex | None]:
    check_square(A)
    return [_determinant(matrix) for matrix in matrices_of(A, A.shape[:-2])]


def _determinant(matrix: list[list]) -> Complex | None:
    if not is_finite([z for row in matrix for z in row]):
        return None
    return Exact.of(matrix, len(matrix)).determinant()


def _sign(dtype: str, z: Complex) -> float | complex:
    """Each part over |z|, whose square is a fraction, as a root."""
    if z == (0, 0) or dtype not in COMPONENTS:
        return rounded(dtype, (Fraction((z[0] > 0) - (z[0] < 0)), Fraction(0)))
    square = z[0] ** 2 + z[1] ** 2
    return complex(*(_root(COMPONENTS[dtype], part, part**2 / square) for part in z))


def _root(dtype: str, part: Fraction, square: Fraction) -> float:
    size = round_sqrt(dtype, square.numerator, square.denominator) if square else 0.0
    return -size if part < 0 else size


def _logarithm(dtype: str, z: Complex) -> float:
    square = z[0] ** 2 + z[1] ** 2
    if square in (0, 1):
        return 0.0 if square else -inf
    return round_real(dtype, lambda: log_ball(square) / 2)


def _factors(A: RefTensor) -> tuple[RefTensor, RefTensor]:
    factors = RefTensor(A.dtype, A.shape, [UNSPECIFIED] * prod(A.shape))
    return factors, RefTensor("int32", A.shape[:-1], [UNSPECIFIED] * prod(A.shape[:-1]))
