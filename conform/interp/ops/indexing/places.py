"""Which elements indices and masks choose, and which values are written there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from conform.interp.blocks.blocks import Pieces, flat, spans
from conform.numerics.formats import format_of


def width_of(some: slice) -> int:
    return some.stop - some.start


class Places:
    """The elements that indices choose of a tensor of `shape`, in the order of numpy's advanced indexing.

    chosen: the shape of what they choose; coordinates: for each index, which covers one dimension or a mask's, the
    coordinates of some of the places; extents: how many elements it covers
    """

    def __init__(self, shape: tuple[int, ...], indices: Sequence[np.ndarray | None]) -> None:
        self.extents, every = every_index(shape, indices)
        self.chosen, self.coordinates = broadcast_indices(every, self.extents)

    def places(self, some: slice) -> np.ndarray:
        """The places `some`, in the flattened tensor."""
        places = np.zeros(width_of(some), np.int64)
        for coordinates, extent in zip(self.coordinates, self.extents, strict=True):
            index = coordinates(some)
            places = places * extent + np.where(index < 0, index + extent, index)
        return places


class Writes(Places):
    """The values that are written to a tensor of `shape`, and where."""

    def __init__(self, shape: tuple[int, ...], indices: Sequence[np.ndarray | None], values: np.ndarray) -> None:
        super().__init__(shape, indices)
        self.values = np.broadcast_to(values, self.chosen)

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(the places, the values) of one block of writes after the other."""
        return ((self.places(some), flat(self.values, some)) for some in spans(self.values.size))

    def within(self, share: slice) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(which of the elements `share`, the values) of the writes to these, block by block."""
        for places, values in self.blocks():
            inside = (places >= share.start) & (places < share.stop)
            yield places[inside] - share.start, values[inside]

    def counts(self, share: slice) -> np.ndarray:
        """[share]: how many writes each of the elements gets."""
        return sum(np.bincount(places, minlength=width_of(share)) for places, _ in self.within(share))

    def numbers(self, elements: slice, count: int) -> np.ndarray:
        """Which writes go to `elements`, `count` of them, in the order of these."""
        places, numbers, done = np.empty(count, np.int64), np.empty(count, np.int64), 0
        for some in spans(self.values.size):
            found = self.places(some)
            inside = np.flatnonzero((found >= elements.start) & (found < elements.stop))
            there = slice(done, done := done + inside.size)
            places[there], numbers[there] = found[inside], inside + some.start
        return numbers[np.argsort(places, kind="stable")]

    def to_element(self, element: int) -> Pieces:
        """(0, the value) for each write to one element."""

        def pieces() -> Iterator[tuple[np.ndarray, np.ndarray]]:
            for places, values in self.blocks():
                inside = places == element
                yield np.zeros(np.count_nonzero(inside), np.int64), values[inside]

        return Pieces(pieces, are_many=True)


class _Trues:
    """The True places of a mask in C order, [count], found when they are asked for."""

    def __init__(self, mask: np.ndarray) -> None:
        self.mask, self.blocks = mask, list(spans(mask.size))
        self.ends = np.cumsum([np.count_nonzero(flat(mask, block)) for block in self.blocks])
        self.shape = (int(self.ends[-1]),)

    def __getitem__(self, numbers: np.ndarray) -> np.ndarray:
        places, where = np.empty_like(numbers), np.searchsorted(self.ends, numbers, side="right")
        for at in np.unique(where):
            found, ours = np.flatnonzero(flat(self.mask, self.blocks[at])), where == at
            places[ours] = self.blocks[at].start + found[numbers[ours] - self.ends[at]]  # counted from the block's end
        return places


Index = np.ndarray | _Trues | None
Coordinates = Callable[[slice], np.ndarray]


def every_index(shape: tuple[int, ...], indices: Sequence[np.ndarray | None]) -> tuple[list[int], list[Index]]:
    """(how many elements each index covers, the index of every dimension), None for a dimension that is taken whole. A
    mask covers its dimensions as if they were one."""
    extents: list[int] = []
    every: list[Index] = []
    dim = 0
    for index in indices:
        is_mask = index is not None and format_of(index).name in ("bool", "uint8")
        covered = shape[dim : dim + (index.ndim if is_mask else 1)]
        extents.append(math.prod(covered))
        every.append(_Trues(index) if is_mask else index)
        dim += len(covered)
    return [*extents, *shape[dim:]], every + [None] * (len(shape) - dim)


def broadcast_indices(indices: list[Index], extents: list[int]) -> tuple[tuple[int, ...], list[Coordinates]]:
    """(the shape of what is written, in which integers broadcast together; for each index the coordinates of some
    writes). The dimensions of the integers stand where the first of them was if they are adjacent, else in front."""
    given = [dim for dim, index in enumerate(indices) if index is not None]
    whole = [dim for dim, index in enumerate(indices) if index is None]
    shapes = [indices[dim].shape for dim in given]
    together = np.broadcast_shapes(*shapes)
    in_place = bool(given) and given[-1] - given[0] < len(given)
    before, behind = (whole[: given[0]], whole[given[0] :]) if in_place else ([], whole)
    written = (*(extents[dim] for dim in before), *together, *(extents[dim] for dim in behind))

    def coordinates(dim: int, index: Index) -> Coordinates:
        if index is None:
            axis = before.index(dim) if dim in before else len(written) - len(behind) + behind.index(dim)
            return lambda some: _along(axis, extents[dim], written, some)
        if isinstance(index, _Trues):
            axis = len(written) - len(behind) - 1
            return lambda some: index[_along(axis, index.shape[0], written, some)]
        view = np.broadcast_to(index.reshape((*index.shape, *[1] * len(behind))), written)
        return lambda some: flat(view, some)

    return written, [coordinates(dim, index) for dim, index in enumerate(indices)]


def _along(axis: int, extent: int, shape: tuple[int, ...], some: slice) -> np.ndarray:
    """The coordinates along `axis`, which broadcasts from `extent`, of the elements `some` of an array of `shape`."""
    return np.arange(some.start, some.stop) // math.prod(shape[axis + 1 :]) % extent


def of_dim(rank: int, dim: int, index: np.ndarray) -> list[np.ndarray | None]:
    """The indices that take `index`, 0-d or 1-d, along dim of a tensor of `rank` dimensions, 1 at least."""
    return [None] * (dim % rank) + [index.reshape(-1)]


def of_elements(dim: int, index: np.ndarray) -> list[np.ndarray]:
    """The indices that take every element of `index` along dim, and its own place along the other dimensions."""
    axis = dim % index.ndim
    own = [np.arange(size).reshape(-1, *[1] * (index.ndim - 1 - d)) for d, size in enumerate(index.shape)]
    return [index if d == axis else one for d, one in enumerate(own)]
