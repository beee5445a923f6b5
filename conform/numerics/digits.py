"""Exact sums of products of float64 numbers, many sums at a time: integers of as many digits as their terms span.

What double-double numbers leave undecided, a tie or a sum far below its terms, is decided here: no term is lost however
far apart they are. A product of two significands is split into digits on a grid that all products share; digits of one
place add up exactly in any order, and carries make them one number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from conform.numerics.eft import fast_two_sum, two_prod, two_sum
from conform.numerics.formats import FORMATS, Format
from conform.numerics.parts import write
from conform.numerics.real import TINY, Real
from conform.numerics.rounding import decide
from conform.numerics.scaled import Scaled, round_scaled

DIGIT_BITS = 26
AT_ONCE = 1 << 16  # products split at a time, whose sums of digits are far below 2^53
MOST_DIGITS = 1 << 8  # of a sum: products of three numbers from the whole range of float64 span 6300 bits
FLOAT64 = FORMATS["float64"]


@dataclass(frozen=True)
class Digits:
    """Exact numbers [n]: the sums over j of digits[:, j] * 2^(DIGIT_BITS * (low + j)).

    digits: int64 [n, d], each at least -2^25 and below 2^25, so that the highest one other than 0 tells the sign.
    """

    digits: np.ndarray
    low: int

    def __add__(self, other: Digits) -> Digits:
        low = min(self.low, other.low)
        count = max(self.low + self.digits.shape[1], other.low + other.digits.shape[1]) - low
        return _carried(self._on(low, count) + other._on(low, count), low)

    def times(self, factor: float) -> Digits:
        """The numbers times a finite float64."""
        places = np.arange(self.low, self.low + self.digits.shape[1])[:, None]
        return products(self.digits.T.astype(np.float64), np.full((1, 1), factor), DIGIT_BITS * places)

    def rounded(self, fmt: Format) -> np.ndarray:
        """[n]: each rounded once to nearest even in the float format `fmt`, which has a zero; 0 is +0."""
        with np.errstate(all="ignore"):
            return round_scaled(fmt, *self._leading())

    def real(self) -> Real:
        """[n]: what float64 holds of each; numbers that round to infinity as R2 and R4 of real.py say."""
        hi = self.rounded(FLOAT64)
        overflows = np.isinf(hi)
        rest = self._minus(hi)
        lo = np.where(overflows, 0.0, rest.rounded(FLOAT64))
        inexact = ~overflows & rest._minus(lo).digits.any(1)
        real = Real(hi, lo, np.where(inexact, np.abs(lo) * 2.0**-52 + TINY, 0.0))
        if overflows.any():
            write(real, overflows, self.scaled().real()[overflows])
        return real

    def scaled(self) -> Scaled:
        """[n]: each to within a unit of its fourth digit; nothing is known of 0."""
        with np.errstate(all="ignore"):
            hi, rest, exponent = self._leading()
            return Scaled.of(hi, rest, 1 / np.abs(hi), exponent)

    def _minus(self, numbers: np.ndarray) -> Digits:
        """The numbers without float64 [n]; an infinity takes nothing."""
        return self + single(np.where(np.isfinite(numbers), -numbers, 0.0))

    def _on(self, low: int, count: int) -> np.ndarray:
        """The digits [n, count] from place `low` on."""
        before = self.low - low
        return np.pad(self.digits, ((0, 0), (before, count - before - self.digits.shape[1])))

    def _leading(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(hi, rest, k), [n]: the numbers are about hi * 2^k, float64 to nearest; rest has the sign of what that
        lacks, 0 where it lacks nothing."""
        rows = np.arange(len(self.digits))
        digits = np.pad(self.digits, ((0, 0), (4, 0)))
        top = _highest(digits)
        first, second, third, fourth = (digits[rows, top - i].astype(np.float64) for i in range(4))
        below = np.where(np.arange(digits.shape[1]) < (top - 3)[:, None], digits, 0)
        beyond = np.sign(below[rows, _highest(below)])  # less than 1, in units of the fourth digit
        unit = 2.0**DIGIT_BITS
        hi, rest = two_sum((first * unit + second) * unit**2, third * unit + fourth)
        hi, rest = fast_two_sum(hi, rest + beyond / 4)  # half an ulp of hi is 2^23 or more
        return hi, rest, DIGIT_BITS * (self.low + top - 7)


