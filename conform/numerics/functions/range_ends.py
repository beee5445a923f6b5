"""The ladder's functions where operands or results are at the ends of float64's range, with the exponent held apart.

Each gives Scaled numbers of finite operands, which may be any: nothing is known outside the region that it is for.
There a function is its leading term with a sign for what follows, or e^y times something of ordinary size, or its
kernel at scaled operands. Errors are relative; those of the parts are stated with the parts, and sums of them rounded
up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import mpmath
import numpy as np

from conform.numerics.eft import two_prod, two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.activations import gelu_tanh_exponent
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.error import HIGHEST_SCALED, erfc_scaled, sqrt_half
from conform.numerics.functions.exponential import EXP_ERROR, exp2_scaled, exp_scaled
from conform.numerics.functions.inverse_error import INVERSE_ERROR, tail_float64, tail_step
from conform.numerics.functions.logarithm import LOG1P_ERROR, LOG_ERROR, log, log1p
from conform.numerics.functions.scaled_error import root_of_pi
from conform.numerics.functions.trigonometric import pi
from conform.numerics.scaled import Scaled

Kernel = Callable[..., Scaled]

TINY = 2.0**-110
"""Below it f(x) = c x (1 + r) with |r| < 2 |x| for all functions here, whose Taylor coefficients are at most 2 c."""
FOLLOWS = 2.0**-109
"""What |r| is less than. Where c x is exact no number of 60 bits lies between it and f(x): any r of its sign rounds
alike."""
CONSTANT_ERROR = 2.0**-101  # of a constant as a pair times a double (2 u^2), and of leaving r out
SMALL_QUOTIENT = -112  # binades between two numbers: then y / x is its arctangent times 1 + r, |r| < FOLLOWS
FAR = 200.0  # e^-200 < 2^-288 is left out beside 1
HUGE = 2.0**900  # x log x - x leaves out log x, less than 2^-880 of it


def leading(x: Array, factor: float, follows: Array | float) -> Scaled:
    """factor * x * (1 + r), of which r has the sign of `follows` (0: there is none) and is below FOLLOWS; factor a
    power of two. The real's radius reaches r = 0, the rounding is that of an r that is not."""
    significand, exponent = np.frexp(x)
    side = np.sign(follows) * np.where(significand < 0, -1.0, 1.0)
    scaled = Scaled.of(significand * factor, side * (FOLLOWS * factor / 2), 0.0, exponent)
    radius = np.where(side == 0, 0.0, np.abs(scaled.lo) * (1 - 2.0**-45))
    return Scaled(scaled.hi, scaled.lo, np.maximum(scaled.radius, radius), scaled.exponent)


def odd(factor: float, sign: float) -> Kernel:
    """Of an odd function near 0: factor x (1 + r) with an r of this sign, less than x^2."""
    return lambda x: leading(x, factor, np.full_like(x, sign)).known_where(np.abs(x) < TINY)


def one_sided(factor: float, sign: float) -> Kernel:
    """Of a function near 0: factor x (1 + r) with r of the sign of x times this one."""
    return lambda x: leading(x, factor, sign * x).known_where(np.abs(x) < TINY)


def nearly_itself(sign: float) -> Kernel:
    """Of a function that is x (1 + r) for x > FAR, with an r of this sign that is at most x e^-x."""
    return lambda x: leading(x, 1.0, np.full_like(x, sign)).known_where(x > FAR)


def constant_times(name: str) -> Kernel:
    """Of a function near 0 with an irrational slope, or 3/5."""

    def kernel(x: Array) -> Scaled:
        significand, exponent = np.frexp(x)
        value = dd.mul_double(_constant(name), significand)
        return Scaled.of(*value, CONSTANT_ERROR, exponent).known_where(np.abs(x) < TINY)

    return kernel


@cache
def _constant(name: str) -> tuple[np.float64, np.float64]:
    with mpmath.workprec(200):
        root = mpmath.sqrt(mpmath.pi)
        hi, lo = dd.constant({"2/sqrt(pi)": 2 / root, "sqrt(pi)/2": root / 2, "3/5": mpmath.mpf(3) / 5}[name])
    return np.float64(hi), np.float64(lo)


def either(first: Kernel, second: Kernel) -> Kernel:
    """What is known of one of the two; the second is asked for what the first leaves open."""

    def kernel(*operands: Array) -> Scaled:
        numbers = first(*operands)
        places = np.flatnonzero(np.isinf(numbers.radius))
        return numbers.replaced(places, second(*(x[places] for x in operands))) if places.size else numbers

    return kernel


