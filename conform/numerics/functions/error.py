"""erf, erfc, the normal distribution Phi and gelu of double-doubles.

erf is a polynomial below 1; erfc x = e^(-x^2) erfcx x from 1/2 on, where erfcx is a polynomial on 64 pieces an octave.
"""

from __future__ import annotations

from functools import cache, partial

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum, two_prod
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array, chosen, fill
from conform.numerics.functions.exponential import exp_scaled, times_power_of_two
from conform.numerics.functions.piecewise import PER_UNIT, Piecewise, log_piece, uniform_piece

ERF_ERROR = 2.0**-96
"""Below 1 EVALUATION; from there on 1 - erfc x > 0.84 with erfc x < 0.16 within ERFC_ERROR."""
ERFC_ERROR = 2.0**-95
"""EXP_ERROR, EVALUATION, two products, where the square in the exponent is exact (a double x); `square_error` adds
the rest. Below 1/2 and below -1 a sum whose terms are at most twice the result."""
ERF_FLOAT64_ERROR = 2.0**-49
"""As in double-double with u for u^2; e^-h e^-l by numpy within 4 ulp, h + l = x^2 exactly."""

_ERF = Piecewise("erf", 8)
_ERFCX = Piecewise("erfcx", 8)
SQUARE_ERROR = 2.0**-103  # 5 u^2 of the square
_LOWEST, _HIGHEST = 0.5, 32.0  # erfc 27.3 < 2^-1075
HIGHEST_SCALED = 31.99  # erfc 31.99 < 2^-1480
SMALL = 2.0**-13  # x^4 / 7 is below 2^-54
_TWO_OVER_ROOT_PI = 1.1283791670955126
_ALL_BUT_ONE = 6.5  # erfc 6.5 < 2^-64
_UNDERFLOW = 27.5  # e^-756 is 0 in float64
_REACH = 60.0  # Phi(-60) < 2^-2600: larger arguments give the same float64


def _erf_below_one(x: DD) -> DD:
    """erf x for 0 <= x < 1."""
    piece, centre = uniform_piece(x[0], PER_UNIT)
    return _ERF.value(piece, fast_two_sum(x[0] - centre, x[1]))


def erfc_scaled(x: DD, x_squared: DD) -> tuple[DD, Array, Array]:
    """(y, n, error): erfc x is y 2^n for 1/2 <= x < 32, with its relative error; x_squared within 5 u^2."""
    power, n = exp_scaled(dd.neg(x_squared))
    return dd.mul(power, erfcx_of_table(x)), n, ERFC_ERROR + x[0] * x[0] * SQUARE_ERROR


def erfcx_of_table(x: DD) -> DD:
    """erfcx x for 1/2 <= x < 32, within EVALUATION."""
    piece, centre = log_piece(x[0], _LOWEST, _HIGHEST)
    return _ERFCX.value(piece, fast_two_sum(x[0] - centre, x[1]))


def _erfc_from_half(x: DD, x_squared: DD) -> DD:
    """erfc x for 1/2 <= x < 27.5."""
    value, n, _ = erfc_scaled(x, x_squared)
    return times_power_of_two(value, n)


def _empty_like(x: DD) -> DD:
    return np.empty_like(x[0]), np.empty_like(x[0])


def _one_minus(x: DD) -> DD:
    return dd.add_double(dd.neg(x), 1.0)


def erf(x: DD) -> DD:
    """erf x, relative error ERF_ERROR."""
    size = dd.absolute(x)
    size = np.minimum(size[0], 27.0), np.where(size[0] < 27.0, size[1], 0.0)
    below_one = size[0] < 1.0
    result = _empty_like(x)
    fill(result, below_one, _erf_below_one, size)
    fill(result, ~below_one, lambda z: _one_minus(_erfc_from_half(z, dd.square(z))), size)
    return dd.scale(result, np.copysign(1.0, x[0]))


def erfc(x: DD, x_squared: DD | None = None) -> tuple[DD, Array]:
    """erfc x and its relative error; `x_squared`, if given, is within 2^-105 relative of the square."""
    reach = square_error(x[0])
    far_away = np.abs(x[0]) > _REACH
    if far_away.any():
        x = dd.where(far_away, dd.of(np.copysign(_REACH, x[0])), x)
        x_squared = None if x_squared is None else dd.where(far_away, dd.of(np.full_like(x[0], _REACH**2)), x_squared)
    square = dd.square(x) if x_squared is None else x_squared
    result = _empty_like(x)
    far = x[0] >= 0.5
    middle = (x[0] > -1.0) & ~far
    fill(result, far, _erfc_from_half, x, square)
    fill(result, middle, _erfc_middle, x)
    fill(result, ~(far | middle), lambda z, zz: dd.add_double(dd.neg(_erfc_from_half(z, zz)), 2.0), dd.neg(x), square)
    return result, ERFC_ERROR + reach


