"""Batch normalization, whose features torch's operators have in dimension 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.program.number import Number
from conform.interp.stablehlo.reals.rules import rule, torch
from conform.interp.stablehlo.registry import Call
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_to


@rule("stablehlo.batch_norm_inference")
def batch_norm_inference(call: Call) -> Number:
    """scale * (operand - mean) / sqrt(variance + epsilon) + offset"""
    operand, scale, offset, mean, variance = call.operands
    result, *_ = torch("_native_batch_norm_legit_no_training", _features_second(call, operand), scale, offset, mean,
                       variance, momentum=0.0, eps=_epsilon(call))  # fmt: skip
    return _features_back(call, result)


@rule("stablehlo.batch_norm_training")
def batch_norm_training(call: Call) -> tuple[Number, Number, Number]:
    """The same with the mean and the variance of operand, and these."""
    operand, scale, offset = call.operands
    others = [dim for dim in range(operand.ndim) if dim != _feature(call)]
    mean = torch("mean.dim", operand, dim=others)
    variance = torch("var.correction", operand, dim=others, correction=0)
    result, *_ = torch("_native_batch_norm_legit.no_stats", _features_second(call, operand), scale, offset,
                       training=True, momentum=0.0, eps=_epsilon(call))  # fmt: skip
    return _features_back(call, result), mean, variance


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
        return replace(result.moved(lambda part: part[0]), may_round=result.may_round)
    return _swapped(result, _feature(call), 1)


def _swapped(number: Number, one: int, other: int) -> Number:
    return replace(number.moved(lambda part: np.swapaxes(part, one, other)), may_round=number.may_round)
