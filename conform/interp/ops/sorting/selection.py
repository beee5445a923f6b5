"""The k largest or smallest elements, and the one of a given place in the order: NaN is the greatest (P22)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.blocks.rows import Rows
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden, Ties
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.sorting.order import sorted_rows
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, format_of


@semantics("aten::topk", along="dim", compares=True, selects=True)
def topk(
    self: np.ndarray, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Golden, Golden]:
    """The k largest (or smallest) elements along dim in order, and where each was; the choice among equal ones is free
    (P22, P23), and unless sorted so is the order (P112)"""
    axis = wrap_dim(dim, self.ndim)
    operand = self.reshape(1) if self.ndim == 0 else self
    values, indices, ranks = _in_order(operand, axis, largest)
    values, indices = (np.moveaxis(part[..., :k], -1, axis) for part in (values, indices))
    return tuple(
        golden if sorted or k < 2 else golden.opened(np.ones(golden.value.shape, bool), "P112")
        for golden in _selected(self, values, indices, Ties(axis, np.moveaxis(ranks, -1, axis), count=k))
    )


def _in_order(operand: np.ndarray, axis: int, descending: bool) -> list[np.ndarray]:
    """(the elements in order, where each was, the ranks of all), with the lines along `axis` last."""
    shape = np.moveaxis(operand, axis, -1).shape
    rows = Rows.over(operand, (axis,), lambda some: some)
    return [part.reshape(shape) for part in sorted_rows(rows, descending, with_ranks=True)]


def _selected(self: np.ndarray, values: np.ndarray, indices: np.ndarray, ties: Ties) -> tuple[Golden, Golden]:
    shape = values.shape if self.ndim else ()
    value = exact(values.reshape(shape), format_of(self), zero_sign_free=format_of(self).is_float)
    return value, exact(indices.reshape(shape), FORMATS["int64"], ties=ties)


@semantics("aten::kthvalue", along="dim", compares=True, selects=True)
def kthvalue(self: np.ndarray, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Golden, Golden]:
    """The k-th smallest element along dim, counted from 1, and an index of it (P22, P23)"""
    return _one_of_each_line(self, dim, keepdim, lambda ordered: np.full(ordered.shape[:-1], k - 1))


@semantics("aten::median.dim", along="dim", compares=True, selects=True)
def median_along(self: np.ndarray, dim: int, keepdim: bool = False) -> tuple[Golden, Golden]:
    """The lower median along dim, NaN if any is NaN, and an index of it (P23)"""
    return _one_of_each_line(self, dim, keepdim, _median_place)


@semantics("aten::nanmedian.dim", along="dim", compares=True, selects=True)
def nanmedian_along(self: np.ndarray, dim: int, keepdim: bool = False) -> tuple[Golden, Golden]:
    """The lower median along dim of what is not NaN, NaN if all are, and an index of it (P23)"""
    return _one_of_each_line(self, dim, keepdim, _nanmedian_place)


@semantics("aten::median", compares=True, selects=True)
def median(self: np.ndarray) -> Golden:
    """The lower median of all elements, NaN if any is NaN or there is none"""
    return _of_all(self, _median_place)


@semantics("aten::nanmedian", compares=True, selects=True)
def nanmedian(self: np.ndarray) -> Golden:
    """The lower median of all elements that are not NaN, NaN if there is none"""
    return _of_all(self, _nanmedian_place)


def _of_all(self: np.ndarray, place: Callable[[np.ndarray], np.ndarray]) -> Golden:
    if not self.size:
        return exact(np.array(np.nan), format_of(self))
    return _one_of_each_line(self.reshape(-1), 0, False, place)[0]


def _median_place(ordered: np.ndarray) -> np.ndarray:
    count = ordered.shape[-1]
    last = ordered[..., -1]
    return np.where(last != last, count - 1, (count - 1) // 2)


def _nanmedian_place(ordered: np.ndarray) -> np.ndarray:
    count = ordered.shape[-1] - np.count_nonzero(ordered != ordered, axis=-1)
    return np.maximum(count - 1, 0) // 2


def _one_of_each_line(
    self: np.ndarray, dim: int, keepdim: bool, place: Callable[[np.ndarray], np.ndarray]
) -> tuple[Golden, Golden]:
    """The element of each line at `place` of its order, and where it stands: of equal ones anywhere."""
    axis = wrap_dim(dim, self.ndim)
    operand = self.reshape(1) if self.ndim == 0 else self
    ordered, order, ranks = _in_order(operand, axis, descending=False)
    places = place(ordered)[..., None]
    values, indices = (np.take_along_axis(part, places, -1)[..., 0] for part in (ordered, order))
    if keepdim and self.ndim:
        values, indices = (np.expand_dims(part, axis) for part in (values, indices))
    return _selected(self, values, indices, Ties(axis, np.moveaxis(ranks, -1, axis), count=1, repeated=True))
