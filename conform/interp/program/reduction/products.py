"""Rules of products over dimensions."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from conform.interp.program.elementwise.steps import of_dtype
from conform.interp.program.number import Number
from conform.interp.program.reduction.over import Dims, along, over, so_far
from conform.interp.program.rules import rule
from conform.numerics.ball import Ball
from conform.numerics.real import Real, concatenate
from conform.numerics.rounding_errors import growth, joined, joined_so_far, underflow


@rule("aten::prod")
def prod(self: Number, dtype: str | None = None) -> Any:
    return prod_over(self, None, False, dtype)


@rule("aten::prod.dim_int")
def prod_over(self: Number, dim: Dims, keepdim: bool = False, dtype: str | None = None) -> Any:
    """In any order."""
    factors = _factors(self, dtype)
    return factors if factors is NotImplemented else over(factors, dim, keepdim, exact_product, product)


@rule("aten::cumprod")
def cumprod(self: Number, dim: int, dtype: str | None = None) -> Any:
    """The products of the elements up to each place along `dim`, each in any order."""
    factors = _factors(self, dtype)
    if factors is NotImplemented:
        return factors
    return along(factors, dim, lambda rows: so_far(operator.mul, rows), lambda rows: _running_products(rows)[:, 1:])


def _factors(self: Number, dtype: str | None) -> Any:
    factors = of_dtype(self, dtype)
    is_known = self.array is not None
    return NotImplemented if is_known or factors is NotImplemented or not factors.format.is_float else factors


def exact_product(rows: Real) -> Real:
    """The products of rows, [rows, 1]."""
    rows = concatenate([Real.exact(np.ones((rows.shape[0], 1))), rows], 1)
    while (count := rows.shape[1]) > 1:
        half = count // 2
        rows = concatenate([rows[:, :half] * rows[:, half : 2 * half], rows[:, 2 * half :]], 1)
    return rows


def product(rows: Ball) -> Ball:
    """The products of rows, [rows, 1]."""
    return _running_products(rows)[:, -1:]


def _running_products(rows: Ball) -> Ball:
    """1, and the products of the elements up to each place, each in any order: n - 1 roundings of partial products that
    are no larger than all magnitudes over 1 together (Higham, lemma 3.1)."""
    ones = np.ones((len(rows.mid), 1))
    mid, rad = np.concatenate([ones, rows.mid], 1), np.concatenate([0 * ones, rows.rad], 1)
    count, size = np.arange(mid.shape[1]), np.abs(mid) + rad
    share = np.where(rad > 0, rad / np.abs(mid), 0.0)
    second_order = np.expm1(np.cumsum(np.log1p(share), 1)) - np.cumsum(share, 1)
    whole, most = np.cumprod(mid, 1), np.cumprod(np.maximum(size, 1.0), 1)
    carried = np.abs(whole) * (joined_so_far(share) + second_order)
    carried = np.where(np.isfinite(share).all(1, keepdims=True), carried, np.cumprod(size, 1))
    rounded = np.expm1(growth(count - 1) * np.log1p(rows.compute.unit_roundoff)) * (np.abs(whole) + carried)
    errors = joined(carried, rounded) + count * underflow(rows.compute) * most
    fits = (most + errors <= rows.compute.max_finite) & ~np.isnan(errors)
    decided = _are_decided(mid, rad, fits, rows.compute.min_normal)
    return Ball(whole, np.where(decided, 0.0, np.where(fits, errors, np.inf)), rows.compute)


def _are_decided(mid: np.ndarray, rad: np.ndarray, fits: np.ndarray, smallest: float) -> np.ndarray:
    """Where a factor so far is NaN, infinite or zero for certain, and decides by that: beside an infinite one no
    product of others may vanish, nor one be infinite beside a zero."""
    def so_far_any(which: np.ndarray) -> np.ndarray:
        return np.logical_or.accumulate(which, 1)

    exact, unbounded = rad == 0, so_far_any(~np.isfinite(rad))
    nan, infinite, zero = (so_far_any(exact & which) for which in (np.isnan(mid), np.isinf(mid), mid == 0))
    vanishes = np.cumprod(np.clip(np.abs(mid) - rad, 0.0, 1.0), 1) < smallest
    of_infinite = infinite & ~unbounded & (zero | ~vanishes)
    return nan | of_infinite | (zero & ~infinite & ~unbounded & fits)
