"""Numbers put on the grid of an integer type, in plain integer tensors, and taken from it."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import NamedTuple

import numpy as np

from conform.errors import Unjudged
from conform.interp.blocks.assembly import Assembly
from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.elementwise.quantization import quotients
from conform.interp.semantics import semantics
from conform.numerics.arithmetic import mul
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS

HELD = ("uint8", "int8", "int16", "int32")
COMPUTE = FORMATS["float32"]  # in which documentation has quantized numbers computed, whatever the operands


class Grid(NamedTuple):
    """scale and zero_point [groups]; `each` elements beside each other belong to one, the groups follow in turn."""

    scale: np.ndarray
    zero_point: np.ndarray
    each: int = 1

    @staticmethod
    def of_tensor(scale: float | np.ndarray, zero_point: int | np.ndarray) -> Grid:
        """One for all elements."""
        return Grid(np.reshape(np.asarray(scale, np.float64), -1), np.reshape(np.asarray(zero_point, np.int64), -1))

    @staticmethod
    def of_channels(shape: tuple[int, ...], axis: int, scales: np.ndarray, zero_points: np.ndarray | None) -> Grid:
        """One for each index along axis."""
        points = np.zeros(scales.shape, np.int64) if zero_points is None else zero_points.astype(np.int64)
        return Grid(scales.astype(np.float64), points, prod(shape[axis + 1 :]))

    @staticmethod
    def of_tokens(shape: tuple[int, ...], scales: np.ndarray, zero_points: np.ndarray) -> Grid:
        """One for each row along the last dim."""
        return Grid(scales.reshape(-1).astype(np.float64), zero_points.reshape(-1).astype(np.int64), shape[-1])

    def at(self, place: slice) -> tuple[np.ndarray, np.ndarray]:
        """(scale, zero point) of each element of a block."""
        group = np.arange(place.start, place.stop) // max(self.each, 1) % max(len(self.scale), 1)
        return self.scale[group], self.zero_point[group]


def _over_blocks(
    input: np.ndarray, grid: Grid, each: Callable[[np.ndarray, np.ndarray, np.ndarray], Golden]
) -> Golden:
    """each(elements, scales, zero points), block by block."""
    whole = Assembly(input.size)
    for place in spans(input.size):
        whole.fill(place, each(flat(input, place), *grid.at(place)))
    return whole.golden().rearranged(lambda part: part.reshape(input.shape))


def _quantized(input: np.ndarray, grid: Grid, quant_min: int, quant_max: int, dtype: str) -> Golden:
    fmt = FORMATS[dtype]
    if fmt.name not in HELD:
        raise Unjudged(f"quantization to {dtype}")

    def each(x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray) -> Golden:
        is_nan, number = np.isnan(x), np.where(np.isnan(x), 0.0, x.astype(np.float64))
        nearest, *ends = quotients(number, scale)
        first, *others = (
            exact(np.clip(integer, quant_min, quant_max), fmt)
            for integer in (nearest + zero_point, *_rounded_sums(ends, zero_point))
        )
        return first.or_else(*others).opened(is_nan, "P157")

    return _over_blocks(input, grid, each)


def _rounded_sums(ends: list[np.ndarray], zero_point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the greatest integer of quotients between `ends` and a zero point, which float32 adds before it
    rounds to integers, or behind."""
    before = [np.rint((end + zero_point).astype(np.float32)).astype(np.float64) for end in ends]
    behind = [np.rint(end) + zero_point for end in ends]
    return np.minimum(before[0], behind[0]), np.maximum(before[1], behind[1])


def _dequantized(input: np.ndarray, grid: Grid, dtype: str | None) -> Golden:
    fmt = FORMATS[dtype or "float32"]

    def each(x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray) -> Golden:
        steps = x.astype(np.float64) - zero_point
        ball = Ball(steps, _lost(x, steps), COMPUTE) * Ball(scale, _beyond_float32(scale), COMPUTE)
        golden = Golden.derived(fmt, *mul(fmt, steps, scale), ball, zero_sign_free=True)
        return golden.opened((steps < -(2.0**31)) | (steps >= 2.0**31), "P157")

    return _over_blocks(input, grid, each)


