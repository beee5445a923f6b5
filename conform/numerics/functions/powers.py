"""reciprocal, rsqrt, cbrt, hypot and pow of double-doubles."""

from __future__ import annotations

import numpy as np

from conform.numerics.eft import fast_two_sum, two_prod
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.exponential import EXP_ERROR, exp
from conform.numerics.functions.logarithm import log

QUOTIENT_ERROR = 2.0**-101
"""15 u^2 and, for rsqrt, 25/8 u^2."""
CBRT_ERROR = 2.0**-98
"""One Newton step from 4 ulp: the square of 2^-50, and 2^-53 of a correction of 2^-50."""
HYPOT_ERROR = 2.0**-102
"""Two exact squares, a sum of positive terms (3 u^2, halved by the root), 25/8 u^2."""


def reciprocal(x: DD) -> DD:
    """1 / x; relative error QUOTIENT_ERROR."""
    return dd.div(dd.of(np.ones_like(x[0])), x)


def rsqrt(x: DD) -> tuple[DD, Array]:
    """1 / sqrt x for x > 0; its relative error, inf where the square of the root underflows."""
    return reciprocal(dd.sqrt(x)), np.where(x[0] > dd.SAFE_MIN, QUOTIENT_ERROR, np.inf)


def cbrt(x: DD) -> tuple[DD, Array]:
    """The real cube root; its relative error, inf where the cube of the root underflows."""
    y = np.cbrt(x[0])
    cube = dd.mul_double(two_prod(y, y), y)
    root = fast_two_sum(y, -((cube[0] - x[0]) + (cube[1] - x[1])) / (3.0 * y * y))
    return root, np.where(np.abs(x[0]) > dd.SAFE_MIN, CBRT_ERROR, np.inf)


def hypot(x: DD, y: DD) -> tuple[DD, Array]:
    """sqrt(x^2 + y^2) of doubles; its relative error, none beside a zero and inf where squares leave the safe range."""
    root = dd.sqrt(dd.add(two_prod(x[0], x[0]), two_prod(y[0], y[0])))
    error = np.where((root[0] > 2.0**-400) & (root[0] < 2.0**400), HYPOT_ERROR, np.inf)
    is_other, other = (x[0] == 0) | (y[0] == 0), np.abs(x[0]) + np.abs(y[0])
    return (np.where(is_other, other, root[0]), np.where(is_other, 0.0, root[1])), np.where(is_other, 0.0, error)


def pow(x: DD, y: DD) -> tuple[DD, Array]:  # noqa: A001 - the function's name
    """x^y = e^(y log|x|) with the sign of an odd y, and x^1 as it is; the error of the exponent, 2^-96 relative,
    counts |y log x| times."""
    exponent = dd.mul(y, log(dd.absolute(x)))
    sign = np.where((x[0] < 0) & (np.abs(y[0]) % 2 == 1), -1.0, 1.0)
    (hi, lo), error = dd.scale(exp(exponent), sign), EXP_ERROR + np.abs(exponent[0]) * 2.0**-96
    is_first = (y[0] == 1) & (y[1] == 0) & (x[1] == 0)
    return (np.where(is_first, x[0], hi), np.where(is_first, 0.0, lo)), np.where(is_first, 0.0, error)
