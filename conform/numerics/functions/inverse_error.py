"""erfinv and ndtri of doubles: Newton's method, in float64 to convergence, then one step in double-double.

Towards the ends erfc y = q is solved for a small q, in the form log erfc y = log q, which is nearly a parabola; in the
middle erf y = x, |x| < 1/2, keeps the relative precision of small x.
"""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np

from conform.numerics.eft import two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array, chosen, fill
from conform.numerics.functions.error import (
    SMALL,
    erf,
    erf_float64_below_one,
    erfc,
    erfcx_float64,
    sqrt_half,
)

INVERSE_ERROR = 2.0**-88
"""The start is within 2^-44 (INVERSE_FLOAT64_ERROR); a step squares that and multiplies by at most y^2/2 < 2^8 (the
start's error is at most 2^-48 / y there); erf and erfc are within 2^-93.7, and their condition is at most 1."""
INVERSE_FLOAT64_ERROR = 2.0**-43
"""The residual -y^2 + log erfcx y - log q is off by 8 ulp of at most 745 and divided by its slope 2y, relative to y."""

_HALF_SQRT_PI = 0.8862269254527580
_WINITZKI = 0.147  # erf y = sqrt(1 - e^(-y^2 (4/pi + a y^2)/(1 + a y^2))) within 2e-3: a start, no more


def tail_float64(q: Array) -> Array:
    """y with erfc y = q for 0 < q <= 1/2: Winitzki's start and three Newton steps for log erfc, each of which
    multiplies an error e by about e / 2."""
    log_q = np.log(q)
    half_log = 0.5 * (log_q + np.log(2.0 - q))
    b = 2.0 / (np.pi * _WINITZKI) + half_log
    y = np.sqrt(np.sqrt(b * b - 2.0 * half_log / _WINITZKI) - b)
    for _ in range(3):
        scaled = erfcx_float64(y)
        y = y + (np.log(scaled) - y * y - log_q) * scaled * _HALF_SQRT_PI
    return y


def _middle_float64(x: Array) -> Array:
    """y with erf y = x for |x| <= 1/2: two terms of the series, of which the next is x^4 / 7, and from SMALL on four
    Newton steps."""
    return chosen(np.abs(x) >= SMALL, _by_newton, x, _series(x))


def _series(x: Array) -> Array:
    return _HALF_SQRT_PI * x * (1.0 + 0.2617993877991494 * x * x)


def _by_newton(x: Array) -> Array:
    y = _series(x)
    for _ in range(4):
        y = y - (erf_float64_below_one(y) - x) * np.exp(y * y) * _HALF_SQRT_PI
    return y


def _tail(q: DD) -> DD:
    """y with erfc y = q > 0, one step: dy = log(erfc y / q) / (2 / (sqrt(pi) erfcx y))."""
    y = tail_float64(q[0])
    return tail_step(y, dd.div(erfc(dd.of(y))[0], q))


def tail_step(y: Array, ratio: DD) -> DD:
    """A step of Newton's method from y: ratio is erfc y over what it should be, 1 to within 2^-30."""
    more = dd.add_double(ratio, -1.0)[0]
    return two_sum(y, (more - 0.5 * more * more) * erfcx_float64(y) * _HALF_SQRT_PI)


def _middle(x: DD) -> DD:
    """y with erf y = x, one step: the derivative is 2/sqrt(pi) e^(-y^2)."""
    y = _middle_float64(x[0])
    residual = dd.sub(erf(dd.of(y)), x)
    step = residual[0] * np.exp(y * y) * _HALF_SQRT_PI
    return two_sum(y, -step * (1.0 - y * step))


def _solve(x: DD, q: DD) -> DD:
    """y with erf y = x and erfc|y| = q: both given, each exact."""
    result = np.empty_like(x[0]), np.empty_like(x[0])
    middle = np.abs(x[0]) <= 0.5
    fill(result, middle, _middle, x)
    fill(result, ~middle, _tail, q)
    return dd.scale(dd.absolute(result), np.copysign(1.0, x[0]))


def erfinv(x: DD) -> DD:
    """y with erf y = x, |x| < 1, relative error INVERSE_ERROR."""
    return _solve(x, two_sum(np.float64(1.0), -np.abs(x[0])))


def ndtri(p: DD) -> tuple[DD, Array]:
    """y with Phi y = p, 0 < p < 1: sqrt 2 erfinv(2p - 1); its relative error INVERSE_ERROR, inf where erfc y <
    SAFE_MIN."""
    lower = p[0] < 0.5
    q = dd.where(lower, dd.scale(p, 2.0), dd.scale(two_sum(np.float64(1.0), -p[0]), 2.0))
    y = _solve(two_sum(2.0 * p[0], np.float64(-1.0)), q)
    return dd.scale(dd.mul(y, sqrt_half()), 2.0), np.where(p[0] > dd.SAFE_MIN, INVERSE_ERROR, np.inf)


def erfinv_float64(x: Array) -> Array:
    """erfinv within INVERSE_FLOAT64_ERROR; infinite at +-1, NaN outside."""
    size = np.abs(x)
    ends = np.where(size == 1.0, np.inf, np.nan)
    outer = chosen((size > 0.5) & (size < 1.0), lambda some: tail_float64(1.0 - some), size, ends)
    return np.copysign(chosen(size <= 0.5, _middle_float64, size, outer), x)


def ndtri_float64(p: Array) -> Array:
    """ndtri within INVERSE_FLOAT64_ERROR; infinite at 0 and 1, NaN outside."""
    x = 2.0 * p - 1.0
    ends = np.where((p == 0) | (p == 1), np.inf, np.nan)
    in_tails = (p > 0) & (p < 1) & (np.abs(x) > 0.5)
    tail = chosen(in_tails, lambda some: tail_float64(2.0 * np.minimum(some, 1.0 - some)), p, ends)
    value = chosen(np.abs(x) <= 0.5, lambda some: np.abs(_middle_float64(some)), x, tail) * np.sqrt(2.0)
    return np.copysign(value, x)


@cache
def _start(x: float, one_minus: float) -> float:
    with np.errstate(all="ignore"):
        return float(_middle_float64(np.array([x]))[0] if abs(x) <= 0.5 else tail_float64(np.array([one_minus]))[0])


def mp_erfinv(x: mpmath.mpf, one_minus: mpmath.mpf | None = None) -> mpmath.mpf:
    """Newton from the float64 value at the context's precision (and 40 bits more), the error squared at each step;
    `one_minus` is 1 - |x|, if known better."""
    with mpmath.extraprec(40):
        q = 1 - abs(x) if one_minus is None else one_minus
        y = mpmath.mpf(_start(abs(float(x)), float(q)))
        accurate_bits = 40
        while accurate_bits < 2 * mpmath.mp.prec:
            if abs(x) <= 0.5:
                y -= (mpmath.erf(y) - abs(x)) * mpmath.exp(y * y) * mpmath.sqrt(mpmath.pi) / 2
            else:
                tail = mpmath.erfc(y)
                y += mpmath.log(tail / q) * tail * mpmath.exp(y * y) * mpmath.sqrt(mpmath.pi) / 2
            accurate_bits = 2 * accurate_bits - 12
        return y if x > 0 else -y


def mp_ndtri(p: mpmath.mpf) -> mpmath.mpf:
    """sqrt 2 erfinv(2p - 1)."""
    with mpmath.extraprec(1100):  # 2p - 1 of a tiny p
        x = 2 * p - 1
    return mpmath.sqrt(2) * mp_erfinv(x, 2 * min(p, 1 - p))
