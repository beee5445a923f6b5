"""Reading and writing at indices."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import Pieces, fits, flat, spans
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import overflowing
from conform.interp.semantics import semantics
from conform.numerics import accumulate as sums
from conform.numerics.digits import Digits, decide_digits, single_at
from conform.numerics.formats import Format, format_of

SHARE = 16  # blocks of elements, of which writes are counted at a time in a byte each


@semantics("aten::gather", selects=True)
def gather(self: np.ndarray, dim: int, index: np.ndarray) -> Golden:
    """result[i, j, ...] = self[i, index[i, j, ...], ...], the index standing in for coordinate dim (P26)"""
    axis = wrap_dim(dim, self.ndim)
    source, places = (array.reshape(1) if array.ndim == 0 else array for array in (self, index))
    result = np.empty(places.size, self.dtype)
    if places.size:
        for place in spans(places.size):
            coordinates = list(np.unravel_index(np.arange(place.start, place.stop), places.shape))
            coordinates[axis] = flat(places, place)
            result[place] = source[tuple(coordinates)]
    return exact(result.reshape(index.shape), format_of(self))


@semantics("aten::index_put")
def index_put(
    self: np.ndarray, indices: Sequence[np.ndarray | None], values: np.ndarray, accumulate: bool = False
) -> Golden:
    """self with `values` written at self[indices], or added there; None takes a whole dimension, a bool mask its
    True places"""
    fmt = format_of(self)
    writes = _Writes(self.shape, indices, values)
    if not accumulate:
        return _replaced(self, fmt, writes)
    refuse_complex(fmt, "index_put with accumulate")
    return _real_sums(self, fmt, writes) if fmt.is_float else _integer_sums(self, fmt, writes)


class _Writes:
    """The values that are written to a tensor of `shape`, and where: writes in the order of numpy's advanced indexing.

    coordinates: for each index, which covers one dimension or a mask's, the coordinates of some writes; extents: how
    many elements it covers
    """

    def __init__(self, shape: tuple[int, ...], indices: Sequence[np.ndarray | None], values: np.ndarray) -> None:
        self.extents, every = _indices(shape, indices)
        written, self.coordinates = _broadcast(every, self.extents)
        self.values = np.broadcast_to(values, written)

    def places(self, some: slice) -> np.ndarray:
        """The places, in the flattened tensor, to which the writes `some` go."""
        places = np.zeros(_width(some), np.int64)
        for coordinates, extent in zip(self.coordinates, self.extents, strict=True):
            index = coordinates(some)
            places = places * extent + np.where(index < 0, index + extent, index)
        return places

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(the places, the values) of one block of writes after the other."""
        return ((self.places(some), flat(self.values, some)) for some in spans(self.values.size))

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


def _indices(shape: tuple[int, ...], indices: Sequence[np.ndarray | None]) -> tuple[list[int], list[Index]]:
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


def _broadcast(indices: list[Index], extents: list[int]) -> tuple[tuple[int, ...], list[Coordinates]]:
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


def _replaced(self: np.ndarray, fmt: Format, writes: _Writes) -> Golden:
    """self with the values in their places; elements that are written to twice are open (P25)."""
    result = self.copy().reshape(-1)
    for places, values in writes.blocks():
        result[places] = values
    golden = exact(result.reshape(self.shape), fmt)
    repeated = _repeated(writes, self.size)
    return golden if repeated is None else golden.opened(repeated.reshape(self.shape), "P25")


