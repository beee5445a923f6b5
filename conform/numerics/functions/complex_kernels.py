"""The parts of complex functions of x + iy in double-double: each a value and its relative error.

Operands are doubles (lo = 0), y >= 0, and x >= 0 too where the function is odd or even. Formulas add and multiply
numbers of one sign, so that relative errors only add up; where terms may cancel, the error is an array that says what
is left. It is infinite where squares leave float64's range. u = 2^-53; counts are of u^2 = 2^-106.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import mpmath
import numpy as np

from conform.numerics.eft import two_prod, two_sum
from conform.numerics.functions import dd, exponential, hyperbolic, logarithm, powers, trigonometric
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.inverse_trigonometric import atan2

Kernel = Callable[..., tuple[DD, Array | float]]

SMALL, LARGE = 2.0**-400, 2.0**400  # squares of numbers between them are far from float64's limits
RATIONAL_ERROR = 2.0**-101  # two exact products, their sum 3, the sum of two squares 3, the quotient 15
ROOT_ERROR = 2.0**-100  # hypot 7, its sum with |x| and halving 3, root 25/8, quotients 15 + 15
TANH_ERROR = 2.0**-92  # four hyperbolic or trigonometric factors of 2^-95, squares 7, sum 3, quotient 15
LOG_SQUARE_ERROR = 2.0**-96  # LOG_ERROR, and 10 of the argument over |log q| >= 0.69


def bounded(kernel: Callable[[DD], DD], error: float) -> Kernel:
    """A kernel of one number with its error beside it."""
    return lambda x: (kernel(x), error)


exp = bounded(exponential.exp, exponential.EXP_ERROR)
exp2 = bounded(exponential.exp2, exponential.EXP_ERROR)
expm1 = bounded(exponential.expm1, exponential.EXPM1_ERROR)
sinh, cosh = (bounded(f, hyperbolic.HYPERBOLIC_ERROR) for f in (hyperbolic.sinh, hyperbolic.cosh))
sin, cos = trigonometric.sin, trigonometric.cos
THIRD = np.float64(1 / 3), np.float64(2.0**-54 / 3)


def product(first: Kernel, second: Kernel) -> Kernel:
    """first(x) * second(y)"""

    def kernel(x: DD, y: DD) -> tuple[DD, Array]:
        (f, f_error), (g, g_error) = first(x), second(y)
        return dd.mul(f, g), 1.25 * (f_error + g_error) + 2.0**-103

    return kernel


def swapped(kernel: Kernel) -> Kernel:
    """kernel(y, x)"""
    return lambda x, y: kernel(y, x)


def negated(kernel: Kernel) -> Kernel:
    """-kernel(x, y)"""

    def minus(*operands: DD) -> tuple[DD, Array | float]:
        value, error = kernel(*operands)
        return dd.neg(value), error

    return minus


def times(kernel: Kernel, factor: mpmath.mpf) -> Kernel:
    """The kernel's value times a constant of at least 120 bits."""
    hi, lo = (np.float64(part) for part in dd.constant(factor))

    def scaled(*operands: DD) -> tuple[DD, Array]:
        value, error = kernel(*operands)
        return dd.mul(value, (hi, lo)), error + 2.0**-103

    return scaled


def where_moderate(error: Array | float, *operands: DD) -> Array:
    """The error, but infinite where an operand that is not zero may have a square out of range."""
    sizes = [np.abs(operand[0]) for operand in operands]
    inside = [(size == 0) | ((size > SMALL) & (size < LARGE)) for size in sizes]
    return np.where(np.logical_and.reduce(inside), error, np.inf)


def square_sum(x: DD, y: DD) -> DD:
    return dd.add(dd.square(x), two_prod(y[0], y[0]))


def square_root(x: DD) -> DD:
    """The square root of numbers >= 0."""
    zero = x[0] == 0
    return dd.where(zero, x, dd.sqrt(dd.where(zero, (np.ones_like(x[0]), x[1]), x))) if zero.any() else dd.sqrt(x)


# Quotients and roots


def reciprocal_real(x: DD, y: DD) -> tuple[DD, Array]:
    """x / (x^2 + y^2)"""
    return dd.div(x, square_sum(x, y)), where_moderate(RATIONAL_ERROR, x, y)


