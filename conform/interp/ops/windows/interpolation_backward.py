"""Gradients of resizing: the adjoint of each interpolation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.adjoints import summed_back
from conform.interp.ops.windows.adjoints import Reading, weighted_back
from conform.interp.ops.windows.antialiased import CUBIC, LINEAR, Filter, FilteredWindows
from conform.interp.ops.windows.cells import Line
from conform.interp.ops.windows.interpolation import CENTRE, cubic_line, elements_near, linear_line, sizes_of
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, compute_format, format_of
from conform.numerics.real import Real, concatenate

Sizes = Sequence[int]
Scales = Sequence[float | None]
Scale = float | None
MOST_IN_DOUBT = 2**21  # results along a dim of which float32 may take at most one for beyond each integer


# The nearest element


def _nearest(grad_output: np.ndarray, output_size: Sizes, input_size: Sizes, scales: Scales, start: Fraction) -> Golden:
    """Each result that float32 may take from the element beside (P122) counts for either. Of those along a dim an
    element has two at most, at its ends, so one in two goes over together with the others like it."""
    steps = sizes_of(input_size, output_size, scales, len(output_size))[1]
    along = [_readings(*each, start) for each in zip(input_size[2:], output_size, steps, strict=True)]
    first, *others = (_from(grad_output, input_size, places) for places in itertools.product(*along))
    return first.or_else(*others)


def _from(grad_output: np.ndarray, input_size: Sizes, places: Sequence[np.ndarray]) -> Golden:
    fmt = FORMATS["int64"]
    return summed_back(grad_output, input_size, lambda numbers: exact(numbers[(..., *np.ix_(*places))], fmt))


def _readings(size: int, count: int, step: Fraction, start: Fraction) -> list[np.ndarray]:
    """The elements that the results along a dim may be; steps of powers of two are exact, however computed."""
    own, other = elements_near(start, size, count, step)
    doubtful = np.flatnonzero(own != other)
    if not doubtful.size or step.numerator & (step.numerator - 1) == step.denominator & (step.denominator - 1) == 0:
        return [own]
    if count > MOST_IN_DOUBT:
        raise Unjudged(f"float32 does not tell the elements of {count} results apart (P122)")
    groups = [doubtful[::2], doubtful[1::2]]
    return [_with_others(own, other, some) for some in ([], groups[:1], groups[1:], groups) if all(map(len, some))]


def _with_others(own: np.ndarray, other: np.ndarray, groups: Sequence[np.ndarray]) -> np.ndarray:
    places = own.copy()
    for group in groups:
        places[group] = other[group]
    return places


# Weighted means


def _of_linear(line: Line, compute: Format) -> Reading:
    """The weights are as far off as the coordinate, and rounded; where it is near an element, the one beyond may be
    read."""
    share = line.weights.hi
    beyond = np.maximum(line.error - share[::-1], 0.0)  # before the first element, behind the second
    error = np.stack([beyond[0], *[line.error + compute.unit_roundoff] * 2, beyond[1]])
    beside = np.zeros(error.shape, bool)
    beside[0], beside[3] = ((beyond > 0) & (line.around[::3] != line.at))
    there = beside | np.array([False, True, True, False])[:, None]
    return Reading(line.around, _between_zeros(line.weights), error, there, beside, lambda i: [0, *line.exact(i), 0])


def _of_cubic(line: Line, compute: Format) -> Reading:
    """The weights have slopes of 3/2 at most, and are rounded; where the coordinate is near an element, one more may be
    read."""
    weight, moved = line.weights.hi, 1.5 * line.error
    own = moved + line.rounded * compute.unit_roundoff
    near = np.abs(weight) <= own
    beside = np.zeros((6, own.shape[1]), bool)
    beside[0], beside[5] = near[2] & (weight[1] > 0.5), near[1] & (weight[2] > 0.5)
    element = np.stack([np.maximum(line.at[0] - 1, 0), *line.at, np.minimum(line.at[3] + 1, line.at.max(initial=0))])
    there = beside | np.array([False, *[True] * 4, False])[:, None]
    error = np.stack([moved, *own, moved])
    return Reading(element, _between_zeros(line.weights), error, there, beside, lambda i: [0, *line.exact(i), 0])


def _of_filtered(windows: FilteredWindows) -> Reading:
    """The weights' sum is off, too; an element beyond the support may be read that a rounding brings into it."""
    counts = windows.there.sum(-1)
    each = (windows.error / counts)[:, None] + np.abs(windows.weights.hi) * windows.error[:, None]
    ends = np.stack([windows.first - 1, windows.first + counts])
    centres = np.array([float((place + CENTRE) * windows.step) for place in range(windows.count)])
    beyond = np.abs(ends + 0.5 - centres) - float(windows.support)
    is_near = (beyond <= 2 * windows.off) & (ends >= 0) & (ends < windows.size)
    beside = np.zeros((windows.at.shape[1] + 2, windows.count), bool)
    beside[0], beside[-1] = is_near
    error = np.stack([windows.error, *each.T, windows.error])
    element = np.stack([ends[0], *windows.at.T, ends[1]])
    there = np.stack([is_near[0], *windows.there.T, is_near[1]])
    weight = _between_zeros(windows.weights.transpose())
    return Reading(element, weight, error, there, beside, lambda i: [0, *windows.exactly(i), 0])


def _between_zeros(weights: Real) -> Real:
    nothing = Real.exact(np.zeros((1, weights.shape[1])))
    return concatenate([nothing, weights, nothing])


