"""Gradients of resizing: every element of grad_output goes back to the elements of which its result was made, by their
weights."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, strides_of
from conform.refs.references import reference
from conform.refs.windows.antialiased import FILTERS, filter_taps
from conform.refs.windows.interpolation import (
    Along,
    check_resized,
    cubic_taps,
    linear_taps,
    listed,
    nearest_exact_taps,
    nearest_taps,
    steps_of,
)
from conform.refs.windows.sliding import Ints, planes
from conform.refs.windows.sums import Term, check_floats, weighted_sum

Scale = float | None


def _gradient(
    op: str, grad_output: RefTensor, output_size: Ints, input_size: list[int], scales: Sequence[Scale], along: Along
) -> RefTensor:
    """Zeros of input_size, to each element of which every element of grad_output is added whose result has it, times
    its weight: exact sums, rounded once."""
    if grad_output.dtype == "uint8":
        raise NotImplementedError(f"the reference of {op} covers floats only")
    dtype, counts = check_floats(op, grad_output), listed(output_size)
    check_resized(op, input_size, len(scales), counts)
    if min(input_size) < 0:
        raise ValueError(f"a size of {input_size} is negative")
    if grad_output.shape != (*input_size[:2], *counts):
        raise ValueError(f"grad_output of shape {grad_output.shape} is none of {input_size} resized to {counts}")
    sizes = tuple(input_size[2:])
    taps = [along(*each) for each in zip(sizes, counts, steps_of(scales), strict=True)]
    data = []
    for grads in planes(grad_output, prod(counts)):
        terms: list[list[Term]] = [[] for _ in range(prod(sizes))]
        for grad, each in zip(grads, product(*taps), strict=True):
            for chosen in product(*each):
                place = sum(i * stride for (_, i), stride in zip(chosen, strides_of(sizes), strict=True))
                terms[place].append((prod(weight for weight, _ in chosen), grad))
        data += [weighted_sum(dtype, own) for own in terms]
    return RefTensor(dtype, tuple(input_size), data)


def _register_nearest(op: str, along: Along) -> None:
    @reference(f"aten::{op}1d_backward")
    def of_lines(
        grad_output: RefTensor, output_size: Ints, input_size: list[int], scales: Scale = None
    ) -> RefTensor:
        """Of (N, C, L): each element the sum of grad_output where it was taken."""
        return _gradient(op, grad_output, output_size, input_size, [scales], along)

    @reference(f"aten::{op}2d_backward")
    def of_planes(
        grad_output: RefTensor, output_size: Ints, input_size: list[int], scales_h: Scale = None, scales_w: Scale = None
    ) -> RefTensor:
        """Of (N, C, H, W): each element the sum of grad_output where it was taken."""
        return _gradient(op, grad_output, output_size, input_size, [scales_h, scales_w], along)

    @reference(f"aten::{op}3d_backward")
    def of_volumes(
        grad_output: RefTensor, output_size: Ints, input_size: list[int], scales_d: Scale = None,
        scales_h: Scale = None, scales_w: Scale = None,
    ) -> RefTensor:  # fmt: skip
        """Of (N, C, D, H, W): each element the sum of grad_output where it was taken."""
        return _gradient(op, grad_output, output_size, input_size, [scales_d, scales_h, scales_w], along)


_register_nearest("upsample_nearest", nearest_taps)
_register_nearest("_upsample_nearest_exact", nearest_exact_taps)


@reference("aten::upsample_linear1d_backward")
def linear1d(
    grad_output: RefTensor, output_size: Ints, input_size: list[int], align_corners: bool, scales: Scale = None
) -> RefTensor:
    """Of (N, C, L): grad_output by its shares in the two elements next to each place."""
    along = linear_taps(align_corners)
    return _gradient("upsample_linear1d_backward", grad_output, output_size, input_size, [scales], along)


@reference("aten::upsample_trilinear3d_backward")
def trilinear3d(
    grad_output: RefTensor, output_size: Ints, input_size: list[int], align_corners: bool, scales_d: Scale = None,
    scales_h: Scale = None, scales_w: Scale = None,
) -> RefTensor:  # fmt: skip
    """upsample_linear1d_backward in the three dims of (N, C, D, H, W), rounded once."""
    scales = [scales_d, scales_h, scales_w]
    along = linear_taps(align_corners)
    return _gradient("upsample_trilinear3d_backward", grad_output, output_size, input_size, scales, along)


@reference("aten::upsample_bilinear2d_backward")
def bilinear2d(
    grad_output: RefTensor, output_size: Ints, input_size: list[int], align_corners: bool, scales_h: Scale = None,
    scales_w: Scale = None,
) -> RefTensor:  # fmt: skip
    """upsample_linear1d_backward in both dims of (N, C, H, W), rounded once."""
    scales, along = [scales_h, scales_w], linear_taps(align_corners)
    return _gradient("upsample_bilinear2d_backward", grad_output, output_size, input_size, scales, along)


@reference("aten::upsample_bicubic2d_backward")
def bicubic2d(
    grad_output: RefTensor, output_size: Ints, input_size: list[int], align_corners: bool, scales_h: Scale = None,
    scales_w: Scale = None,
) -> RefTensor:  # fmt: skip
    """grad_output by its shares in the 4 x 4 elements next to each place, rounded once."""
    scales, along = [scales_h, scales_w], cubic_taps(align_corners)
    return _gradient("upsample_bicubic2d_backward", grad_output, output_size, input_size, scales, along)


def _register_filtered(op: str) -> None:
    @reference(f"aten::{op}_backward")
    def filtered(
        grad_output: RefTensor, output_size: Ints, input_size: list[int], align_corners: bool, scales_h: Scale = None,
        scales_w: Scale = None,
    ) -> RefTensor:  # fmt: skip
        """Of (N, C, H, W): grad_output by its shares in the elements under its filter; open with align_corners."""
        along = filter_taps(*FILTERS[op])
        result = _gradient(op, grad_output, output_size, input_size, [scales_h, scales_w], along)
        return RefTensor(result.dtype, result.shape, [UNSPECIFIED] * len(result.data)) if align_corners else result


for _op in FILTERS:
    _register_filtered(_op)
