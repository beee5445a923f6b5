"""Vector norms over dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.rows import Rows, by_rows, reduced_shape
from conform.interp.dims import reduced_axes
from conform.interp.formulas.log_sum_exp import without_first
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.accumulate import dot_of, total_of
from conform.numerics.ball import Ball
from conform.numerics.escalate import resolved, root
from conform.numerics.formats import Format, format_named, format_of
from conform.numerics.real import TINY, Real, where
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import held_format, joined
from conform.numerics.scaled import Scaled

POW_ULPS = 16.0  # OpenCL C 3.0, full profile, section 7.4, pow
FRACTION_BITS = 3  # of an order whose norms may be rational: 0.5, 1.25, ...
FAR = 800.0  # e^-800, which `exp` of reals takes for 0 to 2^-1007
FARTHEST = 3000.0  # times any double, e^3000 is beyond every format, and so is e^-3000
LEAST = 2.0**-1021  # numbers that scaling by a power of two may have rounded are less
LARGEST_DEGREE = 100  # of a root that is taken exactly: powers of more digits take seconds


@semantics("aten::linalg_vector_norm", along="dim", accumulates="self")
def linalg_vector_norm(
    self: np.ndarray,
    ord: int | float = 2,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> Golden:
    """sum(|x|^ord)^(1/ord) over dim, of elements converted to dtype first; the number of elements != 0 for ord 0, the
    largest and smallest magnitude for inf and -inf (P57, P58, P60)"""
    fmt = format_named(dtype) if dtype else format_of(self)
    axes = reduced_axes(dim, self.ndim)
    magnitudes = Rows.over(self, axes, lambda some: np.abs(converted(some, fmt).astype(np.float64)))
    golden = by_rows(partial(_norm, fmt, float(ord)), magnitudes)
    return reshaped(golden, reduced_shape(self.shape, axes, keepdim))


@semantics("aten::norm.Scalar", accumulates="self")
def norm(self: np.ndarray, p: int | float = 2) -> Golden:
    """The norm of order p of all elements (P57, P58, P60)"""
    return linalg_vector_norm(self, p)


@semantics("aten::norm.ScalarOpt_dim", along="dim", accumulates="self")
def norm_over(self: np.ndarray, p: int | float | None, dim: Sequence[int], keepdim: bool = False) -> Golden:
    """The norm of order p, 2 if None, over dim (P57, P58, P60)"""
    return linalg_vector_norm(self, 2 if p is None else p, dim, keepdim)


def _norm(fmt: Format, order: float, sizes: Rows) -> Golden:
    """The norm of the magnitudes `sizes`."""
    if order == 0:
        return _without_error(fmt, sum((piece != 0).sum(axis=1) for piece in sizes.pieces).astype(np.float64))
    if np.isinf(order):
        return _without_error(fmt, sizes.largest()[:, 0] if order > 0 else -_negated(sizes).largest()[:, 0])
    extreme = _extreme(sizes, order)
    regular = np.isfinite(extreme) & (extreme > 0)
    value, real = resolved(
        fmt,
        _regular_norm(sizes, order, np.where(regular, extreme, 1.0)).but_one_where(~regular),
        lambda some: np.array([[_mp_norm(sizes.row(row), order, extreme[row, 0])] for row in some], dtype=object),
        lambda index: _rational_norm(sizes.row(index[0]), order),
    )
    value = np.where(regular, value, round_to(fmt, extreme))
    balls = sizes.pieces.map(lambda piece: Ball.exact(piece, held_format(fmt)))
    return Golden(fmt, value, where(regular, real, extreme), budget=norm_ball(balls, order))


def _extreme(sizes: Rows, order: float) -> np.ndarray:
    """[count, 1]: the largest magnitude, or of a negative order the smallest: the norm itself where that is 0 or not
    finite; NaN beside a NaN. Of nothing, 0 and inf."""
    if sizes.terms == 0:
        return np.full((sizes.count, 1), 0.0 if order > 0 else np.inf)
    return sizes.largest() if order > 0 else -_negated(sizes).largest()


def _regular_norm(sizes: Rows, order: float, unit: np.ndarray) -> Scaled:
    """The norm of rows with the extreme `unit` [count, 1]: unit times the norm of their magnitudes over it, of which no
    power is more than 1."""
    significand, exponent = np.frexp(unit)
    if order in (1, 2):
        return _scaled_norm(sizes, order, exponent)
    p = Real.exact(np.float64(order))

    def power(x: np.ndarray) -> Real:
        logarithm = functions.log_ratio(x, unit)
        far = (logarithm.hi + logarithm.radius) * order < -FAR
        image = functions.exp(where(far, -FAR, logarithm * p))
        return where(x == unit, 1.0, where(x == 0, 0.0, image))

    with np.errstate(all="ignore"):
        logarithm = functions.log(Real.total(sizes.pieces.map(power)))
        far = (logarithm.hi - logarithm.radius) / np.abs(order) > FARTHEST
        root_ = functions.exp_scaled(where(far, np.copysign(FARTHEST, order), logarithm / p))
        return root_.times(Real.exact(significand)).times_power_of_two(exponent)


def _scaled_norm(sizes: Rows, order: float, exponent: np.ndarray) -> Scaled:
    """The norm of order 1 or 2 of magnitudes below 2^exponent [count, 1]. What underflows beside 1/2 adds less than
    TINY for each term."""
    with np.errstate(all="ignore"):
        scaled = sizes.pieces.map(lambda x: np.ldexp(x, -exponent))
        total = (total_of(scaled) if order == 1 else dot_of(scaled.map(lambda x: (x, x)))).real.reshape(exponent.shape)
        lost = sizes.pieces.map(lambda x, y: ((y < LEAST) & (x > 0)).sum(axis=1, keepdims=True), scaled)
        real = Real(total.hi, total.lo, total.radius + TINY * sum(lost))
        real = real if order == 1 else real.sqrt()
        return Scaled.of(real.hi, real.lo, real.radius / real.hi, exponent)


def _negated(rows: Rows) -> Rows:
    return Rows(rows.source, rows.count, rows.terms, lambda some: -rows.read(some), rows.first)


def _without_error(fmt: Format, number: np.ndarray) -> Golden:
    """A count or an extreme, which the compute type holds: only its rounding to `fmt` is an error."""
    return Golden(fmt, round_to(fmt, number), Real.exact(number), budget=np.zeros_like(number))


def _mp_norm(row: Iterable[np.ndarray], order: float, extreme: float) -> mp.Number:
    """The extreme times the norm of the ratios to it, of which the first is 1: the others may be lost beside it."""
    p, unit = mp.of_float(order), mp.of_float(extreme)
    others = sum(mp.exp(mp.log(mp.of_float(piece) / unit) * p).sum() for piece in without_first(extreme, row))
    return unit * mp.exp(mp.log1p(others) / p)


def _rational_norm(row: Iterable[np.ndarray], order: float) -> Fraction | None:
    """`rational_norm` of finite magnitudes."""
    if not all(np.isfinite(piece).all() for piece in row):
        return None
    return rational_norm([Fraction(x) for piece in row for x in piece.tolist()], order)


def rational_norm(magnitudes: list[Fraction], order: float) -> Fraction | None:
    """The norm, or what rounds like it, of an order a / 2^j where the magnitudes' ratios have rational roots of degree
    2^j: (sqrt 2 + sqrt 8)^2 = 2 (1 + sqrt 4)^2."""
    denominator = 2**FRACTION_BITS
    if order * denominator % 1:
        return None
    p = Fraction(order)
    if abs(p.numerator) > LARGEST_DEGREE:
        return None
    largest = max(magnitudes, default=Fraction(0))
    if largest == 0 or p < 0 and 0 in magnitudes:
        return Fraction(0)
    if sum(x != 0 for x in magnitudes) == 1:
        return largest
    sum_ = _sum_of_powers((x / largest for x in magnitudes), p)
    if sum_ is None:
        return None
    degree = abs(p.numerator)
    return root(largest**degree * sum_ ** (p.denominator if p > 0 else -p.denominator), degree)


def _sum_of_powers(ratios: Iterable[Fraction], p: Fraction) -> Fraction | None:
    """The sum of the ratios to the power p; None where a ratio has no rational root of the degree of p."""
    total = Fraction(0)
    for ratio in ratios:
        root_ = _exact_root(ratio, p.denominator)
        if root_ is None:
            return None
        total += root_**p.numerator
    return total


def _exact_root(number: Fraction, degree: int) -> Fraction | None:
    candidate = root(number, degree)
    return candidate if candidate**degree == number else None


def norm_ball(x: Pieces[Ball], order: float) -> np.ndarray:
    """[count, 1]: the error of the norm of the magnitudes `x` by its formula in the compute type."""
    if order == 1:
        return Ball.total(x).rad
    return Ball.total(x.map(Ball.square)).sqrt().rad if order == 2 else _power_ball(x, order).rad


def _power_ball(x: Pieces[Ball], order: float) -> Ball:
    """Two powers of POW_ULPS each, around a sum; 1 / order, rounded, moves the outer one by u |log(sum) / order|.

    A zero or infinite magnitude has an exact power.
    """

    def power(x: Ball) -> Ball:
        image = x.rounded(x.mid**order, 0.0, POW_ULPS)
        return Ball(image.mid, np.where(np.isfinite(x.mid) & (x.mid > 0), image.rad, 0.0), x.compute)

    with np.errstate(all="ignore"):
        total_ = Ball.total(x.map(power))
        ends = [np.maximum(total_.mid + sign * total_.rad, 0.0) ** (1 / order) for sign in (-1, 1)]
        norm_ = total_.mid ** (1 / order)
        spread = np.maximum(*(np.abs(end - norm_) for end in ends))
        exponent_error = total_.compute.unit_roundoff * np.abs(np.log(total_.mid) / order) * (norm_ + spread)
        exact = (total_.rad == 0) & ~((total_.mid > 0) & np.isfinite(total_.mid))
        image = total_.rounded(norm_, np.where(exact, 0.0, joined(spread, exponent_error)), POW_ULPS)
        return Ball(norm_, np.where(exact, 0.0, image.rad), total_.compute)
