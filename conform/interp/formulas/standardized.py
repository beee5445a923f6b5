"""(x - mean) * rstd * scale + shift over rows, with rstd = 1 / sqrt(variance + eps).

The formula of layer, group, batch and rms norm: on reals, on fractions and numbers of any precision where those do not
decide, and on balls for the error budget.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.rows import Rows
from conform.interp.formulas.moments import AboutZero, Moments
from conform.interp.golden import Golden
from conform.interp.operands import steps_of
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly, resolved, root
from conform.numerics.formats import Format
from conform.numerics.product import held_apart
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import flushed_sum, held_format, joined, underflow
from conform.numerics.scaled import Scaled


class Standardized:
    """The outputs "output", piece by piece [rows, m] of the rows, "mean" and "rstd" [rows, 1].

    scale, shift: what the rows' pieces are multiplied by and what is added, arrays that broadcast to them, or None
    folded: whether implementations multiply once, x * (rstd * scale) + (shift - mean * rstd * scale)
    """

    def __init__(
        self,
        rows: Rows,
        scale: Pieces[np.ndarray] | None,
        shift: Pieces[np.ndarray] | None,
        eps: float,
        moments: Moments,
        folded: bool = False,
    ) -> None:
        nothing = rows.beside(lambda rows, columns: None)
        self.rows, self.scale, self.shift = rows, scale or nothing, shift or nothing
        self.eps, self.moments, self.folded = eps, moments, folded
        with np.errstate(all="ignore"):
            self._exponent = _not_beyond(moments.exponents(), eps)  # by it rows are divided, to keep squares in range
            self._scaled_mean, variance = moments.reals(self._exponent)
            self.known = np.isfinite(variance.hi) & rows.are_finite()
            self._is_wide = np.isposinf(variance.hi) & np.isfinite(self._scaled_mean.hi)
            self._is_negative = np.signbit(variance.hi) & ((variance + Real.exact(np.float64(eps))).hi < 0)
            square = variance + Real.exact(np.float64(eps)).times_power_of_two(-2 * self._exponent)
            square = square if np.isfinite(eps) else where(self.known, eps, square)  # however large the variance is
            self._scaled_rstd = Real.exact(np.float64(1)) / square.sqrt()
            mean = self._scaled_mean.times_power_of_two(self._exponent)
            self.mean = mean if moments.shift is None else mean + Real.exact(moments.shift)
            self.rstd = self._scaled_rstd.times_power_of_two(-self._exponent)
        self._balls: dict[str, tuple[Ball, Ball]] = {}
        self._exact: dict[int, tuple[Fraction, Fraction]] = {}

    def outputs(self, fmt: Format) -> Iterator[Golden]:
        """The golden of each piece, in `fmt`."""
        own = self.moments.shift
        for x, scale, shift in zip(self.rows.pieces, self.scale, self.shift, strict=True):
            with np.errstate(all="ignore"):
                scaled = Real.exact(x if own is None else x - own).times_power_of_two(-self._exponent)
                centred = scaled - self._scaled_mean
                if not np.isfinite(self.eps):  # rstd is 0 or NaN, however far x is from the mean
                    centred = where(self.known, 1.0, centred)
                is_same = self._is_wide & np.isfinite(x) | np.isnan(self._scaled_rstd.hi)  # rstd is 0 or NaN likewise
                centred = where(is_same, 1.0, centred)
                real = normed = centred * self._scaled_rstd
                real = real if scale is None else real * Real.exact(scale)
                real = real if shift is None else real + Real.exact(shift)
                real = where(self._is_negative, np.nan, self._with_poles(real, np.nan))
            piece = _Piece(self, x, scale, shift)
            value, real = resolved(fmt, real, piece.of_numbers, piece.rational, partial(piece.scaled, normed))
            yield Golden.derived(fmt, value, real, piece.ball(*self.balls(held_format(fmt))), zero_sign_free=True)

    def statistics(self, fmt: Format) -> tuple[Golden, Golden]:
        """Mean and rstd of rows, in the compute type or the input's (P36), open beside an infinity and of no elements
        (P40)."""
        infinite = [np.isinf(piece).any(axis=1, keepdims=True) for piece in self.rows.pieces]
        open_ = np.logical_or.reduce(infinite) | (self.rows.terms == 0)
        goldens = [[each(step).opened(open_, "P40") for step in steps_of(fmt)] for each in (self._mean, self.rstd_in)]
        return tuple(first.or_else(*others) for first, *others in goldens)

    def rstds(self, fmt: Format) -> Golden:
        """rstd, in the compute type or the input's (P36)."""
        first, *others = map(self.rstd_in, steps_of(fmt))
        return first.or_else(*others)

    def _mean(self, fmt: Format) -> Golden:
        value, real = decide_exactly(fmt, self.mean, lambda index: self.moments.exact(index[0])[0])
        return Golden.derived(fmt, value, real, self.balls(held_format(fmt))[0], zero_sign_free=True)

    def rstd_in(self, fmt: Format) -> Golden:
        """rstd, in this format alone."""
        real = self._with_poles(self.rstd, np.inf)
        value, real = decide_exactly(fmt, real, lambda index: root(1 / self.exact(index[0])[1], 2))
        return Golden.derived(fmt, value, real, self.balls(held_format(fmt))[1], zero_sign_free=True)

    def exact(self, row: int) -> tuple[Fraction, Fraction]:
        """The mean and variance + eps of a row without infinities and NaN."""
        if row not in self._exact:
            mean, variance = self.moments.exact(row)
            self._exact[row] = mean, variance + Fraction(self.eps)
        return self._exact[row]

    def balls(self, compute: Format) -> tuple[Ball, Ball]:
        """The errors of mean and rstd."""
        if compute.name not in self._balls:
            mean, variance = self.moments.balls(compute)
            with np.errstate(all="ignore"):
                rstd = Ball.exact(np.float64(1), compute) / (variance + self.eps).sqrt()
            self._balls[compute.name] = mean, rstd
        return self._balls[compute.name]

    def _with_poles(self, real: Real, at_pole: float) -> Real:
        """A variance that is exactly -eps makes an infinite rstd, and a smaller one NaN, which reals of some radius do
        not know."""
        unknown = np.flatnonzero((np.isinf(real.radius) & self.known).any(axis=1)).tolist()
        squares = {row: self.exact(row)[1] for row in unknown}
        special = {row: at_pole if square == 0 else np.nan for row, square in squares.items() if square <= 0}
        if not special:
            return real
        values = np.array([[special.get(row, 0.0)] for row in range(len(real.hi))])
        return where(np.isin(np.arange(len(values)), list(special))[:, None], values, real)


