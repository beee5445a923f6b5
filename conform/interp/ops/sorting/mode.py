"""What appears most often along a dim: of values as frequent as each other any one (P150)."""

from __future__ import annotations

import numpy as np

from conform.interp.blocks.rows import Rows, reduced_shape
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden, Ties
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.sorting.order import sorted_rows
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, format_of


@semantics("aten::mode", along="dim", compares=True, selects=True)
def mode(self: np.ndarray, dim: int = -1, keepdim: bool = False) -> tuple[Golden, Golden]:
    """A value that appears most often along dim, and an index where it stands (P150)"""
    axis, fmt = wrap_dim(dim, self.ndim), format_of(self)
    operand = self.reshape(1) if self.ndim == 0 else self
    lines = np.moveaxis(operand, axis, -1)
    _, _, ranks = sorted_rows(Rows.over(operand, (axis,), lambda some: some), descending=False, with_ranks=True)
    elements, is_nan = lines.reshape(ranks.shape), np.isnan(lines).reshape(ranks.shape)
    times = np.where(is_nan, 0, _times(ranks))
    most, nans = times.max(axis=1), np.count_nonzero(is_nan, axis=1)
    place = times.argmax(axis=1)
    shape = reduced_shape(operand.shape, (axis,), keepdim) if self.ndim else ()
    tied = np.count_nonzero(times == most[:, None], axis=1) > most
    unclear = (nans > 0) & (most > 0) & (nans >= most)
    values = exact(elements[np.arange(len(place)), place].reshape(shape), fmt, zero_sign_free=fmt.is_float)
    alike = np.moveaxis(times.reshape(lines.shape), -1, axis)
    indices = exact(place.reshape(shape), FORMATS["int64"], ties=Ties(axis, alike, count=1, repeated=True))
    is_open = (tied & (most > 0) | unclear).reshape(shape)
    return values.opened(is_open, "P150"), indices.opened(unclear.reshape(shape), "P150")


def _times(ranks: np.ndarray) -> np.ndarray:
    """[rows, n]: how often each element of a row stands in it, equal elements having equal ranks below n."""
    count, length = ranks.shape
    numbers = ranks + np.arange(count)[:, None] * length
    return np.bincount(numbers.reshape(-1), minlength=count * length)[numbers]