def _repeated(writes: _Writes, size: int) -> np.ndarray | None:
    """[size]: which elements are written to twice; None: no one. All writes are gone through for every share of the
    elements, which is as large as the byte for each of them lets it be."""
    repeated = None
    for block in spans(-(-size // SHARE)):
        share = slice(block.start * SHARE, min(block.stop * SHARE, size))
        times = np.zeros(_width(share), np.uint8)  # how often an element was written to, 2 for more
        for places, _ in writes.blocks():
            inside = places[(places >= share.start) & (places < share.stop)] - share.start
            times[inside] = np.minimum(times[inside] + 1, 2)
            ordered = np.sort(inside)
            times[ordered[1:][ordered[1:] == ordered[:-1]]] = 2
        if (times > 1).any():
            repeated = np.zeros(size, bool) if repeated is None else repeated
            repeated[share] = times > 1
    return repeated


def _integer_sums(self: np.ndarray, fmt: Format, writes: _Writes) -> Golden:
    """Every write added, which wraps; of bools, or."""
    result = self.copy().reshape(-1)
    for places, values in writes.blocks():
        with np.errstate(over="ignore"):
            (np.logical_or if fmt.kind == "bool" else np.add).at(result, places, values)
    return exact(result.reshape(self.shape), fmt)


def _real_sums(self: np.ndarray, fmt: Format, writes: _Writes) -> Golden:
    """Every write added: a real sum per element, rounded once."""
    counts = np.zeros(self.size, np.int64)
    for places, _ in writes.blocks():
        np.add.at(counts, places, 1)
    golden = replace(assembled(_parts(self, fmt, writes, counts), self.size), terms=counts, zero_sign_free=True)
    return golden.rearranged(lambda part: part.reshape(self.shape))


def _parts(self: np.ndarray, fmt: Format, writes: _Writes, counts: np.ndarray) -> Iterator[tuple[slice, Golden]]:
    """(some elements in order, the golden of their sums). counts: how many writes each element gets."""
    for share in _halved(slice(0, self.size), lambda some: _are_looked_up(counts[some])):
        if not _are_looked_up(counts[share]):
            yield share, _sums(fmt, flat(self, share), writes.to_element(share.start))
            continue
        numbers, done = writes.numbers(share, int(counts[share].sum())), 0
        for block in spans(_width(share)):
            some = slice(share.start + block.start, share.start + block.stop)
            ours = numbers[done : done + int(counts[some].sum())]
            done += ours.size
            places = np.repeat(np.arange(_width(some)), counts[some])
            yield some, _sums(fmt, flat(self, some), _looked_up(places, writes.values, ours))


def _are_looked_up(counts: np.ndarray) -> bool:
    """Whether so many writes are few enough to be looked up together, for which all writes are gone through: as many
    as take about the memory of other blocks."""
    return fits(int(counts.sum()) // 4)


def _looked_up(places: np.ndarray, values: np.ndarray, numbers: np.ndarray) -> Pieces:
    """(places, values) of the writes `numbers`, which go to `places`."""
    return Pieces(
        lambda: ((places[some], values.flat[numbers[some]]) for some in spans(numbers.size)),
        are_many=not fits(numbers.size),
    )


def _width(some: slice) -> int:
    return some.stop - some.start


def _halved(whole: slice, suits: Callable[[slice], bool]) -> Iterator[slice]:
    """Parts of `whole` in order: halves of halves until one suits or is a single element."""
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        if _width(part) <= 1 or suits(part):
            yield part
        else:
            middle = part.start + _width(part) // 2
            waiting += [slice(middle, part.stop), slice(part.start, middle)]


def _sums(fmt: Format, elements: np.ndarray, writes: Pieces) -> Golden:
    """Each element with the writes to its place added."""

    def pieces() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield np.arange(elements.size), elements.astype(np.float64)
        yield from ((places, values.astype(np.float64)) for places, values in writes)

    def exactly(index: Sequence[np.ndarray]) -> Digits:
        (wanted,) = index  # in order
        written = ((places, terms, np.isin(places, wanted)) for places, terms in pieces())
        chosen = ((np.searchsorted(wanted, places[some]), terms[some]) for places, terms, some in written)
        return reduce(add, (single_at(*each, wanted.size) for each in chosen))

    total = sums.total_at(Pieces(pieces, are_many=True), elements.size)
    value, real = decide_digits(fmt, total.real, int(np.max(total.terms, initial=1)), exactly)
    return Golden(fmt, value, real, magnitude=total.magnitude).opened(overflowing(fmt, total), "P35")
