"""Rules of products of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import BLOCK
from conform.interp.program.blocks import in_slices
from conform.interp.program.elementwise.arithmetic import add, mul, scaled
from conform.interp.program.number import Number
from conform.interp.program.reduction.sums import sum_over
from conform.interp.program.rules import common_format, operands, rule, unbounded_where
from conform.numerics.converted_products import Products, products_of
from conform.numerics.formats import Format
from conform.numerics.matmul import matmul
from conform.numerics.real import TINY, Real, concatenate
from conform.numerics.rounding_errors import gamma, is_statistical, joined, underflow

PRODUCTS_AT_ONCE = 1 << 20
PANEL = 1 << 17  # elements of a factor that are worked on at once, or
WIDTH = 256  # rows or columns of it, if these are more


@rule("aten::mm")
def mm(self: Number, mat2: Number) -> Any:
    """In any order: gamma_n times the sum of magnitudes, and what the factors' errors come to."""
    fmt = common_format(self, mat2)
    if not fmt.is_float:
        return NotImplemented
    return _sums(*operands(fmt, self, mat2))


def weighted(lhs: Number, weights: Number, terms: int) -> Number:
    """lhs @ weights, of which each column has at most so many entries that are not 0, in the format of `lhs`."""
    return _sums(lhs, weights, terms=terms)


@rule("aten::addmm")
def addmm(self: Number, mat1: Number, mat2: Number, beta: float = 1, alpha: float = 1) -> Any:
    """beta * self + alpha * (mat1 @ mat2); the addend may come first, so that every addition carries it."""
    fmt = common_format(self, mat1, mat2)
    if not fmt.is_float:
        return NotImplemented
    addend, lhs, rhs = operands(fmt, self, mat1, mat2)
    addends = None if beta == 0 else scaled(addend, beta)  # whatever an addend times 0 is, NaN too
    product = _scaled_sums(lhs, rhs, alpha, addends)
    return product if addends is None else add(addends, product)


def _scaled_sums(lhs: Number, rhs: Number, alpha: float, addend: Number | None) -> Number:
    """alpha times lhs @ rhs, as the factors of a sum or behind it, where that may have overflowed."""
    sums = _sums(lhs, scaled(rhs, alpha), addend)
    return sums if abs(alpha) >= 1 else unbounded_where(np.isinf(_sums(lhs, rhs).rad), sums)


@rule("aten::linear")
def linear(input: Number, weight: Number, bias: Number | None = None) -> Any:
    """input @ weight^T + bias over the last dim; the addend may come first."""
    rows = input.moved(lambda part: part.reshape(prod(part.shape[:-1]), part.shape[-1]))
    columns = weight.moved(lambda part: part.T if part.ndim == 2 else part[:, None])
    result = mm(rows, columns) if bias is None else addmm(bias, rows, columns)
    if result is NotImplemented:
        return result
    shape = (*input.shape[:-1], *weight.shape[:-1])
    return result.moved(lambda part: part.reshape(shape))


@rule("aten::_trilinear")
def trilinear(
    i1: Number, i2: Number, i3: Number, expand1: Sequence[int], expand2: Sequence[int], expand3: Sequence[int],
    sumdim: Sequence[int], unroll_dim: int = 1,
) -> Any:  # fmt: skip
    """The sum over some dims of i1 * i2 * i3, each with new dims of length 1 at its `expand`; unroll_dim says how."""
    factors = [
        one.moved(lambda part, at=at: np.expand_dims(part, tuple(at)))
        for one, at in ((i1, expand1), (i2, expand2), (i3, expand3))
    ]
    product = mul(mul(factors[0], factors[1]), factors[2])
    return product if product is NotImplemented else sum_over(product, list(sumdim))


