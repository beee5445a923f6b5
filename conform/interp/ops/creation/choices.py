"""Events that happen with given probabilities: coins (P229), and one of several (P230)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from conform.interp.formulas import chance
from conform.interp.golden import Given, Golden, Outcome
from conform.interp.ops.creation.drawn import stream_of
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, format_of

COINS, CHOICES = "P229", "P230"


@semantics("aten::bernoulli", undetermined=True)
def bernoulli(self: np.ndarray) -> Outcome:
    """1 with the probability that stands in self, else 0, element by element (P229)"""
    return _coins(format_of(self), self.astype(np.float64), format_of(self).unit_roundoff)


@semantics("aten::bernoulli.Tensor", undetermined=True)
def bernoulli_of_tensor(self: np.ndarray, p: np.ndarray) -> Outcome:
    """1 with the probability that stands in p, else 0, in the shape and the dtype of self (P229)"""
    return _coins(format_of(self), p.astype(np.float64), format_of(p).unit_roundoff)


@semantics("aten::bernoulli.p", undetermined=True, holds_numbers=True)
def bernoulli_of_number(self: np.ndarray, p: float) -> Outcome:
    """1 with probability p, else 0, in the shape and the dtype of self (P229)"""
    fmt = format_of(self)
    return _coins(fmt, np.full(self.shape, float(p)), fmt.unit_roundoff if fmt.is_float else 2.0**-24)


def _coins(fmt: Format, p: np.ndarray, grid: float) -> Outcome:
    is_sure = (p == 0) | (p == 1)
    drawn = (stream_of("bernoulli", p.shape).uniform(p.shape) < p).astype(fmt.storage)

    def given(outputs: Sequence[np.ndarray]) -> Given:
        (actual,) = outputs
        possible = np.where(is_sure, actual == drawn, (actual == 0) | (actual == 1))
        fault = _unlikely(p[~is_sure], actual[~is_sure] == 1, grid) if possible.all() else None
        return Given((exact(np.where(possible, actual, drawn), fmt),), fault)

    return Outcome((exact(drawn, fmt, zero_sign_free=fmt.is_float).opened(~is_sure, COINS),), given=given)


def _unlikely(p: np.ndarray, heads: np.ndarray, grid: float) -> str | None:
    """The fault of coins that fell so: of those that are likely, of the others, and of neighbours that are equal."""
    pairs = p.size // 2
    first, second = p[: 2 * pairs].reshape(-1, 2).T
    equal = np.equal(*heads[: 2 * pairs].reshape(-1, 2).T)
    equal_q = first * second + (1 - first) * (1 - second)
    samples = [(heads[some], p[some]) for some in (p <= 0.5, p > 0.5)]
    for happened, q in (*samples, (equal, equal_q)):
        if happened.size and (fault := chance.unlikely_share(int(happened.sum()), happened.size, q.mean(), 2 * grid)):
            return fault
    return None


@semantics("aten::multinomial", elements=lambda arguments: arguments["self"].size * max(arguments["num_samples"], 1),
           undetermined=True)  # fmt: skip
def multinomial(self: np.ndarray, num_samples: int, replacement: bool = False) -> Outcome:
    """Of every row num_samples places, one after the other, each with a probability proportional to the weight there;
    without replacement a place is drawn once at most, and the others keep theirs in proportion (P230)"""
    weights = np.atleast_2d(self.astype(np.float64))
    shape = (*self.shape[:-1], num_samples)
    uniform = stream_of("multinomial", shape).uniform((len(weights), num_samples))
    drawn = np.empty(uniform.shape, np.int64)

    def choose(step: int, ends: np.ndarray) -> np.ndarray:
        drawn[:, step] = (uniform[:, step, None] * ends[:, -1:] >= ends).sum(axis=1)
        return drawn[:, step]

    if (np.count_nonzero(weights, axis=1) < (1 if replacement else num_samples)).any():
        zeros = np.zeros(shape, np.int64)
        return Outcome((exact(zeros, FORMATS["int64"]).opened(np.ones(shape, bool), CHOICES),), refusal=CHOICES)
    _in_turn(weights, num_samples, replacement, choose)
    grid = (weights.shape[1] + 4) * format_of(self).unit_roundoff

    def given(outputs: Sequence[np.ndarray]) -> Given:
        actual = outputs[0].reshape(drawn.shape)
        value, places = _placed(weights, actual, replacement, grid)
        fault = chance.unlikely(places) if (value == actual).all() else None
        return Given((exact(value.reshape(shape), FORMATS["int64"]),), fault)

    return Outcome((_opened_choices(drawn.reshape(shape), weights),), given=given)


def _opened_choices(drawn: np.ndarray, weights: np.ndarray) -> Golden:
    """Open where a row has more than one place with a weight."""
    is_open = (np.count_nonzero(weights, axis=1) > 1)[:, None]
    everywhere = np.broadcast_to(is_open, (len(weights), drawn.shape[-1])).reshape(drawn.shape)
    return exact(drawn, FORMATS["int64"]).opened(everywhere, CHOICES)


def _in_turn(
    weights: np.ndarray, count: int, replacement: bool, choose: Callable[[int, np.ndarray], np.ndarray]
) -> None:
    """`choose(step, ends)` for `count` steps: the place that each row takes, of the running sums of the weights that
    are left in it."""
    left, rows = weights.copy(), np.arange(len(weights))
    ends = np.cumsum(left, axis=1)
    for step in range(count):
        chosen = choose(step, ends)
        if not replacement:
            left[rows, chosen] = 0
            ends = np.cumsum(left, axis=1)


def _placed(
    weights: np.ndarray, actual: np.ndarray, replacement: bool, grid: float
) -> tuple[np.ndarray, chance.Places]:
    """The choices, each impossible one replaced by the first place that is left; and the places of all in their
    distributions, given those before in the row."""
    value, low, high = actual.copy(), np.zeros(actual.shape), np.ones(actual.shape)
    rows, last = np.arange(len(weights)), weights.shape[1] - 1

    def choose(step: int, ends: np.ndarray) -> np.ndarray:
        asked = np.clip(actual[:, step], 0, last)
        is_left = ends[rows, asked] > _before(ends, asked)
        chosen = value[:, step] = np.where(is_left & (asked == actual[:, step]), asked, (ends > 0).argmax(axis=1))
        low[:, step], high[:, step] = _before(ends, chosen) / ends[:, -1], ends[rows, chosen] / ends[:, -1]
        return chosen

    _in_turn(weights, actual.shape[1], replacement, choose)
    return value, chance.Places(low.reshape(-1), high.reshape(-1), grid)


def _before(ends: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Of each row the running sum before a place."""
    return np.where(chosen > 0, ends[np.arange(len(ends)), chosen - 1], 0.0)
