"""The modified Bessel functions I0 and I1 of doubles: polynomials on [0, 1], e^|x| times a polynomial up to 1024; and
e^-|x| times them, from there on by the asymptotic series (DLMF 10.40.1)."""

from __future__ import annotations

from functools import cache, partial

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array, chosen, fill
from conform.numerics.functions.exponential import exp, exp_scaled, polynomial, times_power_of_two
from conform.numerics.functions.piecewise import PER_UNIT, Piecewise, log_piece, uniform_piece

BESSEL_ERROR = 2.0**-96
"""EXP_ERROR, EVALUATION and a product; I(1024) overflows float64, arguments beyond are clamped."""
BESSEL_FLOAT64_ERROR = 2.0**-49
"""numpy's exp within 4 ulp, EVALUATION_FLOAT64, the rounding of E_TO_SHIFT, two products: 7.5 ulp."""

_LOWEST, _HIGHEST = 1.0, 1024.0
SHIFT, E_TO_SHIFT = 8.0, 2980.9579870417283  # e^(x - 8) reaches as far as I0(x), which is e^x over sqrt(2 pi x)
_SMALL = (Piecewise("i0", 7), Piecewise("i1", 7))
_SCALED = (Piecewise("i0_scaled", 8), Piecewise("i1_scaled", 8))


def near_zero(order: int, x: DD) -> DD:
    piece, centre = uniform_piece(x[0], PER_UNIT)
    return _SMALL[order].value(piece, fast_two_sum(x[0] - centre, x[1]))


def growing_bessel(order: int, x: DD) -> tuple[DD, Array]:
    """(y, n): I0 or I1 is y 2^n for 1 <= x < 1024, relative error BESSEL_ERROR."""
    power, n = exp_scaled(x)
    return dd.mul(power, _middle(order, x)), n


def _large(order: int, x: DD) -> DD:
    return times_power_of_two(*growing_bessel(order, x))


def _bessel(order: int, x: DD) -> DD:
    size = dd.absolute(x)
    result = np.empty_like(x[0]), np.empty_like(x[0])
    small = size[0] < _LOWEST
    fill(result, small, lambda z: near_zero(order, z), size)
    fill(result, ~small, lambda z: _large(order, z), size)
    return dd.scale(result, np.copysign(1.0, x[0])) if order == 1 else result


def i0(x: DD) -> DD:
    """I0(x), relative error BESSEL_ERROR where it is below 2^1000."""
    return _bessel(0, x)


def i1(x: DD) -> DD:
    """I1(x), odd, relative error BESSEL_ERROR where it is below 2^1000."""
    return _bessel(1, x)


def _float64(order: int, x: Array) -> Array:
    size = np.abs(x)
    value = chosen(size < _LOWEST, partial(near_zero_float64, order), size, size + np.inf)  # NaN stays
    return chosen((size >= _LOWEST) & (size < _HIGHEST), partial(_large_float64, order), size, value)


def near_zero_float64(order: int, size: Array) -> Array:
    piece, centre = uniform_piece(size, PER_UNIT)
    return _SMALL[order].float64(piece, size - centre)


def _large_float64(order: int, size: Array) -> Array:
    return np.exp(size - SHIFT) * (E_TO_SHIFT * _middle_float64(order, size))


def i0_float64(x: Array) -> Array:
    """I0(x) within BESSEL_FLOAT64_ERROR."""
    return _float64(0, x)


def i1_float64(x: Array) -> Array:
    """I1(x) within BESSEL_FLOAT64_ERROR."""
    return np.copysign(_float64(1, x), x)


# e^-|x| I(x)

SCALED_BESSEL_ERROR = 2.0**-96
"""Below 1 a product of EXP_ERROR and EVALUATION; far up the series, a root of 4 u^2 and a quotient of 15 u^2."""
_PAIRS, _TERMS = 8, 14  # 1/x <= 2^-10: the 8th term is below 2^-77, and the 14th, the first left out, below 2^-124


@cache
def terms(order: int) -> tuple[list[tuple[float, float]], list[float]]:
    """(1 - 4 n^2) (9 - 4 n^2) ... ((2k - 1)^2 - 4 n^2) / (k! 8^k), n the order: pairs, and doubles."""
    with mpmath.workprec(200):
        terms = [mpmath.mpf(1)]
        for k in range(1, _TERMS):
            terms.append(terms[-1] * ((2 * k - 1) ** 2 - 4 * order**2) / (8 * k))
        return [dd.constant(term) for term in terms[:_PAIRS]], [float(term) for term in terms[_PAIRS:]]


@cache
def root_of_turn() -> tuple[np.float64, np.float64]:
    """1 / sqrt(2 pi)"""
    with mpmath.workprec(200):
        hi, lo = dd.constant(1 / mpmath.sqrt(2 * mpmath.pi))
    return np.float64(hi), np.float64(lo)


def _far(order: int, x: DD) -> DD:
    pairs, doubles = terms(order)
    t = dd.div(dd.of(np.ones_like(x[0])), x)
    return dd.div(dd.mul(dd.horner(pairs, polynomial(doubles, t[0]), t), root_of_turn()), dd.sqrt(x))


def _middle(order: int, x: DD) -> DD:
    piece, centre = log_piece(x[0], _LOWEST, _HIGHEST)
    return _SCALED[order].value(piece, fast_two_sum(x[0] - centre, x[1]))


def scaled_bessel(order: int, x: DD) -> DD:
    """e^-|x| I0(x), or I1, relative error SCALED_BESSEL_ERROR."""
    size = dd.absolute(x)
    result = np.empty_like(x[0]), np.empty_like(x[0])
    small, far = size[0] < _LOWEST, size[0] >= _HIGHEST
    fill(result, small, lambda z: dd.mul(exp(dd.neg(z)), near_zero(order, z)), size)
    fill(result, far, partial(_far, order), size)
    fill(result, ~(small | far), partial(_middle, order), size)
    return dd.scale(result, np.copysign(1.0, x[0])) if order == 1 else result


def scaled_bessel_float64(order: int, x: Array) -> Array:
    """The same within BESSEL_FLOAT64_ERROR."""
    size = np.abs(x)
    value = chosen(size < _LOWEST, lambda z: np.exp(-z) * near_zero_float64(order, z), size, size)  # NaN stays
    value = chosen((size >= _LOWEST) & (size < _HIGHEST), partial(_middle_float64, order), size, value)
    value = chosen(size >= _HIGHEST, partial(_far_float64, order), size, value)
    return np.copysign(value, x) if order == 1 else value


def _middle_float64(order: int, size: Array) -> Array:
    piece, centre = log_piece(size, _LOWEST, _HIGHEST)
    return _SCALED[order].float64(piece, size - centre)


def _far_float64(order: int, x: Array) -> Array:
    pairs, _ = terms(order)
    return float(root_of_turn()[0]) / np.sqrt(x) * polynomial([hi for hi, _ in pairs], 1.0 / x)
