"""What honest implementations of the orthogonal polynomials may lose: by the recurrence, and of Chebyshev's between -1
and 1 by the cosines and sines that torch documents for degrees from 6 on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.formulas.recurrences import POLYNOMIALS
from conform.numerics.ball import Ball, chosen

ACOS_ULPS = 4.0  # OpenCL C 3.0, section 7.4
LAST_RECURRED, FIRST_OF_ANGLES = 8, 6  # degrees: torch's documentation has 6, its kernels go on to 8


def balls(name: str, x: Ball, degree: np.ndarray) -> Ball:
    """The ball of each element's degree."""
    row, one = POLYNOMIALS[name], x.constant(1.0)
    unit = Ball.exact(np.ones_like(x.mid), x.compute)
    found = row.values(x, unit, int(degree.max(initial=0)))
    result = unit
    for k, ball in enumerate(found[1:], 1):
        result = chosen(degree == k, ball, result)
    if "chebyshev" not in name or not (degree >= FIRST_OF_ANGLES).any():
        return result
    place = x * 2.0 - one if row.is_shifted else x
    is_inside = (np.abs(place.mid) < 1.0) & (degree >= FIRST_OF_ANGLES)
    by_angle = _FORMULAS[name[-1]](_angle(place), degree.astype(np.float64))
    by_angle = chosen((degree <= LAST_RECURRED) & (result.rad > by_angle.rad), result, by_angle)
    return chosen(is_inside, by_angle, result)


def _angle(x: Ball) -> Ball:
    with np.errstate(all="ignore"):
        low, high = (np.arccos(np.clip(x.mid + side * x.rad, -1.0, 1.0)) for side in (1.0, -1.0))
        middle = np.arccos(np.clip(x.mid, -1.0, 1.0))
        spread = np.where(x.rad > 0, np.maximum(high - middle, middle - low) * (1 + 2.0**-20), 0.0)
        return x.rounded(middle, spread, ACOS_ULPS)


def _times(angle: Ball, factor: np.ndarray) -> Ball:
    return angle * Ball.exact(factor, angle.compute)


_FORMULAS: dict[str, Callable[[Ball, np.ndarray], Ball]] = {
    "t": lambda angle, n: _times(angle, n).cos(),
    "u": lambda angle, n: _times(angle, n + 1).sin() / angle.sin(),
    "v": lambda angle, n: _times(angle, n + 0.5).cos() / (angle * 0.5).cos(),
    "w": lambda angle, n: _times(angle, n + 0.5).sin() / (angle * 0.5).sin(),
}