# e^y


def exp(x: Array) -> Scaled:
    """e^x"""
    value, n = exp_scaled(dd.of(x))
    return Scaled.of(*value, EXP_ERROR, n)


def exp2(x: Array) -> Scaled:
    """2^x"""
    value, n = exp2_scaled(dd.of(x))
    return Scaled.of(*value, EXP_ERROR, n)


def exp_far_up(x: Array) -> Scaled:
    """e^x - 1 of a large x."""
    return exp(x).known_where(x > FAR)


def half_exp(x: Array) -> Scaled:
    """cosh x of a large x: (e^|x| + e^-|x|) / 2."""
    value, n = exp_scaled(dd.of(np.abs(x)))
    return Scaled.of(*value, EXP_ERROR, n - 1).known_where(np.abs(x) > FAR)


def half_exp_odd(x: Array) -> Scaled:
    """sinh x of a large x."""
    value, n = exp_scaled(dd.of(np.abs(x)))
    return Scaled.of(*dd.scale(value, np.copysign(1.0, x)), EXP_ERROR, n - 1).known_where(np.abs(x) > FAR)


def exp_far_down(x: Array) -> Scaled:
    """e^x / (1 + e^x) and log(1 + e^x) of a very negative x, that is e^x."""
    return exp(x).known_where(x < -FAR)


def x_exp_far_down(x: Array) -> Scaled:
    """x e^x / (1 + e^x), x tanh(log(1 + e^x)) of a very negative x, that is x e^x; e^-1400 stands for what is less."""
    value, n = exp_scaled(dd.of(x))
    return Scaled.of(*dd.mul_double(value, np.maximum(x, -1e4)), 2 * EXP_ERROR, n).known_where(x < -FAR)


def gelu_tanh(x: Array) -> Scaled:
    """x e^(2u) / (1 + e^(2u)) of a very negative u, whose error of 2^-101 counts |2u| times; far down -64 stands for x,
    where 2u is less than -1400. Far up it is a little less than x."""
    above = leading(x, 1.0, np.full_like(x, -1.0)).known_where(x > 64.0)
    x = np.clip(x, -64.0, 64.0)
    two_u = gelu_tanh_exponent(dd.of(x))
    value, n = exp_scaled(two_u)
    error = 2 * EXP_ERROR + np.minimum(np.abs(two_u[0]), 2000.0) * 2.0**-101
    return Scaled.of(*dd.mul_double(value, x), error, n).known_where(two_u[0] < -FAR).or_else(above)


def erfc(x: Array) -> Scaled:
    """erfc x of a large x; that of 32 stands for what is less."""
    z = dd.of(np.clip(x, 1.0, HIGHEST_SCALED))
    value, n, error = erfc_scaled(z, dd.square(z))
    return Scaled.of(*value, error, n).known_where(x > 1.0)


def _ndtr(x: Array) -> tuple[DD, Array, Array]:
    """(y, n, error): y 2^n is Phi x of x < -2; below -45 that of -45 stands for it."""
    z = np.clip(-x, 2.0, 45.0)
    value, n, error = erfc_scaled(dd.mul_double(sqrt_half(), z), dd.scale(two_prod(z, z), 0.5))
    return value, n - 1, error


def ndtr(x: Array) -> Scaled:
    """Phi x of a very negative x, and a little less than 1 of a large one."""
    value, n, error = _ndtr(x)
    nearly_1 = leading(np.ones_like(x), 1.0, np.full_like(x, -1.0)).known_where(x > 64.0)
    return Scaled.of(*value, error, n).known_where(x < -2.0).or_else(nearly_1)


def gelu(x: Array) -> Scaled:
    """x Phi x of a very negative x."""
    value, n, error = _ndtr(x)
    return Scaled.of(*dd.mul_double(value, np.maximum(x, -45.0)), error + 2.0**-103, n).known_where(x < -2.0)


def erfcx(x: Array) -> Scaled:
    """2 e^(x^2) of a very negative x, and 1 / (x sqrt pi) of a huge one; less than 2^-500 of either is missing."""
    value, n = exp_scaled(two_prod(np.clip(x, -40.0, 0.0), np.clip(x, -40.0, 0.0)))
    significand, exponent = np.frexp(x)
    huge = Scaled.of(*dd.div(root_of_pi(), dd.of(significand)), CONSTANT_ERROR, -exponent).known_where(x > HUGE)
    return Scaled.of(*value, 2 * EXP_ERROR, n + 1).known_where(x < -20.0).or_else(huge)