def reciprocal_imag(x: DD, y: DD) -> tuple[DD, Array]:
    """-y / (x^2 + y^2)"""
    value, error = reciprocal_real(y, x)
    return dd.neg(value), error


def sgn_real(x: DD, y: DD) -> tuple[DD, Array]:
    """x / |z|; without error on the axes"""
    hi, lo = dd.div(x, square_root(square_sum(x, y)))
    on_axis = (x[0] == 0) | (y[0] == 0)
    (hi, lo) = np.where(on_axis, np.sign(x[0]), hi), np.where(on_axis, 0.0, lo)
    return (hi, lo), np.where(on_axis, 0.0, where_moderate(ROOT_ERROR, x, y))


def sgn_imag(x: DD, y: DD) -> tuple[DD, Array]:
    return sgn_real(y, x)


def quotient_real(a: DD, b: DD, c: DD, d: DD) -> tuple[DD, Array]:
    """(ac + bd) / (c^2 + d^2); without error a / c of a real divisor and b / d of an imaginary one that are doubles"""
    numerator = dd.add(two_prod(a[0], c[0]), two_prod(b[0], d[0]))
    (hi, lo), error = dd.div(numerator, square_sum(c, d)), where_moderate(RATIONAL_ERROR, a, b, c, d)
    of_part, divisor = np.where(d[0] == 0, a[0], b[0]), np.where(d[0] == 0, c[0], d[0])
    quotient = of_part / divisor
    product, rest = two_prod(quotient, divisor)
    is_double = ((c[0] == 0) | (d[0] == 0)) & np.isfinite(error) & (product == of_part) & (rest == 0)
    return (np.where(is_double, quotient, hi), np.where(is_double, 0.0, lo)), np.where(is_double, 0.0, error)


def quotient_imag(a: DD, b: DD, c: DD, d: DD) -> tuple[DD, Array]:
    """(bc - ad) / (c^2 + d^2)"""
    return quotient_real(b, dd.neg(a), c, d)


def _half_angle(x: DD, y: DD) -> tuple[DD, DD, DD]:
    """r = |z|, p = sqrt((r + |x|)/2) and q = y / 2p: the parts of sqrt z and r."""
    r = square_root(square_sum(x, y))
    p = square_root(dd.scale(dd.add(r, dd.absolute(x)), 0.5))
    return r, p, dd.div(y, dd.scale(p, 2.0))


def sqrt_real(x: DD, y: DD) -> tuple[DD, Array]:
    _, p, q = _half_angle(x, y)
    return dd.where(x[0] >= 0, p, q), where_moderate(ROOT_ERROR, x, y)


def sqrt_imag(x: DD, y: DD) -> tuple[DD, Array]:
    _, p, q = _half_angle(x, y)
    return dd.where(x[0] >= 0, q, p), where_moderate(ROOT_ERROR, x, y)


def rsqrt_real(x: DD, y: DD) -> tuple[DD, Array]:
    """The conjugate of sqrt z, over |z|."""
    r, p, q = _half_angle(x, y)
    return dd.div(dd.where(x[0] >= 0, p, q), r), where_moderate(ROOT_ERROR, x, y)


def rsqrt_imag(x: DD, y: DD) -> tuple[DD, Array]:
    r, p, q = _half_angle(x, y)
    return dd.neg(dd.div(dd.where(x[0] >= 0, q, p), r)), where_moderate(ROOT_ERROR, x, y)


def _third(factor: Kernel) -> Kernel:
    """|z|^(1/3) times sin or cos of a third of the angle, of which both are well conditioned up to a third of pi: an
    error of the angle counts at most pi / 3 tan(pi / 3) = 1.82 times."""

    def kernel(x: DD, y: DD) -> tuple[DD, Array]:
        (size, size_error), (angle, angle_error) = powers.hypot(x, y), arg(x, y)
        (root, root_error), (turned, error) = powers.cbrt(size), factor(dd.mul(angle, THIRD))
        spent = root_error + size_error / 3 + 1.25 * (error + 1.82 * (angle_error + 2.0**-103)) + 2.0**-102
        return dd.mul(root, turned), np.where(np.isnan(spent), np.inf, spent)

    return kernel


cbrt_real, cbrt_imag = _third(cos), _third(sin)


# Logarithms


