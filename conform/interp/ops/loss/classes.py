"""Losses of classes: the negative log likelihood, and the cross entropy of logits.

A sample is a row of numbers, one for each class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from operator import or_

import numpy as np

from conform.interp.blocks.blocks import Pieces, fits, flat, spans
from conform.interp.blocks.rows import Rows
from conform.interp.formulas import log_sum_exp
from conform.interp.formulas.losses import MEAN, NONE, Divisor, Terms, reduced
from conform.interp.golden import Golden
from conform.interp.semantics import semantics
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, as_real, where
from conform.numerics.rounding_errors import held_format

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
    rows = np.atleast_2d(self)

    def of_class(place: slice, own: np.ndarray) -> np.ndarray:
        return rows[np.arange(place.start, place.stop), own]

    shape = target.shape if self.ndim == 2 else ()
    return _negative_log_likelihood(self, of_class, _Samples(target, weight, ignore_index), reduction, shape)


@semantics("aten::nll_loss2d")
def nll_loss2d(
    self: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
) -> Golden:
    """nll_loss of images [N, classes, H, W], of which every pixel is a sample (P54, P67)"""
    return nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]


@semantics("aten::nll_loss2d_forward")
def nll_loss2d_forward(
    self: np.ndarray, target: np.ndarray, weight: np.ndarray | None, reduction: int, ignore_index: int
) -> tuple[Golden, Golden]:
    """nll_loss_forward of images [N, classes, H, W], of which every pixel is a sample (P54, P67)"""

    def of_class(place: slice, own: np.ndarray) -> np.ndarray:
        image, *pixel = np.unravel_index(np.arange(place.start, place.stop), target.shape)
        return self[(image, own, *pixel)]

    samples = _Samples(target, weight, ignore_index)
    return _negative_log_likelihood(self, of_class, samples, reduction, target.shape)


@semantics("aten::nll_loss_nd")
def nll_loss_nd(
    self: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    reduction: int = 1,
    ignore_index: int = -100,
) -> Golden:
    """nll_loss of [classes], [N, classes] or [N, classes, ...], of which every place is a sample (P54, P67)"""
    of_rank = nll_loss if self.ndim <= 2 else nll_loss2d
    return of_rank(self, target, weight, reduction, ignore_index)


def _negative_log_likelihood(
    self: np.ndarray,
    of_class: Callable[[slice, np.ndarray], np.ndarray],
    samples: _Samples,
    reduction: int,
    shape: tuple[int, ...],
) -> tuple[Golden, Golden]:
    """of_class: of some samples the number of the class that each has."""
    fmt = format_of(self)
    compute = held_format(fmt)

    def terms(place: slice) -> Terms:
        own, weights, ignored = samples.block(place)
        x = of_class(place, own).astype(np.float64) if self.size else np.zeros(own.shape)
        real, ball = Real.exact(weights) * Real.exact(x), Ball.exact(weights, compute) * Ball.exact(x, compute)
        return _without(ignored, Terms(-real, -ball, lambda i: -Fraction(weights[i]) * Fraction(x[i])))

    divisor = samples.divisor(compute)
    with np.errstate(all="ignore"):
        output = reduced(fmt, samples.blocks(terms), reduction, shape, divisor)
    total = _total_weight(fmt, divisor).opened(np.array(reduction == NONE), "P67")
    return replace(output, zero_sign_free=True), replace(total, zero_sign_free=True)


def _total_weight(fmt: Format, divisor: Divisor) -> Golden:
    """The sum of the weights as an output."""
    value, real = decide_exactly(fmt, divisor.real.reshape(()), lambda index: divisor.exact)
    return Golden.derived(fmt, value, real, divisor.ball[0, ...])


@dataclass(frozen=True)
class _Samples:
    """The class of each sample, and its weight (0 where it is ignored)."""

    target: np.ndarray
    weight: np.ndarray | None
    ignore_index: int

    def block(self, place: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(the classes, 0 for ignored samples, their weights, whether they are ignored) of the samples `place`."""
        target = flat(self.target, place)
        ignored = target == self.ignore_index
        own = np.where(ignored, 0, target)
        if self.weight is None or not self.weight.size:
            return own, np.where(ignored, 0.0, 1.0), ignored
        return own, np.where(ignored, 0.0, self.weight[own].astype(np.float64)), ignored

    def blocks(self, function: Callable[[slice], object]) -> Pieces:
        """`function` of which samples are in a block, block by block."""
        count = self.target.size
        return Pieces(lambda: map(function, spans(count)), are_many=not fits(count))

    def divisor(self, compute: Format) -> Divisor:
        """The sum of the weights."""
        return Divisor.total(self.blocks(lambda place: self.block(place)[1]), compute)


