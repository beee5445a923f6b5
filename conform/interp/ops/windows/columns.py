"""Windows as columns of a matrix, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import spans
from conform.interp.blocks.patches import Windows, read
from conform.interp.golden import Golden
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.windows.maxima import sum_of_terms
from conform.interp.ops.windows.sliding import Block, Sliding, per_dim, pooling
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of


def _columns(arguments: Mapping[str, Any]) -> int:
    """The elements of im2col's result, at most."""
    shape, kernel = np.shape(arguments["self"]), per_dim(arguments["kernel_size"], 2)
    steps, pads = (per_dim(arguments[name], 2) for name in ("stride", "padding"))
    counts = ((size + 2 * pad) // max(step, 1) + 1 for size, pad, step in zip(shape[-2:], pads, steps, strict=False))
    return prod(shape[:-2]) * prod(kernel) * prod(counts)


@semantics("aten::im2col", elements=_columns)
def im2col(
    self: np.ndarray,
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Golden:
    """result[n, (c, k), l] = the element that tap k of window l meets in channel c, 0 in the padding"""
    windows = pooling(self.shape[-2:], kernel_size, stride, padding, dilation)
    fmt, shape = format_of(self), (*self.shape[:-2], *windows.taps, *windows.counts)
    result = np.empty(prod(shape), fmt.storage)
    for place in spans(result.size):
        *batch, tap_y, tap_x, y, x = np.unravel_index(np.arange(place.start, place.stop), shape)
        found, there = _met_one_by_one(windows.along, (tap_y, tap_x), (y, x))
        result[place] = read(self, (*batch, *found), there)
    return exact(result.reshape(*self.shape[:-3], self.shape[-3] * prod(windows.taps), prod(windows.counts)), fmt)


def _met_one_by_one(
    along: Sequence[Windows], taps: Sequence[np.ndarray], places: Sequence[np.ndarray]
) -> tuple[list[np.ndarray], np.ndarray]:
    """[m]: what tap [m] of window [m] meets in each dim; whether that is an element."""
    found = [w.stride * p - w.padding + w.dilation * t for w, t, p in zip(along, taps, places, strict=True)]
    there = np.logical_and.reduce([(at >= 0) & (at < w.size) for w, at in zip(along, found, strict=True)])
    return [np.where(there, at, 0) for at in found], there


def _of_images(arguments: Mapping[str, Any]) -> int:
    """Rows of columns, of which each channel has one a tap."""
    rows, taps = prod(np.shape(arguments["self"])[:-1]), prod(per_dim(arguments["kernel_size"], 2))
    return rows // max(taps, 1) * prod(per_dim(arguments["output_size"], 2))


@semantics("aten::col2im", accumulates="self", elements=_of_images)
def col2im(
    self: np.ndarray,
    output_size: Sequence[int],
    kernel_size: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> Golden:
    """The adjoint of im2col: each element of an image [*, c, *output_size] is the sum of the elements of the columns
    that im2col of the image has it at"""
    fmt = format_of(self)
    refuse_complex(fmt, "col2im")
    windows = pooling(per_dim(output_size, 2), kernel_size, stride, padding, dilation)
    channels = self.shape[-2] // prod(windows.taps)
    columns = self.reshape(*self.shape[:-2], channels, *windows.taps, *windows.counts)
    own = Sliding(
        [Windows(count, one.stride, one.padding, one.dilation, True) for count, one in zip(
            windows.counts, windows.along, strict=True)],
        windows.taps, tuple(per_dim(output_size, 2)),
    )  # fmt: skip
    images = columns[..., 0, 0, :, :]

    def of_block(block: Block) -> Golden:
        terms = block.pieces(lambda found, there, taps: read(
            columns, (*block.batch, *(tap[:, None] for tap in taps), *found), there).astype(np.float64))  # fmt: skip
        return sum_of_terms(fmt, terms)

    return own.golden(images, of_block)
