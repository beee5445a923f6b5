"""The last rung for composite ops: rational results by fractions, others by whole formulas at rising precision.

mpmath promises no error bound; a value y at precision p is taken with radius 2^(20-p) |y|, and must be confirmed at
2p: the difference of the two joins the radius.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isqrt

import mpmath
import numpy as np

from conform.errors import Unjudged
from conform.numerics.formats import Format
from conform.numerics.real import TINY, Real
from conform.numerics.rounding import decide, round_fraction

PRECISIONS = (160, 480, 1440, 4320)
BEYOND_EXPONENT = 1200  # numbers beyond 2^1200, or below 2^-1200, round alike in every format

Rational = Callable[[tuple[int, ...]], Fraction | None]


def decide_exactly(fmt: Format, real: Real, exact: Rational) -> tuple[np.ndarray, Real]:
    """`real` rounded once to `fmt`, and the reals that were rounded.

    `exact(index)` is asked for the exact value where `real` cannot decide; what it says joins the reals.
    """
    value, real, _ = settled_by_fractions(fmt, real, exact)
    return value, real


def resolved(
    fmt: Format, real: Real, formula: Callable[[np.ndarray], np.ndarray], rational: Rational | None = None
) -> tuple[np.ndarray, Real]:
    """`real` [rows, n] rounded to `fmt`: undecided elements by `rational(index)`, which gives None where a result is
    not known to be rational, then rows with others by `formula(row numbers)` on mpmath numbers."""
    value, real, undecided = settled_by_fractions(fmt, real, rational or (lambda index: None))
    if undecided.any():
        rows = np.flatnonzero(undecided.any(axis=-1))
        rounded, hi, lo = decided(fmt, lambda: formula(rows), undecided[rows])
        value, hi_all, lo_all, radius = value.copy(), real.hi.copy(), real.lo.copy(), real.radius.copy()
        value[undecided], hi_all[undecided], lo_all[undecided], radius[undecided] = rounded, hi, lo, 0.0
        real = Real(hi_all, lo_all, radius)
    return value, real


def settled_by_fractions(fmt: Format, real: Real, rational: Rational) -> tuple[np.ndarray, Real, np.ndarray]:
    """(value, real, undecided): `real` rounded to `fmt`, with what `rational(index)` says where that is not decided."""
    value, undecided = decide(fmt, real)
    if not undecided.any():
        return value, real, undecided
    real, undecided = real.map_parts(np.copy), undecided.copy()
    for index in map(tuple, np.argwhere(undecided).tolist()):
        number = rational(index)
        if number is not None:
            value[index], undecided[index] = round_fraction(fmt, number), False
            real.hi[index], real.lo[index], real.radius[index] = as_sum(number)
    return value, real, undecided


def as_sum(number: Fraction) -> tuple[float, float, float]:
    """hi, lo and radius of a number; a number beyond float64 is known to be no more than that (R4)."""
    try:
        hi = float(number)
    except OverflowError:
        return (np.inf if number > 0 else -np.inf), 0.0, 0.0
    lo = float(number - Fraction(hi))
    return hi, lo, abs(lo) * 2.0**-52 + TINY * (number != Fraction(hi) + Fraction(lo))


def root(number: Fraction, degree: int) -> Fraction:
    """The root of a number >= 0 where it is rational, else a Fraction that rounds as the root does in every format.

    An irrational root lies between two multiples of a unit 2^-128 of its size; so do no rounding boundaries (of at
    most 54 bits), and the midpoint of the two stands for it.
    """
    if number == 0:
        return number
    exact = _integer_root(number.numerator, degree), _integer_root(number.denominator, degree)
    if exact[0] ** degree == number.numerator and exact[1] ** degree == number.denominator:
        return Fraction(*exact)
    shift = 128 - (number.numerator.bit_length() - number.denominator.bit_length()) // degree
    scaled = number * Fraction(2) ** (shift * degree)
    return Fraction(2 * _integer_root(int(scaled), degree) + 1, 2) / Fraction(2) ** shift


def _integer_root(n: int, degree: int) -> int:
    """floor(n^(1/degree)), by Newton's method from above."""
    if degree == 1 or n < 2:
        return n
    if degree == 2:
        return isqrt(n)
    guess = 1 << -(-n.bit_length() // degree)
    while (better := ((degree - 1) * guess + n // guess ** (degree - 1)) // degree) < guess:
        guess = better
    return guess


def decided(
    fmt: Format, formula: Callable[[], np.ndarray], wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The elements `wanted` (a mask) of what `formula` computes with mpmath numbers, rounded to `fmt`.

    Returns the rounded values and their float64 hi and lo, one each per wanted element. Raises Unjudged where the
    highest precision does not decide.
    """
    for precision in PRECISIONS:
        with mpmath.workprec(precision):
            coarse = formula()[wanted]
        with mpmath.workprec(2 * precision):
            fine = formula()[wanted]
            rounded = [_rounded(fmt, y, z, precision) for y, z in zip(coarse, fine, strict=True)]
        if all(value is not None for value in rounded):
            hi = np.array([float(z) for z in fine])
            with mpmath.workprec(2 * precision):
                lo = np.array([float(z - h) if np.isfinite(h) else 0.0 for z, h in zip(fine, hi.tolist(), strict=True)])
            return np.array(rounded, dtype=fmt.storage), hi, lo
    raise Unjudged(f"a result of {fmt.name} lies within 2^-{PRECISIONS[-1]} of a rounding boundary")


def _rounded(fmt: Format, coarse: mpmath.mpf, fine: mpmath.mpf, precision: int) -> object | None:
    if not mpmath.isfinite(fine):
        return fmt.storage.type(float(fine))
    radius = mpmath.ldexp(abs(fine), 20 - precision) + 2 * abs(fine - coarse)
    low, high = (round_fraction(fmt, as_fraction(_within_reach(fine + sign * radius))) for sign in (-1, 1))
    return low if low == high and np.signbit(low) == np.signbit(high) else None


def _within_reach(number: mpmath.mpf) -> mpmath.mpf:
    """The number, or in place of one like e^-1e38, which no Fraction can hold, 2^+-BEYOND_EXPONENT with its sign."""
    magnitude = mpmath.mag(number) if number else 0
    if abs(magnitude) <= BEYOND_EXPONENT:
        return number
    beyond = mpmath.ldexp(1, BEYOND_EXPONENT if magnitude > 0 else -BEYOND_EXPONENT)
    return beyond if number > 0 else -beyond


def as_fraction(number: mpmath.mpf) -> Fraction:
    """The exact value of an mpf."""
    sign, mantissa, exponent, _ = number._mpf_
    magnitude = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return -magnitude if sign else magnitude
