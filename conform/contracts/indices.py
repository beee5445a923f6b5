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
    """[n]: whether each actual index, of the elements `ties.numbers`, points at an equal of the expected one's."""
    ranks = np.atleast_1d(ties.ranks)
    extent, step = ranks.shape[ties.dim], prod(ranks.shape[ties.dim :][1:])
    first = ties.numbers - ties.numbers // step % extent * step  # of the same row
    inside = (actual >= 0) & (actual < extent)
    mine, its = (flat(ranks, first + np.where(inside, index, 0) * step) for index in (expected, actual))
    return inside & (mine == its)


def repeated(indices: np.ndarray, dim: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(the numbers of some elements in C order, where the same index stands earlier along `dim`), every element once.
    What is no index of the dim counts as repeated by none."""
    indices = np.atleast_1d(indices)
    rows = np.moveaxis(indices, dim, -1)
    extent, step = rows.shape[-1], prod(indices.shape[dim:][1:])
    for some in spans(rows.size // max(extent, 1), extent):
        elements = slice(some.start * extent, some.stop * extent)
        for share in _shares(elements):
            first = np.full(share.stop - share.start, rows.size)
            for block in spans(elements.stop - elements.start):
                places = np.arange(elements.start + block.start, elements.start + block.stop)
                here, again = _seen(flat(rows, places), places, extent, share, first)
                row, column = places[here] // extent, places[here] % extent
                yield (row // step * extent + column) * step + row % step, again


def _shares(elements: slice) -> Iterator[slice]:
    for blocks in spans(-(-(elements.stop - elements.start) // SHARE)):
        yield slice(elements.start + blocks.start * SHARE, min(elements.start + blocks.stop * SHARE, elements.stop))


def _seen(
    indices: np.ndarray, places: np.ndarray, extent: int, share: slice, first: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(which of the `places` [n], in which `indices` stand, have an index of the share; of those, whether it stands in
    an earlier place). `first`: the first place of every index of the share, which is noted here."""
    outside = (indices < 0) | (indices >= extent)
    keys = np.where(outside, places, places // extent * extent + indices) - share.start  # where the index points to
    here = (keys >= 0) & (keys < first.size)
    keys, places, outside = keys[here], places[here], outside[here]
    np.minimum.at(first, keys[~outside], places[~outside])
    return here, ~outside & (first[keys] < places)
