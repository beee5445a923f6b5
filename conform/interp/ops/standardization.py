"""Group, batch and rms normalization."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp import moments
from conform.interp.golden import Golden
from conform.interp.numerics.formats import Format, format_of
from conform.interp.operands import steps_of
from conform.interp.ops.elementwise import exact
from conform.interp.ops.normalization import check_normalized
from conform.interp.ops.reduction import reshaped
from conform.interp.promotion import category
from conform.interp.registry import semantics
from conform.interp.rows import by_rows, by_rows_each
from conform.interp.standardized import Standardized

# Group normalization


@semantics("aten::native_group_norm")
def native_group_norm(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Golden, Golden, Golden]:
    """((x - mean) * rstd * weight + bias, mean, rstd) with the mean and biased variance of each of the `group` groups
    of C / group channels of a sample; weight and bias are per channel (P54, P62)"""
    fmt = format_of(input)
    _check_float("group norm", fmt)
    _check_channels({"weight": weight, "bias": bias}, C)
    if group < 1 or C % group or input.ndim < 2 or input.shape[:2] != (N, C) or input.size != N * C * HxW:
        raise InvalidArguments(f"group norm of {list(input.shape)}: N={N}, C={C}, HxW={HxW}, group={group} do not fit")
    if C * HxW == 0:
        raise Unjudged("no semantics for group norm of groups without elements")
    rows = input.reshape(N * group, C // group * HxW).astype(np.float64)
    scale, shift = (None if p is None else _per_group(p, N, group, HxW) for p in (weight, bias))

    def of_rows(some: slice) -> tuple[Golden, ...]:
        parameters = (None if p is None else p[some] for p in (scale, shift))
        norm = Standardized(rows[some], *parameters, eps, moments.OfRows(rows[some]), folded=True)
        return norm.golden("output", fmt), *norm.statistics(fmt)

    output, *statistics = by_rows_each(of_rows, rows.shape)
    return reshaped(output, input.shape), *(reshaped(statistic, (N, group)) for statistic in statistics)


def _per_group(parameter: np.ndarray, samples: int, group: int, places: int) -> np.ndarray:
    """[samples * group, C / group * places]: a parameter of C channels beside the elements of each group."""
    spread = np.repeat(parameter.astype(np.float64), places).reshape(group, len(parameter) // group * places)
    return np.tile(spread, (samples, 1))


def _check_float(name: str, fmt: Format) -> None:
    if not fmt.is_float:
        raise InvalidArguments(f"{name} is not defined for {fmt.name}")


def _check_channels(parameters: dict[str, np.ndarray | None], channels: int) -> None:
    for name, parameter in parameters.items():
        if parameter is not None and parameter.shape != (channels,):
            raise InvalidArguments(f"{name} must have shape [{channels}], got {list(parameter.shape)}")
        if parameter is not None and category(format_of(parameter)) != 2:
            raise InvalidArguments(f"{name} must be floating point, got {format_of(parameter).name}")


# Batch normalization


@semantics("aten::_native_batch_norm_legit.no_stats")
def batch_norm_of_batch(
    input: np.ndarray, weight: np.ndarray | None, bias: np.ndarray | None, training: bool, eps: float
) -> tuple[Golden, Golden, Golden]:
    """((x - mean) * invstd * weight + bias, mean, invstd) with the mean and biased variance of each channel, dim 1
    (P54, P62, P63)"""
    rows, back = _channel_rows(input, {"weight": weight, "bias": bias})
    if not training or rows.size == 0:
        raise InvalidArguments("batch norm without running statistics needs training=True and a batch with elements")
    fmt = format_of(input)

    def of_rows(some: slice) -> tuple[Golden, ...]:
        norm = _batch_norm(rows[some], weight, bias, some, eps, moments.OfRows(rows[some]))
        return norm.golden("output", fmt), *norm.statistics(fmt)

    output, *statistics = by_rows_each(of_rows, rows.shape)
    return output.rearranged(back), *(reshaped(statistic, (len(rows),)) for statistic in statistics)


@semantics("aten::_native_batch_norm_legit_no_training")
def batch_norm_of_running(
    input: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    running_mean: np.ndarray,
    running_var: np.ndarray,
    eps: float,
) -> tuple[Golden, Golden, Golden]:
    """((x - running_mean) / sqrt(running_var + eps) * weight + bias, nothing, nothing) per channel, dim 1 (P54, P63)"""
    parameters = {"weight": weight, "bias": bias, "running_mean": running_mean, "running_var": running_var}
    rows, back = _channel_rows(input, parameters)
    fmt = format_of(input)
    empty = [exact(np.empty(0, step.storage), step) for step in steps_of(fmt)]
    nothing = empty[0].or_else(*empty[1:])
    if rows.size == 0:
        return exact(np.empty(input.shape, fmt.storage), fmt), nothing, nothing
    mean, variance = (p.astype(np.float64)[:, None] for p in (running_mean, running_var))

    def of_rows(some: slice) -> Golden:
        given = moments.Given(mean[some], variance[some])
        return _batch_norm(rows[some], weight, bias, some, eps, given).golden("output", fmt)

    output = by_rows(of_rows, rows.shape)
    pole = np.broadcast_to(variance + eps == 0, rows.shape)
    return output.opened(pole, "P63").rearranged(back), nothing, nothing


def _channel_rows(
    input: np.ndarray, parameters: dict[str, np.ndarray | None]
) -> tuple[np.ndarray, Callable[[np.ndarray], np.ndarray]]:
    """(a row for each channel, dim 1; the function that puts such rows back into the input's shape)."""
    _check_float("batch norm", format_of(input))
    if input.ndim < 2:
        raise InvalidArguments(f"batch norm expects at least 2 dimensions, got {list(input.shape)}")
    _check_channels(parameters, input.shape[1])
    channels_first = input.swapaxes(0, 1)
    rows = channels_first.reshape(input.shape[1], prod(input.shape[:1] + input.shape[2:])).astype(np.float64)
    return rows, lambda part: part.reshape(channels_first.shape).swapaxes(0, 1)


def _batch_norm(
    rows: np.ndarray,
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    some: slice,
    eps: float,
    statistics: moments.Moments,
) -> Standardized:
    """The standardized `rows`: those of `some` of the channels, which have a weight and a bias each."""
    scale, shift = (None if p is None else p[some].astype(np.float64)[:, None] for p in (weight, bias))
    return Standardized(rows, scale, shift, eps, statistics, folded=True)


# Rms normalization


@semantics("aten::rms_norm")
def rms_norm(
    input: np.ndarray, normalized_shape: Sequence[int], weight: np.ndarray | None = None, eps: float | None = None
) -> Golden:
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions normalized_shape (P54, P64)"""
    first, *others = _rms_norms(input, normalized_shape, weight, eps)
    return first[0].or_else(*(output for output, _ in others))


@semantics("aten::_fused_rms_norm")
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
    check_normalized("rms norm", input, normalized_shape, {"weight": weight})
    fmt = format_of(input)
    if weight is not None and format_of(weight) != fmt:
        raise Unjudged(f"no semantics for rms norm of {fmt.name} with a {format_of(weight).name} weight")
    readings = [eps] if eps is not None else [2.0 * step.unit_roundoff for step in reversed(steps_of(fmt))]
    leading = input.shape[: input.ndim - len(normalized_shape)]
    rows = input.reshape(prod(leading), prod(normalized_shape)).astype(np.float64)
    scale = None if weight is None else weight.reshape(-1).astype(np.float64)
    statistic_shape = (*leading, *[1] * len(normalized_shape))

    def of_rows(some: slice, reading: float) -> tuple[Golden, Golden]:
        norm = Standardized(rows[some], scale, None, reading, moments.AboutZero(rows[some]))
        return norm.golden("output", fmt), norm.rstd(fmt)

    pairs = [by_rows_each(partial(of_rows, reading=reading), rows.shape) for reading in readings]
    return [(reshaped(output, input.shape), reshaped(rstd, statistic_shape)) for output, rstd in pairs]
