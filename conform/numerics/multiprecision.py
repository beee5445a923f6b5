"""Numbers of any precision, for formulas that `escalate` evaluates at rising precision; nothing outside this room needs
MPFR.

Every function takes a number or an array of numbers (dtype object) and rounds to the precision of `at_precision`, as
MPFR does: correctly. An int in place of a number is exact at every precision. Exponentials that are as far from 1 as
e^FARTHEST are not told apart: a formula in which two of them may be compared takes one out of the other first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import NamedTuple

import gmpy2
import numpy as np

from conform.numerics.formats import Format
from conform.numerics.parts import EXPONENT_BEYOND, LARGEST, Parts
from conform.numerics.real import Real
from conform.numerics.rounding import FLOAT64, round_to

Number = gmpy2.mpfr

SMALLEST = 2.0**-1074
_LOST_BITS = 20  # of a term, at most
FARTHEST = 2.0**20  # e^-FARTHEST and e^FARTHEST stand for what is beyond: hundreds of them multiplied are numbers


def at_precision(bits: int) -> AbstractContextManager:
    """A context whose numbers have so many bits."""
    return gmpy2.context(precision=bits)


def _held(x: Number) -> Number:
    return min(max(x, -FARTHEST), FARTHEST) if gmpy2.is_finite(x) else x


def _of_fraction(x: Fraction) -> Number:
    return Number(gmpy2.mpz(x.numerator)) / gmpy2.mpz(x.denominator)


exp = np.frompyfunc(lambda x: gmpy2.exp(_held(x)), 1, 1)
expm1 = np.frompyfunc(lambda x: gmpy2.expm1(_held(x)), 1, 1)
log = np.frompyfunc(gmpy2.log, 1, 1)
log1p = np.frompyfunc(gmpy2.log1p, 1, 1)
cos = np.frompyfunc(gmpy2.cos, 1, 1)
sin = np.frompyfunc(gmpy2.sin, 1, 1)
sqrt = np.frompyfunc(gmpy2.sqrt, 1, 1)
of_float = np.frompyfunc(lambda x: Number(float(x)), 1, 1)
of_fraction = np.frompyfunc(_of_fraction, 1, 1)


def pi() -> Number:
    """At the precision of the context."""
    return gmpy2.const_pi()


def as_real(make: Callable[[], Number]) -> Real:
    """The number that `make` gives at any precision, to 2^-104 of it."""
    with at_precision(300):
        number = make()
        hi = float(number)
        return Real.exact(hi) + Real(np.float64(number - hi), np.float64(0.0), np.float64(abs(hi) * 2.0**-104))


def power_of_two(exponent: int) -> Number:
    """2^exponent, exactly."""
    return gmpy2.exp2(exponent)


def total(terms: Iterable[Number]) -> Number:
    """The sum, off by what its terms may be: 2^(20-p) of their magnitudes together, p the precision.

    A sum that cancels so is seen to change with the precision, even where every digit cancels and nothing is left.
    """
    numbers = list(terms)
    error = gmpy2.fsum(map(abs, numbers)) * power_of_two(_LOST_BITS - gmpy2.get_context().precision)
    return gmpy2.fsum(numbers) + error


def total_or_zero(terms: Iterable[Number]) -> Number | int:
    """The sum as `total` has it, which is not below the true one; the exact 0 in place of a negative one."""
    number = total(terms)
    return 0 if number < 0 else number


class Enclosed(NamedTuple):
    """A number that lies within `radius` of `middle`; an int, an infinity or NaN is itself."""

    middle: Number | int
    radius: Number

    @staticmethod
    def of(coarse: Number | int, fine: Number | int, precision: int) -> Enclosed:
        """What a formula gives at `precision` and at twice that, which is the context's."""
        if isinstance(fine, int) or not gmpy2.is_finite(fine):
            return Enclosed(fine, Number(0))
        if not gmpy2.is_finite(coarse):
            return Enclosed(fine, gmpy2.inf())
        if fine == 0:  # of no sign
            return Enclosed(Number(0), 2 * abs(coarse))
        return Enclosed(fine, gmpy2.div_2exp(abs(fine), precision - _LOST_BITS) + 2 * abs(fine - coarse))

    @property
    def ends(self) -> tuple[Number, Number]:
        return self.middle - self.radius, self.middle + self.radius

    @property
    def may_have_cancelled(self) -> bool:
        """Whether it is 0 because digits are missing."""
        return self.middle == 0 and not isinstance(self.middle, int)

    def parts(self) -> Parts:
        """Of a Real; numbers that round to infinity as R2 and R4 of real.py say."""
        hi = float(self.middle)
        if self.radius == 0:  # of a zero at all precisions too
            return Parts(hi if hi else 0.0)
        if math.isinf(hi):
            if abs(self.middle) >= power_of_two(EXPONENT_BEYOND):
                return Parts(hi, radius=math.inf)
            hi = math.copysign(LARGEST, hi)
        rest_of_hi = self.middle - hi
        lo = float(rest_of_hi)
        left = rest_of_hi - lo
        rest = float(left * power_of_two(1074)) if left and gmpy2.get_exp(left) <= -1074 else None
        return Parts(hi, lo, math.nextafter(float(abs(left) + self.radius), math.inf), rest)


def rounded(fmt: Format, numbers: Sequence[Number | int]) -> np.ndarray:
    """Each rounded once to nearest even in the storage of `fmt`. Of what lies below float64's numbers only the sign is
    left, which is all that narrower formats need."""
    hi = np.array([float(x) for x in numbers])
    if fmt == FLOAT64:
        return hi
    return round_to(fmt, hi, np.array([_beyond(x, h) for x, h in zip(numbers, hi.tolist(), strict=True)]))


def _beyond(number: Number | int, hi: float) -> float:
    """The number less `hi`; where that underflows, the smallest number of its sign."""
    rest = number - hi if math.isfinite(hi) else 0
    return float(rest) or (math.copysign(SMALLEST, rest) if rest else 0.0)
