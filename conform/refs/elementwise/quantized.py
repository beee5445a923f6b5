"""Affine quantization to plain integers and back, by fractions, rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isinf, isnan, prod

from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, lines
from conform.refs.references import reference

LIMITS = {"uint8": (0, 2**8 - 1), "int8": (-(2**7), 2**7 - 1), "int16": (-(2**15), 2**15 - 1),
          "int32": (-(2**31), 2**31 - 1)}  # fmt: skip
_LIBRARY = "quantized_decomposed::"


# ---- to integers -------------------------------------------------------------------------------------------------


@reference(f"{_LIBRARY}quantize_per_tensor")
def quantize_per_tensor(
    input: RefTensor, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: str
) -> RefTensor:
    """The integer nearest to x / scale, of two the even one, and zero_point, kept between the ends (P157)."""
    count = len(input.data)
    return _to_integers(input, [scale] * count, [zero_point] * count, (quant_min, quant_max), dtype)


@reference(f"{_LIBRARY}quantize_per_tensor.tensor")
def quantize_per_tensor_of_tensors(
    input: RefTensor, scale: RefTensor, zero_point: RefTensor, quant_min: int, quant_max: int, dtype: str
) -> RefTensor:
    """The same with tensors of one element."""
    return quantize_per_tensor(input, _one(scale), _one(zero_point), quant_min, quant_max, dtype)


@reference(f"{_LIBRARY}quantize_per_tensor.tensor2")
def quantize_per_tensor_between_tensors(
    input: RefTensor, scale: RefTensor, zero_point: RefTensor, quant_min: RefTensor, quant_max: RefTensor, dtype: str
) -> RefTensor:
    """The same with ends in tensors of one element, too."""
    return quantize_per_tensor(input, _one(scale), _one(zero_point), _one(quant_min), _one(quant_max), dtype)


@reference(f"{_LIBRARY}quantize_per_channel")
def quantize_per_channel(
    input: RefTensor, scales: RefTensor, zero_points: RefTensor, axis: int, quant_min: int, quant_max: int, dtype: str
) -> RefTensor:
    """The same with numbers of each index along axis."""
    spread = [_along(input, one, axis) for one in (scales, zero_points)]
    return _to_integers(input, spread[0], spread[1], (quant_min, quant_max), dtype)


@reference(f"{_LIBRARY}quantize_per_token")
def quantize_per_token(
    input: RefTensor, scales: RefTensor, zero_points: RefTensor, quant_min: int, quant_max: int, dtype: str
) -> RefTensor:
    """The same with numbers of each row."""
    spread = [_by_rows(input, one) for one in (scales, zero_points)]
    return _to_integers(input, spread[0], spread[1], (quant_min, quant_max), dtype)


def _to_integers(input: RefTensor, scales: list, points: list, ends: tuple[int, int], dtype: str) -> RefTensor:
    if input.dtype not in ("float16", "bfloat16", "float32"):
        raise ValueError(f"input is a float32, float16 or bfloat16, found {input.dtype}")
    if dtype not in LIMITS or ends[0] < LIMITS[dtype][0] or ends[1] > LIMITS[dtype][1]:
        raise ValueError(f"the ends {ends} are no integers of {dtype}")
    _check_numbers(scales, points)
    numbers = zip(input.data, scales, points, strict=True)
    return RefTensor(dtype, input.shape, [_integer(*each, *ends) for each in numbers])


def _integer(x: float, scale: float, point: int, low: int, high: int) -> object:
    if isnan(x):
        return UNSPECIFIED
    if isinf(x):
        return high if x > 0 else low
    return min(high, max(low, round(Fraction(x) / Fraction(scale)) + point))


# ---- from integers -----------------------------------------------------------------------------------------------


@reference(f"{_LIBRARY}dequantize_per_tensor")
def dequantize_per_tensor(
    input: RefTensor, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: str,
    out_dtype: str | None = None,
) -> RefTensor:  # fmt: skip
    """(x - zero_point) * scale, in float32 unless another dtype is asked for; the ends mean nothing."""
    _check_told(input, dtype)
    count = len(input.data)
    return _from_integers(input, [scale] * count, [zero_point] * count, out_dtype or "float32")


@reference(f"{_LIBRARY}dequantize_per_tensor.tensor", f"{_LIBRARY}dequantize_per_tensor.tensor2")
def dequantize_per_tensor_of_tensors(
    input: RefTensor, scale: RefTensor, zero_point: RefTensor, quant_min: object, quant_max: object, dtype: str,
    out_dtype: str | None = None,
) -> RefTensor:  # fmt: skip
    """The same with tensors of one element."""
    return dequantize_per_tensor(input, _one(scale), _one(zero_point), 0, 0, dtype, out_dtype)


@reference(f"{_LIBRARY}dequantize_per_channel")
def dequantize_per_channel(
    input: RefTensor, scales: RefTensor, zero_points: RefTensor | None, axis: int, quant_min: int, quant_max: int,
    dtype: str, out_dtype: str | None = None,
) -> RefTensor:  # fmt: skip
    """The same with numbers of each index along axis; without zero points they are 0."""
    _check_told(input, dtype)
    if quant_min < LIMITS[dtype][0] or quant_max > LIMITS[dtype][1]:
        raise ValueError(f"the ends {quant_min} and {quant_max} are no integers of {dtype}")
    points = [0] * len(input.data) if zero_points is None else _along(input, zero_points, axis)
    return _from_integers(input, _along(input, scales, axis), points, out_dtype or "float32")


@reference(f"{_LIBRARY}dequantize_per_token")
def dequantize_per_token(
    input: RefTensor, scales: RefTensor, zero_points: RefTensor, quant_min: int, quant_max: int, dtype: str,
    output_dtype: str,
) -> RefTensor:  # fmt: skip
    """The same with numbers of each row."""
    _check_told(input, dtype)
    return _from_integers(input, _by_rows(input, scales), _by_rows(input, zero_points), output_dtype)


def _check_told(input: RefTensor, dtype: str) -> None:
    if input.dtype != dtype or dtype not in LIMITS:
        raise ValueError(f"input is of a quantized dtype, that which is told: found {input.dtype} and {dtype}")


def _from_integers(input: RefTensor, scales: list, points: list, dtype: str) -> RefTensor:
    if dtype not in ("float16", "bfloat16", "float32"):
        raise NotImplementedError(f"the reference gives float32, float16 and bfloat16, and no {dtype}")
    _check_numbers(scales, points)
    triples = zip(input.data, scales, points, strict=True)
    return RefTensor(dtype, input.shape, [_number(dtype, x - point, scale) for x, scale, point in triples])


def _number(dtype: str, steps: int, scale: float) -> object:
    """Of a difference that no int32 holds nothing is said (P157)."""
    if not -(2**31) <= steps < 2**31:
        return UNSPECIFIED
    number = steps * Fraction(scale)
    return round_ratio(dtype, number.numerator, number.denominator)


# ---- numbers of elements -----------------------------------------------------------------------------------------


def _check_numbers(scales: list, points: list) -> None:
    if not all(0 < scale < inf for scale in scales):
        raise NotImplementedError("the reference takes positive scales")
    if not all(isinstance(point, int) for point in points):
        raise NotImplementedError("the reference takes zero points that are integers")


def _one(tensor: RefTensor) -> float:
    if len(tensor.data) != 1:
        raise ValueError(f"a tensor of one element was expected, found the shape {tensor.shape}")
    return tensor.data[0]


def _along(input: RefTensor, numbers: RefTensor, axis: int) -> list:
    """For each element that of its index along axis."""
    if not 0 <= axis < len(input.shape) or numbers.shape != (input.shape[axis],):
        raise ValueError(f"{numbers.shape} numbers for dim {axis} of {input.shape}")
    spread = [0] * len(input.data)
    for line in lines(input.shape, axis):
        for index, place in enumerate(line):
            spread[place] = numbers.data[index]
    return spread


def _by_rows(input: RefTensor, numbers: RefTensor) -> list:
    """For each element that of its row."""
    if not input.shape or len(numbers.data) != prod(input.shape[:-1]):
        raise ValueError(f"{numbers.shape} numbers for the rows of {input.shape}")
    return [number for number in numbers.data for _ in range(input.shape[-1])]
