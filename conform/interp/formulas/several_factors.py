"""Sums of products of several factors, rounded once: by float64 and what that may have lost, else in integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.formulas.fractions_as_reals import as_real, rounded
from conform.numerics.escalate import decided_first
from conform.numerics.formats import Format
from conform.numerics.real import Real
from conform.numerics.rounding_errors import gamma

UNIT_ROUNDOFF = 2.0**-53  # of float64
LOST = 2.0**-1074  # below its normal range


def rounded_once(
    fmt: Format,
    numbers: np.ndarray,
    terms: int,
    magnitude: np.ndarray,
    amplified: np.ndarray,
    exactly: Callable[[], np.ndarray],
) -> tuple[np.ndarray, Real]:
    """(rounded to `fmt`, the numbers behind that) of `numbers`, which float64 has in any order within `terms` roundings
    of the sum of magnitudes, and as many losses near 0, each `amplified`; `exactly()`: the same as fractions."""
    if fmt.bits == 64:
        fractions = exactly()
        return rounded(fmt, fractions), as_real(fractions)

    def others(undecided: np.ndarray) -> tuple[np.ndarray, Real]:
        fractions = exactly()[undecided]
        return rounded(fmt, fractions), as_real(fractions)

    with np.errstate(all="ignore"):
        error = gamma(terms + 1, UNIT_ROUNDOFF) * magnitude + terms * LOST * amplified
    is_known = np.isfinite(numbers) & np.isfinite(error)
    return decided_first(fmt, np.where(is_known, numbers, 0.0), np.where(is_known, error, np.inf), others)
