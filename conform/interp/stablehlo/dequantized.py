"""Quantized tensors as the numbers that they stand for, and back; and the ops that work on these.

As the specification has it in "Quantization computations": each step is an op of its own, rounded to the expressed
type, but for i - zero_point, which is the integer itself where the storage type would wrap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.interp.program.evaluation import Run
from conform.interp.stablehlo.ops.casts import cast
from conform.interp.stablehlo.ops.choice import extreme
from conform.interp.stablehlo.ops.elementwise import of_torch
from conform.interp.stablehlo.quantization import Quantization, format_held, quantization_of
from conform.interp.stablehlo.regions import same_scalars
from conform.interp.stablehlo.registry import Call, Meaning, as_results
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import FORMATS, format_named
from conform.numerics.rounding import convert


def dequantize(one: Tensor) -> Tensor:
    """(i - zero_point) * scale in the expressed type."""
    quantization = one.quantization
    points = quantization.spread(quantization.zero_points, one.shape, np.int64)
    difference = convert(one.array.astype(np.int64) - points, FORMATS["int64"], quantization.expressed)
    return Tensor(of_torch("aten::mul.Tensor", difference, _scales(quantization, one.shape)))


def quantize(x: np.ndarray, quantization: Quantization) -> Tensor:
    """x / scale + zero_point, moved into the storage range, and rounded to the nearest integer, of two the even one;
    NaN is 0, as `convert` has it."""
    fmt = quantization.expressed
    points = quantization.spread(quantization.zero_points, x.shape, np.int64)
    scaled = of_torch("aten::div.Tensor", x, _scales(quantization, x.shape))
    shifted = of_torch("aten::add.Tensor", scaled, convert(points, FORMATS["int64"], fmt))
    low, high = (
        np.broadcast_to(convert(np.array(end, np.int64), FORMATS["int64"], fmt), x.shape)
        for end in (quantization.storage_min, quantization.storage_max)
    )
    clamped = extreme(extreme(shifted, low, +1), high, -1)
    return Tensor(cast(of_torch("aten::round", clamped), fmt, quantization.storage), quantization)


def _scales(quantization: Quantization, shape: tuple[int, ...]) -> np.ndarray:
    return quantization.spread(quantization.scales, shape, np.float64).astype(quantization.expressed.storage)


def zeros(like: Tensor) -> np.ndarray:
    """0 at every place, as the elements of `like` have it."""
    if like.quantization is None:
        return np.zeros_like(like.array)
    return quantize(np.zeros(like.shape, like.quantization.expressed.storage), like.quantization).array


def is_quantized(call: Call) -> bool:
    return any(quantization_of(one.dtype) is not None for one in (*call.operands, *call.results))


def on_quantized(call: Call, meaning: Meaning) -> tuple[Any, ...]:
    """The results of an op of which an operand or a result is quantized. InvalidArguments for one that takes none."""
    rule = meaning.quantized
    if rule is None:
        for at, one in enumerate(call.operands):
            takes = quantization_of(one.dtype) is None
            call.require(f"I{at + 1}", takes, f"an operand of {one.dtype}, and it takes no quantized ones")
        return as_results(call, meaning.function(call))  # which sees to its results
    rule.check(call)
    if rule.on == "tensors":
        return as_results(call, meaning.function(call))
    is_of_numbers = rule.on == "numbers"
    inner = _with_plain_types(call, is_of_numbers)
    results = as_results(inner, meaning.function(inner))
    types = [quantization_of(value.dtype) for value in call.results]
    back = quantize if is_of_numbers else Tensor
    return tuple(one if type_ is None else back(one.array, type_) for one, type_ in zip(results, types, strict=True))


def _with_plain_types(call: Call, is_of_numbers: bool) -> Call:
    """The call on the numbers that quantized operands stand for, or on their integers, with such results."""
    plain = dequantize if is_of_numbers else lambda one: Tensor(one.array)
    operands = tuple(plain(one) if quantization_of(one.dtype) else one for one in call.operands)
    results = []
    for value in call.results:
        type_ = quantization_of(value.dtype)
        fmt = type_ and (type_.expressed if is_of_numbers else type_.storage)
        results.append(replace(value, dtype=fmt.name) if fmt else value)
    return replace(call, op=replace(call.op, results=tuple(results)), operands=operands)


# Between types of one kind


def is_promotable(one: Tensor, dtype: str) -> bool:
    """Whether its elements may become such of `dtype`: of the same kind and as many bits, or more."""
    target, fmt = quantization_of(dtype), format_held(dtype)
    if one.quantization is None or target is None:
        return one.quantization is target and one.format.kind == fmt.kind and one.format.bits <= fmt.bits
    return one.quantization.expressed == target.expressed and one.format.bits <= fmt.bits


def promoted_types(call: Call, constraint: str, body: Run, inputs: Sequence[Tensor]) -> list[str]:
    """The element types that a region of two elements of each input works in: those of the inputs, or wider ones of
    their kinds."""
    found = [one.dtype for one in body.function.arguments[: len(inputs)]]
    for one, name in zip(inputs, found, strict=False):
        call.require(constraint, is_promotable(one, name), f"a region of {name} for {one}")
    same_scalars(call, constraint, body, found * 2, found)
    return found


def promoted(one: Tensor, dtype: str) -> np.ndarray:
    """Its elements in a type that they are promotable to."""
    target = quantization_of(dtype)
    if one.dtype == dtype:
        return one.array
    if target is None:
        return cast(one.array, one.format, format_named(dtype))
    return quantize(dequantize(one).array, target).array
