"""Rules of ops that standardize rows, or make weights of them that add up to 1."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.interp.dims import wrap_dim
from conform.interp.operands import steps_of
from conform.interp.program.apply import apply
from conform.interp.program.blocks import in_slices
from conform.interp.program.elementwise.arithmetic import add, div, mul, rsqrt, sub
from conform.interp.program.elementwise.steps import of_dtype
from conform.interp.program.functions.elementary import exp, log
from conform.interp.program.number import Number
from conform.interp.program.reduction.order import largest
from conform.interp.program.reduction.sums import mean_over, sum_over
from conform.interp.program.rules import rule
from conform.interp.program.weights import errors_of_weights
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real

# --- Softmax ----------------------------------------------------------------------------------------------------------


@rule("aten::_softmax")
def softmax(self: Number, dim: int, half_to_float: bool) -> Any:
    """e^(x - m) / sum e^(x - m), m the largest of a row: of the quotient it may be any number near that, so an error of
    m is none of the result's."""
    if self.array is not None:
        return NotImplemented
    return _widened(_of_lines(_weights, self, dim), half_to_float)


def _weights(x: Number, axis: int) -> Number:
    below = _below_the_largest(x, axis)

    def quotient(exponents: Number) -> Number:
        e = exp(exponents)
        return div(e, sum_over(e, [axis], True))

    weights = quotient(below)
    return replace(weights, rad=np.minimum(weights.rad, errors_of_weights(below, quotient, axis)))


@rule("aten::_log_softmax")
def log_softmax(self: Number, dim: int, half_to_float: bool) -> Any:
    """(x - m) - log sum e^(x - m)"""
    if self.array is not None:
        return NotImplemented
    return _widened(_of_lines(_logarithms, self, dim), half_to_float)


def _logarithms(x: Number, axis: int) -> Number:
    below = _below_the_largest(x, axis)
    return sub(below, log(sum_over(exp(below), [axis], True)))


def _of_lines(function: Callable[[Number, int], Number], x: Number, dim: int) -> Number:
    """function(x, dim), which makes every line along `dim` of that line, some lines at a time; of a scalar that of a
    line of one."""
    if x.ndim == 0:
        return function(x.moved(lambda part: part.reshape(1)), 0).moved(lambda part: part.reshape(()))
    axis = wrap_dim(dim, x.ndim)
    others = [at for at in range(-x.ndim, 0) if at + x.ndim != axis]
    return in_slices(lambda some: function(some, axis), [x], x.shape, others)


@rule("aten::softmax.int")
def softmax_of(self: Number, dim: int, dtype: str | None = None) -> Any:
    return apply("aten::_softmax", of_dtype(self, dtype), dim, False)


@rule("aten::log_softmax.int")
def log_softmax_of(self: Number, dim: int, dtype: str | None = None) -> Any:
    return apply("aten::_log_softmax", of_dtype(self, dtype), dim, False)


def _below_the_largest(x: Number, dim: int) -> Number:
    return sub(x, largest(x, dim))


def _widened(number: Number, half_to_float: bool) -> Number:
    return number.held_in(FORMATS["float32"]) if half_to_float else number


# --- Normalization ----------------------------------------------------------------------------------------------------


@rule("aten::layer_norm")
def layer_norm(
    input: Number,
    normalized_shape: Sequence[int],
    weight: Number | None = None,
    bias: Number | None = None,
    eps: float = 1e-5,
) -> Any:
    """(x - mean) / sqrt(variance + eps) * weight + bias over the last dimensions, normalized_shape"""
    if input.array is not None:
        return apply("aten::native_layer_norm", input, list(normalized_shape), weight, bias, eps)[0]
    dims = list(range(-len(normalized_shape), 0))
    return _of_rows(lambda x: _scaled(_standardized(x, dims, eps), weight, bias), input, dims)


