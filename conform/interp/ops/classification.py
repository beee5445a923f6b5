"""Losses of classes: the negative log likelihood, and the cross entropy of logits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp import log_sum_exp
from conform.interp.golden import Golden
from conform.interp.losses import NONE, Divisor, Terms, common_float, in_blocks, reduced
from conform.interp.numerics import multiprecision as mp
from conform.interp.numerics.ball import Ball
from conform.interp.numerics.escalate import decide_exactly
from conform.interp.numerics.formats import Format, format_of
from conform.interp.numerics.real import Real, as_real, where
from conform.interp.operands import compute_format
from conform.interp.registry import semantics

# Negative log likelihood


@semantics("aten::nll_loss")
def nll_loss(
    self: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
) -> Golden:
    """-weight[t] * self[t], 0 for ignored targets; their sum, or the sum over that of the weights (P54, P67)"""
    return nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


@semantics("aten::nll_loss_forward")
def nll_loss_forward(
    self: np.ndarray, target: np.ndarray, weight: np.ndarray | None, reduction: int, ignore_index: int
) -> tuple[Golden, Golden]:
    """(-weight[t] * self[t] of each sample or reduced, the sum of the weights); 0 for ignored targets (P54, P67)"""
    fmt = common_float("nll_loss", self, weight, promotes=False)
    if self.ndim not in (1, 2) or (target.ndim > 1 or target.size != 1 if self.ndim == 1 else target.ndim != 1):
        raise InvalidArguments(f"nll_loss of {list(self.shape)} with targets {list(target.shape)}")
    samples = _Samples(fmt, np.atleast_2d(self), target.reshape(-1), weight, ignore_index)
    x = samples.chosen(samples.rows)
    with np.errstate(all="ignore"):
        real, ball = Real.exact(samples.weights) * Real.exact(x), samples.weight_ball * Ball.exact(x, samples.compute)
        terms = _without(samples.ignored, -real, -ball, lambda i: -Fraction(samples.weights[i]) * Fraction(x[i]))
        output = reduced(fmt, terms, reduction, target.shape if self.ndim == 2 else (), samples.divisor())
    total = samples.total_weight().opened(np.array(reduction == NONE), "P67")
    return replace(output, zero_sign_free=True), replace(total, zero_sign_free=True)


class _Samples:
    """Rows of numbers per class, the class of each, and its weight (0 where it is ignored)."""

    def __init__(
        self, fmt: Format, rows: np.ndarray, target: np.ndarray, weight: np.ndarray | None, ignore_index: int
    ) -> None:
        count, classes = rows.shape
        if format_of(target).name == "uint8":
            raise Unjudged("no semantics for targets of uint8; expected int64")
        if format_of(target).name != "int64":
            raise InvalidArguments(f"targets must be int64, got {format_of(target).name}")
        _check_weight(weight, classes)
        if len(target) != count:
            raise InvalidArguments(f"{count} samples with {len(target)} targets")
        self.fmt, self.compute, self.rows = fmt, compute_format(fmt), rows.astype(np.float64)
        self.ignored = target == ignore_index
        outside = target[((target < 0) | (target >= classes)) & ~self.ignored]
        if outside.size:
            raise InvalidArguments(f"target {outside[0]} is none of the {classes} classes")
        self.target = np.where(self.ignored, 0, target)
        self.class_weights = np.ones(classes) if weight is None else weight.astype(np.float64)
        self.weights = np.where(self.ignored, 0.0, self.class_weights[self.target] if classes else 0.0)
        self.weight_ball = Ball.exact(self.weights, self.compute)

    def chosen(self, rows: np.ndarray) -> np.ndarray:
        """The number of each sample's own class."""
        return np.take_along_axis(rows, self.target[:, None], axis=1)[:, 0] if rows.shape[1] else np.zeros(len(rows))

    def divisor(self) -> Divisor:
        """The sum of the weights."""
        exactly = sum(map(Fraction, self.weights.tolist())) if np.isfinite(self.weights).all() else None
        real = Real.exact(self.weights).sum(0, keepdims=True)
        return Divisor(real, self.weight_ball.sum(0), None if exactly is None else Fraction(exactly))

    def total_weight(self) -> Golden:
        """The sum of the weights as an output."""
        divisor = self.divisor()
        value, real = decide_exactly(self.fmt, divisor.real.reshape(()), lambda index: divisor.exact)
        return Golden(self.fmt, value, real, budget=divisor.ball.rad.reshape(()))


