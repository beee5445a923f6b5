"""Softmax, its logarithm, and layer normalization: one formula each, on reals for the golden, on balls for the
budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import prod

import numpy as np

from conform.interp.blocks.blocks import Pieces, flat
from conform.interp.blocks.rows import Rows, by_elements_of_rows, by_rows_each
from conform.interp.dims import wrap_dim
from conform.interp.formulas import log_sum_exp, moments
from conform.interp.formulas.standardized import Standardized
from conform.interp.golden import Golden, Outcome
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import resolved
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format
from conform.numerics.scaled import Scaled

# Softmax

@semantics("aten::_softmax", along="dim", accumulates="self", centred=True, exponentials=True)
def softmax(self: np.ndarray, dim: int, half_to_float: bool) -> Outcome:
    """exp(x - max) / sum(exp(x - max)) along dim; in float32 for half input with half_to_float (P76)"""
    return _if_converted(_along(_softmax_rows, self, dim, half_to_float), half_to_float)


@semantics("aten::_log_softmax", along="dim", accumulates="self", centred=True, exponentials=True)
def log_softmax(self: np.ndarray, dim: int, half_to_float: bool) -> Outcome:
    """(x - max) - log(sum(exp(x - max))) along dim; in float32 for half input with half_to_float (P53, P54, P76)"""
    golden = replace(_along(_log_softmax_rows, self, dim, half_to_float), zero_sign_free=True)
    return _if_converted(golden, half_to_float)


def _if_converted(golden: Golden, half_to_float: bool) -> Outcome:
    return Outcome((golden,), refusal="P76" if half_to_float else None)


RowFunction = Callable[[Format, Rows], Iterator[Golden]]


def _along(of_rows: RowFunction, self: np.ndarray, dim: int, half_to_float: bool) -> Golden:
    """The golden of `of_rows`, which gives that of each piece of rows, along dim."""
    source, axis = format_of(self), wrap_dim(dim, self.ndim)
    fmt = FORMATS["float32"] if half_to_float else source
    if self.size == 0:
        return exact(np.empty(self.shape, fmt.storage), fmt)
    operand = self.reshape(1) if self.ndim == 0 else self
    golden = by_elements_of_rows(lambda some: of_rows(fmt, some), Rows.over(operand, (axis,)))
    last = np.moveaxis(operand, axis, -1).shape
    return golden.rearranged(lambda part: np.moveaxis(part.reshape(last), -1, axis).reshape(self.shape))


def _softmax_rows(fmt: Format, rows: Rows) -> Iterator[Golden]:
    """e / sum(e) with e = exp(x - max); where e is below 2^-28 of the smallest number of the format, it is +0."""
    vanishing = np.log(fmt.min_subnormal) - 20
    largest, compute = rows.largest(), held_format(fmt)
    with np.errstate(all="ignore"):
        e = rows.pieces.map(lambda x: functions.exp(log_sum_exp.distance(x, largest)))
        balls = rows.pieces.map(lambda x: (Ball.exact(x, compute) - Ball.exact(largest, compute)).exp())
        total, total_ball = Real.total(e), Ball.total(balls)
        for x, numerator, ball in zip(rows.pieces, e, balls, strict=True):
            real = numerator / total
            vanishes = np.isfinite(real.hi) & (x - largest < vanishing)
            value, decided = resolved(fmt, where(vanishes, 0.0, real), partial(_mp_softmax, rows, largest, x))
            real = where(vanishes, where(np.isinf(real.radius), _below_float64(real), real), decided)
            yield Golden.derived(fmt, value, real, ball / total_ball)


def _below_float64(like: Real) -> Real:
    """What is positive and less than 2^-1074, as far as that is known: x - max left float64's range."""
    zeros = np.zeros_like(like.hi)
    return Real(zeros, zeros, np.full_like(zeros, 2.0**-1074))


def _mp_softmax(rows: Rows, largest: np.ndarray, x: np.ndarray, some: np.ndarray) -> np.ndarray:
    """The softmax of the rows `some` in the piece x of the rows, at rising precision."""
    taken_out = mp.of_float(largest[some])
    total = sum(mp.exp(mp.of_float(piece[some]) - taken_out).sum(axis=1, keepdims=True) for piece in rows.pieces)
    return mp.exp(mp.of_float(x[some]) - taken_out) / total


