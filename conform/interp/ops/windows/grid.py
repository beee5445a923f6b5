"""Sampling of images at the places of a grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import floor, isinf, isnan, prod

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import spans
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.windows.cells import COORDINATE_ROUNDINGS, Line, interpolated, line_of, real_of
from conform.interp.semantics import semantics
from conform.numerics.formats import Format, compute_format, format_of

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
HALF = Fraction(1, 2)
A = Fraction(-3, 4)  # of the cubic convolution
LARGE = Fraction(10) ** 300  # stands for errors that float64 may not hold
ROUNDINGS_OF_REFLECTION = 2  # times as many as of the coordinate itself


@semantics("aten::grid_sampler_2d")
def grid_sampler_2d(
    input: np.ndarray, grid: np.ndarray, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Golden:
    """result[n, c, i, j] = input[n, c] at grid[n, i, j] = (x, y): interpolated linearly (mode 0) or by cubic
    convolution with A = -0.75 (2), or the nearest element (1).

    -1 and 1 are the centres of the first and last element with align_corners, else the edges of the image; NaN is -1.
    Beyond the image stand zeros (padding 0), the element at the border (1), or the image reflected at its edges, or
    with align_corners at the centres of its last elements (2) (P123, P124)
    """
    fmt = format_of(input)
    shape = (*input.shape[:2], *grid.shape[1:3])
    own = partial(_golden, fmt, input, mode=interpolation_mode, padding=padding_mode, align_corners=align_corners)

    def some(place: slice) -> Golden:
        batch, channel, *at = np.unravel_index(np.arange(place.start, place.stop), shape)
        number = np.ravel_multi_index((batch, *at), grid.shape[:3])
        points, which = np.unique(number, return_inverse=True)
        return own((batch, channel), which, grid.reshape(-1, 2)[points].astype(np.float64))

    parts = ((place, some(place)) for place in spans(prod(shape), 64))
    return assembled(parts, prod(shape)).rearranged(lambda part: part.reshape(shape))


def _golden(
    fmt: Format, input: np.ndarray, batch: tuple[np.ndarray, np.ndarray], which: np.ndarray, points: np.ndarray,
    mode: int, padding: int, align_corners: bool,
) -> Golden:  # fmt: skip
    """[m]: the results of images batch [m] at points[which[m]], (x, y)."""
    size, compute = input.shape[2:], compute_format(fmt)
    axes = [_Axis(count, mode, padding, align_corners) for count in size]
    numbers = [points[:, 1].tolist(), points[:, 0].tolist()]
    infinite = np.isinf(points).any(1)
    unknown = np.zeros(len(points), bool)
    if padding == REFLECTION:
        limit = 2.0 ** (compute.precision - 5)
        unknown = ((np.nan_to_num(np.abs(points), nan=0.0) + 1) * np.array(size[::-1]) >= limit).any(1)
    is_open = unknown[which] | (infinite if mode == BICUBIC or padding != BORDER else np.zeros_like(infinite))[which]

    def there(places: Sequence[np.ndarray]) -> np.ndarray:
        inside = [(at >= 0) & (at < count) for at, count in zip(places, size, strict=True)]
        return np.logical_and.reduce(inside)

    if mode == NEAREST:
        return _nearest(fmt, input, batch, which, axes, numbers, there).opened(is_open, "P124")
    lines = [axis.line(own, compute)[which] for axis, own in zip(axes, numbers, strict=True)]
    return interpolated(fmt, input, batch, lines, there).opened(is_open, "P124")


def _nearest(
    fmt: Format, input: np.ndarray, batch: tuple[np.ndarray, np.ndarray], which: np.ndarray, axes: Sequence[_Axis],
    numbers: Sequence[Sequence[float]], there: Callable[[Sequence[np.ndarray]], np.ndarray],
) -> Golden:  # fmt: skip
    """Where the coordinate may be rounded to the other side of a tie, the element there is as right; a tie is open."""
    found = [axis.nearest(own, compute_format(fmt)) for axis, own in zip(axes, numbers, strict=True)]
    is_tie = np.logical_or.reduce([tie[which] for *_, tie in found])

    def read(choice: Sequence[int]) -> Golden:
        places = [each[chosen][which] for each, chosen in zip(found, choice, strict=True)]
        inside = [np.clip(at, 0, axis.size - 1) for at, axis in zip(places, axes, strict=True)]
        return exact(np.where(there(places), input[(*batch, *inside)], fmt.storage.type(0)), fmt)

    golden = read((0, 0)).or_else(*(read(choice) for choice in ((0, 1), (1, 0), (1, 1))))
    return golden.opened(is_tie, "P124")


class _Axis:
    """Along one dim of `size` elements."""

    def __init__(self, size: int, mode: int, padding: int, align_corners: bool) -> None:
        self.size, self.mode, self.padding, self.align_corners = size, mode, padding, align_corners

    def coordinate(self, number: float) -> Fraction:
        """Of a number of the grid, among the elements 0 .. size - 1; an infinite one is far beyond them."""
        number = -1.0 if isnan(number) else number
        place = Fraction(10) ** 400 * (1 if number > 0 else -1) if isinf(number) else Fraction(number)
        if self.align_corners:
            return (place + 1) / 2 * (self.size - 1)
        return ((place + 1) * self.size - 1) / 2

    def padded(self, place: Fraction) -> Fraction:
        """Where that is read: inside the image, or for zeros near it."""
        if self.padding == ZEROS:
            return min(max(place, Fraction(-3)), Fraction(self.size + 2))
        reflected = self.reflected(place) if self.padding == REFLECTION else place
        return min(max(reflected, Fraction(0)), Fraction(self.size - 1))

    def reflected(self, place: Fraction) -> Fraction:
        low, span = (Fraction(0), self.size - 1) if self.align_corners else (-HALF, self.size)
        if span == 0:
            return Fraction(0)
        distance = abs(place - low)
        turns = floor(distance / span)
        rest = distance - turns * span
        return low + (span - rest if turns % 2 else rest)

    def errors(self, numbers: Sequence[float]) -> list[Fraction]:
        """What the rounding errors of the coordinates are relative to."""
        times = ROUNDINGS_OF_REFLECTION if self.padding == REFLECTION else 1
        sizes = (Fraction(0) if isinf(x) or isnan(x) else abs(Fraction(x)) + 1 for x in numbers)
        return [min(times * (one * self.size / 2 + HALF), LARGE) for one in sizes]

    def line(self, numbers: Sequence[float], compute: Format) -> Line:
        places, scale = list(map(self.coordinate, numbers)), self.errors(numbers)
        if self.mode == BICUBIC:
            return self.cubic(places, scale, compute)
        inside = list(map(self.padded, places))
        if self.padding != ZEROS:
            return line_of(self.size, inside, scale, compute)
        low = np.array(list(map(floor, inside)), np.int64)
        shifted = line_of(2, [one - floor(one) for one in inside], scale, compute)
        return replace(shifted, at=np.stack([low, low + 1]), around=np.stack([low - 1, low, low + 1, low + 2]))

    def cubic(self, places: Sequence[Fraction], scale: Sequence[Fraction], compute: Format) -> Line:
        """The four elements around, each padded by itself."""
        weights = [cubic_weights(one - floor(one)) for one in places]
        at = [[floor(self.padded(Fraction(floor(one) + tap))) for one in places] for tap in (-1, 0, 1, 2)]
        flat = real_of([one[tap] for tap in range(4) for one in weights]).reshape((4, len(places)))
        error = COORDINATE_ROUNDINGS * compute.unit_roundoff * np.array([float(one) for one in scale])
        return Line(np.array(at, np.int64).reshape(4, -1), flat, lambda i: weights[i], error, None)

    def nearest(self, numbers: Sequence[float], compute: Format) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(the nearest elements, those that a rounded coordinate may be nearest to, where two are as near)."""
        margin = COORDINATE_ROUNDINGS * Fraction(compute.unit_roundoff)
        own, other, ties = [], [], []
        for number, scale in zip(numbers, self.errors(numbers), strict=True):
            place = self.padded(self.coordinate(number))
            low = floor(place)
            share = place - low
            first = low + (share > HALF)
            own.append(first)
            other.append(2 * low + 1 - first if abs(share - HALF) <= margin * scale else first)
            ties.append(share == HALF)
        return np.array(own, np.int64), np.array(other, np.int64), np.array(ties, bool)


def cubic_weights(t: Fraction) -> list[Fraction]:
    """Those of the elements at -1, 0, 1 and 2 for a place t between the two in the middle (Keys, 1981)."""

    def inner(x: Fraction) -> Fraction:
        return ((A + 2) * x - (A + 3)) * x * x + 1

    def outer(x: Fraction) -> Fraction:
        return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A

    return [outer(t + 1), inner(t), inner(1 - t), outer(2 - t)]
