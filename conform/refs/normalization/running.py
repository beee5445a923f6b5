"""Batch norm with the running statistics that it leaves: the documented update on exact fractions, rounded once."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite, isinf, isnan, nan

from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.normalization.standardization import (
    batch_norm_by_running_statistics,
    batch_norm_of_the_batch,
    channel_groups,
    check_batch,
)
from conform.refs.reduction.statistics import variance
from conform.refs.references import reference


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
) -> tuple[RefTensor, RefTensor, RefTensor, RefTensor, RefTensor]:
    """The normalized input, the statistics that were saved, and the running statistics after the call."""
    check_batch(input, eps, weight=weight, bias=bias, running_mean=running_mean, running_var=running_var)
    if not training:
        results = batch_norm_by_running_statistics(input, weight, bias, running_mean, running_var, momentum, eps)
        return *results, running_mean, running_var
    results = batch_norm_of_the_batch(input, weight, bias, training, momentum, eps)
    channels = [[input.data[i] for i in places] for places in channel_groups(input)]
    means = [
        UNSPECIFIED if any(map(isinf, values)) else _moved(running_mean.dtype, before, momentum, _mean(values))
        for values, before in zip(channels, running_mean.data, strict=True)
    ]
    variances = [
        UNSPECIFIED if len(values) == 1 else _moved(running_var.dtype, before, momentum, variance(values, 1.0))
        for values, before in zip(channels, running_var.data, strict=True)
    ]
    shape = running_mean.shape
    return *results, RefTensor(running_mean.dtype, shape, means), RefTensor(running_var.dtype, shape, variances)


def _mean(values: list[float]) -> Fraction | float:
    """sum x / n; NaN beside a NaN."""
    return sum(map(Fraction, values)) / len(values) if all(map(isfinite, values)) else nan


def _moved(dtype: str, before: float, momentum: float, statistic: Fraction | float) -> float | Unspecified:
    """(1 - momentum) before + momentum statistic; of infinities P192."""
    if isinf(before) or isinf(momentum):
        return UNSPECIFIED
    if isnan(before) or isnan(momentum) or isinstance(statistic, float):
        return nan
    share = Fraction(momentum)
    moved = (1 - share) * Fraction(before) + share * statistic
    return round_ratio(dtype, moved.numerator, moved.denominator)
