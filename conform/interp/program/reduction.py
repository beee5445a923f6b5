"""Rules of sums, means and extremes over dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.blocks.rows import reduced_shape
from conform.interp.dims import reduced_axes, wrap_dim
from conform.interp.program.elementwise import abs_, ends, larger, mul, refuse_undecided, root, to_copy
from conform.interp.program.number import Number
from conform.interp.program.rules import combined, rule
from conform.numerics import accumulate
from conform.numerics import real as reals
from conform.numerics.ball import Ball
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


@rule("aten::argmax")
def argmax(self: Number, dim: int | None = None, keepdim: bool = False) -> Any:
    """Decided where one ball lies above all others, whole."""
    if self.array is not None:
        return NotImplemented
    low, high = ends(self)
    rows_low, rows_high = (_rows(part, _axes(self, dim)) for part in (low, high))
    found = np.argmax(rows_low, -1, keepdims=True)
    others = rows_high.copy()
    np.put_along_axis(others, found, -np.inf, -1)
    refuse_undecided("aten::argmax", ~(np.take_along_axis(rows_low, found, -1)[..., 0] > others.max(-1)))
    return Number.exact(found.reshape(reduced_shape(self.shape, _axes(self, dim), keepdim)))


@rule("aten::topk")
def topk(self: Number, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """Decided where the balls of the first k numbers, and of the one behind them, lie apart."""
    if self.array is not None:
        return NotImplemented
    if not sorted:
        raise NoGolden("a program cannot use aten::topk with sorted=False: the order is open")
    axis = wrap_dim(dim, self.ndim)
    low, high = (np.moveaxis(part, axis, -1) for part in ends(self))
    middle = np.moveaxis(self.real.hi, axis, -1)
    order = np.argsort(-middle if largest else middle, -1, kind="stable")
    low, high = (np.take_along_axis(part, order, -1) for part in (low, high))
    apart = low[..., :-1] > high[..., 1:] if largest else high[..., :-1] < low[..., 1:]
    refuse_undecided("aten::topk", ~apart[..., :k])
    places = np.moveaxis(order[..., :k], -1, axis)
    return self.moved(lambda part: np.take_along_axis(part, places, axis)), Number.exact(places.astype(np.int64))


def _axes(number: Number, dim: Dims) -> tuple[int, ...]:
    return reduced_axes([dim] if isinstance(dim, int) else dim, number.ndim)


def _over(
    number: Number, dim: Dims, keepdim: bool, real: Callable[[Real], Real], ball: Callable[[Ball], Ball]
) -> Number:
    """Functions of [rows, n], which give [rows, 1]."""
    axes = _axes(number, dim)
    rows = number.moved(lambda part: _rows(part, axes))
    result = combined(number.format, real, ball, rows)
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
