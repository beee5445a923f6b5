"""Connectionist temporal classification: the probability of all alignments of a sequence of labels with one in time.

Graves et al., Connectionist temporal classification, ICML 2006, section 4.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from conform.interp.formulas.losses import MEAN, NONE, Terms, reduced
from conform.interp.golden import Golden
from conform.interp.ops.loss.elements import LEAST
from conform.interp.semantics import semantics
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball, chosen
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, as_real, where
from conform.numerics.rounding_errors import held_format

TOGETHER = 2**16  # exponentials, of as many steps as have so many


@semantics("aten::ctc_loss.IntList")
def ctc_loss(
    log_probs: np.ndarray,
    targets: np.ndarray,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Golden:
    """-log of the sum, over the paths of labels and blanks that give the target without its repetitions and blanks, of
    the products of e^log_probs[t, n, label]; the mean is that of each loss over its target's length, at least 1; with
    zero_infinity 0 in the place of infinity (P54, P156)"""
    fmt, lengths = format_of(log_probs), np.asarray(target_lengths, np.int64)
    samples = _samples(log_probs, targets, np.asarray(input_lengths, np.int64), lengths, blank)
    with np.errstate(all="ignore"):
        terms = _terms(fmt, samples, zero_infinity, lengths if reduction == MEAN else np.ones_like(lengths))
        golden = reduced(fmt, [terms], reduction, lengths.shape, open_rule="P156")
    return replace(golden, zero_sign_free=True)


@semantics("aten::ctc_loss.Tensor")
def ctc_loss_of_tensors(
    log_probs: np.ndarray,
    targets: np.ndarray,
    input_lengths: np.ndarray,
    target_lengths: np.ndarray,
    blank: int = 0,
    reduction: int = 1,
    zero_infinity: bool = False,
) -> Golden:
    """ctc_loss with lengths that tensors hold (P54, P156)"""
    lengths = input_lengths.tolist(), target_lengths.tolist()
    return ctc_loss(log_probs, targets, *lengths, blank, reduction, zero_infinity)


@semantics("aten::_ctc_loss", ignores=("zero_infinity",))
def ctc_loss_with_alphas(
    log_probs: np.ndarray,
    targets: np.ndarray,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Golden, Golden]:
    """(the losses of ctc_loss, which only their gradient replaces where they are infinite, what the gradient needs, of
    which nothing is documented) (P54, P156)"""
    losses = ctc_loss(log_probs, targets, input_lengths, target_lengths, blank, NONE)
    return losses, Golden.of_nothing_documented("P156")


@semantics("aten::_ctc_loss.Tensor", ignores=("zero_infinity",))
def ctc_loss_of_tensors_with_alphas(
    log_probs: np.ndarray,
    targets: np.ndarray,
    input_lengths: np.ndarray,
    target_lengths: np.ndarray,
    blank: int = 0,
    zero_infinity: bool = False,
) -> tuple[Golden, Golden]:
    """_ctc_loss with lengths that tensors hold (P54, P156)"""
    lengths = input_lengths.tolist(), target_lengths.tolist()
    return ctc_loss_with_alphas(log_probs, targets, *lengths, blank)


@dataclass(frozen=True)
class _Samples:
    """The labels of each sample with a blank before, between and behind them are its states, at most w.

    emitted: [t, n, w], the logarithms of the states' probabilities, -inf of what is not used; used: [t, n, w], what is
    part of some path; is_open: [n], whether a logarithm is NaN or inf, or a label the blank; states: [n], how many;
    steps: [n]; may_skip: [n, w], which states may follow the one before the last
    """

    emitted: np.ndarray
    used: np.ndarray
    is_open: np.ndarray
    states: np.ndarray
    steps: np.ndarray
    may_skip: np.ndarray


def _samples(
    log_probs: np.ndarray, targets: np.ndarray, steps: np.ndarray, lengths: np.ndarray, blank: int
) -> _Samples:
    log_probs = log_probs[: steps.max(initial=0)]
    count, longest = len(lengths), int(lengths.max(initial=0))
    rows = np.full((count, longest), blank)
    starts = np.cumsum(lengths) - lengths
    for n, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        rows[n, :length] = targets[start : start + length] if targets.ndim == 1 else targets[n, :length]
    labels = np.full((count, 2 * longest + 1), blank)
    labels[:, 1::2] = rows
    may_skip = np.zeros(labels.shape, bool)
    may_skip[:, 3::2] = rows[:, 1:] != rows[:, :-1]
    states = 2 * lengths + 1
    time, state = np.arange(len(log_probs))[:, None, None], np.arange(labels.shape[1])
    emitted = log_probs.astype(np.float64)[time, np.arange(count)[:, None], labels]
    used = _used(emitted != -np.inf, steps, states, may_skip)
    are_none = ~(emitted < np.inf) & (state < states[:, None]) & (time < steps[:, None])
    is_open = are_none.any(axis=(0, 2)) | ((rows == blank) & (np.arange(longest) < lengths[:, None])).any(axis=1)
    return _Samples(np.where(used, emitted, -np.inf), used, is_open, states, steps, may_skip)


def _used(possible: np.ndarray, steps: np.ndarray, states: np.ndarray, may_skip: np.ndarray) -> np.ndarray:
    """[t, n, w]: which states are part of a path from one of the first two to one of the last two, by possible ones."""
    state, result = np.arange(may_skip.shape[1]), np.zeros(possible.shape, bool)
    reached = np.broadcast_to(state < 2, may_skip.shape)
    for time, own in enumerate(possible):
        if time:
            reached = reached | _shifted(reached, 1, False) | (may_skip & _shifted(reached, 2, False))
        reached = result[time] = reached & own
    last = (state < states[:, None]) & (state >= states[:, None] - 2)
    leads = np.zeros(may_skip.shape, bool)
    for time in reversed(range(len(possible))):
        skipped = _shifted((may_skip & leads)[:, ::-1], 2, False)[:, ::-1]
        leads = leads | _shifted(leads[:, ::-1], 1, False)[:, ::-1] | skipped
        leads = np.where((time == steps - 1)[:, None], last, leads & (time < steps)[:, None]) & possible[time]
        result[time] &= leads
    return result


def _terms(fmt: Format, samples: _Samples, zero_infinity: bool, divisors: np.ndarray) -> Terms:
    is_open = samples.is_open
    known = replace(samples, emitted=np.where(is_open[:, None] & samples.used, -1.0, samples.emitted))
    real, ball = _loss(known), _ball(known, held_format(fmt))
    is_possible = known.used[0].any(axis=1)
    unknown = Real(np.zeros(len(real.hi)), np.zeros(len(real.hi)), np.full(len(real.hi), np.inf))
    real = where(is_possible & ~np.isfinite(real.hi), unknown, real)  # what float64 lacks
    is_only_path = (known.used.sum(axis=2) <= 1).all(axis=0) & is_possible
    path = np.where(known.used, known.emitted, 0.0).sum(axis=2)
    real = where(is_only_path, -Real.exact(path).sum(axis=0), real)  # log(e^x) is x
    divisor = np.maximum(divisors, 1).astype(np.float64)
    if zero_infinity:
        zero, infinite = Ball.exact(np.zeros(len(divisor)), ball.compute), np.isposinf(real.hi)
        real, ball = where(infinite, 0.0, real), chosen(infinite, zero, ball)

    def rational(i: int) -> Fraction | None:
        if is_only_path[i]:
            return -sum(map(Fraction, path[:, i].tolist()), Fraction(0)) / int(divisor[i])
        return Fraction(0) if zero_infinity and not is_possible[i] else None

    def formula(i: int) -> mp.Number:
        return -_paths(known, i).log() / int(divisor[i])

    divided = chosen(divisor == 1, ball, ball / Ball.exact(divisor, ball.compute))
    return Terms(real / divisor, divided, rational, formula, is_open)


def _shifted(array: np.ndarray, by: int, fill: float) -> np.ndarray:
    """[n, w]: what stands `by` states before."""
    result = np.full_like(array, fill)
    result[:, by:] = array[:, : array.shape[1] - by] if by < array.shape[1] else result[:, by:]
    return result


def _loss(samples: _Samples) -> Real:
    """[n]: by the forward variables, of which a power of two and e^highest are taken out at every step."""
    alpha = as_real(np.where(np.arange(samples.may_skip.shape[1]) < 2, 1.0, 0.0) * np.ones(samples.may_skip.shape))
    log_factor, exponents = as_real(np.zeros(len(samples.steps))), np.zeros(len(samples.steps))
    result = log_factor
    for time, (highest, powers) in enumerate(_powers(samples.emitted)):
        if time:
            alpha = alpha + alpha.map_parts(lambda part: _shifted(part, 1, 0.0)) + where(
                samples.may_skip, alpha.map_parts(lambda part: _shifted(part, 2, 0.0)), 0.0
            )
        alpha = alpha * powers
        exponent = np.frexp(np.maximum(alpha.hi.max(axis=1), 2.0**-1000))[1]
        alpha = alpha.times_power_of_two(-exponent[:, None])
        is_running = time < samples.steps
        log_factor = where(is_running, log_factor + highest, log_factor)
        exponents = exponents + np.where(is_running, exponent, 0)
        if (ends := time == samples.steps - 1).any():
            result = where(ends, _last(alpha, samples.states), result)
    log_two = mp.as_real(lambda: mp.log(mp.of_float(2.0)))
    return -(functions.log(result) + log_factor + log_two * exponents)


def _powers(emitted: np.ndarray) -> Iterator[tuple[np.ndarray, Real]]:
    """Of each step: the highest logarithm [n] of each sample, 0 where none is finite, and e^(emitted - highest)."""
    together = max(1, TOGETHER // max(1, emitted[:1].size))
    for some in (emitted[start : start + together] for start in range(0, len(emitted), together)):
        highest = some.max(axis=2, initial=-np.inf)
        highest = np.where(np.isfinite(highest), highest, 0.0)
        powers = functions.exp(Real.exact(some) - highest[..., None])
        yield from ((highest[time], powers[time]) for time in range(len(some)))


def _last(alpha: Real, states: np.ndarray) -> Real:
    """[n]: the sum of the last two states, of the one state of no labels."""
    place = np.maximum(states - 2, 0)
    last, before = (alpha[np.arange(len(states)), at] for at in (states - 1, place))
    return where(states > 1, last + before, last)


def _ball(samples: _Samples, compute: Format) -> Ball:
    """[n]: by logarithms of sums of exponentials, from step to step."""
    shape = samples.may_skip.shape
    alpha = Ball.exact(np.where(np.broadcast_to(np.arange(shape[1]), shape) < 2, 0.0, -np.inf), compute)
    result, each = Ball.exact(np.zeros(shape[0]), compute), np.arange(shape[0])
    for time, emitted in enumerate(samples.emitted):
        if time:
            skipped = _moved(alpha, 2)
            skipped = chosen(samples.may_skip, skipped, Ball.exact(np.full(shape, -np.inf), compute))
            alpha = _log_sum_exp([alpha, _moved(alpha, 1), skipped])
        alpha = _without_nan(alpha + Ball.exact(emitted, compute))
        if (ends := time == samples.steps - 1).any():
            last, before = alpha[each, samples.states - 1], alpha[each, np.maximum(samples.states - 2, 0)]
            found = chosen(samples.states > 1, _log_sum_exp([last, before]), last)
            result = chosen(ends, found, result)
    return -result


def _moved(alpha: Ball, by: int) -> Ball:
    return replace(alpha, mid=_shifted(alpha.mid, by, -np.inf), rad=_shifted(alpha.rad, by, 0.0), cancelled=None)


def _log_sum_exp(terms: Sequence[Ball]) -> Ball:
    largest = np.maximum.reduce([term.mid for term in terms])
    reference = np.where(np.isfinite(largest), largest, 0.0)
    total = None
    for term in terms:
        power = (term - Ball.exact(reference, term.compute)).exp()
        total = power if total is None else total + power
    return _without_nan((total.log() + Ball.exact(reference, total.compute)).at_scale(None))


def _without_nan(ball: Ball) -> Ball:
    """-inf is exact: what no path reaches."""
    return replace(ball, rad=np.where(np.isneginf(ball.mid), 0.0, ball.rad))


class _Paths(NamedTuple):
    """Some paths: e^largest (count + rest) is their probability, `rest` that of the less probable ones."""

    largest: Fraction = Fraction(0)
    count: int = 0
    rest: mp.Number = mp.of_float(0.0)

    def __or__(self, other: _Paths) -> _Paths:
        if not (self.count and other.count):
            return self if self.count else other
        one, less = (self, other) if self.largest >= other.largest else (other, self)
        if one.largest == less.largest:
            return _Paths(one.largest, one.count + less.count, one.rest + less.rest)
        factor = max(mp.exp(mp.of_fraction(less.largest - one.largest)), LEAST)
        return _Paths(one.largest, one.count, one.rest + factor * (less.count + less.rest))

    def log(self) -> mp.Number:
        log = mp.log1p(self.rest) if self.count == 1 else mp.log(self.count + self.rest)
        return mp.total((mp.of_fraction(self.largest), log)) if self.count else mp.log(mp.of_float(0.0))


def _paths(samples: _Samples, i: int) -> _Paths:
    """All of sample i, at the precision of the context."""
    states, nothing = int(samples.states[i]), _Paths()
    alpha = [_Paths(count=int(state < 2)) for state in range(states)]
    for time in range(int(samples.steps[i])):
        if time:
            moved = [nothing, *alpha[:-1]]
            skipped = [alpha[s - 2] if samples.may_skip[i, s] else nothing for s in range(states)]
            alpha = [stays | moves | skips for stays, moves, skips in zip(alpha, moved, skipped, strict=True)]
        emitted, used = samples.emitted[time, i], samples.used[time, i]
        alpha = [
            one._replace(largest=one.largest + Fraction(emitted[s])) if used[s] and one.count else nothing
            for s, one in enumerate(alpha)
        ]
    return alpha[-1] | alpha[-2] if states > 1 else alpha[-1]
