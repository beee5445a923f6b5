"""Mean, variance and standard deviation over dimensions, alone and together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from conform.interp.blocks.rows import Rows, by_rows, reduced_shape
from conform.interp.dims import reduced_axes
from conform.interp.formulas import moments
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import accumulation, of_conversions, overflowing, reshaped
from conform.interp.semantics import semantics
from conform.numerics import accumulate
from conform.numerics.accumulate import Accumulated
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly, root
from conform.numerics.formats import Format, compute_format, format_named, format_of
from conform.numerics.grid import common_grid
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format
from conform.numerics.scaled import Scaled

# Mean


@semantics("aten::mean", accumulates="self")
def mean(self: np.ndarray, dtype: str | None = None) -> Golden:
    """The sum of all elements, converted to dtype first, divided by their number (P57, P58)"""
    return mean_over(self, None, False, dtype)


@semantics("aten::mean.dim", along="dim", accumulates="self")
def mean_over(self: np.ndarray, dim: Sequence[int] | None, keepdim: bool = False, dtype: str | None = None) -> Golden:
    """The sum over dim (all dimensions if None or empty), divided by the number of terms (P57, P58, P84)"""
    fmt = format_named(dtype) if dtype else format_of(self)
    refuse_complex(fmt, "mean")
    axes = reduced_axes(dim, self.ndim)
    golden = of_conversions(partial(mean_of_rows, fmt), self, axes, fmt)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def mean_of_rows(fmt: Format, rows: Rows) -> Golden:
    count = rows.terms
    total = accumulate.total_of(rows.pieces)
    with np.errstate(all="ignore"):
        quotient = total.real / Real.exact(np.float64(count))
        golden = accumulation(
            fmt,
            Accumulated(quotient, total.magnitude / max(count, 1), count + 1),
            lambda index: moments.exact_mean(rows, index[0]),
        )
    grid = common_grid(compute_format(fmt), rows.pieces)
    golden = replace(golden, divided=True).on_grid(None if grid is None else grid / max(count, 1))
    return golden.opened(overflowing(fmt, total), "P35")


# Variance and standard deviation


@semantics("aten::var", accumulates="self", centred=True)
def var(self: np.ndarray, unbiased: bool = True) -> Golden:
    """sum((x - mean)^2) / max(0, n - 1) of all elements; over n if not unbiased (P57, P58, P59)"""
    return _spread("var", self, None, int(unbiased), False)


@semantics("aten::var.dim", along="dim", accumulates="self", centred=True)
def var_over(self: np.ndarray, dim: Sequence[int] | None, unbiased: bool = True, keepdim: bool = False) -> Golden:
    """sum((x - mean)^2) / max(0, n - 1) over dim; over n if not unbiased (P57, P58, P59)"""
    return _spread("var", self, dim, int(unbiased), keepdim)


@semantics("aten::var.correction", along="dim", accumulates="self", centred=True)
def var_correction(
    self: np.ndarray,
    dim: Sequence[int] | None = None,
    correction: int | float | None = None,
    keepdim: bool = False,
) -> Golden:
    """sum((x - mean)^2) / max(0, n - correction) over dim; the correction is 1 if None (P57, P58, P59)"""
    return _spread("var", self, dim, 1 if correction is None else correction, keepdim)


@semantics("aten::std", accumulates="self", centred=True)
def std(self: np.ndarray, unbiased: bool = True) -> Golden:
    """The square root of var(self, unbiased) (P57, P58, P59)"""
    return _spread("std", self, None, int(unbiased), False)


@semantics("aten::std.dim", along="dim", accumulates="self", centred=True)
def std_over(self: np.ndarray, dim: Sequence[int] | None, unbiased: bool = True, keepdim: bool = False) -> Golden:
    """The square root of var(self, dim, unbiased) (P57, P58, P59)"""
    return _spread("std", self, dim, int(unbiased), keepdim)


@semantics("aten::std.correction", along="dim", accumulates="self", centred=True)
def std_correction(
    self: np.ndarray,
    dim: Sequence[int] | None = None,
    correction: int | float | None = None,
    keepdim: bool = False,
) -> Golden:
    """The square root of var(self, dim, correction) (P57, P58, P59)"""
    return _spread("std", self, dim, 1 if correction is None else correction, keepdim)


# Both at once


@semantics("aten::var_mean.correction", along="dim", accumulates="self", centred=True)
def var_mean(
    self: np.ndarray,
    dim: Sequence[int] | None = None,
    correction: int | float | None = None,
    keepdim: bool = False,
) -> tuple[Golden, Golden]:
    """(var(self, dim, correction), the mean of the same elements) (P40, P54, P57, P58, P59)"""
    return var_correction(self, dim, correction, keepdim), _mean_beside(self, dim, keepdim)


@semantics("aten::std_mean.correction", along="dim", accumulates="self", centred=True)
def std_mean(
    self: np.ndarray,
    dim: Sequence[int] | None = None,
    correction: int | float | None = None,
    keepdim: bool = False,
) -> tuple[Golden, Golden]:
    """(std(self, dim, correction), the mean of the same elements) (P40, P54, P57, P58, P59)"""
    return std_correction(self, dim, correction, keepdim), _mean_beside(self, dim, keepdim)


def _mean_beside(self: np.ndarray, dim: Sequence[int] | None, keepdim: bool) -> Golden:
    """The mean, perhaps by Welford's updates, which divide on the way and may make NaN of an infinity (P40)."""
    fmt, axes = format_of(self), reduced_axes(dim, self.ndim)

    def of_rows(rows: Rows) -> Golden:
        mean, ones = mean_of_rows(fmt, rows), np.ones((rows.count, 1))
        ball, _ = moments.of_balls(rows, Ball.exact(ones, held_format(fmt)), held_format(fmt))
        rad, scale = (np.broadcast_to(part, ones.shape)[:, 0] for part in (ball.rad, ball.scale))
        golden = Golden(fmt, mean.value, mean.real, budget=rad, scale=scale, zero_sign_free=True)
        updated = np.where(np.isinf(mean.real.hi), np.nan, mean.value).astype(fmt.storage)
        return golden.or_else(replace(golden, value=updated, real=where(np.isnan(updated), np.nan, mean.real)))

    return reshaped(by_rows(of_rows, Rows.over(self, axes)), reduced_shape(self.shape, axes, keepdim))


