"""What honest implementations of the gamma functions of two operands may lose: their formulas on balls.

The numbers themselves are known: `value` are the results, from which a formula's parts are found again.
"""

from __future__ import annotations

from math import lgamma as lgamma_of_float
from math import log, pi

import numpy as np

from conform.interp.ops.functions.real_formulas import LGAMMA_ULPS, digamma, lgamma
from conform.numerics.ball import ULPS, Ball, chosen
from conform.numerics.formats import compute_format
from conform.numerics.functions.gamma import digamma_float64, lgamma_float64
from conform.numerics.rounding_errors import CORRECTLY_ROUNDED

__all__ = ["digamma", "incomplete", "multigamma", "polygamma", "zeta"]

STEPS = 8.0  # roundings of a sum's term, an addition's among them
DIRECT = 10  # terms of the zeta function, from which on the corrections follow (Cephes, zeta.c)
HIGHER = 1.1  # SciPy, cephes/igam.c
CORRECTIONS = 24  # factors of the last correction: where the power underflows and they overflow, it is 0 times infinity
POW_ULPS = 16.0  # OpenCL C 3.0, section 7.4


def _power(a: Ball, x: Ball) -> Ball:
    """a log x - x - lgamma(a)."""
    return a * x.log() - x - lgamma(a)


def incomplete(is_upper: bool, a: Ball, x: Ball, value: np.ndarray) -> Ball:
    """e^(a log x - x - lgamma(a)) times the continued fraction, or over a times the series, or what that is less than 1
    (Cephes, igam.c): the fraction where x > a and x > 1, or in SciPy 1.1; a power below e^-MAXLOG, one over the largest
    number, is 0. The terms that count are as many as sqrt(a), each with STEPS roundings."""
    regular = (a.mid > 0) & (x.mid > 0) & np.isfinite(a.mid) & np.isfinite(x.mid)
    a, x = (Ball.exact(np.where(regular, one.mid, 1.0), one.compute) for one in (a, x))
    is_own = ((x.mid > (HIGHER if is_upper else 1.0)) & (x.mid > a.mid)) == is_upper
    with np.errstate(all="ignore"):
        ulps = CORRECTLY_ROUNDED + STEPS * (4.0 + np.sqrt(a.mid))
        lost = np.expm1(_power(a, x).rad) + 2 * a.compute.unit_roundoff * ulps
        own = np.where(is_own, value, 1.0 - value)
        is_series = is_own != is_upper
        vanished = 1.0 / a.compute.max_finite / np.where(is_series, np.minimum(a.mid, 1.0), 1.0)
        ball = a.rounded(own, np.where(np.isfinite(lost), np.abs(own) * lost, np.inf) + vanished, ULPS["exp"])
        mirrored = a.rounded(value, ball.rad)
    return chosen(is_own, ball, mirrored).but_exact(~regular)


def zeta(s: Ball, q: Ball, value: np.ndarray) -> Ball:
    """DIRECT terms and the corrections of Euler and Maclaurin (Cephes, zeta.c): powers with POW_ULPS, of k + q, whose
    rounding counts s times, and whose underflow is multiplied by w/(s - 1). Below 0
    the terms of both signs count by their magnitude."""
    with np.errstate(all="ignore"):
        steps = POW_ULPS + DIRECT + CORRECTLY_ROUNDED + np.abs(s.mid) + np.maximum(-q.mid, 0.0)
        size = np.where(q.mid < 0, _magnitude(s.mid, q.mid, value), np.abs(value))
        less = np.maximum(s.mid - 1.0, q.compute.unit_roundoff)
        underflow = q.compute.min_subnormal * np.maximum(q.mid, DIRECT) / less
        ball = q.rounded(value, size * q.compute.unit_roundoff * 2 * steps + underflow)
        is_pole = (q.mid <= 0) & (q.mid == np.floor(q.mid)) | (s.mid == 1)
        vanishes = (size < q.compute.min_subnormal) & (s.mid > q.compute.max_finite ** (1 / CORRECTIONS))
        ball = Ball(ball.mid, np.where(vanishes, np.inf, ball.rad), ball.compute)
    return ball.but_exact(is_pole | np.isnan(value))


def _magnitude(s: np.ndarray, q: np.ndarray, value: np.ndarray) -> np.ndarray:
    """At most the sum of the magnitudes of the terms: of the nearest one on either side of 0, and of those behind,
    which are less than zeta(s, 1) <= 1 + 1/(s - 1)."""
    nearest, next_ = q - np.floor(q), np.ceil(q) - q
    behind = 2.0 + 2.0 / np.maximum(s - 1.0, 2.0**-52)
    size = nearest**-s + next_**-s + behind
    return np.where(np.isfinite(size), size, np.inf)


def polygamma(n: int, x: Ball, value: np.ndarray) -> Ball:
    """(-1)^(n + 1) e^lgamma(n + 1) zeta(n + 1, x)."""
    log_factorial = lgamma_of_float(n + 1.0)
    with np.errstate(all="ignore"):
        factorial = np.exp(log_factorial)
        over = value / factorial if np.isfinite(factorial) else np.zeros_like(value)
        ulps = LGAMMA_ULPS[compute_format(x.compute).name] + CORRECTLY_ROUNDED
        spread = factorial * 2 * x.compute.unit_roundoff * ulps * log_factorial
        times = x.rounded(factorial, spread, ULPS["exp"])
        series = zeta(Ball.exact(np.full_like(x.mid, n + 1.0), x.compute), x, over)
        is_pole = (x.mid <= 0) & (x.mid == np.floor(x.mid))
    return (times * series).but_exact(is_pole | np.isnan(x.mid))


def multigamma(p: int, x: Ball) -> Ball:
    """The sum of the log-gammas of x - i/2, which round, and p (p - 1)/4 log pi."""
    total = x.irrational(p * (p - 1) / 4 * log(pi)) if p > 1 else x.constant(0.0)
    ulps = LGAMMA_ULPS[compute_format(x.compute).name] + CORRECTLY_ROUNDED
    for i in range(p):
        place = x - i / 2 if i else x
        with np.errstate(all="ignore"):
            slope = np.abs(digamma_float64(place.mid)) * (1 + 2.0**-20)
            value = lgamma_float64(place.mid)
            total = total + x.rounded(value, np.where(place.rad > 0, slope * place.rad, 0.0), ulps)
    return total.but_exact(~np.isfinite(x.mid))