def log_ndtr(x: Array) -> Scaled:
    """-Phi(-x) of a large x, of which less than 2^-200 is missing, and -x^2 / 2 of a very negative one."""
    value, n, error = _ndtr(-x)
    significand, exponent = np.frexp(x)
    square = two_prod(significand, -significand)
    far = Scaled.of(*square, FOLLOWS, 2 * exponent - 1).known_where(x < -(2.0**60))
    return Scaled.of(*dd.neg(value), error, n).known_where(x > 20.0).or_else(far)


def pow(x: Array, y: Array) -> Scaled:  # noqa: A001 - the function's name
    """|x|^y with its sign, e^(y log |x|), the error of whose exponent, 2^-96 relative, counts as often as that is; far
    away +-1400 stands for the exponent."""
    significand, exponent = np.frexp(y)
    product = dd.mul_double(log(dd.of(np.abs(x))), significand)
    power = np.ldexp(product[0], exponent), np.ldexp(product[1], exponent)
    far = ~(np.abs(power[0]) < 1400.0)
    power = dd.where(far, dd.of(np.copysign(1400.0, product[0])), power)
    value, n = exp_scaled(power)
    sign = np.where((x < 0) & (np.abs(y) % 2 == 1), -1.0, 1.0)
    error = EXP_ERROR + np.abs(power[0]) * 2.0**-96
    return Scaled.of(*dd.scale(value, sign), error, n).known_where((x != 0) & (product[0] != 0))


# Quotients and roots


def reciprocal(x: Array) -> Scaled:
    """1 / x"""
    significand, exponent = np.frexp(x)
    return Scaled.of(*dd.div(dd.of(np.ones_like(x)), dd.of(significand)), 2.0**-101, -exponent)


def digamma(x: Array) -> Scaled:
    """-1 / x of a tiny x, of which less than 2^-109 is missing, and log x of a huge one, which lacks 1 / (2x)."""
    huge = Scaled.of(*log(dd.of(np.abs(x))), 2 * LOG_ERROR).known_where(x > HUGE)
    return reciprocal(-x).known_where(np.abs(x) < TINY).or_else(huge)


