"""Index outputs whose choice among equal elements is free (`Ties`).

An index is right if it points at an element that is equal to the expected one's, and stands nowhere before along the
dim. Whether it does is found by noting the first place of every index, of as many indices at a time as take the memory
of a few blocks: a row that is longer is gone through for every share of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Ties

SHARE = 16  # blocks of indices whose first places are noted at a time


def equal_rank(expected: np.ndarray, actual: np.ndarray, ties: Ties) -> np.ndarray:
    """Whether each actual index, of all elements or of `ties.numbers` [n], points at an equal of the expected one's."""
    ranks = np.atleast_1d(ties.ranks)
    extent, step = ranks.shape[ties.dim], prod(ranks.shape[ties.dim :][1:])
    numbers = np.arange(expected.size).reshape(expected.shape) if ties.numbers is None else ties.numbers
    width = extent if ties.count is None else ties.count
    first = numbers // (step * max(width, 1)) * (step * extent) + numbers % step  # of the same row
    last = numbers // step % max(width, 1) if ties.so_far else extent - 1
    inside = (actual >= 0) & (actual <= last)
    mine, its = (
        flat(ranks, (first + np.where(inside, index, 0) * step).reshape(-1)).reshape(inside.shape)
        for index in (expected, actual)
    )
    return inside & (mine == its)


def repeated(indices: np.ndarray, ties: Ties) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(the numbers of some elements in C order, where the same index stands earlier along the dim), every element once.
    What is no index of the dim counts as repeated by none."""
    indices, extent = np.atleast_1d(indices), np.atleast_1d(ties.ranks).shape[ties.dim]
    rows = np.moveaxis(indices, ties.dim, -1)
    width, step = rows.shape[-1], prod(indices.shape[ties.dim :][1:])
    for some in spans(rows.size // max(width, 1), extent):
        for share in _shares(slice(some.start * extent, some.stop * extent)):
            first = np.full(share.stop - share.start, rows.size)
            for block in spans((some.stop - some.start) * width):
                places = np.arange(some.start * width + block.start, some.start * width + block.stop)
                here, again = _seen(flat(rows, places), places // max(width, 1) * extent, places, extent, share, first)
                row, column = np.divmod(places[here], max(width, 1))
                yield (row // step * width + column) * step + row % step, again


def _shares(elements: slice) -> Iterator[slice]:
    for blocks in spans(-(-(elements.stop - elements.start) // SHARE)):
        yield slice(elements.start + blocks.start * SHARE, min(elements.start + blocks.stop * SHARE, elements.stop))


def _seen(
    indices: np.ndarray, rows: np.ndarray, places: np.ndarray, extent: int, share: slice, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(which of the `places` [n], in which `indices` into `rows` stand, have an index of the share; of those, whether
    it stands in an earlier place). `first`: the first place of every index of the share, which is noted here."""
    outside = (indices < 0) | (indices >= extent)
    keys = np.where(outside, rows, rows + indices) - share.start  # where the index points to
    here = (keys >= 0) & (keys < first.size)
    keys, places, outside = keys[here], places[here], outside[here]
    np.minimum.at(first, keys[~outside], places[~outside])
    return here, ~outside & (first[keys] < places)
