"""Batch and instance normalization with running statistics, which training moves."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.normalization.composites import group_norm
from conform.interp.ops.normalization.moving import left
from conform.interp.ops.normalization.standardization import (
    batch_norm_of_batch,
    batch_norm_of_running,
    by_running_statistics,
)
from conform.interp.semantics import semantics
from conform.interp.traits import Updates
from conform.numerics.formats import format_of

OF_BATCHES = {"accumulates": "input", "centred": True}
STATISTICS, MOMENTUM = ("running_mean", "running_var"), ("momentum",)
UPDATES = Updates(STATISTICS, where="training", by=MOMENTUM)


@semantics("aten::native_batch_norm", "aten::_native_batch_norm_legit", **OF_BATCHES, updates=UPDATES)
def native_batch_norm(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray | None,
    running_var: np.ndarray | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Golden, ...]:
    """training: _native_batch_norm_legit.no_stats, by the mean and biased variance of each channel of the batch, after
    which the running statistics are (1 - momentum) * running + momentum * that of the batch, its mean and its unbiased
    variance; else _native_batch_norm_legit_no_training, by the running ones (P54, P62, P63, P192)"""
    if not training:
        return batch_norm_of_running(input, weight, bias, running_mean, running_var, eps)
    moved = left(input, running_mean, running_var, momentum)
    return *batch_norm_of_batch(input, weight, bias, training, eps), *moved


@semantics("aten::batch_norm", **OF_BATCHES, updates=UPDATES)
def batch_norm(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray | None,
    running_var: np.ndarray | None,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Golden, ...]:
    """The first result of native_batch_norm, and the running statistics after it (P54, P63, P192)"""
    if not training:
        return (by_running_statistics(input, weight, bias, running_mean, running_var, eps),)
    result, *_ = batch_norm_of_batch(input, weight, bias, training, eps)
    return result, *left(input, running_mean, running_var, momentum)


@semantics("aten::_native_batch_norm_legit_functional", **OF_BATCHES)
def _native_batch_norm_legit_functional(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray,
    running_var: np.ndarray,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Golden, ...]:
    """The results of native_batch_norm, and the running statistics after it as results, without training as they were
    (P54, P62, P63, P192)"""
    results = native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    if training:
        return results
    return *results, *(exact(converted(each, format_of(each)), format_of(each)) for each in (running_mean, running_var))


@semantics("aten::instance_norm", **OF_BATCHES, updates=Updates(STATISTICS, where="use_input_stats", by=MOMENTUM))
def instance_norm(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray | None,
    running_var: np.ndarray | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
) -> tuple[Golden, ...]:
    """(x - mean) / sqrt(var + eps) * weight + bias over each channel, dim 1, of each sample, with the biased variance,
    and the means over the samples of the running statistics that batch norm of each would leave; without
    use_input_stats by the running statistics of the channels (P54, P63, P192)"""
    if not use_input_stats:
        return (by_running_statistics(input, weight, bias, running_mean, running_var, eps),)
    result = group_norm(input, input.shape[1], weight, bias, eps).goldens[0]
    return result, *left(input, running_mean, running_var, momentum, by_samples=True)
