"""The last rung for composite ops: whole formulas again at rising precision, until the rounding is decided.

mpmath promises no error bound; a value y at precision p is taken with radius 2^(20-p) |y|, and must be confirmed at
2p: the difference of the two joins the radius.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np

from conform.errors import Unjudged
from conform.interp.numerics.formats import Format
from conform.interp.numerics.rounding import round_fraction

PRECISIONS = (160, 480, 1440)
BEYOND_EXPONENT = 1200  # numbers beyond 2^1200, or below 2^-1200, round alike in every format

mp_exp = np.frompyfunc(mpmath.exp, 1, 1)
mp_log1p = np.frompyfunc(mpmath.log1p, 1, 1)
mp_sqrt = np.frompyfunc(mpmath.sqrt, 1, 1)
to_mpf = np.frompyfunc(lambda x: mpmath.mpf(float(x)), 1, 1)


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
