"""Rules of convolution and pooling: windows of the last dims, as rows of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.contraction import addmm, mm, stacked
from conform.interp.program.elementwise import div
from conform.interp.program.number import Number
from conform.interp.program.reduction import amax, sum_over
from conform.interp.program.rules import rule
from conform.numerics.real import Real, where


@rule("aten::convolution")
def convolution(
    input: Number,
    weight: Number,
    bias: Number | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Any:
    """Sums of products over windows, with zeros around the input, in any order; no output of an implementation that
    transforms tiles (Winograd, Fourier) is allowed for."""
    if input.array is not None and weight.array is not None:
        return NotImplemented
    if transposed:
        raise NoGolden("a program cannot use aten::convolution, transposed, on numbers that it has computed")
    kernel, rank = weight.shape[2:], weight.ndim - 2
    windows = Windows(kernel, *(_each(one, rank) for one in (stride, padding, dilation)))
    patches = input.moved(windows.of)  # [n, channels, places ..., kernel ...]
    count, places = input.shape[0], patches.shape[2 : 2 + rank]
    channels, outputs = weight.shape[1], weight.shape[0] // groups
    results = []
    for group in range(groups):
        own = slice(group * channels, (group + 1) * channels)
        rows = patches.moved(lambda part, own=own: _rows(part[:, own], rank))
        columns = weight.moved(lambda part, at=group: part[at * outputs : (at + 1) * outputs].reshape(outputs, -1).T)
        if bias is None:
            results.append(mm(rows, columns))
            continue
        addend = bias.moved(lambda part, at=group: part[at * outputs : (at + 1) * outputs])
        results.append(addmm(addend, rows, columns))
    whole = stacked(results, (groups, count, prod(places), outputs), results[0].format)
    shape = (count, weight.shape[0], *places)
    return whole.moved(lambda part: part.transpose(1, 0, 3, 2).reshape(shape))


def _rows(part: np.ndarray, rank: int) -> np.ndarray:
    """[n * places, channels * kernel] of [n, channels, places ..., kernel ...]"""
    moved = np.moveaxis(part, 1, 1 + rank)
    return moved.reshape(prod(moved.shape[: 1 + rank]), prod(moved.shape[1 + rank :]))


class Windows:
    """Windows of the last `len(kernel)` dims of an array."""

    def __init__(
        self, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
    ) -> None:
        self.kernel, self.stride, self.padding, self.dilation = kernel, stride, padding, dilation

    def of(self, part: np.ndarray) -> np.ndarray:
        """The windows of an array that has zeros around it, [..., places ..., kernel ...]."""
        rank = len(self.kernel)
        padded = np.pad(part, [(0, 0)] * (part.ndim - rank) + [(one, one) for one in self.padding])
        reach = [(size - 1) * step + 1 for size, step in zip(self.kernel, self.dilation, strict=True)]
        views = np.lib.stride_tricks.sliding_window_view(padded, reach, axis=tuple(range(-rank, 0)))
        steps = [slice(None, None, step) for step in (*self.stride, *self.dilation)]
        return views[(..., *steps)]


def _each(numbers: Sequence[int], rank: int) -> list[int]:
    """One number a dim, of which one may stand for all."""
    return list(numbers) * rank if len(numbers) == 1 else list(numbers)


@rule("aten::max_pool2d", selects=True)
def max_pool2d(
    self: Number,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    dilation: Sequence[int] = (1, 1),
) -> Any:
    """The largest number of each window that lies in the input; ceil_mode is not taken."""
    windows = _pooled(self, kernel_size, stride, padding, dilation)
    outside = ~windows.of(np.ones(self.shape, bool))

    def lowest_outside(number: Number) -> Number:
        real = where(outside, Real.exact(np.float64(-np.inf)), number.real)
        return replace(number, real=real, rad=np.where(outside, 0.0, number.rad), array=None)

    return amax(lowest_outside(self.moved(windows.of)), [-2, -1])


@rule("aten::avg_pool2d")
def avg_pool2d(
    self: Number,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """The sum of each window divided by its number of places; ceil_mode is not taken."""
    if self.array is not None:
        return NotImplemented
    windows = _pooled(self, kernel_size, stride, padding, (1, 1))
    total = sum_over(self.moved(windows.of), [-2, -1])
    counted = windows.of(np.ones(self.shape)).sum((-2, -1)) if not count_include_pad else prod(windows.kernel)
    divisor = np.broadcast_to(np.float64(counted if divisor_override is None else divisor_override), total.shape)
    return div(total, Number(total.format, Real.exact(divisor), np.zeros(total.shape)))


def _pooled(
    self: Number, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> Windows:
    kernel = _each(kernel_size, 2)
    return Windows(kernel, _each(stride, 2) or kernel, *(_each(one, 2) for one in (padding, dilation)))
