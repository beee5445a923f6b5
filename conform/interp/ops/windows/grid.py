"""Sampling of images at the places of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import floor, isinf, isnan, prod
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import everywhere, spans
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.windows.cells import (
    COORDINATE_ROUNDINGS,
    Line,
    cubic_roundings,
    cubic_weights,
    floored,
    interpolated,
    line_of,
)
from conform.interp.semantics import semantics
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.parts import parts_of, write
from conform.numerics.real import Real, joined, maximum, where

BILINEAR, NEAREST, BICUBIC = range(3)
ZEROS, BORDER, REFLECTION = range(3)
HALF = Fraction(1, 2)
LARGEST_ERROR = 1e300  # stands for what float64 may not hold
FAR_BEYOND = 2.0  # half of the image beyond its edge: no rounding of a coordinate brings that back
ROUNDINGS_OF_REFLECTION = 2  # times as many as of the coordinate itself


def _of_places(arguments: Mapping[str, Any]) -> int:
    """Every channel of each image at each place of its grid."""
    return prod(np.shape(arguments["input"])[:2]) * prod(np.shape(arguments["grid"])[1:-1])


@semantics("aten::grid_sampler_2d", elements=_of_places)
def grid_sampler_2d(
    input: np.ndarray, grid: np.ndarray, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Golden:
    """result[n, c, i, j] = input[n, c] at grid[n, i, j] = (x, y): interpolated linearly (mode 0) or by cubic
    convolution with A = -0.75 (2), or the nearest element (1).

    -1 and 1 are the centres of the first and last element with align_corners, else the edges of the image; NaN is -1.
    Beyond the image stand zeros (padding 0), the element at the border (1), or the image reflected at its edges, or
    with align_corners at the centres of its last elements (2) (P123, P124)
    """
    return _sampled(input, grid, interpolation_mode, padding_mode, align_corners)


@semantics("aten::grid_sampler_3d", elements=_of_places)
def grid_sampler_3d(
    input: np.ndarray, grid: np.ndarray, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Golden:
    """result[n, c, i, j, k] = input[n, c] at grid[n, i, j, k] = (x, y, z), as grid_sampler_2d, but for mode 2, which
    there is not (P123, P124)"""
    return _sampled(input, grid, interpolation_mode, padding_mode, align_corners)


def _sampled(input: np.ndarray, grid: np.ndarray, mode: int, padding: int, align_corners: bool) -> Golden:
    fmt, rank = format_of(input), grid.shape[-1]
    shape = (*input.shape[:2], *grid.shape[1:-1])
    are_finite = everywhere(np.isfinite, input)
    own = partial(
        _golden, fmt, input, mode=mode, padding=padding, align_corners=align_corners, are_finite=are_finite
    )  # fmt: skip

    def some(place: slice) -> Golden:
        batch, channel, *at = np.unravel_index(np.arange(place.start, place.stop), shape)
        number = np.ravel_multi_index((batch, *at), grid.shape[:-1])
        points, which = np.unique(number, return_inverse=True)
        return own((batch, channel), which, grid.reshape(-1, rank)[points].astype(np.float64))

    read = 2 * 2**rank  # of each result its corners and their weights
    parts = ((place, some(place)) for place in spans(prod(shape), read))
    return assembled(parts, prod(shape)).rearranged(lambda part: part.reshape(shape))


def _golden(
    fmt: Format, input: np.ndarray, batch: tuple[np.ndarray, np.ndarray], which: np.ndarray, points: np.ndarray,
    mode: int, padding: int, align_corners: bool, are_finite: bool,
) -> Golden:  # fmt: skip
    """[m]: the results of images batch [m] at points[which[m]], (x, y) or (x, y, z); are_finite: whether all of input
    is."""
    size, compute = input.shape[2:], compute_format(fmt)
    axes = [_Axis(count, mode, padding, align_corners) for count in size]
    numbers = list(points.T[::-1])
    with np.errstate(over="ignore"):
        far = (np.where(np.isnan(points), 0.0, np.abs(points)) + 1) * np.array(size[::-1])
        infinite = (far >= np.float64(2.0**compute.emax) * 2).any(1)
    unknown = (far >= 2.0 ** (compute.precision - 5)).any(1) & (padding == REFLECTION)
    is_open = unknown[which] | (infinite if mode == BICUBIC or padding != BORDER else np.zeros_like(infinite))[which]

    def there(places: Sequence[np.ndarray]) -> np.ndarray:
        inside = [(at >= 0) & (at < count) for at, count in zip(places, size, strict=True)]
        return np.logical_and.reduce(inside)

    if mode == NEAREST:
        return _nearest(fmt, input, batch, which, axes, numbers, there).opened(is_open, "P124")
    lines = [axis.line(own, compute)[which] for axis, own in zip(axes, numbers, strict=True)]
    return interpolated(fmt, input, batch, lines, are_finite, there).opened(is_open, "P124")


def _nearest(
    fmt: Format, input: np.ndarray, batch: tuple[np.ndarray, np.ndarray], which: np.ndarray, axes: Sequence[_Axis],
    numbers: Sequence[np.ndarray], there: Callable[[Sequence[np.ndarray]], np.ndarray],
) -> Golden:  # fmt: skip
    """Where the coordinate may be rounded to the other side of a tie, the element there is as right; a tie is open, but
    between places beside the image, where the result is a zero of either sign."""
    nearest = [axis.nearest(own, compute_format(fmt)) for axis, own in zip(axes, numbers, strict=True)]
    is_tie = np.logical_or.reduce([tie[which] for *_, tie in nearest])

    def read(choice: Sequence[int]) -> Golden:
        places = [each[chosen][which] for each, chosen in zip(nearest, choice, strict=True)]
        inside = [np.clip(at, 0, axis.size - 1) for at, axis in zip(places, axes, strict=True)]
        is_there = there(places)
        found = np.where(is_there, input[(*batch, *inside)], fmt.storage.type(0))
        return exact(found, fmt, zero_sign_free=~is_there)

    own, *others = itertools.product((0, 1), repeat=len(axes))
    golden = read(own).or_else(*map(read, others))
    ends = [(own[which], np.where(tie, other, own)[which]) for own, other, tie in nearest]
    shown = np.logical_or.reduce([there(places) for places in itertools.product(*ends)])
    return golden.opened(is_tie & shown, "P124")


def minimum(x: Real, bound: float) -> Real:
    return -maximum(-x, -bound)


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

    def coordinates(self, numbers: np.ndarray) -> Real:
        """As `coordinate`; nothing is known where float64's range is left."""
        with np.errstate(all="ignore"):
            place = Real.exact(np.where(np.isnan(numbers), -1.0, numbers)) + 1.0
            place = place * (self.size - 1) if self.align_corners else place * self.size - 1.0
            return place.times_power_of_two(-1)

    def inside(self, places: Real) -> Real:
        """As `padded`."""
        if self.padding == ZEROS:
            return minimum(maximum(places, -3.0), self.size + 2.0)
        reflected = self.reflections(places) if self.padding == REFLECTION else places
        return minimum(maximum(reflected, 0.0), self.size - 1.0)

    def reflections(self, places: Real) -> Real:
        """As `reflected`. A turn more or less is as right at the edge, where they meet: both give one place."""
        low, span = (0.0, self.size - 1) if self.align_corners else (-0.5, self.size)
        if span == 0:
            return Real.exact(np.zeros(places.shape))
        distance = abs(places - low)
        turns = np.floor(np.where(np.isfinite(distance.hi), distance.hi, 0.0) / span)
        rest = abs(distance - Real.exact(turns) * span)
        return where(turns % 2 == 1, span - rest, rest) + low

    def errors(self, numbers: np.ndarray) -> np.ndarray:
        """What the rounding errors of the coordinates are relative to; those that are moved to the border have none."""
        times = ROUNDINGS_OF_REFLECTION if self.padding == REFLECTION else 1
        sizes = np.where(np.isfinite(numbers), np.minimum(np.abs(numbers), LARGEST_ERROR) + 1, 0.0)
        errors = np.minimum(times * (sizes * self.size / 2 + 0.5), LARGEST_ERROR)
        is_moved = (self.padding == BORDER) & (self.mode != BICUBIC) & (np.abs(numbers) >= FAR_BEYOND)
        return np.where(is_moved, 0.0, errors)

    def line(self, numbers: np.ndarray, compute: Format) -> Line:
        scale = self.errors(numbers)
        if self.mode == BICUBIC:
            return self.cubic(numbers, scale, compute)

        def exactly(i: int) -> Fraction:
            return self.padded(self.coordinate(float(numbers[i])))

        low, share = floored(self.inside(self.coordinates(numbers)), exactly)
        between = line_of(self.size, low, share, lambda i: exactly(i) - int(low[i]), scale, compute)
        if self.padding != ZEROS:
            return between
        return replace(between, at=np.stack([low, low + 1]), around=np.stack([low - 1, low, low + 1, low + 2]))

    def cubic(self, numbers: np.ndarray, scale: np.ndarray, compute: Format) -> Line:
        """The four elements around, each padded by itself."""

        def exactly(i: int) -> list[Fraction]:
            place = self.coordinate(float(numbers[i]))
            return cubic_weights(place - floor(place))

        low, share = floored(self.coordinates(numbers), lambda i: self.coordinate(float(numbers[i])))
        at = [self.inside(Real.exact((low + tap).astype(np.float64))).hi for tap in (-1, 0, 1, 2)]
        weights = joined(np.stack, cubic_weights(share))
        for i in np.flatnonzero((np.abs(weights.hi) <= weights.radius).any(0) & (weights.radius > 0).any(0)).tolist():
            for tap, weight in enumerate(exactly(i)):
                write(weights, (tap, i), parts_of(weight))
        error = COORDINATE_ROUNDINGS * compute.unit_roundoff * scale
        return Line(np.floor(at).astype(np.int64), weights, exactly, error, rounded=cubic_roundings(share.hi))

    def nearest(self, numbers: np.ndarray, compute: Format) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(the nearest elements, those that a rounded coordinate may be nearest to, where two are as near)."""

        def exactly(i: int) -> Fraction:
            return self.padded(self.coordinate(float(numbers[i])))

        low, share = floored(self.inside(self.coordinates(numbers)), exactly)
        beyond = share - 0.5
        sign = np.sign(beyond.hi)
        for i in np.flatnonzero((np.abs(beyond.hi) <= beyond.radius) & (beyond.radius > 0)).tolist():
            rest = exactly(i) - int(low[i]) - HALF
            sign[i] = (rest > 0) - (rest < 0)
        own = low + (sign > 0)
        margin = COORDINATE_ROUNDINGS * compute.unit_roundoff * self.errors(numbers)
        return own, np.where(np.abs(beyond.hi) <= margin, 2 * low + 1 - own, own), sign == 0
