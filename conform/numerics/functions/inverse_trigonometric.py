"""atan, asin, acos and atan2 of double-doubles: one polynomial table of atan on [0, 1]."""

from __future__ import annotations

import numpy as np

from conform.numerics.eft import fast_two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.piecewise import PER_UNIT, Piecewise, uniform_piece
from conform.numerics.functions.trigonometric import pi

ATAN_ERROR = 2.0**-98
"""EVALUATION; from 1 on 1/x costs 15 u^2 and pi/2 - atan(1/x) >= pi/4 another 3 u^2."""
ASIN_ERROR = 2.0**-97
"""ATAN_ERROR, and 2 (1 - x) + 2 (1 + x) + 7 + 25/8 + 15 u^2 of its argument (condition at most 1)."""

_TABLE = Piecewise("atan", 8)


def _atan_positive(x: DD) -> DD:
    inverted = x[0] > 1.0
    y = x
    if inverted.any():
        reciprocal = dd.div(dd.of(np.ones_like(x[0])), x)
        y = dd.where(inverted, reciprocal, x)
    piece, centre = uniform_piece(y[0], PER_UNIT)
    value = _TABLE.value(piece, fast_two_sum(y[0] - centre, y[1]))
    if not inverted.any():
        return value
    return dd.where(inverted, dd.add(dd.neg(value), dd.scale(pi(), 0.5)), value)


def atan(x: DD) -> DD:
    """Relative error ATAN_ERROR."""
    return dd.scale(_atan_positive(dd.absolute(x)), np.copysign(1.0, x[0]))


def asin(x: DD) -> DD:
    """asin x = atan(x / sqrt((1 - x)(1 + x))) of |x| < 1, relative error ASIN_ERROR."""
    return atan(dd.div(x, dd.sqrt(dd.mul(dd.add_double(dd.neg(x), 1.0), dd.add_double(x, 1.0)))))


def acos(x: DD) -> DD:
    """acos x = 2 atan sqrt((1 - x)/(1 + x)) of |x| < 1, relative error ASIN_ERROR."""
    quotient = dd.div(dd.add_double(dd.neg(x), 1.0), dd.add_double(x, 1.0))
    return dd.scale(_atan_positive(dd.sqrt(quotient)), 2.0)


def atan2(y: DD, x: DD) -> tuple[DD, Array]:
    """The angle of (x, y); its relative error ASIN_ERROR, or inf where the quotient leaves the safe range."""
    are_zero = [y[0] == 0, x[0] == 0]
    y, x = _safe_together(y, x)
    quotient = dd.div(dd.absolute(y), dd.absolute(x))
    angle = _atan_positive(quotient)
    angle = dd.where(np.signbit(x[0]), dd.add(dd.neg(angle), pi()), angle)
    sizes = [np.abs(y[0]), np.abs(x[0]), quotient[0]]
    zeros = [*are_zero, quotient[0] == 0]
    in_range = [zero | ((size > 2.0**-900) & (size < 2.0**900)) for zero, size in zip(zeros, sizes, strict=True)]
    return dd.scale(angle, np.copysign(1.0, y[0])), np.where(np.logical_and.reduce(in_range), ASIN_ERROR, np.inf)


def _safe_together(y: DD, x: DD) -> tuple[DD, DD]:
    """Both times the power of two by which the larger is about 1, if any is beyond the range of safe products."""
    larger = np.maximum(np.abs(y[0]), np.abs(x[0]))
    if ((larger > 2.0**-800) & (larger < 2.0**800)).all():
        return y, x
    exponent = -np.frexp(larger)[1]
    return (np.ldexp(y[0], exponent), np.ldexp(y[1], exponent)), (np.ldexp(x[0], exponent), np.ldexp(x[1], exponent))
