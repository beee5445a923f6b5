"""sigmoid, silu, softplus, mish, the tanh form of gelu, logaddexp and xlogy: in double-double and in float64."""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np

from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.exponential import exp, exp2
from conform.numerics.functions.logarithm import constant, log, log1p

LOGISTIC_ERROR = 2.0**-96
"""EXP_ERROR, a sum of positive terms, a quotient, a product: 25 u^2 = 2^-101.3."""
SOFTPLUS_ERROR = 2.0**-95
"""EXP_ERROR and LOG1P_ERROR with condition at most 1, and a sum of positive terms."""
GELU_TANH_FLOAT64_ERROR = 2.0**-41
"""Seven roundings of 2u, |2u| < 700 where the result exceeds 2^-1000: 4900 * 2^-53, and 2^-49 for the rest."""

LOGIT_ERROR = 2.0**-94
"""Of log1p: its own, and 20 u^2 of its argument, which lies between -2/3 and 2, 1.9 times; of the difference of logs
LOG_ERROR 1.6 times, and the 3 u^2 of 1 - x as an absolute error beside |logit x| > 1."""
LOGIT_FLOAT64_ERROR = 2.0**-47
"""Three functions of numpy of 2^-49, of which at most 1.6 times the sum counts; 1 - x is exact but for small x."""

_MISH_REACH = 60.0  # tanh(log(1 + e^60)) > 1 - 2^-172


def sigmoid(x: DD) -> DD:
    """1 / (1 + e^-x); relative error LOGISTIC_ERROR."""
    return dd.div(dd.of(np.ones_like(x[0])), dd.add_double(exp(dd.neg(x)), 1.0))


def silu(x: DD) -> DD:
    """x sigmoid(x); relative error LOGISTIC_ERROR."""
    return dd.mul(x, sigmoid(x))


def softplus(x: DD) -> DD:
    """log(1 + e^x) = max(x, 0) + log1p(e^-|x|); relative error SOFTPLUS_ERROR."""
    tail = log1p(exp(dd.neg(dd.absolute(x))))
    positive = x[0] > 0
    return dd.add(tail, (np.where(positive, x[0], 0.0), np.where(positive, x[1], 0.0)))


def mish(x: DD) -> DD:
    """x tanh(softplus x) = x n / (n + 2), n = w^2 + 2w, w = e^x; relative error LOGISTIC_ERROR, n's is 2.1
    EXP_ERROR."""
    w = exp((np.minimum(x[0], _MISH_REACH), np.where(x[0] < _MISH_REACH, x[1], 0.0)))
    n = dd.add(dd.square(w), dd.scale(w, 2.0))
    return dd.mul(x, dd.div(n, dd.add_double(n, 2.0)))


@cache
def _gelu_constants() -> tuple[DD, DD]:
    """2 sqrt(2/pi) and the decimal 0.044715."""
    with mpmath.workprec(200):
        pairs = [dd.constant(2 * mpmath.sqrt(2 / mpmath.pi)), dd.constant(mpmath.mpf("0.044715"))]
    return tuple((np.float64(hi), np.float64(lo)) for hi, lo in pairs)


def gelu_tanh(x: DD) -> tuple[DD, Array]:
    """x/2 (1 + tanh u) = x sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3).

    The error of 2u, 30 u^2 relative, counts |2u| (1 - sigmoid 2u) times in the relative error returned: at most |2u|,
    and at most 1 for positive u.
    """
    two_u = gelu_tanh_exponent(x)
    return dd.mul(x, sigmoid(two_u)), LOGISTIC_ERROR + np.maximum(-two_u[0], 1.0) * 2.0**-101


def gelu_tanh_exponent(x: DD) -> DD:
    """2u = 2 sqrt(2/pi) (x + 0.044715 x^3), within 30 u^2 relative."""
    factor, cubic = _gelu_constants()
    inner = dd.add_double(dd.mul(dd.square(x), cubic), 1.0)
    return dd.mul(dd.mul(inner, x), factor)


