"""The cube root, sinh and cosh, and the inverse functions, of reals with a radius; and how far each moves with its
operand.

`SPREADS[name](x, r)` bounds |f(x + d) - f(x)| for |d| <= r, of float64 arrays: the mean value theorem with the largest
slope on the interval, or, where that has no end, what the function does there at worst. A concave function that begins
at an end of its domain moves most there: f(a + r) - f(a) <= f(end + r) - f(end). Infinite where the interval leaves the
domain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from conform.numerics.functions import dd, hyperbolic, inverse_trigonometric, powers
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.of_reals import Kernel, bounded, image
from conform.numerics.real import Real

_RAISE = 1.0 + 2.0**-40  # for the roundings of a spread itself

Spread = Callable[[Array, Array], Array]


def _nearest(x: Array, r: Array) -> Array:
    """To zero, of the numbers within r of x."""
    return np.maximum(np.abs(x) * (1 - 2.0**-51) - r, 0.0)


def _farthest(x: Array, r: Array) -> Array:
    return np.abs(x) * (1 + 2.0**-51) + r


def _cbrt(x: Array, r: Array) -> Array:
    """cbrt(r / 2) - cbrt(-r / 2) at worst, around 0."""
    by_slope = r / (3 * np.cbrt(_nearest(x, r)) ** 2)
    return np.fmin(by_slope, 2 * np.cbrt(r / 2))


def _asin(x: Array, r: Array) -> Array:
    """asin 1 - asin(1 - r) = acos(1 - r) = 2 asin sqrt(r / 2) at worst, at the ends."""
    far = _farthest(x, r)
    by_slope = r / np.sqrt(np.maximum((1 - far) * (1 + far), 0.0))
    return np.where(far <= 1, np.fmin(by_slope, 2 * np.arcsin(np.sqrt(np.minimum(r / 2, 1.0)))), np.inf)


def _acosh(x: Array, r: Array) -> Array:
    """acosh(1 + r) = 2 asinh sqrt(r / 2) at worst, at 1."""
    low = x * (1 - 2.0**-51) - r
    by_slope = r / np.sqrt(np.maximum((low - 1) * (low + 1), 0.0))
    return np.where(low >= 1, np.fmin(by_slope, 2 * np.arcsinh(np.sqrt(r / 2))), np.inf)


def _atanh(x: Array, r: Array) -> Array:
    far = _farthest(x, r)
    return np.where(far < 1, r / ((1 - far) * (1 + far)), np.inf)


_SPREADS: Mapping[str, Spread] = {
    "acos": _asin,
    "acosh": _acosh,
    "asin": _asin,
    "asinh": lambda x, r: r / np.sqrt(1 + _nearest(x, r) ** 2),
    "atan": lambda x, r: r / (1 + _nearest(x, r) ** 2),
    "atanh": _atanh,
    "cbrt": _cbrt,
    "cosh": lambda x, r: r * np.sinh(_farthest(x, r)),
    "sinh": lambda x, r: r * np.cosh(_farthest(x, r)),
}


def spread(name: str, x: Array, r: Array) -> Array:
    """How far the function may be from f(x) within r of x; 0 where r is."""
    with np.errstate(all="ignore"):
        found = _SPREADS[name](x, r) * _RAISE
    return np.where(r > 0, np.where(np.isnan(found), np.inf, found), 0.0)


def outside(name: str, x: Array, r: Array) -> Array:
    """Where everything within r of x lies outside the domain, so that the function is NaN."""
    if name == "acosh":
        return x + np.abs(x) * 2.0**-51 + r < 1
    return _nearest(x, r) > 1 if name in ("acos", "asin", "atanh") else np.zeros(np.shape(x), bool)


FLOAT64: Mapping[str, Callable[[Array], Array]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "cbrt": np.cbrt, "cosh": np.cosh, "sinh": np.sinh,
}  # fmt: skip
_KERNELS: Mapping[str, Kernel] = {
    "acos": bounded(inverse_trigonometric.acos, inverse_trigonometric.ASIN_ERROR),
    "acosh": bounded(hyperbolic.acosh, hyperbolic.INVERSE_ERROR),
    "asin": bounded(inverse_trigonometric.asin, inverse_trigonometric.ASIN_ERROR),
    "asinh": bounded(hyperbolic.asinh, hyperbolic.INVERSE_ERROR),
    "atan": bounded(inverse_trigonometric.atan, inverse_trigonometric.ATAN_ERROR),
    "atanh": bounded(hyperbolic.atanh, hyperbolic.INVERSE_ERROR),
    "cbrt": powers.cbrt,
    "cosh": bounded(hyperbolic.cosh, hyperbolic.HYPERBOLIC_ERROR),
    "sinh": bounded(hyperbolic.sinh, hyperbolic.HYPERBOLIC_ERROR),
}  # fmt: skip
_POINTS = {"acos": 1.0, "acosh": 1.0, "cosh": 0.0}  # where the function is 0, or 1, exactly


def function(name: str) -> Callable[[Real], Real]:
    """The function of that name, of a Real."""

    def of_real(x: Real) -> Real:
        with np.errstate(all="ignore"):
            special = FLOAT64[name](x.hi)
            ends = np.isnan(special) | np.isinf(special) & np.isfinite(x.hi) & (np.abs(x.hi) <= 1)
            settled = (ends | (x.hi == _POINTS.get(name, np.nan))) & (x.lo == 0) & (x.radius == 0)
            settled |= outside(name, x.hi, x.radius)
            return image(x, _KERNELS[name], lambda _: spread(name, x.hi, x.radius), special, settled)

    return of_real


def atan2_spread(y: Array, y_radius: Array, x: Array, x_radius: Array) -> Array:
    """The same of the angle of the point (x, y): the slope is 1 over the distance to the origin. Infinite where the
    points reach it, or the half axis of negative x, on whose sides the angles differ by a turn."""
    with np.errstate(all="ignore"):
        nearest = np.hypot(_nearest(y, y_radius), _nearest(x, x_radius))
        moved = np.hypot(y_radius, x_radius)
        cut = (x - x_radius <= 0) & (np.abs(y) <= y_radius) & (moved > 0)
        found = moved / nearest * _RAISE
    return np.where(moved > 0, np.where(cut | ~(nearest > 0), np.inf, found), 0.0)


def atan2(y: Real, x: Real) -> Real:
    """The angle of the point (x, y); unknown where it cannot be told from which side of the half axis of negative x the
    point is seen."""
    with np.errstate(all="ignore"):
        special = np.arctan2(y.hi, x.hi)
        settled = ~np.isfinite(y.hi) | ~np.isfinite(x.hi) | ((y.hi == 0) & (y.radius == 0) & (x.hi - x.radius > 0))
        (hi, lo), error = inverse_trigonometric.atan2(_kept(y, settled), _kept(x, settled))
        radius = np.abs(hi) * error + atan2_spread(y.hi, y.radius, x.hi, x.radius)
        unknown = ~np.isfinite(radius * _RAISE + lo) & ~settled
        hi, lo = np.where(settled, special, np.where(unknown, 0.0, hi)), np.where(settled | unknown, 0.0, lo)
        return Real(hi, lo, np.where(settled, 0.0, np.where(unknown, np.inf, radius * _RAISE)))


def _kept(x: Real, settled: Array) -> DD:
    return dd.where(settled, dd.of(np.ones_like(x.hi)), (x.hi, x.lo))
