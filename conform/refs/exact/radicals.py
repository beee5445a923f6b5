"""Rational powers of rational numbers where they are rational."""

from __future__ import annotations

from fractions import Fraction

from flint import fmpz


def integer_root(n: int, degree: int) -> int | None:
    """The root of an integer >= 0 if it is an integer."""
    if n <= 1:
        return n
    if degree >= n.bit_length():  # 1 < root < 2
        return None
    root = int(fmpz(n).root(degree))
    return root if root**degree == n else None


def rational_power(x: Fraction, p: Fraction) -> Fraction | None:
    """x^p of x > 0 if it is rational: with p = a / b in lowest terms, if x is the b-th power of a rational."""
    numerator, denominator = (integer_root(n, p.denominator) for n in (x.numerator, x.denominator))
    if numerator is None or denominator is None:
        return None
    return Fraction(numerator, denominator) ** p.numerator


def rational_sqrt(x: Fraction) -> Fraction | None:
    """The square root of x >= 0 if it is rational."""
    return rational_power(x, Fraction(1, 2))
