"""Losses of margins and of counts: how far numbers are on the wrong side, and Poisson's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.blocks import Pieces, fits, spans
from conform.interp.formulas.losses import Terms, broadcast, in_blocks, nan_beside_special, reduced
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.combinations import wider
from conform.interp.ops.loss.elements import LEAST
from conform.interp.semantics import semantics
from conform.interp.size import broadcast_elements
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import Irrational
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, as_real, maximum, where
from conform.numerics.rounding_errors import held_format

FAR, FAINT = 1600, mpq(1, 2**2300)  # e^-FAR is less than 2^-2300
Number = int | float


def or_zero(ball: Ball) -> Ball:
    """max(0, ball): exactly 0 where all of it is below."""
    below = ball.mid + ball.rad < 0
    return replace(ball.but_exact(below), mid=np.maximum(ball.mid, 0.0))


# Of two classes


@semantics("aten::soft_margin_loss", elements=broadcast_elements)
def soft_margin_loss(self: np.ndarray, target: np.ndarray, reduction: int = 1) -> Golden:
    """log(1 + e^(-target self)), its mean or its sum (P54, P57, P65)"""
    fmt = format_of(self)
    shape, numbers = broadcast(self, target)
    with np.errstate(all="ignore"):
        return reduced(fmt, in_blocks(partial(_soft_margin, fmt), *numbers), reduction, shape)


def _soft_margin(fmt: Format, x: np.ndarray, y: np.ndarray) -> Terms:
    """log(1 + e^z) = max(z, 0) + log(1 + e^-|z|) of z = -y x."""
    finite = np.isfinite(x) & np.isfinite(y)
    z = -(Real.exact(np.where(finite, y, 0.0)) * Real.exact(np.where(finite, x, 0.0)))
    real = maximum(z, 0.0) + functions.log1p(functions.exp(-abs(z)))
    product = np.where(np.isfinite(x), np.sign(x), x) * np.where(np.isfinite(y), np.sign(y), y)
    special = np.where(product > 0, 0.0, -product)

    def rational(i: int) -> Irrational | None:
        """Of |z| > FAR what rounds like it: z and all rounding boundaries are multiples of 2^-2148, e^-FAR is less."""
        if not finite[i]:
            return None
        exact = -mpq(float(y[i])) * mpq(float(x[i]))
        return Irrational(Fraction(max(exact, 0) + FAINT)) if abs(exact) > FAR else None

    def formula(i: int) -> mp.Number:
        exact = -mp.of_float(y[i]) * mp.of_float(x[i])
        return max(exact, mp.of_float(0.0)) + max(mp.log1p(mp.exp(-abs(exact))), LEAST)

    power = (-(Ball.exact(y, held_format(fmt)) * Ball.exact(x, held_format(fmt)))).exp()
    ball = wider(power.log1p(), (power + 1.0).log())
    return Terms(where(finite, real, special), ball, rational, formula)


@semantics("aten::hinge_embedding_loss", elements=broadcast_elements)
def hinge_embedding_loss(self: np.ndarray, target: np.ndarray, margin: float = 1.0, reduction: int = 1) -> Golden:
    """self where target is 1, max(0, margin - self) where it is -1; its mean or its sum (P55, P57)"""
    fmt = format_of(self)
    shape, numbers = broadcast(self, target)

    def terms(x: np.ndarray, y: np.ndarray) -> Terms:
        similar = y == 1
        real = where(similar, x, maximum(Real.exact(np.full(x.shape, margin)) - Real.exact(x), 0.0))
        own = Ball.exact(x, held_format(fmt))
        other = or_zero(-own + margin)
        ball = Ball(np.where(similar, own.mid, other.mid), np.where(similar, 0.0, other.rad), own.compute)

        def rational(i: int) -> Fraction:
            return Fraction(x[i]) if similar[i] else max(Fraction(margin) - Fraction(x[i]), Fraction(0))

        return Terms(real, ball, rational)

    with np.errstate(all="ignore"):
        return replace(reduced(fmt, in_blocks(terms, *numbers), reduction, shape), zero_sign_free=True)


@semantics("aten::margin_ranking_loss", elements=broadcast_elements)
def margin_ranking_loss(
    input1: np.ndarray, input2: np.ndarray, target: np.ndarray, margin: float = 0.0, reduction: int = 1
) -> Golden:
    """max(0, -target (input1 - input2) + margin), its mean or its sum (P55, P57)"""
    fmt = format_of(input1)
    shape, numbers = broadcast(input1, input2, target)
    with np.errstate(all="ignore"):
        terms = in_blocks(partial(_ranked, fmt, margin), *numbers)
        return replace(reduced(fmt, terms, reduction, shape), zero_sign_free=True)


def _ranked(fmt: Format, margin: float, x1: np.ndarray, x2: np.ndarray, y: np.ndarray) -> Terms:
    finite = np.isfinite(x1) & np.isfinite(x2) & np.isfinite(y) & np.isfinite(margin)
    a, b, c = (np.where(finite, x, 0.0) for x in (x1, x2, y))
    real = maximum(Real.exact(-c) * (Real.exact(a) - Real.exact(b)) + np.float64(margin), 0.0)
    difference = np.where(np.isfinite(x1) & np.isfinite(x2), np.sign(x1 - x2), x1 - x2)
    special = np.maximum(margin - np.where(np.isfinite(y), np.sign(y), y) * difference, 0.0)
    one, two, three = (Ball.exact(x, held_format(fmt)) for x in (x1, x2, y))

    def rational(i: int) -> Fraction:
        difference = Fraction(a[i]) - Fraction(b[i])
        return max(-Fraction(c[i]) * difference + Fraction(margin), Fraction(0))

    return Terms(where(finite, real, special), or_zero(-three * (one - two) + margin), rational)


# Of counts


@semantics("aten::poisson_nll_loss", elements=broadcast_elements)
def poisson_nll_loss(
    input: np.ndarray, target: np.ndarray, log_input: bool, full: bool, eps: float, reduction: int
) -> Golden:
    """e^input - target input if log_input, else input - target log(input + eps); if full, where target is above 1, and
    target log(target) - target + log(2 pi target) / 2; its mean or its sum (P54, P57, P66)"""
    fmt = format_of(input)
    shape, numbers = broadcast(input, target)
    own = _of_log_rate if log_input else partial(_of_rate, eps)
    with np.errstate(all="ignore"):
        terms = in_blocks(partial(_of_counts, fmt, own, full), *numbers)
        return replace(reduced(fmt, terms, reduction, shape, open_rule="P66"), zero_sign_free=True)


def _of_counts(fmt: Format, own: partial, full: bool, x: np.ndarray, y: np.ndarray) -> Terms:
    terms = own(fmt, x, y)
    if full:
        terms = _with_stirling(fmt, terms, y)
    open_ = (np.isinf(x) | np.isinf(y)) & ~np.isnan(x) & ~np.isnan(y)
    return replace(terms, real=nan_beside_special(terms.real, (x, y)), open=open_)


def _of_log_rate(fmt: Format, x: np.ndarray, y: np.ndarray) -> Terms:
    log, count = Ball.exact(x, held_format(fmt)), Ball.exact(y, held_format(fmt))
    real = functions.exp(Real.exact(x)) - Real.exact(y) * Real.exact(x)

    def formula(i: int) -> mp.Number:
        number = mp.of_float(x[i])
        return mp.exp(number) - mp.of_float(y[i]) * number

    return Terms(real, log.exp() - count * log, lambda i: Fraction(1) if x[i] == 0 else None, formula)


def _of_rate(eps: float, fmt: Format, x: np.ndarray, y: np.ndarray) -> Terms:
    rate, count = Ball.exact(x, held_format(fmt)), Ball.exact(y, held_format(fmt))
    shifted = Real.exact(x) + np.float64(eps)  # a sum of two numbers is exact, and so is its sign
    real = Real.exact(x) - Real.exact(y) * functions.log(where(shifted.hi < 0, np.nan, shifted))

    def rational(i: int) -> Fraction | None:
        """Where the logarithm is 0, or is multiplied with it."""
        exact = Fraction(x[i]) + Fraction(eps)
        return Fraction(x[i]) if exact == 1 or (y[i] == 0 and exact > 0) else None

    def formula(i: int) -> mp.Number:
        exact = mp.of_float(x[i]) + mp.of_float(eps)
        return mp.of_float(x[i]) - mp.of_float(y[i]) * mp.log(exact)

    return Terms(real, rate - count * (rate + eps).log(), rational, formula)


def _with_stirling(fmt: Format, terms: Terms, y: np.ndarray) -> Terms:
    """The terms and, where y > 1, Stirling's approximation of log(y!)."""
    added = y > 1
    safe = np.where(added & np.isfinite(y), y, 2.0)
    count, ball = Real.exact(safe), Ball.exact(safe, held_format(fmt))
    log = functions.log(count)
    more = count * log - count + (log + mp.as_real(lambda: mp.log(2 * mp.pi()))) / 2.0
    half_log = (ball * ball.irrational(2 * np.pi)).log() * 0.5
    with_more = terms.ball + (ball * ball.log() - ball + half_log)

    def formula(i: int) -> mp.Number:
        if not added[i]:
            return terms.formula(i)
        number, own = mp.of_float(y[i]), terms.rational(i)
        stirling = number * mp.log(number) - number + mp.log(2 * mp.pi() * number) / 2
        return (terms.formula(i) if own is None else mp.of_fraction(own)) + stirling

    return Terms(
        where(added, terms.real + more, terms.real),
        Ball(
            np.where(added, with_more.mid, terms.ball.mid), np.where(added, with_more.rad, terms.ball.rad),
            terms.ball.compute, np.where(added, with_more.scale, terms.ball.scale),
        ),
        lambda i: None if added[i] else terms.rational(i),
        formula,
    )  # fmt: skip


