"""torch.nn.functional.interpolate: elements at the places to which an output grid maps, by exact rational weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import floor, prod

from conform.refs.exact.promotion import BOOL, COMPLEX, INTEGER, category
from conform.refs.exact.tensor import RefTensor, strides_of
from conform.refs.references import reference
from conform.refs.windows.sliding import Ints, planes
from conform.refs.windows.sums import check_floats, weighted_sum

HALF = Fraction(1, 2)
Taps = list[tuple[Fraction, int]]  # of one output index along one dim: weights, and the input indices they are for
Along = Callable[[int, int, Fraction | None], list[Taps]]  # input size, output size, step or None: taps of each index


# ---- one dim -----------------------------------------------------------------------------------------------------


def nearest_taps(size: int, count: int, step: Fraction | None) -> list[Taps]:
    """Output i takes the element floor(i * step), at most the last; step is 1 / scale, or without one size / count."""
    step = Fraction(size, count) if step is None else step
    return [[(Fraction(1), min(floor(i * step), size - 1))] for i in range(count)]


def nearest_exact_taps(size: int, count: int, step: Fraction | None) -> list[Taps]:
    """Output i takes the element in which its centre lies: floor((i + 1/2) * step), at most the last."""
    step = Fraction(size, count) if step is None else step
    return [[(Fraction(1), min(floor((i + HALF) * step), size - 1))] for i in range(count)]


def source_places(size: int, count: int, step: Fraction | None, align_corners: bool) -> list[Fraction]:
    """Where the outputs lie among the input elements: corner on corner, else (i + 1/2) * step - 1/2."""
    if align_corners:
        return [i * Fraction(size - 1, count - 1) if count > 1 else Fraction(0) for i in range(count)]
    step = Fraction(size, count) if step is None else step
    return [(i + HALF) * step - HALF for i in range(count)]


def linear_taps(align_corners: bool) -> Along:
    """The two neighbours of a place, which is at least 0, by their distances; beyond the last element that one."""

    def taps(size: int, count: int, step: Fraction | None) -> list[Taps]:
        result = []
        for place in source_places(size, count, step, align_corners):
            place = max(place, Fraction(0))
            low = min(floor(place), size - 1)
            share = place - low if low < size - 1 else Fraction(0)
            result.append([(1 - share, low), (share, min(low + 1, size - 1))])
        return result

    return taps


def cubic_weights(share: Fraction, a: Fraction) -> list[Fraction]:
    """Keys' cubic convolution with parameter `a`, of the neighbours at -1, 0, 1, 2 of a place at `share`."""
    return [cubic_filter(distance, a) for distance in (1 + share, share, 1 - share, 2 - share)]


def cubic_filter(distance: Fraction, a: Fraction) -> Fraction:
    """(a + 2) d^3 - (a + 3) d^2 + 1 up to 1, a d^3 - 5a d^2 + 8a d - 4a up to 2, then 0."""
    if distance <= 1:
        return ((a + 2) * distance - (a + 3)) * distance**2 + 1
    return a * (((distance - 5) * distance + 8) * distance - 4) if distance < 2 else Fraction(0)


def cubic_taps(align_corners: bool) -> Along:
    """The four neighbours, those beyond an end replaced by the element there; the cubic's parameter is -3/4."""

    def taps(size: int, count: int, step: Fraction | None) -> list[Taps]:
        result = []
        for place in source_places(size, count, step, align_corners):
            low = floor(place)
            indices = [min(max(low + k, 0), size - 1) for k in (-1, 0, 1, 2)]
            result.append(list(zip(cubic_weights(place - low, Fraction(-3, 4)), indices, strict=True)))
        return result

    return taps


# ---- all dims ----------------------------------------------------------------------------------------------------


def steps_of(scales: Sequence[float | None]) -> list[Fraction | None]:
    """1 / scale of each, where there is a positive one."""
    return [1 / Fraction(scale) if scale is not None and scale > 0 else None for scale in scales]


def check_resized(op: str, shape: Sequence[int], spatial: int, counts: Sequence[int]) -> None:
    """(N, C, *) with no size 0 but N's, to positive output sizes."""
    if len(shape) != spatial + 2 or 0 in shape[1:]:
        raise ValueError(f"{op} takes (N, C, *) of {spatial} dims with no size 0 but N's, found {shape}")
    if len(counts) != spatial or min(counts) < 1:
        raise ValueError(f"{op} takes {spatial} positive output sizes, found {list(counts)}")