def _erfc_middle(x: DD) -> DD:
    sign = np.copysign(1.0, x[0])
    return _one_minus(dd.scale(_erf_below_one(dd.scale(x, sign)), sign))


def square_error(x: Array) -> Array:
    """What 5 u^2 of x^2 in the exponent of e^(-x^2) do to the result, for x > 0; infinite beyond the tables."""
    reach = np.where(np.abs(x) < 27.5, np.abs(x), np.inf)
    return np.where(x > 0, reach * reach * SQUARE_ERROR, 0.0)


@cache
def sqrt_half() -> tuple[np.float64, np.float64]:
    with mpmath.workprec(200):
        hi, lo = dd.constant(mpmath.sqrt(mpmath.mpf(1) / 2))
    return np.float64(hi), np.float64(lo)


def ndtr(x: DD) -> tuple[DD, Array]:
    """Phi x = erfc(-x / sqrt 2) / 2."""
    value, error = erfc(dd.mul(dd.neg(x), sqrt_half()), dd.scale(dd.square(x), 0.5))
    return dd.scale(value, 0.5), error


def gelu(x: DD) -> tuple[DD, Array]:
    """x Phi x."""
    value, error = ndtr(x)
    return dd.mul(x, value), error + 2.0**-103


# float64


def erfc_float64(x: Array, half_arguments: bool = False) -> Array:
    """erfc x, or erfc(x / sqrt 2) with the square taken of x, within ERF_FLOAT64_ERROR."""
    z = x * 0.7071067811865476 if half_arguments else x
    beyond = np.where(np.isnan(z), z, np.where(z > 0, 0.0, 2.0))
    reached = (z < _UNDERFLOW) & (z > -_ALL_BUT_ONE)
    near = (z < 0.5) & (z > -1.0)
    far = chosen(reached & ~near, partial(_erfc_far_float64, half_arguments), x, beyond)
    return chosen(near, lambda some: 1.0 - erf_float64_below_one(some), z, far)


def _erfc_far_float64(half_arguments: bool, x: Array) -> Array:
    """erfc_float64 for 1/2 <= z < 32, and for -32 < z <= -1."""
    z = x * 0.7071067811865476 if half_arguments else x
    hi, lo = two_prod(x, x)
    if half_arguments:
        hi, lo = 0.5 * hi, 0.5 * lo
    tail = np.exp(-hi) * (1.0 - lo) * _erfcx_of_table(np.abs(z))
    return np.where(z > 0, tail, 2.0 - tail)


def erfcx_float64(x: Array) -> Array:
    """e^(x^2) erfc x for x >= 1/4, within 2^-50."""
    below = chosen(x < _LOWEST, lambda some: np.exp(some * some) * (1.0 - erf_float64_below_one(some)), x, np.nan)
    return chosen(x >= _LOWEST, _erfcx_of_table, x, below)


def _erfcx_of_table(x: Array) -> Array:
    piece, centre = log_piece(x, _LOWEST, _HIGHEST)
    return _ERFCX.float64(piece, x - centre)


def erf_float64_below_one(x: Array) -> Array:
    """erf x for |x| <= 1, within 2^-50; below SMALL by two terms of its series, of which the next is x^4 / 10."""
    series = x * _TWO_OVER_ROOT_PI * (1.0 - x * x / 3.0)
    return chosen(np.abs(x) >= SMALL, _erf_of_table, x, series)


def _erf_of_table(x: Array) -> Array:
    size = np.abs(x)
    piece, centre = uniform_piece(size, PER_UNIT)
    return np.copysign(_ERF.float64(piece, np.minimum(size, 1.0) - centre), x)


def erf_float64(x: Array) -> Array:
    """erf x within ERF_FLOAT64_ERROR, NaN of NaN; float64 arrays of any shape."""
    with np.errstate(all="ignore"):
        x = np.asarray(x, np.float64)
        size = np.abs(x)
        one = np.where(np.isnan(x), x, np.copysign(1.0, x))
        between = (size >= 1.0) & (size < _ALL_BUT_ONE)
        far = chosen(between, lambda some: np.copysign(1.0 - erfc_float64(np.abs(some)), some), x, one)
        return chosen(size < 1.0, erf_float64_below_one, x, far)


def ndtr_float64(x: Array) -> Array:
    """Phi x within 2 ERF_FLOAT64_ERROR: x / sqrt 2 is off by 1 ulp, and the slope of log erfcx is at most 1 / x."""
    return 0.5 * erfc_float64(-x, half_arguments=True)


def gelu_float64(x: Array) -> Array:
    """x Phi x within 2 ERF_FLOAT64_ERROR; NaN at -inf, as -inf * 0."""
    return x * ndtr_float64(x)
