"""What the elements up to each place of a line come to: extremes and where they are, products, logarithms of sums."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from conform.interp.blocks.rows import Rows, by_elements_of_rows
from conform.interp.dims import wrap_dim
from conform.interp.formulas import log_sum_exp
from conform.interp.golden import Golden, Ties
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import Beginnings, running, sum_format
from conform.interp.semantics import semantics
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly, resolved
from conform.numerics.formats import FORMATS, Format, format_of
from conform.numerics.product import BEYOND, exact_product, held_apart, running_product
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import accumulator_of, growth, held_format, underflow

# Extremes


@semantics("aten::cummax", along="dim", compares=True, selects=True)
def cummax(self: np.ndarray, dim: int) -> tuple[Golden, Golden]:
    """values[i] is the largest of self[0] .. self[i] along dim, NaN if one is NaN (P4, P5); indices[i] is where one of
    these stands that is equal to it, any of them (P140)"""
    return _running_extremes(self, dim, descends=False)


@semantics("aten::cummin", along="dim", compares=True, selects=True)
def cummin(self: np.ndarray, dim: int) -> tuple[Golden, Golden]:
    """values[i] is the smallest of self[0] .. self[i] along dim, NaN if one is NaN (P4, P5); indices[i] is where one of
    these stands that is equal to it, any of them (P140)"""
    return _running_extremes(self, dim, descends=True)


def _running_extremes(self: np.ndarray, dim: int, descends: bool) -> tuple[Golden, Golden]:
    fmt, axis = format_of(self), wrap_dim(dim, self.ndim)
    lines = self.reshape(1) if self.ndim == 0 else self

    def read(some: np.ndarray) -> np.ndarray:
        """The elements, or numbers in the opposite order."""
        some = some.astype(np.float64) if fmt.is_float else some
        return some if not descends else -some if fmt.is_float else ~some

    rows, unread = (Rows.over(lines, (axis,), each) for each in (read, lambda some: some))
    size, shape = (rows.count, rows.terms), np.moveaxis(lines, axis, -1).shape
    values, places, ranks = np.empty(size, self.dtype), np.empty(size, np.int64), np.empty(size, np.int64)
    for (block, some), (_, own) in zip(rows.blocks(), unread.blocks(), strict=True):
        _note_extremes(some, places[block], ranks[block])
        for columns in own.columns:
            values[block, columns] = own.at(places[block, columns])
    values, indices, ranks = (np.moveaxis(part.reshape(shape), -1, axis) for part in (values, places, ranks))
    ties = Ties(axis, ranks, repeated=True, so_far=True)
    value = exact(values.reshape(self.shape), fmt, zero_sign_free=fmt.is_float)
    return value, exact(indices.reshape(self.shape), FORMATS["int64"], ties=ties)


def _note_extremes(rows: Rows, places: np.ndarray, ranks: np.ndarray) -> None:
    """For each column of the rows, into [rows, n]: the last place so far of the largest element so far; how many
    larger ones than the first there were so far where the column holds the largest, else -1. NaN is the largest."""
    largest, place, rank = None, np.zeros((rows.count, 1), np.int64), np.zeros((rows.count, 1), np.int64)
    for columns, piece in zip(rows.columns, rows.pieces, strict=True):
        before = piece[:, :1] if largest is None else largest
        so_far = np.maximum(before, np.maximum.accumulate(piece, axis=1))
        previous = np.concatenate([before, so_far[:, :-1]], axis=1)[:, : piece.shape[1]]
        rises = (so_far != previous) & (previous == previous)  # to a larger number, or to NaN
        counts = rank + np.cumsum(rises, axis=1)
        holds = (piece == so_far) | (piece != piece)
        here = np.where(holds, np.arange(columns.start, columns.stop), -1)
        places[:, columns] = np.maximum(place, np.maximum.accumulate(here, axis=1))
        ranks[:, columns] = np.where(holds, counts, -1)
        largest, place, rank = so_far[:, -1:], places[:, columns][:, -1:], counts[:, -1:]


# Products


@semantics("aten::cumprod", along="dim")
def cumprod(self: np.ndarray, dim: int, dtype: str | None = None) -> Golden:
    """result[i] = self[0] * ... * self[i] along dim, of elements converted to dtype first (P61, P84)"""
    return running(self, dim, sum_format(self, dtype), _running_products, np.multiply)


def _running_products(fmt: Format, rows: Rows) -> Iterator[Golden]:
    """The budgets |y| ((1 + u)^(n - 1) - 1) are those of n - 1 rounded products in any order (Higham, lemma 3.1)."""
    compute = accumulator_of(held_format(fmt))
    regular = rows.pieces.map(lambda piece: np.where(np.isfinite(piece) & (piece != 0), piece, 1.0))
    beginnings = Beginnings(rows, lambda part: exact_product([part]), operator.mul)
    products, classes = running_product(regular, rows.count), _running_classes(rows)
    leaving = _leave_the_range(compute, rows)
    for columns, (number, exponent), special, leaves in zip(rows.columns, products, classes, leaving, strict=True):
        exactly, apart = partial(beginnings.exact, columns.start), partial(held_apart, number, exponent)
        steps = np.arange(columns.start, columns.stop)
        with np.errstate(all="ignore"):
            real = number.times_power_of_two(np.clip(exponent, -BEYOND, BEYOND).astype(np.int32))
            value, real = decide_exactly(fmt, where(special == 1, real, special), exactly, apart)
            relative = np.expm1(growth(steps) * np.log1p(compute.unit_roundoff))
            budget = np.abs(real.hi) * relative + steps * underflow(compute)
        golden = Golden(fmt, value, real, budget=np.where(special == 1, budget, 0.0))
        yield golden.opened(leaves & ~np.isnan(special), "P61")


def _running_classes(rows: Rows) -> Iterator[np.ndarray]:
    """Piece by piece the product so far where a factor is NaN, infinite or 0, else 1."""
    nan, infinite, zero, negative = (np.zeros((rows.count, 1), bool) for _ in range(4))
    for piece in rows.pieces:
        nan = nan[:, -1:] | np.logical_or.accumulate(np.isnan(piece), 1)
        infinite = infinite[:, -1:] | np.logical_or.accumulate(np.isinf(piece), 1)
        zero = zero[:, -1:] | np.logical_or.accumulate(piece == 0, 1)
        negative = negative[:, -1:] ^ np.logical_xor.accumulate(np.signbit(piece), 1)
        magnitude = np.where(nan | (infinite & zero), np.nan, np.where(infinite, np.inf, 0.0))
        yield np.where(nan | infinite | zero, np.where(negative, -magnitude, magnitude), 1.0)


def _leave_the_range(compute: Format, rows: Rows) -> Iterator[np.ndarray]:
    """P61: piece by piece, where of the finite factors so far other than 0 the product of the magnitudes over 1 is too
    large for `compute`, or of those under 1 too small."""
    limits = ((np.maximum, compute.max_finite, 1), (np.minimum, compute.min_normal, -1))
    before = [np.zeros((rows.count, 1)) for _ in limits]
    for columns, piece in zip(rows.columns, rows.pieces, strict=True):
        leaves = np.zeros(piece.shape, bool)
        for number, (beyond_1, limit, sense) in enumerate(limits):
            logarithms = before[number] + np.cumsum(np.log2(beyond_1(_sizes(piece), 1.0)), axis=1)
            beyond = (logarithms - np.log2(limit)) * sense
            close = np.abs(beyond) < 2.0**-20  # far more than the rounding errors of the logarithms
            factors = Beginnings(rows, partial(_exact_side, beyond_1), operator.mul)
            for index in map(tuple, np.argwhere(close).tolist()):
                beyond[index] = sense * (factors.exact(columns.start, index) - Fraction(limit))
            leaves |= beyond > 0
            before[number] = logarithms[:, -1:]
        yield leaves


def _exact_side(beyond_1: np.ufunc, factors: np.ndarray) -> Fraction:
    return exact_product([beyond_1(_sizes(factors), 1.0)])


def _sizes(numbers: np.ndarray) -> np.ndarray:
    """The magnitudes of the factors that count, 1 for the others."""
    return np.where(np.isfinite(numbers) & (numbers != 0), np.abs(numbers), 1.0)


# Logarithms of sums of exponentials


@semantics("aten::logcumsumexp", along="dim", accumulates="self", centred=True, exponentials=True)
def logcumsumexp(self: np.ndarray, dim: int) -> Golden:
    """result[i] = log(e^self[0] + ... + e^self[i]) along dim (P54, P56)"""
    fmt = format_of(self)
    refuse_complex(fmt, "logcumsumexp")
    axis, lines = wrap_dim(dim, self.ndim), self.reshape(1) if self.ndim == 0 else self
    golden = by_elements_of_rows(partial(_running_logarithms, fmt), Rows.over(lines, (axis,)))
    last = np.moveaxis(lines, axis, -1).shape
    return golden.rearranged(lambda part: np.moveaxis(part.reshape(last), -1, axis).reshape(self.shape))


def _running_logarithms(fmt: Format, rows: Rows) -> Iterator[Golden]:
    error: np.ndarray | None = None  # of the result before, [rows, 1]
    before = np.full((rows.count, 1), -np.inf)  # that result
    for columns, (largest, others) in zip(rows.columns, log_sum_exp.running(rows), strict=True):
        with np.errstate(all="ignore"):
            logarithm = Real.exact(largest) + functions.log1p(others)
            real = where(np.isfinite(largest), logarithm, largest)
            value, real = _resolved(fmt, real, rows, columns.start)
            steps = np.arange(columns.start, columns.stop)
            budget, carried = _budget(held_format(fmt), real.hi, before, error, steps)
        yield Golden(fmt, value, real, budget=budget, zero_sign_free=True)
        before, error = real.hi[:, -1:], carried


def _resolved(fmt: Format, real: Real, rows: Rows, start: int) -> tuple[np.ndarray, Real]:
    """The piece from column `start` on, rounded; what is not decided, at rising precision, from where rows begin."""
    width = real.shape[1]

    def number(row: int, column: int) -> mp.Number:
        return sum(log_sum_exp.of_numbers([rows.part(row, slice(0, start + column + 1))]))

    def formula(some: np.ndarray) -> np.ndarray:
        return np.array([[number(*divmod(place, width))] for place in some.tolist()], dtype=object)

    value, real = resolved(fmt, real.reshape((real.size, 1)), formula)
    return value.reshape(rows.count, width), real.reshape((rows.count, width))


def _budget(
    compute: Format, y: np.ndarray, before: np.ndarray, error: np.ndarray | None, steps: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(the errors of y, those to be carried on) where the results are made one after the other, as max + log1p(e^(min -
    max)) of the one before and the next element, or as the logarithm of sums; or block by block, each with the one
    before, or in pairs of pairs.

    An error of the sum so far, which is a part of the later one, comes to that part of it there: e^(y before - y).
    One step's is that of its difference, exponential, logarithm and sum: u (|y| + 2), and of both functions at 0.
    Whatever else is joined with it, in blocks or pairs, is as much again, as often as pairs can be made of pairs.
    """
    u = compute.unit_roundoff
    functions_at_0 = Ball.exact(np.zeros(()), compute).exp().log1p().rad
    step = np.where(np.isfinite(y), u * (np.abs(y) + 2) + functions_at_0 + underflow(compute), 0.0) * (steps > 0)
    previous = np.concatenate([before, y[:, :-1]], axis=1)[:, : y.shape[1]]
    kept = np.where(np.isfinite(previous) & np.isfinite(y), np.exp(np.minimum(previous - y, 0.0)), 0.0)
    serial, weight, reach = step, kept, 1
    while reach < y.shape[1]:
        joined = serial[:, reach:] + weight[:, reach:] * serial[:, :-reach]
        serial = np.concatenate([serial[:, :reach], joined], axis=1)
        weight = np.concatenate([weight[:, :reach], weight[:, reach:] * weight[:, :-reach]], axis=1)
        reach *= 2
    serial = serial if error is None else serial + weight * error
    return serial + np.ceil(np.log2(steps + 1)) * step, serial[:, -1:]
