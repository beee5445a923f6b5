"""Batch normalization, op by op as the specification decomposes it: each step is rounded to the element type."""

from __future__ import annotations

import numpy as np

from conform.interp.stablehlo.ops.elementwise import of_kinds, of_torch
from conform.interp.stablehlo.quantized import numbers
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import FORMATS, Format
from conform.numerics.rounding import round_to

Array = np.ndarray


def _add(x: Array, y: Array) -> Array:
    return of_torch("aten::add.Tensor", x, y)


def _sub(x: Array, y: Array) -> Array:
    return of_torch("aten::sub.Tensor", x, y)


def _mul(x: Array, y: Array) -> Array:
    return of_torch("aten::mul.Tensor", x, y)


def _div(x: Array, y: Array) -> Array:
    return of_torch("aten::div.Tensor", x, y)


class _Features:
    """A tensor of `fmt` and `shape` whose dimension `dim` counts features."""

    def __init__(self, fmt: Format, shape: tuple[int, ...], dim: int) -> None:
        self.fmt, self.shape, self.dim = fmt, shape, dim

    def spread(self, one: Array) -> Array:
        """A number a feature at every place."""
        return np.broadcast_to(one.reshape([-1 if at == self.dim else 1 for at in range(len(self.shape))]), self.shape)

    def number(self, value: float) -> Array:
        return round_to(self.fmt, np.asarray(value, np.float64))

    def count(self) -> Array:
        """How many elements a feature has."""
        return self.number(np.prod(self.shape) / self.shape[self.dim]) if self.shape[self.dim] else self.number(0.0)

    def total(self, one: Array) -> Array:
        """[features]: the elements of each feature added up one after the other, from 0 on."""
        rows = np.moveaxis(one, self.dim, -1).reshape(-1, self.shape[self.dim])
        found = np.zeros(self.shape[self.dim], self.fmt.storage)
        for row in rows:
            found = _add(found, row)
        return found

    def mean(self, one: Array) -> Array:
        return _div(self.total(one), np.broadcast_to(self.count(), self.shape[self.dim]))


def _features(call: Call, vectors: dict[str, Tensor]) -> tuple[_Features, Array]:
    """The operand's features, and epsilon; `vectors`: the constraint of the size of each."""
    operand, dim = call.operands[0], int(call.attributes["feature_index"])
    of_kinds(call, "I1", "float")
    call.require("C1", 0 <= dim < operand.rank, f"feature_index {dim} of {operand}")
    for constraint, one in vectors.items():
        call.require("C2", one.dtype == operand.dtype, f"{operand} and {one}")
        call.require(constraint, one.shape == (operand.shape[dim],), f"{one} for {operand.shape[dim]} features")
    features = _Features(operand.format, operand.shape, dim)
    epsilon = float(round_to(FORMATS["float32"], np.asarray(call.attributes["epsilon"], np.float64)))
    return features, np.broadcast_to(features.number(epsilon), operand.shape)


def _inferred(
    features: _Features, operand: Array, scale: Array, offset: Array, mean: Array, variance: Array, epsilon: Array
) -> Array:
    centered = _sub(operand, features.spread(mean))
    deviation = of_torch("aten::sqrt", _add(features.spread(variance), epsilon))
    return _add(_mul(features.spread(scale), _div(centered, deviation)), features.spread(offset))


@meaning("stablehlo.batch_norm_inference", quantized=numbers("C2"))
def batch_norm_inference(call: Call) -> Array:
    """scale * (operand - mean) / sqrt(variance + epsilon) + offset"""
    operand, scale, offset, mean, variance = call.operands
    features, epsilon = _features(call, {"C3": scale, "C4": offset, "C5": mean, "C6": variance})
    call.require(
        "C7", call.results[0].holds(operand.dtype, operand.shape), f"{operand} with the result {call.results[0]}"
    )
    return _inferred(features, *(one.array for one in call.operands), epsilon)


@meaning("stablehlo.batch_norm_training", quantized=numbers("C2"))
def batch_norm_training(call: Call) -> tuple[Array, ...]:
    """batch_norm_inference with the mean and variance of operand, and these"""
    operand, scale, offset = call.operands
    features, epsilon = _features(call, {"C3": scale, "C4": offset})
    size = (operand.shape[features.dim],)
    for constraint, result in (("C5", call.results[1]), ("C6", call.results[2])):
        call.require(constraint, result.holds(operand.dtype, size), f"the result {result} of {operand}")
    call.require(
        "C7", call.results[0].holds(operand.dtype, operand.shape), f"{operand} with the result {call.results[0]}"
    )
    mean = features.mean(operand.array)
    centered = _sub(operand.array, features.spread(mean))
    variance = features.mean(_mul(centered, centered))
    return _inferred(features, operand.array, scale.array, offset.array, mean, variance, epsilon), mean, variance


@meaning("stablehlo.batch_norm_grad", quantized=numbers("C2"))
def batch_norm_grad(call: Call) -> tuple[Array, ...]:
    """The gradients of batch_norm_training with respect to operand, scale and offset"""
    operand, scale, mean, variance, grad = call.operands
    features, epsilon = _features(call, {"C5": scale, "C4": mean})
    call.require("C4", variance.shape == mean.shape, f"{mean} and {variance}")
    call.require("C2", variance.dtype == grad.dtype == operand.dtype, f"{operand}, {variance} and {grad}")
    call.require("C3", grad.shape == operand.shape and call.results[0].holds(operand.dtype, operand.shape),
                 f"{operand} and {grad} with the result {call.results[0]}")  # fmt: skip
    centered = _sub(operand.array, features.spread(mean.array))
    shifted = _add(features.spread(variance.array), epsilon)
    deviation = of_torch("aten::sqrt", shifted)
    count = np.broadcast_to(features.count(), operand.shape)
    i1 = _mul(grad.array, count)
    i2 = features.spread(features.total(grad.array))
    i3 = features.spread(features.total(_mul(grad.array, centered)))
    i5 = _div(_mul(i3, centered), shifted)
    factor = _div(_div(features.spread(scale.array), deviation), count)
    grad_operand = _mul(factor, _sub(_sub(i1, i2), i5))
    grad_scale = features.total(_mul(grad.array, _div(centered, deviation)))
    return grad_operand, grad_scale, features.total(grad.array)
