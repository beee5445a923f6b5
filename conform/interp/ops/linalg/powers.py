"""Powers of square matrices, exact and rounded once; negative ones are those of the inverse."""

from __future__ import annotations

from functools import reduce
from operator import mul

import numpy as np

from conform.interp.formulas.backward_errors import RAISE, lost, of_system, spent
from conform.interp.formulas.elimination import Parts, Solution, Whole, fractions, quotients, solved, whole
from conform.interp.formulas.stacks import Stack, indices, refuse_large
from conform.interp.golden import Outcome
from conform.interp.ops.contraction.chains import amplification, reached
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.linalg.eliminated import MOST_ROWS, SINGULAR, Eliminated, Info
from conform.interp.ops.linalg.systems import NOT_FINITE
from conform.interp.semantics import semantics
from conform.interp.traits import Matrices
from conform.numerics.formats import Format, format_of

Index = tuple[int, ...]


@semantics("aten::linalg_matrix_power", "aten::matrix_power", matrices=Matrices("invertible", ("self",)))
def matrix_power(self: np.ndarray, n: int) -> Outcome:
    """The product of n factors self, the identity for n = 0; for n < 0 the product of -n inverses, and raises of a
    singular matrix (P217, P218, P242)"""
    if n == 1:
        return Outcome((exact(self, format_of(self)),))
    refuse_large("a power", self.shape[-1], MOST_ROWS)
    stack, info = Stack(format_of(self), self.shape), Info(self.shape[:-2])
    for index in indices(self):
        if n < 0:
            _put_inverse(stack, info, index, self[index], -n)
        else:
            _put_power(stack, index, self[index], n)
    return Outcome((stack.golden(),), info.refusal)


def _put_power(stack: Stack, index: Index, matrix: np.ndarray, n: int) -> None:
    scaled = whole(np.where(np.isfinite(matrix), matrix, 0))
    numbers = reduce(Whole.times, [scaled.numbers] * n) if n else Whole.identity(scaled.numbers)
    parts = [fractions(part, 1, n * scaled.exponent) for part in (numbers.real, numbers.imag) if part is not None]
    sizes = _magnitudes(matrix)
    error, scale = _error_of_power(stack.format, sizes, np.zeros_like(sizes), n)
    stack.put(index, tuple(parts), error, scale)
    if n and not np.isfinite(matrix).all():
        is_nan = reached([np.isnan(matrix)] * n) & (not stack.format.is_complex)
        stack.put_exactly((*index, is_nan), np.nan)
        stack.open((*index, reached([~np.isfinite(matrix)] * n) & ~is_nan), "P242")


def _put_inverse(stack: Stack, info: Info, index: Index, matrix: np.ndarray, n: int) -> None:
    if not np.isfinite(matrix).all():
        info.open(index, NOT_FINITE)
        stack.open(index, NOT_FINITE)
        return
    found = Eliminated(matrix)
    is_singular = found.solution() is None
    if not found.is_regular:
        info.put(index, found.zeros)
    if is_singular:
        stack.open(index, SINGULAR)
        return
    error = of_system(found.format, found.sizes, found.inverse, np.eye(len(matrix)))
    stack.put(index, _inverse_of_power(found, n), *_error_of_power(stack.format, found.inverse, error, n))


def _inverse_of_power(found: Eliminated, n: int) -> Parts:
    """In integers over one determinant, as no fractions of a long power are."""
    inverse = solved(found.scaled.numbers, found.identity)
    numbers, determinant = reduce(Whole.times, [inverse.numbers] * n), reduce(mul, [inverse.determinant] * n)
    return quotients(Solution(numbers, determinant), -n * found.scaled.exponent)


def _error_of_power(fmt: Format, sizes: np.ndarray, error: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(how far a power may lie from that of the exact matrix, the magnitude of its terms), where the elements of those
    magnitudes are off by `error` themselves; in whatever order the n factors are multiplied."""
    if n < 2:
        return error if n else np.zeros_like(error), sizes if n else np.eye(len(sizes))
    with np.errstate(all="ignore"):
        moved = sizes + error
        powers, of_moved = _powers(sizes, n), _powers(moved, n)
        away = sum(of_moved[k] @ error @ powers[n - 1 - k] for k in range(n))
        terms = (n - 1) * len(sizes)
        away += spent(fmt, terms, n) * of_moved[n] + lost(fmt) * terms * amplification([moved] * n)
        most = (fmt.component if fmt.is_complex else fmt).max_finite / 4
        is_held = all((power <= most).all() for power in of_moved)
        return np.where(is_held, away * RAISE, np.inf), powers[n]


def _powers(matrix: np.ndarray, n: int) -> list[np.ndarray]:
    """Those with the exponents 0 to n."""
    found = [np.eye(len(matrix))]
    for _ in range(n):
        found.append(found[-1] @ matrix)
    return found


def _magnitudes(matrix: np.ndarray) -> np.ndarray:
    numbers = matrix.astype(np.result_type(matrix, np.float64))
    return np.abs(np.where(np.isfinite(matrix), numbers, 0)) * (1 if numbers.dtype == np.float64 else RAISE)
