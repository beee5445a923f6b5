"""Norms of the differences of vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import Pieces, spans
from conform.interp.golden import Golden
from conform.interp.ops.reduction.norms import FAR, FARTHEST, norm_ball, rational_norm
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.eft import two_sum
from conform.numerics.escalate import Irrational, resolved, root
from conform.numerics.formats import Format, format_of
from conform.numerics.parts import write
from conform.numerics.real import Real, maximum, where
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import held_format, joined
from conform.numerics.scaled import Scaled

VANISHING = 3000  # half of it, over log 2, is more than 2100
BY_PRODUCT, NEVER_BY_PRODUCT = 1, 2  # compute_mode; 0 and None: by a product of many vectors
MANY = 25  # vectors

LAST_DIGITS = (1 << 40) - 1  # of a double's significand


def _distances(arguments: Mapping[str, Any]) -> int:
    one, other = (np.shape(arguments[name]) for name in ("x1", "x2"))
    batch = zip_longest(one[-3::-1], other[-3::-1], fillvalue=1)
    return prod(map(max, batch)) * prod(shape[-2] if len(shape) > 1 else 1 for shape in (one, other))


@semantics("aten::cdist", "aten::_cdist_forward", accumulates="x1", centred=True, elements=_distances)
def cdist(x1: np.ndarray, x2: np.ndarray, p: float = 2.0, compute_mode: int | None = None) -> Golden:
    """result[..., i, j] = the norm of order p of x1[..., i, :] - x2[..., j, :], as P60 has it; for p = 2 the square may
    be |x1|^2 + |x2|^2 - 2 x1 . x2, by compute_mode (P114, P115)"""
    batch, rows, columns = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2]), x1.shape[-2], x2.shape[-2]
    by_product = compute_mode == BY_PRODUCT or compute_mode != NEVER_BY_PRODUCT and max(rows, columns) > MANY
    own, its = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (x1, x2))

    def pairs(some: slice) -> tuple[np.ndarray, np.ndarray]:
        *place, i, j = np.unravel_index(np.arange(some.start, some.stop), (*batch, rows, columns))
        return own[(*place, i)], its[(*place, j)]

    golden = _of_pairs(format_of(x1), pairs, prod(batch) * rows * columns, x1.shape[-1], p, by_product and p == 2)
    return reshaped(golden, (*batch, rows, columns))


@semantics("aten::_euclidean_dist", accumulates="x1", centred=True, elements=_distances)
def euclidean_dist(x1: np.ndarray, x2: np.ndarray) -> Golden:
    """cdist of order 2 by a matrix product"""
    return cdist(x1, x2, 2.0, BY_PRODUCT)


def _pairs(arguments: Mapping[str, Any]) -> int:
    return (np.shape(arguments["self"]) or (1,))[0] ** 2 // 2


@semantics("aten::_pdist_forward", accumulates="self", centred=True, elements=_pairs)
def pdist(self: np.ndarray, p: float = 2.0) -> Golden:
    """The norms of order p of self[i] - self[j] for i < j, as P60 has them, row by row (P115)"""
    count = len(self)
    before = np.cumsum(np.arange(count, 0, -1) - 1) - np.arange(count, 0, -1) + 1  # pairs of the rows before each

    def pairs(some: slice) -> tuple[np.ndarray, np.ndarray]:
        numbers = np.arange(some.start, some.stop)
        i = np.searchsorted(before, numbers, side="right") - 1 if count else numbers
        i = np.minimum(i, max(count - 2, 0))
        return self[i], self[numbers - before[i] + i + 1] if numbers.size else self[i]

    return _of_pairs(format_of(self), pairs, count * (count - 1) // 2, self.shape[1], p, by_product=False)


@semantics("aten::dist", accumulates="self", centred=True)
def dist(self: np.ndarray, other: np.ndarray, p: int | float = 2) -> Golden:
    """The norm of order p of self - other, which broadcast, as P60 has it; the difference may be rounded to their dtype
    (P115)"""
    fmt = format_of(self)
    x, y = (each.astype(np.float64).reshape(1, -1) for each in np.broadcast_arrays(self, other))
    return reshaped(_norms(fmt, float(p), x, y, by_product=False, held=fmt), ())


Pairs = Callable[[slice], tuple[np.ndarray, np.ndarray]]


def _of_pairs(fmt: Format, pairs: Pairs, count: int, width: int, order: float, by_product: bool) -> Golden:
    def parts() -> Iterator[tuple[slice, Golden]]:
        for some in spans(count, 4 * max(width, 1)):
            x, y = (each.astype(np.float64).reshape(some.stop - some.start, width) for each in pairs(some))
            yield some, _norms(fmt, order, x, y, by_product)

    return assembled(parts(), count)


def _norms(
    fmt: Format, order: float, x: np.ndarray, y: np.ndarray, by_product: bool, held: Format | None = None
) -> Golden:
    """The golden [n] of the norms of x - y [n, width], a difference that may be rounded to the format `held`."""
    special = np.where(np.isfinite(x) & np.isfinite(y), 0.0, x - y)
    nan, infinite = np.isnan(special).any(axis=1), np.isinf(special).any(axis=1)
    if order == 0:
        count = (x != y).sum(axis=1).astype(np.float64)
        golden = Golden(fmt, round_to(fmt, count), Real.exact(count), budget=np.zeros_like(count))
        return golden.opened(nan, "P115")
    is_special = (nan | infinite)[:, None]
    extreme = np.where(nan, np.nan, np.inf)[:, None]
    x, y = (np.where(is_special, 0.0, each) for each in (x, y))
    value, real = _regular(fmt, order, x, y)
    budget = _budget(fmt, order, x, y, held or held_format(fmt))
    overflows = np.zeros(len(x), bool)
    if by_product:
        error, overflows = _error_by_product(fmt, x, y, real)
        budget = np.maximum(budget, error)
    value, real = np.where(is_special, round_to(fmt, extreme), value), where(is_special, extreme, real)
    golden = Golden(fmt, value, real, budget=np.where(is_special, 0.0, budget)).rearranged(lambda part: part[:, 0])
    return golden.opened(overflows | (is_special[:, 0] & ~nan), "P114") if by_product else golden


def _regular(fmt: Format, order: float, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, Real]:
    """(the norms [n, 1] of finite vectors rounded, the reals)."""

    def rational(index: tuple[int, ...]) -> Fraction | mpq | None:
        pairs = zip(x[index[0]].tolist(), y[index[0]].tolist(), strict=True)
        sizes = [abs(mpq(a) - mpq(b)) for a, b in pairs]
        if np.isinf(order) or sum(size != 0 for size in sizes) < 2:
            return max(sizes, default=mpq(0))
        if order in (1, 2):
            total = sum((size ** int(order) for size in sizes), mpq(0))
            return total if order == 1 else root(Fraction(total), 2)
        return _beside_largest(sizes, order) or rational_norm(list(map(Fraction, sizes)), order)

    def formula(some: np.ndarray) -> np.ndarray:
        return np.array([[_mp_norm(x[row], y[row], order)] for row in some], dtype=object)

    with np.errstate(all="ignore"):
        value, real, found = _above_largest(fmt, order, abs(Real.exact(x) - Real.exact(y)))
        others = ~found[:, 0]
        if others.any():
            x, y = x[others], y[others]
            value[others], finer = resolved(fmt, _reals(x, y, order), formula, rational)
            write(real, others, finer)
        return value, real


def _above_largest(fmt: Format, order: float, sizes: Real) -> tuple[np.ndarray, Real, np.ndarray]:
    """(norms [n, 1] rounded, the reals, which of them are known so) of the magnitudes [n, width], where the largest
    number L is a sum of two doubles and the others are so far below it that the norm, L (1 + S)^(1/p), is above L, even
    where that is a tie, by less than 2^-110 of it: S is at most n e^(-p (1 - r)), r the largest ratio.

    No boundary of the format lies between L = hi + lo and the next lo, and this is no boundary itself: those within
    half of the last place of hi have a lo of one digit or two.
    """
    count, width = sizes.shape
    value, real = np.zeros((count, 1), fmt.storage), Real.exact(np.zeros((count, 1)))
    if width < 2 or not (least := 80 + np.log(width)) < order < np.inf:  # 1 - r is at most 1
        return value, real, np.zeros((count, 1), bool)
    largest = _largest(sizes)
    is_largest = (sizes.hi == largest.hi) & (sizes.lo == largest.lo)
    second = _largest(where(is_largest, 0.0, sizes))
    reach = ((largest - second) / largest).hi * order
    found = (is_largest.sum(axis=1, keepdims=True) == 1) & (second.hi > 0) & (reach > least)
    found &= (largest.hi > 2.0**-900) & (largest.hi < 2.0**1022) & (largest.radius == 0)
    next_lo = np.nextafter(largest.lo, np.inf)
    low, high = (
        round_to(fmt, *two_sum(largest.hi, lo)) for lo in (next_lo, largest.lo + largest.hi * 2.0**-105)
    )
    found &= (low == high) & (next_lo.view(np.int64) & LAST_DIGITS != 0)
    return low, Real(largest.hi, largest.lo, largest.hi * 2.0**-105), found


def _beside_largest(sizes: list[mpq], order: float) -> Irrational | None:
    """What rounds like the norm L (1 + S)^(1/p) of two numbers or more where S, the sum of the powers of the ratios to
    the largest number L, is less than 2^-2100; p is at least 1.

    S is at most n e^(-p (1 - r)), r the largest ratio, whose distance from 1 as float64 has it is less than twice the
    true one. The norm is above L by less than 2^1025 S. L and all rounding boundaries are multiples of 2^-1075: there
    is none between.
    """
    *_, second, largest = sorted(sizes)
    if order < 1 or second == largest or order * (1 - float(second / largest)) < VANISHING + len(sizes):
        return None
    return Irrational(Fraction(largest * (1 + mpq(1, 2**VANISHING))))


def _reals(x: np.ndarray, y: np.ndarray, order: float) -> Real | Scaled:
    """The norms [n, 1]."""
    sizes = abs(Real.exact(x) - Real.exact(y))
    if not x.shape[1]:
        return Real.exact(np.zeros((len(x), 1)))
    if order == 1:
        return sizes.sum(axis=1, keepdims=True)
    if order == 2:
        return (sizes * sizes).sum(axis=1, keepdims=True).sqrt()
    largest = _largest(sizes)
    if np.isinf(order):
        return largest
    zero, p = (largest.hi == 0) & (largest.radius == 0), Real.exact(np.float64(order))
    unit = where(zero, 1.0, largest)
    logarithm = _log_ratio(where(sizes.hi == 0, unit, sizes), unit)
    far = (logarithm.hi + logarithm.radius) * order < -FAR
    powers = where(sizes.hi == 0, 0.0, functions.exp(where(far, -FAR, logarithm * p)))
    total = functions.log(where(zero, 1.0, powers.sum(axis=1, keepdims=True)))
    far = (total.hi - total.radius) / order > FARTHEST
    significand, exponent = _apart(where(zero, 0.0, largest))
    root_ = functions.exp_scaled(where(far, FARTHEST, total / p))
    return root_.times(significand).times_power_of_two(exponent)


def _largest(rows: Real) -> Real:
    """The largest number [n, 1] of each row, which has one at least."""
    while (width := rows.shape[1]) > 1:
        half = (width + 1) // 2  # of an odd width the middle one is in both halves
        rows = maximum(rows[:, :half], rows[:, width - half :])
    return rows


def _log_ratio(x: Real, unit: Real) -> Real:
    """log(x / unit) of positive numbers of any size, of which the quotient, and what it lacks, may be subnormal."""
    return functions.log_ratio(x.hi, unit.hi) + _log_of_tail(x) - _log_of_tail(unit)


def _log_of_tail(x: Real) -> Real:
    """log(1 + lo / hi), which is that quotient but for its square, below 2^-106, and its own rounding."""
    share = x.lo / x.hi
    return Real(share, np.zeros_like(share), np.where(share != 0, 2.0**-105, 0.0) + 2.0 * x.radius / x.hi)


def _apart(x: Real) -> tuple[Real, np.ndarray]:
    """(significands of ordinary size, exponents)."""
    significand, exponent = np.frexp(x.hi)
    return Real(significand, np.ldexp(x.lo, -exponent), np.ldexp(x.radius, -exponent)), exponent


def _mp_norm(x: np.ndarray, y: np.ndarray, order: float) -> mp.Number:
    p = mp.of_float(order)
    differ = x != y
    sizes = abs(mp.of_float(x[differ]) - mp.of_float(y[differ]))
    unit = max(sizes)
    return unit * mp.exp(mp.log(sum(mp.exp(mp.log(size / unit) * p) for size in sizes)) / p)


def _budget(fmt: Format, order: float, x: np.ndarray, y: np.ndarray, held: Format) -> np.ndarray:
    """[n, 1]: the error of the norm of the differences, rounded to the format `held`, in the compute type."""
    if not x.shape[1]:
        return np.zeros((len(x), 1))
    with np.errstate(all="ignore"):
        exact = Ball.exact(x, held_format(fmt)), Ball.exact(y, held_format(fmt))
        difference = exact[0] - exact[1]
        if held != difference.compute:
            rounding = held.unit_roundoff * np.abs(difference.mid)
            difference = Ball(difference.mid, joined(difference.rad, rounding), difference.compute)
        if np.isinf(order):
            return difference.rad.max(axis=1, keepdims=True)
        sizes = Ball(np.abs(difference.mid), difference.rad, difference.compute)
        return norm_ball(Pieces(lambda: [sizes], are_many=False), order)


def _error_by_product(fmt: Format, x: np.ndarray, y: np.ndarray, real: Real) -> tuple[np.ndarray, np.ndarray]:
    """(the error [n, 1] of sqrt(max(0, |x|^2 + |y|^2 - 2 x . y)) in the compute type, where that may be inf - inf)."""
    compute = held_format(fmt)
    with np.errstate(all="ignore"):
        a, b = (Ball.exact(each, compute) for each in (x, y))
        squares = Ball.total([a.square()]) + Ball.total([b.square()])
        square = squares - Ball.total([a * b]) * 2.0
        root_of_error = np.sqrt(square.rad)
        moved = np.where(real.hi > 0, np.minimum(square.rad / real.hi, root_of_error), root_of_error)
        magnitude = (x * x).sum(axis=1) + (y * y).sum(axis=1) + 2 * np.abs(x * y).sum(axis=1)
    return moved + 2 * compute.unit_roundoff * (real.hi + moved), ~(magnitude < compute.max_finite)
