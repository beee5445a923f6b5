"""exp, expm1 and exp2 of double-doubles.

x = k ln2/128 + r with |r| <= ln2/256 < 2^-8.5, k = 128 n + j, -64 <= j < 64, so e^x = 2^n T[j] e^r, T[j] = 2^(j/128).
e^r - 1 is its Taylor polynomial of degree 10; the next term is below 2^-110 |r|.
"""

from __future__ import annotations

from functools import cache
from math import factorial

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum, two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array

EXP_ERROR = 2.0**-98
"""Relative to e^x where |x| < 1400: r is within 2^-105 (k < 2^18 has exact products with both parts, the rest of
ln2/128, rounded below 2^-131, counts k times: 2^-113; x_lo is added as a pair, 3 u^2), expm1(r) within 2^-102 |r|, two
products and a sum with T cost 20 u^2 = 2^-101.6."""
EXPM1_ERROR = 2.0**-96
"""Relative to e^x - 1: where j != 0 or n != 0, |e^x - 1| > 2^-8.6 max(1, e^x) and T[j] - 1 is cut at 2^-107 absolute,
which the cancellation makes 2^-98; where j = n = 0 the result is expm1(r), relative 2^-102."""

_STEPS = 128  # per octave
_REACH = 1400.0  # arguments beyond are clamped to it: 0 and inf in every format, far beyond 2^-1100 and 2^1100
_PAIRS = 5


@cache
def _ln2_parts(steps: int) -> tuple[float, float, float]:
    """ln2/steps as two parts of 35 bits, whose products with |k| < 2^18 are exact, and a float64 rest."""
    with mpmath.workprec(250):
        value = mpmath.log(2) / steps
        ulp = mpmath.mpf(2) ** (mpmath.frexp(value)[1] - 35)
        first = mpmath.floor(value / ulp) * ulp
        second = mpmath.floor((value - first) / (ulp * 2**-35)) * ulp * 2**-35
        return float(first), float(second), float(value - first - second)


@cache
def _powers() -> DD:
    """T[j + 64] = 2^(j/128), -64 <= j < 64."""
    with mpmath.workprec(200):
        pairs = [dd.constant(mpmath.mpf(2) ** (mpmath.mpf(j) / _STEPS)) for j in range(-_STEPS // 2, _STEPS // 2)]
    return np.array([hi for hi, _ in pairs]), np.array([lo for _, lo in pairs])


@cache
def _coefficients() -> tuple[list[tuple[float, float]], list[float]]:
    """1/n! for n = 1..5 as pairs and n = 6..10 as doubles."""
    with mpmath.workprec(200):
        pairs = [dd.constant(mpmath.mpf(1) / factorial(n)) for n in range(1, _PAIRS + 1)]
    return pairs, [1.0 / factorial(n) for n in range(_PAIRS + 1, 11)]


def polynomial(coefficients: list[float], t: Array) -> Array:
    """c0 + c1 t + ... in float64."""
    value = coefficients[-1] * t + coefficients[-2]
    for c in coefficients[-3::-1]:
        value = value * t + c
    return value


def _expm1_small(r: DD) -> DD:
    """e^r - 1 for |r| < 2^-8.4, within 2^-102 |r|."""
    pairs, doubles = _coefficients()
    return dd.mul(dd.horner(pairs, polynomial(doubles, r[0]), r), r)


def _reduce(x: DD) -> tuple[Array, DD]:
    """k and r = x - k ln2/128."""
    first, second, third = _ln2_parts(_STEPS)
    k = np.rint(x[0] * (_STEPS / 0.6931471805599453))
    hi, lo = two_sum(x[0] - k * first, -(k * second))
    r = fast_two_sum(hi, lo - k * third)
    return k, dd.add_double(r, x[1]) if x[1].any() else r


def _kernel(x: DD) -> tuple[Array, DD, DD]:
    """n, T and e^r - 1 with e^x = 2^n T (1 + (e^r - 1))."""
    k, r = _reduce(_clamped(x))
    k = k.astype(np.int64)
    n = (k + _STEPS // 2) >> 7
    return n, dd.look_up(_powers(), (k + _STEPS // 2) & (_STEPS - 1)), _expm1_small(r)


def _clamped(x: DD) -> DD:
    beyond = np.abs(x[0]) > _REACH
    return dd.where(beyond, dd.of(np.copysign(_REACH, x[0])), x) if beyond.any() else x


def times_power_of_two(x: DD, n: Array) -> DD:
    """x 2^n for |n| < 2200; the halves keep 2^n in range and overflow honestly to inf."""
    half = n >> 1
    first, second = np.ldexp(1.0, half), np.ldexp(1.0, n - half)
    return x[0] * first * second, x[1] * first * second


def exp_scaled(x: DD) -> tuple[DD, Array]:
    """(y, n): e^x = y 2^n, relative error EXP_ERROR where |x| < 1400; beyond, e^1400 and e^-1400 stand for it."""
    n, t, e = _kernel(x)
    return dd.add(t, dd.mul(t, e)), n


def exp(x: DD) -> DD:
    """e^x, relative error EXP_ERROR; 0 and inf beyond float64's range."""
    return times_power_of_two(*exp_scaled(x))


def expm1(x: DD) -> DD:
    """e^x - 1, relative error EXPM1_ERROR."""
    n, t, e = _kernel(x)
    product = dd.mul(t, e)
    near = dd.add(fast_two_sum(t[0] - 1.0, t[1]), product)
    far = dd.add_double(times_power_of_two(dd.add(t, product), n), -1.0)
    return dd.where(n == 0, near, far)


def exp2_scaled(x: DD) -> tuple[DD, Array]:
    """(y, n): 2^x = y 2^n, relative error EXP_ERROR where |x| < 1400: r ln2 is rounded relative to |r| < 2^-8. Beyond,
    2^1400 and 2^-1400 stand for it."""
    x = _clamped(x)
    k = np.rint(x[0] * _STEPS)
    r = dd.add_double(x, -k / _STEPS)
    with mpmath.workprec(200):
        ln2 = dd.constant(mpmath.log(2))
    k = k.astype(np.int64)
    t = dd.look_up(_powers(), (k + _STEPS // 2) & (_STEPS - 1))
    e = _expm1_small(dd.mul(r, (np.float64(ln2[0]), np.float64(ln2[1]))))
    return dd.add(t, dd.mul(t, e)), (k + _STEPS // 2) >> 7


def exp2(x: DD) -> DD:
    """2^x, relative error EXP_ERROR; 0 and inf beyond float64's range."""
    return times_power_of_two(*exp2_scaled(x))
