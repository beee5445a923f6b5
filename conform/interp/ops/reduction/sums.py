"""Sums, products, running sums and logarithms of sums of exponentials over dimensions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import prod

import numpy as np

from conform.interp.blocks.blocks import spans
from conform.interp.blocks.rows import Rows, by_elements_of_rows, by_rows, reduced_shape
from conform.interp.dims import reduced_axes, wrap_dim
from conform.interp.formulas import log_sum_exp
from conform.interp.golden import Golden
from conform.interp.operands import conversions, converted, refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import category, float_result
from conform.interp.semantics import semantics
from conform.numerics import accumulate
from conform.numerics.accumulate import Accumulated
from conform.numerics.ball import Ball
from conform.numerics.digits import decide_digits, dots
from conform.numerics.escalate import decide_exactly, resolved
from conform.numerics.formats import FORMATS, Format, compute_format, format_named, format_of
from conform.numerics.grid import common_grid
from conform.numerics.product import BEYOND, exact_product, held_apart, product
from conform.numerics.real import Real, where
from conform.numerics.rounding import in_integer_range
from conform.numerics.rounding_errors import accumulator_of, growth, held_format, underflow


def accumulation(fmt: Format, total: Accumulated, exact_sum: Callable[[tuple[int, ...]], Fraction]) -> Golden:
    """A sum as a golden: its zero sign is free (P3), and where some order can overflow the compute type it is open
    (P35)."""
    return sums_of(fmt, total, *accumulate.decide_sum(fmt, total, exact_sum))


def sums_of(fmt: Format, total: Accumulated, value: np.ndarray, real: Real) -> Golden:
    """The sums `total`, which were found to be `real`, and `value` rounded, as a golden: see `accumulation`."""
    golden = Golden(fmt, value, real, total.terms, total.magnitude, zero_sign_free=True)
    return golden.opened(overflowing(fmt, total), "P35")


def overflowing(fmt: Format, total: Accumulated) -> np.ndarray:
    """Where the finite terms can overflow the compute type in some order; a NaN term makes any order NaN."""
    return (total.magnitude > accumulator_of(held_format(fmt)).max_finite) & ~np.isnan(total.real.hi)


def sum_format(self: np.ndarray, dtype: str | None) -> Format:
    """What self is summed in: `dtype`, else int64 for bools and integers, else its own."""
    fmt = format_of(self)
    return format_named(dtype) if dtype else FORMATS["int64"] if category(fmt) < 2 else fmt


def converted_rows(self: np.ndarray, axes: tuple[int, ...], fmt: Format) -> Rows:
    """The rows of self, converted to the float format `fmt`."""
    return Rows.over(self, axes, lambda some: converted(some, fmt).astype(np.float64))


def of_conversions(of_rows: Callable[[Rows], Golden], self: np.ndarray, axes: tuple[int, ...], fmt: Format) -> Golden:
    """The golden of self's rows, whose elements are rounded to the float format `fmt` first, or to its compute type
    alone (P84)."""
    steps = conversions(format_of(self), fmt)
    first, *others = (by_rows(of_rows, converted_rows(self, axes, step)) for step in steps)
    return first.or_else(*others)


def _not_held(self: np.ndarray, fmt: Format) -> np.ndarray:
    """Where the conversion before a sum has no result (P13)."""
    is_cast = format_of(self).is_float and fmt.is_integer
    return ~in_integer_range(self, fmt) if is_cast else np.zeros(self.shape, bool)


@semantics("aten::sum", accumulates="self")
def sum_(self: np.ndarray, dtype: str | None = None) -> Golden:
    """The sum of all elements"""
    return sum_over(self, None, False, dtype)


@semantics("aten::sum.dim_IntList", along="dim", accumulates="self")
def sum_over(self: np.ndarray, dim: Sequence[int] | None, keepdim: bool = False, dtype: str | None = None) -> Golden:
    """The sum over dim (all dimensions if None or empty), of elements converted to dtype first (P84)"""
    fmt, axes = sum_format(self, dtype), reduced_axes(dim, self.ndim)
    if fmt.is_float:
        golden = of_conversions(partial(sum_of_rows, fmt), self, axes, fmt)
    else:
        golden = _folded(self, axes, fmt, np.logical_or if fmt.kind == "bool" else np.add)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def sum_of_rows(fmt: Format, rows: Rows) -> Golden:
    total, one = accumulate.total_of(rows.pieces), np.ones((1, 1))
    exact_sums = lambda index: dots((piece[index[0]].T, one) for piece in rows.pieces)  # noqa: E731
    golden = sums_of(fmt, total, *decide_digits(fmt, total.real, total.terms, exact_sums))
    return golden.on_grid(common_grid(compute_format(fmt), rows.pieces))


def _folded(self: np.ndarray, axes: tuple[int, ...], fmt: Format, operation: np.ufunc) -> Golden:
    """The elements over `axes`, converted to `fmt`, which is no float format, and then joined by `operation`."""

    def of_rows(rows: Rows) -> Golden:
        own = [operation.reduce(converted(piece, fmt), axis=1, dtype=fmt.storage) for piece in rows.pieces]
        not_held = [_not_held(piece, fmt).any(axis=1) for piece in rows.pieces]
        with np.errstate(over="ignore"):
            folded = operation.reduce(np.array(own), axis=0, dtype=fmt.storage)
        return exact(folded, fmt).opened(np.logical_or.reduce(not_held), "P13")

    return by_rows(of_rows, Rows.over(self, axes, lambda some: some))


def reshaped(golden: Golden, shape: tuple[int, ...]) -> Golden:
    """The golden with its elements in another shape."""
    return golden.rearranged(lambda part: part.reshape(shape))


@semantics("aten::cumsum", along="dim", accumulates="self")
def cumsum(self: np.ndarray, dim: int, dtype: str | None = None) -> Golden:
    """result[i] = self[0] + ... + self[i] along dim, of elements converted to dtype first (P84)"""
    fmt = sum_format(self, dtype)
    if self.ndim == 0:
        return exact(converted(self, fmt), fmt, zero_sign_free=fmt.is_float).opened(_not_held(self, fmt), "P13")
    return running(self, dim, fmt, _running_sums, np.add)


Running = Callable[[Format, Rows], Iterator[Golden]]  # of rows, piece by piece, what their elements so far come to


def running(self: np.ndarray, dim: int, fmt: Format, of_floats: Running, operation: np.ufunc) -> Golden:
    """What the elements up to and with each place along dim come to, converted to `fmt` first (P84): of integers by
    `operation`."""
    axis, lines = wrap_dim(dim, self.ndim), self.reshape(1) if self.ndim == 0 else self
    if fmt.is_float:
        rows = [converted_rows(lines, (axis,), step) for step in conversions(format_of(self), fmt)]
        first, *others = (by_elements_of_rows(partial(of_floats, fmt), each) for each in rows)
        golden = first.or_else(*others)
    else:
        rows = Rows.over(lines, (axis,), lambda some: some)
        golden = by_elements_of_rows(partial(_running_integers, operation, fmt), rows)
    last = np.moveaxis(lines, axis, -1).shape
    return golden.rearranged(lambda part: np.moveaxis(part.reshape(last), -1, axis).reshape(self.shape))


def _running_integers(operation: np.ufunc, fmt: Format, rows: Rows) -> Iterator[Golden]:
    before = np.full((rows.count, 1), operation.identity, fmt.storage)
    not_held = np.zeros((rows.count, 1), bool)
    for piece in rows.pieces:
        with np.errstate(over="ignore"):
            results = operation(before, operation.accumulate(converted(piece, fmt), 1, dtype=fmt.storage))
        open_ = not_held | np.logical_or.accumulate(_not_held(piece, fmt), 1)
        yield exact(results, fmt).opened(open_, "P13")
        before, not_held = results[:, -1:], open_[:, -1:]


def _running_sums(fmt: Format, rows: Rows) -> Iterator[Golden]:
    beginnings, grid = Beginnings(rows), common_grid(compute_format(fmt), rows.pieces)
    grid = None if grid is None else grid[:, None]
    for columns, sums in zip(rows.columns, accumulate.running_of(rows.pieces), strict=True):
        golden = accumulation(fmt, sums, partial(beginnings.exact, columns.start)).on_grid(grid)
        yield replace(golden, terms=np.broadcast_to(sums.terms, sums.real.shape))


class Beginnings:
    """Exact sums, or by `of_part` and `join` products, of the beginnings of rows: of one row after the other, each from
    the one before it."""

    def __init__(
        self,
        rows: Rows,
        of_part: Callable[[np.ndarray], Fraction] = accumulate.exact_total,
        join: Callable[[Fraction, Fraction], Fraction] = operator.add,
    ) -> None:
        self.rows, self.of_part, self.join = rows, of_part, join
        self.row, self.count, self.result = -1, 0, of_part(np.empty(0))

    def exact(self, start: int, index: tuple[int, int]) -> Fraction:
        """The result of a row up to and with the column index[1] of the piece that starts at `start`."""
        row, count = index[0], start + index[1] + 1
        if row != self.row or count < self.count:
            self.row, self.count, self.result = row, 0, self.of_part(np.empty(0))
        for more in spans(count - self.count):
            columns = slice(self.count + more.start, self.count + more.stop)
            self.result = self.join(self.result, self.of_part(self.rows.part(row, columns)))
        self.count = count
        return self.result


# Products


@semantics("aten::prod")
def prod_all(self: np.ndarray, dtype: str | None = None) -> Golden:
    """The product of all elements, converted to dtype first (P61, P84)"""
    return _product(self, tuple(range(self.ndim)), False, dtype)


@semantics("aten::prod.dim_int", along="dim")
def prod_over(self: np.ndarray, dim: int, keepdim: bool = False, dtype: str | None = None) -> Golden:
    """The product along dim, of elements converted to dtype first (P61, P84)"""
    axis = wrap_dim(dim, self.ndim)
    return _product(self, (axis,) if self.ndim else (), keepdim, dtype)


def _product(self: np.ndarray, axes: tuple[int, ...], keepdim: bool, dtype: str | None) -> Golden:
    fmt = sum_format(self, dtype)
    if fmt.is_float:
        golden = of_conversions(partial(float_product, fmt), self, axes, fmt)
    else:
        golden = _folded(self, axes, fmt, np.logical_and if fmt.kind == "bool" else np.multiply)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def float_product(fmt: Format, rows: Rows) -> Golden:
    """The budget |y| ((1 + u)^(n - 1) - 1) is that of n - 1 rounded products in any order (Higham, lemma 3.1)."""
    compute, products = accumulator_of(held_format(fmt)), max(rows.terms - 1, 0)
    is_special, special = _special_product(rows)
    factors = rows.pieces.map(lambda piece: np.where(is_special[:, None], 1.0, piece))

    with np.errstate(all="ignore"):
        significand, exponent = product(factors, rows.count)
        real = significand.times_power_of_two(np.clip(exponent, -BEYOND, BEYOND).astype(np.int32))
        value, real = decide_exactly(
            fmt, where(is_special, special, real), lambda index: exact_product(rows.row(*index)),
            lambda: held_apart(significand, exponent),
        )  # fmt: skip
        relative = np.expm1(growth(products) * np.log1p(compute.unit_roundoff))
        budget = np.abs(real.hi) * relative + products * underflow(compute)
    golden = Golden(fmt, value, real, budget=np.where(is_special, 0.0, budget))
    return golden.opened(_may_leave_the_range(compute, rows) & ~np.isnan(special), "P61")


def _special_product(rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    """(which rows have a factor that is NaN, infinite or 0, the product there)."""
    tests = (np.isnan, np.isinf, lambda piece: piece == 0)
    nan, infinite, zero = (np.logical_or.reduce([test(x).any(axis=1) for x in rows.pieces]) for test in tests)
    sign = np.where(sum(np.signbit(piece).sum(axis=1) for piece in rows.pieces) % 2, -1.0, 1.0)
    product = np.where(nan | (infinite & zero), np.nan, np.where(infinite, np.inf, 0.0) * sign)
    return nan | infinite | zero, product


def _may_leave_the_range(compute: Format, rows: Rows) -> np.ndarray:
    """P61: where the product of the magnitudes over 1 is too large for `compute`, or of those under 1 too small."""
    sizes = rows.pieces.map(lambda x: np.where(np.isfinite(x) & (x != 0), np.abs(x), 1.0))
    leaves = np.zeros(rows.count, bool)
    for beyond_1, limit, sense in ((np.maximum, compute.max_finite, 1), (np.minimum, compute.min_normal, -1)):
        factors = sizes.map(lambda x: beyond_1(x, 1.0))  # noqa: B023 - used in this turn alone
        beyond = (sum(np.log2(x).sum(axis=1) for x in factors) - np.log2(limit)) * sense
        for row in np.flatnonzero(np.abs(beyond) < 2.0**-20):  # far more than the rounding errors of the logarithms
            beyond[row] = sense * (exact_product(x[row] for x in factors) - Fraction(limit))
        leaves |= beyond > 0
    return leaves


# Logarithms of sums of exponentials


@semantics("aten::logsumexp", along="dim", accumulates="self", centred=True, exponentials=True)
def logsumexp(self: np.ndarray, dim: Sequence[int], keepdim: bool = False) -> Golden:
    """log(sum(exp(x))) over dim, of which the largest element is taken out first (P54, P56)"""
    refuse_complex(format_of(self), "logsumexp")
    fmt, axes = float_result(format_of(self)), reduced_axes(dim, self.ndim)
    if prod(self.shape[axis] for axis in axes) == 0:  # the logarithm of an empty sum
        nothing = np.full(reduced_shape(self.shape, axes, keepdim), -np.inf, fmt.storage)
        return exact(nothing, fmt)
    golden = by_rows(partial(_logsumexp_rows, fmt), converted_rows(self, axes, fmt))
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


def _logsumexp_rows(fmt: Format, rows: Rows) -> Golden:
    def formula(some: np.ndarray) -> np.ndarray:
        return np.array([[sum(log_sum_exp.of_numbers(rows.row(row)))] for row in some], dtype=object)

    largest, compute = rows.largest(), held_format(fmt)
    infinite = np.isinf(largest)
    real = where(infinite, largest, Real.exact(largest) + log_sum_exp.of_reals(rows)[1])
    of_zero = lambda: log_sum_exp.faint(rows).known_where(largest == 0)  # noqa: E731
    value, real = resolved(fmt, real, formula, scaled=of_zero)
    ball = Ball.exact(largest, compute) + log_sum_exp.of_balls(rows, compute)[1]
    return Golden.derived(fmt, value, real, ball.but_exact(infinite), zero_sign_free=True)
