"""Group, batch and rms normalization."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.rows import Rows, by_elements_of_rows, by_rows, by_rows_each
from conform.interp.formulas import moments
from conform.interp.formulas.standardized import Standardized
from conform.interp.golden import Golden, Outcome
from conform.interp.operands import converted, steps_of
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.normalization.softmax import per_column, refused_beside
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.numerics.formats import Format, format_of

# Group normalization


@semantics("aten::native_group_norm", accumulates="input", centred=True)
def native_group_norm(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> Outcome:
    """((x - mean) * rstd * weight + bias, mean, rstd) with the mean and biased variance of each of the `group` groups
    of C / group channels of a sample; weight and bias are per channel (P54, P62)"""
    fmt = format_of(input)

    def of_rows(some: Rows) -> tuple[Iterator[Golden], Golden, Golden]:
        parameters = (per_group(some, parameter, group, HxW) for parameter in (weight, bias))
        norm = Standardized(some, *parameters, eps, moments.OfRows(some), folded=True)
        return norm.outputs(fmt), *norm.statistics(fmt)

    output, *statistics = by_rows_each(of_rows, Rows(input, N * group, C // group * HxW))
    goldens = reshaped(output, input.shape), *(reshaped(statistic, (N, group)) for statistic in statistics)
    return Outcome(goldens, refused_beside(input, weight, bias))


def per_group(rows: Rows, parameter: np.ndarray | None, group: int, places: int) -> Pieces[np.ndarray] | None:
    """A parameter of C channels beside the elements of each group, [C / group * places] of a sample."""
    if parameter is None:
        return None
    of_group = parameter.astype(np.float64).reshape(group, len(parameter) // group)

    def beside(some: slice, columns: slice) -> np.ndarray:
        channels = np.arange(columns.start, columns.stop) // places
        return of_group[np.arange(some.start, some.stop)[:, None] % group, channels]

    return rows.beside(beside)


# Batch normalization


MOMENTUM = ("momentum",)  # moves running statistics, which are no result of most overloads


@semantics("aten::_native_batch_norm_legit.no_stats", accumulates="input", centred=True, ignores=MOMENTUM)
def batch_norm_of_batch(
    input: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, training: bool, eps: float
) -> tuple[Golden, Golden, Golden]:
    """((x - mean) * invstd * weight + bias, mean, invstd) with the mean and biased variance of each channel, dim 1
    (P54, P62, P63)"""
    fmt = format_of(input)

    def of_rows(some: Rows) -> tuple[Iterator[Golden], Golden, Golden]:
        norm = _batch_norm(some, weight, bias, eps, moments.OfRows(some))
        return norm.outputs(fmt), *norm.statistics(fmt)

    output, *statistics = by_rows_each(of_rows, channels_of(input))
    return as_input(output, input), *(reshaped(statistic, input.shape[1:2]) for statistic in statistics)


@semantics("aten::_native_batch_norm_legit_no_training", ignores=MOMENTUM)
def batch_norm_of_running(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray,
    running_var: np.ndarray,
    eps: float,
) -> tuple[Golden, Golden, Golden]:
    """((x - running_mean) / sqrt(running_var + eps) * weight + bias, nothing, nothing) per channel, dim 1; as right are
    the statistics that were used, running_mean and 1 / sqrt(running_var + eps), for the two nothings (P54, P63)"""
    used = _nothing_or_used(format_of(input), running_mean, running_var, eps)
    return by_running_statistics(input, weight, bias, running_mean, running_var, eps), *used


def by_running_statistics(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray,
    running_var: np.ndarray,
    eps: float,
) -> Golden:
    """(x - running_mean) / sqrt(running_var + eps) * weight + bias per channel."""
    fmt = format_of(input)
    if input.size == 0:
        return exact(np.empty(input.shape, fmt.storage), fmt)

    def of_rows(some: Rows) -> Iterator[Golden]:
        given = _given(running_mean, running_var, some.place)
        pole = given.variance + eps == 0
        for piece in _batch_norm(some, weight, bias, eps, given).outputs(fmt):
            yield piece.opened(np.broadcast_to(pole, piece.value.shape), "P63")

    return as_input(by_elements_of_rows(of_rows, channels_of(input)), input)


def _given(mean: np.ndarray, variance: np.ndarray, place: slice) -> moments.Given:
    return moments.Given(*(each[place, None].astype(np.float64) for each in (mean, variance)))


def _nothing_or_used(fmt: Format, mean: np.ndarray, variance: np.ndarray, eps: float) -> tuple[Golden, Golden]:
    """(nothing, or the mean; nothing, or 1 / sqrt(variance + eps)), each in the compute type or the input's (P62)."""
    steps = steps_of(fmt)
    first, *others = (exact(np.empty(0, step.storage), step) for step in steps)
    of_channels = Rows(variance, len(variance), 1, lambda variances: np.zeros(variances.shape))

    def rstd(step: Format, some: Rows) -> Golden:
        given = _given(mean, variance, some.place)
        pole = given.variance + eps == 0
        return Standardized(some, None, None, eps, given).rstd_in(step).opened(pole, "P63")

    means = [exact(converted(mean, step), step) for step in steps]
    rstds = [reshaped(by_rows(partial(rstd, step), of_channels), variance.shape) for step in steps]
    return first.or_else(*others, *means), first.or_else(*others, *rstds)