def _log_of(excess: DD, square: DD, near: Array, error: Array) -> tuple[DD, Array]:
    """log(square) / 2, where `near` as log1p(excess) / 2 with excess = square - 1 of relative error `error`; there the
    condition of log1p is at most 2.2."""
    result = np.empty_like(square[0]), np.empty_like(square[0])
    dd.fill(result, near, logarithm.log1p, excess)
    dd.fill(result, ~near, logarithm.log, square)
    return dd.scale(result, 0.5), np.where(near, logarithm.LOG1P_ERROR + 2.5 * error, LOG_SQUARE_ERROR)


def log_abs(x: DD, y: DD) -> tuple[DD, Array]:
    """log |z| = log1p((a^2 - 1) + b^2) / 2 near the unit circle, a >= b the magnitudes of the parts.

    Where a is far from 1 both are divided by a power of two first, 2^k, |k| > 398: beside k log 2 the logarithm of the
    rest, at most 0.7, counts a 390th, the constant and its product 3, the sum 3.
    """
    a, b = np.maximum(np.abs(x[0]), np.abs(y[0])), np.minimum(np.abs(x[0]), np.abs(y[0]))
    scaled = (a <= SMALL) | (a >= LARGE)
    exponent = np.where(scaled, np.frexp(a)[1], 0)
    a, b = np.ldexp(a, -exponent), np.ldexp(b, -exponent)
    a_square, b_square = two_prod(a, a), two_prod(b, b)
    less_one = dd.add_double(a_square, -1.0)  # 2
    excess = dd.add(less_one, b_square)  # 3
    on_circle = (a == 1) & (b == 0)
    spread = np.where(on_circle, 0.0, 2.0**-105 * (2.0 + np.abs(less_one[0] / excess[0])))
    value, error = _log_of(excess, dd.add(a_square, b_square), (a > 0.5) & (a < 2.0) & ~scaled, spread)
    value = dd.where(scaled, dd.add(value, dd.mul_double(_log_2(), exponent)), value)
    inside = (a > 0) & (a < np.inf) & ((b > SMALL) | (b == 0) | (a != 1))
    return value, np.where(inside, error, np.inf)


@cache
def _log_2() -> DD:
    with mpmath.workprec(200):
        return tuple(np.float64(part) for part in dd.constant(mpmath.log(2)))


def log_abs_one_plus(x: DD, y: DD) -> tuple[DD, Array]:
    """log |1 + z| = log1p(x (2 + x) + y^2) / 2 near the circle |1 + z| = 1."""
    x_part = dd.mul_double(two_sum(x[0], np.float64(2.0)), x[0])  # 1.5
    excess = dd.add(x_part, two_prod(y[0], y[0]))  # 3
    spread = 2.0**-105 * (2.0 + np.abs(x_part[0] / excess[0]))
    square = square_sum(two_sum(x[0], np.float64(1.0)), y)
    value, error = _log_of(excess, square, np.abs(excess[0]) < 0.5, spread)
    inside = (np.abs(x[0]) < LARGE) & (y[0] < LARGE) & (np.minimum(np.abs(excess[0]), square[0]) > dd.SAFE_MIN)
    return value, np.where(inside, error, np.inf)


def arg(x: DD, y: DD) -> tuple[DD, Array]:
    """The angle of z."""
    return atan2(y, x)


def arg_one_plus(x: DD, y: DD) -> tuple[DD, Array]:
    """The angle of 1 + z."""
    return atan2(y, two_sum(x[0], np.float64(1.0)))


# Exponentials


def exp2_angle(function: Kernel) -> Kernel:
    """sin or cos of y log 2: the angle is off by 4 u^2 of itself and by what underflows, which counts absolutely."""

    def kernel(y: DD) -> tuple[DD, Array]:
        angle = dd.mul_double(_log_2(), y[0])
        value, error = function(angle)
        return value, error + (2.0**-104 * np.abs(angle[0]) + 2.0**-1070) / np.abs(value[0])

    return kernel


def expm1_real(x: DD, y: DD) -> tuple[DD, Array]:
    """expm1(x) cos y - 2 sin(y/2)^2"""
    (sine, sine_error), (first, first_error) = sin(dd.scale(y, 0.5)), product(expm1, cos)(x, y)
    second = dd.scale(dd.square(sine), 2.0)
    value = dd.sub(first, second)
    spent = np.abs(first[0]) * first_error + second[0] * (2.5 * sine_error + 2.0**-103)
    return value, np.where(value[0] == 0, np.inf, spent / np.abs(value[0]) + 2.0**-104)


