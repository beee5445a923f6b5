"""Real numbers with the exponent held apart: (hi + lo +- radius) * 2^exponent, rounded once to any format.

Nothing of them leaves float64's range before the rounding, which is exact into the subnormal numbers and up to the
overflow threshold: it is made on integers, in units of the last place that the result has there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from conform.numerics.eft import fast_two_sum, two_prod, two_sum
from conform.numerics.formats import FORMATS, Format
from conform.numerics.parts import LARGEST
from conform.numerics.real import RAISE, Real
from conform.numerics.rounding import round_to

FLOAT64 = FORMATS["float64"]
FARTHEST = 4000  # exponents beyond round alike in every format
FAINT = 300  # binades below the other of two numbers that are added: there a number stands for those further down
SMALLEST = 2.0**-1074


@dataclass(frozen=True)
class Scaled:
    """Numbers that lie within radius * 2^exponent of (hi + lo) * 2^exponent; all four are arrays
    of one shape.

    |hi| is in [1/2, 1) and |lo| <= ulp(hi) / 2, or the radius is infinite: nothing is known. Radius 0: exact. A radius
    that is less than |lo| tells on which side of hi the number lies, however small lo is.
    """

    hi: np.ndarray
    lo: np.ndarray
    radius: np.ndarray
    exponent: np.ndarray

    @staticmethod
    def of(
        hi: np.ndarray, lo: np.ndarray, relative_error: np.ndarray | float, exponent: np.ndarray | int = 0
    ) -> Scaled:
        """(hi + lo) * 2^exponent, known to within `relative_error` of hi; nothing is known where hi is 0 or one of them
        is not finite."""
        hi, lo = np.asarray(hi, np.float64), np.asarray(lo, np.float64)
        known = np.isfinite(hi) & np.isfinite(lo) & (hi != 0) & np.isfinite(relative_error)
        hi, lo = np.where(known, hi, 0.5), np.where(known, lo, 0.0)
        significand, own = np.frexp(hi)
        radius = np.where(known, np.abs(significand) * relative_error, np.inf)
        total = np.clip(own + np.asarray(exponent, np.int64), -FARTHEST, FARTHEST)
        return Scaled(significand, np.ldexp(lo, -own), radius, total)

    @staticmethod
    def exact(numbers: np.ndarray) -> Scaled:
        """Doubles; nothing is known of 0 and of what is not finite."""
        return Scaled.of(numbers, np.zeros_like(numbers), 0.0)

    @staticmethod
    def beside(hi: np.ndarray, lo: np.ndarray, follows: np.ndarray | float, exponent: np.ndarray | int) -> Scaled:
        """(hi + lo) * 2^exponent * (1 + r), r of the sign of `follows` and below 2^-200: rounded as with an r that is
        not 0, with a radius that reaches 0. A double is moved by 2^-110, lo by 2^-43 of itself."""
        is_double = lo == 0
        move = np.where(is_double, 2.0**-110 * np.abs(hi), 2.0**-43 * np.abs(lo))
        moved = Scaled.of(hi, lo + move * np.sign(follows) * np.sign(hi), 0.0, exponent)
        radius = move * np.abs(moved.hi / hi) * np.where(is_double, 1 - 2.0**-45, 1 - 2.0**-6)
        return Scaled(moved.hi, moved.lo, np.maximum(moved.radius, radius), moved.exponent)

    def __neg__(self) -> Scaled:
        return Scaled(-self.hi, -self.lo, self.radius, self.exponent)

    def times(self, factor: Real | Scaled) -> Scaled:
        """The products with numbers of ordinary size, or with (hi + lo) of scaled ones: 7 u^2, both relative errors and
        their product."""
        with np.errstate(all="ignore"):
            product, error = two_prod(self.hi, factor.hi)
            hi, lo = fast_two_sum(product, error + (self.hi * factor.lo + self.lo * factor.hi))
            relative = [self.radius / np.abs(self.hi), factor.radius / np.abs(factor.hi)]
            return Scaled.of(hi, lo, (relative[0] + relative[1]) * 1.25 + 2.0**-103, self.exponent).known_where(
                (relative[0] < 2.0**-10) & (relative[1] < 2.0**-10)
            )

    def product(self, *others: Scaled) -> Scaled:
        """Times each of the others."""
        return reduce(lambda one, other: one.times(other).times_power_of_two(other.exponent), others, self)

    def plus(self, other: Scaled) -> Scaled:
        """The sums; without error where both numbers have none and two doubles hold the sum. Nothing is known of 0."""
        with np.errstate(all="ignore"):
            top = np.maximum(self.exponent, other.exponent)
            total = self._over(top) + other._over(top)
            return Scaled.of(total.hi, total.lo, total.radius / np.abs(total.hi) * RAISE, top)

    def _over(self, top: np.ndarray) -> Real:
        """The numbers over 2^top, which is not below their exponents."""
        down = np.maximum(self.exponent - top, -FAINT)
        real = Real(self.hi, self.lo, self.radius).times_power_of_two(down)
        return Real(real.hi, real.lo, real.radius + np.where(down > self.exponent - top, 2.0 ** (1 - FAINT), 0.0))

    def times_power_of_two(self, exponent: np.ndarray) -> Scaled:
        return Scaled(self.hi, self.lo, self.radius, np.clip(self.exponent + exponent, -FARTHEST, FARTHEST))

    def column(self) -> Scaled:
        """[n, 1] of [n]."""
        return Scaled(*(part[:, None] for part in (self.hi, self.lo, self.radius, self.exponent)))

    def broadcast_to(self, shape: tuple[int, ...]) -> Scaled:
        parts = (self.hi, self.lo, self.radius, self.exponent)
        return Scaled(*(np.broadcast_to(part, shape) for part in parts))

    def known_where(self, condition: np.ndarray) -> Scaled:
        """The same numbers; nothing is known of those without the condition."""
        return Scaled(self.hi, self.lo, np.where(condition, self.radius, np.inf), self.exponent)

    def but_one_where(self, condition: np.ndarray) -> Scaled:
        """The same numbers, and exactly 1 where the condition holds."""
        parts = zip((self.hi, self.lo, self.radius, self.exponent), (0.5, 0.0, 0.0, 1), strict=True)
        return Scaled(*(np.where(condition, one, part) for part, one in parts))

    def or_else(self, other: Scaled) -> Scaled:
        """The same numbers; where nothing is known of them, the others."""
        known = np.isfinite(self.radius)
        names = ("hi", "lo", "radius", "exponent")
        return Scaled(*(np.where(known, getattr(self, name), getattr(other, name)) for name in names))

    def replaced(self, places: np.ndarray, others: Scaled) -> Scaled:
        """The same numbers, but the others, one for each, at `places`."""
        parts = [getattr(self, name).copy() for name in ("hi", "lo", "radius", "exponent")]
        for part, name in zip(parts, ("hi", "lo", "radius", "exponent"), strict=True):
            part[places] = getattr(others, name)
        return Scaled(*parts)

    def decided(self, fmt: Format) -> tuple[np.ndarray, np.ndarray]:
        """(value, undecided): rounded to nearest even in `fmt.storage`, and where the radius leaves that open.

        lo - margin and lo + margin are rounded by u |lo| and u margin; the margin is larger by more than that.
        """
        margin = np.where(self.radius > 0, self.radius * RAISE + np.abs(self.lo) * 2.0**-51, 0.0)
        known = np.isfinite(margin)
        margin = np.where(known, margin, 0.0)
        low, high = (round_scaled(fmt, *two_sum(self.hi, self.lo + each), self.exponent) for each in (-margin, margin))
        return low, (low.view(fmt.code_storage) != high.view(fmt.code_storage)) | ~known

    def real(self) -> Real:
        """The numbers as far as float64 holds them; R1 to R5 of real.py."""
        with np.errstate(all="ignore"):
            nearest = round_scaled(FLOAT64, self.hi, self.lo, self.exponent)
            held = np.where(np.isinf(nearest), np.copysign(LARGEST, nearest), nearest)
            # Both differences are exact: hi and what it is rounded to are multiples of ulp(hi), and near each other.
            difference, rest = two_sum(self.hi - np.ldexp(held, -self.exponent), self.lo)
            lo = np.ldexp(difference, self.exponent)
            missing = (difference - np.ldexp(lo, -self.exponent)) + rest
            error = (self.radius * RAISE + np.abs(self.lo) * 2.0**-44 * (self.radius > 0) + np.abs(missing)) * RAISE
            radius = np.ldexp(error, self.exponent)
            radius = np.where(np.ldexp(radius, -self.exponent) < error, np.nextafter(radius, np.inf), radius)
            beyond = _at_least_two_to(1024, self.hi, self.lo, self.exponent)
            unknown = np.isinf(self.radius)
            hi = np.where(unknown, 0.0, np.where(beyond, np.copysign(np.inf, self.hi), held))
            lo = np.where(beyond | unknown, 0.0, lo)
            below = np.ldexp(missing, np.minimum(self.exponent, 0) + 1074)
            below = np.where((np.abs(below) < 1) & ~(beyond | unknown) & (self.exponent <= 0), below, 0.0)
            return Real(hi, lo, np.where(beyond | unknown, np.inf, radius), below if below.any() else None)


def _at_least_two_to(power: int, hi: np.ndarray, lo: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """Whether |hi + lo| * 2^exponent is at least 2^power; |lo| <= ulp(hi) / 2."""
    significand, own = np.frexp(hi)
    just_below = (np.abs(significand) == 0.5) & (lo != 0) & (np.signbit(lo) != np.signbit(hi))
    return own + exponent > power + just_below


def round_scaled(fmt: Format, hi: np.ndarray, lo: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """The exact (hi + lo) * 2^exponent rounded once to nearest even in the float format `fmt`, in its storage.

    Needs |lo| <= ulp(hi) / 2 and a finite hi, whose sign a zero has. hi is counted in units of the result's last place,
    and lo decides where that comes to lie in the middle of two integers. A power of two that lo takes into the binade
    below rounds to itself in its own units as in theirs: lo is at most a quarter of a unit there.
    """
    with np.errstate(all="ignore"):
        significand, own = np.frexp(hi)
        binade = own - 1 + exponent
        quantum = np.clip(binade, fmt.emin, fmt.emax) - fmt.mantissa_bits
        counted = np.ldexp(significand, own + exponent - quantum)  # below 2^53, or beyond the largest number
        nearest = np.rint(counted)
        beside_midpoint = (np.abs(counted - nearest) == 0.5) & (lo != 0)
        nearest = np.where(beside_midpoint, counted + np.copysign(0.5, lo), nearest)
        return round_to(fmt, np.copysign(np.ldexp(nearest, quantum), hi))
