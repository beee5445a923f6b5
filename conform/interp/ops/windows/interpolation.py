"""Resizing of images: the nearest element, or a linear or cubic interpolation between the elements around each
place."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from math import floor, prod
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
    interpolated,
    line_of,
)
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, compute_format, format_of
from conform.numerics.parts import parts_of, write
from conform.numerics.real import Real


def sizes_of(
    shape: Sequence[int], output_size: Sequence[int] | None, scales: Sequence[float | None] | None, rank: int
) -> tuple[list[int], list[Fraction]]:
    """(the result's sizes of the last `rank` dims, how many elements of the input one of the result stands for)."""
    own, factors = shape[-rank:], list(scales or [None] * rank)
    if output_size is None:
        sizes = [floor(float(size) * factor) for size, factor in zip(own, factors, strict=True)]  # P122
    else:
        sizes, factors = list(output_size), [factor if factor and factor > 0 else None for factor in factors]
    steps = [
        Fraction(size, count) if factor is None else 1 / Fraction(factor)
        for size, count, factor in zip(own, sizes, factors, strict=True)
    ]
    return sizes, steps


def resized(name: str, rank: int) -> Callable[[Mapping[str, Any]], int]:
    """How many elements the result has; `name`: the tensor."""

    def count(arguments: Mapping[str, Any]) -> int:
        shape, sizes = np.shape(arguments[name]), arguments["output_size"]
        if sizes is None:
            factors = arguments["scale_factors"] or ()
            sizes = [int(size * factor) + 1 for size, factor in zip(shape[-rank:], factors, strict=False)]
        return prod(shape[:-rank]) * prod(sizes)

    return count


# The nearest element


def _nearest(
    self: np.ndarray, sizes: Sequence[int], steps: Sequence[Fraction], start: Fraction = Fraction(0)
) -> Golden:
    """floor((i + start) * step) along each dim; where float32 may take the product for a number beyond an integer, the
    element beside it is as right (P122)."""
    rank = len(sizes)
    near = partial(elements_near, start)
    low, high = zip(*map(near, self.shape[-rank:], sizes, steps), strict=True)
    golden = _taken(self, low)
    doubtful = [dim for dim in range(rank) if (low[dim] != high[dim]).any()]
    others = [
        _taken(self, [high[dim] if dim in some else low[dim] for dim in range(rank)])
        for count in range(1, len(doubtful) + 1) for some in itertools.combinations(doubtful, count)
    ]  # fmt: skip
    return golden.or_else(*others)


def elements_near(start: Fraction, size: int, count: int, step: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """[count]: the element at floor((i + start) * step), and that on the other side of an integer within 4 roundings;
    start: 0 or 1/2."""
    units = int(1 / (4 * Fraction(FORMATS["float32"].unit_roundoff)))
    bottom = 2 * step.denominator
    is_small = 2 * (count + 1) * step.numerator * (units + 1) < 2**63 > bottom * units
    places = (2 * np.arange(count).astype(np.int64 if is_small else object) + int(2 * start)) * step.numerator
    own, below, above = (places * (units + off) // (bottom * units) for off in (0, -1, 1))
    other = np.where(below != own, below, above)
    return tuple(np.minimum(each, size - 1).astype(np.int64) for each in (own, other))


def _taken(self: np.ndarray, places: Sequence[np.ndarray]) -> Golden:
    return exact(self[(..., *np.ix_(*places))], format_of(self))


# Linear interpolation


def linear_line(size: int, count: int, step: Fraction, align_corners: bool, compute: Format) -> Line:
    if align_corners:
        step = Fraction(size - 1, count - 1) if count > 1 else Fraction(0)
        places = scale = [i * step for i in range(count)]
    else:
        centres = [(i + Fraction(1, 2)) * step for i in range(count)]
        places = [min(max(one - Fraction(1, 2), Fraction(0)), Fraction(size - 1)) for one in centres]
        scale = [one + Fraction(1, 2) for one in centres]
    low = [floor(place) for place in places]
    share = [place - one for place, one in zip(places, low, strict=True)]
    parts = Real.exact(np.zeros(count))
    for i, one in enumerate(share):
        write(parts, i, parts_of(one))
    return line_of(size, np.array(low, np.int64), parts, share.__getitem__, np.array(list(map(float, scale))), compute)


def cubic_line(size: int, count: int, step: Fraction, align_corners: bool, compute: Format) -> Line:
    """The four elements around each place, of which those beyond the ends are the ends."""
    half = Fraction(1, 2)
    if align_corners:
        step = Fraction(size - 1, count - 1) if count > 1 else Fraction(0)
    places = [i * step if align_corners else (i + half) * step - half for i in range(count)]
    low = np.array([floor(place) for place in places], np.int64)
    weights = [cubic_weights(place - floor(place)) for place in places]
    parts = Real.exact(np.zeros((4, count)))
    for i, each in enumerate(weights):
        for tap, weight in enumerate(each):
            write(parts, (tap, i), parts_of(weight))
    at = np.clip(np.stack([low + tap for tap in (-1, 0, 1, 2)]), 0, size - 1)
    error = COORDINATE_ROUNDINGS * compute.unit_roundoff * np.array([float(abs(place) + 1) for place in places])
    shares = np.array([float(place - floor(place)) for place in places])
    return Line(at, parts, weights.__getitem__, error, rounded=cubic_roundings(shares))


def _interpolated(
    line: Callable[..., Line], self: np.ndarray, sizes: Sequence[int], steps: Sequence[Fraction], align_corners: bool
) -> Golden:
    fmt, rank = format_of(self), len(sizes)
    compute = compute_format(fmt)
    lines = [line(*each, align_corners, compute) for each in zip(self.shape[-rank:], sizes, steps, strict=True)]
    shape, are_finite = (*self.shape[:-rank], *sizes), everywhere(np.isfinite, self)

    def some(place: slice) -> Golden:
        index = np.unravel_index(np.arange(place.start, place.stop), shape)
        own = [line[at] for line, at in zip(lines, index[-rank:], strict=True)]
        return interpolated(fmt, self, index[:-rank], own, are_finite)

    width = prod(len(line.at) for line in lines)
    parts = ((place, some(place)) for place in spans(prod(shape), width))
    return assembled(parts, prod(shape)).rearranged(lambda part: part.reshape(shape))


# The ops

CENTRE = Fraction(1, 2)  # of a place that is one wide


def _nearest_by_sizes(rank: int) -> Callable[..., Golden]:
    def upsample(
        input: np.ndarray, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
    ) -> Golden:
        """The element at floor(i / scale_factor) along each of the last dims, or at floor(i * input size / output_size)
        (P122); the sizes are floor(input size * scale_factor) where none are given"""
        return _nearest(input, *sizes_of(input.shape, output_size, scale_factors, rank))

    return upsample


def _nearest_exact_by_sizes(rank: int) -> Callable[..., Golden]:
    def upsample(
        input: np.ndarray, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
    ) -> Golden:
        """The element in which the centre of each place lies: at floor((i + 1/2) / scale_factor) along each of the last
        dims, or at floor((i + 1/2) * input size / output_size) (P122); sizes as those of upsample_nearest2d"""
        return _nearest(input, *sizes_of(input.shape, output_size, scale_factors, rank), CENTRE)

    return upsample


def _linear_by_sizes(rank: int) -> Callable[..., Golden]:
    def upsample(
        input: np.ndarray, output_size: Sequence[int] | None, align_corners: bool, scale_factors: Sequence[float] | None
    ) -> Golden:
        """The linear interpolation along each of the last dims at (i + 1/2) / scale - 1/2, clamped to the elements, of
        the scale_factors or output size / input size; with align_corners at i (input size - 1) / (output size - 1).
        Sizes as those of upsample_nearest2d (P123)"""
        sizes = sizes_of(input.shape, output_size, scale_factors, rank)
        return _interpolated(linear_line, input, *sizes, align_corners)

    return upsample


for _rank in (1, 2, 3):
    _elements = resized("input", _rank)
    semantics(f"aten::upsample_nearest{_rank}d.vec", selects=True, elements=_elements)(_nearest_by_sizes(_rank))
    _exact = _nearest_exact_by_sizes(_rank)
    semantics(f"aten::_upsample_nearest_exact{_rank}d.vec", selects=True, elements=_elements)(_exact)
for _rank, _name in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d")):
    semantics(f"aten::upsample_{_name}.vec", elements=resized("input", _rank))(_linear_by_sizes(_rank))



@semantics("aten::upsample_bicubic2d.vec", elements=resized("input", 2))
def upsample_bicubic2d_by_sizes(
    input: np.ndarray, output_size: Sequence[int] | None, align_corners: bool, scale_factors: Sequence[float] | None
) -> Golden:
    """The cubic convolution with A = -0.75 (Keys, 1981) along each of the last dims at (i + 1/2) / scale - 1/2, of the
    scale_factors or output size / input size; with align_corners at i (input size - 1) / (output size - 1). Beyond the
    ends stand the elements there. Sizes as those of upsample_nearest2d (P123)"""
    sizes = sizes_of(input.shape, output_size, scale_factors, 2)
    return _interpolated(cubic_line, input, *sizes, align_corners)


Scale = float | None


@semantics("aten::upsample_bicubic2d", elements=resized("self", 2))
def upsample_bicubic2d(
    self: np.ndarray, output_size: Sequence[int], align_corners: bool, scales_h: Scale = None, scales_w: Scale = None
) -> Golden:
    """As upsample_bicubic2d.vec with output_size; a scale says what an element stands for"""
    sizes = sizes_of(self.shape, output_size, [scales_h, scales_w], 2)
    return _interpolated(cubic_line, self, *sizes, align_corners)


@semantics("aten::upsample_nearest1d", selects=True, elements=resized("self", 1))
def upsample_nearest1d(self: np.ndarray, output_size: Sequence[int], scales: Scale = None) -> Golden:
    """As upsample_nearest1d.vec with output_size; a scale says what an element stands for"""
    return _nearest(self, *sizes_of(self.shape, output_size, [scales], 1))


@semantics("aten::upsample_nearest2d", selects=True, elements=resized("self", 2))
def upsample_nearest2d(
    self: np.ndarray, output_size: Sequence[int], scales_h: Scale = None, scales_w: Scale = None
) -> Golden:
    """As upsample_nearest2d.vec with output_size; a scale says what an element stands for"""
    return _nearest(self, *sizes_of(self.shape, output_size, [scales_h, scales_w], 2))


@semantics("aten::upsample_nearest3d", selects=True, elements=resized("self", 3))
def upsample_nearest3d(
    self: np.ndarray, output_size: Sequence[int], scales_d: Scale = None, scales_h: Scale = None, scales_w: Scale = None
) -> Golden:
    """As upsample_nearest3d.vec with output_size; a scale says what an element stands for"""
    return _nearest(self, *sizes_of(self.shape, output_size, [scales_d, scales_h, scales_w], 3))


@semantics("aten::_upsample_nearest_exact1d", selects=True, elements=resized("self", 1))
def upsample_nearest_exact1d(self: np.ndarray, output_size: Sequence[int], scales: Scale = None) -> Golden:
    """As _upsample_nearest_exact1d.vec with output_size; a scale says what an element stands for"""
    return _nearest(self, *sizes_of(self.shape, output_size, [scales], 1), CENTRE)


@semantics("aten::_upsample_nearest_exact2d", selects=True, elements=resized("self", 2))
def upsample_nearest_exact2d(
    self: np.ndarray, output_size: Sequence[int], scales_h: Scale = None, scales_w: Scale = None
) -> Golden:
    """As _upsample_nearest_exact2d.vec with output_size; a scale says what an element stands for"""
    return _nearest(self, *sizes_of(self.shape, output_size, [scales_h, scales_w], 2), CENTRE)


@semantics("aten::_upsample_nearest_exact3d", selects=True, elements=resized("self", 3))
def upsample_nearest_exact3d(
    self: np.ndarray, output_size: Sequence[int], scales_d: Scale = None, scales_h: Scale = None, scales_w: Scale = None
) -> Golden:
    """As _upsample_nearest_exact3d.vec with output_size; a scale says what an element stands for"""
    return _nearest(self, *sizes_of(self.shape, output_size, [scales_d, scales_h, scales_w], 3), CENTRE)


@semantics("aten::upsample_linear1d", elements=resized("self", 1))
def upsample_linear1d(
    self: np.ndarray, output_size: Sequence[int], align_corners: bool, scales: Scale = None
) -> Golden:
    """As upsample_linear1d.vec with output_size; a scale says what an element stands for"""
    return _interpolated(linear_line, self, *sizes_of(self.shape, output_size, [scales], 1), align_corners)


@semantics("aten::upsample_bilinear2d", elements=resized("self", 2))
def upsample_bilinear2d(
    self: np.ndarray, output_size: Sequence[int], align_corners: bool, scales_h: Scale = None, scales_w: Scale = None
) -> Golden:
    """As upsample_bilinear2d.vec with output_size; a scale says what an element stands for"""
    sizes = sizes_of(self.shape, output_size, [scales_h, scales_w], 2)
    return _interpolated(linear_line, self, *sizes, align_corners)


@semantics("aten::upsample_trilinear3d", elements=resized("self", 3))
def upsample_trilinear3d(
    self: np.ndarray,
    output_size: Sequence[int],
    align_corners: bool,
    scales_d: Scale = None,
    scales_h: Scale = None,
    scales_w: Scale = None,
) -> Golden:
    """As upsample_trilinear3d.vec with output_size; a scale says what an element stands for"""
    sizes = sizes_of(self.shape, output_size, [scales_d, scales_h, scales_w], 3)
    return _interpolated(linear_line, self, *sizes, align_corners)
