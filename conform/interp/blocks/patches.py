"""What windows of convolutions and pools meet: the input's coordinates under each tap, and the terms read there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from conform.interp.blocks.blocks import Pieces, fits, spans


@dataclass(frozen=True)
class Windows:
    """The windows along one dimension of `size` input elements, one for each output place.

    Tap k of window x lies at x * stride + k * dilation - padding; transposed, where an input element's own window has
    tap k at x: (x + padding - k * dilation) / stride, if that is whole.
    """

    size: int
    stride: int
    padding: int
    dilation: int = 1
    transposed: bool = False

    def met(self, taps: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[t, m]: (the coordinate of the input element that each tap [t] of each window [m] meets, or 0; whether there
        is one)."""
        if self.transposed:
            found, rest = np.divmod(places + self.padding - self.dilation * taps[:, None], self.stride)
            there = (rest == 0) & (found >= 0) & (found < self.size)
        else:
            found = places * self.stride - self.padding + self.dilation * taps[:, None]
            there = (found >= 0) & (found < self.size)
        return np.where(there, found, 0), there

    def reached(self, kernel: int, places: np.ndarray) -> range:
        """The taps, of `kernel`, between the first and the last that meet an element in any window: at least one."""
        first, last = (int(places.min()), int(places.max())) if places.size else (0, 0)
        if self.transposed:
            low, high = first + self.padding - self.stride * (self.size - 1), last + self.padding
        else:
            low, high = self.padding - last * self.stride, self.padding - first * self.stride + self.size - 1
        start = min(max(-(-low // self.dilation), 0), kernel - 1)
        return range(start, max(min(high // self.dilation + 1, kernel), start + 1))


def met(
    windows: Sequence[Windows], taps: Sequence[np.ndarray], places: Sequence[np.ndarray]
) -> tuple[list[np.ndarray], np.ndarray]:
    """(the coordinates in every dimension, each [t, m]; whether there is an input element)."""
    return _in_all_dims(one.met(*each) for one, *each in zip(windows, taps, places, strict=True))


def _in_all_dims(along: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[list[np.ndarray], np.ndarray]:
    coordinates, there = zip(*along, strict=True)
    return list(coordinates), np.logical_and.reduce(there)


def read(tensor: np.ndarray, coordinates: tuple[np.ndarray, ...], there: np.ndarray) -> np.ndarray:
    """The elements at `coordinates`, which broadcast to [t, m]; 0 where there is none."""
    elements = tensor[coordinates]
    if not there.all():
        elements[~there] = 0
    return elements


class Pair(NamedTuple):
    """Some terms of a convolution: weights [o, t] of outputs, inputs [t, m] that places meet, zero where there is a
    gap [t, m]."""

    weights: np.ndarray
    inputs: np.ndarray
    gaps: np.ndarray


@dataclass(frozen=True)
class Patches:
    """The operands of a convolution as those of matrix products: for every output channel a row of weights, for every
    place of the result, in C order of batch and spatial dimensions, a column of what its window meets.

    input [n, c, *size], weight [o, c / groups, *k], transposed [c, o / groups, *k]; sizes: the result's, *x
    """

    input: np.ndarray
    weight: np.ndarray
    windows: Sequence[Windows]
    sizes: Sequence[int]
    groups: int

    @property
    def are_transposed(self) -> bool:
        return self.windows[0].transposed

    @property
    def places(self) -> int:
        """How many there are."""
        return len(self.input) * prod(self.sizes)

    @property
    def outputs(self) -> int:
        """How many channels the result has."""
        return self.weight.shape[1] * self.groups if self.are_transposed else self.weight.shape[0]

    @property
    def window(self) -> tuple[int, ...]:
        """The shape of the terms of one output: input channels of its group, taps."""
        return (self.input.shape[1] // self.groups, *self.weight.shape[2:])

    def by_group(self, outputs: slice) -> Iterator[slice]:
        """The parts of `outputs` that belong to one group each."""
        size = self.outputs // self.groups
        for start in range(outputs.start - outputs.start % size, outputs.stop, size):
            yield slice(max(start, outputs.start), min(start + size, outputs.stop))

    def at(self, places: slice, with_gaps: bool = False) -> Neighbourhoods:
        """What is met there; with_gaps: with the taps that meet nothing in any of their windows."""
        return Neighbourhoods(self, np.arange(places.start, places.stop), with_gaps)

    def terms(self, places: np.ndarray, outputs: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(weights, inputs), [t, n] each, of an output channel at a place for each of n, in pieces of the terms."""
        here, groups = Neighbourhoods(self, places), outputs * self.groups // self.outputs
        for some in spans(here.terms, len(places)):
            inputs, _, channels, taps = here.met_by(groups, some)
            yield self.weights(groups[:, None], outputs[:, None], channels, taps).T, inputs

    def weights(
        self, groups: int | np.ndarray, outputs: np.ndarray, channels: np.ndarray, taps: Sequence[np.ndarray]
    ) -> np.ndarray:
        """[o, t]: those of outputs [o, 1] of one group, or of one each, [o, 1], for its channels and taps [t]."""
        if self.are_transposed:
            return self.weight[(groups * self.window[0] + channels, outputs % self.weight.shape[1], *taps)]
        return self.weight[(outputs, channels, *taps)]


class Neighbourhoods:
    """What the windows of some places [m] meet. The taps at their ends that meet nothing in any of them, which of a
    kernel that is longer than the input are most, are left out but `with_gaps`."""

    def __init__(self, patches: Patches, places: np.ndarray, with_gaps: bool = False) -> None:
        self.patches, kernel = patches, patches.weight.shape[2:]
        shape = (len(patches.input), *patches.sizes)
        self.batch, *self.place = np.unravel_index(places, shape)
        along = list(zip(patches.windows, kernel, self.place, strict=True))
        reached = [range(size) if with_gaps else one.reached(size, own) for one, size, own in along]
        self._first, self._kernel = [one.start for one in reached], [len(one) for one in reached]
        taps = prod(self._kernel)
        self._along = [_of_taps(one, some, own) for (one, _, own), some in zip(along, reached, strict=True)]
        self._of_all_taps = self._met(np.arange(taps)) if fits(taps * len(self.batch)) else None  # for every channel

    @property
    def terms(self) -> int:
        """How many each output has: channels of its group times taps."""
        return self.patches.window[0] * prod(self._kernel)

    def pairs(self, outputs: slice) -> Pieces[Pair]:
        """The terms of `outputs`, of one group; those of windows that have many come in pieces."""
        terms, width = self.terms, max(len(self.batch), outputs.stop - outputs.start)
        return Pieces(lambda: (self._pair(outputs, some) for some in spans(terms, width)), not fits(terms * width))

    def _pair(self, outputs: slice, terms: slice) -> Pair:
        group = outputs.start * self.patches.groups // self.patches.outputs
        inputs, there, channels, taps = self.met_by(group, terms)
        weights = self.patches.weights(group, np.arange(outputs.start, outputs.stop)[:, None], channels, taps)
        return Pair(weights, inputs, ~there)

    def met_by(
        self, groups: int | np.ndarray, terms: slice
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        """(inputs [t, m], of one group or of one for each place [m]; whether there is one; the terms' channels in
        their group and their taps, [t] each)."""
        channels, taps = np.divmod(np.arange(terms.start, terms.stop), prod(self._kernel))
        sources = groups * self.patches.window[0] + channels[:, None]
        coordinates, there = self._met(taps) if self._of_all_taps is None else _rows(taps, *self._of_all_taps)
        inputs = read(self.patches.input, (self.batch, sources, *coordinates), there)
        own = np.unravel_index(taps, self._kernel)
        return inputs, there, channels, tuple(one + first for one, first in zip(own, self._first, strict=True))

    def _met(self, taps: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        by_dim = zip(self._along, np.unravel_index(taps, self._kernel), strict=True)
        return _in_all_dims(of_taps(own) for of_taps, own in by_dim)


def _of_taps(along: Windows, taps: range, places: np.ndarray) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """`along.met` of some of the taps, by their numbers among these, at the places; it is computed once for all where
    they are few."""
    if not fits(len(taps) * len(places)):
        return lambda some: along.met(some + taps.start, places)
    coordinates, there = along.met(np.arange(taps.start, taps.stop), places)
    return lambda some: (coordinates[some], there[some])


def _rows(some: np.ndarray, coordinates: list[np.ndarray], there: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    return [each[some] for each in coordinates], there[some]
