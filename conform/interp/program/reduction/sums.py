"""Rules of sums and means over dimensions, and of what they make up."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.elementwise.arithmetic import abs_, add, div, mul, neg, root
from conform.interp.program.elementwise.steps import of_dtype
from conform.interp.program.number import Number
from conform.interp.program.reduction.order import amax
from conform.interp.program.reduction.over import Dims, along, axes_of, over
from conform.interp.program.rules import combined, rule
from conform.numerics import accumulate
from conform.numerics.ball import Ball
from conform.numerics.real import Real
from conform.numerics.rounding_errors import flushed_sum, gamma, joined, joined_so_far


@rule("aten::sum")
def sum_(self: Number, dtype: str | None = None) -> Any:
    return sum_over(self, None, False, dtype)


@rule("aten::sum.dim_IntList")
def sum_over(self: Number, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> Any:
    """In any order: gamma_(n-1) times the sum of magnitudes, and what the terms' errors add up to."""
    terms = of_dtype(self, dtype)
    if terms is NotImplemented or not terms.format.is_float:
        return NotImplemented
    return over(terms, dim, keepdim, exact_sum, lambda rows: rows.sum(-1))


@rule("aten::cumsum")
def cumsum(self: Number, dim: int, dtype: str | None = None) -> Any:
    """The sums of the elements up to each place along `dim`, each in any order."""
    terms = of_dtype(self, dtype)
    if terms is NotImplemented or not terms.format.is_float:
        return NotImplemented
    return along(terms, dim, lambda rows: rows.cumsum(-1), _running_sums)


def _running_sums(rows: Ball) -> Ball:
    """As `Ball.total` of the elements up to each place."""
    are_special = ~np.isfinite(rows.mid) & (rows.rad == 0)
    magnitude = np.cumsum(np.where(are_special, 0.0, np.abs(rows.mid) + rows.rad), -1)
    count = np.arange(1, rows.mid.shape[-1] + 1)
    rad = joined(joined_so_far(rows.rad), gamma(count - 1, rows.compute.unit_roundoff) * magnitude)
    rad = rad + count * flushed_sum(rows.compute)
    fits = magnitude + rad <= rows.compute.max_finite
    mid = np.cumsum(rows.mid, -1)
    nan = np.logical_or.accumulate(are_special & np.isnan(rows.mid), -1)
    special, bounded = np.logical_or.accumulate(are_special, -1), np.logical_and.accumulate(np.isfinite(rows.rad), -1)
    decided = nan | (special & bounded & (fits | np.isnan(mid)))
    return Ball(mid, np.where(decided, 0.0, np.where(fits, rad, np.inf)), rows.compute)


@rule("aten::mean")
def mean(self: Number, dtype: str | None = None) -> Any:
    return mean_over(self, None, False, dtype)


@rule("aten::mean.dim")
def mean_over(self: Number, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> Any:
    """The sum divided by the number of terms."""
    total = sum_over(self, dim, keepdim, dtype)
    if total is NotImplemented:
        return total
    count = np.float64(np.prod([self.shape[axis] for axis in axes_of(self, dim)]))
    return combined(total.format, lambda x: x / count, lambda x: x / float(count), total)


@rule("aten::linalg_vector_norm")
def vector_norm(
    self: Number, ord: float = 2, dim: Dims = None, keepdim: bool = False, dtype: str | None = None
) -> Any:
    """The root of the sum of squares, the sum of magnitudes (ord 1), or the largest of them (inf)."""
    terms = of_dtype(self, dtype)
    if terms is NotImplemented or terms.array is not None:
        return NotImplemented
    if ord == 2:
        return root(sum_over(mul(terms, terms), dim, keepdim))
    if ord == 1:
        return sum_over(abs_(terms), dim, keepdim)
    if ord == float("inf"):
        return amax(abs_(terms), dim, keepdim)
    raise NoGolden(f"a program cannot use aten::linalg_vector_norm with ord={ord}: expected 2, 1 or inf")


@rule("aten::var.correction")
def var(self: Number, dim: Dims = None, correction: float | None = None, keepdim: bool = False) -> Any:
    """The sum of squared distances from the mean, divided by the number of terms less `correction` (1)."""
    if self.array is not None:
        return NotImplemented
    centred = add(self, neg(mean_over(self, dim, True)))
    count = prod(self.shape[axis] for axis in axes_of(self, dim)) - (1 if correction is None else correction)
    if count <= 0:
        raise NoGolden(f"a program cannot use aten::var.correction of {count + (correction or 1)} terms")
    return div(sum_over(mul(centred, centred), dim, keepdim), float(count))


def exact_sum(rows: Real) -> Real:
    """The sums of rows, [rows, 1]."""
    if not rows.lo.any() and not rows.radius.any():
        return accumulate.total(rows.hi, -1).real.reshape((len(rows.hi), 1))
    return rows.sum(-1, keepdims=True)
