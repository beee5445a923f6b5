"""sin, cos, tan of double-doubles: reduction by pi/2, then one polynomial of 1/64 width."""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum, two_sum
from conform.numerics.functions import dd, far_angles
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.piecewise import Piecewise, uniform_piece

SIN_ERROR = 2.0**-97
"""Relative to sin x or cos x where the reduced angle is at least 2^-30: EVALUATION plus that of the angle, 16 u^2."""
REACH = 2.0**20
"""Arguments up to here are reduced in double-doubles (k < 2^20 has products with 33-bit parts of pi/2 exact). Doubles
beyond, and those within 2^-30 of a zero that is not 0, where the absolute error of r, 2^-130, may be too much, are
reduced in integers."""

_LAST = 51  # pi/4 = 50.3/64
_TABLE = Piecewise("sin_cos", 7)


@cache
def _half_pi_parts() -> tuple[float, float, float, float]:
    """pi/2 as three parts of 33 bits and a float64 rest, 2^-151 from it."""
    with mpmath.workprec(300):
        rest, parts = mpmath.pi / 2, []
        for unit in (mpmath.mpf(2) ** -32, mpmath.mpf(2) ** -65, mpmath.mpf(2) ** -98):
            parts.append(mpmath.floor(rest / unit) * unit)
            rest -= parts[-1]
        return float(parts[0]), float(parts[1]), float(parts[2]), float(rest)


def _reduce(x: DD) -> tuple[Array, DD]:
    """k and r = x - k pi/2, |r| <= pi/4 (1 + 2^-30)."""
    first, second, third, rest = _half_pi_parts()
    k = np.rint(x[0] * 0.6366197723675814)
    if not k.any():
        return k, x
    a = two_sum(x[0] - k * first, -(k * second))
    b = two_sum(a[0], -(k * third))
    r = fast_two_sum(b[0], (b[1] + a[1]) - k * rest)
    return k, dd.add_double(r, x[1]) if x[1].any() else r


def _quadrant_value(r: DD, quadrant: Array) -> DD:
    """sin(r + quadrant pi/2)."""
    size = dd.absolute(r)
    piece, centre = uniform_piece(size[0], _LAST)
    odd = (quadrant & 1).astype(bool)
    value = _TABLE.value(piece + odd * (_LAST + 1), fast_two_sum(size[0] - centre, size[1]))
    negative = ((quadrant & 2) != 0) ^ (~odd & np.signbit(r[0]))
    return dd.scale(value, np.where(negative, -1.0, 1.0))


def _sine(x: DD, quarter_turns: int) -> tuple[DD, Array]:
    """sin(x + quarter_turns pi/2) and its relative error, inf where the reduction does not reach."""
    large = ~(np.abs(x[0]) < REACH)
    k, r = _reduce(dd.where(large, dd.of(np.zeros_like(x[0])), x) if large.any() else x)
    is_zero_of_it = (k.astype(np.int64) + quarter_turns) & 1 == 0
    hard = large | ((np.abs(r[0]) < 2.0**-30) & (k != 0) & is_zero_of_it)
    error = np.full(x[0].shape, SIN_ERROR)
    if hard.any():
        k, r = np.array(k), (np.array(r[0]), np.array(r[1]))
        k[hard], part = far_angles.reduced(np.where(np.isfinite(x[0][hard]), x[0][hard], 1.0))
        r[0][hard], r[1][hard] = part
        error[hard] = np.where((x[1][hard] == 0) & np.isfinite(x[0][hard]), SIN_ERROR, np.inf)
    return _quadrant_value(r, k.astype(np.int64) + quarter_turns), error


def sin(x: DD) -> tuple[DD, Array]:
    """sin x and its relative error, SIN_ERROR or inf."""
    return _sine(x, 0)


def cos(x: DD) -> tuple[DD, Array]:
    """cos x and its relative error, SIN_ERROR or inf."""
    return _sine(x, 1)


def tan(x: DD) -> tuple[DD, Array]:
    """The quotient: two errors of SIN_ERROR and 15 u^2."""
    (sine, error), (cosine, other_error) = sin(x), cos(x)
    return dd.div(sine, cosine), 1.25 * (error + other_error)


def sinc(x: DD) -> tuple[DD, Array]:
    """sin(pi x) / (pi x) of doubles x (lo = 0): x - round(x) is exact. Its relative error is inf for the smallest x."""
    nearest = np.rint(x[0])
    sine, error = sin(dd.mul(pi(), dd.of(x[0] - nearest)))
    sign = np.where(nearest % 2 == 1, -1.0, 1.0)
    return dd.div(dd.scale(sine, sign), dd.mul(pi(), x)), np.where(np.abs(x[0]) > dd.SAFE_MIN, error + 2.0**-98, np.inf)


def sinc_float64(x: Array) -> Array:
    """sinc in float64: pi r, numpy's sine (condition at most 1 for |pi r| <= pi/2), pi x and the quotient."""
    nearest = np.rint(x)
    integer = np.where(np.isnan(x), x, np.where(x == 0, 1.0, 0.0))
    return dd.chosen(np.isfinite(x) & (x != nearest), _sinc_between, x, integer)


def _sinc_between(x: Array) -> Array:
    """Of finite numbers that are no integers."""
    nearest = np.rint(x)
    sine = np.sin(np.pi * (x - nearest))
    half = nearest * 0.5
    return np.where(half == np.rint(half), sine, -sine) / (np.pi * x)


@cache
def pi() -> tuple[np.float64, np.float64]:
    """pi as a pair."""
    with mpmath.workprec(200):
        hi, lo = dd.constant(+mpmath.pi)
    return np.float64(hi), np.float64(lo)
