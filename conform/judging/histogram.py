"""How large errors are, as counts: bins of powers of two, so that what is kept does not grow with a tensor or a run.

An element with a defined error is counted once: as `zero`; in bin k where 2^k <= error_ulp < 2^(k+1), the first bin
with what is smaller and the last with what is larger; or as `inf`, where NaN stands for a number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

FIRST, LAST = -16, 64
NAMES = ("zero", *map(str, range(FIRST, LAST + 1)), "inf")


def empty() -> np.ndarray:
    """Counts of nothing: int64, one of each of NAMES."""
    return np.zeros(len(NAMES), np.int64)


def counted(error_ulp: np.ndarray) -> np.ndarray:
    """The counts of errors, a float64 array of any shape; NaN, which is no error in ulps, is not counted."""
    errors = error_ulp[~np.isnan(error_ulp)]
    if not errors.any():
        counts = empty()
        counts[0] = errors.size
        return counts
    _, exponent = np.frexp(errors)  # error = m * 2^exponent with 1/2 <= m < 1
    place = np.minimum(np.maximum(exponent - 1, FIRST), LAST) - FIRST + 1
    place[errors == 0] = 0
    place[np.isinf(errors)] = len(NAMES) - 1
    return np.bincount(place, minlength=len(NAMES))


def named(counts: np.ndarray) -> dict[str, int]:
    """The bins that hold something, by name, in order."""
    return {NAMES[place]: int(counts[place]) for place in np.flatnonzero(counts)}


def added(histograms: list[Mapping[str, int]]) -> dict[str, int]:
    """The sum of named counts."""
    total: Counter[str] = Counter()
    for one in histograms:
        total.update(one)
    return {name: total[name] for name in NAMES if total[name]}
