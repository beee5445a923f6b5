"""Gradients of softmax and log_softmax from their results: rational functions, and an exponential, of the operands.

Where a result depends on a NaN it is NaN, where it depends on an infinity it is open (P132).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np

from conform.interp.blocks.rows import Rows, by_elements_of_rows
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.normalization.gradient_rows import (
    any_of,
    finite_part,
    of_finite,
    rows_beside,
    with_special,
    worse_of,
)
from conform.interp.semantics import semantics
from conform.numerics import multiprecision as mp
from conform.numerics.accumulate import exact_dot, exact_total
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly, resolved
from conform.numerics.formats import Format, format_named
from conform.numerics.functions import exp
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format


@semantics("aten::_softmax_backward_data", along="dim", accumulates="grad_output")
def softmax_backward(grad_output: np.ndarray, output: np.ndarray, dim: int, input_dtype: str) -> Golden:
    """output * (grad_output - sum(grad_output * output)) along dim, in input_dtype (P54, P132)"""
    return _along(_softmax_rows, grad_output, output, dim, input_dtype)


@semantics("aten::_log_softmax_backward_data", along="dim", accumulates="grad_output")
def log_softmax_backward(grad_output: np.ndarray, output: np.ndarray, dim: int, input_dtype: str) -> Golden:
    """grad_output - exp(output) * sum(grad_output) along dim, in input_dtype (P54, P132)"""
    return _along(_log_softmax_rows, grad_output, output, dim, input_dtype)


def _along(
    of_rows: Callable[[Format, Rows, Rows], Iterator[Golden]],
    grad: np.ndarray,
    output: np.ndarray,
    dim: int,
    dtype: str,
) -> Golden:
    fmt, axis = format_named(dtype), wrap_dim(dim, grad.ndim)
    if grad.size == 0:
        return exact(np.empty(grad.shape, fmt.storage), fmt)
    grads, outputs = (Rows.over(each.reshape(each.shape or (1,)), (axis,)) for each in (grad, output))
    golden = by_elements_of_rows(lambda some: of_rows(fmt, some, rows_beside(some, outputs)), grads)
    last = np.moveaxis(grad.reshape(grad.shape or (1,)), axis, -1).shape
    return golden.rearranged(lambda part: np.moveaxis(part.reshape(last), -1, axis).reshape(grad.shape))


def _softmax_rows(fmt: Format, grads: Rows, outputs: Rows) -> Iterator[Golden]:
    compute = held_format(fmt)
    products = grads.pieces.map(lambda g, y: Real.exact(finite_part(g)) * Real.exact(finite_part(y)), outputs.pieces)
    total = Real.total(products)
    balls = grads.pieces.map(lambda g, y: Ball.exact(finite_part(g), compute) * Ball.exact(finite_part(y), compute),
                             outputs.pieces)  # fmt: skip
    total_ball = Ball.total(balls)
    nan, infinite = (any_of(holds, grads.pieces, outputs.pieces) for holds in (np.isnan, np.isinf))

    @cache
    def of_row(row: int) -> Fraction:
        pairs = zip(grads.row(row), outputs.row(row), strict=True)
        return sum((exact_dot(g, y) for g, y in pairs), Fraction(0))

    for g, y, product in zip(grads.pieces, outputs.pieces, balls, strict=True):
        g, y = finite_part(g), finite_part(y)
        exactly = lambda index, g=g, y=y: Fraction(y[index]) * (Fraction(g[index]) - of_row(index[0]))  # noqa: E731
        value, real = decide_exactly(fmt, Real.exact(y) * (Real.exact(g) - total), of_finite(exactly, nan, infinite))
        of_y = Ball.exact(y, compute)
        ball = worse_of(of_y * (Ball.exact(g, compute) - total_ball), product - of_y * total_ball)
        yield with_special(Golden.derived(fmt, value, real, ball, zero_sign_free=True), nan, infinite)


def _log_softmax_rows(fmt: Format, grads: Rows, outputs: Rows) -> Iterator[Golden]:
    compute = held_format(fmt)
    total = Real.total(grads.pieces.map(lambda g: Real.exact(finite_part(g))))
    total_ball = Ball.total(grads.pieces.map(lambda g: Ball.exact(finite_part(g), compute)))
    nan, infinite = (any_of(holds, grads.pieces) for holds in (np.isnan, np.isinf))

    @cache
    def of_row(row: int) -> Fraction:
        return Fraction(0) if (nan | infinite)[row, 0] else sum(map(exact_total, grads.row(row)), Fraction(0))

    for g, y in zip(grads.pieces, outputs.pieces, strict=True):
        nan_here, infinite_here = nan | np.isnan(y), infinite | (y == np.inf)
        g, y = finite_part(g), np.where(np.isnan(y) | (y == np.inf), 0.0, y)

        def rational(index: tuple[int, int], g: np.ndarray = g, y: np.ndarray = y) -> Fraction | None:
            sums = of_row(index[0])
            power = {0.0: 1, -np.inf: 0}.get(float(y[index]), None if sums else 0)
            return None if power is None else Fraction(g[index]) - power * sums

        def formula(rows: np.ndarray, g: np.ndarray = g, y: np.ndarray = y) -> np.ndarray:
            sums = mp.of_fraction(np.array([[of_row(row)] for row in rows], dtype=object))
            return mp.of_float(g[rows]) - mp.exp(mp.of_float(np.maximum(y[rows], -4000.0))) * sums

        with np.errstate(all="ignore"):
            power = where(y == -np.inf, 0.0, exp(Real.exact(np.where(y == -np.inf, 0.0, y))))
        value, real = resolved(fmt, Real.exact(g) - power * total, formula, rational)
        ball = Ball.exact(g, compute) - Ball.exact(y, compute).exp() * total_ball
        yield with_special(Golden.derived(fmt, value, real, ball, zero_sign_free=True), nan_here, infinite_here)
