"""Softmax, its logarithm, and layer normalization: one formula each, on reals for the golden, on balls for the
budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod

import numpy as np

from conform.errors import InvalidArguments
from conform.interp import log_sum_exp, moments
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden, Outcome
from conform.interp.numerics import functions
from conform.interp.numerics import multiprecision as mp
from conform.interp.numerics.ball import Ball
from conform.interp.numerics.escalate import resolved
from conform.interp.numerics.formats import FORMATS, Format, format_of
from conform.interp.numerics.real import Real
from conform.interp.operands import compute_format
from conform.interp.ops.elementwise import exact
from conform.interp.ops.reduction import reshaped
from conform.interp.promotion import category
from conform.interp.registry import semantics
from conform.interp.rows import by_rows, by_rows_each
from conform.interp.standardized import Standardized

# Softmax


def _softmax_formula(exp: Callable, x: object, largest: object) -> object:
    e = exp(x - largest)
    return e / e.sum(axis=-1, keepdims=True)


@semantics("aten::_softmax")
def softmax(self: np.ndarray, dim: int, half_to_float: bool) -> Outcome:
    """exp(x - max) / sum(exp(x - max)) along dim; in float32 for half input with half_to_float (P76)"""
    return _if_converted(_along(_softmax_rows, self, dim, half_to_float), half_to_float)


@semantics("aten::_log_softmax")
def log_softmax(self: np.ndarray, dim: int, half_to_float: bool) -> Outcome:
    """(x - max) - log(sum(exp(x - max))) along dim; in float32 for half input with half_to_float (P53, P54, P76)"""
    golden = replace(_along(_log_softmax_rows, self, dim, half_to_float), zero_sign_free=True)
    return _if_converted(golden, half_to_float)


def _if_converted(golden: Golden, half_to_float: bool) -> Outcome:
    return Outcome((golden,), refusal="P76" if half_to_float else None)


RowFunction = Callable[[Format, np.ndarray], Golden]


def _along(of_rows: RowFunction, self: np.ndarray, dim: int, half_to_float: bool) -> Golden:
    """The golden of `of_rows`, which takes rows [rows, n], along dim."""
    source, axis = format_of(self), wrap_dim(dim, self.ndim)
    if not source.is_float:
        raise InvalidArguments(f"softmax is not defined for {source.name}")
    if half_to_float and source.name not in ("float16", "bfloat16"):
        raise InvalidArguments(f"half_to_float expects a half input, got {source.name}")
    fmt = FORMATS["float32"] if half_to_float else source
    last = np.moveaxis(self.reshape(1) if self.ndim == 0 else self, axis, -1).astype(np.float64)
    if last.size == 0:
        return exact(np.empty(self.shape, fmt.storage), fmt)
    rows = np.ascontiguousarray(last).reshape(-1, last.shape[-1])
    golden = by_rows(lambda some: of_rows(fmt, rows[some]), rows.shape)
    return golden.rearranged(lambda part: np.moveaxis(part.reshape(last.shape), -1, axis).reshape(self.shape))


def _softmax_rows(fmt: Format, rows: np.ndarray) -> Golden:
    def formula(some: np.ndarray) -> np.ndarray:
        return _softmax_formula(mp.exp, mp.of_float(rows[some]), mp.of_float(largest[some]))

    with np.errstate(all="ignore"):
        largest = rows.max(axis=-1, keepdims=True)
        real = _softmax_formula(functions.exp, Real.exact(rows), Real.exact(largest))
    value, real = resolved(fmt, real, formula)
    compute = compute_format(fmt)
    ball = _softmax_formula(Ball.exp, Ball.exact(rows, compute), Ball.exact(largest, compute))
    return Golden(fmt, value, real, budget=ball.rad)


def _log_softmax_rows(fmt: Format, rows: np.ndarray) -> Golden:
    def formula(some: np.ndarray) -> np.ndarray:
        shifted, log_sum = log_sum_exp.of_mpmath(rows[some], fmt)
        return shifted - log_sum

    shifted, log_sum = log_sum_exp.of_reals(rows)
    value, real = resolved(fmt, shifted - log_sum, formula)
    shifted, log_sum = log_sum_exp.of_balls(rows, compute_format(fmt))
    return Golden(fmt, value, real, budget=(shifted - log_sum).rad)


# Layer normalization


@semantics("aten::native_layer_norm")
def native_layer_norm(
    input: np.ndarray,
    normalized_shape: Sequence[int],
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    eps: float,
) -> tuple[Golden, Golden, Golden]:
    """((x - mean) * rstd * weight + bias, mean, rstd) over the last dimensions normalized_shape, with the biased
    variance and rstd = 1 / sqrt(var + eps); mean and rstd keep those dimensions as 1 (P36 for their dtype)"""
    fmt = format_of(input)
    check_normalized("layer norm", input, normalized_shape, {"weight": weight, "bias": bias})
    leading = input.shape[: input.ndim - len(normalized_shape)]
    statistic_shape = (*leading, *[1] * len(normalized_shape))
    rows = input.reshape(prod(leading), prod(normalized_shape)).astype(np.float64)
    scale, shift = (None if p is None else p.reshape(-1).astype(np.float64) for p in (weight, bias))

    def of_rows(some: slice) -> tuple[Golden, ...]:
        norm = Standardized(rows[some], scale, shift, eps, moments.OfRows(rows[some]))
        return norm.golden("output", fmt), *norm.statistics(fmt)

    output, *statistics = by_rows_each(of_rows, rows.shape)
    return reshaped(output, input.shape), *(reshaped(statistic, statistic_shape) for statistic in statistics)


def check_normalized(
    name: str, input: np.ndarray, normalized_shape: Sequence[int], parameters: dict[str, np.ndarray | None]
) -> None:
    """InvalidArguments unless the last dimensions are normalized_shape, also the parameters' shape, of floats."""
    shape = tuple(normalized_shape)
    if not format_of(input).is_float:
        raise InvalidArguments(f"{name} is not defined for {format_of(input).name}")
    if not shape or input.shape[-len(shape) :] != shape:
        raise InvalidArguments(
            f"normalized_shape {list(shape)} is not the end of the input's shape {list(input.shape)}"
        )
    for parameter_name, parameter in parameters.items():
        if parameter is not None and parameter.shape != shape:
            raise InvalidArguments(f"{parameter_name} must have shape {list(shape)}, got {list(parameter.shape)}")
        if parameter is not None and category(format_of(parameter)) != 2:
            raise InvalidArguments(f"{parameter_name} must be floating point, got {format_of(parameter).name}")
