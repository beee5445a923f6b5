"""Windows over the last dims of a tensor, and goldens made of what they meet, a block of results after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import Pieces, fits, spans
from conform.interp.blocks.patches import Windows, met, read
from conform.interp.golden import Golden


class Along(Protocol):
    """How windows lie along one dimension."""

    def met(self, taps: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[t, m]: the coordinates that taps [t] of windows [m] meet, 0 where there is no element; whether there is."""


@dataclass(frozen=True)
class Adaptive:
    """`count` windows over `size` elements: window i from floor(i size / count) to ceil((i + 1) size / count).

    transposed: an element's own windows.
    """

    size: int
    count: int
    transposed: bool = False

    def start(self, places: np.ndarray) -> np.ndarray:
        """Of each window the first element."""
        return places * self.size // self.count

    def end(self, places: np.ndarray) -> np.ndarray:
        """Of each window the element after the last."""
        return -(-(places + 1) * self.size // self.count)

    @property
    def taps(self) -> int:
        """The most elements of a window, or windows of an element."""
        if self.transposed:
            return Adaptive(self.count, self.size).taps
        return max(-(-self.size // self.count) + (self.size % self.count != 0), 1) if self.size else 1

    def met(self, taps: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if self.transposed:
            found = places * self.count // self.size + taps[:, None]
            there = (found < self.count) & (self.start(found) <= places) & (places < self.end(found))
        else:
            found = self.start(places) + taps[:, None]
            there = found < self.end(places)
        return np.where(there, found, 0), there


@dataclass(frozen=True)
class Block:
    """The windows of some results [m] of a tensor: of all its leading dims `batch`, and of their `places`.

    It keeps no pieces: they refer to it, and in a circle of references it would stay beside the blocks that follow.
    """

    sliding: Sliding
    tensor: np.ndarray
    batch: tuple[np.ndarray, ...]
    places: tuple[np.ndarray, ...]

    @property
    def count(self) -> int:
        return len(self.places[0])

    def pieces(self, function: Callable[[list[np.ndarray], np.ndarray, tuple[np.ndarray, ...]], Any]) -> Pieces:
        """`function` of the coordinates, whether there is an element, and the taps; some taps after the others."""
        taps = prod(self.sliding.taps)

        def piece(some: slice) -> Any:
            offsets = np.unravel_index(np.arange(some.start, some.stop), self.sliding.taps)
            return function(*met(self.sliding.along, offsets, self.places), offsets)

        return Pieces(lambda: map(piece, spans(taps, self.count)), not fits(taps * self.count))

    def read(self, tensor: np.ndarray, coordinates: Sequence[np.ndarray], there: np.ndarray) -> np.ndarray:
        """The elements of a tensor with the same leading dims; 0 where there is none."""
        return read(tensor, (*self.batch, *coordinates), there)

    @property
    def elements(self) -> Pieces[np.ndarray]:
        """[taps, m]: what the windows meet, 0 where that is nothing."""
        return self.pieces(lambda coordinates, there, _: self.read(self.tensor, coordinates, there))

    @property
    def there(self) -> Pieces[np.ndarray]:
        """[taps, m]: whether they meet something."""
        return self.pieces(lambda coordinates, there, _: there)


@dataclass(frozen=True)
class Sliding:
    """Windows over the last dims, `counts` of them with `taps` each."""

    along: Sequence[Along]
    taps: tuple[int, ...]
    counts: tuple[int, ...]

    def shape(self, tensor: np.ndarray) -> tuple[int, ...]:
        """The result's."""
        return (*tensor.shape[: tensor.ndim - len(self.counts)], *self.counts)

    def blocks(self, tensor: np.ndarray) -> Iterator[tuple[slice, Block]]:
        """(which results in C order, their block)."""
        shape, rank = self.shape(tensor), tensor.ndim - len(self.counts)
        for place in spans(prod(shape), prod(self.taps)):
            index = np.unravel_index(np.arange(place.start, place.stop), shape)
            yield place, Block(self, tensor, index[:rank], index[rank:])

    def golden(self, tensor: np.ndarray, of_block: Callable[[Block], Golden]) -> Golden:
        """One golden of those of blocks [m]."""
        shape = self.shape(tensor)
        parts = ((place, of_block(block)) for place, block in self.blocks(tensor))
        return assembled(parts, prod(shape)).rearranged(lambda part: part.reshape(shape))


def per_dim(values: Sequence[int] | int, rank: int) -> list[int]:
    """One number or as many as dims, False and True as 0 and 1, for each of the last dims."""
    listed = [values] if isinstance(values, int) else list(values)
    return [int(value) for value in (listed * rank if len(listed) == 1 else listed)]


def pooling(
    shape: Sequence[int],
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> Sliding:
    """The windows of pooling over the dims `shape`; the strides are the kernel's sizes where there are none."""
    rank = len(shape)
    kernel, pads, gaps = (per_dim(values, rank) for values in (kernel_size, padding, dilation))
    steps = per_dim(stride, rank) if len(stride) else kernel
    along = [Windows(*each) for each in zip(shape, steps, pads, gaps, strict=True)]
    counts = tuple(_count(one, k, ceil_mode) for one, k in zip(along, kernel, strict=True))
    return Sliding(along, tuple(kernel), counts)


def _count(windows: Windows, kernel: int, ceil_mode: bool) -> int:
    """How many windows there are; with ceil_mode the last starts inside the input or its left padding."""
    room = windows.size + 2 * windows.padding - windows.dilation * (kernel - 1) - 1
    count = (room + (windows.stride - 1 if ceil_mode else 0)) // windows.stride + 1
    if ceil_mode and (count - 1) * windows.stride >= windows.size + windows.padding:
        count -= 1
    return count


def most_windows(rank: int, results: int = 1) -> Callable[[Mapping[str, Any]], int]:
    """Of pooling over the last `rank` dims of self: in every image, with the last ones of ceil_mode; once a result."""

    def count(arguments: Mapping[str, Any]) -> int:
        shape, strides = np.shape(arguments["self"]), arguments["stride"] or arguments["kernel_size"]
        padded = (size + 2 * pad for size, pad in zip(shape[-rank:], _of(arguments["padding"], rank), strict=False))
        counts = (-(-size // max(step, 1)) + 1 for size, step in zip(padded, _of(strides, rank), strict=False))
        return results * prod(shape[:-rank]) * prod(counts)

    return count


def _of(values: Sequence[int], rank: int) -> list[int]:
    return (per_dim(values, rank) + [1] * rank)[:rank]
