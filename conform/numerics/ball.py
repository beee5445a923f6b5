"""What an honest implementation of a composite op may lose: numbers with the error it may have made so far.

A `Ball` is a value computed in the compute type: `mid` is the real number (in float64), `rad` bounds how far an honest
implementation's computed value may lie from it. Every operator passes on its operands' errors through the image of the
ball and adds its own rounding, |fl(z) - z| <= ulps * ulp(z) <= 2 u ulps |z| + eta, with u the unit roundoff and eta the
smallest subnormal of the compute type (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 2.2).
A bound that overflows the compute type is infinite: it says nothing, and the judge reports it as vacuous.

A ball knows the scale of its number, too, beside which the judge finds a bound vacuous or not: the magnitude of its
terms where they may have cancelled, which products and quotients multiply, and functions forget.

How errors add up, and what a rounding costs that flushes or rounds to the element type, is `rounding_errors`' to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from conform.numerics.eft import SAFE_PRODUCT, two_prod
from conform.numerics.formats import Format
from conform.numerics.grid import common_grid, is_exact, is_held
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import (
    CORRECTLY_ROUNDED,
    accumulator_of,
    flushed_sum,
    gamma,
    half_subnormal,
    joined,
    joined_along,
    ulps_held,
)

# ULPs that an honest implementation may spend on one float32 function: OpenCL C 3.0, full profile, section 7.4.
# Division by a float64 or wider compute type is one or two roundings: a kernel may multiply by the reciprocal.
ULPS = {
    "exp": 3.0, "exp2": 3.0, "log": 3.0, "log1p": 2.0, "sin": 4.0, "cos": 4.0, "tan": 5.0, "tanh": 5.0,
    "erf": 16.0, "erfc": 16.0, "sqrt": 3.0, "div": 2.5, "cbrt": 2.0, "acos": 4.0, "acosh": 4.0, "asin": 4.0,
    "asinh": 4.0, "atan": 5.0, "atan2": 6.0, "atanh": 5.0, "cosh": 4.0, "sinh": 4.0,
}  # fmt: skip


@dataclass(frozen=True)
class Ball:
    """`mid` and `rad` are float64 arrays of one shape; `compute` is the format an implementation computes in;
    `cancelled`, which broadcasts to them, the magnitude of the terms where more than |mid|: None where nothing was
    added."""

    mid: np.ndarray
    rad: np.ndarray
    compute: Format
    cancelled: np.ndarray | None = None

    @property
    def scale(self) -> np.ndarray:
        """|mid|, or the magnitude of the terms that it is the sum of."""
        return np.abs(self.mid) if self.cancelled is None else np.maximum(self.cancelled, np.abs(self.mid))

    def at_scale(self, scale: np.ndarray | None) -> Ball:
        """This ball, where its terms had the magnitude `scale`."""
        return Ball(self.mid, self.rad, self.compute, scale)

    @staticmethod
    def exact(mid: np.ndarray, compute: Format) -> Ball:
        """Operands that the compute type holds exactly."""
        mid = np.asarray(mid, dtype=np.float64)
        return Ball(mid, np.zeros_like(mid), compute)

    def constant(self, value: float) -> Ball:
        """A real constant as the compute type holds it: rounded, if it does not fit."""
        exact = Ball.exact(np.float64(value), self.compute)
        if _holds(self.compute, float(value)):
            return exact
        return Ball(exact.mid, _rounded_by(self.compute, float(value), flushed_sum(self.compute)), self.compute)

    def irrational(self, nearest: float) -> Ball:
        """An irrational constant, of which `nearest` is the nearest float64, as the compute type holds it."""
        held = self.constant(nearest)
        return Ball(held.mid, held.rad + np.spacing(nearest) / 2, held.compute)

    def rounded(self, mid: np.ndarray | float, propagated: np.ndarray | float, ulps: float = CORRECTLY_ROUNDED) -> Ball:
        """The ball around `mid` after one operation of `ulps` error on operands whose errors move it by
        `propagated`."""
        with np.errstate(all="ignore"):
            mid, propagated = np.asarray(mid, np.float64), np.asarray(propagated, np.float64)
            reach = np.abs(mid) + propagated
            rounding = self.compute.unit_roundoff * reach  # half an ulp, in place from here on
            rounding += half_subnormal(self.compute)
            if (half_ulps := 2 * ulps_held(self.compute, ulps)) != 1:
                rounding *= half_ulps
            if flushed := flushed_sum(self.compute):
                rounding += flushed
            rad = joined(propagated, rounding)
            reach += rad
            if not reach.max(initial=0.0) <= self.compute.max_finite:  # nor of NaN
                rad = np.where(reach <= self.compute.max_finite, rad, np.inf)
        return Ball(mid, rad, self.compute)

    def _determined(self, *operands: Ball, unless: np.ndarray | bool = False) -> Ball:
        """Where an operand is exactly NaN, or exactly infinite and the others are bounded, IEEE 754 determines the
        result; of an infinite operand not where `unless` says so."""
        if all(np.isfinite(operand.mid).all() for operand in operands):
            return self
        with np.errstate(all="ignore"):
            exact_nan, exact_special, bounded = False, False, True
            for operand in operands:
                exact = operand.rad == 0
                exact_nan = exact_nan | (np.isnan(operand.mid) & exact)
                exact_special = exact_special | (~np.isfinite(operand.mid) & exact)
                bounded = bounded & np.isfinite(operand.rad)
        bounded = bounded & ~np.asarray(unless)
        return self.but_exact(exact_nan | (exact_special & bounded))

    def but_exact(self, where: np.ndarray) -> Ball:
        """This ball without an error where the result is determined."""
        return Ball(self.mid, np.where(where, 0.0, self.rad), self.compute, self.cancelled)

    def _has_any_sign(self) -> np.ndarray:
        """Where the computed value may be positive, negative or zero."""
        return (self.rad > 0) & (np.abs(self.mid) <= self.rad)

    def _lift(self, other: Ball | float) -> Ball:
        return other if isinstance(other, Ball) else self.constant(other)

    def __add__(self, other: Ball | float) -> Ball:
        other = self._lift(other)
        with np.errstate(all="ignore"):
            ball = self.rounded(self.mid + other.mid, joined(self.rad, other.rad)).at_scale(self.scale + other.scale)
            if np.isfinite(ball.mid).all() and ball.mid.all():
                return ball  # of numbers that are none of the special ones below
            cancels = (ball.mid == 0) & (self.rad == 0) & (other.rad == 0)  # numbers of the format that cancel
            return ball._determined(self, other).but_exact(cancels)

    def __sub__(self, other: Ball | float) -> Ball:
        return self + -self._lift(other)

    def __mul__(self, other: Ball | float) -> Ball:
        other = self._lift(other)
        with np.errstate(all="ignore"):
            product = self.rounded(self.mid * other.mid, self._spread_by(other))
            product = product.at_scale(self._factor(other, np.multiply))
            if np.isfinite(product.mid).all() and product.mid.all():
                return product  # of numbers that are none of the special ones below
            no_class = np.isinf(self.mid) & other._has_any_sign() | np.isinf(other.mid) & self._has_any_sign()
            result = product._determined(self, other, unless=no_class)
            zeros = self._is_zero() & other._is_bounded() | other._is_zero() & self._is_bounded()
            return result.but_exact(zeros)

    def _spread_by(self, other: Ball) -> np.ndarray | float:
        """How far the errors of two factors move their product."""
        if not other.rad.any():
            return np.abs(other.mid) * self.rad if self.rad.any() else 0.0
        if not self.rad.any():
            return np.abs(self.mid) * other.rad
        return joined(np.abs(self.mid) * other.rad, np.abs(other.mid) * self.rad) + self.rad * other.rad

    def _is_zero(self) -> np.ndarray:
        return (self.mid == 0) & (self.rad == 0)

    def _is_bounded(self) -> np.ndarray:
        return np.isfinite(self.mid) & np.isfinite(self.rad)

    def _factor(self, other: Ball, operation: np.ufunc) -> np.ndarray | None:
        """The scale of a product or quotient; None where neither operand's terms can have cancelled."""
        plain = self.cancelled is None and other.cancelled is None
        with np.errstate(all="ignore"):
            return None if plain else operation(self.scale, other.scale)

    __radd__, __rmul__ = __add__, __mul__

    def square(self) -> Ball:
        """self * self, which has no rounding error where the operand is exact and the compute type holds the result."""
        ball = self * self
        with np.errstate(all="ignore"):
            product, error = two_prod(self.mid, self.mid)
            is_known = (error == 0) & ((product >= SAFE_PRODUCT) | (self.mid == 0))
            exact = (self.rad == 0) & is_known & is_held(self.compute, product)
        return ball.but_exact(exact)

    def __neg__(self) -> Ball:
        return Ball(-self.mid, self.rad, self.compute, self.cancelled)

    def __truediv__(self, other: Ball | float) -> Ball:
        other = self._lift(other)
        with np.errstate(all="ignore"):
            quotient, room = self.mid / other.mid, np.abs(other.mid) - other.rad
            spread = joined(self.rad, np.abs(quotient) * other.rad) / room
            if not room.min(initial=1.0) > 0:
                spread = np.where(room > 0, spread, np.inf)
        ulps = ULPS["div"] if self.compute.bits <= 32 else 2 * CORRECTLY_ROUNDED
        divisor = Ball(other.mid, other.rad, other.compute)  # of which a cancelled one is no larger
        ball = self.rounded(quotient, spread, ulps).at_scale(self._factor(divisor, np.divide))
        if np.isfinite(quotient).all() and quotient.all():
            return ball  # of numbers that are none of the special ones below
        no_class = np.isinf(self.mid) & other._has_any_sign()
        # IEEE 754 determines these too: x / 0, and 0 / x.
        exact = other._is_zero() & (self.rad == 0) | self._is_zero() & (room > 0) & other._is_bounded()
        return ball._determined(self, other, unless=no_class).but_exact(exact)

    def __getitem__(self, index: object) -> Ball:
        scale = None if self.cancelled is None else np.broadcast_to(self.cancelled, self.mid.shape)[index]
        return Ball(self.mid[index], self.rad[index], self.compute, scale)

    def sum(self, axis: int | tuple[int, ...], keepdims: bool = True) -> Ball:
        """The sum along `axis`, in any order: gamma_(n-1) times the sum of magnitudes (Higham, 4.2)."""
        sums = Ball.total([self], axis)
        return sums if keepdims else Ball(*(each.squeeze(axis) for each in (sums.mid, sums.rad)), sums.compute,
                                          sums.scale.squeeze(axis))  # fmt: skip

    @staticmethod
    def total(pieces: Iterable[Ball], axis: int | tuple[int, ...] = -1, in_terms: bool = True) -> Ball:
        """The sum along `axis`, which is kept with length 1, in any order, of what comes in pieces of it; in_terms:
        whether implementations add up the terms themselves, and so exactly where a grid allows it."""
        mid = carried = magnitude = scale = np.float64(0)
        count, nan, special, bounded, grid = 0, False, False, True, np.float64(np.inf)
        with np.errstate(all="ignore"):
            for piece in pieces:
                mid = mid + piece.mid.sum(axis, keepdims=True)
                carried = joined(carried, joined_along(piece.rad, axis, keepdims=True))
                scale = scale + np.broadcast_to(piece.scale, piece.mid.shape).sum(axis, keepdims=True)
                count += piece.mid.size // max(mid.size, 1)
                reach, finite = np.abs(piece.mid) + piece.rad, np.isfinite(piece.mid)
                if not finite.all():
                    exactly_special = ~finite & (piece.rad == 0)
                    reach = np.where(exactly_special, 0.0, reach)
                    nan = nan | (exactly_special & np.isnan(piece.mid)).any(axis, keepdims=True)
                    special = special | exactly_special.any(axis, keepdims=True)
                magnitude = magnitude + reach.sum(axis, keepdims=True)
                bounded = bounded & np.isfinite(piece.rad).all(axis, keepdims=True)
                grid = np.minimum(grid, piece._grid(axis) if in_terms else 0.0)
            compute = accumulator_of(piece.compute)
            rad = joined(carried, gamma(count - 1, compute.unit_roundoff) * magnitude)
            rad = np.where(is_exact(compute, grid, mid, magnitude, compute.min_subnormal) & (carried == 0), 0.0, rad)
            rad = rad + count * flushed_sum(compute)
            fits = magnitude + rad <= compute.max_finite
            # An infinite term decides, unless the finite ones may overflow to the other infinity before they meet it.
            decided = nan | (special & bounded & (fits | np.isnan(mid)))
            total = Ball(mid, np.where(decided, 0.0, np.where(fits, rad, np.inf)), compute, scale)
            return total if compute == piece.compute else total._held_in(piece.compute)

    def _held_in(self, fmt: Format) -> Ball:
        """The ball after a rounding to the narrower `fmt`."""
        exact = (self.rad == 0) & (is_held(fmt, self.mid) | ~np.isfinite(self.mid))
        rounded = replace(self, compute=fmt).rounded(self.mid, self.rad)._determined(self)
        return rounded.but_exact(exact).at_scale(self.cancelled)

    def _grid(self, axis: int | tuple[int, ...]) -> np.ndarray | float:
        """The grid along `axis`, which is kept with length 1, of exact terms; 0 where they have none of use."""
        exact = (self.rad == 0).all(axis, keepdims=True)
        if not isinstance(axis, int) or not exact.any():
            return 0.0
        grid = common_grid(self.compute, [self.mid], axis)
        return 0.0 if grid is None else np.where(exact, np.expand_dims(grid, axis), 0.0)

    def sqrt(self) -> Ball:
        with np.errstate(all="ignore"):
            root, high = np.sqrt(self.mid), np.sqrt(self.mid + self.rad)
            low = np.sqrt(np.maximum(self.mid - self.rad, 0.0))
            below = np.where(low > 0, self.rad / (root + low), root)
            spread = np.where(self.rad > 0, np.maximum(below, self.rad / (root + high)), 0.0)
        ulps = ULPS["sqrt"] if self.compute.bits <= 32 else CORRECTLY_ROUNDED
        scale = None if self.cancelled is None else np.sqrt(self.scale)
        return self.rounded(root, spread, ulps)._determined(self).but_exact(self._is_zero()).at_scale(scale)

    def exp(self) -> Ball:
        with np.errstate(all="ignore"):
            image = np.exp(self.mid)
            # exp(m + r) - exp(m), finite where exp(m + r) is
            spread = np.exp(self.mid + self.rad) * -np.expm1(-self.rad) if self.rad.any() else 0.0
            ball = self.rounded(image, spread, ULPS["exp"])._determined(self)
            return ball.but_exact((self.mid == 0) & (self.rad == 0))  # 1: C99, F.9.3.1, which OpenCL 7.5.1 refers to

    def exp2(self) -> Ball:
        with np.errstate(all="ignore"):
            spread = np.exp2(self.mid + self.rad) * -np.expm1(-self.rad * np.log(2.0)) if self.rad.any() else 0.0
            return self.rounded(np.exp2(self.mid), spread, ULPS["exp2"])._determined(self)

    def log(self, base: float = np.e) -> Ball:
        """The logarithm to the base e, 2 or 10, each of 3 ulp (OpenCL C 3.0, section 7.4)."""
        function = {np.e: np.log, 2.0: np.log2, 10.0: np.log10}[base]
        return self._logarithm(function, self.mid, "log", 1 / np.log(base))

    def log1p(self) -> Ball:
        return self._logarithm(np.log1p, 1.0 + self.mid, "log1p")

    def _logarithm(
        self, function: Callable[[np.ndarray], np.ndarray], argument: np.ndarray, name: str, factor: float = 1.0
    ) -> Ball:
        """log a - log(a - rad), the longer side of the image, times `factor` of another base; no bound where the ball
        reaches 0. Near 1 the logarithm is a - 1, and of an argument that was rounded those two cancel."""
        with np.errstate(all="ignore"):
            value, spread, scale = function(self.mid), 0.0, None
            if self.rad.any():
                share = np.where(self.rad > 0, self.rad / argument, 0.0)
                spread = np.where((share >= 0) & (share < 1), -np.log1p(-share) * factor, np.inf)
                scale = np.abs(value) + np.where(self.rad > 0, self.scale / argument * factor, 0.0)
            image = self.rounded(value, spread, ULPS[name])._determined(self)
            # A pole or a domain error, and the logarithm of 1: C99, F.9.3.7 and F.9.3.9, which OpenCL 7.5.1 refers to.
            return image.but_exact((self.rad == 0) & ((argument <= 0) | (value == 0))).at_scale(scale)

    def sin(self) -> Ball:
        """The slope of sin is at most 1. Of an angle that was rounded, whole turns cancel."""
        with np.errstate(all="ignore"):
            sine = self.rounded(np.sin(self.mid), self.turned(), ULPS["sin"])._determined(self)
            return sine.at_scale(np.minimum(np.abs(self.mid), 1.0) if np.any(self.rad > 0) else None)

    def cos(self) -> Ball:
        """The slope of cos is at most 1."""
        with np.errstate(all="ignore"):
            cosine = self.rounded(np.cos(self.mid), self.turned(), ULPS["cos"])._determined(self)
            return cosine.at_scale(np.minimum(np.abs(self.mid), 1.0) if np.any(self.rad > 0) else None)

    def turned(self) -> np.ndarray:
        """How far the sine and cosine of this angle may move: no further than from -1 to 1, but they are NaN of an
        angle that has overflowed."""
        return np.where(np.isinf(self.rad), np.inf, np.minimum(self.rad, 2.0))

    def erfc(self, real_erfc: Callable[[np.ndarray], np.ndarray]) -> Ball:
        """With the slope of erf."""
        return self.rounded(real_erfc(self.mid), self._erf_spread(), ULPS["erfc"])._determined(self)

    def erf(self, real_erf: Callable[[np.ndarray], np.ndarray]) -> Ball:
        return self.rounded(real_erf(self.mid), self._erf_spread(), ULPS["erf"])._determined(self)

    def _erf_spread(self) -> np.ndarray:
        """The slope of erf within the ball is at most 2/sqrt(pi) exp(-t^2) at its point nearest to zero."""
        with np.errstate(all="ignore"):
            nearest = np.maximum(np.abs(self.mid) - self.rad, 0.0)
            return np.minimum(self.rad * (2 / np.sqrt(np.pi)) * np.exp(-(nearest**2)), 2.0)

    def tanh(self) -> Ball:
        """The slope of tanh within the ball is at most 1/cosh(t)^2 at its point nearest to zero."""
        with np.errstate(all="ignore"):
            nearest = np.maximum(np.abs(self.mid) - self.rad, 0.0)
            spread = np.minimum(self.rad / np.cosh(nearest) ** 2, 2.0)
        return self.rounded(np.tanh(self.mid), spread, ULPS["tanh"])._determined(self)


def chosen(condition: np.ndarray, x: Ball, y: Ball) -> Ball:
    """x where `condition`, else y."""
    plain = x.cancelled is None and y.cancelled is None
    scale = None if plain else np.where(condition, x.scale, y.scale)
    return Ball(np.where(condition, x.mid, y.mid), np.where(condition, x.rad, y.rad), x.compute, scale)


@lru_cache(maxsize=256)
def _rounded_by(compute: Format, value: float, flushed: float) -> np.ndarray:
    """How far off a constant is that the compute type does not hold; `flushed` is what `rounded` asks for itself."""
    return Ball.exact(np.float64(value), compute).rounded(np.float64(value), 0.0).rad


@lru_cache(maxsize=256)
def _holds(compute: Format, value: float) -> bool:
    return float(round_to(compute, np.float64(value))) == value