def _lost(x: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """What float32 may lose of integers, and of their differences from a zero point."""
    lost = _beyond_float32(x.astype(np.float64))
    return lost + np.where((lost == 0) & (_beyond_float32(steps) == 0), 0.0, COMPUTE.unit_roundoff * np.abs(steps))


def _beyond_float32(numbers: np.ndarray) -> np.ndarray:
    """How far each is from the float32 that it is rounded to."""
    return np.abs(numbers - numbers.astype(np.float32))


# --- Quantization -----------------------------------------------------------------------------------------------------


@semantics("quantized_decomposed::quantize_per_tensor", compares=True)
def quantize_per_tensor(
    input: np.ndarray, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: str
) -> Golden:
    """min(quant_max, max(quant_min, round(input / scale + zero_point))) in dtype, ties to even (P157)"""
    return _quantized(input, Grid.of_tensor(scale, zero_point), quant_min, quant_max, dtype)


@semantics("quantized_decomposed::quantize_per_tensor.tensor", compares=True)
def quantize_per_tensor_of_tensors(
    input: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, quant_min: int, quant_max: int, dtype: str
) -> Golden:
    """quantize_per_tensor with a scale and a zero point that tensors of one element hold (P157)"""
    return _quantized(input, Grid.of_tensor(scale, zero_point), quant_min, quant_max, dtype)


@semantics("quantized_decomposed::quantize_per_tensor.tensor2", compares=True)
def quantize_per_tensor_between_tensors(
    input: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray,
    quant_min: np.ndarray,
    quant_max: np.ndarray,
    dtype: str,
) -> Golden:
    """quantize_per_tensor with a scale, a zero point and ends that tensors of one element hold (P157)"""
    return _quantized(input, Grid.of_tensor(scale, zero_point), quant_min.item(), quant_max.item(), dtype)


@semantics("quantized_decomposed::quantize_per_channel", compares=True)
def quantize_per_channel(
    input: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray,
    axis: int,
    quant_min: int,
    quant_max: int,
    dtype: str,
) -> Golden:
    """quantize_per_tensor with a scale and a zero point for each index along axis (P157)"""
    return _quantized(input, Grid.of_channels(input.shape, axis, scales, zero_points), quant_min, quant_max, dtype)


@semantics("quantized_decomposed::quantize_per_token", compares=True)
def quantize_per_token(
    input: np.ndarray, scales: np.ndarray, zero_points: np.ndarray, quant_min: int, quant_max: int, dtype: str
) -> Golden:
    """quantize_per_tensor with a scale and a zero point for each row along the last dim (P157)"""
    return _quantized(input, Grid.of_tokens(input.shape, scales, zero_points), quant_min, quant_max, dtype)


# --- Back -------------------------------------------------------------------------------------------------------------

TOLD = ("quant_min", "quant_max", "dtype")  # "not used in computation, reserved for pattern matching"


@semantics("quantized_decomposed::dequantize_per_tensor", ignores=TOLD)
def dequantize_per_tensor(
    input: np.ndarray, scale: float, zero_point: int, out_dtype: str | None = None
) -> Golden:
    """(input - zero_point) * scale, in out_dtype, or float32 (P157)"""
    return _dequantized(input, Grid.of_tensor(scale, zero_point), out_dtype)


@semantics(
    "quantized_decomposed::dequantize_per_tensor.tensor",
    "quantized_decomposed::dequantize_per_tensor.tensor2",
    ignores=TOLD,
)
def dequantize_per_tensor_of_tensors(
    input: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, out_dtype: str | None = None
) -> Golden:
    """dequantize_per_tensor with a scale and a zero point that tensors of one element hold (P157)"""
    return _dequantized(input, Grid.of_tensor(scale, zero_point), out_dtype)


@semantics("quantized_decomposed::dequantize_per_channel", ignores=TOLD)
def dequantize_per_channel(
    input: np.ndarray,
    scales: np.ndarray,
    zero_points: np.ndarray | None,
    axis: int,
    out_dtype: str | None = None,
) -> Golden:
    """dequantize_per_tensor with a scale and a zero point, 0 without any, for each index along axis (P157)"""
    return _dequantized(input, Grid.of_channels(input.shape, axis, scales, zero_points), out_dtype)


@semantics("quantized_decomposed::dequantize_per_token", ignores=TOLD)
def dequantize_per_token(
    input: np.ndarray, scales: np.ndarray, zero_points: np.ndarray, output_dtype: str
) -> Golden:
    """dequantize_per_tensor with a scale and a zero point for each row along the last dim (P157)"""
    return _dequantized(input, Grid.of_tokens(input.shape, scales, zero_points), output_dtype)
