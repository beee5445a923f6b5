"""Gradients of norms: numbers less their mean, over the root of their variance and eps, times a weight, and a bias."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from conform.interp.gradients.evaluation import summed_to
from conform.interp.gradients.rules import gradient
from conform.interp.program.number import Number

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """How a norm lies: the input in the shape `grouped`, of which `dims` are standardized together; and the shape of
    weight and bias beside the input."""

    grouped: Shape
    dims: tuple[int, ...]
    beside: Shape


def _gradients(
    g: Number, x: Number, weight: Number | None, bias: Number | None, layout: Layout, eps: float,
    is_centred: bool = True, constants: tuple[Number, Number] | None = None,
) -> Any:  # fmt: skip
    """Those of input, weight and bias; with the mean and the variance `constants`, of the shape `beside`, no more hangs
    on the input."""
    grouped = x.moved(lambda part: part.reshape(layout.grouped))
    if constants is None:
        centred = grouped - _mean(grouped, layout) if is_centred else grouped
        scale = (_mean(centred * centred, layout) + eps).rsqrt()
    else:
        mean, variance = (one.moved(lambda part: part.reshape(layout.beside)) for one in constants)
        centred, scale = x - mean, (variance + eps).rsqrt()
    normal = centred * scale
    factor = None if weight is None else weight.moved(lambda part: part.reshape(layout.beside))
    weighed = g if factor is None else g * factor
    if constants is None:
        weighed = weighed.moved(lambda part: part.reshape(layout.grouped))
        along = weighed - normal * _mean(weighed * normal, layout)
        weighed = along - _mean(weighed, layout) if is_centred else along
    of_input = (weighed * scale).moved(lambda part: part.reshape(x.shape))
    beside = normal.moved(lambda part: part.reshape(x.shape))
    return (
        of_input,
        None if weight is None else _as(summed_to(g * beside, layout.beside), weight.shape),
        None if bias is None else _as(summed_to(g, layout.beside), bias.shape),
    )


def _mean(x: Number, layout: Layout) -> Number:
    """Over the dims that are standardized together, which are kept; of no dims the number itself."""
    return x.mean(layout.dims, True) if layout.dims else x


def _as(number: Number, shape: Shape) -> Number:
    return number.moved(lambda part: part.reshape(shape))


def _of_last(x: Number, normalized_shape: Sequence[int]) -> Layout:
    kept = x.ndim - len(normalized_shape)
    return Layout(x.shape, tuple(range(kept, x.ndim)), (1,) * kept + x.shape[kept:])


def _of_groups(x: Number, groups: int) -> Layout:
    channels = x.shape[1]
    grouped = (x.shape[0], groups, channels // groups, *x.shape[2:])
    return Layout(grouped, tuple(range(2, len(grouped))), (1, channels, *(1,) * (x.ndim - 2)))


def _of_channels(x: Number, each: bool = False) -> Layout:
    """Of every channel, and with `each` of every image, apart."""
    dims = tuple(dim for dim in range(x.ndim) if dim > 1 or dim == 0 and not each)
    return Layout(x.shape, dims, (1, x.shape[1], *(1,) * (x.ndim - 2)))


@gradient("aten::layer_norm", "aten::native_layer_norm", of=("input", "weight", "bias"), outputs=(0,))
def layer_norm(
    g: Number, input: Number, normalized_shape: Sequence[int], weight: Number | None, bias: Number | None, eps: float
) -> Any:
    """of the input r (h - mean(h) - n mean(h n)), of the weight the sum of g n, of the bias that of g:
    h = g weight, n = (input - mean) r, r = 1 / sqrt(variance + eps)"""
    return _gradients(g, input, weight, bias, _of_last(input, normalized_shape), eps)


@gradient("aten::group_norm", of=("input", "weight", "bias"))
def group_norm(
    g: Number, input: Number, num_groups: int, weight: Number | None, bias: Number | None, eps: float
) -> Any:
    """of the input r (h - mean(h) - n mean(h n)) in groups, of the weight the sum of g n, of the bias that of g:
    h = g weight, n = (input - mean) r, r = 1 / sqrt(variance + eps)"""
    return _gradients(g, input, weight, bias, _of_groups(input, num_groups), eps)


@gradient("aten::native_group_norm", of=("input", "weight", "bias"), outputs=(0,))
def native_group_norm(
    g: Number, input: Number, weight: Number | None, bias: Number | None, group: int, eps: float
) -> Any:
    """of the input r (h - mean(h) - n mean(h n)) in groups, of the weight the sum of g n, of the bias that of g:
    h = g weight, n = (input - mean) r, r = 1 / sqrt(variance + eps)"""
    return _gradients(g, input, weight, bias, _of_groups(input, group), eps)


@gradient(
    "aten::batch_norm", "aten::native_batch_norm", "aten::_native_batch_norm_legit",
    "aten::_native_batch_norm_legit_functional", of=("input", "weight", "bias"), outputs=(0,),
)  # fmt: skip
def batch_norm(
    g: Number, input: Number, weight: Number | None, bias: Number | None, running_mean: Number | None,
    running_var: Number | None, training: bool, eps: float,
) -> Any:  # fmt: skip
    """of the input r (h - mean(h) - n mean(h n)) by channels, without training r h;
    of the weight the sum of g n, of the bias that of g:
    h = g weight, n = (input - mean) r, r = 1 / sqrt(variance + eps)"""
    constants = None if training else (running_mean, running_var)
    return _gradients(g, input, weight, bias, _of_channels(input), eps, constants=constants)


@gradient("aten::_native_batch_norm_legit.no_stats", of=("input", "weight", "bias"), outputs=(0,))
def batch_norm_without_statistics(
    g: Number, input: Number, weight: Number | None, bias: Number | None, eps: float
) -> Any:
    """of the input r (h - mean(h) - n mean(h n)) by channels, of the weight the sum of g n, of the bias that of g:
    h = g weight, n = (input - mean) r, r = 1 / sqrt(variance + eps)"""
    return _gradients(g, input, weight, bias, _of_channels(input), eps)


@gradient("aten::_native_batch_norm_legit_no_training", of=("input", "weight", "bias"), outputs=(0,))
def batch_norm_of_constants(
    g: Number, input: Number, weight: Number | None, bias: Number | None, running_mean: Number, running_var: Number,
    eps: float,
) -> Any:  # fmt: skip
    """of the input r g weight, of the weight the sum of g n, and of the bias that of g: n = (input - mean) r, r = 1 /
    sqrt(variance + eps)"""
    return _gradients(g, input, weight, bias, _of_channels(input), eps, constants=(running_mean, running_var))


@gradient("aten::instance_norm", of=("input", "weight", "bias"), outputs=(0,))
def instance_norm(
    g: Number, input: Number, weight: Number | None, bias: Number | None, running_mean: Number | None,
    running_var: Number | None, use_input_stats: bool, eps: float,
) -> Any:  # fmt: skip
    """as of batch_norm, of each image apart"""
    constants = None if use_input_stats else (running_mean, running_var)
    return _gradients(g, input, weight, bias, _of_channels(input, each=True), eps, constants=constants)


@gradient("aten::rms_norm", "aten::_fused_rms_norm", of=("input", "weight"), outputs=(0,))
def rms_norm(
    g: Number, input: Number, normalized_shape: Sequence[int], weight: Number | None, eps: float | None
) -> Any:
    """of the input r (h - n mean(h n)), of the weight the sum of g n:
    h = g weight, n = input r, r = 1 / sqrt(mean of squares + eps)"""
    least = float(2.0 ** -(input.format.precision - 1)) if eps is None else eps
    return _gradients(g, input, weight, None, _of_last(input, normalized_shape), least, is_centred=False)[:2]
