"""Rules worked on a block at a time: what is computed on the way to a result stays small, however large that is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conform.interp.blocks.blocks import BLOCK
from conform.interp.program.number import Number
from conform.numerics.parts import write


def in_blocks(function: Callable[..., Number], *numbers: Number) -> Number:
    """function(*numbers), which works element by element on the numbers as they broadcast."""
    shape = np.broadcast_shapes(*(one.shape for one in numbers))
    return in_slices(function, numbers, shape, range(-len(shape), 0))


def in_slices(
    function: Callable[..., Number], numbers: Sequence[Number], work: Sequence[int], axes: Sequence[int]
) -> Number:  # fmt: skip
    """function(*numbers), of which each slice along any of `axes` (negative) hangs on the same slices of the numbers
    alone: about a block at a time of `work`, the shape of what is computed on the way.

    A number that has not the length of the work along the axis takes part as a whole.
    """
    axis = max(axes, key=lambda at: work[at], default=None)
    size = int(np.prod(work))
    if axis is None or size <= BLOCK or work[axis] == 1:
        return function(*numbers)
    step, whole = max(work[axis] * BLOCK // size, 1), None
    for start in range(0, work[axis], step):
        place = (Ellipsis, slice(start, start + step), *[slice(None)] * (-1 - axis))
        part = function(*(_cut(one, axis, work[axis], place) for one in numbers))
        whole = _empty(part, axis, work[axis]) if whole is None else whole
        write(whole.real, place, part.real)
        whole.rad[place] = part.rad
    return whole


def _cut(number: Number, axis: int, length: int, place: tuple) -> Number:
    is_whole = number.ndim < -axis or number.shape[axis] != length
    return number if is_whole else number.moved(lambda part: part[place])


def _empty(part: Number, axis: int, length: int) -> Number:
    """A number that is filled in with parts like this one, of `length` along `axis`."""
    shape = list(part.shape)
    shape[axis] = length
    return Number(part.format, part.real.map_parts(lambda _: np.empty(shape)), np.empty(shape))