def listed(output_size: Ints) -> list[int]:
    """A list of one for an int."""
    return [output_size] if isinstance(output_size, int) else list(output_size)


def resized(
    self: RefTensor, counts: Sequence[int], scales: Sequence[float | None], along: Along,
    element: Callable[[list[tuple[Fraction, object]]], object],
) -> RefTensor:  # fmt: skip
    """Each output `element` of the weights (products over the dims) and the input elements of its taps."""
    sizes = self.shape[2:]
    strides = strides_of(sizes)
    taps = [along(*each) for each in zip(sizes, counts, steps_of(scales), strict=True)]
    data = []
    for plane in planes(self, prod(sizes)):
        for each in product(*taps):
            terms = []
            for chosen in product(*each):
                place = sum(i * stride for (_, i), stride in zip(chosen, strides, strict=True))
                terms.append((prod((weight for weight, _ in chosen), start=Fraction(1)), plane[place]))
            data.append(element(terms))
    return RefTensor(self.dtype, (*self.shape[:2], *counts), data)


def vector_sizes(
    input: RefTensor, output_size: list[int] | None, scale_factors: list[float] | None
) -> tuple[list[int], list[float | None]]:
    """Output sizes and scales: one of both is given; of scales the sizes are floor(size * scale), a product of doubles.
    """
    sizes = input.shape[2:]
    if (output_size is None) == (scale_factors is None):
        raise ValueError("one of output_size and scale_factors is to be given")
    if output_size is not None:
        return list(output_size), [None] * len(output_size)
    if len(scale_factors) != len(sizes):
        raise ValueError(f"a scale for each of {len(sizes)} dims, found {scale_factors}")
    return [floor(float(size) * scale) for size, scale in zip(sizes, scale_factors, strict=True)], scale_factors


def _nearest(
    self: RefTensor, counts: list[int], scales: Sequence[float | None], along: Along = nearest_taps
) -> RefTensor:
    """Elements of self alone; floats and uint8."""
    if category(self.dtype) in (BOOL, COMPLEX) or (category(self.dtype) == INTEGER and self.dtype != "uint8"):
        raise ValueError(f"upsample_nearest is not defined for {self.dtype}")
    check_resized("upsample_nearest", self.shape, len(scales), counts)
    return resized(self, counts, scales, along, lambda terms: terms[0][1])


def weighted(op: str, self: RefTensor, counts: list[int], scales: Sequence[float | None], along: Along) -> RefTensor:
    """Weighted sums, rounded once; open where an infinity or NaN has the weight 0."""
    if self.dtype == "uint8":
        raise NotImplementedError(f"the reference of {op} covers floats only")
    dtype = check_floats(op, self)
    check_resized(op, self.shape, len(scales), counts)
    return resized(self, counts, scales, along, lambda terms: weighted_sum(dtype, terms))


Vector = list[int] | None
Scales = list[float] | None


@reference("aten::upsample_nearest1d")
def nearest1d(self: RefTensor, output_size: Ints, scales: float | None = None) -> RefTensor:
    """Of (N, C, L): element floor(i * L / output_size), or floor(i / scales), for output i."""
    return _nearest(self, listed(output_size), [scales])


@reference("aten::upsample_nearest2d")
def nearest2d(
    self: RefTensor, output_size: Ints, scales_h: float | None = None, scales_w: float | None = None
) -> RefTensor:
    """upsample_nearest1d in both dims of (N, C, H, W)."""
    return _nearest(self, listed(output_size), [scales_h, scales_w])


@reference("aten::upsample_nearest3d")
def nearest3d(
    self: RefTensor, output_size: Ints, scales_d: float | None = None, scales_h: float | None = None,
    scales_w: float | None = None,
) -> RefTensor:  # fmt: skip
    """upsample_nearest1d in the three dims of (N, C, D, H, W)."""
    return _nearest(self, listed(output_size), [scales_d, scales_h, scales_w])


def _vector_rank(input: RefTensor, spatial: int) -> None:
    if len(input.shape) != spatial + 2:
        raise ValueError(f"(N, C, *) of {spatial} dims, found {input.shape}")


def _register_nearest(spatial: int) -> None:
    @reference(f"aten::upsample_nearest{spatial}d.vec")
    def nearest(input: RefTensor, output_size: Vector, scale_factors: Scales) -> RefTensor:
        """upsample_nearest to output_size, or by scale_factors."""
        _vector_rank(input, spatial)
        return _nearest(input, *vector_sizes(input, output_size, scale_factors))


