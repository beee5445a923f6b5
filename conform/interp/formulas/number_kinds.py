"""A formula of + - * / and roots, written once for every kind of number that a golden needs: reals with a radius, the
balls of honest implementations, numbers of any precision, and fractions.

A kind makes its numbers, of elements (`elements`) and of the call's Python numbers (`number`), has the functions that
numbers have no operator for, and chooses where implementations may compute in `either` of several ways: a formula's
first way is its definition, and a ball's error the largest of all ways.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, Protocol

import gmpy2
import numpy as np

from conform.numerics import multiprecision as mp
from conform.numerics import real
from conform.numerics.ball import Ball, chosen
from conform.numerics.escalate import Irrational, root
from conform.numerics.formats import Format
from conform.numerics.real import Real

Number = Any  # of the kind's own type
POWER_ULPS = 16.0  # pow: OpenCL C 3.0, full profile, section 7.4
MOST_FACTORS = 64  # of a power that is worth a fraction


class Kind(Protocol):
    """The numbers that a formula is evaluated in."""

    def elements(self, array: np.ndarray) -> Number:
        """Finite or not, as float64 holds them."""

    def number(self, value: float) -> Number:
        """A Python number of the call."""

    def root(self, x: Number) -> Number:
        """The square root."""

    def larger(self, x: Number, y: Number) -> Number:
        """The larger one of each pair, NaN if one is NaN."""

    def beside(self, sum_: Number, term: Number) -> Number:
        """The term, or 1 where the sum so far is infinite and the term a number, which makes no difference, however
        large it is."""

    def complement_of_power(self, base: float, exponent: float) -> Number:
        """1 - base^exponent of 0 <= base < 1."""

    def either(self, definition: Callable[[], Number], *others: Callable[[], Number]) -> Number:
        """The definition's number, which may be computed in the other ways, too."""


class Reals:
    elements = number = staticmethod(Real.exact)
    root = staticmethod(Real.sqrt)

    def larger(self, x: Real, y: Real) -> Real:
        """An infinity is larger than a number of which nothing is known."""
        return real.where(np.isposinf(x.hi) & ~np.isnan(y.hi), x, real.maximum(x, y))

    def beside(self, sum_: Real, term: Real) -> Real:
        return real.where(np.isinf(sum_.hi) & np.isfinite(term.hi), 1.0, term)

    def complement_of_power(self, base: float, exponent: float) -> Real:
        if base == 0 or exponent == 0:
            return Real.exact(np.float64(exponent != 0))
        if base == 0.5 and exponent == int(exponent) <= MOST_FACTORS:
            return Real.exact(np.float64(1)) - Real.exact(np.float64(0.5**exponent))
        return mp.as_real(lambda: _complement(base, exponent))

    def either(self, definition: Callable[[], Real], *others: Callable[[], Real]) -> Real:
        return definition()


@dataclass(frozen=True)
class Balls:
    """What an honest implementation has of each, which computes in this format."""

    compute: Format

    def elements(self, array: np.ndarray) -> Ball:
        return Ball.exact(array, self.compute)

    def number(self, value: float) -> Ball:
        return Ball.exact(np.float64(0), self.compute).constant(value)

    def root(self, x: Ball) -> Ball:
        """NaN of what is surely negative."""
        return x.sqrt().but_exact(x.mid + x.rad < 0)

    def larger(self, x: Ball, y: Ball) -> Ball:
        """Nothing is rounded; where one is surely the larger its own errors count alone."""
        mid = np.maximum(x.mid, y.mid)
        reaches = [np.where(one.mid + one.rad < mid, 0.0, one.rad) for one in (x, y)]
        rad = np.where(np.isnan(mid), 0.0, np.maximum(*reaches))
        return Ball(mid, rad, self.compute, chosen(x.mid >= y.mid, x, y).cancelled)

    def beside(self, sum_: Ball, term: Ball) -> Ball:
        return term

    def complement_of_power(self, base: float, exponent: float) -> Ball:
        """The base is held in the compute type, whose errors a power multiplies; then 1 - power cancels."""
        held, power = self.number(base), base**exponent
        moved = exponent * held.rad / base * power if base else 0.0
        rounded = held.rounded(np.float64(power), moved, POWER_ULPS)
        return self.number(1.0) - rounded.but_exact(np.asarray(base == 0))

    def either(self, definition: Callable[[], Ball], *others: Callable[[], Ball]) -> Ball:
        return reduce(_wider, (way() for way in (definition, *others)))


class Numbers:
    """Of any precision, in arrays of objects."""

    elements, root = staticmethod(mp.of_float), staticmethod(mp.sqrt)
    larger = staticmethod(np.maximum)

    def number(self, value: float) -> gmpy2.mpfr:
        return gmpy2.mpfr(value)

    def beside(self, sum_: np.ndarray, term: np.ndarray) -> np.ndarray:
        return term

    def complement_of_power(self, base: float, exponent: float) -> gmpy2.mpfr:
        return _complement(base, exponent)

    def either(self, definition: Callable[[], np.ndarray], *others: Callable[[], np.ndarray]) -> np.ndarray:
        return definition()


class NoFraction:
    """What is not known to be rational, and what is computed of that."""

    def _itself(self, *others: object) -> NoFraction:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __neg__ = _itself


class Fractions:
    """Of one element."""

    def elements(self, array: np.ndarray) -> Fraction | NoFraction:
        return Fraction(float(array)) if np.isfinite(array) else NoFraction()

    number = Fraction

    def root(self, x: Fraction | NoFraction) -> Fraction | NoFraction:
        """That of 0 is left to the other kinds: what is divided by it is no fraction."""
        found = root(x, 2) if isinstance(x, Fraction) and x > 0 else NoFraction()
        return NoFraction() if isinstance(found, Irrational) else found

    def larger(self, x: Fraction | NoFraction, y: Fraction | NoFraction) -> Fraction | NoFraction:
        return max(x, y) if isinstance(x, Fraction) and isinstance(y, Fraction) else NoFraction()

    def beside(self, sum_: Fraction | NoFraction, term: Fraction | NoFraction) -> Fraction | NoFraction:
        return term

    def complement_of_power(self, base: float, exponent: float) -> Fraction | NoFraction:
        if base and not exponent == int(exponent) <= MOST_FACTORS:
            return NoFraction()
        return 1 - Fraction(base) ** int(exponent)

    def either(self, definition: Callable[[], Number], *others: Callable[[], Number]) -> Fraction | NoFraction:
        return definition()


def _complement(base: float, exponent: float) -> gmpy2.mpfr:
    """1 - base^exponent, by its logarithm where the power is near 1."""
    return -gmpy2.expm1(gmpy2.mpfr(exponent) * gmpy2.log(gmpy2.mpfr(base))) if base else gmpy2.mpfr(1)


def _wider(one: Ball, other: Ball) -> Ball:
    return chosen(other.rad > one.rad, other, one)
