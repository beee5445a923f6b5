"""Gradients of sums, means and products."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.dims import wrap_dim
from conform.interp.gradients.kinks import kinked, zeros
from conform.interp.gradients.lines import (
    MOST,
    axes_of,
    back,
    converted_first,
    count_of,
    last,
    spread,
    summed_behind,
    summed_from_each,
)
from conform.interp.gradients.rules import gradient
from conform.interp.program.apply import apply
from conform.interp.program.forms import either_form
from conform.interp.program.number import Number
from conform.numerics.real import Real

Dims = int | Sequence[int] | None


@gradient("aten::sum")
def sum_(g: Number, self: Number) -> Number:
    """g, beside each element"""
    return spread(g, self, None)


@gradient("aten::sum.dim_IntList")
def sum_of_dims(g: Number, self: Number, dim: Dims) -> Number:
    """g, beside each element"""
    return spread(g, self, dim)


@gradient("aten::nansum")
def nansum(g: Number, self: Number, dim: Dims) -> Number:
    """g, beside each element that is a number"""
    return kinked(spread(g, self, dim), np.isnan(self.real.hi))


@gradient("aten::mean")
def mean(g: Number, self: Number) -> Number:
    """g / n, beside each element"""
    return spread(g, self, None) / self.real.size


@gradient("aten::mean.dim")
def mean_of_dims(g: Number, self: Number, dim: Dims) -> Number:
    """g / n, beside each element"""
    return spread(g, self, dim) / count_of(self, dim)


@gradient("aten::nanmean")
def nanmean(g: Number, self: Number, dim: Dims) -> Number:
    """g / n, beside each of n elements that are numbers"""
    is_nan = np.isnan(self.real.hi)
    count = np.sum(~is_nan, axis=axes_of(self, dim), keepdims=True).astype(np.float64)
    numbers = Number(self.format, Real.exact(np.broadcast_to(np.maximum(count, 1.0), self.shape)), np.zeros(self.shape))
    return kinked(spread(g, self, dim) / numbers, is_nan)


@gradient("aten::prod")
def prod(g: Number, self: Number, dtype: str | None, result: Number) -> Number:
    """g times the product of the other elements"""
    flat = converted_first(self, dtype).moved(lambda part: part.reshape(-1))
    return _of_product(g, flat, _of_others(flat), result).moved(lambda part: part.reshape(self.shape))


@gradient("aten::prod.dim_int")
def prod_of_dim(g: Number, self: Number, dim: int, dtype: str | None, result: Number) -> Number:
    """g times the product of the other elements of the line"""
    axis = wrap_dim(dim, self.ndim)
    x = converted_first(self, dtype)
    others = back(_of_others(last(x, axis)), axis, self.shape)
    return _of_product(spread(g, self, dim), x, others, spread(result, self, dim))


def _of_product(g: Number, x: Number, others: Number, result: Number) -> Number:
    """g times the product of the others, which a kernel may have of the result, over x where that is not 0."""
    return kinked(either_form(g * others, g * result / _not_zero(x)), ~np.isfinite(x.real.hi))


def _not_zero(x: Number) -> Number:
    """What a known number may be divided by; 1 in place of 0."""
    return Number.exact(np.where(x.array == 0, x.format.storage.type(1), x.array))


def _of_others(lines: Number) -> Number:
    """Of each element of known lines the product of the others."""
    return apply("aten::prod.dim_int", _without_each(lines), -1)


def _without_each(lines: Number) -> np.ndarray:
    """Of each element of known lines [..., n] the line with 1 in its place [..., n, n]."""
    size = lines.shape[-1]
    if lines.array is None or lines.real.size * size > MOST:
        raise Unjudged(f"the products of all but one of {size} elements are too many")
    pairs = np.broadcast_to(lines.array[..., None, :], (*lines.shape[:-1], size, size))
    return np.where(np.eye(size, dtype=bool), lines.format.storage.type(1), pairs)


@gradient("aten::cumsum")
def cumsum(g: Number, dim: int) -> Number:
    """of each place the sum of g there and behind it along dim"""
    return g if not g.ndim else g.flip([dim]).cumsum(dim).flip([dim])


@gradient("aten::cumprod")
def cumprod(g: Number, self: Number, dim: int, dtype: str | None, result: Number) -> Number:
    """of each place the sum, there and behind it along dim, of g times the product of the other elements up to there"""
    axis = wrap_dim(dim, self.ndim)
    x = converted_first(self, dtype)
    summed = summed_from_each(g * result, axis)
    if x.array is None:
        return kinked(summed / x, x.real.hi == 0)
    divided = summed / _not_zero(x)
    products = back(_of_products_so_far(last(g, axis), last(x, axis)), axis, self.shape)
    return kinked(either_form(products, divided), ~np.isfinite(x.real.hi))


def _of_products_so_far(g: Number, lines: Number) -> Number:
    """Of each element of known lines the sum of g times the products so far without it, there and behind it."""
    products = apply("aten::cumprod", _without_each(lines), -1)
    return summed_behind(g.moved(lambda part: part[..., None, :]) * products)


@gradient("aten::logcumsumexp")
def logcumsumexp(g: Number, self: Number, dim: int, result: Number) -> Number:
    """of each place the sum of g e^(self - result), self its own, there and behind it along dim"""
    axis = wrap_dim(dim, self.ndim)
    own, others, weights = (last(one, axis) for one in (self, result, g))
    size = own.shape[-1]
    if own.real.size * size > MOST:
        raise Unjudged(f"all pairs of lines of {size} elements are too many")
    pairs = own.moved(lambda part: part[..., :, None]) - others.moved(lambda part: part[..., None, :])
    return back(summed_behind(weights.moved(lambda part: part[..., None, :]) * pairs.exp()), axis, self.shape)


@gradient("aten::diff", of=("self", "prepend", "append"))
def diff(g: Number, self: Number, n: int, dim: int, prepend: Number | None, append: Number | None) -> Any:
    """of each place g before it less g at it, n times; 0 of lines of no more than n elements"""
    if n == 0:
        return g, *(None if one is None else zeros(one) for one in (prepend, append))
    axis = wrap_dim(dim, self.ndim)
    sizes = [0 if one is None else one.shape[axis] for one in (prepend, self, append)]
    if n >= sum(sizes):
        return tuple(None if one is None else zeros(one) for one in (self, prepend, append))
    whole = g
    for _ in range(n):
        whole = _padded(whole, axis, (1, 0)) - _padded(whole, axis, (0, 1))
    cuts = np.cumsum([0, *sizes])
    parts = [
        whole.moved(lambda part, low=low, high=high: np.moveaxis(np.moveaxis(part, axis, 0)[low:high], 0, axis))
        for low, high in pairwise(cuts)
    ]
    return parts[1], None if prepend is None else parts[0], None if append is None else parts[2]


def _padded(x: Number, axis: int, ends: tuple[int, int]) -> Number:
    widths = [ends if at == axis else (0, 0) for at in range(x.ndim)]
    return x.moved(lambda part: np.pad(part, widths))


@gradient("aten::trace")
def trace(g: Number, self: Number) -> Number:
    """g on the diagonal, 0 elsewhere"""
    zero = Number.exact(np.zeros((), g.format.storage))
    return apply("aten::where.self", np.eye(*self.shape, dtype=bool), g, zero)
