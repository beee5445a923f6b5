"""interpolate with antialias=True: a filter that widens with the step, as Pillow's resize."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import floor

from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference
from conform.refs.windows.interpolation import HALF, Along, Taps, cubic_filter, listed, vector_sizes, weighted
from conform.refs.windows.sliding import Ints

Filter = Callable[[Fraction], Fraction]  # of a distance in steps, not negative


def _triangle(distance: Fraction) -> Fraction:
    return max(1 - distance, Fraction(0))


def _cubic(distance: Fraction) -> Fraction:
    return cubic_filter(distance, -HALF)  # Pillow's parameter


def filter_taps(kernel: Filter, reach: int) -> Along:
    """The elements within `reach` steps (of at least 1) of each output's centre, by weights that add up to 1."""

    def taps(size: int, count: int, step: Fraction | None) -> list[Taps]:
        step = Fraction(size, count) if step is None else step
        wide, result = max(step, Fraction(1)), []
        for i in range(count):
            centre, support = (i + HALF) * step, reach * wide
            first, end = max(floor(centre - support + HALF), 0), min(floor(centre + support + HALF), size)
            weights = [kernel(abs(j + HALF - centre) / wide) for j in range(first, end)]
            total = sum(weights)
            result.append([(weight / total, j) for j, weight in enumerate(weights, first)])
        return result

    return taps


FILTERS = {"_upsample_bilinear2d_aa": (_triangle, 1), "_upsample_bicubic2d_aa": (_cubic, 2)}


def _antialiased(
    op: str, self: RefTensor, counts: list[int], scales: list[float | None], align_corners: bool
) -> RefTensor:
    """Filtered along both dims, rounded once; with align_corners, which is defined for no filter, all is open."""
    result = weighted(op, self, counts, scales, filter_taps(*FILTERS[op]))
    return RefTensor(result.dtype, result.shape, [UNSPECIFIED] * len(result.data)) if align_corners else result


def _register(op: str) -> None:
    @reference(f"aten::{op}")
    def plain(
        self: RefTensor, output_size: Ints, align_corners: bool, scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> RefTensor:  # fmt: skip
        """(N, C, H, W) resized by a filter of at least the step's width."""
        return _antialiased(op, self, listed(output_size), [scales_h, scales_w], align_corners)

    @reference(f"aten::{op}.vec")
    def vec(
        input: RefTensor, output_size: list[int] | None, align_corners: bool, scale_factors: list[float] | None
    ) -> RefTensor:
        """The overload without .vec, to output_size, or by scale_factors."""
        if len(input.shape) != 4:
            raise ValueError(f"{op} takes (N, C, H, W), found {input.shape}")
        return _antialiased(op, input, *vector_sizes(input, output_size, scale_factors), align_corners)


for _op in FILTERS:
    _register(_op)
