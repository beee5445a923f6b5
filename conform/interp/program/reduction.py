"""Rules of sums, means and extremes over dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.blocks.rows import reduced_shape
from conform.interp.dims import reduced_axes, wrap_dim
from conform.interp.program.choice import MOST_ALLOWED, choice
from conform.interp.program.elementwise.arithmetic import abs_, add, div, larger, mul, neg, root
from conform.interp.program.elementwise.steps import ends, to_copy
from conform.interp.program.number import Number
from conform.interp.program.rules import combined, rule
from conform.numerics import accumulate
from conform.numerics import real as reals
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real

Dims = Sequence[int] | int | None


@rule("aten::sum")
def sum_(self: Number, dtype: str | None = None) -> Any:
    return sum_over(self, None, False, dtype)


@rule("aten::sum.dim_IntList")
def sum_over(self: Number, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> Any:
    """In any order: gamma_(n-1) times the sum of magnitudes, and what the terms' errors add up to."""
    terms = self if dtype is None else to_copy(self, dtype)
    if terms is NotImplemented or not terms.format.is_float:
        return NotImplemented
    return _over(terms, dim, keepdim, _exact_sum, lambda rows: rows.sum(-1))


@rule("aten::mean")
def mean(self: Number, dtype: str | None = None) -> Any:
    return mean_over(self, None, False, dtype)


