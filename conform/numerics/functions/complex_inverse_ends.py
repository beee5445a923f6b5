"""Parts of the inverse complex functions where squares of operands leave float64's range: see range_ends.py.

Operands as in complex_kernels.py, y >= 0. Beside a number that is not, a number below TINY is 0 to the part that does
not vanish with it. Beyond FAR a function is its leading term.
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from conform.numerics.eft import two_prod, two_sum
from conform.numerics.functions import complex_inverse_kernels as inverse
from conform.numerics.functions import complex_kernels as kernels
from conform.numerics.functions import dd, range_ends
from conform.numerics.functions.complex_inverse_kernels import FAR, TINY
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.inverse_trigonometric import atan2
from conform.numerics.functions.logarithm import LOG_ERROR, constant, log
from conform.numerics.functions.range_ends import Kernel, either
from conform.numerics.functions.trigonometric import pi
from conform.numerics.real import Real
from conform.numerics.scaled import Scaled

MISSING = 2.0**-140
"""Relative: beside the branch point 1 the root of TINY, next to it TINY times 2^54, squares of these, and beyond FAR
its inverse at most."""
PI_ERROR = 2.0**-105


def _known(value: DD, error: Array | float, where: Array, exponent: Array | int = 0) -> Scaled:
    return Scaled.of(*value, error + MISSING, exponent).known_where(where)


def _without_tiny(kernel: kernels.Kernel) -> Kernel:
    """The kernel with 0 in place of what is tiny; a part that vanishes with it is not known."""

    def known(x: Array, y: Array) -> Scaled:
        value, error = kernel(*(dd.of(np.where(np.abs(each) < TINY, 0.0, each)) for each in (x, y)))
        return _known(value, error, ~_is_far(x, y))

    return known


def _is_far(x: Array, y: Array) -> Array:
    return np.maximum(np.abs(x), y) > FAR


def _over(numerator: Array, divisor: DD, where: Array) -> Scaled:
    """The quotient by a number of ordinary size known to within 12 u^2: another 15."""
    significand, exponent = np.frexp(numerator)
    return _known(dd.div(dd.of(significand), divisor), kernels.ROOT_ERROR, where & (numerator != 0), exponent)


def _one_and_square(y: Array) -> DD:
    return dd.add_double(two_prod(y, y), 1.0)


def _distances(x: Array) -> DD:
    """|1 - x| (1 + x): 7 u^2 of two exact sums."""
    return dd.mul(dd.absolute(two_sum(np.float64(1.0), -x)), two_sum(np.float64(1.0), x))


def _root(y: Array, where: Array) -> Scaled:
    significand, exponent = np.frexp(y)
    odd = exponent & 1
    root = dd.sqrt(dd.of(np.ldexp(significand, odd)))
    return _known(root, kernels.ROOT_ERROR, where & (y > 0), (exponent - odd) // 2)


def _share_of_pi(share: float, where: Array) -> Scaled:
    return _known(tuple(np.full(where.shape, part * share) for part in pi()), PI_ERROR, where)


# asin and acos: those of real numbers, or beside these the derivative times the tiny part; far out angles of z itself


def _asin_real_beside(x: Array, y: Array) -> Scaled:
    """x / sqrt(1 + y^2) of a tiny x, pi / 2 of a tiny y and x >= 1. A far z has the angle of (y, x), less x / (2 y^3)
    where x is small beside y."""
    near = _over(x, dd.sqrt(_one_and_square(y)), (x < TINY) & (y <= FAR))
    near = near.or_else(_share_of_pi(0.5, (y < TINY) & (x >= 1) & (x <= FAR)))
    angle = range_ends.atan2(x, y).or_else(_known(*atan2(dd.of(x), dd.of(y)), True))
    return near.or_else(angle.known_where(_is_far(x, y)))


def _asin_imag_beside(x: Array, y: Array) -> Scaled:
    """y / sqrt(1 - x^2) of a tiny y, sqrt y at x = 1; log |2z| of a far z."""
    tiny = y < TINY
    near = _over(y, dd.sqrt(_distances(x)), tiny & (x < 1)).or_else(_root(y, tiny & (x == 1)))
    value, error = kernels.log_abs(dd.of(x), dd.of(y))
    return near.or_else(_known(dd.add(value, constant("ln2")), error + 2.0**-104, _is_far(x, y)))


def _acos_real_beside(x: Array, y: Array) -> Scaled:
    """y / sqrt(x^2 - 1) of a tiny y, sqrt y at x = 1; pi / 2 of a tiny x. A far z has the angle of (x, y), and
    y / (2 x^3) more where y is small beside x: that is y / x times 1 + (1 / 2 - y^2 / 3) / x^2."""
    tiny = y < TINY
    near = _over(y, dd.sqrt(_distances(x)), tiny & (x > 1) & (x <= FAR)).or_else(_root(y, tiny & (x == 1)))
    near = near.or_else(_share_of_pi(0.5, (np.abs(x) < TINY) & (y <= FAR)))
    square, rest = two_prod(np.minimum(y, 2.0), np.minimum(y, 2.0))
    small = (x > 0) & (np.frexp(y)[1] - np.frexp(x)[1] < range_ends.SMALL_QUOTIENT) & (y > 0)
    quotient = range_ends.quotient(y, x, (1.5 - square) - rest).known_where(small)
    angle = range_ends.atan2(y, x).or_else(_known(*atan2(dd.of(y), dd.of(x)), True)).known_where(~small)
    return near.or_else(quotient.or_else(angle).known_where(_is_far(x, y)))


asin_real = either(_asin_real_beside, _without_tiny(inverse.asin_real))
asin_imag = either(_asin_imag_beside, _without_tiny(inverse.asin_imag))
acos_real = either(_acos_real_beside, _without_tiny(inverse.acos_real))


def _acosh_real(x: Array, y: Array) -> Scaled:
    return asin_imag(np.abs(x), y)


# atanh


def _atanh_real_beside(x: Array, y: Array) -> Scaled:
    """x / (1 + y^2) of a tiny x; (log 2 - log y) / 2 of x = 1 and a tiny y; x / (x^2 + y^2) of a far z."""
    near = _over(x, _one_and_square(y), (x < TINY) & (y <= FAR))
    at_one = dd.scale(dd.sub(constant("ln2"), log(dd.of(np.where(y > 0, y, 1.0)))), 0.5)
    exponent = np.frexp(np.maximum(x, y))[1]
    square = kernels.square_sum(*(dd.of(np.ldexp(part, -exponent)) for part in (x, y)))
    far = _over(x, square, _is_far(x, y)).times_power_of_two(-2 * exponent)
    return near.or_else(_known(at_one, 2 * LOG_ERROR, (x == 1) & (y < TINY) & (y > 0))).or_else(far)


def _atanh_imag_beside(x: Array, y: Array) -> Scaled:
    """y / (1 - x^2) of a tiny y and x < 1, pi / 4 at x = 1; pi / 2 of a far z."""
    tiny = y < TINY
    near = _over(y, _distances(x), tiny & (x < 1)).or_else(_share_of_pi(0.25, tiny & (x == 1)))
    return near.or_else(_share_of_pi(0.5, _is_far(x, y)))


atanh_real = either(_atanh_real_beside, _without_tiny(inverse.atanh_real))
atanh_imag = either(_atanh_imag_beside, _without_tiny(inverse.atanh_imag))

# log(1 + z)


def sum_with_half_square(x: Array, y: Array, sign: float) -> Scaled:
    """x + sign * y^2 / 2 of a tiny z, unless these cancel: what follows are products of x, x^2, y^2 and z."""
    first = Scaled.exact(x)
    square = Scaled.exact(y).product(Scaled.exact(y)).times(Real.exact(np.full_like(y, sign / 2)))
    total = first.plus(square).or_else(square.known_where(x == 0)).or_else(first.known_where(y == 0))
    kept = total.exponent > np.where(x == 0, -np.inf, np.frexp(x)[1]) - 20
    return nearly(total, kept & (np.maximum(np.abs(x), y) < TINY))


def _log1p_real(x: Array, y: Array) -> Scaled:
    """log |1 + z| of an x with which 1 + x is exact; log |z| of a far one; of a tiny one its first terms."""
    is_exact = (x >= -2) & (x <= -0.5)
    value, error = kernels.log_abs(dd.of(np.where(is_exact, 1.0 + x, x)), dd.of(y))
    return sum_with_half_square(x, y, 1.0).or_else(_known(value, error, is_exact | _is_far(x, y)))


def nearly(numbers: Scaled, where: Array) -> Scaled:
    """Numbers that differ from these by less than MISSING of themselves."""
    radius = numbers.radius + np.abs(numbers.hi) * MISSING
    return Scaled(numbers.hi, numbers.lo, radius, numbers.exponent).known_where(where)


def _log1p_imag(x: Array, y: Array) -> Scaled:
    """y / (1 + x) of a tiny y and x > -1; the angle of a far z. Both are less than a quotient that is exact."""
    divisor, near = two_sum(np.float64(1.0), x), (y < TINY) & (x > -1) & (x <= FAR)
    exact = range_ends.quotient(y, divisor[0], np.full_like(x, -1.0)).known_where(near & (divisor[1] == 0) & (y > 0))
    near = exact.or_else(_over(y, divisor, near))
    angle = range_ends.atan2(y, x).or_else(_known(*atan2(dd.of(y), dd.of(x)), True))
    half = _share_of_pi(1.0, (x < -1) & (y < TINY)).or_else(_share_of_pi(0.5, (x == -1) & (y < TINY)))
    return near.or_else(half).or_else(angle.known_where(_is_far(x, y)))


def _swapped(kernel: Kernel) -> Kernel:
    return lambda x, y: kernel(y, x)


PARTS = MappingProxyType(
    {
        "asin.real": asin_real,
        "asin.imag": asin_imag,
        "asinh.real": _swapped(asin_imag),
        "asinh.imag": _swapped(asin_real),
        "acos.real": acos_real,
        "acos.imag": lambda x, y: -_acosh_real(x, y),
        "acosh.real": _acosh_real,
        "acosh.imag": acos_real,
        "atanh.real": atanh_real,
        "atanh.imag": atanh_imag,
        "atan.real": _swapped(atanh_imag),
        "atan.imag": _swapped(atanh_real),
        "log1p.real": _log1p_real,
        "log1p.imag": _log1p_imag,
    }
)
