"""Determinants, their signs and logarithms: exact numbers, rounded once."""

from __future__ import annotations

from collections.abc import Iterator

import gmpy2
import numpy as np
from gmpy2 import mpq

from conform.interp.formulas.backward_errors import (
    of_determinant,
    of_logarithm,
    of_product,
    of_sign,
    of_singular_determinant,
)
from conform.interp.formulas.elimination import BITS, over_root
from conform.interp.formulas.fractions_as_reals import magnitudes
from conform.interp.formulas.stacks import Stack, indices, refuse_large
from conform.interp.golden import Golden
from conform.interp.ops.linalg.eliminated import MOST_ROWS, Eliminated, unspecified_factors
from conform.interp.ops.linalg.systems import NOT_FINITE, OF_SYSTEMS
from conform.interp.semantics import semantics
from conform.interp.traits import Matrices
from conform.numerics.formats import Format, format_of
from conform.numerics.multiprecision import at_precision

NEAR_ZERO = "P219"
OF_SELF = Matrices("invertible", ("self",))
Index = tuple[int, ...]
Determinant = tuple[mpq, ...]  # of real numbers one part, of complex ones two


@semantics("aten::linalg_det", matrices=OF_SYSTEMS)
def linalg_det(A: np.ndarray) -> Golden:
    """The determinant of each matrix of a stack; of no rows 1 (P217)"""
    result = Stack(format_of(A), A.shape[:-2])
    for index, found in _finite(A, result):
        determinant = found.determinant()
        result.put(index, _parts(determinant), _error(found, determinant), found.scale_of_determinant)
    return result.golden()


@semantics("aten::det", matrices=OF_SELF)
def det(self: np.ndarray) -> Golden:
    """The determinant, as linalg_det"""
    return linalg_det(self)


@semantics("aten::_linalg_det", matrices=OF_SYSTEMS)
def det_with_factors(A: np.ndarray) -> tuple[Golden, ...]:
    """linalg_det, with the factors LU and pivots, of which nothing is documented (P221)"""
    return linalg_det(A), *unspecified_factors(A)


@semantics("aten::linalg_slogdet", matrices=OF_SYSTEMS)
def linalg_slogdet(A: np.ndarray) -> tuple[Golden, Golden]:
    """The sign of the determinant, det / |det| of complex numbers, and log |det|; of a singular matrix (0, -inf)
    (P217, P219)"""
    signs, logarithms = Stack(format_of(A), A.shape[:-2]), Stack(_real(format_of(A)), A.shape[:-2])
    for index, found in _finite(A, signs, logarithms):
        determinant, error = found.determinant(), found.relative_error()
        if error < 1:
            signs.put(index, *_sign(found, determinant, error))
            logarithms.put(index, *_logarithm(found, determinant, error))
        elif found.zeros is not None:
            logarithms.put_exactly(index, -np.inf)
        else:
            signs.open(index, NEAR_ZERO)
            logarithms.open(index, NEAR_ZERO)
    return signs.golden(), logarithms.golden()


@semantics("aten::slogdet", matrices=OF_SELF)
def slogdet(self: np.ndarray) -> tuple[Golden, Golden]:
    """The sign and the logarithm of linalg_slogdet"""
    return linalg_slogdet(self)


@semantics("aten::_linalg_slogdet", matrices=OF_SYSTEMS)
def slogdet_with_factors(A: np.ndarray) -> tuple[Golden, ...]:
    """linalg_slogdet, with the factors LU and pivots, of which nothing is documented (P221)"""
    return *linalg_slogdet(A), *unspecified_factors(A)


@semantics("aten::logdet", matrices=OF_SELF)
def logdet(self: np.ndarray) -> Golden:
    """log det of real matrices: of a singular one -inf, of a negative determinant NaN (P217, P219)"""
    result = Stack(format_of(self), self.shape[:-2])
    for index, found in _finite(self, result):
        determinant, error = found.determinant(), found.relative_error()
        if error < 1 and determinant[0] > 0:
            result.put(index, *_logarithm(found, determinant, error))
        elif error < 1 or found.zeros is not None:
            result.put_exactly(index, np.nan if error < 1 else -np.inf)
        else:
            result.open(index, NEAR_ZERO)
    return result.golden()


def _finite(matrices: np.ndarray, *results: Stack) -> Iterator[tuple[Index, Eliminated]]:
    """The matrices of finite numbers; the results of others are open."""
    refuse_large("a determinant", matrices.shape[-1], MOST_ROWS)
    for index in indices(matrices):
        if np.isfinite(matrices[index]).all():
            yield index, Eliminated(matrices[index])
        else:
            for result in results:
                result.open(index, NOT_FINITE)


def _real(fmt: Format) -> Format:
    return fmt.component if fmt.is_complex else fmt


def _parts(numbers: Determinant) -> tuple[np.ndarray, ...]:
    """Each in an array of its own."""
    arrays = tuple(np.empty((), object) for _ in numbers)
    for array, number in zip(arrays, numbers, strict=True):
        array[()] = number
    return arrays


def _error(found: Eliminated, determinant: Determinant) -> float:
    """The absolute error of the product of the pivots."""
    if found.zeros is not None:
        return of_product(found.format, 0.0, 0.0, found.low, found.high)
    size = float(magnitudes(_parts(determinant)))
    error = of_singular_determinant(found.format, np.abs(found.matrix), found.sizes)
    if found.inverse is not None:
        error = float(np.fmin(error, size * of_determinant(found.format, found.sizes, found.inverse)))
    return of_product(found.format, size, error, found.low, found.high)


def _sign(
    found: Eliminated, determinant: Determinant, error: float
) -> tuple[tuple[np.ndarray, ...], float, float]:  # fmt: skip
    """The parts of det / |det|, the absolute error, and the magnitude."""
    if not found.format.is_complex:
        return _parts((mpq(1 if determinant[0] > 0 else -1),)), 0.0, 1.0
    square = sum(part * part for part in determinant)
    parts = tuple(over_root(part, square, 0) for part in determinant)
    return _parts(parts), of_sign(found.format, len(found.matrix), error), 1.0


def _logarithm(
    found: Eliminated, determinant: Determinant, error: float
) -> tuple[tuple[np.ndarray, ...], float, float]:  # fmt: skip
    """log |det|, the absolute error, and the magnitude of its terms, or 1: what the determinant errs by is that of its
    own size."""
    terms = float(np.maximum(np.abs(np.log(found.low)), np.abs(np.log(found.high))).sum())
    error = of_logarithm(_real(found.format), len(found.matrix), error, terms)
    return _parts((_log_of(determinant),)), error, max(terms, 1.0)


def _log_of(determinant: Determinant) -> mpq:
    """log |det|, 0 exactly, or so near that it rounds as that does: the logarithm of no other fraction is one."""
    square = sum(part * part for part in determinant)
    with at_precision(2 * BITS):
        is_near = mpq(1, 2) < square < 2
        logarithm = gmpy2.log1p(gmpy2.mpfr(square - 1)) if is_near else gmpy2.log(gmpy2.mpfr(square))
        return mpq(logarithm / 2)
