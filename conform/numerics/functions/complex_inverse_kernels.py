"""The parts of the inverse complex functions in double-double; operands as in complex_kernels.py, and their errors are
infinite where an operand other than 0 is tiny or far: there complex_inverse_ends.py knows them."""

from __future__ import annotations

import numpy as np

from conform.numerics.eft import two_prod, two_sum
from conform.numerics.functions import dd, logarithm
from conform.numerics.functions.complex_kernels import square_root, square_sum
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.inverse_trigonometric import atan2

INVERSE_ERROR = 2.0**-95
"""Of the inverse functions: LOG1P_ERROR or two of atan2's, and of the argument at most 54: the foci's distances 8,
r + x + 1 another 3, y^2 / (...) 15, sums 3, the product under the root 7 + 29 + 32, halved by the root, 25/8, a sum
or quotient."""
TINY, FAR = 2.0**-300, 2.0**200  # y^2 / x of numbers between them is far from float64's limits


def _where_moderate(error: float, *operands: DD) -> Array:
    sizes = [np.abs(operand[0]) for operand in operands]
    inside = [(size == 0) | ((size >= TINY) & (size <= FAR)) for size in sizes]
    return np.where(np.logical_and.reduce(inside), error, np.inf)


def _foci(x: DD, y: DD) -> tuple[DD, DD, Array]:
    """a - 1 and a - x of the ellipse through x + iy with foci +-1, a = (|z + 1| + |z - 1|)/2, x, y >= 0 (Hull,
    Fairgrieve and Tang, ACM TOMS 23, 1997). Differences of near numbers are written as y^2 over their sum."""
    plus, minus = two_sum(x[0], np.float64(1.0)), dd.absolute(two_sum(x[0], np.float64(-1.0)))
    y_square = two_prod(y[0], y[0])
    right = dd.div(y_square, dd.add(square_root(square_sum(plus, y)), plus))  # |z + 1| - (x + 1)
    larger = dd.add(square_root(square_sum(minus, y)), minus)  # |z - 1| + |x - 1|
    zero = larger[0] == 0
    smaller = dd.div(y_square, dd.where(zero, dd.of(np.ones_like(x[0])), larger))  # |z - 1| - |x - 1|
    inside = x[0] <= 1
    beyond_one = dd.scale(dd.add(right, dd.where(inside, smaller, larger)), 0.5)
    beyond_x = dd.scale(dd.add(right, dd.where(inside, larger, smaller)), 0.5)
    return beyond_one, beyond_x, _where_moderate(INVERSE_ERROR, x, y)


def _cathetus(x: DD, beyond_x: DD) -> DD:
    """sqrt(a^2 - x^2)"""
    return square_root(dd.mul(beyond_x, dd.add(dd.scale(x, 2.0), beyond_x)))


def asin_real(x: DD, y: DD) -> tuple[DD, Array]:
    _, beyond_x, error = _foci(x, y)
    value, angle_error = atan2(x, _cathetus(x, beyond_x))
    return value, np.maximum(error, angle_error)


def asin_imag(x: DD, y: DD) -> tuple[DD, Array]:
    """acosh a"""
    beyond_one, _, error = _foci(x, y)
    root = square_root(dd.mul(beyond_one, dd.add_double(beyond_one, 2.0)))
    return logarithm.log1p(dd.add(beyond_one, root)), error


def acos_real(x: DD, y: DD) -> tuple[DD, Array]:
    """x of either sign."""
    size = dd.absolute(x)
    _, beyond_x, error = _foci(size, y)
    value, angle_error = atan2(_cathetus(size, beyond_x), x)
    return value, np.maximum(error, angle_error)


def acosh_real(x: DD, y: DD) -> tuple[DD, Array]:
    return asin_imag(dd.absolute(x), y)


def atanh_real(x: DD, y: DD) -> tuple[DD, Array]:
    """log1p(4x / ((1 - x)^2 + y^2)) / 4"""
    square = square_sum(two_sum(np.float64(1.0), -x[0]), y)
    value = dd.scale(logarithm.log1p(dd.div(dd.scale(x, 4.0), square)), 0.25)
    return value, _where_moderate(INVERSE_ERROR, x, y)


def atanh_imag(x: DD, y: DD) -> tuple[DD, Array]:
    """(arg(1 + z) + arg(1 - conj z)) / 2"""
    (first, first_error), (second, second_error) = (
        atan2(y, two_sum(np.float64(1.0), sign * x[0])) for sign in (1.0, -1.0)
    )
    return dd.scale(dd.add(first, second), 0.5), 1.25 * (first_error + second_error)
