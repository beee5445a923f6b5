"""Batch normalization with running statistics, which training moves."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from math import isinf

import numpy as np

from conform.interp.blocks.rows import Rows, by_rows
from conform.interp.formulas import moments
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.elementwise.combinations import wider
from conform.interp.ops.normalization.standardization import (
    batch_norm_of_batch,
    batch_norm_of_running,
    by_running_statistics,
    channels_of,
)
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.interp.traits import Updates
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format

MEAN, VARIANCE = 0, 1  # of a pair of moments


OF_BATCHES = {"accumulates": "input", "centred": True}
UPDATES = Updates(("running_mean", "running_var"), where="training", by=("momentum",))


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
    left = _left(input, running_mean, running_var, momentum)
    return *batch_norm_of_batch(input, weight, bias, training, eps), *left


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
    return result, *_left(input, running_mean, running_var, momentum)


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


def _left(
    input: np.ndarray, running_mean: np.ndarray | None, running_var: np.ndarray | None, momentum: float
) -> Iterator[Golden]:
    """The running statistics after the batch, of those that there are."""
    for running, which in ((running_mean, MEAN), (running_var, VARIANCE)):
        if running is not None:
            yield _statistic_left(input, running, momentum, which)


def _statistic_left(input: np.ndarray, running: np.ndarray, momentum: float, which: int) -> Golden:
    """The running statistic of every channel after the batch."""
    of_some = partial(_of_rows, format_of(running), held_format(format_of(input)), running, momentum, which)
    return reshaped(by_rows(of_some, channels_of(input)), running.shape)


def _of_rows(fmt: Format, compute: Format, running: np.ndarray, momentum: float, which: int, rows: Rows) -> Golden:
    before = running[rows.place, None].astype(np.float64)
    unbiased = rows.terms - 1

    def rational(index: tuple[int, ...]) -> Fraction:
        row, share = index[0], Fraction(momentum)
        is_mean = which == MEAN
        of_batch = moments.exact_mean(rows, row) if is_mean else moments.exact_variance(rows, row, Fraction(unbiased))
        return (1 - share) * Fraction(float(before[row, 0])) + share * of_batch

    with np.errstate(all="ignore"):
        exponent = moments.exponents(rows)
        of_batch = moments.of_reals(rows, Real.exact(np.float64(unbiased)), exponent)[which]
        power = 2 * exponent if which == VARIANCE else exponent
        share = Real.exact(np.float64(momentum))
        kept = (Real.exact(np.float64(1)) - share) * Real.exact(before).times_power_of_two(-power)
        is_number = rows.are_finite() & np.isfinite(before) & np.isfinite(momentum)
        real = where(is_number, (kept + share * of_batch).times_power_of_two(power), np.nan)
        value, real = decide_exactly(fmt, real, rational)
        ball = _ball(Ball.exact(before, compute), momentum, _balls(rows, compute)[which])
    golden = Golden.derived(fmt, value, real, ball, zero_sign_free=True)
    infinite = np.logical_or.reduce([np.isinf(piece).any(axis=1, keepdims=True) for piece in rows.pieces])
    is_open = np.isinf(before) | isinf(momentum) | (infinite if which == MEAN else unbiased == 0)
    return golden.opened(is_open, "P192")


def _balls(rows: Rows, compute: Format) -> tuple[Ball, Ball]:
    """The errors of the mean and of the unbiased variance, as a quotient or as the biased one times n / (n - 1)."""
    n = Ball.exact(np.float64(rows.terms), compute)
    mean, variance = moments.of_balls(rows, n - 1.0, compute)
    corrected = moments.of_balls(rows, n, compute)[1] * (n / (n - 1.0))
    return mean, wider(variance, corrected)


def _ball(before: Ball, momentum: float, of_batch: Ball) -> Ball:
    """The errors of (1 - momentum) * before + momentum * of_batch, or of before + momentum * (of_batch - before)."""
    share = before.constant(momentum)
    kept = before.constant(1.0) - share
    return wider(kept * before + share * of_batch, before + share * (of_batch - before))
