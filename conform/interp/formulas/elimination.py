"""Elimination without fractions: systems, determinants and Cholesky's factor of matrices of floats, exactly.

Bareiss's form of Gauss's: every number on the way is a minor of the matrix, so that divisions leave no remainder and
numbers grow no longer than their sizes tell (E. Bareiss, Sylvester's identity and multistep integer-preserving Gaussian
elimination, Math. Comp. 22, 1968). Floats are integers times a power of two, those of complex numbers Gaussian ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from gmpy2 import isqrt, mpq, mpz

Array = np.ndarray
Parts = tuple[Array, ...]  # object arrays of fractions: of real numbers one, of complex ones two
BITS = 192  # of a root that is no fraction: rounded to them and a half more, it lies where the root does


@dataclass(frozen=True)
class Whole:
    """Gaussian integers, or integers, where `imag` is None: object arrays of gmpy2's."""

    real: Array
    imag: Array | None = None

    def __getitem__(self, index: object) -> Whole:
        return Whole(self.real[index], None if self.imag is None else self.imag[index])

    def __mul__(self, other: Whole) -> Whole:
        if self.imag is None:
            return Whole(self.real * other.real)
        real = self.real * other.real - self.imag * other.imag
        return Whole(real, self.real * other.imag + self.imag * other.real)

    def __sub__(self, other: Whole) -> Whole:
        return Whole(self.real - other.real, None if self.imag is None else self.imag - other.imag)

    def __neg__(self) -> Whole:
        return Whole(-self.real, None if self.imag is None else -self.imag)

    def over(self, divisor: Whole) -> Whole:
        """The quotient by a number that divides all of them."""
        if self.imag is None:
            return Whole(self.real // divisor.real)
        size = divisor.square()
        product = self * Whole(divisor.real, -divisor.imag)
        return Whole(product.real // size, product.imag // size)

    def square(self) -> Array:
        """|number|^2."""
        return self.real * self.real if self.imag is None else self.real * self.real + self.imag * self.imag

    def adjoint(self) -> Whole:
        """The conjugate transpose."""
        return Whole(self.real.T, None if self.imag is None else -self.imag.T)

    def times(self, other: Whole) -> Whole:
        """The product of matrices."""
        if self.imag is None:
            return Whole(self.real @ other.real)
        real = self.real @ other.real - self.imag @ other.imag
        return Whole(real, self.real @ other.imag + self.imag @ other.real)

    @staticmethod
    def beside(matrices: Iterable[Whole]) -> Whole:
        """The columns of one after those of the other."""
        some = list(matrices)
        imag = None if some[0].imag is None else np.concatenate([one.imag for one in some], axis=1)
        return Whole(np.concatenate([one.real for one in some], axis=1), imag)

    @staticmethod
    def identity(like: Whole) -> Whole:
        """The identity as large as a square matrix, of numbers of its kind."""
        ones = _integers(np.eye(len(like.real), dtype=np.int64))
        return Whole(ones, None if like.imag is None else ones * 0)


class Scaled(NamedTuple):
    """numbers * 2^exponent."""

    numbers: Whole
    exponent: int


def whole(*parts: Array) -> Scaled:
    """The sum of float64 or complex128 arrays of one shape, all of them finite, as integers on one grid."""
    pieces = [part for one in parts for part in ((one.real, one.imag) if np.iscomplexobj(one) else (one,))]
    finest = min((_finest(piece) for piece in pieces), default=0)
    numbers = [_on_grid(piece, finest) for piece in pieces]
    if not np.iscomplexobj(parts[0]):
        return Scaled(Whole(sum(numbers[1:], numbers[0])), finest)
    reals, imags = numbers[::2], numbers[1::2]
    return Scaled(Whole(sum(reals[1:], reals[0]), sum(imags[1:], imags[0])), finest)


def _finest(numbers: Array) -> int:
    """The exponent of a power of two of which all numbers are multiples."""
    _, exponents = np.frexp(numbers[numbers != 0].astype(np.float64))
    return int(exponents.min(initial=1100)) - 53


def _on_grid(numbers: Array, exponent: int) -> Array:
    mantissas, exponents = np.frexp(numbers.astype(np.float64))
    integers, shifts = _integers(np.ldexp(mantissas, 53).astype(np.int64)), np.where(numbers == 0, 0, exponents - 53)
    return integers * _powers(np.where(numbers == 0, 0, shifts - exponent))


_integers = np.frompyfunc(lambda one: mpz(int(one)), 1, 1)
_powers = np.frompyfunc(lambda shift: mpz(1) << int(shift), 1, 1)


class Solution(NamedTuple):
    """numbers / determinant, of a system of integers."""

    numbers: Whole
    determinant: Whole


def solved(matrix: Whole, sides: Whole) -> Solution | None:
    """X of matrix X = sides; None of a singular matrix."""
    size = len(matrix.real)
    rows, before, sign = Whole.beside([matrix, sides]), _one(matrix), 1
    for column in range(size):
        pivot = _pivot(rows, column)
        if pivot is None:
            return None
        if pivot != column:
            rows, sign = _exchanged(rows, column, pivot), -sign
        others = np.arange(size) != column
        top = rows[column : column + 1]
        changed = (rows[column, column] * rows[others] - rows[others][:, column : column + 1] * top).over(before)
        before = rows[column, column]
        rows = _with_rows(rows, others, changed)
    numbers = rows[:, size:]
    return Solution(numbers if sign > 0 else -numbers, before if sign > 0 else -before)


def _one(like: Whole) -> Whole:
    return Whole(mpz(1), None if like.imag is None else mpz(0))


def _pivot(rows: Whole, column: int) -> int | None:
    """The first row from `column` on whose number there is not 0."""
    sizes = rows[column:, column].square()
    return next((column + place for place, size in enumerate(sizes) if size), None)


def _exchanged(rows: Whole, one: int, other: int) -> Whole:
    order = np.arange(len(rows.real))
    order[[one, other]] = other, one
    return rows[order]


def _with_rows(rows: Whole, which: Array, new: Whole) -> Whole:
    real, imag = rows.real.copy(), None if rows.imag is None else rows.imag.copy()
    real[which] = new.real
    if imag is not None:
        imag[which] = new.imag
    return Whole(real, imag)


class Factor(NamedTuple):
    """Row by row of the leading minors that are positive: numbers over the roots of `squares`, of the lower factor L
    of A = L L^H by column j, and of its inverse by row i. `leading`: D_0 = 1, D_1, ..., the first that is not positive
    the last."""

    columns: list[Whole]
    rows: list[Whole]
    leading: list[mpz]

    def squares(self, k: int) -> mpz:
        """D_k D_(k+1), by whose root column k of the factor, and row k of its inverse, are divided."""
        return self.leading[k] * self.leading[k + 1]


def factored(matrix: Whole) -> Factor:
    """Cholesky's factor of a Hermitian matrix, of which the lower triangle counts, as far as it is positive definite.

    After k steps without exchanges the number at i, j is the minor of the first k rows and row i, and the first k
    columns and column j: over the root of D_k D_(k+1) those of column k are the factor's.
    """
    size = len(matrix.real)
    rows, before = Whole.beside([matrix, Whole.identity(matrix)]), _one(matrix)
    found = Factor([], [], [mpz(1)])
    for k in range(size):
        pivot = rows[k, k]
        found.leading.append(pivot.real)
        if pivot.real <= 0:
            break
        found.columns.append(rows[k:, k])
        found.rows.append(rows[k, size : size + k + 1])
        below = np.arange(size) > k
        changed = (pivot * rows[below] - rows[below][:, k : k + 1] * rows[k : k + 1]).over(before)
        rows, before = _with_rows(rows, below, changed), pivot
    return found


# --- Numbers ----------------------------------------------------------------------------------------------------------


def fractions(numbers: Array, divisor: mpz, exponent: int) -> Array:
    """numbers / divisor * 2^exponent: an object array of gmpy2's fractions."""
    scale = mpq(2) ** exponent / divisor
    return np.frompyfunc(lambda one: one * scale, 1, 1)(numbers)


def quotients(found: Solution, exponent: int) -> Parts:
    """The parts, one or two, of numbers / determinant * 2^exponent."""
    if found.numbers.imag is None:
        return (fractions(found.numbers.real, found.determinant.real, exponent),)
    conjugate = Whole(found.determinant.real, -found.determinant.imag)
    product, size = found.numbers * conjugate, found.determinant.square()
    return tuple(fractions(part, size, exponent) for part in (product.real, product.imag))


def solution(matrix: Scaled, sides: Scaled) -> Parts | None:
    """The parts of X of matrix X = sides; None of a singular matrix."""
    found = solved(matrix.numbers, sides.numbers)
    return None if found is None else quotients(found, sides.exponent - matrix.exponent)


def solution_and_inverse(matrix: Scaled, sides: Scaled) -> tuple[Parts, Parts] | None:
    """The parts of X of matrix X = sides, and those of the matrix's inverse; None of a singular matrix."""
    found = solved(matrix.numbers, Whole.beside([sides.numbers, Whole.identity(matrix.numbers)]))
    if found is None:
        return None
    count = sides.numbers.real.shape[1]
    of_sides = Solution(found.numbers[:, :count], found.determinant)
    of_ones = Solution(found.numbers[:, count:], found.determinant)
    return quotients(of_sides, sides.exponent - matrix.exponent), quotients(of_ones, -matrix.exponent)


def lower_factor(found: Factor, exponent: int) -> Parts:
    """The parts of the lower factor of numbers * 2^exponent, as far as it goes: a square of fractions."""
    count = len(found.columns)
    parts = _nothing(found, count)
    for k, column in enumerate(found.columns):
        _fill(tuple(part[k:, k] for part in parts), column[: count - k], found.squares(k), exponent)
    return parts


def inverse_of_factor(found: Factor, exponent: int) -> Parts:
    """The parts of the inverse of that lower factor."""
    parts = _nothing(found, len(found.rows))
    for k, row in enumerate(found.rows):
        _fill(tuple(part[k, : k + 1] for part in parts), row, found.squares(k), -exponent)
    return parts


def _nothing(found: Factor, count: int) -> Parts:
    is_real = not found.columns or found.columns[0].imag is None
    return tuple(np.full((count, count), mpq(0), object) for _ in range(1 if is_real else 2))


def _fill(parts: Parts, numbers: Whole, square: mpz, exponent: int) -> None:
    divided = np.frompyfunc(lambda number: over_root(number, square, exponent), 1, 1)
    for part, its in zip(parts, (numbers.real, numbers.imag), strict=False):
        part[...] = divided(its)


def over_root(number: mpz, square: mpz, exponent: int) -> mpq:
    """number / sqrt(square) * 2^(exponent / 2): exactly where that is a fraction, else a number so near that it rounds
    as that does, in every format."""
    if not number:
        return mpq(0)
    ratio = mpq(number * number, square) * mpq(2) ** exponent
    found = root(ratio)
    return found if number > 0 else -found


def root(ratio: mpq) -> mpq:
    """The root of a positive fraction, exactly or to BITS bits and a half."""
    above, below = isqrt(ratio.numerator), isqrt(ratio.denominator)
    if above * above == ratio.numerator and below * below == ratio.denominator:
        return mpq(above, below)
    bits = BITS - (ratio.numerator.bit_length() - ratio.denominator.bit_length()) // 2
    scaled = isqrt((ratio * mpq(4) ** bits).__floor__())
    return mpq(2 * scaled + 1, 2) / mpq(2) ** bits
