"""Goldens of matrices, tile by tile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import prod

import numpy as np

from conform.interp.blocks.assembly import Assembly
from conform.interp.blocks.blocks import fits, spans
from conform.interp.golden import Golden

ROWS = 256  # of a tile, where there are so many: what has to be done for a column is done once for all of them


def tiles(shape: tuple[int, int], width: int = 1) -> Iterator[tuple[slice, slice]]:
    """(some rows, some columns) of a matrix, `width` elements being worked on for each row where those are more than
    its columns."""
    count, columns = shape
    if fits(count * max(columns, width)):
        yield slice(0, count), slice(0, columns)
        return
    at_once = min(next(spans(count, width)).stop, ROWS)
    for some in spans(columns, at_once):
        for rows in spans(count, max(some.stop - some.start, width)):
            yield rows, some


def by_tiles(function: Callable[[slice, slice], Golden], shape: tuple[int, int], width: int = 1) -> Golden:
    """The golden [m, n] of which `function` gives that of a tile."""
    whole = Assembly(*shape)
    for place in tiles(shape, width):
        whole.fill(place, function(*place))
    return whole.golden()


@dataclass(frozen=True)
class Contraction:
    """Sums of products as the elements of a matrix [m, n], of which `tile` gives those of some rows and columns.

    leading: the dims of the result that the rows stand for, in C order; the columns are its dim `axis`. width: how many
    elements are worked on for each row, where those are more than its columns. shape: the result's, where it lacks dims
    of size 1 that it would have so
    """

    leading: tuple[int, ...]
    columns: int
    tile: Callable[[slice, slice], Golden]
    width: int = 1
    axis: int = 1
    shape: tuple[int, ...] | None = None

    @property
    def matrix(self) -> tuple[int, int]:
        return prod(self.leading), self.columns

    def golden(self) -> Golden:
        """All of them, in the shape of the result."""
        whole = by_tiles(self.tile, self.matrix, self.width)
        return whole.rearranged(self._shaped)

    def _shaped(self, matrix: np.ndarray) -> np.ndarray:
        result = np.moveaxis(matrix.reshape(*self.leading, self.columns), -1, self.axis)
        return result if self.shape is None else result.reshape(self.shape)

    def tiles(self) -> Iterator[tuple[slice, slice]]:
        """(some rows, some columns), for all of the matrix."""
        return tiles(self.matrix, self.width)

    def part(self, array: np.ndarray, place: tuple[slice, slice]) -> np.ndarray:
        """[m, n]: what stands at a tile in an array of the result's shape."""
        return self._by_columns(array)[self._index(*place)]

    def put(self, array: np.ndarray, place: tuple[slice, slice], part: np.ndarray) -> None:
        """Puts it there."""
        self._by_columns(array)[self._index(*place)] = part

    def _by_columns(self, array: np.ndarray) -> np.ndarray:
        """A view of an array of the result's shape, [*leading, columns]."""
        sizes = list(self.leading)
        sizes.insert(self.axis if self.axis >= 0 else len(sizes), self.columns)
        return np.moveaxis(array if self.shape is None else array.reshape(sizes), self.axis, -1)

    def _index(self, rows: slice, columns: slice) -> tuple[np.ndarray | slice, ...]:
        return (*np.unravel_index(np.arange(rows.start, rows.stop), self.leading), columns)
