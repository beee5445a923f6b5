"""Sums, products, extremes, running sums and logarithms of sums of exponentials over dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp import log_sum_exp
from conform.interp.dims import reduced_axes, wrap_dim
from conform.interp.golden import Golden
from conform.interp.numerics import accumulate
from conform.interp.numerics import multiprecision as mp
from conform.interp.numerics.accumulate import Accumulated
from conform.interp.numerics.ball import Ball, growth, underflow
from conform.interp.numerics.escalate import decide_exactly, resolved
from conform.interp.numerics.formats import FORMATS, Format, format_named, format_of
from conform.interp.numerics.real import Real, concatenate, where
from conform.interp.numerics.rounding import in_integer_range
from conform.interp.operands import compute_format, converted, refuse_complex
from conform.interp.ops.elementwise import exact
from conform.interp.promotion import category, float_result
from conform.interp.registry import semantics
from conform.interp.rows import by_rows, reduced_shape, rows_over


def accumulation(fmt: Format, total: Accumulated, exact_sum: Callable[[tuple[int, ...]], Fraction]) -> Golden:
    """A sum as a golden: its zero sign is free (P3), and where some order can overflow the compute type it is open
    (P35)."""
    value, real = accumulate.decide_sum(fmt, total, exact_sum)
    golden = Golden(fmt, value, real, total.terms, total.magnitude, zero_sign_free=True)
    return golden.opened(overflowing(fmt, total), "P35")


def overflowing(fmt: Format, total: Accumulated) -> np.ndarray:
    """Where the finite terms can overflow the compute type in some order; a NaN term makes any order NaN."""
    return (total.magnitude > compute_format(fmt).max_finite) & ~np.isnan(total.real.hi)


def _summand(self: np.ndarray, dtype: str | None) -> tuple[np.ndarray, Format]:
    """self in the dtype it is summed in: `dtype`, else int64 for bools and integers, else its own."""
    fmt = format_of(self)
    target = format_named(dtype) if dtype else FORMATS["int64"] if category(fmt) < 2 else fmt
    return converted(self, target), target


def _not_held(self: np.ndarray, fmt: Format) -> np.ndarray:
    """Where the conversion before a sum has no result (P13)."""
    is_cast = format_of(self).is_float and fmt.is_integer
    return ~in_integer_range(self, fmt) if is_cast else np.zeros(self.shape, bool)


def _kept(array: np.ndarray, axes: tuple[int, ...], keepdim: bool) -> np.ndarray:
    return np.expand_dims(array, axes) if keepdim and array.ndim + len(axes) else array


@semantics("aten::sum")
def sum_(self: np.ndarray, dtype: str | None = None) -> Golden:
    """The sum of all elements"""
    return sum_over(self, None, False, dtype)


@semantics("aten::sum.dim_IntList")
def sum_over(self: np.ndarray, dim: Sequence[int] | None, keepdim: bool = False, dtype: str | None = None) -> Golden:
    """The sum over dim (all dimensions if None or empty), of elements converted to dtype first"""
    summand, fmt = _summand(self, dtype)
    axes = reduced_axes(dim, self.ndim)
    if not fmt.is_float:
        with np.errstate(over="ignore"):
            total = np.any(summand, axes) if fmt.kind == "bool" else np.sum(summand, axes, dtype=fmt.storage)
        not_held = np.any(_not_held(self, fmt), axes, keepdims=keepdim)
        return exact(_kept(np.asarray(total), axes, keepdim and self.ndim > 0), fmt).opened(not_held, "P13")
    rows = rows_over(summand, axes)
    golden = by_rows(lambda some: _sum_of_rows(fmt, rows[some]), rows.shape)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def _sum_of_rows(fmt: Format, rows: np.ndarray) -> Golden:
    return accumulation(fmt, accumulate.total(rows, axis=1), lambda index: accumulate.exact_total(rows[index]))


def reshaped(golden: Golden, shape: tuple[int, ...]) -> Golden:
    """The golden with its elements in another shape."""
    return golden.rearranged(lambda part: part.reshape(shape))


@semantics("aten::amax")
def amax(self: np.ndarray, dim: Sequence[int] = (), keepdim: bool = False) -> Golden:
    """The largest element over dim (all dimensions if empty), NaN if any is NaN (P4, P5)"""
    fmt = format_of(self)
    if fmt.is_complex:
        raise InvalidArguments(f"amax is not defined for {fmt.name}")
    axes = reduced_axes(dim, self.ndim)
    if any(self.shape[axis] == 0 for axis in axes):
        raise InvalidArguments(f"amax over a dimension of size 0 of {list(self.shape)} has no identity")
    return exact(np.max(self, axes, keepdims=keepdim), fmt, zero_sign_free=fmt.is_float)


@semantics("aten::argmax")
def argmax(self: np.ndarray, dim: int | None = None, keepdim: bool = False) -> Golden:
    """The index of the first largest element along dim, or in the flattened tensor; the first NaN counts as largest
    (P20, P21)"""
    fmt = format_of(self)
    if fmt.is_complex or fmt.kind == "bool":
        raise InvalidArguments(f"argmax is not defined for {fmt.name}")
    axis = None if dim is None else wrap_dim(dim, self.ndim)
    if (self.size if axis is None or self.ndim == 0 else self.shape[axis]) == 0:
        raise InvalidArguments(f"argmax over no elements of {list(self.shape)}")
    operand = self.reshape(1) if self.ndim == 0 else self
    if fmt.is_float:
        operand = operand.astype(np.float64)
    index = np.argmax(operand, axis=axis, keepdims=keepdim)
    return exact(np.reshape(index, ()) if self.ndim == 0 else index, FORMATS["int64"])


@semantics("aten::cumsum")
def cumsum(self: np.ndarray, dim: int, dtype: str | None = None) -> Golden:
    """result[i] = self[0] + ... + self[i] along dim, of elements converted to dtype first"""
    axis = wrap_dim(dim, self.ndim)
    summand, fmt = _summand(self, dtype)
    if fmt.kind == "bool":
        raise InvalidArguments("cumsum is not defined for bool results")
    if self.ndim == 0:
        return exact(summand, fmt, zero_sign_free=fmt.is_float).opened(_not_held(self, fmt), "P13")
    if not fmt.is_float:
        with np.errstate(over="ignore"):
            not_held = np.logical_or.accumulate(_not_held(self, fmt), axis)
            return exact(np.add.accumulate(summand, axis, dtype=fmt.storage), fmt).opened(not_held, "P13")
    last = np.moveaxis(summand, axis, -1)
    rows = last.astype(np.float64).reshape(prod(last.shape[:-1]), last.shape[-1])
    golden = by_rows(lambda some: _running_sums(fmt, rows[some]), rows.shape)
    return golden.rearranged(lambda part: np.moveaxis(part.reshape(last.shape), -1, axis))


def _running_sums(fmt: Format, rows: np.ndarray) -> Golden:
    sums = accumulate.running(rows, axis=1)
    golden = accumulation(fmt, sums, lambda index: accumulate.exact_total(rows[index[0], : index[1] + 1]))
    return replace(golden, terms=np.broadcast_to(sums.terms, rows.shape))


# Products


@semantics("aten::prod")
def prod_all(self: np.ndarray, dtype: str | None = None) -> Golden:
    """The product of all elements, converted to dtype first (P61)"""
    return _product(self, tuple(range(self.ndim)), False, dtype)


@semantics("aten::prod.dim_int")
def prod_over(self: np.ndarray, dim: int, keepdim: bool = False, dtype: str | None = None) -> Golden:
    """The product along dim, of elements converted to dtype first (P61)"""
    axis = wrap_dim(dim, self.ndim)
    return _product(self, (axis,) if self.ndim else (), keepdim, dtype)


def _product(self: np.ndarray, axes: tuple[int, ...], keepdim: bool, dtype: str | None) -> Golden:
    factors, fmt = _summand(self, dtype)
    shape = reduced_shape(self.shape, axes, keepdim)
    if not fmt.is_float:
        with np.errstate(over="ignore"):
            total = np.all(factors, axes) if fmt.kind == "bool" else np.prod(factors, axes, dtype=fmt.storage)
        not_held = np.any(_not_held(self, fmt), axes).reshape(shape)
        return exact(np.reshape(total, shape), fmt).opened(not_held, "P13")
    rows = rows_over(factors, axes)
    return reshaped(by_rows(lambda some: _float_product(fmt, rows[some]), rows.shape), shape)


def _float_product(fmt: Format, rows: np.ndarray) -> Golden:
    """The budget |y| ((1 + u)^(n - 1) - 1) is that of n - 1 rounded products in any order (Higham, lemma 3.1)."""
    compute, products = compute_format(fmt), max(rows.shape[1] - 1, 0)
    is_special, special = _special_product(rows)
    factors = np.where(is_special[:, None], 1.0, rows)
    with np.errstate(all="ignore"):
        real = where(is_special, special, _tree_product(Real.exact(factors)))
        value, real = decide_exactly(fmt, real, lambda index: Fraction(prod(map(Fraction, factors[index].tolist()))))
        relative = np.expm1(growth(products) * np.log1p(compute.unit_roundoff))
        budget = np.abs(real.hi) * relative + products * underflow(compute)
    golden = Golden(fmt, value, real, budget=np.where(is_special, 0.0, budget))
    return golden.opened(_may_leave_the_range(compute, rows) & ~np.isnan(special), "P61")


def _tree_product(factors: Real) -> Real:
    """The product over the last axis; an empty one is 1."""
    if factors.shape[-1] == 0:
        return Real.exact(np.ones(factors.shape[:-1]))
    while (count := factors.shape[-1]) > 1:
        pairs = factors[..., : count // 2] * factors[..., count // 2 : count // 2 * 2]
        factors = concatenate([pairs, factors[..., count // 2 * 2 :]], -1) if count % 2 else pairs
    return factors[..., 0]


def _special_product(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(which rows have a factor that is NaN, infinite or 0, the product there)."""
    nan, infinite, zero = (test.any(axis=1) for test in (np.isnan(rows), np.isinf(rows), rows == 0))
    sign = np.where(np.signbit(rows).sum(axis=1) % 2, -1.0, 1.0)
    product = np.where(nan | (infinite & zero), np.nan, np.where(infinite, np.inf, 0.0) * sign)
    return nan | infinite | zero, product


