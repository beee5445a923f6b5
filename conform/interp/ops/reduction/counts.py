"""How often numbers occur: one by one, or in intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden, Outcome
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.places import Writes
from conform.interp.ops.indexing.written import sums_of_writes
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, compute_format, format_of
from conform.numerics.real import Real
from conform.numerics.rounding import nearest_of, round_to


def _bins(arguments: Mapping[str, Any]) -> int:
    return _bin_count(arguments["self"], arguments["minlength"])


def _bin_count(self: np.ndarray, minlength: int) -> int:
    return max(int(self.max()) + 1 if self.size else 0, minlength)


@semantics("aten::bincount", elements=_bins)
def bincount(self: np.ndarray, weights: np.ndarray | None = None, minlength: int = 0) -> Golden:
    """result[n] is how often n occurs in self, or the sum of the weights where it does (P3, P35); as many n as self
    needs, at least minlength"""
    count = _bin_count(self, minlength)
    if weights is None:
        parts = (np.bincount(flat(self, some).astype(np.int64), minlength=count) for some in spans(self.size))
        return exact(sum(parts, np.zeros(count, np.int64)), FORMATS["int64"])
    fmt = format_of(weights)
    writes = Writes((count,), [self.astype(np.int64)], weights)
    return sums_of_writes(np.zeros(count, fmt.storage), fmt, writes)


# Intervals


@semantics("aten::histc", compares=True, elements=lambda arguments: max(arguments["bins"], 0))
def histc(self: np.ndarray, bins: int = 100, min: int | float = 0, max: int | float = 0) -> Outcome:
    """result[i] is how many elements lie in the i-th of `bins` intervals of equal width between min and max, of which
    each has its lower end and the last one both; what lies outside, and NaN, is not counted. Where min and max are 0,
    they are the least and the largest element (P144)"""
    fmt, self = format_of(self), self.reshape(-1)
    refuse_complex(fmt, "histc")
    is_given = not (min == 0 and max == 0)
    low, high = (float(min), float(max)) if is_given else _ends(self)
    if self.size and not (np.isfinite(low) and np.isfinite(high) and low < high):
        nothing = exact(np.zeros(bins, fmt.storage), fmt).opened(np.ones(bins, bool), "P144")
        return Outcome((nothing,), "P144")
    counts, unsure = np.zeros(bins), np.zeros(bins)
    for some in spans(self.size):
        places, other = _intervals(flat(self, some).astype(np.float64), bins, low, high, compute_format(fmt))
        counts += np.bincount(places, minlength=bins)
        moved = other[0] != other[1]
        for ends in (other[0][moved], other[1][moved]):
            unsure += np.bincount(ends, minlength=bins)
    value = round_to(fmt, counts)
    return Outcome((Golden(fmt, value, Real.exact(counts), budget=unsure, zero_sign_free=False),))


def _ends(self: np.ndarray) -> tuple[float, float]:
    if not self.size:
        return 0.0, 1.0
    return float(self.min()), float(self.max())


def _intervals(
    x: np.ndarray, bins: int, low: float, high: float, compute: Format
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """(the interval of each number between the ends, the first and the last one in which rounding may see it).

    Its place is (x - low) bins / (high - low), with four roundings; or it is compared with ends low + i (high - low) /
    bins, whose roundings are those of numbers as large as the ends.
    """
    x = x[(x >= low) & (x <= high)]
    with np.errstate(all="ignore"):
        place = ((Real.exact(x) - Real.exact(low)) * float(bins) / (Real.exact(high) - Real.exact(low))).hi
        reach = (np.abs(low) + np.abs(high)) / (high / 2 - low / 2) / 2 * bins
        error = 4 * compute.unit_roundoff * (np.abs(place) + np.where(np.isfinite(reach), reach, bins))
        whole, from_end = np.floor(place), np.abs(place - np.rint(place))
        unclear = ~(from_end > 2.0**-30 * np.maximum(np.abs(place), 1.0))
        numbers, where = np.unique(x[unclear], return_inverse=True)
        exactly = [_whole_part(number, bins, low, high, compute) for number in numbers.tolist()]
        if exactly:
            whole[unclear], error[unclear] = (
                np.array(part, np.float64)[where] * factor
                for part, factor in zip(zip(*exactly, strict=True), (1.0, error[unclear]), strict=True)
            )
        ends = (np.clip(np.floor(np.where(error > 0, place + by * error, whole)), 0, bins - 1) for by in (-1, 1))
    return np.minimum(whole, bins - 1).astype(np.int64), tuple(end.astype(np.int64) for end in ends)


def _whole_part(x: float, bins: int, low: float, high: float, compute: Format) -> tuple[int, bool]:
    """(the exact place of x, rounded down; whether a rounding may come in between: else x is the end of an interval,
    and `compute` holds all that either way computes)."""
    x_, low_, width = mpq(x), mpq(low), mpq(high) - mpq(low)
    place = (x_ - low_) * bins / width
    whole = place // 1
    steps = (x_ - low_, (x_ - low_) * bins, width, width / bins, whole * width / bins)
    return int(whole), place != whole or any(_is_rounded(compute, step) for step in steps)


def _is_rounded(fmt: Format, number: mpq) -> bool:
    rounded = nearest_of(fmt, number)
    return not np.isfinite(rounded) or mpq(rounded) != number
