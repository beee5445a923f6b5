"""The modified Bessel functions K0 and K1 of doubles, and e^x times them.

Below 1 the logarithm times I and a polynomial (DLMF 10.31.1, 10.31.2), up to 1024 e^-x times a polynomial, from there
on the asymptotic series (DLMF 10.40.2).
"""

from __future__ import annotations

from functools import cache, partial

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum
from conform.numerics.functions import bessel, dd
from conform.numerics.functions.dd import DD, Array, chosen, fill
from conform.numerics.functions.exponential import exp, exp_scaled, polynomial, times_power_of_two
from conform.numerics.functions.logarithm import log
from conform.numerics.functions.piecewise import PER_UNIT, Piecewise, log_piece, uniform_piece

SECOND_BESSEL_ERROR = 2.0**-95
"""Of K0 that of log x, and 3 u^2 of the constant 0.12 that is added to it, where the sum is 0.42 or more; of K1 less;
far up as that of the first kind."""
SECOND_FLOAT64_ERROR = 2.0**-47
"""As in double-double: numpy's log within 2^-49, which counts 3 times."""
_LOWEST, _HIGHEST = 1.0, 1024.0
_REST = (Piecewise("k0_rest", 7), Piecewise("k1_rest", 7))
_SCALED = (Piecewise("k0_scaled", 8), Piecewise("k1_scaled", 8))


@cache
def _constant(order: int) -> tuple[np.float64, np.float64]:
    """gamma - log 2, Euler's constant with it, or -log 2"""
    with mpmath.workprec(200):
        hi, lo = dd.constant((mpmath.euler if order == 0 else 0) - mpmath.log(2))
    return np.float64(hi), np.float64(lo)


@cache
def root_of_half_pi() -> tuple[np.float64, np.float64]:
    with mpmath.workprec(200):
        hi, lo = dd.constant(mpmath.sqrt(mpmath.pi / 2))
    return np.float64(hi), np.float64(lo)


def _small(order: int, x: DD) -> DD:
    """-(log(x / 2) + gamma) I0 + ..., or 1/x + log(x / 2) I1 + ..., for 0 < x < 1."""
    piece, centre = uniform_piece(x[0], PER_UNIT)
    rest = _REST[order].value(piece, fast_two_sum(x[0] - centre, x[1]))
    logarithm, first = dd.add(log(x), _constant(order)), bessel.near_zero(order, x)
    if order == 0:
        return dd.sub(rest, dd.mul(logarithm, first))
    return dd.add(dd.div(dd.of(np.ones_like(x[0])), x), dd.add(dd.mul(logarithm, first), rest))


def _middle(order: int, x: DD) -> DD:
    piece, centre = log_piece(x[0], _LOWEST, _HIGHEST)
    return _SCALED[order].value(piece, fast_two_sum(x[0] - centre, x[1]))


def _far(order: int, x: DD) -> DD:
    """The series of the first kind with alternating signs."""
    pairs, doubles = bessel.terms(order)
    t = dd.div(dd.of(np.full_like(x[0], -1.0)), x)
    return dd.div(dd.mul(dd.horner(pairs, polynomial(doubles, t[0]), t), root_of_half_pi()), dd.sqrt(x))


def _from_one(order: int, x: DD) -> DD:
    """e^x K, x >= 1"""
    result, far = (np.empty_like(x[0]), np.empty_like(x[0])), x[0] >= _HIGHEST
    fill(result, far, partial(_far, order), x)
    fill(result, ~far, partial(_middle, order), x)
    return result


def vanishing_bessel(order: int, x: DD) -> tuple[DD, Array]:
    """(y, n): K0 or K1 is y 2^n for x >= 1."""
    power, n = exp_scaled(dd.neg(x))
    return dd.mul(power, _from_one(order, x)), n


def second_bessel(order: int, x: DD, is_scaled: bool = False) -> DD:
    """K0(x) or K1(x), or e^x times them, for 0 < x; relative error SECOND_BESSEL_ERROR."""
    result, small = (np.empty_like(x[0]), np.empty_like(x[0])), x[0] < _LOWEST
    if is_scaled:
        fill(result, small, lambda z: dd.mul(exp(z), _small(order, z)), x)
        fill(result, ~small, partial(_from_one, order), x)
    else:
        fill(result, small, partial(_small, order), x)
        fill(result, ~small, lambda z: times_power_of_two(*vanishing_bessel(order, z)), x)
    return result


# float64


def second_bessel_float64(order: int, x: Array, is_scaled: bool = False) -> Array:
    """The same within SECOND_FLOAT64_ERROR: infinite at 0, NaN below."""
    outside = np.where(x == 0, np.inf, np.where(x == np.inf, 0.0, np.nan))
    small = chosen((x > 0) & (x < _LOWEST), partial(_small_float64, order), x, outside)
    value = chosen((x >= _LOWEST) & (x < _HIGHEST), partial(_middle_float64, order), x, small)
    value = chosen((x >= _HIGHEST) & (x < np.inf), partial(_far_float64, order), x, value)
    if is_scaled:
        return chosen((x > 0) & (x < _LOWEST), lambda z: np.exp(z) * _small_float64(order, z), x, value)
    return chosen((x >= _LOWEST) & (x < np.inf), lambda z: np.exp(-z) * _from_one_float64(order, z), x, value)


def _small_float64(order: int, x: Array) -> Array:
    piece, centre = uniform_piece(x, PER_UNIT)
    rest = _REST[order].float64(piece, x - centre)
    logarithm, first = np.log(x) + float(_constant(order)[0]), bessel.near_zero_float64(order, x)
    return rest - logarithm * first if order == 0 else 1.0 / x + (logarithm * first + rest)


def _middle_float64(order: int, x: Array) -> Array:
    piece, centre = log_piece(x, _LOWEST, _HIGHEST)
    return _SCALED[order].float64(piece, x - centre)


def _far_float64(order: int, x: Array) -> Array:
    pairs, _ = bessel.terms(order)
    return float(root_of_half_pi()[0]) / np.sqrt(x) * polynomial([hi for hi, _ in pairs], -1.0 / x)


def _from_one_float64(order: int, x: Array) -> Array:
    return chosen(x < _HIGHEST, partial(_middle_float64, order), x, _far_float64(order, x))