@rule("aten::bmm")
def bmm(self: Number, mat2: Number) -> Any:
    fmt = common_format(self, mat2)
    if not fmt.is_float:
        return NotImplemented
    lhs, rhs = operands(fmt, self, mat2)
    return stacked([
        mm(*(one.moved(lambda part, at=at: part[at]) for one in (lhs, rhs))) for at in range(lhs.shape[0])
    ], (*lhs.shape[:2], rhs.shape[2]), fmt)  # fmt: skip


@rule("aten::baddbmm")
def baddbmm(self: Number, batch1: Number, batch2: Number, beta: float = 1, alpha: float = 1) -> Any:
    """addmm of each pair of matrices; torch's decomposition would round its result to a half type."""
    fmt = common_format(self, batch1, batch2)
    if not fmt.is_float:
        return NotImplemented
    shape = (*batch1.shape[:2], batch2.shape[2])
    addends = self.moved(lambda part: np.broadcast_to(part, shape))
    return stacked([
        addmm(*(one.moved(lambda part, at=at: part[at]) for one in (addends, batch1, batch2)), beta, alpha)
        for at in range(shape[0])
    ], shape, fmt)  # fmt: skip


def stacked(numbers: Sequence[Number], shape: tuple[int, ...], fmt: Format) -> Number:
    """The numbers, which are computed, one after the other along a new first dim, as `shape` has it."""
    if not numbers:
        return Number(fmt, Real.exact(np.zeros(shape)), np.zeros(shape))
    real = concatenate([one.real for one in numbers]).reshape(shape)
    return Number(fmt, real, np.concatenate([np.broadcast_to(one.rad, one.shape) for one in numbers]).reshape(shape))


def _sums(lhs: Number, rhs: Number, addend: Number | None = None, terms: int | None = None) -> Number:
    """lhs @ rhs, to which `addend` may be added first: of large ones some rows and some columns at a time."""
    addends = Number(lhs.format, Real.exact(0.0), np.zeros(())) if addend is None else addend
    parts = BLOCK // max(PANEL // max(lhs.shape[1], 1), WIDTH)  # of a row of work: so many rows make a block

    def of_columns(some: Number, beside: Number) -> Number:
        return in_slices(partial(_panel, some, terms), [lhs, beside], (parts, lhs.shape[0], 1), [-2])

    return in_slices(of_columns, [rhs, addends], (parts, rhs.shape[1]), [-1])


def _panel(rhs: Number, terms: int | None, lhs: Number, addend: Number) -> Number:
    product = _product(lhs.real, rhs.real)
    return Number(lhs.format, product, _error(lhs, rhs, np.isnan(product.hi), _finite(addend), terms))