def _log_softmax_rows(fmt: Format, rows: Rows) -> Iterator[Golden]:
    shifted, log_sum = log_sum_exp.of_reals(rows)
    balls, log_sum_ball = log_sum_exp.of_balls(rows, held_format(fmt))
    largest = rows.largest()
    for x, real, ball in zip(rows.pieces, shifted, balls, strict=True):
        far, value_far, real_far = log_sum_exp.far_below(fmt, x, largest, log_sum)
        difference, formula = where(far, 0.0, real - log_sum), partial(_mp_log_softmax, rows, x)
        value, real = resolved(fmt, difference, formula, scaled=partial(_of_largest, rows, x))
        value, real = np.where(far, value_far, value), where(far, real_far, real)
        golden = Golden.derived(fmt, value, real, ball - log_sum_ball)
        yield _or_beside_infinity(x, largest, golden)


def _or_beside_infinity(x: np.ndarray, largest: np.ndarray, golden: Golden) -> Golden:
    """P53: beside +inf, x - logsumexp(x) of any other number is -inf."""
    beside = (largest == np.inf) & (x < np.inf)
    if not beside.any():
        return golden
    value = np.where(beside, golden.format.storage.type(-np.inf), golden.value)
    return golden.or_else(replace(golden, value=value, real=where(beside, -np.inf, golden.real)))


def _of_largest(rows: Rows, x: np.ndarray) -> Scaled:
    """The logarithm of the softmax of the largest elements in the piece x, where it is tiny."""
    return (-log_sum_exp.faint(rows)).broadcast_to(x.shape).known_where(x == rows.largest())


def _mp_log_softmax(rows: Rows, x: np.ndarray, some: np.ndarray) -> np.ndarray:
    """The logarithm of the softmax of the rows `some` in the piece x of the rows, at rising precision."""
    taken_out = [log_sum_exp.of_numbers(rows.row(row)) for row in some]
    largest, log_sum = (np.array(each, dtype=object)[:, None] for each in zip(*taken_out, strict=True))
    return (mp.of_float(x[some]) - largest) - log_sum


# Layer normalization


@semantics("aten::native_layer_norm", accumulates="input", centred=True)
def native_layer_norm(
    input: np.ndarray,
    normalized_shape: Sequence[int],
    weight: np.ndarray | None,
    bias: np.ndarray | None,
    eps: float,
) -> Outcome:
    """((x - mean) * rstd * weight + bias, mean, rstd) over the last dimensions normalized_shape, with the biased
    variance and rstd = 1 / sqrt(var + eps); mean and rstd keep those dimensions as 1 (P36 for their dtype, P62)"""
    fmt = format_of(input)
    leading = input.shape[: input.ndim - len(normalized_shape)]
    statistic_shape = (*leading, *[1] * len(normalized_shape))

    def of_rows(some: Rows) -> tuple[Iterator[Golden], Golden, Golden]:
        norm = Standardized(some, per_column(some, weight), per_column(some, bias), eps, moments.OfRows(some))
        return norm.outputs(fmt), *norm.statistics(fmt)

    output, *statistics = by_rows_each(of_rows, Rows(input, prod(leading), prod(normalized_shape)))
    reshaped_statistics = (reshaped(statistic, statistic_shape) for statistic in statistics)
    return Outcome((reshaped(output, input.shape), *reshaped_statistics), refused_beside(input, weight, bias))


def refused_beside(input: np.ndarray, *parameters: np.ndarray | None) -> str | None:
    """The rule by which a backend may refuse parameters of another dtype than the input's (P62)."""
    return "P62" if any(one is not None and one.dtype != input.dtype for one in parameters) else None


def per_column(rows: Rows, parameter: np.ndarray | None) -> Pieces[np.ndarray] | None:
    """A parameter that has an element for each column."""
    if parameter is None:
        return None
    return rows.beside(lambda some, columns: flat(parameter, columns).astype(np.float64))