def _sigmoid_denominator(x: DD, y: DD) -> tuple[DD, Array]:
    """2 (cosh x + cos y) = 4 (sinh(x/2)^2 + cos(y/2)^2)"""
    (s, s_error), (c, c_error) = sinh(dd.scale(x, 0.5)), cos(dd.scale(y, 0.5))
    return dd.scale(dd.add(dd.square(s), dd.square(c)), 4.0), 2.5 * (s_error + c_error) + 2.0**-102


def sigmoid_real(x: DD, y: DD) -> tuple[DD, Array]:
    """(e^x + cos y) / (2 (cosh x + cos y))"""
    (e, e_error), (c, c_error), (below, below_error) = exp(x), cos(y), _sigmoid_denominator(x, y)
    above = dd.add(e, c)
    spent = (e[0] * e_error + np.abs(c[0]) * c_error) / np.abs(above[0]) + below_error + 2.0**-101
    return dd.div(above, below), np.where(np.abs(x[0]) < 600, spent, np.inf)


def sigmoid_imag(x: DD, y: DD) -> tuple[DD, Array]:
    """sin y / (2 (cosh x + cos y))"""
    (s, s_error), (below, below_error) = sin(y), _sigmoid_denominator(x, y)
    return dd.div(s, below), np.where(np.abs(x[0]) < 600, 1.25 * s_error + below_error + 2.0**-101, np.inf)


# Hyperbolic tangent


def _tanh_factors(x: DD, y: DD) -> tuple[DD, DD, DD, DD, Array]:
    (sh, _), (ch, _), (s, s_error), (c, c_error) = sinh(x), cosh(x), sin(y), cos(y)
    return sh, ch, s, c, np.where(np.isfinite(s_error + c_error), TANH_ERROR, np.inf)


def tanh_real(x: DD, y: DD) -> tuple[DD, Array]:
    """sinh x cosh x / (sinh(x)^2 + cos(y)^2); from 300 on it is 1 to 2^-860."""
    far = x[0] > 300.0
    sh, ch, _, c, error = _tanh_factors(dd.where(far, dd.of(np.full_like(x[0], 300.0)), x), y)
    return dd.div(dd.mul(sh, ch), dd.add(dd.square(sh), dd.square(c))), error


def tanh_imag(x: DD, y: DD) -> tuple[DD, Array]:
    """sin y cos y / (sinh(x)^2 + cos(y)^2)"""
    sh, _, s, c, error = _tanh_factors(x, y)
    value = dd.div(dd.mul(s, c), dd.add(dd.square(sh), dd.square(c)))
    return value, np.where(x[0] < 300.0, error, np.inf)


# Powers


def log_of_power(x: DD, y: DD, c: DD, d: DD) -> tuple[DD, DD, Array]:
    """The parts of (c + id) log(x + iy), and what each may be off by, absolutely."""
    (size, size_error), (angle, angle_error) = log_abs(x, y), arg(x, y)
    angle_error = np.where(y[0] == 0, 2.0**-105, angle_error)
    first, second = dd.mul_double(size, c[0]), dd.mul_double(angle, d[0])
    third, fourth = dd.mul_double(size, d[0]), dd.mul_double(angle, c[0])
    relative = np.maximum(size_error, angle_error) + 2.0**-102
    spent = sum(np.abs(part[0]) for part in (first, second, third, fourth)) * relative + 2.0**-1070  # what underflows
    return dd.sub(first, second), dd.add(third, fourth), np.where(np.isnan(spent), np.inf, spent)


def _power(function: Kernel) -> Kernel:
    def kernel(x: DD, y: DD, c: DD, d: DD) -> tuple[DD, Array]:
        exponent, angle, spent = log_of_power(x, y, c, d)
        turned, error = function(angle)
        return dd.mul(exponential.exp(exponent), turned), power_error(turned, error, spent)

    return kernel


def power_error(turned: DD, error: Array, spent: Array) -> Array:
    """Of e^x cos y, cos y known as `turned` to within `error`, where x and y are off by `spent`; and likewise of
    sines."""
    total = exponential.EXP_ERROR + 1.25 * (error + spent + spent / np.abs(turned[0])) + 2.0**-102
    return np.where(spent < 2.0**-20, total, np.inf)


pow_real, pow_imag = _power(cos), _power(sin)
