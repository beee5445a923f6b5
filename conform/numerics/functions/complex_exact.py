"""Where a part of a complex function is a dyadic rational or a zero, as in exact.py; operands as for the kernels.

For the transcendental functions "nowhere else" is the theorem of Lindemann and Weierstrass: a part is a linear form
in e^(+-x +- iy) with algebraic coefficients, which vanishes only where all of these do; where a part of an inverse
function is rational, the other function's parts relate e to it algebraically. Powers with a real exponent are
Gaussian rationals or have a part that is 0; of others (Gelfond and Baker) only those of 1, -1, i and -i have zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from conform.numerics.functions import exact, gaussian
from conform.numerics.functions.exact import LONGEST_POWER_BITS, Exact
from conform.numerics.functions.gaussian import Gaussian

Condition = Callable[[float, float], bool]


def zero_where(condition: Condition, otherwise: Callable[[float, float], Exact] = exact.nowhere) -> Callable:
    """0 where the condition holds, else what `otherwise` says."""
    return lambda x, y: 0.0 if condition(x, y) else otherwise(x, y)


zero_on_real_axis = zero_where(lambda x, y: y == 0)
zero_on_imag_axis = zero_where(lambda x, y: x == 0)
zero_on_both_axes = zero_where(lambda x, y: x == 0 or y == 0)


def at_origin(value: int) -> Callable[[float, float], Exact]:
    """A result at 0 alone."""
    return lambda x, y: Fraction(value) if x == y == 0 else None


def on_real_axis(function: Callable[[float], Exact]) -> Callable[[float, float], Exact]:
    """The real function's exact cases where y = 0."""
    return lambda x, y: function(x) if y == 0 else None


def _norm(x: float, y: float) -> Fraction:
    return Fraction(x) ** 2 + Fraction(y) ** 2


def log_abs(x: float, y: float) -> Exact:
    """0 on the unit circle, on which no dyadic numbers lie but 1, -1, i and -i."""
    return 0.0 if _norm(x, y) == 1 else None


def arg(x: float, y: float) -> Exact:
    """0 on the positive real axis."""
    return 0.0 if y == 0 and x > 0 else None


def log_abs_one_plus(x: float, y: float) -> Exact:
    return 0.0 if (1 + Fraction(x)) ** 2 + Fraction(y) ** 2 == 1 else None


def log2_abs(x: float, y: float) -> Exact:
    """k/2 where |z|^2 = 2^k."""
    norm = _norm(x, y)
    if norm.numerator.bit_count() != 1:
        return None
    return Fraction(norm.numerator.bit_length() - norm.denominator.bit_length(), 2) or 0.0


def log10_abs(x: float, y: float) -> Exact:
    """k/2 where |z|^2 = 10^k, k >= 0: a negative power of ten is no dyadic number."""
    norm = _norm(x, y)
    if norm.denominator != 1:
        return None
    k = len(str(norm.numerator)) - 1
    return (Fraction(k, 2) or 0.0) if norm.numerator == 10**k else None


def sigmoid_real(x: float, y: float) -> Exact:
    """1/2 on the imaginary axis."""
    return Fraction(1, 2) if x == 0 else None


# Quotients: always rational