@rule("aten::mean.dim")
def mean_over(self: Number, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> Any:
    """The sum divided by the number of terms."""
    total = sum_over(self, dim, keepdim, dtype)
    if total is NotImplemented:
        return total
    count = np.float64(np.prod([self.shape[axis] for axis in _axes(self, dim)]))
    return combined(total.format, lambda x: x / count, lambda x: x / float(count), total)


@rule("aten::linalg_vector_norm")
def vector_norm(
    self: Number, ord: float = 2, dim: Dims = None, keepdim: bool = False, dtype: str | None = None
) -> Any:
    """The root of the sum of squares, the sum of magnitudes (ord 1), or the largest of them (inf)."""
    terms = self if dtype is None else to_copy(self, dtype)
    if terms is NotImplemented or terms.array is not None:
        return NotImplemented
    if ord == 2:
        return root(sum_over(mul(terms, terms), dim, keepdim))
    if ord == 1:
        return sum_over(abs_(terms), dim, keepdim)
    if ord == float("inf"):
        return amax(abs_(terms), dim, keepdim)
    raise NoGolden(f"a program cannot use aten::linalg_vector_norm with ord={ord}: expected 2, 1 or inf")


@rule("aten::amax", selects=True)
def amax(self: Number, dim: Dims = (), keepdim: bool = False) -> Any:
    if self.array is not None:
        return NotImplemented
    return _over(self, dim, keepdim, _largest_real, _largest_ball)


def largest(x: Number, axis: int) -> Number:
    """The largest number of each row along `axis`, which is kept, as if it were known: an element that an
    implementation subtracts, whichever it is, and whatever error it has, before it divides that out again."""
    if x.ndim == 0:
        return Number(x.format, x.real, np.zeros(()))
    place = np.argmax(np.where(np.isnan(x.real.hi), np.inf, x.real.hi), axis, keepdims=True)
    return Number(x.format, x.real.map_parts(lambda part: np.take_along_axis(part, place, axis)), np.zeros(place.shape))


@rule("aten::max.dim")
def max_along(self: Number, dim: int, keepdim: bool = False) -> Any:
    """The largest of each row, and its place."""
    return NotImplemented if self.array is not None else (amax(self, dim, keepdim), argmax(self, dim, keepdim))


@rule("aten::min.dim")
def min_along(self: Number, dim: int, keepdim: bool = False) -> Any:
    """The smallest of each row, and its place."""
    if self.array is not None:
        return NotImplemented
    values, places = max_along(neg(self), dim, keepdim)
    return neg(values), places


@rule("aten::var.correction")
def var(self: Number, dim: Dims = None, correction: float | None = None, keepdim: bool = False) -> Any:
    """The sum of squared distances from the mean, divided by the number of terms less `correction` (1)."""
    if self.array is not None:
        return NotImplemented
    centred = add(self, neg(mean_over(self, dim, True)))
    count = prod(self.shape[axis] for axis in _axes(self, dim)) - (1 if correction is None else correction)
    if count <= 0:
        raise NoGolden(f"a program cannot use aten::var.correction of {count + (correction or 1)} terms")
    return div(sum_over(mul(centred, centred), dim, keepdim), float(count))


@rule("aten::argmax")
def argmax(self: Number, dim: int | None = None, keepdim: bool = False) -> Any:
    """The place of the largest; of balls that reach as far as the largest number for certain each may be it."""
    if self.array is not None:
        return NotImplemented
    low, high, middle = (_rows(part, _axes(self, dim)) for part in (*ends(self), self.real.hi))
    found, unknown = _may_be(low, high, np.where(np.isnan(middle), np.inf, middle), np.zeros((len(middle), 1), int))
    shape = reduced_shape(self.shape, _axes(self, dim), keepdim)
    return choice(FORMATS["int64"], [one.reshape(shape) for one in found], unknown.reshape(shape))


@rule("aten::argmin")
def argmin(self: Number, dim: int | None = None, keepdim: bool = False) -> Any:
    """The place of the smallest, as `argmax`."""
    if self.array is not None or bool(np.isnan(self.real.hi).any()):
        return NotImplemented
    return argmax(neg(self), dim, keepdim)


@rule("aten::topk")
def topk(self: Number, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The first k numbers in order, and their places: of balls that overlap each may be it."""
    if self.array is not None:
        return NotImplemented
    if not sorted:
        raise NoGolden("a program cannot use aten::topk with sorted=False: the order is open")
    return _ordered(self, k, dim, largest)


@rule("aten::sort")
def sort(self: Number, dim: int = -1, descending: bool = False) -> Any:
    """All numbers in order, and their places, as `topk`."""
    if self.array is not None or self.ndim == 0:
        return NotImplemented
    return _ordered(self, self.shape[dim], dim, descending)


@rule("aten::sort.stable")
def sort_stably(self: Number, stable: bool | None = None, dim: int = -1, descending: bool = False) -> Any:
    return sort(self, dim, descending)


def _ordered(x: Number, count: int, dim: int, descending: bool) -> tuple[Number, Number]:
    """The first `count` numbers along `dim`, and their places."""
    axis = wrap_dim(dim, x.ndim)
    moved = x.moved(lambda part: np.moveaxis(part, axis, -1))
    lines = moved.moved(lambda part: part.reshape(prod(part.shape[:-1]), part.shape[-1]))
    key = lines if descending else neg(lines)
    places, unknown = _may_be(*ends(key), key.real.hi, np.broadcast_to(np.arange(count), (lines.shape[0], count)))
    hangs = np.logical_or.reduce([unknown, *(one != places[0] for one in places)])
    furthest = np.max(np.broadcast_to(lines.rad, lines.shape), 1, keepdims=True, initial=0.0)
    furthest = np.where(np.isnan(lines.real.hi).any(1, keepdims=True), np.inf, furthest)
    values = lines.moved(lambda part: np.take_along_axis(part, places[0], 1))
    values = replace(values, rad=np.where(hangs, furthest, values.rad), array=None)  # in order they move by no more

    def placed(part: np.ndarray) -> np.ndarray:
        return np.moveaxis(part.reshape(*moved.shape[:-1], count), -1, axis)

    found = choice(FORMATS["int64"], list(map(placed, places)), placed(unknown))
    return values.moved(placed), replace(found, are_orders=True)


def _may_be(
    low: np.ndarray, high: np.ndarray, middle: np.ndarray, ranks: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """([the places that the number of each rank may have], of which no more are told): of [lines, n] balls, ranks from
    the largest, [lines, k]. The first places are those of the middles, the others orders that may be as well: every
    group of numbers of which any may come first is turned by one, two, three."""
    order = np.argsort(-middle, 1, kind="stable")
    low, high = (np.take_along_axis(part, order, 1) for part in (low, high))
    # What lies between two gaps may come in any order. A line with a NaN has none.
    highest = np.maximum.accumulate(high[:, ::-1], 1)[:, ::-1]
    lowest = np.minimum.accumulate(low, 1)
    with np.errstate(invalid="ignore"):
        gap = lowest[:, :-1] > highest[:, 1:]
    start, size = (np.take_along_axis(part, ranks, 1) for part in _groups(gap))
    found = [np.take_along_axis(order, start + (ranks - start + turn) % size, 1) for turn in range(MOST_ALLOWED)]
    return found, (size > MOST_ALLOWED) | np.isnan(low + high).any(1, keepdims=True)


def _groups(gap: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(where the group of each place begins, how many places it has), of lines with gaps behind some places."""
    places, edge = np.arange(gap.shape[1] + 1), np.ones((len(gap), 1), bool)
    start = np.maximum.accumulate(np.where(np.concatenate([edge, gap], 1), places, 0), 1)
    last = np.where(np.concatenate([gap, edge], 1), places, len(places) - 1)
    return start, np.minimum.accumulate(last[:, ::-1], 1)[:, ::-1] + 1 - start


def _axes(number: Number, dim: Dims) -> tuple[int, ...]:
    return reduced_axes([dim] if isinstance(dim, int) else dim, number.ndim)


def _over(
    number: Number, dim: Dims, keepdim: bool, real: Callable[[Real], Real], ball: Callable[[Ball], Ball]
) -> Number:
    """Functions of [rows, n], which give [rows, 1]."""
    axes = _axes(number, dim)
    rows = number.moved(lambda part: _rows(part, axes))
    result = combined(number.format, real, ball, rows, of_rows=True)
    return result.moved(lambda part: part.reshape(reduced_shape(number.shape, axes, keepdim)))


def _rows(part: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    kept = [axis for axis in range(part.ndim) if axis not in axes]
    count = int(np.prod([part.shape[axis] for axis in axes]))
    lines = int(np.prod([part.shape[axis] for axis in kept]))
    return part.transpose(*kept, *axes).reshape(lines, count) if part.ndim else part.reshape(1, 1)


def _exact_sum(rows: Real) -> Real:
    if not rows.lo.any() and not rows.radius.any():
        return accumulate.total(rows.hi, -1).real.reshape((len(rows.hi), 1))
    return rows.sum(-1, keepdims=True)


def _largest_real(rows: Real) -> Real:
    return _folded(reals.maximum, rows, rows.shape[1])


def _largest_ball(rows: Ball) -> Ball:
    return _folded(larger, rows, rows.mid.shape[1])


def _folded(join: Callable[[Any, Any], Any], rows: Any, count: int) -> Any:
    """The halves of each row joined until one element is left; the middle one may take part in both."""
    while count > 1:
        half = (count + 1) // 2
        rows, count = join(rows[:, :half], rows[:, count - half :]), half
    return rows