def rsqrt(x: Array) -> Scaled:
    """1 / sqrt x of a positive x."""
    significand, exponent = np.frexp(x)
    odd_ = exponent & 1
    root = dd.sqrt(dd.of(np.ldexp(significand, odd_)))
    return Scaled.of(*dd.div(dd.of(np.ones_like(x)), root), 2.0**-101, (odd_ - exponent) // 2).known_where(x > 0)


def cbrt(x: Array) -> Scaled:
    """The real cube root: a step of Newton's method from numpy's, the square of whose error is 2^-100."""
    significand, exponent = np.frexp(x)
    rest = exponent % 3
    significand = np.ldexp(significand, rest)
    y = np.cbrt(significand)
    cube = dd.mul_double(two_prod(y, y), y)
    root = two_sum(y, -((cube[0] - significand) + cube[1]) / (3.0 * y * y))
    return Scaled.of(*root, 2.0**-98, (exponent - rest) // 3)


def hypot(x: Array, y: Array) -> Scaled:
    """sqrt(x^2 + y^2): two exact squares of scaled operands, or the larger operand and a little more."""
    larger, smaller = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    significand, exponent = np.frexp(larger)
    other = np.ldexp(smaller, -exponent)
    root = dd.sqrt(dd.add(two_prod(significand, significand), two_prod(other, other)))
    beside = leading(larger, 1.0, np.sign(smaller)).known_where(other < TINY)
    ordinary = Scaled.of(*root, 2.0**-102, exponent).known_where(other >= TINY)
    return beside.or_else(ordinary)


def quarter_turn(x: Array) -> Scaled:
    """atan x of a huge x: pi/2 with its sign, of which 1/x is missing."""
    return Scaled.of(*dd.scale(pi(), np.copysign(1.0, x)), 2.0**-105, -1).known_where(np.abs(x) > HUGE)


def quotient(y: Array, x: Array, follows: Array) -> Scaled:
    """y / x * (1 + r) with an r of this sign below FOLLOWS: 15 u^2 of the quotient, and where that is exact the sign of
    what follows."""
    (a, a_exponent), (b, b_exponent) = np.frexp(y), np.frexp(x)
    ratio, exponent = dd.div(dd.of(a), dd.of(b)), a_exponent - b_exponent
    product, error = two_prod(ratio[0], b)
    exact = (product == a) & (error == 0)
    beside = leading(np.where(exact, ratio[0], np.nan), 1.0, follows)
    beside = Scaled(beside.hi, beside.lo, beside.radius, beside.exponent + exponent)
    return beside.or_else(Scaled.of(*ratio, 2.0**-101, exponent))


def atan2(y: Array, x: Array) -> Scaled:
    """The angle of a point near an axis: pi or pi/2, of which less than 2^-110 is missing, or beside the positive x
    axis y / x, of which the cube is taken away."""
    exponent = np.frexp(y)[1] - np.frexp(x)[1]
    near = quotient(y, x, np.full_like(x, -1.0)).known_where((exponent < SMALL_QUOTIENT) & (x > 0) & (y != 0))
    turn = dd.scale(pi(), np.copysign(1.0, y))
    half = Scaled.of(*turn, 2.0**-105).known_where((x < 0) & ((y == 0) | (exponent < SMALL_QUOTIENT)))
    quarter = Scaled.of(*turn, 2.0**-105, -1).known_where((y != 0) & ((x == 0) | (exponent > -SMALL_QUOTIENT)))
    return half.or_else(quarter).or_else(near)


# Logarithms


def xlogy(x: Array, y: Array) -> Scaled:
    """x log y, y > 0."""
    significand, exponent = np.frexp(x)
    return Scaled.of(*dd.mul_double(log(dd.of(y)), significand), 2 * LOG_ERROR, exponent).known_where(y > 0)


def xlog1py(x: Array, y: Array) -> Scaled:
    """x log1p y, y > -1; of a tiny y the product, of which y/2 is missing."""
    (x_part, x_exponent), (y_part, y_exponent) = np.frexp(x), np.frexp(y)
    tiny = np.abs(y) < TINY
    product = Scaled.of(*two_prod(x_part, y_part), FOLLOWS, x_exponent + y_exponent).known_where(tiny & (y != 0))
    logarithm = log1p(dd.of(np.where(tiny, 0.5, y)))
    return product.or_else(
        Scaled.of(*dd.mul_double(logarithm, x_part), 2 * LOG1P_ERROR, x_exponent).known_where(~tiny & (y > -1))
    )


def logaddexp(x: Array, y: Array) -> Scaled:
    """The larger number and at most 1 more, of a large one; and less than 2^-199 more beside a far smaller one. Of the
    logarithm to the base 2, too."""
    larger, size = np.maximum(x, y), np.abs(np.maximum(x, y))
    is_far = (larger - np.minimum(x, y) > FAR) & (size > 2.0**-80)
    return leading(larger, 1.0, larger).known_where((size > HUGE) | is_far)


def lgamma(x: Array) -> Scaled:
    """x (log x - 1) of a huge x, -log |x| of a tiny one."""
    significand, exponent = np.frexp(x)
    logarithm = log(dd.of(np.abs(x)))
    huge = Scaled.of(*dd.mul_double(dd.add_double(logarithm, -1.0), significand), 2 * LOG_ERROR, exponent)
    tiny = Scaled.of(*dd.neg(logarithm), 2 * LOG_ERROR)
    return huge.known_where(x > HUGE).or_else(tiny.known_where((x != 0) & (np.abs(x) < TINY)))


# Others


def ndtri(p: Array) -> Scaled:
    """The number whose Phi is a tiny p: the step of `inverse_error`, of which erfc is scaled."""
    q, exponent = np.frexp(np.where((p > 0) & (p < 2.0**-800), p, 2.0**-800))
    y = tail_float64(np.ldexp(q, exponent + 1))
    value, n, _ = erfc_scaled(dd.of(y), dd.square(dd.of(y)))
    ratio = dd.scale(dd.div(value, dd.of(q)), np.ldexp(1.0, n - exponent - 1))
    root = dd.mul(dd.neg(tail_step(y, ratio)), sqrt_half())
    return Scaled.of(*root, INVERSE_ERROR, 1).known_where((p > 0) & (p < 2.0**-800))


def sinc(x: Array) -> Scaled:
    """1 less (pi x)^2 / 6 of a tiny x."""
    return leading(np.ones_like(x), 1.0, np.where(x == 0, 0.0, -1.0)).known_where(np.abs(x) < 2.0**-60)
