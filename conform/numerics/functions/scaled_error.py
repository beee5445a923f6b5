"""erfcx x = e^(x^2) erfc x, and the logarithm of the normal distribution.

erfcx is the polynomial of `error` on [1/2, 32), from there on the asymptotic series (DLMF 7.12.1), and below 1/2 the
product.
"""

from __future__ import annotations

from functools import cache
from math import prod

import mpmath
import numpy as np

from conform.numerics.eft import two_prod
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array, chosen, fill
from conform.numerics.functions.error import (
    HIGHEST_SCALED,
    erfc,
    erfc_float64,
    erfcx_float64,
    erfcx_of_table,
    ndtr,
    ndtr_float64,
    sqrt_half,
    square_error,
)
from conform.numerics.functions.exponential import exp, polynomial
from conform.numerics.functions.logarithm import log, log1p

ERFCX_ERROR = 2.0**-94
"""That of erfc and e^(x^2) with one product; above 1/2 less."""
LOG_NDTR_ERROR = 2.0**-93
"""Above -1 that of Phi(-x), which counts q / ((1 - q) |log(1 - q)|) < 3 times, and LOG1P_ERROR; below, of two negative
terms, that of the logarithm and 2^-95 of erfcx beside a sum of more than 1.8."""
SCALED_ERROR_FLOAT64 = 2.0**-47
"""Of numpy's exp, log and log1p 2^-49 each, of erfc 2^-49, which counts 3 times at most."""

_FIRST_ASYMPTOTIC = 31.99
_PAIRS, _TERMS = 10, 17  # t <= 2^-11: the 10th term is below 2^-80, and the 17th, the first left out, below 2^-118
_REACH = 2.0**300  # beyond it every term but the first is nothing


@cache
def _terms() -> list[float]:
    """(-1)^k (2k - 1)!!, of which a double holds those that are pairs"""
    return [float((-1) ** k * prod(range(1, 2 * k, 2))) for k in range(_TERMS)]


@cache
def root_of_pi() -> tuple[np.float64, np.float64]:
    """1 / sqrt(pi)"""
    with mpmath.workprec(200):
        hi, lo = dd.constant(1 / mpmath.sqrt(mpmath.pi))
    return np.float64(hi), np.float64(lo)


def _far(x: DD) -> DD:
    """1 / (x sqrt pi) (1 - t + 3 t^2 - 15 t^3 + ...), t = 1 / (2 x^2), for x >= 32."""
    near = dd.where(x[0] < _REACH, x, dd.of(np.full_like(x[0], _REACH)))
    t = dd.div(dd.of(np.full_like(x[0], 0.5)), dd.square(near))
    terms = _terms()
    series = dd.horner([(c, 0.0) for c in terms[:_PAIRS]], polynomial(terms[_PAIRS:], t[0]), t)
    return dd.div(dd.mul(series, root_of_pi()), x)


def erfcx(x: DD) -> tuple[DD, Array]:
    """erfcx x and its relative error; a square of a double is exact."""
    result = np.empty_like(x[0]), np.empty_like(x[0])
    table = (x[0] >= 0.5) & (x[0] < _FIRST_ASYMPTOTIC)
    far = x[0] >= _FIRST_ASYMPTOTIC
    fill(result, table, erfcx_of_table, x)
    fill(result, far, _far, x)
    fill(result, ~(table | far), lambda z: dd.mul(exp(dd.square(z)), erfc(z)[0]), x)
    return result, np.where(x[1] == 0, ERFCX_ERROR, ERFCX_ERROR + square_error(np.abs(x[0])))


def log_ndtr(x: DD) -> tuple[DD, float]:
    """log Phi x: log1p(-Phi(-x)) above -1, log(erfcx(-x / sqrt 2) / 2) - x^2 / 2 below."""
    result = np.empty_like(x[0]), np.empty_like(x[0])
    above = x[0] > -1.0
    fill(result, above, lambda z: log1p(dd.neg(ndtr(dd.neg(z))[0])), x)
    fill(result, ~above, _log_of_tail, x)
    return result, LOG_NDTR_ERROR


def _log_of_tail(x: DD) -> DD:
    value, _ = erfcx(dd.mul(dd.neg(x), sqrt_half()))
    return dd.sub(log(dd.scale(value, 0.5)), dd.scale(dd.square(x), 0.5))


# float64


def scaled_erfc_float64(x: Array) -> Array:
    """erfcx x within SCALED_ERROR_FLOAT64."""
    table = (x >= 0.25) & (x < HIGHEST_SCALED)
    far = chosen(x >= HIGHEST_SCALED, _far_float64, x, x)  # NaN stays
    below = chosen(x < 0.25, _product_float64, x, far)
    return chosen(table, erfcx_float64, x, below)


def _far_float64(x: Array) -> Array:
    t = 0.5 / (x * x)
    return float(root_of_pi()[0]) / x * polynomial(_terms()[:8], t)


def _product_float64(x: Array) -> Array:
    hi, lo = two_prod(x, x)
    low = np.where(np.isfinite(lo), lo, 0.0)
    return np.exp(hi) * (1.0 + low) * erfc_float64(x)


def log_ndtr_float64(x: Array) -> Array:
    """log Phi x within SCALED_ERROR_FLOAT64."""
    below = chosen(x <= -1.0, _log_of_tail_float64, x, np.where(x > -1.0, 0.0, x))  # log 1 of inf, and NaN stays
    return chosen((x > -1.0) & (x < np.inf), lambda z: np.log1p(-ndtr_float64(-z)), x, below)


def _log_of_tail_float64(x: Array) -> Array:
    return np.log(0.5 * scaled_erfc_float64(x * -np.sqrt(0.5))) - 0.5 * (x * x)
