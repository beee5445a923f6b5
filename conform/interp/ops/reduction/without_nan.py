"""Sums and means of the elements that are numbers: NaN is none of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from conform.interp.blocks.rows import Rows, reduced_shape
from conform.interp.dims import reduced_axes
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.reduction.sums import (
    accumulation,
    of_conversions,
    overflowing,
    reshaped,
    sum_format,
    sum_of_rows,
    sum_over,
)
from conform.interp.semantics import semantics
from conform.numerics import accumulate
from conform.numerics.accumulate import Accumulated
from conform.numerics.formats import Format, compute_format, format_named, format_of
from conform.numerics.grid import common_grid
from conform.numerics.real import Real


@semantics("aten::nansum", along="dim", accumulates="self")
def nansum(
    self: np.ndarray, dim: Sequence[int] | None = None, keepdim: bool = False, dtype: str | None = None
) -> Golden:
    """The sum over dim (all dimensions if None or empty), of elements converted to dtype first (P84), in which NaN
    counts as zero (P3, P13)"""
    fmt, axes = sum_format(self, dtype), reduced_axes(dim, self.ndim)
    if not fmt.is_float:
        return sum_over(self, dim, keepdim, dtype)
    golden = of_conversions(lambda rows: sum_of_rows(fmt, _with_zeros(rows)), self, axes, fmt)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


@semantics("aten::nanmean", along="dim", accumulates="self")
def nanmean(
    self: np.ndarray, dim: Sequence[int] | None = None, keepdim: bool = False, dtype: str | None = None
) -> Golden:
    """The mean over dim (all dimensions if None or empty) of the elements that are not NaN, converted to dtype first
    (P84); NaN where there is none (P54, P57, P58)"""
    fmt, axes = format_named(dtype) if dtype else format_of(self), reduced_axes(dim, self.ndim)
    refuse_complex(fmt, "nanmean")
    golden = of_conversions(partial(_mean_of_rows, fmt), self, axes, fmt)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def _with_zeros(rows: Rows) -> Rows:
    """The rows with 0 in the place of NaN."""

    def read(some: np.ndarray) -> np.ndarray:
        numbers = rows.read(some)
        return np.where(np.isnan(numbers), 0.0, numbers)

    return Rows(rows.source, rows.count, rows.terms, read, rows.first)


def _mean_of_rows(fmt: Format, rows: Rows) -> Golden:
    """The sum of the numbers over their count: the roundings of the sum of all elements, and of a division."""
    counts = sum(np.count_nonzero(~np.isnan(piece), axis=1) for piece in rows.pieces).astype(np.float64)
    numbers, divisors = _with_zeros(rows), np.maximum(counts, 1.0)
    total = accumulate.total_of(numbers.pieces)

    def exactly(index: tuple[int]) -> Fraction:
        return sum(map(accumulate.exact_total, numbers.row(index[0]))) / Fraction(counts[index])

    with np.errstate(all="ignore"):
        means = Accumulated(total.real / Real.exact(counts), total.magnitude / divisors, rows.terms + 1)
        golden = accumulation(fmt, means, exactly)
    grid = common_grid(compute_format(fmt), numbers.pieces)
    golden = replace(golden, divided=True).on_grid(None if grid is None else grid / divisors)
    return golden.opened(overflowing(fmt, total), "P35")
