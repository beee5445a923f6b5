"""Batch and instance norm with the running statistics that they leave: the documented update, rounded once."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import chain
from math import isfinite, isinf, isnan, nan

from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, groups
from conform.refs.normalization.composites import group_norm
from conform.refs.normalization.standardization import (
    batch_norm_by_running_statistics,
    batch_norm_of_the_batch,
    channel_groups,
    check_batch,
)
from conform.refs.reduction.statistics import variance
from conform.refs.references import reference


@reference("aten::native_batch_norm", "aten::_native_batch_norm_legit")
def native_batch_norm(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    running_mean: RefTensor | None,
    running_var: RefTensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[RefTensor, ...]:
    """By the batch's own statistics if training, else by the running ones, with empty further outputs (P63). Behind the
    three results what training leaves in the running statistics that there are."""
    if training:
        results = batch_norm_of_the_batch(input, weight, bias, training=True, momentum=momentum, eps=eps)
        of_channel = [[places] for places in channel_groups(input)]
        return *results, *_left(input, running_mean, running_var, momentum, of_channel)
    if running_mean is None or running_var is None:
        raise ValueError("batch norm without training needs running statistics")
    return batch_norm_by_running_statistics(input, weight, bias, running_mean, running_var, momentum, eps)


@reference("aten::batch_norm")
def batch_norm(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    running_mean: RefTensor | None,
    running_var: RefTensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> RefTensor | tuple[RefTensor, ...]:
    """The first result of native_batch_norm, and what that leaves."""
    result, _, _, *left = native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return (result, *left) if left else result


@reference("aten::_native_batch_norm_legit_functional")
def batch_norm_and_what_it_leaves(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    running_mean: RefTensor,
    running_var: RefTensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[RefTensor, ...]:
    """The normalized input, the statistics that were saved, and the running statistics after the call."""
    check_batch(input, eps, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    results = native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return results if training else (*results, running_mean, running_var)


@reference("aten::instance_norm")
def instance_norm(
    input: RefTensor,
    weight: RefTensor | None,
    bias: RefTensor | None,
    running_mean: RefTensor | None,
    running_var: RefTensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> RefTensor | tuple[RefTensor, ...]:
    """Batch norm of each sample by itself, which leaves the means over the samples of what each would leave; without
    use_input_stats by the running statistics, as batch norm."""
    if len(input.shape) < 2:
        raise ValueError(f"instance_norm needs an input of rank 2 or more, found shape {input.shape}")
    if not input.data:
        raise ValueError(f"instance_norm needs elements, found an input of shape {input.shape}")
    if not use_input_stats:
        return native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum, eps)[0]
    places = groups(input.shape, list(range(2, len(input.shape))))
    of_channel = [places[channel :: input.shape[1]] for channel in range(input.shape[1])]
    left = _left(input, running_mean, running_var, momentum, of_channel)
    result = group_norm(input, input.shape[1], weight, bias, eps)
    return (result, *left) if left else result


def _left(
    input: RefTensor,
    running_mean: RefTensor | None,
    running_var: RefTensor | None,
    momentum: float,
    of_channel: list[list[list[int]]],
) -> list[RefTensor]:
    """What training leaves in the running statistics, of the parts of each channel, by positions: the biased variance
    normalizes, the unbiased one stays."""
    for statistic in (running_mean, running_var):
        if statistic is not None and (statistic.shape != input.shape[1:2] or statistic.dtype not in FLOAT_FORMATS):
            raise ValueError(f"a running statistic of {input.shape} is of {statistic.dtype} {statistic.shape}")
    channels = [[[input.data[i] for i in part] for part in parts] for parts in of_channel]
    left = []
    if running_mean is not None:
        means = [UNSPECIFIED if any(map(isinf, chain(*parts))) else _mean(map(_mean, parts)) for parts in channels]
        left.append(_moved(running_mean, momentum, means))
    if running_var is not None:
        are_single = len(channels[0][0]) == 1
        variances = [UNSPECIFIED if are_single else _mean(variance(each, 1.0) for each in parts) for parts in channels]
        left.append(_moved(running_var, momentum, variances))
    return left


def _moved(running: RefTensor, momentum: float, statistics: list[Fraction | float | Unspecified]) -> RefTensor:
    pairs = zip(running.data, statistics, strict=True)
    return RefTensor(running.dtype, running.shape, [_mixed(running.dtype, each, momentum, its) for each, its in pairs])


def _mean(numbers: Iterable[Fraction | float]) -> Fraction | float:
    """sum x / n; NaN beside a NaN or an infinity."""
    given = list(numbers)
    if any(isinstance(one, float) and not isfinite(one) for one in given):
        return nan
    return sum(map(Fraction, given)) / len(given)


def _mixed(
    dtype: str, before: float, momentum: float, statistic: Fraction | float | Unspecified
) -> float | Unspecified:
    """(1 - momentum) before + momentum statistic; of infinities P192."""
    if statistic is UNSPECIFIED or isinf(before) or isinf(momentum):
        return UNSPECIFIED
    if isnan(before) or isnan(momentum) or isinstance(statistic, float):
        return nan
    share = Fraction(momentum)
    moved = (1 - share) * Fraction(before) + share * statistic
    return round_ratio(dtype, moved.numerator, moved.denominator)
