"""Mean and variance of rows: exactly, on reals, and what an honest implementation may lose of them.

`OfRows`, `AboutZero` and `Given` are where a normalization has its two statistics from; each answers the same
questions with a pair (mean, variance).
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.rows import Rows
from conform.numerics.accumulate import exact_dot, exact_total
from conform.numerics.ball import Ball
from conform.numerics.formats import Format
from conform.numerics.real import Real
from conform.numerics.rounding_errors import accumulator_of, growth, joined

MODERATE = 300  # magnitudes between 2^-300 and 2^300 have squares and sums far from the ends of float64's range


def exponents(rows: Rows | Near) -> np.ndarray:
    """[rows, 1]: by which power of two to divide a row so that it is moderate; 0 where it is, or is not finite."""
    largest = np.maximum.reduce([np.abs(x).max(axis=1, keepdims=True, initial=0.0) for x in rows.pieces])
    exponent = np.frexp(largest)[1]
    return np.where(np.isfinite(largest) & (np.abs(exponent) > MODERATE), exponent, 0)


class Near:
    """Rows less `shift` [rows, 1], exactly (Sterbenz): the smallest number in magnitude of each row whose numbers, of
    one sign, lie within a factor of 2 of each other, and 0 of the others; None where that is all. What is left is as
    small as the numbers are apart, and so are its errors."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.terms = rows, rows.terms
        self.shift = _shift(rows)

    @property
    def pieces(self) -> Pieces[np.ndarray]:
        return self.rows.pieces if self.shift is None else self.rows.pieces.map(lambda x: x - self.shift)

    def are_finite(self) -> np.ndarray:
        return self.rows.are_finite()


def _shift(rows: Rows) -> np.ndarray | None:
    if not rows.terms:
        return None
    smallest = np.minimum.reduce([piece.min(axis=1, keepdims=True) for piece in rows.pieces])
    largest = np.maximum.reduce([piece.max(axis=1, keepdims=True) for piece in rows.pieces])
    with np.errstate(over="ignore"):
        is_above = (smallest > 0) & (largest <= 2 * smallest) & np.isfinite(largest)
        is_below = (largest < 0) & (smallest >= 2 * largest) & np.isfinite(smallest)
    shift = np.where(is_above, smallest, np.where(is_below, largest, 0.0))
    return shift if shift.any() else None


def of_reals(rows: Rows, divisor: Real, exponent: np.ndarray | int = 0) -> tuple[Real, Real]:
    """(mean, sum((x - mean)^2) / divisor) of the rows over 2^exponent, each [rows, 1]; of a row with an infinity the
    second is NaN."""
    near = Near(rows)
    mean, variance = _of_reals(near, divisor, exponent)
    if near.shift is None:
        return mean, variance
    return mean + Real.exact(near.shift).times_power_of_two(-np.asarray(exponent)), variance


def _of_reals(rows: Rows | Near, divisor: Real, exponent: np.ndarray | int) -> tuple[Real, Real]:
    x = _zero_beside_special(rows, exponent)
    mean = Real.total(x) / Real.exact(np.float64(rows.terms))
    centred = x.map(lambda piece: piece - mean)
    return mean, Real.total(centred.map(_square)) / divisor


def _square(x: Real | Ball) -> Real | Ball:
    return x * x


def _zero_beside_special(rows: Rows | Near, exponent: np.ndarray | int) -> Pieces[Real]:
    """The rows over 2^exponent, with 0 for the finite numbers of those that an infinity or NaN decides."""
    are_finite = rows.are_finite()
    x = rows.pieces.map(lambda x: Real.exact(np.where(np.isfinite(x) & ~are_finite, 0.0, x)))
    return x.map(lambda piece: piece.times_power_of_two(-exponent)) if np.any(exponent) else x


def exact_mean(rows: Rows, row: int) -> Fraction:
    """The exact statistic of a row without infinities and NaN."""
    return Fraction(sum(map(exact_total, rows.row(row))), rows.terms)


def exact_variance(rows: Rows, row: int, divisor: Fraction) -> Fraction:
    """sum((x - mean)^2) / divisor of a row without infinities and NaN."""
    squares = sum(exact_dot(x, x) for x in rows.row(row))
    return (squares - rows.terms * exact_mean(rows, row) ** 2) / divisor


