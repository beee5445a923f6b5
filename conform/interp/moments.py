"""Mean and variance of rows [rows, n]: exactly, on reals, and what an honest implementation may lose of them.

`OfRows`, `AboutZero` and `Given` are where a normalization has its two statistics from; each answers the same three
questions with a pair (mean, variance).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from conform.interp.numerics.ball import Ball, growth, joined
from conform.interp.numerics.formats import Format
from conform.interp.numerics.real import Real


def of_reals(rows: np.ndarray, divisor: Real) -> tuple[Real, Real]:
    """(mean, sum((x - mean)^2) / divisor), each [rows, 1]; of a row with an infinity the second is NaN."""
    x = Real.exact(_zero_beside_special(rows))
    mean = x.sum(axis=-1, keepdims=True) / Real.exact(np.float64(rows.shape[-1]))
    centred = x - mean
    return mean, (centred * centred).sum(axis=-1, keepdims=True) / divisor


def _zero_beside_special(rows: np.ndarray) -> np.ndarray:
    """The rows with 0 for the finite numbers of those that an infinity or NaN decides."""
    finite = np.isfinite(rows)
    return np.where(finite & ~finite.all(axis=-1, keepdims=True), 0.0, rows)


def exact_variance(row: np.ndarray, divisor: Fraction) -> Fraction:
    """sum((x - mean)^2) / divisor of finite numbers."""
    x = [Fraction(v) for v in row.tolist()]
    mean = sum(x) / len(x)
    return sum((v - mean) ** 2 for v in x) / divisor


def of_balls(rows: np.ndarray, divisor: Ball, compute: Format) -> tuple[Ball, Ball]:
    """The errors of both, by two passes or by Welford's updates, in any order of summation.

    The mean's error is one number for the whole row: its first-order effect on the sum of squares is
    2 err sum(x - mean) = 0, and its square is what remains. Welford's updating formula loses n u kappa of the variance,
    kappa^2 = sum(x^2) / sum((x - mean)^2) (Chan, Golub and LeVeque, The American Statistician 37, 1983, table 1).
    """
    x, n = Ball.exact(rows, compute), float(rows.shape[-1])
    with np.errstate(all="ignore"):
        mean = x.sum(-1) / n
        centred = x.rounded(rows - mean.mid, 0.0)
        variance = (centred * centred).sum(-1) / divisor
        shared = mean.rad**2 + 2 * mean.rad * centred.rad.sum(-1, keepdims=True) / n
        square = (rows**2).sum(-1, keepdims=True) / divisor.mid
        welford = growth(n) * compute.unit_roundoff * np.sqrt(square * variance.mid)
        rad = joined(variance.rad, shared * (n / divisor.mid), welford)
        return mean, Ball(variance.mid, np.where(np.isfinite(rows).all(-1, keepdims=True), rad, 0.0), compute)


class OfRows:
    """The mean and the biased variance of the rows themselves."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def reals(self) -> tuple[Real, Real]:
        return of_reals(self.rows, Real.exact(np.float64(self.rows.shape[1])))

    def exact(self, row: int) -> tuple[Fraction, Fraction]:
        """Of a row without infinities and NaN."""
        x, n = self.rows[row], Fraction(self.rows.shape[1])
        return sum(map(Fraction, x.tolist())) / n, exact_variance(x, n)

    def balls(self, compute: Format) -> tuple[Ball, Ball]:
        return of_balls(self.rows, Ball.exact(np.float64(self.rows.shape[1]), compute), compute)


class AboutZero:
    """The mean square of the rows in place of the variance, and 0 in place of the mean, which nothing is spent on."""

    def __init__(self, rows: np.ndarray) -> None:
        self.rows = rows

    def reals(self) -> tuple[Real, Real]:
        x, n = Real.exact(_zero_beside_special(self.rows)), Real.exact(np.float64(self.rows.shape[1]))
        return Real.exact(np.zeros((len(self.rows), 1))), (x * x).sum(axis=1, keepdims=True) / n

    def exact(self, row: int) -> tuple[Fraction, Fraction]:
        """Of a row without infinities and NaN."""
        return Fraction(0), sum(Fraction(x) ** 2 for x in self.rows[row].tolist()) / Fraction(self.rows.shape[1])

    def balls(self, compute: Format) -> tuple[Ball, Ball]:
        x = Ball.exact(self.rows, compute)
        return Ball.exact(np.zeros((len(self.rows), 1)), compute), (x * x).sum(-1) / float(self.rows.shape[1])


class Given:
    """Statistics that are operands: `mean` and `variance` are [rows, 1]."""

    def __init__(self, mean: np.ndarray, variance: np.ndarray) -> None:
        self.mean, self.variance = mean, variance

    def reals(self) -> tuple[Real, Real]:
        return Real.exact(self.mean), Real.exact(self.variance)

    def exact(self, row: int) -> tuple[Fraction, Fraction]:
        """Of finite operands."""
        return Fraction(float(self.mean[row, 0])), Fraction(float(self.variance[row, 0]))

    def balls(self, compute: Format) -> tuple[Ball, Ball]:
        return Ball.exact(self.mean, compute), Ball.exact(self.variance, compute)


Moments = OfRows | AboutZero | Given