def _register_nearest_exact(spatial: int) -> None:
    @reference(f"aten::_upsample_nearest_exact{spatial}d.vec")
    def nearest(input: RefTensor, output_size: Vector, scale_factors: Scales) -> RefTensor:
        """The elements in which the centres of the outputs lie, to output_size, or by scale_factors."""
        _vector_rank(input, spatial)
        return _nearest(input, *vector_sizes(input, output_size, scale_factors), nearest_exact_taps)


@reference("aten::_upsample_nearest_exact1d")
def nearest_exact1d(self: RefTensor, output_size: Ints, scales: float | None = None) -> RefTensor:
    """Of (N, C, L): element floor((i + 1/2) * L / output_size), or floor((i + 1/2) / scales), for output i."""
    return _nearest(self, listed(output_size), [scales], nearest_exact_taps)


@reference("aten::_upsample_nearest_exact2d")
def nearest_exact2d(
    self: RefTensor, output_size: Ints, scales_h: float | None = None, scales_w: float | None = None
) -> RefTensor:
    """_upsample_nearest_exact1d in both dims of (N, C, H, W)."""
    return _nearest(self, listed(output_size), [scales_h, scales_w], nearest_exact_taps)


@reference("aten::_upsample_nearest_exact3d")
def nearest_exact3d(
    self: RefTensor, output_size: Ints, scales_d: float | None = None, scales_h: float | None = None,
    scales_w: float | None = None,
) -> RefTensor:  # fmt: skip
    """_upsample_nearest_exact1d in the three dims of (N, C, D, H, W)."""
    return _nearest(self, listed(output_size), [scales_d, scales_h, scales_w], nearest_exact_taps)


def _register_weighted(op: str, spatial: int, taps: Callable[[bool], Along]) -> None:
    @reference(f"aten::{op}.vec")
    def interpolate(input: RefTensor, output_size: Vector, align_corners: bool, scale_factors: Scales) -> RefTensor:
        """The overload without .vec, to output_size, or by scale_factors."""
        _vector_rank(input, spatial)
        return weighted(op, input, *vector_sizes(input, output_size, scale_factors), taps(align_corners))


for _spatial in (1, 2, 3):
    _register_nearest(_spatial)
    _register_nearest_exact(_spatial)
for _op, _spatial in (("upsample_linear1d", 1), ("upsample_bilinear2d", 2), ("upsample_trilinear3d", 3)):
    _register_weighted(_op, _spatial, linear_taps)
_register_weighted("upsample_bicubic2d", 2, cubic_taps)


@reference("aten::upsample_linear1d")
def linear1d(self: RefTensor, output_size: Ints, align_corners: bool, scales: float | None = None) -> RefTensor:
    """Of (N, C, L): between the two elements next to the place of each output."""
    return weighted("upsample_linear1d", self, listed(output_size), [scales], linear_taps(align_corners))


@reference("aten::upsample_bilinear2d")
def bilinear2d(
    self: RefTensor, output_size: Ints, align_corners: bool, scales_h: float | None = None,
    scales_w: float | None = None,
) -> RefTensor:  # fmt: skip
    """upsample_linear1d in both dims of (N, C, H, W), rounded once."""
    scales = [scales_h, scales_w]
    return weighted("upsample_bilinear2d", self, listed(output_size), scales, linear_taps(align_corners))


@reference("aten::upsample_trilinear3d")
def trilinear3d(
    self: RefTensor, output_size: Ints, align_corners: bool, scales_d: float | None = None,
    scales_h: float | None = None, scales_w: float | None = None,
) -> RefTensor:  # fmt: skip
    """upsample_linear1d in the three dims of (N, C, D, H, W), rounded once."""
    scales = [scales_d, scales_h, scales_w]
    return weighted("upsample_trilinear3d", self, listed(output_size), scales, linear_taps(align_corners))


@reference("aten::upsample_bicubic2d")
def bicubic2d(
    self: RefTensor, output_size: Ints, align_corners: bool, scales_h: float | None = None,
    scales_w: float | None = None,
) -> RefTensor:  # fmt: skip
    """Cubic convolution over the 4 x 4 elements next to the place of each output, rounded once."""
    return weighted("upsample_bicubic2d", self, listed(output_size), [scales_h, scales_w], cubic_taps(align_corners))