def of_balls(rows: Rows, divisor: Ball, compute: Format) -> tuple[Ball, Ball]:
    """The errors of both, by two passes or by Welford's updates, in any order of summation.

    Updates divide on the way: their mean is not exact where the sum is. The mean's error is one number for the whole
    row: its first-order effect on the sum of squares is 2 err sum(x - mean) = 0, and its square is what remains.
    Welford's updating formula loses n u kappa of the variance, kappa^2 = sum(x^2) / sum((x - mean)^2) (Chan, Golub and
    LeVeque, The American Statistician 37, 1983, table 1). Data that are shifted by one of their own, and the means of
    two parts, of which the updates take the squared difference n times, are as far apart as the smallest and the
    largest number: where n times the square of that overflows, nothing is said.
    """
    x, n = rows.pieces.map(lambda piece: Ball.exact(piece, compute)), float(rows.terms)
    with np.errstate(all="ignore"):
        mean = Ball.total(x, in_terms=False) / n
        centred = x.map(partial(_centred, mean))
        variance = Ball.total(centred.map(_square)) / divisor
        spent = sum(piece.rad.sum(-1, keepdims=True) for piece in centred)
        shared = mean.rad**2 + 2 * mean.rad * spent / n
        square = sum((piece**2).sum(-1, keepdims=True) for piece in rows.pieces) / divisor.mid
        welford = growth(n) * accumulator_of(compute).unit_roundoff * np.sqrt(square * variance.mid)
        rad = joined(variance.rad, shared * (n / divisor.mid), welford)
        rad = np.where(n * _reach(rows) ** 2 <= compute.max_finite, rad, np.inf)
        return mean, replace(variance, rad=np.where(rows.are_finite(), rad, 0.0))


def _centred(mean: Ball, x: Ball) -> Ball:
    """x - mean with the rounding of the difference alone, which equal numbers do not have."""
    difference = x.rounded(x.mid - mean.mid, 0.0).but_exact((x.mid == mean.mid) & (mean.rad == 0))
    return difference.at_scale(np.abs(x.mid) + mean.scale)


def _reach(rows: Rows) -> np.ndarray:
    """[rows, 1]: how far apart a row's smallest and largest number are; 0 without any."""
    largest = np.maximum.reduce([piece.max(-1, keepdims=True, initial=-np.inf) for piece in rows.pieces])
    smallest = np.minimum.reduce([piece.min(-1, keepdims=True, initial=np.inf) for piece in rows.pieces])
    return np.maximum(largest - smallest, 0.0)


class OfRows:
    """The mean and the biased variance of the rows themselves."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self._near = rows, Near(rows)
        self.shift = self._near.shift

    def exponents(self) -> np.ndarray:
        """Of the rows less `shift`."""
        return exponents(self._near)

    def reals(self, exponent: np.ndarray) -> tuple[Real, Real]:
        """Of the rows less `shift` over 2^exponent."""
        return _of_reals(self._near, Real.exact(np.float64(self.rows.terms)), exponent)

    def exact(self, row: int) -> tuple[Fraction, Fraction]:
        """The exact statistic of a row without infinities and NaN."""
        return exact_mean(self.rows, row), exact_variance(self.rows, row, Fraction(self.rows.terms))

    def balls(self, compute: Format) -> tuple[Ball, Ball]:
        return of_balls(self.rows, Ball.exact(np.float64(self.rows.terms), compute), compute)


class AboutZero:
    """The mean square of the rows in place of the variance, and 0 in place of the mean, which nothing is spent on."""

    shift = None

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def exponents(self) -> np.ndarray:
        return exponents(self.rows)

    def reals(self, exponent: np.ndarray) -> tuple[Real, Real]:
        """Of the rows over 2^exponent."""
        squares = _zero_beside_special(self.rows, exponent).map(_square)
        return Real.exact(np.zeros((self.rows.count, 1))), Real.total(squares) / Real.exact(np.float64(self.rows.terms))

    def exact(self, row: int) -> tuple[Fraction, Fraction]:
        """The exact statistic of a row without infinities and NaN."""
        return Fraction(0), Fraction(sum(exact_dot(x, x) for x in self.rows.row(row)), self.rows.terms)

    def balls(self, compute: Format) -> tuple[Ball, Ball]:
        squares = self.rows.pieces.map(lambda x: Ball.exact(x, compute).square())
        return Ball.exact(np.zeros((self.rows.count, 1)), compute), Ball.total(squares) / float(self.rows.terms)


class Given:
    """Statistics that are operands: `mean` and `variance` are [rows, 1]."""

    shift = None

    def __init__(self, mean: np.ndarray, variance: np.ndarray) -> None:
        self.mean, self.variance = mean, variance

    def exponents(self) -> np.ndarray:
        return np.zeros(self.mean.shape, int)

    def reals(self, exponent: np.ndarray) -> tuple[Real, Real]:
        """Over 2^exponent, which is 1."""
        return Real.exact(self.mean), Real.exact(self.variance)

    def exact(self, row: int) -> tuple[Fraction, Fraction]:
        """The exact statistic of a row of finite operands."""
        return Fraction(float(self.mean[row, 0])), Fraction(float(self.variance[row, 0]))

    def balls(self, compute: Format) -> tuple[Ball, Ball]:
        return Ball.exact(self.mean, compute), Ball.exact(self.variance, compute)


Moments = OfRows | AboutZero | Given
