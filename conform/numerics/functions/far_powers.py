"""Parts of complex powers (x + iy)^(c + id) whose angle or exponent double-double numbers do not hold: both are made by
MPFR, each with a bound, and the angle is taken less multiples of pi / 2.

MPFR rounds correctly, so that every step is off by half a unit of its precision at most. The logarithm of a base that
many exponents share is taken once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import gmpy2
import numpy as np
from gmpy2 import mpfr

from conform.numerics.chunks import CHUNK
from conform.numerics.functions import complex_kernels as kernels
from conform.numerics.functions import dd
from conform.numerics.functions.dd import Array
from conform.numerics.functions.exponential import EXP_ERROR, exp_scaled
from conform.numerics.scaled import Scaled

GOAL_BITS = 128  # to which exponent and angle are known, absolutely
STEP_BITS = 64  # of the precisions that are used
LOGARITHM_BITS = 10  # above those of a factor: the parts of the logarithm of a double are below 2^10
FAR_EXPONENT = 1400.0  # e^-1400 times any sine is 0 in every format, and e^1400 infinite
SMALL_SINE = 2.0**-900  # times a sine above this
SHORT_ANGLE = -200  # of an angle below 2^-200 the sine is the angle, to 2^-400 of it
PAIR_ERROR = 2.0**-105  # what a number has beside its two doubles
FEW_BITS = 192  # of an angle, of which MPFR makes a tangent quickly
SQUARE_BITS = 106  # of the square of a double


class Turned(NamedTuple):
    """The exponent, to within 2^-105 of itself and `spent`; and the angle, quarters of a turn and (hi + lo) 2^binade,
    to within 2^-105 of itself and lost 2^binade."""

    exponent: float
    rest_of_exponent: float
    spent: float
    quarters: int
    hi: float
    lo: float
    binade: int
    lost: float


UNKNOWN = Turned(0.0, 0.0, np.inf, 0, 0.5, 0.0, 0, np.inf)


def real(*operands: Array) -> Scaled:
    """e^exponent cos angle"""
    return _part(0, *operands)


def imag(*operands: Array) -> Scaled:
    """e^exponent sin angle"""
    return _part(3, *operands)


def _part(ahead: int, *operands: Array) -> Scaled:
    """e^exponent times the cosine of the angle and so many quarters of a turn: three for a sine."""
    columns = zip(*(operand.tolist() for operand in operands), strict=True)
    exponent, its_rest, spent, quarters, hi, lo, binade, lost = map(
        np.array, zip(*(turned(*each) for each in columns), strict=True)
    )
    held = np.maximum(binade, SHORT_ANGLE)
    angle = np.ldexp(hi, held), np.ldexp(lo, held)
    quarters = (quarters + ahead) % 4
    (cosine, cosine_error), (sine, sine_error) = kernels.cos(angle), kernels.sin(angle)
    is_sine = quarters % 2 == 1
    factor = dd.scale(dd.where(is_sine, sine, cosine), np.where((quarters == 1) | (quarters == 2), -1.0, 1.0))
    lost = np.where(is_sine, lost / np.abs(hi), np.ldexp(lost, binade))  # of a cosine little depends on the angle
    size, n = exp_scaled((exponent, its_rest))
    error = np.where(is_sine, sine_error, cosine_error) + spent + np.abs(exponent) * PAIR_ERROR + lost + PAIR_ERROR
    shift = np.where(is_sine, binade - held, 0)
    is_sure = (exponent < FAR_EXPONENT) | (np.ldexp(np.abs(factor[0]), shift) > SMALL_SINE)
    total = np.where(is_sure & (spent + lost < 2.0**-20), 1.25 * error + EXP_ERROR + 2.0**-101, np.inf)
    return Scaled.of(*dd.mul(size, factor), total, n + shift)


@lru_cache(maxsize=CHUNK)
def turned(x: float, y: float, c: float, d: float) -> Turned:
    """Size and angle of the base, L and A, are off by 2^(3-p) of themselves, of which c L - d A and d L + c A keep
    2^(4-p) of both terms together, and as much is lost of the multiple of pi / 2."""
    if x == 0 and y == 0:
        return UNKNOWN
    precision = _precision(max(abs(c), abs(d)))
    size, angle, quarter = _logarithm(x, y, precision)
    with gmpy2.context(precision=precision):
        first, second, third, fourth = c * size, d * angle, d * size, c * angle
        exponent, whole = first - second, third + fourth
        quarters = gmpy2.rint(whole / quarter)
        rest = whole - quarters * quarter
        unit = gmpy2.exp2(6 - precision)
        spent, lost = float((abs(first) + abs(second)) * unit), (abs(third) + abs(fourth)) * unit
        held = min(max(exponent, -FAR_EXPONENT), FAR_EXPONENT)
        at, its_rest = _pair(held)
        binade = gmpy2.get_exp(rest) if rest else 0  # of 0 the sine is not known, and the cosine is
        hi, lo = _pair(gmpy2.div_2exp(rest, binade) if binade > 0 else gmpy2.mul_2exp(rest, -binade))
        return Turned(at, its_rest, spent, int(quarters) % 4, hi, lo, binade, float(lost * gmpy2.exp2(-binade)))


def _precision(size: float) -> int:
    """With which parts of a logarithm times a number of `size` keep GOAL_BITS behind the point."""
    bits = GOAL_BITS + LOGARITHM_BITS + max(int(np.frexp(size)[1]), 0)
    return -(-bits // STEP_BITS) * STEP_BITS


@lru_cache(maxsize=64)
def _logarithm(x: float, y: float, precision: int) -> tuple[mpfr, mpfr, mpfr]:
    """(log |x + iy|, the angle, pi / 2), off by 2^(3-precision) of themselves. The squares of doubles are exact."""
    with gmpy2.context(precision=max(precision, SQUARE_BITS)):
        squares = [mpfr(x) ** 2, mpfr(y) ** 2]
        square = gmpy2.fsum(squares)
        is_near_1 = 0.5 < square < 2
        twice = gmpy2.log1p(gmpy2.fsum([*squares, mpfr(-1)])) if is_near_1 else gmpy2.log(square)
        return twice / 2, _angle(mpfr(x), mpfr(y), square), gmpy2.const_pi() / 2


def _angle(x: mpfr, y: mpfr, square: mpfr) -> mpfr:
    """atan2(y, x) at the precision of the context; square: x^2 + y^2. At many bits from an angle a of few: the sine t
    of what is missing is (y cos a - x sin a) / |x + iy|, below 2^-190, and the next term of its arcsine is t^7."""
    with gmpy2.context(precision=FEW_BITS):
        start = gmpy2.atan2(y, x)
    if gmpy2.get_context().precision <= FEW_BITS:
        return start
    sine, cosine = gmpy2.sin_cos(start)
    t = (y * cosine - x * sine) / gmpy2.sqrt(square)
    return start + (t + t**3 / 6 + 3 * t**5 / 40)


def _pair(number: mpfr) -> tuple[float, float]:
    hi = float(number)
    return hi, float(number - hi)
