"""Work a block at a time: what is computed on the way to a golden stays small, however large a tensor is (guarantees
18 and 19 of conform/numerics).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

BLOCK = 1 << 16  # elements worked on at a time
KEPT_BYTES = 16 << 20  # of freed memory, which the work space of a block does not reach

# glibc keeps twice as much freed memory as the largest array ever freed, up to 32 MiB (mallopt(3), M_MMAP_THRESHOLD),
# and 256 KiB without one: the work space would be given back after every block, and paged in again for the next.
np.empty(KEPT_BYTES, np.uint8)

T = TypeVar("T")


def fits(count: int) -> bool:
    """Whether so many elements are worked on at once."""
    return count <= BLOCK


def spans(count: int, width: int = 1) -> Iterator[slice]:
    """The places of `count` entries of `width` elements each, a block after the other; of none, one empty block."""
    step = max(BLOCK // max(width, 1), 1)
    for start in range(0, max(count, 1), step):
        yield slice(start, min(start + step, count))


def flat(array: np.ndarray, place: slice | np.ndarray) -> np.ndarray:
    """The elements `place` of `array` in C order, [n], without a copy of the others."""
    if array.flags.c_contiguous:
        return array.reshape(-1)[place]
    if not isinstance(place, slice) or not array.size:
        return array.flat[place]
    pieces = list(_pieces(array, *place.indices(array.size)[:2]))
    return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)


def _pieces(array: np.ndarray, start: int, stop: int) -> Iterator[np.ndarray]:
    """The elements `start` to `stop` of an array that is not contiguous: whole rows are copied many times as fast as
    element by element."""
    if array.ndim == 1:
        yield array[start:stop]
        return
    row = array[0].size
    first, last = -(-start // row), stop // row  # whole rows
    if first > last:
        yield from _pieces(array[last], start - last * row, stop - last * row)
        return
    if start < first * row:
        yield from _pieces(array[first - 1], start - (first - 1) * row, row)
    if first < last or start == stop:
        yield array[first:last].reshape(-1)
    if last * row < stop:
        yield from _pieces(array[last], 0, stop - last * row)


def everywhere(holds: Callable[..., np.ndarray], *arrays: np.ndarray) -> bool:
    """Whether `holds`, of arrays of one shape, is true of every element."""
    return all(holds(*(flat(array, place) for array in arrays)).all() for place in spans(arrays[0].size))


class Pieces(Generic[T]):
    """What is known of rows, piece by piece of their columns. It is made again whenever it is read, but for a single
    piece, which is kept."""

    def __init__(self, make: Callable[[], Iterable[T]], are_many: bool) -> None:
        self.make, self.are_many = make, are_many
        self._only: list[T] | None = None

    def __iter__(self) -> Iterator[T]:
        if self.are_many:
            return iter(self.make())
        if self._only is None:
            self._only = list(self.make())
        return iter(self._only)

    def map(self, function: Callable[..., Any], *others: Iterable[Any]) -> Pieces:
        """function(piece, *pieces of the others)."""
        return Pieces(lambda: map(function, self, *others), self.are_many)
