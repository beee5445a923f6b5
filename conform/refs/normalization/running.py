"""Batch norm with the running statistics that it leaves: the documented update on exact fractions, rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, isinf, isnan, nan

from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
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
        return *results, *_left(input, running_mean, running_var, momentum)
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


def check_running(input: RefTensor, *statistics: RefTensor | None) -> None:
    """ValueError for a running statistic that is not of floats, one a channel."""
    for statistic in statistics:
        if statistic is not None and (statistic.shape != input.shape[1:2] or statistic.dtype not in FLOAT_FORMATS):
            raise ValueError(f"a running statistic of {input.shape} is of {statistic.dtype} {statistic.shape}")


def _left(
    input: RefTensor, running_mean: RefTensor | None, running_var: RefTensor | None, momentum: float
) -> list[RefTensor]:
    """What training leaves in the running statistics: the biased variance normalizes, the unbiased one stays."""
    check_running(input, running_mean, running_var)
    channels = [[input.data[i] for i in places] for places in channel_groups(input)]
    left = []
    if running_mean is not None:
        means = [UNSPECIFIED if any(map(isinf, values)) else _mean(values) for values in channels]
        left.append(_moved(running_mean, momentum, means))
    if running_var is not None:
        variances = [UNSPECIFIED if len(values) == 1 else variance(values, 1.0) for values in channels]
        left.append(_moved(running_var, momentum, variances))
    return left


def _moved(running: RefTensor, momentum: float, statistics: list[Fraction | float | Unspecified]) -> RefTensor:
    pairs = zip(running.data, statistics, strict=True)
    return RefTensor(running.dtype, running.shape, [_mixed(running.dtype, each, momentum, its) for each, its in pairs])


def _mean(values: list[float]) -> Fraction | float:
    """sum x / n; NaN beside a NaN."""
    return sum(map(Fraction, values)) / len(values) if all(map(isfinite, values)) else nan


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
