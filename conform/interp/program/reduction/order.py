"""Rules of extremes and of orders: the numbers, and the places where they stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.blocks.rows import reduced_shape
from conform.interp.dims import wrap_dim
from conform.interp.program.choice import MOST_ALLOWED, choice
from conform.interp.program.elementwise.arithmetic import larger, neg
from conform.interp.program.elementwise.steps import ends
from conform.interp.program.number import Number
from conform.interp.program.reduction.over import Dims, axes_of, over, rows_of
from conform.interp.program.rules import rule
from conform.numerics import real as reals
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real


@rule("aten::amax", selects=True)
def amax(self: Number, dim: Dims = (), keepdim: bool = False) -> Any:
    if self.array is not None:
        return NotImplemented
    return over(self, dim, keepdim, _largest_real, _largest_ball)


@rule("aten::amin", selects=True)
def amin(self: Number, dim: Dims = (), keepdim: bool = False) -> Any:
    return NotImplemented if self.array is not None else neg(amax(neg(self), dim, keepdim))


@rule("aten::max", selects=True)
def max_of_all(self: Number) -> Any:
    return amax(self)


@rule("aten::min", selects=True)
def min_of_all(self: Number) -> Any:
    return amin(self)


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


@rule("aten::argmax")
def argmax(self: Number, dim: int | None = None, keepdim: bool = False) -> Any:
    """The place of the largest; of balls that reach as far as the largest number for certain each may be it."""
    if self.array is not None:
        return NotImplemented
    low, high, middle = (rows_of(part, axes_of(self, dim)) for part in (*ends(self), self.real.hi))
    found, unknown = _may_be(low, high, np.where(np.isnan(middle), np.inf, middle), np.zeros((len(middle), 1), int))
    shape = reduced_shape(self.shape, axes_of(self, dim), keepdim)
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
