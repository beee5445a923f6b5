"""Losses of elements: squared, absolute, Huber's, cross entropies of probabilities and logits, and divergence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial

import numpy as np
from gmpy2 import mpq

from conform.interp.formulas.losses import NONE, Terms, broadcast, in_blocks, nan_beside_special, reduced
from conform.interp.golden import Golden
from conform.interp.semantics import semantics
from conform.interp.size import broadcast_elements
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import Irrational
from conform.numerics.formats import Format, format_of
from conform.numerics.product import held_apart
from conform.numerics.real import Real, as_real, where
from conform.numerics.rounding_errors import held_format
from conform.numerics.scaled import Scaled

FAR, FAINT = 6000, mpq(1, 2**8600)  # e^-FAR is less than 2^-8600
LEAST = mp.power_of_two(-3300)  # of log(1 + e^-|x|), of which the sign decides: products of three float64 are coarser

# Losses of the difference


@semantics("aten::mse_loss", commutes=True, elements=broadcast_elements)
def mse_loss(self: np.ndarray, target: np.ndarray, reduction: int = 1) -> Golden:
    """(self - target)^2, its mean or its sum (P55, P57, P65)"""
    return _of_difference(self, target, reduction, lambda d: d * d, lambda d: d * d)


@semantics("aten::l1_loss", commutes=True, elements=broadcast_elements)
def l1_loss(self: np.ndarray, target: np.ndarray, reduction: int = 1) -> Golden:
    """|self - target|, its mean or its sum (P55, P57, P65)"""
    return _of_difference(self, target, reduction, abs, _magnitude)


@semantics("aten::smooth_l1_loss", commutes=True, elements=broadcast_elements)
def smooth_l1_loss(self: np.ndarray, target: np.ndarray, reduction: int = 1, beta: float = 1.0) -> Golden:
    """d^2 / (2 beta) where d = |self - target| < beta, else d - beta / 2; its mean or its sum (P55, P57, P65)"""
    if beta == 0:
        return l1_loss(self, target, reduction)
    parts = TwoParts(lambda d, beta, half: (d * d * half / beta, d - beta * half), beta)
    return _of_difference(self, target, reduction, parts, parts.of_ball)


@semantics("aten::huber_loss", commutes=True, elements=broadcast_elements)
def huber_loss(self: np.ndarray, target: np.ndarray, reduction: int = 1, delta: float = 1.0) -> Golden:
    """d^2 / 2 where d = |self - target| <= delta, else delta (d - delta / 2); its mean or its sum (P55, P57, P65)"""
    parts = TwoParts(lambda d, delta, half: (d * d * half, (d - delta * half) * delta), delta)
    return _of_difference(self, target, reduction, parts, parts.of_ball)


def _of_difference(
    self: np.ndarray,
    target: np.ndarray,
    reduction: int,
    formula: Callable[[object], object],
    of_ball: Callable[[Ball], Ball],
) -> Golden:
    """The reduced golden of `formula`, of the difference as a Real or a fraction; `of_ball` is what it loses."""
    fmt = format_of(self)
    shape, (x, y) = broadcast(self, target)
    compute = held_format(fmt)

    def terms(x: np.ndarray, y: np.ndarray) -> Terms:
        ball = of_ball(Ball.exact(x, compute) - Ball.exact(y, compute))
        real = formula(Real.exact(x) - Real.exact(y))
        return Terms(real, ball, lambda i: formula(mpq(float(x[i])) - mpq(float(y[i]))))

    with np.errstate(all="ignore"):
        return reduced(fmt, in_blocks(terms, x, y), reduction, shape)


def _magnitude(d: Ball) -> Ball:
    return replace(d, mid=np.abs(d.mid))


INFINITE_BORDER = mpq(2) ** 5000  # stands for it: no difference reaches it, what is divided by it rounds to 0


class TwoParts:
    """A function of |d|: `formula(|d|, border, 1/2)` gives its part below the border and its part above, which meet."""

    def __init__(self, formula: Callable[[object, object, object], tuple[object, object]], border: float) -> None:
        self.formula, self.border = formula, border

    def __call__(self, d: Real | mpq) -> Real | mpq:
        size = abs(d)
        if not isinstance(size, Real):
            border = mpq(self.border) if np.isfinite(self.border) else INFINITE_BORDER
            below, above = self.formula(size, border, mpq(1, 2))
            return below if size < border else above
        below, above = self.formula(size, self.border, 0.5)
        return where(size.less(self.border)[0], below, above)

    def of_ball(self, d: Ball) -> Ball:
        """Where the ball reaches across the border, the farther ends of both parts."""
        size = _magnitude(d)
        below, above = self.formula(size, size.constant(self.border), 0.5)
        near = np.abs(size.mid - self.border) <= size.rad + d.compute.unit_roundoff * self.border
        mid = np.where(size.mid < self.border, below.mid, above.mid)
        rad = np.where(size.mid < self.border, below.rad, above.rad)
        either = np.maximum(below.rad, above.rad) + np.abs(below.mid - above.mid)
        return Ball(mid, np.where(near, either, rad), d.compute, np.maximum(below.scale, above.scale))


# Cross entropies of two classes

LEAST_LOGARITHM = -100.0  # to which BCELoss clamps


@semantics("aten::binary_cross_entropy", elements=broadcast_elements)
def binary_cross_entropy(
    self: np.ndarray, target: np.ndarray, weight: np.ndarray | None = None, reduction: int = 1
) -> Golden:
    """-weight (target log(self) + (1 - target) log(1 - self)) with logarithms of at least -100; its mean or its sum
    (P54, P57, P65, P66)"""
    fmt = format_of(self)
    shape, numbers = broadcast(self, target, _ones(weight, fmt))
    with np.errstate(all="ignore"):
        terms = in_blocks(partial(_of_probabilities, fmt), *numbers)
        return replace(reduced(fmt, terms, reduction, shape), zero_sign_free=True)


def _ones(weight: np.ndarray | None, fmt: Format) -> np.ndarray:
    return np.ones((), fmt.storage) if weight is None else weight


def _of_probabilities(fmt: Format, x: np.ndarray, t: np.ndarray, w: np.ndarray) -> Terms:
    def clamped(log: Real) -> Real:
        return where(log.less(LEAST_LOGARITHM)[0], LEAST_LOGARITHM, log)

    log_x, log_1_x = clamped(functions.log(Real.exact(x))), clamped(functions.log1p(Real.exact(-x)))
    real = -(Real.exact(t) * log_x + (as_real(1.0) - Real.exact(t)) * log_1_x) * Real.exact(w)

    def rational(i: int) -> Fraction | None:
        logs = _rational_log(log_x[i], x[i] == 1), _rational_log(log_1_x[i], x[i] == 0)
        factors = Fraction(t[i]), 1 - Fraction(t[i])
        known = [factor == 0 or log is not None for factor, log in zip(factors, logs, strict=True)]
        if not all(known):
            return None
        return -sum(f * log for f, log in zip(factors, logs, strict=True) if f) * Fraction(w[i])

    def formula(i: int) -> mp.Number:
        probability, share = mp.of_float(x[i]), mp.of_float(t[i])
        log = max(mp.log(probability), LEAST_LOGARITHM) if probability else LEAST_LOGARITHM
        log_1 = max(mp.log1p(-probability), LEAST_LOGARITHM) if probability != 1 else LEAST_LOGARITHM
        return -(share * log + (1 - share) * log_1) * mp.of_float(w[i])

    return Terms(real, _probability_ball(x, t, w, held_format(fmt)), rational, formula)


def _rational_log(log: Real, of_one: bool) -> Fraction | None:
    if of_one:
        return Fraction(0)
    return Fraction(LEAST_LOGARITHM) if log.hi == LEAST_LOGARITHM and log.radius == 0 else None


def _probability_ball(x: np.ndarray, t: np.ndarray, w: np.ndarray, compute: Format) -> Ball:
    """The documented formula, with the logarithm of the rounded difference 1 - x (which is exact where it is 0)."""

    def clamped(log: Ball) -> Ball:
        below = log.mid + np.where(np.isfinite(log.rad), log.rad, 0.0) < LEAST_LOGARITHM
        return replace(log.but_exact(below), mid=np.maximum(log.mid, LEAST_LOGARITHM))

    def one_minus(y: np.ndarray) -> Ball:
        return Ball(1 - y, compute.unit_roundoff * np.abs(1 - y), compute)

    log_x, log_1_x = clamped(Ball.exact(x, compute).log()), clamped(one_minus(x).log())
    return -(Ball.exact(t, compute) * log_x + one_minus(t) * log_1_x) * Ball.exact(w, compute)


@semantics("aten::binary_cross_entropy_with_logits", elements=broadcast_elements)
def binary_cross_entropy_with_logits(
    self: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    pos_weight: np.ndarray | None = None,
    reduction: int = 1,
) -> Golden:
    """weight ((1 - target) self + (1 + (pos_weight - 1) target) log(1 + e^-self)), its mean or its sum (P54, P57, P65,
    P66)"""
    fmt = format_of(self)
    shape, numbers = broadcast(self, target, _ones(weight, fmt), _ones(pos_weight, fmt))
    with np.errstate(all="ignore"):
        terms = in_blocks(partial(_of_logits, fmt), *numbers)
        return replace(reduced(fmt, terms, reduction, shape, open_rule="P66"), zero_sign_free=True)


def _are_infinite(*operands: np.ndarray) -> np.ndarray:
    """Where an operand, of shape [n], is."""
    return np.any([np.isinf(operand) for operand in operands], axis=0)


def _of_logits(fmt: Format, x: np.ndarray, t: np.ndarray, w: np.ndarray, p: np.ndarray) -> Terms:
    """log(1 + e^-x) = log(1 + e^-|x|) - min(x, 0), so that the element is w (linear + slope log(1 + e^-|x|))."""
    target, factor = Real.exact(t), Real.exact(p)
    slope = as_real(1.0) + (factor - 1.0) * target
    linear = where(x < 0, -(factor * target), as_real(1.0) - target) * Real.exact(x)
    log = functions.log1p(functions.exp(Real.exact(-np.abs(x))))
    real = (linear + slope * log) * Real.exact(w)

    @cache
    def exact_parts(i: int) -> tuple[mpq, mpq]:
        target, factor, x_, weight = (mpq(float(number)) for number in (t[i], p[i], x[i], w[i]))
        line = -factor * target if x_ < 0 else 1 - target
        return line * x_ * weight, (1 + (factor - 1) * target) * weight

    def rational(i: int) -> mpq | Irrational | None:
        """Of |x| > FAR what rounds like it: lines and all rounding boundaries are multiples of 2^-4296, and slopes are
        below 2^3075, so that the product of one with e^-FAR is less."""
        line, slope_ = exact_parts(i)
        if slope_ == 0 or abs(x[i]) <= FAR:
            return line if slope_ == 0 else None
        return Irrational(Fraction(line + FAINT if slope_ > 0 else line - FAINT))

    def formula(i: int) -> mp.Number:
        line, slope_ = (mp.of_fraction(number) for number in exact_parts(i))
        logarithm = mp.log1p(mp.exp(-abs(mp.of_float(x[i]))))
        return line + slope_ * max(logarithm, LEAST)

    def scaled() -> Scaled:
        above = np.flatnonzero(x >= 0)
        line = (-Scaled.exact(p).product(Scaled.exact(t))).replaced(above, _apart(as_real(1.0) - target[above]))
        rise = _apart(factor - as_real(1.0)).product(Scaled.exact(t))
        slope_ = rise.plus(Scaled.exact(np.ones_like(x))).or_else(_apart(slope))
        softplus = slope_.product(_apart(log))
        return line.product(Scaled.exact(x)).plus(softplus).product(Scaled.exact(w))

    ball, open_ = _logit_ball(x, t, w, p, held_format(fmt)), _are_infinite(x, t, w, p)
    return Terms(nan_beside_special(real, (x, t, w, p)), ball, rational, formula, open_, scaled)


def _logit_ball(x: np.ndarray, t: np.ndarray, w: np.ndarray, p: np.ndarray, compute: Format) -> Ball:
    """(1 - t) x + (1 + (p - 1) t) (log(1 + e^-|x|) - min(x, 0)), as the kernel has it; it cancels where x < 0."""
    logit, target, weight, factor = (Ball.exact(number, compute) for number in (x, t, w, p))
    one = Ball.exact(np.ones_like(x), compute)
    softplus = (-_magnitude(logit)).exp().log1p() - Ball.exact(np.minimum(x, 0.0), compute)
    return ((one - target) * logit + (one + (factor - one) * target) * softplus) * weight


# Divergence


@semantics("aten::kl_div", elements=broadcast_elements)
def kl_div(self: np.ndarray, target: np.ndarray, reduction: int = 1, log_target: bool = False) -> Golden:
    """target (log(target) - self), 0 where target is 0; e^target (target - self) if log_target; its mean or its sum
    (P54, P57, P65, P66)"""
    fmt = format_of(self)
    shape, (x, t) = broadcast(self, target)
    with np.errstate(all="ignore"):
        largest = cache(lambda: 0.0 if reduction == NONE else _largest_finite(t))
        terms = in_blocks(partial(_of_log_targets, fmt, largest) if log_target else partial(_of_targets, fmt), x, t)
        return replace(reduced(fmt, terms, reduction, shape, open_rule="P66"), zero_sign_free=True)


def _of_targets(fmt: Format, x: np.ndarray, t: np.ndarray) -> Terms:
    target, compute = Real.exact(t), held_format(fmt)
    log = functions.log(target)
    real = where(t == 0, 0.0, target * log) - target * Real.exact(x)

    def rational(i: int) -> Fraction | None:
        return -Fraction(t[i]) * Fraction(x[i]) if t[i] in (0, 1) else None

    def formula(i: int) -> mp.Number:
        return mp.of_float(t[i]) * (mp.log(mp.of_float(t[i])) - mp.of_float(x[i]))

    ball = Ball.exact(t, compute) * Ball.exact(t, compute).log()
    ball = replace(ball.but_exact(t == 0), mid=np.where(t == 0, 0.0, ball.mid))
    ball = ball - Ball.exact(t, compute) * Ball.exact(x, compute)
    real = nan_beside_special(real, (x, np.where(t < 0, np.nan, t)))

    def scaled() -> Scaled:
        return Scaled.exact(t).product(_apart(log - Real.exact(x)))

    return Terms(real, ball, rational, formula, _are_infinite(x, t), scaled)


def _largest_finite(t: np.ndarray) -> float:
    return float(np.max(t, where=np.isfinite(t), initial=-np.inf))


def _of_log_targets(fmt: Format, largest: Callable[[], float], x: np.ndarray, t: np.ndarray) -> Terms:
    """largest(): the largest t of those that are added up. Where e^t is beyond all numbers, e^(t - largest) times a
    power of two stands for it, which tells the sign of the sum, and that this is as far away."""
    target, compute = Real.exact(t), held_format(fmt)

    def rational(i: int) -> Fraction | None:
        return -Fraction(x[i]) if t[i] == 0 else Fraction(0) if t[i] == x[i] else None

    def formula(i: int) -> mp.Number:
        power, difference = mp.of_float(t[i]), mp.of_float(t[i]) - mp.of_float(x[i])
        if largest() <= mp.FARTHEST:
            return mp.exp(power) * difference
        return mp.exp(power - mp.of_float(largest())) * mp.power_of_two(int(mp.FARTHEST)) * difference

    log_target = Ball.exact(t, compute)
    ball = log_target.exp() * (log_target - Ball.exact(x, compute))
    real = functions.exp(target) * (target - Real.exact(x))

    def scaled() -> Scaled:
        return functions.exp_scaled(target).product(_apart(target - Real.exact(x)))

    return Terms(nan_beside_special(real, (x, t)), ball, rational, formula, _are_infinite(x, t), scaled)


def _apart(number: Real) -> Scaled:
    return held_apart(number, np.zeros(number.shape, int))