# Of many classes: a sample is a row of numbers, one for each class


@semantics("aten::multi_margin_loss")
def multi_margin_loss(
    self: np.ndarray,
    target: np.ndarray,
    p: Number = 1,
    margin: Number = 1,
    weight: np.ndarray | None = None,
    reduction: int = 1,
) -> Golden:
    """The sum over the classes i but t of weight[t] max(0, margin - x[t] + x[i])^p, over the number of classes, of each
    row x with target t; its mean or its sum (P54, P147)"""
    rows, own = np.atleast_2d(self), target.reshape(-1)
    weights = np.ones(rows.shape[1]) if weight is None else weight.astype(np.float64)

    def terms(place: slice) -> Terms:
        x, t = rows[place].astype(np.float64), own[place]
        others = np.arange(x.shape[1]) != t[:, None]
        factor = weights[t]
        unread = ~np.isfinite(x).all(axis=1) | ~np.isfinite(factor) | (factor < 0)
        unread |= (p == 2) & (factor != 0) & (factor != 1)
        return _of_margins(self, x, [t[:, None]], others, float(margin), int(p), factor, unread)

    return _over_rows(self, rows, terms, reduction)


@semantics("aten::multilabel_margin_loss")
def multilabel_margin_loss(self: np.ndarray, target: np.ndarray, reduction: int = 1) -> Golden:
    """The sum of max(0, 1 - x[t] + x[i]) over the targets t of a row x, those before the first -1, and the classes i
    that are none, over the number of classes; its mean or its sum (P54, P147)"""
    rows, targets = np.atleast_2d(self), np.atleast_2d(target)

    def terms(place: slice) -> Terms:
        x, listed = rows[place].astype(np.float64), targets[place]
        counts = np.where((listed < 0).any(axis=1), (listed < 0).argmax(axis=1), listed.shape[1])
        named = np.arange(listed.shape[1]) < counts[:, None]
        others = np.ones(x.shape, bool)
        row, column = np.nonzero(named)
        others[row, listed[row, column]] = False
        each = [np.where(named[:, k], listed[:, k], -1)[:, None] for k in range(int(counts.max(initial=0)))]
        unread = ~np.isfinite(x).all(axis=1)
        return _of_margins(self, x, each, others, 1.0, 1, np.ones(len(x)), unread)

    return _over_rows(self, rows, terms, reduction)


