"""The distinct slices of a tensor along a dim, all of them or those that differ from the one before."""

from __future__ import annotations

import numpy as np

from conform.interp.blocks.rows import Rows
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.sorting.order import sorted_rows
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, format_of

Results = tuple[Golden, Golden, Golden]


@semantics("aten::unique_dim", compares=True)
def unique_dim(
    self: np.ndarray, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False
) -> Results:
    """(the distinct slices along dim in lexicographic order, which of them each slice of self is, how often each stands
    in self); zeros of both signs are equal (P24), beside NaN nothing is known (P152). Without sorted the order is open,
    and what is not asked for is None (P143)"""
    if np.isnan(self).any():
        return _asked((Golden.of_nothing_documented("P152"),) * 3, return_inverse, return_counts)
    axis = wrap_dim(dim, self.ndim)
    ranks = _ranked_slices(self, axis)
    order = np.lexsort(ranks.T[::-1]) if ranks.size else np.arange(len(ranks))
    starts = _starts(ranks[order])
    which = np.empty(len(order), np.int64)
    which[order] = np.cumsum(starts) - 1
    results = _results(self, axis, order[starts], which, which.shape)
    if not sorted and np.count_nonzero(starts) > 1:
        results = tuple(each.opened(np.ones(each.value.shape, bool), "P143") for each in results)
    return _asked(results, return_inverse, return_counts)


@semantics("aten::unique_dim_consecutive", compares=True)
def unique_dim_consecutive(
    self: np.ndarray, dim: int, return_inverse: bool = False, return_counts: bool = False
) -> Results:
    """(the slices along dim that differ from the one before, at which of them each slice of self stands, how many
    slices each begins); NaN is equal to none, and zeros of both signs to each other (P24). What is not asked for
    is None (P143)"""
    axis = wrap_dim(dim, self.ndim)
    return _consecutive(self, axis, self.shape[axis : axis + 1], return_inverse, return_counts)


@semantics("aten::unique_consecutive", compares=True)
def unique_consecutive(
    self: np.ndarray, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Results:
    """unique_dim_consecutive; without dim of the elements of self one after the other (P24, P143)"""
    if dim is not None:
        return unique_dim_consecutive(self, dim, return_inverse, return_counts)
    return _consecutive(self.reshape(-1), 0, self.shape, return_inverse, return_counts)


def _consecutive(
    self: np.ndarray, axis: int, places: tuple[int, ...], return_inverse: bool, return_counts: bool
) -> Results:
    starts = _starts(_slices(self, axis))
    which = np.cumsum(starts) - 1
    return _asked(_results(self, axis, np.flatnonzero(starts), which, places), return_inverse, return_counts)


def _ranked_slices(self: np.ndarray, axis: int) -> np.ndarray:
    """[slices, elements]: equal numbers have equal ranks, and greater ones greater."""
    row = Rows.over(self, tuple(range(self.ndim)), lambda some: some)
    _, _, ranks = sorted_rows(row, descending=False, with_ranks=True)
    return _slices(ranks.reshape(self.shape), axis)


def _slices(array: np.ndarray, axis: int) -> np.ndarray:
    """[slices, elements]"""
    return np.moveaxis(array, axis, 0).reshape(array.shape[axis], array.size // max(array.shape[axis], 1))


def _starts(ordered: np.ndarray) -> np.ndarray:
    """Which rows differ from the one before."""
    starts = np.ones(len(ordered), bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return starts


def _results(
    self: np.ndarray, axis: int, chosen: np.ndarray, which: np.ndarray, places: tuple[int, ...]
) -> Results:
    """The slices that are `chosen`; `which` of them each slice is, in the shape `places`; how often each is one."""
    fmt, index = format_of(self), FORMATS["int64"]
    values = exact(np.take(self, chosen, axis), fmt, zero_sign_free=fmt.is_float)
    counts = np.bincount(which, minlength=len(chosen))
    return values, exact(which.reshape(places), index), exact(counts, index)


def _asked(results: Results, return_inverse: bool, return_counts: bool) -> Results:
    return results[0], results[1] if return_inverse else Golden.none(), results[2] if return_counts else Golden.none()