def _without(ignored: np.ndarray, terms: Terms) -> Terms:
    """The terms, with 0 where a sample is ignored."""
    ball = replace(terms.ball.but_exact(ignored), mid=np.where(ignored, 0.0, terms.ball.mid))
    return Terms(
        where(ignored, 0.0, terms.real),
        ball,
        lambda i: Fraction(0) if ignored[i] else terms.rational(i),
        terms.formula,
        None if terms.open is None else terms.open & ~ignored,
    )


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
    fmt, axis = format_of(self), min(self.ndim - 1, 1)
    logits = _Logits(fmt, Rows.over(self, (axis,)), weight, label_smoothing)
    shape = (*self.shape[:axis], *self.shape[axis + 1 :])
    with np.errstate(all="ignore"):
        if format_of(target).is_float:
            blocks, divisor = _of_probabilities(logits, target, axis), None
        else:
            samples = _Samples(target, weight, ignore_index)
            blocks = _of_indices(logits, samples)
            divisor = samples.divisor(held_format(fmt)) if reduction == MEAN else None
        golden = reduced(fmt, blocks, reduction=reduction, shape=shape, divisor=divisor, open_rule="P68")
    return replace(golden, zero_sign_free=True)


@dataclass(frozen=True)
class _Logits:
    """What a cross entropy is made of besides its targets. weight: [classes]; None: all are 1."""

    fmt: Format
    rows: Rows
    weight: np.ndarray | None
    smoothing: float

    def blocks(self) -> Iterator[_Logits]:
        """Some rows after the other."""
        return (replace(self, rows=rows) for _, rows in self.rows.blocks())

    def weights(self) -> Pieces[np.ndarray]:
        """The weights [m] of the classes, beside each piece of the rows."""
        if self.weight is None:
            return self.rows.beside(lambda _, columns: np.ones(columns.stop - columns.start))
        return self.rows.beside(lambda _, columns: self.weight[columns].astype(np.float64))


def _of_indices(logits: _Logits, samples: _Samples) -> Pieces[Terms]:
    def terms(some: _Logits) -> Terms:
        own, weights, ignored = samples.block(some.rows.place)
        if some.smoothing == 0:
            return _without(ignored, _own_logarithms(some, own, weights))
        shares = some.rows.beside(lambda _, columns: 1.0 * (np.arange(columns.start, columns.stop) == own[:, None]))
        return _without(ignored, _Mixture(some, shares).terms())

    return Pieces(lambda: map(terms, logits.blocks()), logits.rows.is_long)


def _of_probabilities(logits: _Logits, target: np.ndarray, axis: int) -> Pieces[Terms]:
    shares = Rows.over(target, (axis,))

    def blocks() -> Iterator[Terms]:
        pairs = zip(logits.blocks(), shares.blocks(), strict=True)
        return (_Mixture(some, its_shares.pieces).terms() for some, (_, its_shares) in pairs)

    return Pieces(blocks, logits.rows.is_long)


def _own_logarithms(logits: _Logits, own: np.ndarray, weights: np.ndarray) -> Terms:
    """-weight log_softmax(x) of each sample's own class."""
    rows, compute = logits.rows, held_format(logits.fmt)
    x, largest = rows.at(own[:, None])[:, 0], rows.largest()[:, 0]
    log_sum, ball = log_sum_exp.of_reals(rows)[1][:, 0], log_sum_exp.of_balls(rows, compute)[1][:, 0]
    real = -(Real.exact(weights) * (Real.exact(x) - Real.exact(largest) - log_sum))
    ball = -(Ball.exact(weights, compute) * (Ball.exact(x, compute) - Ball.exact(largest, compute) - ball))

    def rational(i: int) -> Fraction | None:
        if weights[i] != 0 and not _is_zero(log_sum[i]):
            return None
        return Fraction(weights[i]) * (Fraction(largest[i]) - Fraction(x[i])) if weights[i] else Fraction(0)

    def formula(i: int) -> mp.Number:
        highest, logarithm = log_sum_exp.of_numbers(rows.row(i))
        return -(mp.of_float(x[i]) - highest - logarithm) * mp.of_float(weights[i])

    return Terms(real, ball, rational, formula)


