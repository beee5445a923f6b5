"""Errors of complex numbers in norm: the magnitude of the difference, in ulps of the magnitude of the exact number.

The algorithms for complex functions keep a small part only as accurate as the large one (Higham, Accuracy and Stability
of Numerical Algorithms, 2nd ed., section 3.6). Arrays have a last axis of two parts, of which both get the figure of
their number.
"""

from __future__ import annotations

import numpy as np

from conform.numerics.formats import Format
from conform.numerics.real import Real
from conform.numerics.ulp import ulp


def size(parts: np.ndarray) -> np.ndarray:
    """The magnitude of each number, at both of its parts."""
    return np.broadcast_to(np.hypot(parts[..., :1], parts[..., 1:]), parts.shape)


def unit(component: Format, real: Real) -> np.ndarray:
    """The ulp of the magnitude."""
    return ulp(component, size(real.hi))


def error_ulp(component: Format, actual: np.ndarray, errors_ulp: np.ndarray, real: Real) -> np.ndarray:
    """From the parts' errors, each in ulps of its part; inf and NaN (a wrong class, nothing known) spread to both. The
    error of a number that is more ulps away than float64 has, 1 where 0 is right, is their difference."""
    with np.errstate(all="ignore"):
        apart = np.abs(np.asarray(actual).astype(np.float64) - real.hi)
        is_apart = np.isinf(errors_ulp) & np.isfinite(apart)
        return size(np.where(is_apart, apart, errors_ulp * ulp(component, real.hi))) / unit(component, real)