def _on_one_scale(*numbers: float) -> list[int]:
    """The numbers times a power of two that makes all of them integers."""
    ratios = [number.as_integer_ratio() for number in numbers]
    scale = max(denominator for _, denominator in ratios)
    return [numerator * (scale // denominator) for numerator, denominator in ratios]


def reciprocal_real(x: float, y: float) -> Exact:
    return quotient_real(1.0, 0.0, x, y)


def reciprocal_imag(x: float, y: float) -> Exact:
    return quotient_imag(1.0, 0.0, x, y)


def sgn_real(x: float, y: float) -> Exact:
    """On the axes; elsewhere x / |z| is irrational, or has the odd denominator of a Pythagorean triple."""
    return 0.0 if x == 0 else Fraction(1) if y == 0 else None


def sgn_imag(x: float, y: float) -> Exact:
    return sgn_real(y, x)


def quotient_real(a: float, b: float, c: float, d: float) -> Exact:
    a, b, c, d = _on_one_scale(a, b, c, d)
    return Fraction(a * c + b * d, c * c + d * d) or 0.0


def quotient_imag(a: float, b: float, c: float, d: float) -> Exact:
    a, b, c, d = _on_one_scale(a, b, c, d)
    return Fraction(b * c - a * d, c * c + d * d) or 0.0


# Roots and powers


def _part_of_root(index: int, inverse: bool) -> Callable[[float, float], Exact]:
    """An exact part of sqrt z or 1 / sqrt z: 0 on the axis, or a part of a Gaussian rational."""

    def part(x: float, y: float) -> Exact:
        if y == 0 and (x >= 0) == (index == 1):
            return 0.0
        root = gaussian.square_root((Fraction(x), Fraction(y)))
        return None if root is None else (gaussian.inverse(root) if inverse else root)[index] or 0.0

    return part


sqrt_real, sqrt_imag = (_part_of_root(index, inverse=False) for index in (0, 1))
rsqrt_real, rsqrt_imag = (_part_of_root(index, inverse=True) for index in (0, 1))


def cbrt_real(x: float, y: float) -> Exact:
    """Half the root of |x| on the negative real axis, or of a Gaussian cube: where a is dyadic and b is not, x = a^3 -
    3ab^2 makes b^2 rational, so y = b (3a^2 - b^2) is not but where it is 0, and x = -8a^3."""
    if y == 0:
        return exact.cbrt(x) if x >= 0 else _half_of_root(-x)
    return _part_of_cube_root(x, y, 0)


def cbrt_imag(x: float, y: float) -> Exact:
    """Likewise half the root of y on the imaginary axis, or of a Gaussian cube."""
    if y == 0:
        return 0.0 if x >= 0 else None
    return _half_of_root(y) if x == 0 else _part_of_cube_root(x, y, 1)


def _half_of_root(x: float) -> Exact:
    root = exact.cbrt(x)
    return None if root is None else Fraction(root) / 2


def _part_of_cube_root(x: float, y: float, index: int) -> Exact:
    root = gaussian.cube_root((Fraction(x), Fraction(y)))
    return None if root is None else root[index] or 0.0


def _eighths(x: float, y: float) -> int | None:
    """The angle of z, y >= 0, in eighths of a turn; None where it is no whole number of them."""
    if y == 0:
        return 0 if x > 0 else 4
    return {0.0: 2, y: 1, -y: 3}.get(x)


def _part_of_power(index: int) -> Callable[[float, float, float, float], Exact]:
    def part(x: float, y: float, c: float, d: float) -> Exact:
        if c == d == 0:
            return (Fraction(1), 0.0)[index]
        if c == 1 and d == 0:
            return Fraction((x, y)[index]) or 0.0
        eighths = _eighths(x, y)
        on_circle = {abs(x), abs(y)} == {0.0, 1.0}  # no other dyadic numbers lie there
        if d != 0 and not on_circle:
            return None
        if eighths is not None:
            turn = Fraction(c) * eighths % 8
            if turn % 4 == (2, 0)[index]:
                return 0.0
            if turn % 2 == 0 and eighths % 2 == 0 and (d == 0 or eighths == 0):
                size = exact.pow(max(abs(x), y), c) if d == 0 else Fraction(1)
                return None if size is None else Fraction(size) * (1 if turn < 4 else -1)
        return None if d != 0 else _dyadic_power(x, y, Fraction(c), index)

    return part


def _dyadic_power(x: float, y: float, c: Fraction, index: int) -> Exact:
    z: Gaussian | None = Fraction(x), Fraction(y)
    for _ in range(c.denominator.bit_length() - 1):
        z = gaussian.square_root(z)
        if z is None:
            return None
    length = max(max(part.numerator.bit_length(), part.denominator.bit_length()) for part in z)
    if abs(c.numerator) * length > LONGEST_POWER_BITS:
        return None
    return gaussian.power(z, c.numerator)[index] or 0.0


pow_real, pow_imag = _part_of_power(0), _part_of_power(1)
