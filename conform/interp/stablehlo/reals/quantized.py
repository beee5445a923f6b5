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
from conform.numerics.real import Real


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
    """x / scale + zero_point, rounded to the nearest integer, of two the even one, in the storage range. Of numbers
    that are not finite nothing is known."""
    points, scales = _spread(quantization, x.shape)
    shifted = stored(torch("add.Tensor", torch("div.Tensor", x, scales), points))
    at, within = shifted.real.hi, np.abs(shifted.real.lo) + shifted.real.radius + shifted.rad
    low, middle, high = (
        np.clip(np.rint(one), quantization.storage_min, quantization.storage_max)
        for one in (at - within, at, at + within)
    )
    rad = np.where(np.isfinite(at) & np.isfinite(within), np.maximum(high - middle, middle - low), np.inf)
    known = np.where(np.isfinite(middle), middle, 0.0)
    return Integers(Number(x.format, Real.exact(known), np.where(np.isnan(rad), np.inf, rad)), quantization)


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