@rule("aten::rms_norm")
def rms_norm(
    input: Number, normalized_shape: Sequence[int], weight: Number | None = None, eps: float | None = None
) -> Any:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions; eps is that of the compute type or of the element
    type if None (P64)"""
    if input.array is not None:
        return NotImplemented
    dims = list(range(-len(normalized_shape), 0))
    return _of_rows(lambda x: _by_root_mean_square(x, dims, weight, eps), input, dims)


def _of_rows(function: Callable[[Number], Number], x: Number, dims: Sequence[int]) -> Number:
    """function(x), which makes every element of those along the last dims `dims`, some rows at a time."""
    return in_slices(function, [x], x.shape, range(-x.ndim, -len(dims)))


def _by_root_mean_square(x: Number, dims: list[int], weight: Number | None, eps: float | None) -> Number:
    square = mean_over(mul(x, x), dims, True)
    readings = [eps] if eps is not None else [2 * step.unit_roundoff for step in reversed(steps_of(x.format))]
    first, *others = (_scaled(mul(x, rsqrt(add(square, each))), weight, None) for each in readings)
    for other in others:
        with np.errstate(all="ignore"):
            rad = np.maximum(first.rad, other.rad + np.abs((first.real - other.real).hi))
        first = replace(first, rad=rad)
    return first


@rule("aten::group_norm")
def group_norm(
    input: Number, num_groups: int, weight: Number | None = None, bias: Number | None = None, eps: float = 1e-5
) -> Any:
    """Each group of a sample's channels standardized; weight and bias are per channel."""
    count, channels = input.shape[:2]
    groups = input.moved(lambda part: part.reshape(count, num_groups, -1))
    normed = layer_norm(groups, groups.shape[-1:], eps=eps)
    shape = (1, channels, *(1 for _ in input.shape[2:]))
    return _scaled(
        normed.moved(lambda part: part.reshape(input.shape)), *(_beside(one, shape) for one in (weight, bias))
    )


@rule("aten::native_layer_norm")
def native_layer_norm(
    input: Number, normalized_shape: Sequence[int], weight: Number | None, bias: Number | None, eps: float
) -> Any:
    """The result of `layer_norm`, and mean and 1 / sqrt(variance + eps), of which nothing is said: they are gradients'.
    """
    if input.array is not None:
        return NotImplemented
    result = layer_norm(input, normalized_shape, weight, bias, eps)
    kept = (*input.shape[: -len(normalized_shape)], *(1 for _ in normalized_shape))
    return result, *(_unsaid(input, kept) for _ in range(2))


@rule("aten::native_group_norm")
def native_group_norm(
    input: Number, weight: Number | None, bias: Number | None, N: int, C: int, HxW: int, group: int, eps: float
) -> Any:
    """The result of `group_norm`, and the groups' mean and 1 / sqrt(variance + eps), of which nothing is said."""
    if input.array is not None:
        return NotImplemented
    return group_norm(input, group, weight, bias, eps), *(_unsaid(input, (N, group)) for _ in range(2))


def _unsaid(input: Number, shape: Sequence[int]) -> Number:
    return Number(input.format, Real.exact(np.zeros(shape)), np.full(shape, np.inf))


@rule("aten::_native_batch_norm_legit_no_training")
def batch_norm(
    input: Number,
    weight: Number | None,
    bias: Number | None,
    running_mean: Number,
    running_var: Number,
    eps: float,
) -> Any:
    """((x - running_mean) / sqrt(running_var + eps) * weight + bias, nothing, nothing) per channel, dim 1;
    implementations may multiply once: x * scale + (bias - running_mean * scale)."""
    if input.array is not None:
        return NotImplemented
    shape = (1, input.shape[1], *(1 for _ in input.shape[2:]))
    mean, variance, weight, bias = (_beside(one, shape) for one in (running_mean, running_var, weight, bias))
    rstd = rsqrt(add(variance, eps))
    plain = _scaled(mul(sub(input, mean), rstd), weight, bias)
    scale = rstd if weight is None else mul(rstd, weight)
    shift = mul(mean, scale)
    folded = sub(mul(input, scale), shift) if bias is None else add(mul(input, scale), sub(bias, shift))
    nothing = Number.exact(np.empty(0, input.format.storage))
    return replace(plain, rad=np.maximum(plain.rad, folded.rad)), nothing, nothing


