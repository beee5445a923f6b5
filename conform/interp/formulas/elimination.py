"""Elimination without fractions: systems, triangular ones, and Cholesky's factor of matrices of floats, exactly.

But for triangular systems it is Bareiss's form of Gauss's: every number on the way is a minor of the matrix, so that
divisions leave no remainder and numbers grow no longer than their sizes tell (E. Bareiss, Sylvester's identity and
multistep integer-preserving Gaussian elimination, Math. Comp. 22, 1968). Floats are integers times a power of two,
those of complex numbers Gaussian ones.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    def beside(matrices: Sequence[Whole], axis: int = 1) -> Whole:
        """The columns of one after those of the other."""
        imag = None if matrices[0].imag is None else np.concatenate([one.imag for one in matrices], axis)
        return Whole(np.concatenate([one.real for one in matrices], axis), imag)

    @staticmethod
    def above(matrices: Sequence[Whole]) -> Whole:
        """The rows of one before those of the other."""
        return Whole.beside(matrices, axis=0)

    @staticmethod
    def identity(like: Whole) -> Whole:
        """The identity of as many rows as a matrix has, of numbers of its kind."""
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
    """The exponent of the greatest power of two of which all numbers are multiples."""
    mantissas, exponents = _integral(numbers[numbers != 0])
    _, digits_below = np.frexp((mantissas & -mantissas).astype(np.float64))
    return int((exponents + digits_below - 1).min(initial=1100))


def _integral(numbers: Array) -> tuple[Array, Array]:
    """(mantissas, exponents), integers, of finite numbers."""
    mantissas, exponents = np.frexp(numbers.astype(np.float64))
    return np.ldexp(mantissas, 53).astype(np.int64), exponents - 53


def _on_grid(numbers: Array, exponent: int) -> Array:
    mantissas, exponents = _integral(numbers)
    return _shifted(mantissas, np.where(numbers == 0, 0, exponents - exponent))


def _shift(mantissa: int, count: int) -> mpz:
    return mpz(int(mantissa)) << int(count) if count >= 0 else mpz(int(mantissa)) >> -int(count)


_shifted = np.frompyfunc(_shift, 2, 1)
_integers = np.frompyfunc(lambda one: mpz(int(one)), 1, 1)


class Solution(NamedTuple):
    """numbers / determinant, of a system of integers."""

    numbers: Whole
    determinant: Whole

    def rows(self, index: slice) -> Solution:
        return Solution(self.numbers[index], self.determinant)

    def columns(self, index: slice) -> Solution:
        return Solution(self.numbers[:, index], self.determinant)


def substituted(triangle: Whole, sides: Whole) -> Solution:
    """X of triangle X = sides, for a lower or an upper triangle with no 0 on its diagonal."""
    if np.triu(triangle.real, 1).any() or (triangle.imag is not None and np.triu(triangle.imag, 1).any()):
        return _forward(triangle[::-1, ::-1], sides[::-1]).rows(slice(None, None, -1))
    return _forward(triangle, sides)


def _forward(lower: Whole, sides: Whole) -> Solution:
    """Row by row, all rows so far over the product of the diagonal so far."""
    numbers, product = sides[:0], _one(lower)
    for row in range(len(lower.real)):
        pivot, one = lower[row, row], slice(row, row + 1)
        rest = product * sides[one] - lower[one, :row].times(numbers) if row else sides[one]
        numbers, product = Whole.above((pivot * numbers, rest)), pivot * product
    return Solution(numbers, product)


def twice_substituted(lower: Whole, sides: Whole) -> Solution:
    """X of L L^H X = sides."""
    first = substituted(lower, sides)
    second = substituted(lower.adjoint(), first.numbers)
    return Solution(second.numbers, second.determinant * first.determinant)


def _one(like: Whole) -> Whole:
    return Whole(mpz(1), None if like.imag is None else mpz(0))


def solved(matrix: Whole, sides: Whole) -> Solution | None:
    """X of matrix X = sides, by Gauss's and Jordan's steps; None of a singular matrix."""
    rows, before, is_odd = Whole.beside([matrix, sides]), _one(matrix), False
    for k in range(len(matrix.real)):
        place = next((i for i in range(k, len(matrix.real)) if rows[i, 0].square()), None)
        if place is None:
            return None
        if place != k:
            rows, is_odd = _exchanged(rows, k, place), not is_odd
        column, top, pivot = rows[:, :1], rows[k : k + 1, 1:], rows[k, 0]
        rest = (pivot * rows[:, 1:] - column * top).over(before)
        rows, before = Whole.above((rest[:k], top, rest[k + 1 :])), pivot
    return Solution(-rows, -before) if is_odd else Solution(rows, before)


def factors(rows: Scaled) -> list[tuple[Parts, Parts]]:
    """Step by step of A = L U, without exchanges, the parts of L's column from its diagonal on, and of U's row from
    there on; no pivot is 0. By minors, as Cholesky's: of U over the last one, of L over that of the diagonal."""
    left, before, found = rows.numbers, _one(rows.numbers), []
    for _ in range(min(left.real.shape)):
        pivot = left[0, 0]
        column = quotients(Solution(left[:, 0], pivot), 0)
        found.append((column, quotients(Solution(left[0], before), rows.exponent)))
        rest = pivot * left[1:, 1:] - left[1:, :1] * left[:1, 1:]
        left, before = rest.over(before), pivot
    return found


def _exchanged(rows: Whole, one: int, other: int) -> Whole:
    order = np.arange(len(rows.real))
    order[[one, other]] = other, one
    return rows[order]


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
    `rows` holds those from k on: the matrix's columns from k on, and the columns before k of what the identity becomes.
    """
    size = len(matrix.real)
    rows, before = matrix, _one(matrix)
    found = Factor([], [], [mpz(1)])
    for k in range(size):
        pivot = rows[0, 0]
        found.leading.append(pivot.real)
        if pivot.real <= 0:
            break
        found.columns.append(rows[:, 0])
        rows = Whole.beside([rows, before * Whole.identity(rows)[:, :1]])
        found.rows.append(rows[0, size - k :])
        top, below = rows[:1], rows[1:]
        rows, before = (pivot * below[:, 1:] - below[:, :1] * top[:, 1:]).over(before), pivot
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


def solution(triangle: Scaled, sides: Scaled) -> Parts:
    """The parts of X of triangle X = sides, for a lower or an upper triangle with no 0 on its diagonal."""
    return quotients(substituted(triangle.numbers, sides.numbers), sides.exponent - triangle.exponent)


def solution_and_inverse(triangle: Scaled, sides: Scaled) -> tuple[Parts, Parts]:
    """The parts of X of triangle X = sides, and those of the triangle's inverse."""
    count = sides.numbers.real.shape[1]
    both = Whole.beside([sides.numbers, Whole.identity(triangle.numbers)])
    found = substituted(triangle.numbers, both)
    of_sides, of_ones = found.columns(slice(count)), found.columns(slice(count, None))
    return quotients(of_sides, sides.exponent - triangle.exponent), quotients(of_ones, -triangle.exponent)


def solution_of_factor(lower: Scaled, sides: Scaled) -> Parts:
    """The parts of X of L L^H X = sides, for a lower triangle L."""
    return quotients(twice_substituted(lower.numbers, sides.numbers), sides.exponent - 2 * lower.exponent)


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
