"""Numbers put on the grid of an integer type, and back: what quantization aware training computes."""

from __future__ import annotations

import numpy as np

from conform.interp.blocks.assembly import Assembly
from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.arithmetic import mul
from conform.numerics.ball import Ball
from conform.numerics.eft import two_prod
from conform.numerics.formats import FORMATS, format_of

# scale, its reciprocal and their product with a number may each be rounded to float32 before the integer is. Where the
# scale is a power of two none of them is: a tie stays one, and goes to the even integer.
RELATIVE_ERROR = 3.001 * FORMATS["float32"].unit_roundoff
FAR = 2.0**22  # further from 0 than any integer of a grid


@semantics("aten::fake_quantize_per_tensor_affine", compares=True)
def per_tensor(self: np.ndarray, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Golden:
    """(min(quant_max, max(quant_min, round(self / scale) + zero_point)) - zero_point) * scale, ties to even (P153)"""
    return per_tensor_with_mask(self, scale, zero_point, quant_min, quant_max)[0]


@semantics("aten::fake_quantize_per_tensor_affine.tensor_qparams", compares=True)
def per_tensor_of_tensors(
    self: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, quant_min: int, quant_max: int
) -> Golden:
    """fake_quantize_per_tensor_affine with a scale and a zero point that tensors of one element hold (P153)"""
    return per_tensor(self, float(scale.item()), int(zero_point.item()), quant_min, quant_max)


@semantics("aten::fake_quantize_per_tensor_affine_cachemask", compares=True)
def per_tensor_with_mask(
    self: np.ndarray, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[Golden, Golden]:
    """(fake_quantize_per_tensor_affine, whether round(self / scale) + zero_point lies between the ends) (P153)"""
    return _over_blocks(self, np.array([scale], np.float64), np.array([zero_point]), (quant_min, quant_max), axis=None)


@semantics("aten::fake_quantize_per_channel_affine", compares=True)
def per_channel(
    self: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, axis: int, quant_min: int, quant_max: int
) -> Golden:
    """fake_quantize_per_tensor_affine with a scale and a zero point for each index along axis (P153)"""
    return per_channel_with_mask(self, scale, zero_point, axis, quant_min, quant_max)[0]


@semantics("aten::fake_quantize_per_channel_affine_cachemask", compares=True)
def per_channel_with_mask(
    self: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, axis: int, quant_min: int, quant_max: int
) -> tuple[Golden, Golden]:
    """(fake_quantize_per_channel_affine, whether round(self / scale) + zero_point lies between the ends) (P153)"""
    return _over_blocks(self, scale.astype(np.float64), zero_point, (quant_min, quant_max), axis)


def _over_blocks(
    self: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, ends: tuple[int, int], axis: int | None
) -> tuple[Golden, Golden]:
    """scale and zero_point: [channels], those of an index along axis, or of all elements."""
    each = 1 if axis is None else int(np.prod(self.shape[axis + 1 :], dtype=np.int64))  # elements beside each other

    output, mask = Assembly(self.size), Assembly(self.size)
    for place in spans(self.size):
        channel = np.arange(place.start, place.stop) // each % max(len(scale), 1)
        parts = _fake_quantized(flat(self, place), scale[channel], zero_point[channel], *ends)
        for whole, part in zip((output, mask), parts, strict=True):
            whole.fill(place, part)
    first, second = (whole.golden().rearranged(lambda part: part.reshape(self.shape)) for whole in (output, mask))
    return first, second


def _fake_quantized(
    x: np.ndarray, scale: np.ndarray, zero_point: np.ndarray, quant_min: int, quant_max: int
) -> tuple[Golden, Golden]:
    """All arrays [n]."""
    fmt, is_nan = format_of(x), np.isnan(x)
    low, high = quant_min - zero_point, quant_max - zero_point
    own, *ends = quotients(np.where(is_nan, 0.0, x.astype(np.float64)), scale)
    held = Ball.exact(scale, fmt).rounded(scale, 0.0)

    def output(integer: np.ndarray) -> Golden:
        factor = np.clip(integer, low, high)
        ball = Ball.exact(factor, fmt) * held
        return Golden.derived(fmt, *mul(fmt, factor, scale), ball, zero_sign_free=True)

    def mask(integer: np.ndarray) -> Golden:
        return exact((low <= integer) & (integer <= high), FORMATS["bool"])

    others = [np.rint(end) for end in ends]
    outputs = output(own).or_else(*map(output, others)), mask(own).or_else(*map(mask, others))
    first, second = (golden.opened(is_nan, "P153") for golden in outputs)
    return first, second


def quotients(x: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The integer nearest to x / scale, of a tie the even one, and between what float32 may compute for x / scale,
    which is itself where the scale is a power of two."""
    with np.errstate(over="ignore"):
        quotient = np.clip(x / scale, -FAR, FAR)
    below = np.floor(quotient)
    tie, rest = two_prod(below + 0.5, scale)
    side = (np.clip(x, -FAR * scale, FAR * scale) - tie) - rest  # of numbers near each other the difference is exact
    nearest = np.where(side == 0, 2 * np.rint((below + 0.5) / 2), below + (side > 0))
    is_power_of_two = np.frexp(scale)[0] == 0.5
    error = np.where(is_power_of_two, 0.0, RELATIVE_ERROR * np.abs(quotient))
    return nearest, quotient - error, quotient + error
