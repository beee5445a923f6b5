"""Powers, roots and angles of two numbers: x^y, sqrt(x^2 + y^2) and the angle of the point (x, y)."""

from __future__ import annotations

from math import copysign, inf, isinf, isnan, isqrt, nan

from flint import arb

from conform.refs.exact.reals import round_real, scale_to_integers
from conform.refs.exact.rounding import dyadic, round_dyadic, round_sqrt

# An odd number of more bits is neither in a format nor halfway between two of its numbers (float64: 53 and 54 bits).
MOST_EXACT_BITS = 64


def round_pow(dtype: str, x: float, y: float) -> float:
    """x^y with the special cases of C99 F.9.4.4: 1^y and x^0 are 1 even for NaN (P42)."""
    if x == 1 or y == 0:
        return 1.0
    if isnan(x) or isnan(y):
        return nan
    odd = abs(y) % 2 == 1  # exact for positive y only: -(1 - 2^-53) % 2 is 1; and inf % 2 is NaN
    sign = copysign(1.0, x) if odd else 1.0
    if x == 0 or isinf(x) or isinf(y):
        return sign * _pow_limit(abs(x), y)
    if x < 0 and not y.is_integer():
        return nan
    return sign * _round_power(dtype, abs(x), y)


def _pow_limit(x: float, y: float) -> float:
    """x^y of an x that is 0 or infinite, or an infinite y; (-1)^inf is 1."""
    if x == 1:
        return 1.0
    return inf if (x > 1) == (y > 0) else 0.0


def _round_power(dtype: str, x: float, y: float) -> float:
    """x^y = e^(y log x) of positive x. Clamped at 1200: e^1200 > 2^1731 overflows every format, e^-1200 underflows."""
    exactly = _dyadic_power(x, y)
    if exactly is not None:
        return round_dyadic(dtype, *exactly)
    return round_real(dtype, lambda: (arb(x).log() * arb(y)).min(arb(1200)).max(arb(-1200)).exp())


def _dyadic_power(x: float, y: float) -> tuple[int, int] | None:
    """x^y of positive x as (m, e), m * 2^e; None if it is no such number, or one of an m of too many bits to matter.

    With y = p / 2^k in lowest terms, x^y is rational only if x has a rational 2^k-th root: x^p has one, and p is odd
    where k > 0. With that root as m * 2^e, m odd, its p-th power is such a number unless p < 0 and m > 1.
    """
    m, e = dyadic(x)
    trailing_zeros = (m & -m).bit_length() - 1
    m, e = m >> trailing_zeros, e + trailing_zeros
    p, denominator = y.as_integer_ratio()
    while denominator > 1:
        root = isqrt(m)
        if root * root != m or e % 2 == 1:
            return None
        m, e, denominator = root, e // 2, denominator // 2
    if m == 1:
        return 1, e * p
    if p < 0 or p * (m.bit_length() - 1) > MOST_EXACT_BITS:
        return None
    return m**p, e * p


def round_hypot(dtype: str, x: float, y: float) -> float:
    """sqrt(x^2 + y^2); infinite if an operand is, even beside a NaN (C99 F.9.4.3)."""
    if isinf(x) or isinf(y):
        return inf
    if isnan(x) or isnan(y):
        return nan
    (a, b), exponent = scale_to_integers([x, y])  # the exponent is not positive
    return round_sqrt(dtype, a * a + b * b, 1 << (-2 * exponent))


def round_atan2(dtype: str, y: float, x: float) -> float:
    """The angle of the point (x, y), in [-pi, pi] with the sign of y (C99 F.9.1.4).

    No other angle than 0 is algebraic: the tangent of an algebraic number but 0 is transcendental (Lindemann).
    """
    if isnan(x) or isnan(y):
        return nan
    eighths = _eighths_of_a_turn(y, x)
    if eighths == 0:
        return copysign(0.0, y)
    if eighths is not None:
        return copysign(round_real(dtype, lambda: arb.pi() * eighths / 4), y)
    return round_real(dtype, lambda: arb.atan2(arb(y), arb(x)))


def round_angle(dtype: str, x: float) -> float:
    """The angle of the real number x: pi below zero, else +0, of -0 too (P74)."""
    return round_atan2(dtype, 0.0, -1.0) if x < 0 else 0.0


def _eighths_of_a_turn(y: float, x: float) -> int | None:
    """The angle's size in units of pi / 4, if a coordinate is zero or infinite."""
    if isinf(x) and isinf(y):
        return 1 if x > 0 else 3
    if y == 0 or isinf(x):
        return 0 if copysign(1.0, x) > 0 else 4
    return 2 if x == 0 or isinf(y) else None
