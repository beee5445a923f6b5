"""Quantized tensors: integers, of which honest engines may have several where a rounding to one hangs on what was lost
before.

dequantize_op_quantize, as the specification has it ("Quantization computations"): the numbers that the integers stand
for, the op's own rule, and a quotient, a sum and a rounding to the nearest integer within the storage range. The bounds
of quotients, products and sums hold for a factor that stands for both scales, too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.number import Number
from conform.interp.program.storage import stored
from conform.interp.stablehlo.quantization import Quantization, quantization_of
from conform.interp.stablehlo.reals.rules import torch
from conform.interp.stablehlo.registry import Call, Meaning, as_results
from conform.numerics.grid import is_held
from conform.numerics.real import Real
from conform.numerics.rounding import round_to


@dataclass(frozen=True, eq=False)
class Integers:
    """The stored integers, as a Number of the expressed type: `rad` is how many numbers engines may be off."""

    number: Number
    quantization: Quantization

    @property
    def dtype(self) -> str:
        return self.quantization.text

    @property
    def shape(self) -> tuple[int, ...]:
        return self.number.shape

    @property
    def ndim(self) -> int:
        return self.number.ndim

    def __repr__(self) -> str:
        return f"{self.dtype}{list(self.shape)}"


def on_quantized(call: Call, meaning: Meaning, on_numbers: Callable[[Call], Sequence[Any]]) -> Sequence[Any]:
    """The results of an op of which an operand or a result is quantized; `on_numbers` is what ops do that have no such.
    NoGolden, with the op, where none of the rules below is about it."""
    rule = meaning.quantized
    if call.op.name == "stablehlo.constant":
        (tensor,) = as_results(call, meaning.function(call))
        return (Integers(_whole(tensor.array, tensor.quantization), tensor.quantization),)
    if call.op.name in ("stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"):
        (operand,) = call.operands
        return (_typed(stands_for(operand), call.results[0].dtype),)
    if rule is not None and rule.on != "numbers" and meaning.moves:
        found = on_numbers(_plain(call, lambda one: one.number))
        types = [quantization_of(value.dtype) for value in call.results]
        return tuple(Integers(one, type_) for one, type_ in zip(found, types, strict=True))
    if rule is None or rule.on != "numbers" or call.regions:
        raise NoGolden(f"{call.op.name}: no rule tells what becomes of the integers of quantized types in it")
    found = on_numbers(_plain(call, stands_for))
    return tuple(_typed(one, value.dtype) for one, value in zip(found, call.results, strict=True))


def stands_for(one: Any) -> Any:
    """The numbers that integers stand for, (i - zero_point) * scale; what is not quantized itself."""
    if not isinstance(one, Integers):
        return one
    points, scales = _spread(one.quantization, one.shape)
    return torch("mul.Tensor", torch("sub.Tensor", one.number, points), scales)


def quantized(x: Number, quantization: Quantization) -> Integers:
    """x / scale + zero_point, rounded to the nearest integer, of two the even one, in the storage range. Of NaN nothing
    is known."""
    points, scales = _spread(quantization, x.shape)
    quotient = torch("div.Tensor", x, scales)
    shifted = stored(torch("add.Tensor", quotient, _perhaps_rounded(points)))
    within = np.abs(shifted.real.lo) + shifted.real.radius + shifted.rad
    is_told = (x.rad == 0) & _is_told(x) & _is_told(quotient) & _is_told(shifted)
    within = np.where(is_told & _rounds_nothing(scales), 0.0, within)
    is_beyond = _is_beyond(x, scales, quantization)
    at = np.where(is_beyond, np.copysign(np.inf, x.real.hi), shifted.real.hi)
    within = np.where(is_beyond, 0.0, within)
    low, middle, high = _integers(at, within, points.real.hi, quantization)
    is_known = np.isfinite(within) & np.isfinite(middle)
    rad = np.where(is_known, np.maximum(high - middle, middle - low), np.inf)
    return Integers(Number(x.format, Real.exact(np.where(is_known, middle, 0.0)), rad), quantization)


def _integers(
    at: np.ndarray, within: np.ndarray, points: np.ndarray, quantization: Quantization
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(least, the specification's, largest) of the integers that engines may have for numbers `within` of `at`.

    A zero point that is odd turns ties to the other integer where it is added behind the rounding. The ends of the
    storage range are rounded to the expressed type where numbers are clamped before.
    """
    ends = np.array([quantization.storage_min, quantization.storage_max])
    low, high = (_both(end, quantization) for end in ends)
    least, middle, largest = (
        np.minimum(np.rint(at - within), np.rint(at - within - points) + points), np.rint(at),
        np.maximum(np.rint(at + within), np.rint(at + within - points) + points),
    )  # fmt: skip
    return np.clip(least, min(low), min(high)), np.clip(middle, *ends), np.clip(largest, max(low), max(high))


def _both(end: int, quantization: Quantization) -> tuple[float, float]:
    """An end of the storage range, and what the storage type holds of its rounding to the expressed type."""
    storage = quantization.storage
    rounded = float(round_to(quantization.expressed, np.float64(end)))
    return float(end), float(np.clip(rounded, storage.min_value, storage.max_value))


def _perhaps_rounded(points: Number) -> Number:
    """Zero points, which the specification rounds to the expressed type, and which are added to integers elsewhere."""
    rounded = round_to(points.format, points.real.hi).astype(np.float64)
    return replace(points, rad=np.abs(rounded - points.real.hi))


def _rounds_nothing(scales: Number) -> np.ndarray:
    """Quotients by powers of two, and products with their reciprocals, are exact where they are told."""
    return np.frexp(scales.real.hi)[0] == 0.5


def _is_told(x: Number) -> np.ndarray:
    """Where the exact number is one of its format."""
    return (x.real.lo == 0) & (x.real.radius == 0) & is_held(x.format, x.real.hi)


def _is_beyond(x: Number, scales: Number, quantization: Quantization) -> np.ndarray:
    """Where every number that engines may have lies beyond the storage range on one side, also where it overflows."""
    reach = max(abs(quantization.storage_min), abs(quantization.storage_max)) + 1
    least = np.abs(x.real.hi) - (np.abs(x.real.lo) + x.real.radius + x.rad)
    return least / scales.real.hi > 4 * reach  # twice it for the zero point, and any error of a quotient


def _typed(one: Any, dtype: str) -> Any:
    target = quantization_of(dtype)
    return one if target is None else quantized(one, target)


def _spread(quantization: Quantization, shape: tuple[int, ...]) -> tuple[Number, Number]:
    """Zero points and scales at every place. A zero point that the expressed type does not hold is rounded by ops."""
    points = quantization.spread(quantization.zero_points, shape, np.int64)
    scales = quantization.spread(quantization.scales, shape, np.float64).astype(quantization.expressed.storage)
    return _whole(points, quantization), Number.exact(scales)


def _whole(integers: np.ndarray, quantization: Quantization) -> Number:
    return Number(quantization.expressed, Real.exact(integers.astype(np.float64)), np.zeros(integers.shape))


def _plain(call: Call, of: Callable[[Integers], Number]) -> Call:
    """The call on Numbers, with results of the expressed type."""
    operands = tuple(of(one) if isinstance(one, Integers) else one for one in call.operands)
    results = []
    for value in call.results:
        type_ = quantization_of(value.dtype)
        results.append(value if type_ is None else replace(value, dtype=type_.expressed.name))
    return replace(call, op=replace(call.op, results=tuple(results)), operands=operands)