def _may_leave_the_range(compute: Format, rows: np.ndarray) -> np.ndarray:
    """P61: where the product of the magnitudes over 1 is too large for `compute`, or of those under 1 too small."""
    sizes = np.where(np.isfinite(rows) & (rows != 0), np.abs(rows), 1.0)
    over, under = np.maximum(sizes, 1.0), np.minimum(sizes, 1.0)
    leaves = np.zeros(len(rows), bool)
    for part, limit, sense in ((over, compute.max_finite, 1), (under, compute.min_normal, -1)):
        beyond = (np.log2(part).sum(axis=1) - np.log2(limit)) * sense
        for row in np.flatnonzero(np.abs(beyond) < 2.0**-20):  # far more than the rounding errors of the logarithms
            beyond[row] = sense * (prod(map(Fraction, part[row].tolist())) - Fraction(limit))
        leaves |= beyond > 0
    return leaves


# Logarithms of sums of exponentials


@semantics("aten::logsumexp")
def logsumexp(self: np.ndarray, dim: Sequence[int], keepdim: bool = False) -> Golden:
    """log(sum(exp(x))) over dim, of which the largest element is taken out first (P54, P56)"""
    refuse_complex(format_of(self), "logsumexp")
    if not dim:
        raise Unjudged("no semantics for logsumexp over an empty list of dims (P56)")
    fmt, axes = float_result(format_of(self)), reduced_axes(dim, self.ndim)
    rows = rows_over(converted(self, fmt), axes)
    if rows.shape[1] == 0:
        rows = np.full((len(rows), 1), -np.inf)  # the logarithm of an empty sum
    golden = by_rows(lambda some: _logsumexp_rows(fmt, rows[some]), rows.shape)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def _logsumexp_rows(fmt: Format, rows: np.ndarray) -> Golden:
    def formula(some: np.ndarray) -> np.ndarray:
        return mp.of_float(largest[some]) + log_sum_exp.of_mpmath(rows[some], fmt)[1]

    largest = rows.max(axis=1, keepdims=True)
    infinite = np.isinf(largest)
    real = where(infinite, largest, Real.exact(largest) + log_sum_exp.of_reals(rows)[1])
    value, real = resolved(fmt, real, formula)
    compute = compute_format(fmt)
    budget = (Ball.exact(largest, compute) + log_sum_exp.of_balls(rows, compute)[1]).rad
    return Golden(fmt, value, real, budget=np.where(infinite, 0.0, budget), zero_sign_free=True)
