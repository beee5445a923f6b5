"""(x - mean) * rstd * scale + shift over rows [rows, n], with rstd = 1 / sqrt(variance + eps).

The formula of layer, group, batch and rms norm: on reals, on fractions and mpmath numbers where those do not decide,
and on balls for the error budget.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np

from conform.interp.golden import Golden
from conform.interp.moments import AboutZero, Moments
from conform.interp.numerics import multiprecision as mp
from conform.interp.numerics.ball import Ball, joined
from conform.interp.numerics.escalate import resolved, root
from conform.interp.numerics.formats import Format
from conform.interp.numerics.real import Real, where
from conform.interp.operands import compute_format, steps_of

STATISTICS = ("mean", "rstd")


class Standardized:
    """The outputs "output" [rows, n], "mean" and "rstd" [rows, 1], each computed once per format.

    scale, shift: arrays that broadcast to the rows, or None
    folded: whether implementations multiply once, x * (rstd * scale) + (shift - mean * rstd * scale)
    """

    def __init__(
        self,
        rows: np.ndarray,
        scale: np.ndarray | None,
        shift: np.ndarray | None,
        eps: float,
        moments: Moments,
        folded: bool = False,
    ) -> None:
        self.rows, self.eps, self.moments, self.folded = rows, eps, moments, folded
        self.scale, self.shift = (None if p is None else np.broadcast_to(p, rows.shape) for p in (scale, shift))
        with np.errstate(all="ignore"):
            mean, variance = moments.reals()
            rstd = Real.exact(np.float64(1)) / (variance + Real.exact(np.float64(eps))).sqrt()
            output = (Real.exact(rows) - mean) * rstd
            output = output if self.scale is None else output * Real.exact(self.scale)
            output = output if self.shift is None else output + Real.exact(self.shift)
        self.known = np.isfinite(variance.hi[:, 0]) & np.isfinite(rows).all(axis=1)
        self.real = {"output": output, "mean": mean, "rstd": rstd}
        self.budget, self.exact = cache(self._budgets), cache(self._exact)

    def golden(self, name: str, fmt: Format) -> Golden:
        """The output `name` in `fmt`."""
        real = self._with_poles(name, self.real[name])
        value, real = resolved(
            fmt, real, lambda some: self._with_mpmath(some), lambda index: self._rational(name, index)
        )
        return Golden(fmt, value, real, budget=self.budget(compute_format(fmt))[name], zero_sign_free=True)

    def statistics(self, fmt: Format) -> tuple[Golden, Golden]:
        """Mean and rstd of rows, in the compute type or the input's (P36), open beside an infinity (P40)."""
        infinite = np.isinf(self.rows).any(axis=1, keepdims=True)
        goldens = ([self.golden(name, step).opened(infinite, "P40") for step in steps_of(fmt)] for name in STATISTICS)
        return tuple(first.or_else(*others) for first, *others in goldens)

    def rstd(self, fmt: Format) -> Golden:
        """rstd, in the compute type or the input's (P36)."""
        first, *others = (self.golden("rstd", step) for step in steps_of(fmt))
        return first.or_else(*others)

    def _exact(self, row: int) -> tuple[Fraction, Fraction]:
        """The mean and variance + eps of a row."""
        mean, variance = self.moments.exact(row)
        return mean, variance + Fraction(self.eps)

    def _with_poles(self, name: str, real: Real) -> Real:
        """A variance that is exactly -eps makes an infinite rstd, which reals of some radius do not know."""
        unknown = np.isinf(real.radius).any(axis=1) & self.known
        poles = [row for row in np.flatnonzero(unknown) if name != "mean" and self.exact(row)[1] == 0]
        if not poles:
            return real
        at_pole = np.isin(np.arange(len(self.rows)), poles)[:, None]
        return where(at_pole, np.inf if name == "rstd" else np.nan, real)

    def _rational(self, name: str, index: tuple[int, int]) -> Fraction | None:
        """The mean, what rounds like rstd, and outputs whose variance + eps is the square of a rational number."""
        row, _ = index
        mean, square = self.exact(row)
        if name == "mean":
            return mean
        deviation = root(square, 2)
        if name == "rstd":
            return root(1 / square, 2)
        if deviation**2 != square:
            return None
        scale = 1 if self.scale is None else Fraction(self.scale[index])
        shift = 0 if self.shift is None else Fraction(self.shift[index])
        return (Fraction(self.rows[index]) - mean) / deviation * scale + shift

    def _with_mpmath(self, some: np.ndarray) -> np.ndarray:
        """Outputs of the rows `some`."""
        exact = [self.exact(row) for row in some]
        mean, square = (mp.of_fraction(np.array([[pair[i]] for pair in exact], dtype=object)) for i in (0, 1))
        output = (mp.of_float(self.rows[some]) - mean) / mp.sqrt(square)
        output = output if self.scale is None else output * mp.of_float(self.scale[some])
        return output if self.shift is None else output + mp.of_float(self.shift[some])

    def _folds(self, mean: Ball, rstd: np.ndarray, compute: Format) -> np.ndarray:
        """Where neither rstd * scale nor the new shift overflows, nor the factor of an infinity underflows to 0."""
        factor = rstd if self.scale is None else rstd * np.abs(self.scale)
        shift = 0.0 if self.shift is None else np.abs(self.shift)
        offset = (np.where(np.isfinite(mean.mid), np.abs(mean.mid), 0.0) + mean.rad) * factor + shift
        lost = np.isinf(self.rows) & (factor < compute.min_normal)
        return (factor <= compute.max_finite) & ~(offset > compute.max_finite) & ~lost | np.isnan(factor)

    def _budgets(self, compute: Format) -> dict[str, np.ndarray]:
        """Errors of (x - mean) * rstd or of x * rstd - mean * rstd, then of scale and shift; folded, both in one
        product, whose four roundings and that of the new shift cancel no better than x and the mean do."""
        mean, variance = self.moments.balls(compute)
        u, x = compute.unit_roundoff, Ball.exact(self.rows, compute)
        with np.errstate(all="ignore"):
            rstd = Ball.exact(np.float64(1), compute) / (variance + self.eps).sqrt()
            centred, reach = self.rows - mean.mid, rstd.mid + rstd.rad
            cancelled = (4 if self.folded else 2) * u * (np.abs(self.rows) + np.abs(mean.mid))
            cancelled = 0.0 if isinstance(self.moments, AboutZero) else cancelled
            spread = joined(np.abs(centred) * rstd.rad, joined(mean.rad, cancelled) * reach)
            output = x.rounded(centred * rstd.mid, spread)
            output = output if self.scale is None else output * Ball.exact(self.scale, compute)
            if self.shift is not None:
                output = output + Ball.exact(self.shift, compute)
                folded = 2 * u * np.abs(self.shift) if self.folded else 0.0
                output = replace(output, rad=joined(output.rad, folded))
            special = ~np.isfinite(centred) & (mean.rad == 0) | (rstd.rad == 0) & ~np.isfinite(rstd.mid)
            output = replace(output, rad=np.where(special, 0.0, output.rad))
            if self.folded:
                output = replace(output, rad=np.where(self._folds(mean, reach, compute), output.rad, np.inf))
        return {"output": output.rad, "mean": mean.rad, "rstd": rstd.rad}
