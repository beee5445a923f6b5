"""Gradients of batch norm whose statistics are constants: those of training, which the batch does not change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.rows import Rows
from conform.interp.golden import Golden
from conform.interp.ops.normalization.gradient_rows import (
    any_of,
    finite_part,
    in_any_order,
    of_finite,
    product_of,
    with_special,
)
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly, root
from conform.numerics.formats import Format
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format


@dataclass(frozen=True)
class Constants:
    """The mean of each row and, [rows, 1] both, the variance, by whose 1 / sqrt(variance + eps) a difference from the
    mean is multiplied; eps None: that factor itself."""

    mean: np.ndarray
    scale: np.ndarray
    eps: float | None

    @staticmethod
    def of(mean: np.ndarray, scale: np.ndarray, eps: float | None) -> Constants:
        """Of statistics [rows] of any format."""
        return Constants(*(each[:, None].astype(np.float64) for each in (mean, scale)), eps)

    def at(self, place: slice) -> Constants:
        """Those of some rows."""
        return Constants(self.mean[place], self.scale[place], self.eps)

    @property
    def is_over_zero(self) -> np.ndarray:
        """[rows, 1]: where the factor is 1 / 0."""
        return np.isfinite(self.scale) & (self.scale + (np.nan if self.eps is None else self.eps) == 0)

    def times(self, real: Real) -> Real:
        """The numbers times the factor."""
        scale = Real.exact(finite_part(self.scale))
        if self.eps is None:
            return real * scale
        deviation = (scale + Real.exact(np.float64(self.eps))).sqrt()
        return where(np.isnan(deviation.hi), np.nan, real / deviation)  # of a number beyond float64's range too

    def times_ball(self, ball: Ball) -> Ball:
        scale = Ball.exact(finite_part(self.scale), ball.compute)
        return ball * scale if self.eps is None else ball / (scale + self.eps).sqrt()

    def exactly(self, number: Fraction, row: int) -> Fraction:
        """The number times the factor; 0 where that is open."""
        scale = Fraction(float(finite_part(self.scale)[row, 0]))
        if self.eps is None:
            return number * scale
        if number == 0 or self.eps == inf:
            return Fraction(0)
        square = scale + Fraction(self.eps)
        if square <= 0:
            return Fraction(0)
        magnitude = root(number**2 / square, 2)
        return magnitude if number > 0 else type(magnitude)(-magnitude)


def of_input(
    fmt: Format, grad: Rows, weight: Pieces[np.ndarray] | None, constants: Sequence[Constants]
) -> Iterator[Golden]:
    """grad * weight / sqrt(variance + eps) of each element, piece by piece, by whichever of the constants."""
    for first, *others in zip(*(_of_input(fmt, grad, weight, each) for each in constants), strict=True):
        yield first.or_else(*others)


def _of_input(fmt: Format, grad: Rows, weight: Pieces[np.ndarray] | None, constants: Constants) -> Iterator[Golden]:
    weight = weight or grad.beside(lambda rows, columns: np.ones((1, 1)))
    compute, one = held_format(fmt), np.ones(constants.scale.shape)
    with np.errstate(all="ignore"):
        factor, factor_ball = constants.times(Real.exact(one)), constants.times_ball(Ball.exact(one, compute))
    for g, w in zip(grad.pieces, weight, strict=True):
        nan, infinite = (holds(g) | holds(w) | holds(constants.scale) for holds in (np.isnan, np.isinf))
        g, w = finite_part(g), np.broadcast_to(finite_part(w), g.shape)

        def number(index: tuple[int, int], g: np.ndarray = g, w: np.ndarray = w) -> Fraction:
            return constants.exactly(Fraction(g[index]) * Fraction(w[index]), index[0])

        product = where(np.isnan(factor.hi), np.nan, Real.exact(g) * Real.exact(w) * factor)
        value, real = decide_exactly(fmt, product, number)
        ball = in_any_order(Ball.exact(g, compute), Ball.exact(w, compute), factor_ball)
        golden = with_special(Golden.derived(fmt, value, real, ball, zero_sign_free=True), nan, infinite)
        yield golden.opened(constants.is_over_zero & ~nan, "P63")


def of_weight(fmt: Format, x: Rows, grad: Rows, constants: Sequence[Constants]) -> Golden:
    """[rows]: sum(grad * (x - mean)) / sqrt(variance + eps) over each row, by whichever of the constants."""
    first, *others = (_of_weight(fmt, x, grad, each) for each in constants)
    return first.or_else(*others)


def _of_weight(fmt: Format, x: Rows, grad: Rows, constants: Constants) -> Golden:
    compute, statistics = held_format(fmt), [constants.mean, constants.scale]
    nan, infinite = (any_of(holds, x.pieces, grad.pieces, statistics) for holds in (np.isnan, np.isinf))
    mean = finite_part(constants.mean)
    terms = x.pieces.map(lambda x, g: (Real.exact(finite_part(x)) - Real.exact(mean)) * finite_part(g), grad.pieces)

    def balls(of: np.ndarray | None) -> Ball:
        def product(x: np.ndarray, g: np.ndarray) -> Ball:
            return product_of(compute, finite_part(g), finite_part(x) if of is None else of)

        return Ball.total(x.pieces.map(product, grad.pieces))

    def number(index: tuple[int, int]) -> Fraction:
        row, total = index[0], Fraction(0)
        for own, g in zip(x.row(row), grad.row(row), strict=True):
            for one, grad_here in zip(own.tolist(), g.tolist(), strict=True):
                total += Fraction(grad_here) * (Fraction(one) - Fraction(float(mean[row, 0])))
        return constants.exactly(total, row)

    with np.errstate(all="ignore"):
        real = constants.times(Real.total(terms))
        ball = constants.times_ball(balls(None) - balls(mean))
    value, real = decide_exactly(fmt, real, of_finite(number, nan, infinite))
    golden = with_special(Golden.derived(fmt, value, real, ball, zero_sign_free=True), nan, infinite)
    return golden.opened(constants.is_over_zero & ~nan, "P63").rearranged(lambda part: part[:, 0])
