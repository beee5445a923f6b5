"""Complex numbers with rational parts: exact arithmetic, and the roots that are such numbers again."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import mpmath

Gaussian = tuple[Fraction, Fraction]


def norm(z: Gaussian) -> Fraction:
    """|z|^2"""
    return z[0] ** 2 + z[1] ** 2


def conjugate(z: Gaussian) -> Gaussian:
    return z[0], -z[1]


def times(a: Gaussian, b: Gaussian) -> Gaussian:
    return a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]


def inverse(a: Gaussian) -> Gaussian:
    return a[0] / norm(a), -a[1] / norm(a)


def power(z: Gaussian, n: int) -> Gaussian:
    result = (Fraction(1), Fraction(0))
    for digit in f"{abs(n):b}":
        result = times(result, result)
        result = times(result, z) if digit == "1" else result
    return inverse(result) if n < 0 else result


# A dyadic number is scaled to a Gaussian integer, whose roots are Gaussian integers or have an irrational part.


def _scaled(z: Gaussian, degree: int) -> tuple[int, int, int]:
    """The parts of z times 2^(degree k), which are integers, and k."""
    shift = max(part.denominator.bit_length() - 1 for part in z)
    k = -(-shift // degree)
    x, y = (int(part * 2 ** (degree * k)) for part in z)
    return x, y, k


def square_root(z: Gaussian) -> Gaussian | None:
    """The principal square root of a Gaussian dyadic number, y >= 0 where x < 0, if that is one."""
    x, y, k = _scaled(z, 2)
    r = isqrt(x * x + y * y)
    p_square, odd = divmod(r + abs(x), 2)
    p = isqrt(p_square)
    if r * r != x * x + y * y or odd or p * p != p_square:
        return None
    q = abs(y) // (2 * p) if p else 0
    real, imag = (p, q) if x >= 0 else (q, p)
    return Fraction(real, 2**k), Fraction(imag if y >= 0 else -imag, 2**k)


def cube_root(z: Gaussian) -> Gaussian | None:
    """The principal cube root of a Gaussian dyadic number, y >= 0 where x < 0, if that is one."""
    x, y, k = _scaled(z, 3)
    with mpmath.workprec(max(x.bit_length(), y.bit_length()) + 20):
        size, turn = mpmath.cbrt(mpmath.hypot(x, y)), mpmath.atan2(y, x) / 3
        near = int(mpmath.nint(size * mpmath.cos(turn))), int(mpmath.nint(size * mpmath.sin(turn)))
    root = Fraction(near[0]), Fraction(near[1])
    return (root[0] / 2**k, root[1] / 2**k) if power(root, 3) == (x, y) else None
