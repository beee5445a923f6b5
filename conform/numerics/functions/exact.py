"""Where the functions are dyadic rationals, zeros or poles: the cases that no rising precision decides.

Each function returns a Fraction, or a float where the sign of a zero, an infinity or a NaN is the answer, or a closed
form in mpmath where an operand's signed zero decides, else None. For the transcendental ones "nowhere else" is the
theorem of Lindemann and Weierstrass: e^x, and with it log, sin, sinh, ... and their inverses, is transcendental at
every algebraic x but those listed. The algebraic ones are decided on integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import inf, isinf, isqrt

import mpmath

Exact = float | Fraction | Callable[[], mpmath.mpf] | None

LONGEST_POWER_BITS = 4096  # longer integers are no rounding boundary of any format (at most 54 bits)


def nowhere(*operands: float) -> Exact:
    """No dyadic result."""
    return None


def values(table: dict[float, float]) -> Callable[[float], Exact]:
    """A finite list of results; a zero operand of an odd function keeps its sign."""

    def exact(x: float) -> Exact:
        result = table.get(x)
        return math.copysign(0.0, x) if result == 0 and x == 0 else result

    return exact


def odd_zero(x: float) -> Exact:
    """f(0) = 0 with the sign of the operand."""
    return x if x == 0 else None


def exp2(x: float) -> Exact:
    """2^n."""
    return Fraction(2) ** int(x) if x == math.floor(x) and abs(x) < 2200 else None


def log2(x: float) -> Exact:
    """log2 2^n = n."""
    if x == 0:
        return -inf
    significand, exponent = math.frexp(x)
    return Fraction(exponent - 1) if significand == 0.5 else None


def log10(x: float) -> Exact:
    """log10 10^n = n, n >= 0: a negative power of ten is no dyadic number."""
    if x == 0:
        return -inf
    n = round(math.log10(x))
    return Fraction(n) if n >= 0 and Fraction(x) == 10**n else None


def reciprocal(x: float) -> Exact:
    """Always rational."""
    return math.copysign(inf, x) if x == 0 else 1 / Fraction(x)


def _dyadic(x: float) -> tuple[int, int]:
    """x = m 2^e with m odd, x != 0."""
    numerator, denominator = x.as_integer_ratio()
    shift = (numerator & -numerator).bit_length() - 1
    return numerator >> shift, shift - (denominator.bit_length() - 1)


def _root_of_square(m: int, e: int) -> tuple[int, int] | None:
    root = isqrt(m)
    return None if e % 2 or root * root != m else (root, e // 2)


def rsqrt(x: float) -> Exact:
    """(4^n)^(-1/2) = 2^-n; rSqrt(+-0) = +-inf (IEEE 754-2019, 9.2.1)."""
    if x == 0:
        return math.copysign(inf, x)
    m, e = _dyadic(x)
    return Fraction(2) ** (-e // 2) if m == 1 and e % 2 == 0 else None


def cbrt(x: float) -> Exact:
    """Cubes of dyadic numbers."""
    if x == 0:
        return x
    m, e = _dyadic(abs(x))
    root = round(m ** (1 / 3))
    if e % 3 or root**3 != m:
        return None
    return int(math.copysign(1, x)) * Fraction(2) ** (e // 3) * root


def hypot(x: float, y: float) -> Exact:
    """Pythagorean pairs, of rationals."""
    square = Fraction(x) ** 2 + Fraction(y) ** 2
    numerator, denominator = isqrt(square.numerator), isqrt(square.denominator)
    perfect = numerator**2 == square.numerator and denominator**2 == square.denominator
    return Fraction(numerator, denominator) if perfect else None


def pow(x: float, y: float) -> Exact:  # noqa: A001 - the function's name
    """Rational powers with few bits; zeros and poles by C99 F.9.4.4."""
    if y == 0:
        return Fraction(1)
    if isinf(x) or isinf(y):
        return None
    sign = -1 if x < 0 and abs(y) % 2 == 1 else 1
    if x == 0:
        odd = abs(y) % 2 == 1
        size = 0.0 if y > 0 else inf
        return math.copysign(size, x) if odd else size
    m, e = _dyadic(abs(x))
    power, halvings = _dyadic(y)
    while halvings < 0:
        root = _root_of_square(m, e)
        if root is None:
            return None
        (m, e), halvings = root, halvings + 1
    if power.bit_length() + halvings > 13:
        return None if m != 1 or power.bit_length() + halvings > 60 else _power_of_two(sign, e * (power << halvings))
    n = power << halvings
    if m == 1:
        return _power_of_two(sign, e * n)
    if n < 0 or m.bit_length() * n > LONGEST_POWER_BITS:
        return None
    return sign * Fraction(m) ** n * Fraction(2) ** (e * n)


def _power_of_two(sign: int, exponent: int) -> Fraction:
    return sign * Fraction(2) ** max(min(exponent, 2200), -2200)


def atan2(y: float, x: float) -> Exact:
    """Where a zero or an infinity decides: +-0 for a positive x, else multiples of pi/4 with the sign of y (C99
    F.9.1.4)."""
    if y != 0 and not isinf(y) and not isinf(x):
        return None
    if not isinf(y) and math.copysign(1.0, x) > 0:
        return math.copysign(0.0, y)
    quarters = (1 if x > 0 else 3) if isinf(x) and isinf(y) else 2 if isinf(y) else 4
    sign = int(math.copysign(1, y))
    return lambda: sign * quarters * mpmath.pi / 4


def xlogy(x: float, y: float) -> Exact:
    """0 log y = 0; x log 1 = 0 with the sign of x; x log 0 infinite."""
    if x == 0:
        return 0.0
    if y == 1:
        return math.copysign(0.0, x)
    return -math.copysign(inf, x) if y == 0 else None


def logaddexp2(x: float, y: float) -> Exact:
    """log2(2^x + 2^x) = x + 1; else 1 + 2^(x - y) is no power of 2 with a rational exponent, which are independent."""
    return Fraction(x) + 1 if x == y and not isinf(x) else None


def xlog1py(x: float, y: float) -> Exact:
    """0 log1p y = 0; x log1p 0 = 0 with the sign of the product; x log1p -1 infinite."""
    if x == 0:
        return 0.0
    if y == 0:
        return math.copysign(0.0, x) * math.copysign(1.0, y)
    return -math.copysign(inf, x) if y == -1 else None


def sinc(x: float) -> Exact:
    """1 at 0; 0 at the other integers."""
    if x == 0:
        return Fraction(1)
    return 0.0 if x == math.floor(x) else None


def lgamma(x: float) -> Exact:
    """0 at 1 and 2; +inf at the poles 0, -1, -2, ..."""
    if x in (1.0, 2.0):
        return 0.0
    return inf if x <= 0 and x == math.floor(x) else None


def digamma(x: float) -> Exact:
    """The pole at 0: -inf from the right, +inf from the left, by the sign of the zero."""
    return math.copysign(inf, -x) if x == 0 else None
