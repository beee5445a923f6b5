"""The rule of convolution: products of windows, as rows of numbers, and the weights."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.interp.program.contraction.matrices import addmm, mm, stacked
from conform.interp.program.number import Number
from conform.interp.program.rules import rule, unbounded_where
from conform.interp.program.windows.places import Windows, each


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
    rank = weight.ndim - 2
    stride, padding, dilation, output_padding = (
        each(one, rank) for one in (stride, padding, dilation, output_padding)
    )
    places = np.ones(input.shape[2:], bool)
    if not transposed:
        return _plain(input, places, weight, bias, Windows(weight.shape[2:], stride, padding, dilation), groups)
    spread = partial(_spread, weight.shape[2:], stride, padding, dilation, output_padding)
    windows = Windows(weight.shape[2:], [1] * rank, [0] * rank, dilation)
    return _plain(input.moved(spread), spread(places), _turned(weight, groups), bias, windows, groups)


def _plain(
    input: Number, are_elements: np.ndarray, weight: Number, bias: Number | None, windows: Windows, groups: int
) -> Number:
    """The convolution that is not transposed; `are_elements`: which places hold elements of the input, not zeros."""
    rank = weight.ndim - 2
    patches = input.moved(windows.of)  # [n, channels, places ..., kernel ...]
    count, places = input.shape[0], patches.shape[2 : 2 + rank]
    channels, outputs = weight.shape[1], weight.shape[0] // groups
    results = []
    for group in range(groups):
        own = slice(group * channels, (group + 1) * channels)
        rows = patches.moved(lambda part, own=own: _rows(part[:, own], rank))
        columns = weight.moved(lambda part, at=group: part[at * outputs : (at + 1) * outputs].reshape(outputs, -1).T)
        if bias is None:
            sums = mm(rows, columns)
        else:
            sums = addmm(bias.moved(lambda part, at=group: part[at * outputs : (at + 1) * outputs]), rows, columns)
        results.append(_but_beside_padding(sums, windows.of(are_elements), columns))
    whole = stacked(results, (groups, count, prod(places), outputs), results[0].format)
    shape = (count, weight.shape[0], *places)
    return whole.moved(lambda part: part.transpose(1, 0, 3, 2).reshape(shape))


def _but_beside_padding(sums: Number, are_elements: np.ndarray, columns: Number) -> Number:
    """The sums [n * places, outputs] of `columns` [channels * kernel, outputs], with nothing said where a weight that
    is no finite number meets a zero that is not the input's (P39). `are_elements`: [places ..., kernel ...]."""
    no_numbers = ~np.isfinite(columns.real.hi) | np.isinf(columns.rad)
    if not no_numbers.any():
        return sums
    rank, outputs = are_elements.ndim // 2, columns.shape[1]
    kernel = prod(are_elements.shape[rank:])
    meet = ~are_elements.reshape(-1, kernel) @ no_numbers.reshape(-1, kernel, outputs).any(0)
    return unbounded_where(np.tile(meet, (sums.shape[0] // len(meet), 1)) if len(meet) else meet, sums)


@rule("aten::conv1d", "aten::conv2d", "aten::conv3d")
def plain_convolution(
    input: Number, weight: Number, bias: Number | None = None, stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,), dilation: Sequence[int] = (1,), groups: int = 1,
) -> Any:  # fmt: skip
    """`convolution` that is not transposed, of one sample, too."""
    if input.array is not None and weight.array is not None:
        return NotImplemented
    rank = weight.ndim - 2
    is_one = input.ndim == rank + 1
    samples = input.moved(lambda part: part[None]) if is_one else input
    result = convolution(samples, weight, bias, stride, padding, dilation, False, [0] * rank, groups)
    return result.moved(lambda part: part[0]) if is_one else result


def _rows(part: np.ndarray, rank: int) -> np.ndarray:
    """[n * places, channels * kernel] of [n, channels, places ..., kernel ...]"""
    moved = np.moveaxis(part, 1, 1 + rank)
    return moved.reshape(prod(moved.shape[: 1 + rank]), prod(moved.shape[1 + rank :]))


def _spread(
    kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
    output_padding: Sequence[int], part: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """The input of the plain convolution that a transposed one is: its elements `stride` apart, with zeros between and
    around."""
    rank = len(kernel)
    reach = [step * (size - 1) for size, step in zip(kernel, dilation, strict=True)]
    sizes = [(size - 1) * step + 1 for size, step in zip(part.shape[-rank:], stride, strict=True)]
    apart = np.zeros((*part.shape[:-rank], *sizes), part.dtype)
    apart[(..., *(slice(None, None, step) for step in stride))] = part
    ends = [(r - p, r - p + more) for r, p, more in zip(reach, padding, output_padding, strict=True)]
    around = [(max(low, 0), max(high, 0)) for low, high in ends]
    padded = np.pad(apart, [(0, 0)] * (part.ndim - rank) + around)
    return padded[(..., *(slice(max(-low, 0), size - max(-high, 0))
                          for (low, high), size in zip(ends, padded.shape[-rank:], strict=True)))]  # fmt: skip


def _turned(weight: Number, groups: int) -> Number:
    """The weights of that convolution, [outputs, channels of a group, kernel ...], turned around."""
    channels, outputs = weight.shape[0] // groups, weight.shape[1]

    def turned(part: np.ndarray) -> np.ndarray:
        kernel = part.shape[2:]
        grouped = np.flip(part, tuple(range(2, part.ndim))).reshape(groups, channels, outputs, *kernel)
        return grouped.swapaxes(1, 2).reshape(groups * outputs, channels, *kernel)

    return weight.moved(turned)
