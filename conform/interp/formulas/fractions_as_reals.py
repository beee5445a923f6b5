"""Fractions as goldens have numbers: correctly rounded, and as hi + lo within a radius."""

from __future__ import annotations

import numpy as np
from gmpy2 import mpq

from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import Real
from conform.numerics.rounding import nearest_of

_FLOAT64 = FORMATS["float64"]
_ABOVE = mpq(2) ** 1024
LARGEST = _FLOAT64.max_finite


def rounded(fmt: Format, numbers: np.ndarray) -> np.ndarray:
    """Each of an object array of fractions in the storage of a real format."""
    nearest = [nearest_of(fmt, one) for one in numbers.reshape(-1)]
    return np.array(nearest, np.float64).reshape(numbers.shape).astype(fmt.storage)


def as_real(numbers: np.ndarray) -> Real:
    """Each of an object array of fractions."""
    parts = np.array([_parts(one) for one in numbers.reshape(-1)], np.float64).reshape(-1, 3)
    return Real(*(part.reshape(numbers.shape) for part in parts.T))


def _parts(number: mpq) -> tuple[float, float, float]:
    hi = nearest_of(_FLOAT64, number)
    if np.isinf(hi):
        if abs(number) >= _ABOVE:
            return hi, 0.0, np.inf
        hi = np.copysign(LARGEST, hi)
    rest = number - mpq(hi)
    lo = nearest_of(_FLOAT64, rest)
    return hi, lo, 0.0 if rest == mpq(lo) else abs(lo) * 2.0**-53 + 2.0**-1074


def magnitudes(numbers: tuple[np.ndarray, ...]) -> np.ndarray:
    """|number| of fractions, or of complex numbers of two parts each, in float64, not below the true ones."""
    sizes = [np.abs(rounded(_FLOAT64, part)) for part in numbers]
    largest = sizes[0] if len(sizes) == 1 else np.hypot(*sizes)
    return largest * (1 + 2.0**-48)