def _highest(digits: np.ndarray) -> np.ndarray:
    """[n]: the highest place of a digit other than 0, the highest of all where there is none."""
    return digits.shape[1] - 1 - (digits[:, ::-1] != 0).argmax(1)


def single(numbers: np.ndarray) -> Digits:
    """Finite numbers [n] that float64 holds."""
    return products(numbers.astype(np.float64)[None], np.ones((1, 1)))


def single_at(places: np.ndarray, numbers: np.ndarray, count: int) -> Digits:
    """[count]: for each place the sum of the finite float64 `numbers` [n], at most 2^24, that belong to it by `places`
    [n]."""
    own = single(numbers)
    digits = np.zeros((count, own.digits.shape[1]), np.int64)
    np.add.at(digits, places, own.digits)
    return _carried(digits, own.low)


def products(lhs: np.ndarray, rhs: np.ndarray, exponent: np.ndarray | int = 0) -> Digits:
    """[n]: the sums along the first axis of lhs * rhs * 2^exponent, finite float64 [k, n] that broadcast, k at most
    2^24."""
    (a, a_exponent), (b, b_exponent) = np.frexp(lhs), np.frexp(rhs)
    product, error = two_prod(a, b)  # multiples of 2^-54 below 1, and of 2^-106 up to 2^-54
    exponents = np.where(product == 0, -DIGIT_BITS, a_exponent + b_exponent + exponent)
    place, shift = np.divmod(exponents - 2, DIGIT_BITS)
    scale = np.ldexp(4.0, shift)  # the highest digit is a multiple of 1 below 2^28
    high, middle, product_low = _split(product * scale, 3)
    error_high, error_middle, error_low = _split(error * scale * 2.0 ** (2 * DIGIT_BITS), 3)
    low, count = (int(place.min()), int(np.ptp(place)) + 1) if place.size else (0, 1)
    numbers = place.shape[1]
    at = ((place - low) + count * np.arange(numbers)).ravel()  # next to each other in memory, no sum is waited for
    digits = np.zeros((numbers, count + 4), np.int64)
    for i, part in enumerate((error_low, error_middle, product_low + error_high, middle, high)):
        sums = np.bincount(at, part.ravel(), numbers * count)
        digits[:, i : i + count] += sums.reshape(-1, count).astype(np.int64)
    return _carried(digits, low - 4)


def _split(x: np.ndarray, count: int) -> list[np.ndarray]:
    """Integers, x their sum with each times 2^-26 of the one before."""
    parts = []
    for _ in range(count):
        parts.append(np.rint(x))
        x = (x - parts[-1]) * 2.0**DIGIT_BITS
    return parts


def _carried(digits: np.ndarray, low: int) -> Digits:
    """The numbers with every digit carried to the size that it should have."""
    half = 1 << (DIGIT_BITS - 1)
    while (carry := (digits + half) >> DIGIT_BITS).any():
        digits = np.pad(digits - (carry << DIGIT_BITS), ((0, 0), (0, 1)))
        digits[:, 1:] += carry
    used = np.flatnonzero(digits.any(0))
    first, stop = (used[0], used[-1] + 1) if used.size else (0, 1)
    return Digits(digits[:, first:stop], low + int(first))


def dots(pairs: Iterable[tuple[np.ndarray, np.ndarray]]) -> Digits:
    """[n]: the sums along the first axis of products of finite factors [k, n], which come in pieces of it."""
    return reduce(add, (products(*(np.ascontiguousarray(each, np.float64) for each in pair)) for pair in pairs))


def decide_digits(
    fmt: Format, real: Real, terms: int, exact: Callable[[Sequence[np.ndarray]], Digits]
) -> tuple[np.ndarray, Real]:
    """`real`, sums of so many terms, rounded once to `fmt`, and the reals that were rounded.

    `exact(index)`, of an index array for each dimension, is asked for the exact numbers where `real` cannot decide;
    what it says joins the reals.
    """
    value, undecided = decide(fmt, real)
    if not undecided.any():
        return value, real
    value, real, places = value.copy(), real.map_parts(np.copy), np.nonzero(undecided)
    step = max(AT_ONCE // max(terms, MOST_DIGITS), 1)
    for start in range(0, len(places[0]), step):
        index = tuple(each[start : start + step] for each in places)
        numbers = exact(index)
        found = numbers.real()
        value[index] = numbers.rounded(fmt)
        real.hi[index], real.lo[index], real.radius[index] = found.hi, found.lo, found.radius
    return value, real
