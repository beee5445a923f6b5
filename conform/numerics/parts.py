"""An exact number as the parts of a Real, and Reals written into others."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from conform.numerics.real import BELOW_FLOAT64, Real
from conform.numerics.rounding import Ratio

LARGEST = float(np.finfo(np.float64).max)
EXPONENT_BEYOND = 1024  # that of the least power of two beyond float64


class Parts(NamedTuple):
    """One element of a Real (`write` puts it there)."""

    hi: float
    lo: float = 0.0
    radius: float = 0.0
    rest: float | None = None


def parts_of(
    number: Fraction | Ratio, margin: Fraction | Ratio = Fraction(0), zero_sign: float = 1.0
) -> Parts:
    """The number, which is known to within `margin`; the radius is 0 only where the parts are the number itself.

    An exact zero takes the sign of `zero_sign`. Numbers that round to infinity are held as R2 and R4 say.
    """
    numerator, denominator = int(number.numerator), int(number.denominator)
    if numerator == 0 and margin.numerator == 0:
        return Parts(math.copysign(0.0, zero_sign))
    sign = 1.0 if numerator > 0 else -1.0
    if abs(numerator) >= denominator << EXPONENT_BEYOND:
        return Parts(sign * math.inf, radius=math.inf)
    try:
        hi = numerator / denominator
    except OverflowError:
        hi = sign * LARGEST
    numerator, denominator = _less(numerator, denominator, hi)
    lo = numerator / denominator
    numerator, denominator = _less(numerator, denominator, lo)
    if not (numerator or margin.numerator):
        return Parts(hi, lo)
    own, its = int(margin.numerator), int(margin.denominator)
    error = (abs(numerator) * its + own * denominator) / (denominator * its)
    units = numerator * BELOW_FLOAT64.denominator
    rest = units / denominator if 0 < abs(units) < denominator else None
    return Parts(hi, lo, math.nextafter(error, math.inf), rest)


def _less(numerator: int, denominator: int, number: float) -> tuple[int, int]:
    """The fraction less `number`, which may not be in lowest terms."""
    taken, parts = number.as_integer_ratio()
    return numerator * parts - taken * denominator, denominator * parts


def write(whole: Real, place: object, part: Real | Parts) -> None:
    """whole[place] = part, in place."""
    whole.hi[place], whole.lo[place], whole.radius[place] = part.hi, part.lo, part.radius
    if part.rest is not None and whole.rest is None:
        whole.rest = np.zeros_like(whole.hi)
    if whole.rest is not None:
        whole.rest[place] = 0.0 if part.rest is None else part.rest
