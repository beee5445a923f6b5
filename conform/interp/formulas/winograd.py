"""Winograd's convolution F(2 x 2, 3 x 3): what it makes of infinities, NaN and numbers that its transforms overflow.

Four outputs at a time come from a tile of 4 x 4 inputs: A^T [(G g G^T) * (B^T d B)] A (Lavin and Gray, Fast Algorithms
for Convolutional Neural Networks, arXiv 1509.09308). The differences in B^T d B make NaN of an infinity, which all four
outputs then are. The absolute row sums of B, G and A bound the numbers on the way: 2, 3/2 and 3 in each dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from conform.interp.golden import Golden
from conform.numerics.formats import compute_format
from conform.numerics.real import where

OF_INPUTS, OF_WEIGHTS, OF_PRODUCTS = 2.0**2, 1.5**2, (2 * 1.5 * 3) ** 2
REACH = 5  # inputs along a dim that share a tile with an output, wherever the tiles begin


def or_by_winograd(
    golden: Golden,
    input: np.ndarray,
    weight: np.ndarray,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    groups: int,
    **_: object,
) -> Golden:
    """The golden of a convolution, where the algorithm applies with NaN as right beside what it loses (P85)."""
    applies = golden.format.is_float and weight.shape[2:] == (3, 3) and not transposed
    if not applies or {*stride, *dilation} != {1}:
        return golden
    largest = compute_format(golden.format).max_finite
    if _holds_all(_size(input), _size(weight), weight.shape[1], largest):
        return golden
    with np.errstate(all="ignore"):
        inputs, weights = _largest_in_tiles(input, padding, groups), _sizes(weight).max(axis=(1, 2, 3))
        by_channel = np.repeat(inputs, len(weight) // groups, axis=1)
        of_products = OF_PRODUCTS * weight.shape[1] * by_channel * weights[:, None, None]
        lost = (OF_INPUTS * by_channel > largest) | (of_products > largest)
        lost |= (OF_WEIGHTS * weights > largest)[:, None, None]
    if not lost.any():
        return golden
    value = np.where(lost, golden.format.storage.type(np.nan), golden.value)
    return golden.or_else(replace(golden, value=value, real=where(lost, np.nan, golden.real), alternatives=()))


def _size(tensor: np.ndarray) -> float:
    """The largest magnitude; NaN where there is one."""
    return max(float(tensor.max()), -float(tensor.min())) if tensor.size else 0.0


def _holds_all(input: float, weight: float, channels: int, largest: float) -> bool:
    """Whether no number on the way is beyond the largest; not of NaN. Most calls are decided by this alone."""
    products = OF_PRODUCTS * channels * input * weight
    return OF_INPUTS * input <= largest and OF_WEIGHTS * weight <= largest and products <= largest


def _sizes(tensor: np.ndarray) -> np.ndarray:
    """Magnitudes as float64, infinite for NaN."""
    sizes = np.abs(tensor.astype(np.float64))
    return np.where(np.isnan(sizes), np.inf, sizes)


def _largest_in_tiles(input: np.ndarray, padding: Sequence[int], groups: int) -> np.ndarray:
    """[n, groups, y, x]: the largest magnitude that shares a tile with each output."""
    count, channels, *size = input.shape
    of_groups = _sizes(input).reshape(count, groups, channels // groups, *size).max(axis=2)
    rows, columns = (padding * 2)[:2] if len(padding) == 1 else padding
    padded = np.pad(of_groups, ((0, 0), (0, 0), (rows + 1, rows + 1), (columns + 1, columns + 1)))
    return np.lib.stride_tricks.sliding_window_view(padded, (REACH, REACH), axis=(2, 3)).max(axis=(4, 5))