def _check_weight(weight: np.ndarray | None, classes: int) -> None:
    if weight is not None and weight.shape != (classes,):
        raise InvalidArguments(f"weight must have one element for each of {classes} classes, got {list(weight.shape)}")


def _without(
    ignored: np.ndarray,
    real: Real,
    ball: Ball,
    rational: Callable[[int], Fraction | None],
    formula: Callable[[int], mp.Number] | None = None,
) -> Terms:
    """The terms, with 0 where a sample is ignored."""
    kept = Ball(np.where(ignored, 0.0, ball.mid), np.where(ignored, 0.0, ball.rad), ball.compute)
    return Terms(where(ignored, 0.0, real), kept, lambda i: Fraction(0) if ignored[i] else rational(i), formula)


# Cross entropy


@semantics("aten::cross_entropy_loss")
def cross_entropy_loss(
    self: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Golden:
    """-weight[t] * log_softmax(self)[t], of class indices or of probabilities of classes, smoothed (P54, P68)"""
    fmt = common_float("cross_entropy_loss", self, weight)
    if not 0 <= label_smoothing <= 1:
        raise InvalidArguments(f"label_smoothing must be between 0 and 1, got {label_smoothing}")
    if self.ndim == 0:
        raise InvalidArguments("cross_entropy_loss needs a dimension of classes")
    axis = min(self.ndim - 1, 1)
    rows = np.moveaxis(self, axis, -1)
    shape, classes = rows.shape[:-1], rows.shape[-1]
    if classes == 0:
        raise Unjudged("no semantics for the cross entropy of no classes")
    rows = rows.reshape(-1, classes)
    with np.errstate(all="ignore"):
        if format_of(target).is_float:
            golden = _of_probabilities(fmt, self, rows, target, weight, reduction, ignore_index, label_smoothing, shape)
        else:
            golden = _of_indices(fmt, rows, target, weight, reduction, ignore_index, label_smoothing, shape)
    return replace(golden, zero_sign_free=True)


def _of_indices(
    fmt: Format,
    rows: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    reduction: int,
    ignore_index: int,
    smoothing: float,
    shape: tuple[int, ...],
) -> Golden:
    if target.shape != shape:
        raise InvalidArguments(f"targets {list(target.shape)} for samples {list(shape)}")
    samples = _Samples(fmt, rows, target.reshape(-1), weight, ignore_index)
    own = np.arange(rows.shape[1]) == samples.target[:, None]
    terms = _mixtures(fmt, samples.rows, own * 1.0, samples.class_weights, smoothing, own | (smoothing > 0))
    terms = _without(samples.ignored, terms.real, terms.ball, terms.rational, terms.mp)
    golden = reduced(fmt, terms, reduction, shape, samples.divisor())
    infinite = (np.isinf(samples.rows) | np.isinf(samples.class_weights)).any(axis=1) & ~samples.ignored
    return _opened(golden, infinite, reduction) if smoothing > 0 else golden


def _of_probabilities(
    fmt: Format,
    self: np.ndarray,
    rows: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    reduction: int,
    ignore_index: int,
    smoothing: float,
    shape: tuple[int, ...],
) -> Golden:
    common_float("cross_entropy_loss", self, target)
    if target.shape != self.shape:
        raise InvalidArguments(f"class probabilities {list(target.shape)} for logits {list(self.shape)}")
    if ignore_index >= 0:
        raise InvalidArguments("ignore_index is for class indices, not for class probabilities")
    _check_weight(weight, rows.shape[1])
    shares = np.moveaxis(target, min(self.ndim - 1, 1), -1).reshape(rows.shape).astype(np.float64)
    class_weights = np.ones(rows.shape[1]) if weight is None else weight.astype(np.float64)
    x = rows.astype(np.float64)
    terms = _mixtures(fmt, x, shares, class_weights, smoothing, np.ones(rows.shape, bool))
    golden = reduced(fmt, terms, reduction, shape)
    infinite = np.isinf(x) | np.isinf(shares) | np.isinf(class_weights)
    return _opened(golden, infinite.any(axis=1), reduction)


def _opened(golden: Golden, samples: np.ndarray, reduction: int) -> Golden:
    """P68"""
    mask = samples if reduction == NONE else samples.any()
    return golden.opened(np.reshape(mask, golden.value.shape), "P68")


def _mixtures(
    fmt: Format, x: np.ndarray, shares: np.ndarray, weights: np.ndarray, smoothing: float, takes_part: np.ndarray
) -> Terms:
    """The terms of a cross entropy."""

    def terms(x: np.ndarray, shares: np.ndarray, takes_part: np.ndarray) -> Terms:
        mixture = _Mixture(fmt, x, shares, weights, smoothing, takes_part)
        return Terms(mixture.real, mixture.ball(), mixture.rational, mixture.formula)

    return in_blocks(terms, x, shares, takes_part)


class _Mixture:
    """-sum over classes of weight ((1 - s) share + s / classes) log_softmax(x): the terms of a cross entropy.

    `takes_part` [samples, classes]: the classes that are added up at all.
    """

    def __init__(
        self,
        fmt: Format,
        rows: np.ndarray,
        shares: np.ndarray,
        weights: np.ndarray,
        smoothing: float,
        takes_part: np.ndarray,
    ) -> None:
        self.fmt, self.rows, self.shares, self.weights, self.takes_part = fmt, rows, shares, weights, takes_part
        self.smoothing, self.classes = smoothing, rows.shape[1]
        shifted, self.log_sum = log_sum_exp.of_reals(rows)
        self.real = self._real(shifted)

    def _real(self, shifted: Real) -> Real:
        s = Real.exact(np.float64(self.smoothing))
        share = Real.exact(self.shares) * (as_real(1.0) - s) + s / float(self.classes)
        products = share * Real.exact(self.weights) * (shifted - self.log_sum)
        total = -where(self.takes_part, products, 0.0).sum(axis=1)
        finite = np.isfinite(self.rows) & np.isfinite(self.shares) & np.isfinite(self.weights)
        return total if self.takes_part.sum() == len(self.rows) else where(finite.all(axis=1), total, np.nan)

    def _factors(self, sample: int) -> dict[int, Fraction]:
        """What the logarithms of the classes that take part are multiplied by, minus included."""
        s = Fraction(self.smoothing)
        return {
            c: -Fraction(self.weights[c]) * ((1 - s) * Fraction(self.shares[sample, c]) + s / self.classes)
            for c in np.flatnonzero(self.takes_part[sample]).tolist()
        }

    def rational(self, sample: int) -> Fraction | None:
        """Where the logarithm of the sum is 0, or cancels."""
        factors, log_sum = self._factors(sample), self.log_sum[sample]
        if sum(factors.values()) != 0 and not (log_sum.hi == 0 and log_sum.radius == 0):
            return None
        x = self.rows[sample]
        return sum(((Fraction(x[c]) - Fraction(x.max())) * f for c, f in factors.items() if f), start=Fraction(0))

    def formula(self, sample: int) -> mp.Number:
        shifted, log_sum = log_sum_exp.of_mpmath(self.rows[sample : sample + 1], self.fmt)
        factors = {c: mp.of_fraction(f) for c, f in self._factors(sample).items() if f}
        return sum(((shifted[0, c] - log_sum[0, 0]) * f for c, f in factors.items()), start=mp.of_float(0))

    def ball(self) -> Ball:
        """A sum over the classes in any order; none where only one takes part."""
        compute = compute_format(self.fmt)
        shifted, log_sum = log_sum_exp.of_balls(self.rows, compute)
        weighted = Ball.exact(self.weights, compute) * (shifted - log_sum)
        if self.smoothing or (self.takes_part.sum(axis=1) > 1).any():
            s = Ball.exact(np.float64(0), compute).constant(self.smoothing)
            share = Ball.exact(self.shares, compute) * (s.constant(1.0) - s) + s / float(self.classes)
            weighted = weighted * share
            total = _masked(weighted, self.takes_part).sum(-1, keepdims=False)
            unshared = np.abs(np.where(self.takes_part, self.weights * (shifted.mid - log_sum.mid), 0.0)).sum(axis=1)
            overflows = np.isfinite(unshared) & (unshared > compute.max_finite)  # shares may be multiplied in last
            return -total.rounded(total.mid, np.where(overflows, np.inf, total.rad))
        kept = _masked(weighted, self.takes_part)
        return -Ball(kept.mid.sum(axis=1), kept.rad.sum(axis=1), compute)


def _masked(ball: Ball, mask: np.ndarray) -> Ball:
    return Ball(np.where(mask, ball.mid, 0.0), np.where(mask, ball.rad, 0.0), ball.compute)
