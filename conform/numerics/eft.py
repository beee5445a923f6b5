"""Error-free transformations: a float64 operation as its rounded result and its exact error.

All functions take float64 arrays (or scalars) and rely only on IEEE 754 round-to-nearest of +, -, *: numpy's float64
arithmetic on every platform. An intermediate that overflows shows as a NaN or infinite error term. Callers silence
numpy's floating-point warnings.
Sources: Knuth, The Art of Computer Programming 2, 4.2.2 (two_sum); Dekker, Numer. Math. 18, 1971 (fast_two_sum,
two_prod, Veltkamp's split); Boldo and Melquiond, IEEE Trans. Comput. 57, 2008 (round to odd).
"""

from __future__ import annotations

import numpy as np

SPLITTER = 2.0**27 + 1.0
SAFE_PRODUCT = 2.0**-960  # two_prod is exact where |a * b| is at least this (or a factor is zero)


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(s, e) with s = RN(a + b) and s + e = a + b, unless a + b overflows; sums of subnormals are exact."""
    s = a + b
    virtual = s - a
    return s, (a - (s - virtual)) + (b - virtual)


def fast_two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`two_sum` where |a| >= |b| or a is zero."""
    s = a + b
    return s, b - (s - a)


def two_prod(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(p, e) with p = RN(a * b) and p + e = a * b where |p| >= SAFE_PRODUCT or a factor is zero.

    e is not finite where |a| or |b| exceeds 2^996 or the product overflows.
    """
    p = a * b
    scaled = SPLITTER * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = SPLITTER * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    return p, a_low * b_low - (((p - a_high * b_high) - a_low * b_high) - a_high * b_low)


def nudged_to_odd(x: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """x + rest rounded to odd: x where rest is 0, else of the two float64 around the sum the one with odd significand.

    Needs |rest| <= ulp(x) / 2. Rounding the result to at most 51 bits, in any direction, is rounding x + rest: the odd
    last bit remembers that, and on which side, something was cut off (Boldo and Melquiond, theorem 1).
    """
    inexact = rest != 0
    inward = inexact & (np.signbit(rest) != np.signbit(x))
    bits = np.asarray(x, np.float64).view(np.int64)
    return ((bits - inward) | inexact).view(np.float64)


def odd_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b rounded to odd."""
    return nudged_to_odd(*two_sum(a, b))


def exponent_of(hi: np.ndarray, lo: np.ndarray) -> np.ndarray:
    """floor(log2|hi + lo|) (int) where |lo| <= ulp(hi) / 2 and hi is finite; less than -1074 for zero."""
    significand, exponent = np.frexp(hi)
    below_power = (np.abs(significand) == 0.5) & (lo != 0) & (np.signbit(lo) != np.signbit(hi))
    return np.where(hi == 0, -2000, exponent - 1 - below_power)
