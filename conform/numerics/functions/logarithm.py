"""log, log1p, log2 and log10 of double-doubles.

x = 2^e m with m in [sqrt(1/2), sqrt(2)), c = round(128 m)/128, s = (m - c)/(m + c), |s| < 2^-8.4:
log x = e ln2 + log c + 2 artanh s, where artanh s = s (1 + s^2/3 + s^4/5 + ...). c = 1 near 1: nothing cancels.
"""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.exponential import polynomial

LOG_ERROR = 2.0**-97
"""Relative: s costs 15 + 6 u^2, the series 8 u^2, the sums with log c and e ln2 4 u^2 of terms at most 2^3 times the
result (|log m| >= 2^-8.5 if c != 1, |log c| <= 2 |log m| + 2^-7; e ln2 is at least twice log m where e != 0)."""
LOG1P_ERROR = 2.0**-96
"""As log; 1 + x is exact for a double x and costs 3 u^2 for a pair, 2^-104 absolute, divided by |log1p x|: small |x|
take the series in x/(2 + x) instead, from 2^-7 on the loss is 7 bits."""

_FIRST, _LAST = 90, 182  # 128 sqrt(1/2) = 90.5, 128 sqrt(2) = 181.02


@cache
def _logs() -> DD:
    """log(c/128), c = 90 .. 182."""
    with mpmath.workprec(200):
        pairs = [dd.constant(mpmath.log(mpmath.mpf(c) / 128)) for c in range(_FIRST, _LAST + 1)]
    return np.array([hi for hi, _ in pairs]), np.array([lo for _, lo in pairs])


@cache
def _odd_inverses() -> tuple[list[tuple[float, float]], list[float]]:
    """1/3 and 1/5 as pairs; 1/7 .. 1/15 as doubles: the next term is below s^14/17 < 2^-121."""
    with mpmath.workprec(200):
        return [dd.constant(mpmath.mpf(1) / n) for n in (3, 5)], [1.0 / n for n in (7, 9, 11, 13, 15)]


@cache
def _ln2_parts() -> tuple[float, float, float]:
    """ln2 as two parts of 42 bits, whose products with |e| < 2^11 are exact, and a float64 rest."""
    with mpmath.workprec(250):
        value, unit = mpmath.log(2), mpmath.mpf(2) ** -42
        first = mpmath.floor(value / unit) * unit
        second = mpmath.floor((value - first) / unit**2) * unit**2
        return float(first), float(second), float(value - first - second)


_EXPRESSIONS = {
    "1/ln2": lambda: 1 / mpmath.log(2), "1/ln10": lambda: 1 / mpmath.log(10), "ln2": lambda: mpmath.log(2),
}  # fmt: skip


@cache
def constant(expression: str) -> tuple[np.float64, np.float64]:
    with mpmath.workprec(200):
        hi, lo = dd.constant(_EXPRESSIONS[expression]())
    return np.float64(hi), np.float64(lo)


def _two_artanh(s: DD) -> DD:
    """log((1 + s)/(1 - s)) for |s| < 2^-8."""
    pairs, doubles = _odd_inverses()
    w = dd.square(s)
    series = dd.mul(dd.horner(pairs, polynomial(doubles, w[0]), w), w)
    return dd.scale(dd.add(s, dd.mul(s, series)), 2.0)


def _decompose(x: DD) -> tuple[Array, DD, Array]:
    """e, m and the index of c."""
    m, e = np.frexp(x[0])
    low = m < 0.7071067811865476
    e = e - low
    power = np.ldexp(1.0, -(e >> 1)), np.ldexp(1.0, (e >> 1) - e)
    m = np.where(low, m + m, m)
    c = np.rint(m * 128.0)
    return e, (m, x[1] * power[0] * power[1]), c


def log(x: DD) -> DD:
    """Natural logarithm for 0 < x < inf, relative error LOG_ERROR."""
    e, m, c = _decompose(x)
    centre = c / 128.0
    s = dd.div(fast_two_sum(m[0] - centre, m[1]), dd.add_double(m, centre))
    result = dd.add(dd.look_up(_logs(), c.astype(np.int64) - _FIRST), _two_artanh(s))
    if not e.any():
        return result
    first, second, third = _ln2_parts()
    return dd.add(dd.add_double(fast_two_sum(e * first, e * second), e * third), result)


def log1p(x: DD) -> DD:
    """log(1 + x) for -1 < x < inf, relative error LOG1P_ERROR."""
    small = np.abs(x[0]) < 2.0**-7
    ordinary = dd.where(small, dd.of(np.ones_like(x[0])), x)
    one_plus = dd.add(dd.of(np.ones_like(x[0])), ordinary)
    far = log(one_plus)
    if not small.any():
        return far
    near = dd.where(small, x, dd.of(np.zeros_like(x[0])))
    return dd.where(small, _two_artanh(dd.div(near, dd.add_double(near, 2.0))), far)


def log2(x: DD) -> DD:
    """Relative error LOG_ERROR + 7 u^2 + 2^-106."""
    return dd.mul(log(x), constant("1/ln2"))


def log10(x: DD) -> DD:
    """Relative error LOG_ERROR + 7 u^2 + 2^-106."""
    return dd.mul(log(x), constant("1/ln10"))