# The formulas


def _spread(
    name: str, self: np.ndarray, dim: Sequence[int] | None, correction: int | float | complex, keepdim: bool
) -> Golden:
    fmt = format_of(self)
    axes = reduced_axes(dim, self.ndim)
    rows = Rows.over(self, axes)
    if rows.terms <= correction or rows.terms == 0:
        golden = by_rows(partial(_over_zero, fmt), rows)
    else:
        golden = by_rows(partial(_of_rows, name, fmt, correction), rows)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def _of_rows(name: str, fmt: Format, correction: int | float, rows: Rows) -> Golden:
    compute, count = held_format(fmt), rows.terms
    exponent, divisor = moments.exponents(rows), Real.exact(np.float64(count)) - Real.exact(np.float64(correction))
    _, real = moments.of_reals(rows, divisor, exponent)
    _, ball = moments.of_balls(rows, Ball.exact(np.float64(count), compute) - float(correction), compute)
    if name == "std":
        real, ball = real.sqrt(), ball.sqrt()
    else:
        exponent = 2 * exponent

    def exact(index: tuple[int, ...]) -> Fraction:
        if np.isinf(correction):  # finite squares over infinity
            return Fraction(0)
        variance = moments.exact_variance(rows, index[0], count - Fraction(correction))
        return root(variance, 2) if name == "std" else variance

    def scaled() -> Scaled:
        return Scaled.of(real.hi, real.lo, real.radius / np.abs(real.hi), exponent)

    with np.errstate(all="ignore"):
        value, decided = decide_exactly(fmt, real.times_power_of_two(exponent), exact, scaled)
    return Golden.derived(fmt, value, decided, ball)


def _over_zero(fmt: Format, rows: Rows) -> Golden:
    """P59: a sum of squares over no degrees of freedom."""
    if rows.terms == 0:
        return exact(np.full((rows.count, 1), np.nan, fmt.storage), fmt)
    finite, first = rows.are_finite(), next(iter(rows.pieces))[:, :1]
    equal = np.logical_and.reduce([(first == piece).all(axis=1, keepdims=True) for piece in rows.pieces])
    quotient = np.where(equal | ~finite, np.nan, np.inf)
    budget = np.zeros(quotient.shape)
    golden = Golden(fmt, quotient.astype(fmt.storage), Real.exact(quotient), budget=budget)
    return golden.opened(equal & finite & (rows.terms > 1), "P59")