def _over_rows(self: np.ndarray, rows: np.ndarray, terms: partial, reduction: int) -> Golden:
    def blocks() -> Iterator[Terms]:
        return map(terms, spans(len(rows), rows.shape[1]))

    with np.errstate(all="ignore"):
        pieces = Pieces(blocks, are_many=not fits(rows.size))
        golden = reduced(format_of(self), pieces, reduction, self.shape[:-1], open_rule="P147")
    return replace(golden, zero_sign_free=True)


def _of_margins(
    self: np.ndarray,
    x: np.ndarray,
    targets: list[np.ndarray],
    others: np.ndarray,
    margin: float,
    p: int,
    factor: np.ndarray,
    unread: np.ndarray,
) -> Terms:
    """The sums of rows [n, classes] over their targets, each [n, 1] (-1: none), and the classes that `others` marks."""
    compute, safe = held_format(format_of(self)), np.where(unread[:, None], 0.0, x)
    classes = float(x.shape[1])
    factor = np.where(unread, 1.0, factor)
    real = as_real(np.zeros(len(x)))
    for target in targets:
        own = np.take_along_axis(safe, np.maximum(target, 0), axis=1)
        excess = maximum(Real.exact(safe) - Real.exact(own) + margin, 0.0)
        powered = excess * excess if p == 2 else excess
        real = real + where(others & (target >= 0), powered, 0.0).sum(-1)

    def ball_of(target: np.ndarray) -> Ball:
        own = np.take_along_axis(safe, np.maximum(target, 0), axis=1)
        ball = or_zero(-Ball.exact(own, compute) + margin + Ball.exact(safe, compute))
        ball = (ball * ball if p == 2 else ball) * Ball.exact(factor[:, None], compute)
        counted = others & (target >= 0)
        return replace(ball.but_exact(~counted), mid=np.where(counted, ball.mid, 0.0))

    total = Ball.total(map(ball_of, targets))[:, 0] if targets else Ball.exact(np.zeros(len(x)), compute)

    def rational(i: int) -> Fraction:
        numbers = list(map(Fraction, safe[i]))
        found = (
            max(Fraction(margin) - numbers[t] + numbers[c], Fraction(0)) ** p
            for t in (int(each[i, 0]) for each in targets) if t >= 0 for c in np.flatnonzero(others[i]).tolist()
        )  # fmt: skip
        return Fraction(factor[i]) * sum(found, Fraction(0)) / x.shape[1]

    return Terms(real * Real.exact(factor) / classes, total / classes, rational, open=unread)
