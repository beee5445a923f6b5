"""Rules of ops that write to the elements with known indices: in their place, or added, or joined to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.dims import wrap_dim
from conform.interp.evaluate import evaluate
from conform.interp.program.apply import apply
from conform.interp.program.choice import hull, is_unknown, possible
from conform.interp.program.creation import full
from conform.interp.program.elementwise.arithmetic import scaled
from conform.interp.program.number import Number
from conform.interp.program.reduction.order import amax, amin
from conform.interp.program.reduction.products import prod_over
from conform.interp.program.reduction.sums import mean_over, sum_over
from conform.interp.program.rules import rule
from conform.interp.program.shape import at_places, in_a_row, known, moving, places_of

_scatter = moving("aten::scatter.src", "self", "src")


@rule("aten::scatter.src", selects=True)
def scatter(self: Number, dim: int, index: Number, src: Number) -> Any:
    """`self` with `src` at the places `index` along `dim`. Where these are orders that hang on an error, each element
    is that of one of them; of a line with other places that are chosen nothing is known."""
    if index.array is not None:
        return _scatter(self=self, dim=dim, index=index, src=src)
    results = [apply("aten::scatter.src", self, dim, one, src) for one in _orders(index)]
    if not results[0].format.is_float:
        raise NoGolden("a program cannot use aten::scatter of integers at computed places")
    axis = wrap_dim(dim, self.ndim)
    hangs = is_unknown(index) if index.are_orders else np.broadcast_to(index.rad, index.shape) > 0
    unknown = np.zeros(self.shape, bool)
    own = tuple(slice(None) if at == axis else slice(size) for at, size in enumerate(index.shape))
    unknown[own] = hangs.any(axis, keepdims=True)
    return hull(results, unknown)


_index_put = moving("aten::index_put", "self", "values")


@rule("aten::index_put")
def index_put(self: Number, indices: Sequence[Number | None], values: Number, accumulate: bool = False) -> Any:
    """`self` with `values` at self[indices]: the rows of a cache, say."""
    if self.array is not None and values.array is not None:
        return NotImplemented
    places = [None if one is None else known("aten::index_put", "indices", one) for one in indices]
    if not accumulate:
        return _index_put(self=self, indices=places, values=values)
    at = _places_in(self, "aten::index.Tensor", indices=places)
    return _joined_at(self, at, values.moved(lambda part: np.broadcast_to(part, at.shape)), JOINS["sum"])


def _orders(index: Number) -> list[Number]:
    """The places of the exact numbers, and all others that may be as a whole."""
    orders = possible("aten::scatter", index)
    return orders if index.are_orders else orders[:1]


@rule("aten::scatter.value", selects=True)
def scatter_value(self: Number, dim: int, index: Number, value: float) -> Any:
    """`self` with `value` at the places `index` along `dim`."""
    return apply("aten::scatter.src", self, dim, index, full(index.shape, value, dtype=self.dtype))


# --- Added, or joined otherwise ---------------------------------------------------------------------------------------

Join = Callable[[Number], Number]  # what the numbers of each row come to, [rows, n] to [rows]
JOINS: dict[str, Join] = {
    "sum": lambda rows: sum_over(rows, [1]),
    "prod": lambda rows: prod_over(rows, [1]),
    "mean": lambda rows: mean_over(rows, [1]),
    "amax": lambda rows: amax(rows, [1]),
    "amin": lambda rows: amin(rows, [1]),
}


@rule("aten::scatter_add")
def scatter_add(self: Number, dim: int, index: Number, src: Number) -> Any:
    """`self` with the elements of `src` added at the places `index` along `dim`, in any order."""
    return scatter_reduce(self, dim, index, src, "sum")


@rule("aten::scatter_reduce.two")
def scatter_reduce(
    self: Number, dim: int, index: Number, src: Number, reduce: str, include_self: bool = True
) -> Any:
    """Each element joined with those of `src` at its places; without itself, if so told, where there are any."""
    if self.array is not None and src.array is not None:
        return NotImplemented
    at = _places_in(self, "aten::gather", dim=dim, index=known("aten::scatter_reduce", "index", index))
    written = src.moved(lambda part: part[tuple(map(slice, at.shape))])
    return _joined_at(self, at, written, JOINS[reduce], include_self)


@rule("aten::index_add")
def index_add(self: Number, dim: int, index: Number, source: Number, alpha: float = 1) -> Any:
    """`self` with alpha times the slices of `source` added to those with the numbers `index` along `dim`."""
    if self.array is not None and source.array is not None:
        return NotImplemented
    at = _places_in(self, "aten::index_select", dim=dim, index=known("aten::index_add", "index", index))
    return _joined_at(self, at, scaled(source.moved(lambda part: part.reshape(at.shape)), alpha), JOINS["sum"])


def _places_in(self: Number, op: str, **arguments: Any) -> np.ndarray:
    """Which elements of `self`, counted on from 1, an op picks."""
    (places,) = places_of([self.shape])
    return evaluate(op, (), {"self": places, **arguments}).goldens[0].value


def _joined_at(self: Number, at: np.ndarray, written: Number, join: Join, with_self: bool = True) -> Number:
    """Each element of `self` and those of `written` that go there: `at` tells of each the place, counted on from 1."""
    if not self.format.is_float or written.format != self.format:
        raise NoGolden(f"a program cannot join {written.dtype} numbers that it has computed to those of {self.dtype}")
    row, size = in_a_row([self, written]), self.real.size
    order, count = np.argsort(at.reshape(-1), kind="stable"), np.bincount(at.reshape(-1), minlength=size + 1)[1:]
    starts, parts, elements = np.cumsum(count) - count, [], []
    for number in np.unique(count):  # rows of one length at a time
        some = np.flatnonzero(count == number)
        writes = size + 1 + order[starts[some][:, None] + np.arange(number)]
        rows = np.concatenate([some[:, None] + 1, writes], 1) if with_self or not number else writes
        parts.append(join(at_places(row, rows)))
        elements.append(some)
    back = np.argsort(np.concatenate([np.empty(0, np.int64), *elements])) + 1
    return at_places(in_a_row([row.moved(lambda part: part[:0]), *parts]), back.reshape(self.shape))
