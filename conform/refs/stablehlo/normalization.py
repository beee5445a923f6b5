"""Batch normalization, as the specification decomposes it into ops, each of which the references of torch's operators
round; sums go from 0 on, in ascending order."""

from __future__ import annotations

from collections.abc import Sequence

from conform.refs import lookup
from conform.refs.exact.rounding import round_number
from conform.refs.exact.tensor import RefTensor
from conform.refs.stablehlo.movement import broadcast_in_dim
from conform.refs.stablehlo.reduction import reduce


def _op(name: str, *operands: RefTensor) -> RefTensor:
    names = ("self", "other")[: len(operands)]
    return lookup(f"aten::{name}")(**dict(zip(names, operands, strict=True)))


def _add(x: RefTensor, y: RefTensor) -> RefTensor:
    return _op("add.Tensor", x, y)


def _subtract(x: RefTensor, y: RefTensor) -> RefTensor:
    return _op("sub.Tensor", x, y)


def _multiply(x: RefTensor, y: RefTensor) -> RefTensor:
    return _op("mul.Tensor", x, y)


def _divide(x: RefTensor, y: RefTensor) -> RefTensor:
    return _op("div.Tensor", x, y)


class _Features:
    """What the decompositions need of the operand and its feature_index."""

    def __init__(self, operand: RefTensor, feature_index: int) -> None:
        self.operand, self.index = operand, feature_index
        self.others = [d for d in range(len(operand.shape)) if d != feature_index]
        self.count = len(operand.data) // operand.shape[feature_index]

    def constant(self, value: float, like: RefTensor) -> RefTensor:
        number = round_number(self.operand.dtype, value)
        return RefTensor(self.operand.dtype, like.shape, [number] * len(like.data))

    def spread(self, vector: RefTensor) -> RefTensor:
        return broadcast_in_dim(vector, [self.index], self.operand.shape)

    def sum(self, x: RefTensor) -> RefTensor:
        def body(a: object, b: object) -> Sequence[object]:
            one, other = (RefTensor(x.dtype, (1,), [element]) for element in (a, b))
            return _add(one, other).data

        return reduce([x], [0.0], self.others, body)[0]

    def mean(self, x: RefTensor) -> RefTensor:
        total = self.sum(x)
        return _divide(total, self.constant(self.count, total))


def batch_norm_inference(
    operand: RefTensor, scale: RefTensor, offset: RefTensor, mean: RefTensor, variance: RefTensor, epsilon: float,
    feature_index: int,
) -> RefTensor:  # fmt: skip
    features = _Features(operand, feature_index)
    centered = _subtract(operand, features.spread(mean))
    deviation = _op("sqrt", _add(features.spread(variance), features.constant(epsilon, operand)))
    normalized = _divide(centered, deviation)
    return _add(_multiply(features.spread(scale), normalized), features.spread(offset))


def batch_norm_training(
    operand: RefTensor, scale: RefTensor, offset: RefTensor, epsilon: float, feature_index: int
) -> list[RefTensor]:
    features = _Features(operand, feature_index)
    mean = features.mean(operand)
    centered = _subtract(operand, features.spread(mean))
    variance = features.mean(_multiply(centered, centered))
    return [batch_norm_inference(operand, scale, offset, mean, variance, epsilon, feature_index), mean, variance]


def batch_norm_grad(
    operand: RefTensor, scale: RefTensor, mean: RefTensor, variance: RefTensor, grad_output: RefTensor, epsilon: float,
    feature_index: int,
) -> list[RefTensor]:  # fmt: skip
    features = _Features(operand, feature_index)
    spread, constant = features.spread, features.constant
    centered = _subtract(operand, spread(mean))
    shifted = _add(spread(variance), constant(epsilon, operand))
    deviation = _op("sqrt", shifted)
    elements_per_feature = constant(features.count, operand)
    i1 = _multiply(grad_output, elements_per_feature)
    i2 = spread(features.sum(grad_output))
    i3 = spread(features.sum(_multiply(grad_output, centered)))
    i4 = _multiply(i3, centered)
    i5 = _divide(i4, shifted)
    i6 = _subtract(_subtract(i1, i2), i5)
    of_operand = _multiply(_divide(_divide(spread(scale), deviation), elements_per_feature), i6)
    of_scale = features.sum(_multiply(grad_output, _divide(centered, deviation)))
    return [of_operand, of_scale, features.sum(grad_output)]
