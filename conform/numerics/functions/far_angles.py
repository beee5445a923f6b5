"""Angles of any size less multiples of pi/2 (Payne and Hanek, SIGNUM Newsletter 18, 1983), in integers.

|x| = m 2^(24 q) with an integer m of up to 76 bits, in three parts of 24, 25 and 28 bits; 2/pi in digits of 24 bits.
Their products on one place add up exactly in int64; places of 2^24 and more are multiples of 4 and left out, and so are
those below 2^(-24 PLACES).
"""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array

DIGIT_BITS = 24
_MASK = (1 << DIGIT_BITS) - 1
PLACES = 9
"""Places of the fraction: what is left out of x * 2/pi, less than 2^53 on the next place, is below 2^-186. No float64
of 1 or more is nearer to a multiple of pi/2 than 2^-62 (Muller, Elementary Functions, 3rd edition, 11.3.2): this is
2^-124 of the fraction."""
REDUCTION_ERROR = 2.0**-102
"""Relative: 2 u^2 for the last sum of digits (those before it count 2^-23 of theirs), 7 u^2 for the product with pi/2,
of which 2^-106 is missing; 16 u^2 in all."""
_PARTS = 3  # of m
_BEFORE = 6  # digits 0 in front of 2/pi: q is -3 or more


@cache
def _two_over_pi() -> np.ndarray:
    """The digits of 2/pi behind _BEFORE zeros: int64, each below 2^24."""
    count = 1024 // DIGIT_BITS + PLACES + _PARTS
    with mpmath.workprec(DIGIT_BITS * count + 100):
        number = int(mpmath.floor(mpmath.ldexp(2 / mpmath.pi, DIGIT_BITS * count)))
    digits = [number >> (DIGIT_BITS * (count - 1 - j)) & _MASK for j in range(count)]
    return np.array([0] * _BEFORE + digits, np.int64)


@cache
def _half_pi() -> tuple[np.float64, np.float64]:
    with mpmath.workprec(200):
        hi, lo = dd.constant(mpmath.pi / 2)
    return np.float64(hi), np.float64(lo)


def reduced(x: Array) -> tuple[Array, DD]:
    """(k modulo 4, r): x = k pi/2 + r, |r| <= pi/4 (1 + 2^-20), within REDUCTION_ERROR, of finite float64 [n] with
    |x| >= 1."""
    places = _places(np.abs(x))
    for t in range(PLACES, 0, -1):  # digits of -2^23 .. 2^23
        carry = (places[t] + (1 << (DIGIT_BITS - 1))) >> DIGIT_BITS
        places[t] -= carry << DIGIT_BITS
        places[t - 1] += carry
    fraction = np.zeros(x.shape), np.zeros(x.shape)
    for t in range(PLACES, 0, -1):
        digit = places[t] * 2.0 ** (-DIGIT_BITS * t)
        total, error = fast_two_sum(digit, fraction[0])  # what is below a digit is at most half a unit of it
        fraction = fast_two_sum(total, error + fraction[1])
    sign = np.where(x < 0, -1, 1)
    return sign * places[0] & 3, dd.scale(dd.mul(fraction, _half_pi()), sign)


def _places(x: Array) -> list[Array]:
    """x * 2/pi modulo 2^24: the places of 1, 2^-24, 2^-48, ..., int64 [n] below 2^53."""
    significand, exponent = np.frexp(x)
    q, shift = np.divmod(exponent.astype(np.int64) - 53, DIGIT_BITS)
    integer = np.ldexp(significand, 53).astype(np.int64)
    high, low = (integer >> DIGIT_BITS) << shift, (integer & _MASK) << shift  # below 2^53 and 2^48
    middle = (high & _MASK) + (low >> DIGIT_BITS)
    parts = (low & _MASK, middle, high >> DIGIT_BITS)
    digits, first = _two_over_pi(), q - 1 + _BEFORE
    return [sum(part * digits[first + t + i] for i, part in enumerate(parts)) for t in range(PLACES + 1)]