def logaddexp(x: DD, y: DD) -> tuple[DD, Array]:
    """max + log1p(e^-|x - y|); near a zero of the sum its relative error grows."""
    first = x[0] >= y[0]
    larger, smaller = dd.where(first, x, y), dd.where(first, y, x)
    tail = log1p(exp(dd.sub(smaller, larger)))
    value = dd.add(larger, tail)
    return value, SOFTPLUS_ERROR * (np.abs(larger[0]) + tail[0]) / np.abs(value[0])


def logaddexp2(x: DD, y: DD) -> tuple[DD, Array]:
    """max + log2(1 + 2^-|x - y|), as `logaddexp`; a factor of 1/ln2 costs 7 u^2."""
    first = x[0] >= y[0]
    larger, smaller = dd.where(first, x, y), dd.where(first, y, x)
    tail = dd.mul(log1p(exp2(dd.sub(smaller, larger))), constant("1/ln2"))
    value = dd.add(larger, tail)
    return value, 2 * SOFTPLUS_ERROR * (np.abs(larger[0]) + tail[0]) / np.abs(value[0])


def logit(x: DD) -> DD:
    """log(x / (1 - x)), 0 < x < 1: in the middle log1p((2x - 1) / (1 - x)); relative error LOGIT_ERROR."""
    rest = dd.add_double(dd.neg(x), 1.0)
    middle = (x[0] > 0.25) & (x[0] < 0.75)
    half = dd.of(np.full_like(x[0], 0.5))
    result = dd.sub(log(x), log(rest))
    if not middle.any():
        return result
    inner, other = dd.where(middle, x, half), dd.where(middle, rest, half)
    return dd.where(middle, log1p(dd.div(dd.sub(inner, other), other)), result)


def xlogy(x: DD, y: DD) -> tuple[DD, Array]:
    """x log y and its relative error: +0 where x is 0, a zero of x's sign where y is 1, both without error."""
    is_zero = (x[0] == 0) | (y[0] == 1)
    hi, lo = dd.mul(x, log(dd.where(is_zero, (np.full_like(x[0], 2.0), y[1]), y)))
    zero = np.where(x[0] == 0, 0.0, np.copysign(0.0, x[0]))
    return (np.where(is_zero, zero, hi), np.where(is_zero, 0.0, lo)), np.where(is_zero, 0.0, LOGISTIC_ERROR)


def xlog1py(x: DD, y: DD) -> tuple[DD, Array]:
    """x log1p y and its relative error: +0 where x is 0, a zero of the product's sign where y is, without error."""
    is_zero = (x[0] == 0) | (y[0] == 0)
    hi, lo = dd.mul(x, log1p(dd.where(is_zero, dd.of(np.ones_like(x[0])), y)))
    zero = np.where(x[0] == 0, 0.0, np.copysign(0.0, x[0]) * np.copysign(1.0, y[0]))
    return (np.where(is_zero, zero, hi), np.where(is_zero, 0.0, lo)), np.where(is_zero, 0.0, LOGISTIC_ERROR * 2)


# float64


def sigmoid_float64(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def silu_float64(x: Array) -> Array:
    return x * sigmoid_float64(x)


def softplus_float64(x: Array) -> Array:
    return np.maximum(x, 0.0) + np.log1p(np.exp(-np.abs(x)))


def mish_float64(x: Array) -> Array:
    w = np.exp(np.minimum(x, _MISH_REACH))
    n = w * w + 2.0 * w
    return x * (n / (n + 2.0))


def gelu_tanh_float64(x: Array) -> Array:
    return x * sigmoid_float64(1.5957691216057308 * (x * (1.0 + 0.044715 * (x * x))))


def logit_float64(x: Array) -> Array:
    """2x - 1 is exact in the middle, of at most 24 bits."""
    middle = (x > 0.25) & (x < 0.75)
    inner = np.where(middle, x, 0.5)
    return np.where(middle, np.log1p((2.0 * inner - 1.0) / (1.0 - inner)), np.log(x) - np.log1p(-x))


def xlogy_float64(x: Array, y: Array) -> Array:
    """0 where x is 0, unless y is NaN."""
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log(y))


def xlog1py_float64(x: Array, y: Array) -> Array:
    """0 where x is 0, unless y is NaN."""
    return np.where((x == 0) & ~np.isnan(y), 0.0, x * np.log1p(y))
