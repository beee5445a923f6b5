"""Batch normalization, whose features torch's operators have in dimension 1. An engine may also take the
specification's steps one by one, each rounded to the element type, or those of one product with all factors that a
feature has (P86): whichever errs most is the bound."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np

from conform.interp.program.number import Number
from conform.interp.program.shape import places_of
from conform.interp.stablehlo.reals.movement import arranged
from conform.interp.stablehlo.reals.reduction import joined
from conform.interp.stablehlo.reals.rules import rule, torch
from conform.interp.stablehlo.registry import Call
from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import Real
from conform.numerics.rounding import round_to


@rule("stablehlo.batch_norm_inference")
def batch_norm_inference(call: Call) -> Number:
    """scale * (operand - mean) / sqrt(variance + epsilon) + offset"""
    operand, scale, offset, mean, variance = call.operands
    result, *_ = torch("_native_batch_norm_legit_no_training", _features_second(call, operand), scale, offset, mean,
                       variance, momentum=0.0, eps=_epsilon(call))  # fmt: skip
    return _worse(_features_back(call, result), _stepwise(call, mean, variance))


@rule("stablehlo.batch_norm_training")
def batch_norm_training(call: Call) -> tuple[Number, Number, Number]:
    """The same with the mean and the variance of operand, and these."""
    operand, scale, offset = call.operands
    features = _Features(operand.shape, _feature(call))
    others = [dim for dim in range(operand.ndim) if dim != features.dim]
    mean = _worse(torch("mean.dim", operand, dim=others), features.mean(operand))
    centered = torch("sub.Tensor", operand, features.spread(mean))
    variance = _worse(torch("var.correction", operand, dim=others, correction=0),
                      features.mean(torch("mul.Tensor", centered, centered)))  # fmt: skip
    result, *_ = torch("_native_batch_norm_legit.no_stats", _features_second(call, operand), scale, offset,
                       training=True, momentum=0.0, eps=_epsilon(call))  # fmt: skip
    return _worse(_features_back(call, result), _stepwise(call, mean, variance)), mean, variance


def _stepwise(call: Call, mean: Number, variance: Number) -> Number:
    """The operand normalized by these, as the specification has it or as one product and a shift."""
    operand, scale, offset = call.operands[:3]
    ones = _Features(operand.shape, _feature(call)).spread
    shifted = torch("add.Tensor", variance, _constant(operand.format, _epsilon(call)))
    centered = torch("sub.Tensor", operand, ones(mean))
    normalized = torch("div.Tensor", centered, ones(torch("sqrt", shifted)))
    as_specified = torch("add.Tensor", torch("mul.Tensor", ones(scale), normalized), ones(offset))
    factor = torch("mul.Tensor", scale, torch("rsqrt", shifted))
    shift = torch("sub.Tensor", offset, torch("mul.Tensor", mean, factor))
    return _worse(as_specified, torch("add.Tensor", torch("mul.Tensor", operand, ones(factor)), ones(shift)))


@rule("stablehlo.batch_norm_grad")
def batch_norm_grad(call: Call) -> tuple[Number, Number, Number]:
    """The gradients with respect to operand, scale and offset, as the specification has them; an engine may divide by
    the deviation early, and take means in the place of sums, whichever errs more."""
    operand, scale, mean, variance, grad = call.operands
    features, fmt = _Features(operand.shape, _feature(call)), operand.format
    count, ones = _constant(fmt, features.count), features.spread
    centered = torch("sub.Tensor", operand, ones(mean))
    shifted = torch("add.Tensor", variance, _constant(fmt, _epsilon(call)))
    deviation, inverse = torch("sqrt", shifted), torch("rsqrt", shifted)
    normalized = torch("mul.Tensor", centered, ones(inverse))
    total, product = features.total(grad), features.total(torch("mul.Tensor", grad, centered))
    of_normalized = features.total(torch("mul.Tensor", grad, normalized))
    along = torch("div.Tensor", torch("mul.Tensor", ones(product), centered), ones(shifted))
    whole = torch("sub.Tensor", torch("sub.Tensor", torch("mul.Tensor", grad, count), ones(total)), along)
    factor = torch("div.Tensor", torch("div.Tensor", scale, deviation), count)
    by_means = [ones(torch("div.Tensor", one, count)) for one in (total, of_normalized)]
    part = torch("mul.Tensor", normalized, by_means[1])
    rest = torch("sub.Tensor", torch("sub.Tensor", grad, by_means[0]), part)
    of_operand = _worse(torch("mul.Tensor", ones(factor), whole),
                        torch("mul.Tensor", ones(torch("mul.Tensor", scale, inverse)), rest))  # fmt: skip
    of_scale = _worse(of_normalized, torch("div.Tensor", product, deviation))
    return of_operand, of_scale, total


class _Features:
    """The numbers of a feature lie along all dimensions of `shape` but `dim`."""

    def __init__(self, shape: tuple[int, ...], dim: int) -> None:
        self.shape, self.dim = shape, dim
        self.count = prod(shape) // shape[dim] if shape[dim] else 0

    def spread(self, one: Number) -> Number:
        """A number a feature, at every place."""
        ends = [-1 if at == self.dim else 1 for at in range(len(self.shape))]
        return one.moved(lambda part: np.broadcast_to(part.reshape(ends), self.shape))

    def total(self, one: Number) -> Number:
        """[features]: the sum of each, added up in any order, or step by step in the element type."""
        (places,) = places_of([self.shape])
        rows = np.moveaxis(places, self.dim, -1).reshape(-1, self.shape[self.dim])
        return joined("stablehlo.add", arranged([one], rows), Number.exact(np.zeros((), one.format.storage)))


    def mean(self, one: Number) -> Number:
        """[features]: the sum of each, divided by the number of its elements."""
        return torch("div.Tensor", self.total(one), _constant(one.format, self.count))


def _constant(fmt: Format, value: float) -> Number:
    """A number of the op's own, which an engine may have rounded to the element type."""
    rounding = abs(float(round_to(fmt, np.float64(value))) - value)
    return Number(fmt, Real.exact(np.asarray(value, np.float64)), np.asarray(rounding))


def _worse(one: Number, other: Number) -> Number:
    """The same numbers by two formulas, with the larger error."""
    return replace(one, rad=np.maximum(one.rad, other.rad))


def _feature(call: Call) -> int:
    return int(call.attributes["feature_index"])


def _epsilon(call: Call) -> float:
    """A float32 of the program."""
    return float(round_to(FORMATS["float32"], np.asarray(call.attributes["epsilon"], np.float64)))


def _features_second(call: Call, operand: Number) -> Number:
    """[all dims before the features, features, all dims behind], the first two the other way round."""
    return _swapped(operand, _feature(call), 1) if operand.ndim > 1 else operand.moved(lambda part: part[None])


def _features_back(call: Call, result: Number) -> Number:
    if len(call.results[0].shape) == 1:
        return result.moved(lambda part: part[0])
    return _swapped(result, _feature(call), 1)


def _swapped(number: Number, one: int, other: int) -> Number:
    return number.moved(lambda part: np.swapaxes(part, one, other))