@rule("aten::_native_batch_norm_legit_functional")
def batch_norm_with_what_is_left(
    input: Number, weight: Number | None, bias: Number | None, running_mean: Number, running_var: Number,
    training: bool, momentum: float, eps: float,
) -> Any:  # fmt: skip
    """The results of `batch_norm_of_the_batch`, and the running statistics after it, running + momentum * (that of the
    batch - running), the variance over n - 1; implementations may add (1 - momentum) and momentum of them. Without
    training those of `batch_norm`, and the statistics as they were."""
    if input.array is not None:
        return NotImplemented
    if not training:
        return *batch_norm(input, weight, bias, running_mean, running_var, eps), running_mean, running_var
    dims = [dim for dim in range(input.ndim) if dim != 1]
    centred = sub(input, mean_over(input, dims, True))
    squares, n = sum_over(mul(centred, centred), dims, False), prod(input.shape[dim] for dim in dims)
    unbiased = div(squares, n - 1.0) if n > 1 else _unsaid(input, running_var.shape)
    left = _moved(running_mean, mean_over(input, dims, False), momentum), _moved(running_var, unbiased, momentum)
    return *batch_norm_of_the_batch(input, weight, bias, training, eps), *left


def _moved(before: Number, statistic: Number, momentum: float) -> Number:
    """A running statistic after the batch, in its own dtype."""
    left = add(before, mul(sub(statistic, before), momentum))
    by_shares = add(mul(before, 1.0 - momentum), mul(statistic, momentum))
    return replace(left, format=before.format, rad=np.maximum(left.rad, by_shares.rad))


@rule("aten::batch_norm")
def batch_norm_alone(
    input: Number, weight: Number | None, bias: Number | None, running_mean: Number | None, running_var: Number | None,
    training: bool, eps: float,
) -> Any:  # fmt: skip
    """The result of `batch_norm`, in training by the batch's own statistics."""
    if input.array is not None:
        return NotImplemented
    if training:
        return batch_norm_of_the_batch(input, weight, bias, training, eps)[0]
    return batch_norm(input, weight, bias, running_mean, running_var, eps)[0]


@rule("aten::_native_batch_norm_legit.no_stats")
def batch_norm_of_the_batch(
    input: Number, weight: Number | None, bias: Number | None, training: bool, eps: float
) -> Any:
    """Each channel standardized over all other dims, (result, nothing, nothing); implementations may multiply once:
    x * scale + (bias - mean * scale)."""
    if input.array is not None:
        return NotImplemented
    shape = (1, input.shape[1], *(1 for _ in input.shape[2:]))
    dims = [dim for dim in range(input.ndim) if dim != 1]
    weight, bias = (_beside(one, shape) for one in (weight, bias))
    mean = mean_over(input, dims, True)
    centred = sub(input, mean)
    rstd = rsqrt(add(mean_over(mul(centred, centred), dims, True), eps))
    plain = _scaled(mul(centred, rstd), weight, bias)
    scale = rstd if weight is None else mul(rstd, weight)
    shift = mul(mean, scale)
    folded = sub(mul(input, scale), shift) if bias is None else add(mul(input, scale), sub(bias, shift))
    nothing = Number.exact(np.empty(0, input.format.storage))
    return replace(plain, rad=np.maximum(plain.rad, folded.rad)), nothing, nothing


def _beside(parameter: Number | None, shape: Sequence[int]) -> Number | None:
    return None if parameter is None else parameter.moved(lambda part: part.reshape(shape))


def _standardized(x: Number, dims: list[int], eps: float) -> Number:
    centred = sub(x, mean_over(x, dims, True))
    return mul(centred, rsqrt(add(mean_over(mul(centred, centred), dims, True), eps)))


def _scaled(normed: Number, weight: Number | None, bias: Number | None) -> Number:
    scaled = normed if weight is None else mul(normed, weight)
    return scaled if bias is None else add(scaled, bias)
