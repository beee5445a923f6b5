"""Resizing of images: the nearest element, or a linear interpolation between the elements around each place."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import floor, prod
from operator import mul
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import spans
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.ball import gamma, underflow
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import FORMATS, Format, compute_format, format_of
from conform.numerics.real import Real

COORDINATE_ROUNDINGS = 4  # of the scale, of its reciprocal, of the product and of the difference


def sizes_of(
    shape: Sequence[int], output_size: Sequence[int] | None, scales: Sequence[float | None] | None, rank: int
) -> tuple[list[int], list[Fraction]]:
    """(the result's sizes of the last `rank` dims, how many elements of the input one of the result stands for)."""
    own, factors = shape[-rank:], list(scales or [None] * rank)
    if output_size is None:
        sizes = [floor(size * Fraction(factor)) for size, factor in zip(own, factors, strict=True)]
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


def _nearest(self: np.ndarray, sizes: Sequence[int], steps: Sequence[Fraction]) -> Golden:
    """floor(i * step) along each dim; where float32 may take i * step for a number beyond an integer, the element
    beside it is as right (P122)."""
    rank = len(sizes)
    low, high = zip(*map(_elements_near, self.shape[-rank:], sizes, steps), strict=True)
    golden = _taken(self, low)
    doubtful = [dim for dim in range(rank) if (low[dim] != high[dim]).any()]
    others = [
        _taken(self, [high[dim] if dim in some else low[dim] for dim in range(rank)])
        for count in range(1, len(doubtful) + 1) for some in itertools.combinations(doubtful, count)
    ]  # fmt: skip
    return golden.or_else(*others)


def _elements_near(size: int, count: int, step: Fraction) -> tuple[np.ndarray, np.ndarray]:
    """[count]: the element at floor(i * step), and that on the other side of an integer within 4 roundings."""
    error = 4 * Fraction(FORMATS["float32"].unit_roundoff)
    own, other = np.empty((2, count), np.int64)
    for i in range(count):
        place = i * step
        own[i] = other[i] = floor(place)
        if i:
            ends = floor(place * (1 - error)), floor(place * (1 + error))
            other[i] = next((end for end in ends if end != own[i]), own[i])
    return np.minimum(own, size - 1), np.minimum(other, size - 1)


def _taken(self: np.ndarray, places: Sequence[np.ndarray]) -> Golden:
    result = self
    for axis, place in enumerate(places, self.ndim - len(places)):
        result = result.take(place, axis)
    return exact(result, format_of(self))


# Linear interpolation


@dataclass(frozen=True)
class Line:
    """Along one dim, for each of n places: which two elements [2, n] it lies between, their weights, exactly too, how
    far an implementation's coordinate may be off, and the elements [4, n] around, the two in the middle."""

    at: np.ndarray
    weights: Real
    exact: Callable[[int], list[Fraction]]
    error: np.ndarray
    around: np.ndarray

    def __getitem__(self, index: np.ndarray) -> Line:
        return Line(self.at[:, index], self.weights[:, index], lambda i: self.exact(int(index[i])),
                    self.error[index], self.around[:, index])  # fmt: skip


def real_of(numbers: Sequence[Fraction]) -> Real:
    """Fractions as reals."""
    hi = np.array([float(one) for one in numbers])
    rest = [one - Fraction(near) for one, near in zip(numbers, hi.tolist(), strict=True)]
    lo = np.array([float(one) for one in rest])
    is_exact = np.array([one == Fraction(near) for one, near in zip(rest, lo.tolist(), strict=True)], bool)
    return Real(hi, lo, np.where(is_exact, 0.0, np.abs(lo) * 2.0**-52 + 2.0**-1074))


def line_of(size: int, places: Sequence[Fraction], scale: Sequence[Fraction], compute: Format) -> Line:
    """At the coordinates `places`, of [0, size - 1]; scale: what their rounding errors are relative to."""
    low = [min(floor(place), size - 1) for place in places]
    share = [place - one for place, one in zip(places, low, strict=True)]
    first = np.array(low, np.int64)
    second = np.minimum(first + 1, size - 1)
    weights = real_of([*(1 - one for one in share), *share]).reshape((2, len(low)))
    error = COORDINATE_ROUNDINGS * compute.unit_roundoff * np.array([float(one) for one in scale])
    around = np.stack([np.maximum(first - 1, 0), first, second, np.minimum(second + 1, size - 1)])
    return Line(np.stack([first, second]), weights, lambda i: [1 - share[i], share[i]], error, around)


def _line(size: int, count: int, step: Fraction, align_corners: bool, compute: Format) -> Line:
    if align_corners:
        step = Fraction(size - 1, count - 1) if count > 1 else Fraction(0)
        places = [i * step for i in range(count)]
        return line_of(size, places, places, compute)
    centres = [(i + Fraction(1, 2)) * step for i in range(count)]
    places = [min(max(one - Fraction(1, 2), Fraction(0)), Fraction(size - 1)) for one in centres]
    return line_of(size, places, [one + Fraction(1, 2) for one in centres], compute)


def _linear(self: np.ndarray, sizes: Sequence[int], steps: Sequence[Fraction], align_corners: bool) -> Golden:
    fmt, rank = format_of(self), len(sizes)
    compute = compute_format(fmt)
    lines = [_line(*each, align_corners, compute) for each in zip(self.shape[-rank:], sizes, steps, strict=True)]
    shape = (*self.shape[:-rank], *sizes)

    def some(place: slice) -> Golden:
        index = np.unravel_index(np.arange(place.start, place.stop), shape)
        own = [line[at] for line, at in zip(lines, index[-rank:], strict=True)]
        return interpolated(fmt, self, index[:-rank], own)

    parts = ((place, some(place)) for place in spans(prod(shape), 4**rank))
    return assembled(parts, prod(shape)).rearranged(lambda part: part.reshape(shape))


def interpolated(
    fmt: Format,
    tensor: np.ndarray,
    batch: Sequence[np.ndarray],
    lines: Sequence[Line],
    there: Callable[[Sequence[np.ndarray]], np.ndarray] | None = None,
) -> Golden:
    """[m]: the sum of the elements around, each times its weights along every dim.

    The budget is the change that an error of the coordinates makes (the slopes of the cells they may lie in), and the
    rounding of weights, products and sums. An infinity or NaN with weight 0 is open (P123). there: of coordinates,
    whether an element stands there; one that does not is 0.
    """
    compute, corners = compute_format(fmt), list(itertools.product((0, 1), repeat=len(lines)))

    def read(places: Sequence[np.ndarray]) -> np.ndarray:
        found = tensor[(*batch, *places)].astype(np.float64)
        return found if there is None else np.where(there(places), found, 0.0)

    elements = [read([line.at[tap] for line, tap in zip(lines, corner, strict=True)]) for corner in corners]
    weights = [reduce(mul, [line.weights[tap] for line, tap in zip(lines, corner, strict=True)]) for corner in corners]
    hidden = np.logical_or.reduce([~np.isfinite(x) & (w.hi == 0) for x, w in zip(elements, weights, strict=True)])
    with np.errstate(all="ignore"):
        real = reduce(lambda x, y: x + y, [Real.exact(x) * w for x, w in zip(elements, weights, strict=True)])

    def exactly(index: tuple[int]) -> Fraction:
        own = [line.exact(index[0]) for line in lines]
        products = (Fraction(float(x[index])) * prod(one[tap] for one, tap in zip(own, corner, strict=True))
                    for x, corner in zip(elements, corners, strict=True))  # fmt: skip
        return sum(products, Fraction(0))

    value, real = decide_exactly(fmt, real, exactly)
    sizes = [np.where(np.isfinite(x), np.abs(x), 0.0) for x in elements]
    magnitude = sum(size * np.abs(w.hi) for size, w in zip(sizes, weights, strict=True))
    largest = np.maximum.reduce(sizes)
    roundings = len(corners) + 3 * len(lines)
    with np.errstate(all="ignore"):
        budget = gamma(roundings, compute.unit_roundoff) * magnitude + len(lines) * compute.unit_roundoff * largest
        budget = budget + sum(line.error * _slope(read, lines, dim) for dim, line in enumerate(lines))
        budget = budget + roundings * underflow(compute)
    budget = np.where(np.isfinite(real.hi), budget, 0.0)
    golden = Golden(fmt, value, real, budget=budget, scale=magnitude, zero_sign_free=True)
    overflows = (sum(sizes) > compute.max_finite) & ~np.isnan(real.hi)
    return golden.opened(hidden, "P123").opened(overflows, "P35")


def _slope(read: Callable[[Sequence[np.ndarray]], np.ndarray], lines: Sequence[Line], dim: int) -> np.ndarray:
    """[m]: how steep the interpolation is along a dim at most, in the cells that the coordinate may lie in."""
    own, steepest = lines[dim], 0.0
    low = own.weights.hi[1] <= own.error
    high = own.weights.hi[0] <= own.error
    for pair, is_reached in ((0, low), (1, np.ones_like(low)), (2, high)):
        if not is_reached.any():
            continue
        for corner in itertools.product((0, 1), repeat=len(lines)):
            if corner[dim]:
                continue
            places = [line.at[tap] for line, tap in zip(lines, corner, strict=True)]
            ends = []
            for end in (pair, pair + 1):
                places[dim] = own.around[end]
                ends.append(read(places))
            with np.errstate(all="ignore"):
                change = np.abs(ends[1] - ends[0])
            steepest = np.maximum(steepest, np.where(is_reached & np.isfinite(change), change, 0.0))
    return steepest


# The ops


def _nearest_by_sizes(rank: int) -> Callable[..., Golden]:
    def upsample(
        input: np.ndarray, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
    ) -> Golden:
        """The element at floor(i / scale_factor) along each of the last dims, or at floor(i * input size / output_size)
        (P122); the sizes are floor(input size * scale_factor) where none are given"""
        return _nearest(input, *sizes_of(input.shape, output_size, scale_factors, rank))

    return upsample


def _linear_by_sizes(rank: int) -> Callable[..., Golden]:
    def upsample(
        input: np.ndarray, output_size: Sequence[int] | None, align_corners: bool, scale_factors: Sequence[float] | None
    ) -> Golden:
        """The linear interpolation along each of the last dims at (i + 1/2) / scale - 1/2, clamped to the elements, of
        the scale_factors or output size / input size; with align_corners at i (input size - 1) / (output size - 1).
        Sizes as those of upsample_nearest2d (P123)"""
        return _linear(input, *sizes_of(input.shape, output_size, scale_factors, rank), align_corners)

    return upsample


for _rank in (1, 2, 3):
    _elements = resized("input", _rank)
    semantics(f"aten::upsample_nearest{_rank}d.vec", selects=True, elements=_elements)(_nearest_by_sizes(_rank))
for _rank, _name in ((1, "linear1d"), (2, "bilinear2d"), (3, "trilinear3d")):
    semantics(f"aten::upsample_{_name}.vec", elements=resized("input", _rank))(_linear_by_sizes(_rank))

Scale = float | None


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


@semantics("aten::upsample_linear1d", elements=resized("self", 1))
def upsample_linear1d(
    self: np.ndarray, output_size: Sequence[int], align_corners: bool, scales: Scale = None
) -> Golden:
    """As upsample_linear1d.vec with output_size; a scale says what an element stands for"""
    return _linear(self, *sizes_of(self.shape, output_size, [scales], 1), align_corners)


@semantics("aten::upsample_bilinear2d", elements=resized("self", 2))
def upsample_bilinear2d(
    self: np.ndarray, output_size: Sequence[int], align_corners: bool, scales_h: Scale = None, scales_w: Scale = None
) -> Golden:
    """As upsample_bilinear2d.vec with output_size; a scale says what an element stands for"""
    return _linear(self, *sizes_of(self.shape, output_size, [scales_h, scales_w], 2), align_corners)


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
    return _linear(self, *sizes_of(self.shape, output_size, [scales_d, scales_h, scales_w], 3), align_corners)