def channels_of(input: np.ndarray) -> Rows:
    """A row for each channel, dim 1."""
    return Rows.over(input, (0, *range(2, input.ndim)))


def as_input(output: Golden, input: np.ndarray) -> Golden:
    """The elements of the channels, one after the other, where the input has them."""
    channels_first = input.swapaxes(0, 1).shape
    return output.rearranged(lambda part: part.reshape(channels_first).swapaxes(0, 1))


def _batch_norm(
    rows: Rows, weight: np.ndarray | None, bias: np.ndarray | None, eps: float, statistics: moments.Moments
) -> Standardized:
    """The standardized `rows`, channels, which have a weight and a bias each."""
    scale, shift = (None if p is None else per_channel(rows, p) for p in (weight, bias))
    return Standardized(rows, scale, shift, eps, statistics, folded=True)


def per_channel(rows: Rows, parameter: np.ndarray) -> Pieces[np.ndarray]:
    return rows.beside(lambda some, columns: parameter[some, None].astype(np.float64))


# Rms normalization


@semantics("aten::rms_norm", accumulates="input")
def rms_norm(
    input: np.ndarray, normalized_shape: Sequence[int], weight: np.ndarray | None = None, eps: float | None = None
) -> Golden:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions normalized_shape (P54, P64)"""
    first, *others = _rms_norms(input, normalized_shape, weight, eps)
    return first[0].or_else(*(output for output, _ in others))


@semantics("aten::_fused_rms_norm", accumulates="input")
def fused_rms_norm(
    input: np.ndarray, normalized_shape: Sequence[int], weight: np.ndarray | None, eps: float | None
) -> tuple[Golden, Golden]:
    """(x * rstd * weight, rstd) with rstd = 1 / sqrt(mean(x^2) + eps) over the last dimensions normalized_shape, which
    rstd keeps as 1 (P54, P62, P64)"""
    first, *others = _rms_norms(input, normalized_shape, weight, eps)
    return tuple(mine.or_else(*(pair[i] for pair in others)) for i, mine in enumerate(first))


def _rms_norms(
    input: np.ndarray, normalized_shape: Sequence[int], weight: np.ndarray | None, eps: float | None
) -> list[tuple[Golden, Golden]]:
    """(output, rstd) for every reading of eps."""
    fmt = format_of(input)
    readings = [eps] if eps is not None else [2.0 * step.unit_roundoff for step in reversed(steps_of(fmt))]
    leading = input.shape[: input.ndim - len(normalized_shape)]
    statistic_shape = (*leading, *[1] * len(normalized_shape))

    def of_rows(some: Rows, reading: float) -> tuple[Iterator[Golden], Golden]:
        norm = Standardized(some, per_column(some, weight), None, reading, moments.AboutZero(some))
        return norm.outputs(fmt), norm.rstds(fmt)

    rows = Rows(input, prod(leading), prod(normalized_shape))
    pairs = [by_rows_each(partial(of_rows, reading=reading), rows) for reading in readings]
    return [(reshaped(output, input.shape), reshaped(rstd, statistic_shape)) for output, rstd in pairs]