def _product(lhs: Real, rhs: Real) -> Real:
    if not any(part.any() for part in (lhs.lo, lhs.radius, rhs.lo, rhs.radius)):
        return matmul(lhs.hi, rhs.hi).real
    if all(np.isfinite(part).all() for one in (lhs, rhs) for part in (one.hi, one.radius)):
        return _product_of_pairs(lhs, rhs)
    step = max(PRODUCTS_AT_ONCE // max(lhs.shape[1] * rhs.shape[1], 1), 1)
    rows = range(0, max(lhs.shape[0], 1), step)
    return concatenate([(lhs[row : row + step, :, None] * rhs[None]).sum(1) for row in rows])


def _product_of_pairs(lhs: Real, rhs: Real) -> Real:
    """Of finite numbers: hi @ hi exactly, what lo adds in float64, and what that loses in the radius."""
    with np.errstate(all="ignore"):
        count = lhs.shape[1]
        a, b = np.abs(lhs.hi) + np.abs(lhs.lo), np.abs(rhs.hi) + np.abs(rhs.lo)
        cross = _dot(lhs.hi, rhs.lo) + _dot(lhs.lo, rhs.hi)
        both = _dot(np.abs(lhs.hi), np.abs(rhs.lo)) + _dot(np.abs(lhs.lo), np.abs(rhs.hi))
        rounding = (count + 2) * 2.0**-52 * both
        carried = _dot(a, rhs.radius) + _dot(lhs.radius, b + rhs.radius) + _dot(np.abs(lhs.lo), np.abs(rhs.lo))
        radius = (rounding + carried) * (1 + 2.0**-40 + count * 2.0**-50) + (3 * count + 1) * TINY
        radius = np.where(_has_more(lhs).any(1)[:, None] | _has_more(rhs).any(0), radius, 0.0)
        return matmul(lhs.hi, rhs.hi).real + Real(cross, np.zeros_like(cross), radius)


def _has_more(numbers: Real) -> np.ndarray:
    """Which numbers are not hi alone."""
    return (numbers.lo != 0) | (numbers.radius != 0)


def _error(
    lhs: Number, rhs: Number, is_nan: np.ndarray, addend: np.ndarray, terms: int | None = None
) -> np.ndarray:
    """How far the sums of products of an honest implementation may lie from the exact ones, of which some are NaN;
    `terms`: how many of each it adds up, by default all."""
    made, compute = products_of(lhs.format), products_of(lhs.format).accumulator
    count = made.parts * (lhs.shape[1] if terms is None else terms)
    a, b, a_rad, b_rad = _finite(lhs), _finite(rhs), _bounded(lhs), _bounded(rhs)
    with np.errstate(all="ignore"):
        magnitude = made.growth * ((a + a_rad) @ (b + b_rad)) + addend
        carried = joined(_of_terms(a, b_rad), _of_terms(a_rad, b)) + _dot(a_rad, b_rad)
        rad = joined(carried, _conversions(made, a + a_rad, b + b_rad), gamma(count, compute.unit_roundoff) * magnitude)
        rad = (rad + count * underflow(compute)) * (1 + 2.0**-40 + count * 2.0**-52)  # what float64 rounds off
        rad = np.where(magnitude + rad <= compute.max_finite, rad, np.inf)
    return _where_special(lhs, rhs, is_nan, rad)


def _conversions(made: Products, a: np.ndarray, b: np.ndarray) -> np.ndarray | float:
    """What the sums of products of these magnitudes lose where their factors are converted first."""
    if not made.error:
        return 0.0
    return joined(made.error * _of_terms(a, b), made.lost * (a.sum(1)[:, None] + b.sum(0)))


def _of_terms(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """What the errors of all terms come to together, each a product."""
    return np.sqrt(_dot(lhs * lhs, rhs * rhs)) if is_statistical() else _dot(lhs, rhs)


def _dot(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """lhs @ rhs; a factor is often nothing but zeros, as what weights lack."""
    return lhs @ rhs if lhs.any() and rhs.any() else np.zeros((lhs.shape[0], rhs.shape[1]))


def _where_special(lhs: Number, rhs: Number, is_nan: np.ndarray, rad: np.ndarray) -> np.ndarray:
    """An exact NaN determines the sum, an exact infinity beside nothing but exact factors, if their finite products
    cannot overflow to an infinity of the other sign: then the sum may be NaN (P35)."""

    def anywhere(test: Any) -> np.ndarray:
        return test(lhs).any(axis=1)[:, None] | test(rhs).any(axis=0)

    nan = anywhere(lambda one: np.isnan(one.real.hi) & (one.rad == 0))
    special = anywhere(lambda one: ~np.isfinite(one.real.hi))
    inexact = anywhere(lambda one: np.broadcast_to(one.rad > 0, one.shape))
    unknown = anywhere(lambda one: np.broadcast_to(np.isinf(one.rad), one.shape))
    rad = np.where(unknown | (special & inexact), np.inf, rad)
    return np.where(nan | (special & ~inexact & (is_nan | np.isfinite(rad))), 0.0, rad)


def _finite(number: Number) -> np.ndarray:
    """Magnitudes, 0 for what is no number."""
    return np.where(np.isfinite(number.real.hi), np.abs(number.real.hi), 0.0)


def _bounded(number: Number) -> np.ndarray:
    return np.broadcast_to(np.where(np.isinf(number.rad), 0.0, number.rad), number.shape)