def _not_beyond(exponent: np.ndarray, eps: float) -> np.ndarray:
    """Exponents below 0 no further down than the root of eps, beside which smaller squares do not count."""
    if eps == 0 or not np.isfinite(eps):
        return exponent
    return np.where(exponent < 0, np.minimum(np.maximum(exponent, np.frexp(eps)[1] // 2), 0), exponent)


@dataclass(frozen=True)
class _Piece:
    """Some columns x [rows, m] of the rows of `norm`, with their scale and shift."""

    norm: Standardized
    x: np.ndarray
    scale: np.ndarray | None
    shift: np.ndarray | None

    def rational(self, index: tuple[int, int]) -> Fraction | None:
        """Outputs whose variance + eps is the square of a rational number."""
        mean, square = self.norm.exact(index[0])
        deviation = root(square, 2)
        if deviation**2 != square:
            return None
        scale, shift = (self._at(index, parameter, other) for parameter, other in ((self.scale, 1), (self.shift, 0)))
        return (Fraction(self.x[index]) - mean) / deviation * scale + shift

    def scaled(self, normed: Real) -> Scaled:
        """Outputs with their exponents held apart; normed: (x - mean) * rstd."""
        with np.errstate(all="ignore"):
            output = held_apart(normed, np.zeros(normed.shape, int))
            if self.scale is not None:
                output = output.product(Scaled.exact(np.broadcast_to(self.scale, self.x.shape)))
            if self.shift is None:
                return output
            shift = np.broadcast_to(self.shift, self.x.shape)
            total = output.plus(Scaled.exact(shift))
            return total.or_else(output.known_where(shift == 0))

    def _at(self, index: tuple[int, int], parameter: np.ndarray | None, otherwise: int) -> Fraction:
        return Fraction(otherwise if parameter is None else np.broadcast_to(parameter, self.x.shape)[index])

    def of_numbers(self, some: np.ndarray) -> np.ndarray:
        """Outputs of the rows `some`."""
        exact = [self.norm.exact(row) for row in some]
        mean, square = (mp.of_fraction(np.array([[pair[i]] for pair in exact], dtype=object)) for i in (0, 1))
        output = (mp.of_float(self.x[some]) - mean) / mp.sqrt(square)
        for parameter, operation in ((self.scale, operator.mul), (self.shift, operator.add)):
            if parameter is not None:
                output = operation(output, mp.of_float(np.broadcast_to(parameter, self.x.shape)[some]))
        return output

    def ball(self, mean: Ball, rstd: Ball) -> Ball:
        """Errors of (x - mean) * rstd or of x * rstd - mean * rstd, then of scale and shift; folded, both in one
        product, whose four roundings and that of the new shift cancel no better than x and the mean do, and which
        multiplies by x and the mean what rstd * scale loses near 0, or by rstd what (x - mean) * scale does."""
        compute, folded = mean.compute, self.norm.folded
        u, x = compute.unit_roundoff, Ball.exact(self.x, compute)
        with np.errstate(all="ignore"):
            centred, reach = self.x - mean.mid, rstd.mid + rstd.rad
            cancelled = (4 if folded else 2) * u * (np.abs(self.x) + np.abs(mean.mid))
            cancelled = 0.0 if isinstance(self.norm.moments, AboutZero) else cancelled
            cancelled = cancelled + flushed_sum(compute)  # of x - mean
            spread = joined(np.abs(centred) * rstd.rad, joined(mean.rad, cancelled) * reach)
            terms = (np.abs(self.x) + mean.scale) * np.abs(rstd.mid)
            output = x.rounded(centred * rstd.mid, spread).at_scale(terms)
            output = output if self.scale is None else output * Ball.exact(self.scale, compute)
            if self.shift is not None:
                output = output + Ball.exact(self.shift, compute)
                output = replace(output, rad=joined(output.rad, 2 * u * np.abs(self.shift) if folded else 0.0))
            if folded:
                lost = underflow(compute) * (2 + np.abs(self.x) + np.abs(mean.mid) + reach)
                output = replace(output, rad=joined(output.rad, np.where(np.isfinite(lost), lost, 0.0)))
            is_finite = np.isfinite(self.x) & np.isfinite(mean.mid)
            output = output.but_exact(~is_finite & (mean.rad == 0) | (rstd.rad == 0) & ~np.isfinite(rstd.mid))
            bounded = ~is_finite | (np.abs(centred) + mean.rad <= compute.max_finite)
            bounded &= self._folds(mean, reach, compute) if folded else True
            return replace(output, rad=np.where(bounded, output.rad, np.inf))

    def _folds(self, mean: Ball, rstd: np.ndarray, compute: Format) -> np.ndarray:
        """Where none of rstd * scale, that times x, (x - mean) * scale and the new shift overflows, nor does the factor
        of an infinity underflow to 0."""
        factor = rstd if self.scale is None else rstd * np.abs(self.scale)
        shift = 0.0 if self.shift is None else np.abs(self.shift)
        offset = (np.where(np.isfinite(mean.mid), np.abs(mean.mid), 0.0) + mean.rad) * factor + shift
        lost = np.isinf(self.x) & (factor < compute.min_normal)
        centred = np.where(np.isfinite(self.x - mean.mid), np.abs(self.x - mean.mid) + mean.rad, 0.0)
        scaled = centred * (1.0 if self.scale is None else np.abs(self.scale))
        product = np.where(np.isfinite(self.x), np.abs(self.x), 0.0) * factor
        sizes = np.fmax(np.fmax(product, offset), np.fmax(factor, scaled))  # of NaN nothing is known here
        return ~(sizes > compute.max_finite) & ~lost | np.isnan(factor)
