"""Fake quantization: the documented formula by fractions, rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isinf, isnan

from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, lines
from conform.refs.references import reference


@reference("aten::fake_quantize_per_tensor_affine_cachemask")
def per_tensor_with_mask(
    self: RefTensor, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> tuple[RefTensor, RefTensor]:
    """(min(quant_max, max(quant_min, round(x / scale) + zero_point)) - zero_point) * scale; whether no end was met.

    Ties are rounded to even integers; what NaN becomes is open (P153).
    """
    _check(self, quant_min, quant_max, [scale], [zero_point])
    pairs = [_fake_quantized(x, scale, zero_point, quant_min, quant_max) for x in self.data]
    return (
        RefTensor(self.dtype, self.shape, [number for number, _ in pairs]),
        RefTensor("bool", self.shape, [inside for _, inside in pairs]),
    )


@reference("aten::fake_quantize_per_tensor_affine")
def per_tensor(self: RefTensor, scale: float, zero_point: int, quant_min: int, quant_max: int) -> RefTensor:
    """The first result of the op with a mask."""
    return per_tensor_with_mask(self, scale, zero_point, quant_min, quant_max)[0]


@reference("aten::fake_quantize_per_tensor_affine.tensor_qparams")
def per_tensor_of_tensors(
    self: RefTensor, scale: RefTensor, zero_point: RefTensor, quant_min: int, quant_max: int
) -> RefTensor:
    """The same with a scale and a zero point in tensors of one element."""
    if (scale.dtype, scale.shape) != ("float32", (1,)) or (zero_point.dtype, zero_point.shape) != ("int32", (1,)):
        raise ValueError(f"found {scale.dtype} {scale.shape} and {zero_point.dtype} {zero_point.shape}")
    return per_tensor(self, scale.data[0], zero_point.data[0], quant_min, quant_max)


@reference("aten::fake_quantize_per_channel_affine_cachemask")
def per_channel_with_mask(
    self: RefTensor, scale: RefTensor, zero_point: RefTensor, axis: int, quant_min: int, quant_max: int
) -> tuple[RefTensor, RefTensor]:
    """The same with a scale and a zero point of each index along axis."""
    if not 0 <= axis < len(self.shape):
        raise ValueError(f"axis {axis} of {len(self.shape)} dims")
    count = (self.shape[axis],)
    if (scale.dtype, scale.shape) != ("float32", count) or (zero_point.dtype, zero_point.shape) != ("int32", count):
        raise ValueError(f"found {scale.dtype} {scale.shape} and {zero_point.dtype} {zero_point.shape}")
    _check(self, quant_min, quant_max, scale.data, zero_point.data)
    output, mask = RefTensor(self.dtype, self.shape, list(self.data)), RefTensor("bool", self.shape, list(self.data))
    for line in lines(self.shape, axis):
        for channel, i in enumerate(line):
            output.data[i], mask.data[i] = _fake_quantized(
                self.data[i], scale.data[channel], zero_point.data[channel], quant_min, quant_max
            )
    return output, mask


@reference("aten::fake_quantize_per_channel_affine")
def per_channel(
    self: RefTensor, scale: RefTensor, zero_point: RefTensor, axis: int, quant_min: int, quant_max: int
) -> RefTensor:
    """The first result of the op with a mask."""
    return per_channel_with_mask(self, scale, zero_point, axis, quant_min, quant_max)[0]


def _check(self: RefTensor, quant_min: int, quant_max: int, scales: list[float], zero_points: list[int]) -> None:
    if self.dtype != "float32":
        raise ValueError(f"self is float32, found {self.dtype}")
    if not all(0 < scale < inf for scale in scales):
        raise NotImplementedError("the reference takes positive scales")
    if quant_min > quant_max or not all(quant_min <= point <= quant_max for point in zero_points):
        raise ValueError(f"quant_min <= zero_point <= quant_max, found {quant_min}, {zero_points}, {quant_max}")


def _fake_quantized(x: float, scale: float, zero_point: int, quant_min: int, quant_max: int) -> tuple:
    if isnan(x):
        return UNSPECIFIED, UNSPECIFIED
    integer = x if isinf(x) else round(Fraction(x) / Fraction(scale)) + zero_point
    clamped = min(quant_max, max(quant_min, integer))
    number = (clamped - zero_point) * Fraction(scale)
    return round_ratio("float32", number.numerator, number.denominator), clamped == integer