def _is_zero(number: Real) -> bool:
    return number.hi == 0 and number.radius == 0


class _Mixture:
    """-sum over classes of weight ((1 - s) share + s / classes) log_softmax(x) of each row, where the shares of the
    classes come in pieces as the rows do: the terms of a cross entropy."""

    def __init__(self, logits: _Logits, shares: Pieces[np.ndarray]) -> None:
        self.fmt, self.rows, self.smoothing = logits.fmt, logits.rows, logits.smoothing
        self.shares, self.weights = shares, logits.weights()
        self.shifted, self.log_sum = log_sum_exp.of_reals(self.rows)

    def terms(self) -> Terms:
        nan, infinite = (
            reduce(or_, (_anywhere(test, pieces) for pieces in (self.rows.pieces, self.shares, self.weights)))
            for test in (np.isnan, np.isinf)
        )
        real = where(nan | infinite, np.nan, self._real())
        return Terms(real, self._ball(), self.rational, self.formula, infinite)

    def _real(self) -> Real:
        s, classes = Real.exact(np.float64(self.smoothing)), float(self.rows.terms)

        def products(x: Real, share: np.ndarray, weight: np.ndarray) -> Real:
            mixed = Real.exact(share) * (as_real(1.0) - s) + s / classes
            return mixed * Real.exact(weight) * (x - self.log_sum)

        return -Real.total(self.shifted.map(products, self.shares, self.weights))[:, 0]

    def _ball(self) -> Ball:
        """A sum over the classes in any order."""
        compute, classes = held_format(self.fmt), float(self.rows.terms)
        s = Ball.exact(np.float64(0), compute).constant(self.smoothing)
        shifted, log_sum = log_sum_exp.of_balls(self.rows, compute)
        weighted = shifted.map(lambda x, weight: Ball.exact(weight, compute) * (x - log_sum), self.weights)

        def mixed(x: Ball, share: np.ndarray) -> Ball:
            return x * (Ball.exact(share, compute) * (s.constant(1.0) - s) + s / classes)

        total = Ball.total(weighted.map(mixed, self.shares))[:, 0]
        unshared = sum(np.abs(x.mid).sum(axis=1) for x in weighted)
        overflows = np.isfinite(unshared) & (unshared > compute.max_finite)  # shares may be multiplied in last
        return -total.rounded(total.mid, np.where(overflows, np.inf, total.rad)).at_scale(total.scale)

    def _factors(self, sample: int) -> Iterator[tuple[float, Fraction]]:
        """(x, what the logarithm is multiplied by, minus included) of the classes where that is not 0."""
        s, classes = Fraction(self.smoothing), self.rows.terms
        for x, share, weight in zip(self.rows.pieces, self.shares, self.weights, strict=True):
            for logit, part, factor in zip(x[sample].tolist(), share[sample].tolist(), weight.tolist(), strict=True):
                if product := -Fraction(factor) * ((1 - s) * Fraction(part) + s / classes):
                    yield logit, product

    def rational(self, sample: int) -> Fraction | None:
        """Where the logarithm of the sum is 0, or cancels."""
        if not _is_zero(self.log_sum[sample]) and sum(factor for _, factor in self._factors(sample)) != 0:
            return None
        largest = Fraction(self.rows.largest()[sample, 0])
        return sum(((Fraction(x) - largest) * factor for x, factor in self._factors(sample)), start=Fraction(0))

    def formula(self, sample: int) -> mp.Number:
        largest, log_sum = log_sum_exp.of_numbers(self.rows.row(sample))
        numbers = ((mp.of_float(x), mp.of_fraction(factor)) for x, factor in self._factors(sample))
        return mp.total((x - largest - log_sum) * factor for x, factor in numbers)


def _anywhere(test: Callable[[np.ndarray], np.ndarray], pieces: Pieces[np.ndarray]) -> np.ndarray:
    """[rows]: in which `test` is true of an element; of weights, which all rows share, []."""
    return np.logical_or.reduce([test(piece).any(axis=-1) for piece in pieces])
