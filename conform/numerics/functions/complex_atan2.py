"""-i log(u) of u = (x + iy) / sqrt(x^2 + y^2), the angle of a complex point; operands y = a + ib, x = c + id.

x^2 + y^2 is (x + iy)(x - iy), so |u|^2 = |x + iy| / |x - iy|, and the angle of u is half that of (x + iy) / (x - iy),
or opposite to it. All of this is exact but the functions of real numbers at its end. u is algebraic: the parts of its
logarithm are transcendental where they are not 0 (Lindemann), which they are of |u| = 1, and of a positive u.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.functions.complex_mp import half_log, to_fraction, to_real
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.exact import Exact
from conform.numerics.functions.gaussian import Gaussian, conjugate, norm, times

PRECISION = 100  # bits, which tell whole turns apart


def has_pole(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Where x = iy or x = -iy."""
    return ((c == b) & (d == -a)) | ((c == -b) & (d == a))


def undecided(a: DD, b: DD, c: DD, d: DD) -> tuple[DD, float]:
    """No kernel: every element is one for mpmath."""
    return a, np.inf


def _factors(a: Fraction, b: Fraction, c: Fraction, d: Fraction) -> tuple[Gaussian, Gaussian]:
    """x + iy and x - iy."""
    return (c - b, d + a), (c + b, d - a)


def _angle(z: Gaussian) -> mpf:
    return mpmath.atan2(to_real(z[1]), to_real(z[0]))


def _half_turns(plus: Gaussian, minus: Gaussian) -> int:
    """By how many times pi the angle of u differs from half that of plus / minus: that of the square root is between
    -pi/2 and pi/2, and that of u, of which the upper end counts, between -pi and pi."""
    quotient = times(plus, conjugate(minus))
    half = _angle(quotient) / 2
    turns = int(mpmath.nint((_angle(plus) - _angle(times(plus, minus)) / 2 - half) / mpmath.pi))
    is_upper = quotient[1] > 0 or quotient[1] == 0 > quotient[0]
    return -turns if turns == (1 if is_upper else -1) else turns


def real(*operands: mpf) -> mpf:
    plus, minus = _factors(*map(to_fraction, operands))
    return _angle(times(plus, conjugate(minus))) / 2 + _half_turns(plus, minus) * mpmath.pi


def imag(*operands: mpf) -> mpf:
    plus, minus = _factors(*map(to_fraction, operands))
    return half_log(norm(minus) / norm(plus)) / 2


def exact_real(*operands: float) -> Exact:
    plus, minus = _factors(*map(Fraction, operands))
    quotient = times(plus, conjugate(minus))
    if quotient[1] != 0 or quotient[0] < 0:
        return None
    with mpmath.workprec(PRECISION):
        return None if _half_turns(plus, minus) else 0.0


def exact_imag(*operands: float) -> Exact:
    plus, minus = _factors(*map(Fraction, operands))
    return 0.0 if norm(plus) == norm(minus) else None
