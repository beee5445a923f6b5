"""Reductions as rows: the reduced dimensions of a tensor as the last axis of a matrix.

Rows are read in blocks of some of them; a row that is longer than a block is one by itself, and comes in pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import prod

import numpy as np

from conform.interp.blocks.assembly import Assembly, assembled
from conform.interp.blocks.blocks import Pieces, fits, flat, spans
from conform.interp.golden import Golden

Read = Callable[[np.ndarray], np.ndarray]


def as_float64(elements: np.ndarray) -> np.ndarray:
    return elements.astype(np.float64)


class Rows:
    """`count` rows of `terms` elements each: those of `source` in C order from row `first` on, as `read` gives them."""

    def __init__(self, source: np.ndarray, count: int, terms: int, read: Read = as_float64, first: int = 0) -> None:
        self.source, self.count, self.terms, self.read, self.first = source, count, terms, read, first
        self._only: list[np.ndarray] | None = None

    @staticmethod
    def over(tensor: np.ndarray, axes: tuple[int, ...], read: Read = as_float64) -> Rows:
        """A row for every result of a reduction of `tensor` over `axes`."""
        kept = [axis for axis in range(tensor.ndim) if axis not in axes]
        count, terms = (prod(tensor.shape[axis] for axis in some) for some in (kept, axes))
        return Rows(tensor.transpose(*kept, *axes), count, terms, read)

    def blocks(self) -> Iterator[tuple[slice, Rows]]:
        """(which rows, those)."""
        for place in spans(self.count, self.terms):
            yield place, Rows(self.source, place.stop - place.start, self.terms, self.read, self.first + place.start)

    @property
    def place(self) -> slice:
        """Which rows of the source these are."""
        return slice(self.first, self.first + self.count)

    @property
    def is_long(self) -> bool:
        return not fits(self.count * self.terms)

    @property
    def columns(self) -> Iterable[slice]:
        """The columns of each piece."""
        return spans(self.terms) if self.is_long else [slice(0, self.terms)]

    @property
    def pieces(self) -> Pieces[np.ndarray]:
        """The rows [count, m], in as many pieces of their columns as they are long."""
        return Pieces(self._pieces, self.is_long)

    def _pieces(self) -> Iterable[np.ndarray]:
        if self.is_long:
            return (self._piece(columns) for columns in self.columns)
        self._only = self._only or [self._piece(slice(0, self.terms))]
        return self._only

    def _piece(self, columns: slice) -> np.ndarray:
        """A piece: some columns of one row, or all of several rows."""
        start = self.first * self.terms + columns.start
        size = self.count * (columns.stop - columns.start)
        return self.read(flat(self.source, slice(start, start + size))).reshape(self.count, -1 if size else self.terms)

    def beside(self, function: Callable[[slice, slice], np.ndarray]) -> Pieces[np.ndarray]:
        """function(rows of the source, columns), an array that broadcasts to a piece, beside each of them."""
        return Pieces(lambda: (function(self.place, columns) for columns in self.columns), self.is_long)

    def row(self, number: int) -> Pieces[np.ndarray]:
        """The elements [m] of one row, piece by piece."""
        return self.pieces.map(lambda piece: piece[number])

    def part(self, number: int, columns: slice) -> np.ndarray:
        """[m]: some elements of one row."""
        start = (self.first + number) * self.terms
        return self.read(flat(self.source, slice(start + columns.start, start + columns.stop)))

    def at(self, columns: np.ndarray) -> np.ndarray:
        """[count, m]: the elements of each row in its own columns [count, m]."""
        places = (self.first + np.arange(self.count)[:, None]) * self.terms + columns
        if self.source.flags.c_contiguous:
            return self.read(self.source.reshape(-1)[places])
        return self.read(self.source.flat[places.reshape(-1)]).reshape(places.shape)

    def are_finite(self) -> np.ndarray:
        """[count, 1]: which rows have neither infinities nor NaN."""
        return np.logical_and.reduce([np.isfinite(piece).all(axis=1, keepdims=True) for piece in self.pieces])

    def largest(self) -> np.ndarray:
        """[count, 1]: the largest element of each row that has any, NaN beside a NaN."""
        return np.maximum.reduce([piece.max(axis=1, keepdims=True) for piece in self.pieces])

    def first_largest(self) -> np.ndarray:
        """[count, 1]: the column of the first largest element of each row; the first NaN counts as largest."""
        at = self.pieces.map(lambda piece: piece.argmax(axis=1, keepdims=True))
        extremes = np.concatenate(list(self.pieces.map(lambda piece, i: np.take_along_axis(piece, i, 1), at)), axis=1)
        places = np.concatenate([i + columns.start for i, columns in zip(at, self.columns, strict=True)], axis=1)
        return np.take_along_axis(places, extremes.argmax(axis=1, keepdims=True), 1)


def by_rows(function: Callable[[Rows], Golden], rows: Rows) -> Golden:
    """The golden of all rows, of which `function` gives that of some."""
    return assembled(((place, function(some)) for place, some in rows.blocks()), rows.count)


def by_elements_of_rows(function: Callable[[Rows], Iterable[Golden]], rows: Rows) -> Golden:
    """The golden [elements] of every element of the rows; of some rows `function` gives that of each piece."""
    return by_rows_each(lambda some: (function(some),), rows)[0]


def by_rows_each(function: Callable[[Rows], tuple], rows: Rows) -> tuple[Golden, ...]:
    """(the golden [elements] of every element of the rows, those of further outputs that have an entry for each row).

    Of some rows `function` gives (the golden of each piece, those of the further outputs).
    """
    elements, others = Assembly(rows.count * rows.terms), []
    for place, some in rows.blocks():
        pieces, *further = function(some)
        start = place.start * rows.terms
        for piece in pieces:
            one_by_one = piece.rearranged(lambda part: part.reshape(-1))
            elements.fill(slice(start, start + piece.value.size), one_by_one)
            start += piece.value.size
        others = others or [Assembly(rows.count) for _ in further]
        for whole, part in zip(others, further, strict=True):
            whole.fill(place, part)
    return elements.golden(), *(whole.golden() for whole in others)


def reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> tuple[int, ...]:
    """The shape of the reduction's results."""
    return tuple(1 if axis in axes else size for axis, size in enumerate(shape) if keepdim or axis not in axes)