def _interpolated(
    line_of: Callable[..., Line], reading_of: Callable[[Line, Format], Reading], grad_output: np.ndarray,
    output_size: Sizes, input_size: Sizes, align_corners: bool, scales: Scales,
) -> Golden:  # fmt: skip
    compute = compute_format(format_of(grad_output))
    steps = sizes_of(input_size, output_size, scales, len(output_size))[1]
    lines = [line_of(*each, align_corners, compute) for each in zip(input_size[2:], output_size, steps, strict=True)]
    readings = [reading_of(line, compute) for line in lines]
    return weighted_back(grad_output, input_size, readings, is_linear=reading_of is _of_linear)


def _filtered(
    kernel: Filter, grad_output: np.ndarray, output_size: Sizes, input_size: Sizes, align_corners: bool, scales: Scales
) -> Golden:
    """With align_corners, which is defined for no filter, all is open (P145)."""
    compute = compute_format(format_of(grad_output))
    steps = sizes_of(input_size, output_size, scales, 2)[1]
    each = zip(input_size[2:], output_size, steps, strict=True)
    readings = [_of_filtered(FilteredWindows(*one, kernel, compute)) for one in each]
    golden = weighted_back(grad_output, input_size, readings, rules=("P145", "P145"))
    return golden.opened(np.full(golden.value.shape, align_corners), "P145")


# The ops


def _of_input(arguments: Mapping[str, Any]) -> int:
    return prod(arguments["input_size"])


_registered = {"accumulates": "grad_output", "elements": _of_input}


def _register_nearest(op: str, start: Fraction) -> None:
    @semantics(f"aten::{op}1d_backward", **_registered)
    def of_lines(grad_output: np.ndarray, output_size: Sizes, input_size: Sizes, scales: Scale = None) -> Golden:
        """The adjoint of the op without _backward: each element of a tensor of input_size is the sum of the elements of
        grad_output that are results of it (P3, P122)"""
        return _nearest(grad_output, output_size, input_size, [scales], start)

    @semantics(f"aten::{op}2d_backward", **_registered)
    def of_planes(
        grad_output: np.ndarray, output_size: Sizes, input_size: Sizes, scales_h: Scale = None, scales_w: Scale = None
    ) -> Golden:
        """The adjoint of the op without _backward: each element of a tensor of input_size is the sum of the elements of
        grad_output that are results of it (P3, P122)"""
        return _nearest(grad_output, output_size, input_size, [scales_h, scales_w], start)

    @semantics(f"aten::{op}3d_backward", **_registered)
    def of_volumes(
        grad_output: np.ndarray, output_size: Sizes, input_size: Sizes, scales_d: Scale = None, scales_h: Scale = None,
        scales_w: Scale = None,
    ) -> Golden:  # fmt: skip
        """The adjoint of the op without _backward: each element of a tensor of input_size is the sum of the elements of
        grad_output that are results of it (P3, P122)"""
        return _nearest(grad_output, output_size, input_size, [scales_d, scales_h, scales_w], start)


_register_nearest("upsample_nearest", Fraction(0))
_register_nearest("_upsample_nearest_exact", CENTRE)


@semantics("aten::upsample_linear1d_backward", **_registered)
def upsample_linear1d_backward(
    grad_output: np.ndarray, output_size: Sizes, input_size: Sizes, align_corners: bool, scales: Scale = None
) -> Golden:
    """The adjoint of upsample_linear1d: each element of a tensor of input_size is the sum of the elements of
    grad_output times the weights with which their results are means of it (P3, P123, P126, P240)"""
    return _interpolated(linear_line, _of_linear, grad_output, output_size, input_size, align_corners, [scales])


@semantics("aten::upsample_trilinear3d_backward", **_registered)
def upsample_trilinear3d_backward(
    grad_output: np.ndarray, output_size: Sizes, input_size: Sizes, align_corners: bool, scales_d: Scale = None,
    scales_h: Scale = None, scales_w: Scale = None,
) -> Golden:  # fmt: skip
    """The adjoint of upsample_trilinear3d, as upsample_linear1d_backward is that of upsample_linear1d"""
    scales = [scales_d, scales_h, scales_w]
    return _interpolated(linear_line, _of_linear, grad_output, output_size, input_size, align_corners, scales)


def _register_of_planes(op: str, back: Callable[..., Golden]) -> None:
    @semantics(f"aten::{op}_backward", **_registered)
    def of_planes(
        grad_output: np.ndarray, output_size: Sizes, input_size: Sizes, align_corners: bool, scales_h: Scale = None,
        scales_w: Scale = None,
    ) -> Golden:  # fmt: skip
        """The adjoint of the op without _backward: each element of a tensor of input_size is the sum of the elements of
        grad_output times the weights with which their results are means of it (P3, P123, P126, P145, P240)"""
        return back(grad_output, output_size, input_size, align_corners, [scales_h, scales_w])


_register_of_planes("upsample_bilinear2d", lambda *arguments: _interpolated(linear_line, _of_linear, *arguments))
_register_of_planes("upsample_bicubic2d", lambda *arguments: _interpolated(cubic_line, _of_cubic, *arguments))
_register_of_planes("_upsample_bilinear2d_aa", lambda *arguments: _filtered(LINEAR, *arguments))
_register_of_planes("_upsample_bicubic2d_aa", lambda *arguments: _filtered(CUBIC, *arguments))
