"""Scaled dot product attention: softmax(query @ key^T * scale + mask) @ value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, reduce
from math import prod
from operator import add
from typing import Any, NamedTuple

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.tiles import by_tiles
from conform.interp.formulas.queries import FAR, Attention, Keys, Operand, Queries
from conform.interp.golden import Golden
from conform.interp.ops.attention.undecided_rows import exactly
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.interp.size import broadcast_elements
from conform.interp.traits import Attends
from conform.numerics import functions
from conform.numerics.ball import ULPS, Ball
from conform.numerics.escalate import resolved
from conform.numerics.formats import Format, format_of
from conform.numerics.real import RAISE, Real, where
from conform.numerics.rounding_errors import accumulator_of, gamma, held_format, joined, joined_along, underflow
from conform.numerics.scaled import Scaled

NEGLIGIBLE = 2.0**-200
SCALING = 6  # roundings of a score besides those of its sum: scale or its root, multiplied into query and key


def rows_of_values(arguments: Mapping[str, Any]) -> int:
    """For every query, of every batch that they are broadcast to, a row as long as a value's."""
    operands = {name: arguments[name][..., :1] for name in ("query", "key", "value") if np.ndim(arguments[name])}
    return broadcast_elements(operands) * prod(np.shape(arguments["value"])[-1:])


ATTENDS = Attends("query", "key", "value")


@semantics(
    "aten::scaled_dot_product_attention", attends=ATTENDS, elements=rows_of_values
)
def scaled_dot_product_attention(
    query: np.ndarray,
    key: np.ndarray,
    value: np.ndarray,
    attn_mask: np.ndarray | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Golden:
    """softmax(query @ key^T * scale + mask) @ value, with scale 1/sqrt(E) if None; is_causal masks the columns after
    a row's own; enable_gqa repeats key and value heads (P54, P69)"""
    fmt = format_of(query)
    heads = [1, *(query.shape[-3] // operand.shape[-3] if enable_gqa else 1 for operand in (key, value))]
    operands = [Operand(*each) for each in zip((query, key, value), heads, strict=True)]
    batch = np.broadcast_shapes(*(operand.shape[:-2] for operand in operands))
    mask = None if attn_mask is None else np.broadcast_to(attn_mask, _scores(*operands[:2]))
    shape = (*batch, query.shape[-2], value.shape[-1])
    if 0 in shape:
        return exact(np.empty(shape, fmt.storage), fmt)
    batch = batch or (1,)
    mask = None if mask is None else np.broadcast_to(mask, (*batch, *mask.shape[-2:]))
    whole = Attention(*(operand.broadcast_to(batch) for operand in operands), mask, is_causal, scale)
    products = key.shape[-2] * max(key.shape[-1], value.shape[-1])
    golden = by_tiles(partial(_golden, fmt, whole), (prod(shape[:-1]), shape[-1]), products)
    return golden.rearranged(lambda part: part.reshape(shape))


def _scores(query: Operand, key: Operand) -> tuple[int, ...]:
    """The shape of query @ key^T."""
    return (*np.broadcast_shapes(query.shape[:-2], key.shape[:-2]), query.shape[-2], key.shape[-2])


def _golden(fmt: Format, whole: Attention, rows: slice, columns: slice) -> Golden:
    queries, compute = whole.queries(rows, columns), held_format(fmt)
    with np.errstate(all="ignore"):
        keys = queries.keys()
        largest, is_nan, is_open, may_overflow = _folded(SCORES, map(partial(_of_scores, whole, compute), keys))
        is_open |= largest == -np.inf
        weighed = keys.map(partial(_weighed, whole, compute, largest))
        sums_of = partial(_sums, _reference(keys, largest))
        sums = _Sums(*_folded(SUMS, map(sums_of, weighed)))
        # Scores times an infinite or NaN scale are NaN, infinite, or, where the row is open, -inf.
        decided = is_nan | is_open | sums.meets_nan | (whole.scale is not None and not np.isfinite(whole.scale))
        real = where(decided, np.nan, sums.weighted / sums.total)
        value, real = resolved(fmt, real, *exactly(queries, keys), lambda: _scaled(queries, keys, weighed, sums_of))
        budget = np.where(may_overflow, np.inf, _budget(fmt, whole.count, weighed, sums))
        budget, scale = np.where(np.isfinite(real.hi), budget, 0.0), sums.e_size / sums.e
    golden = Golden(fmt, value, real, budget=budget, scale=scale, zero_sign_free=True)
    return golden.opened(np.repeat(is_open, value.shape[1], axis=1), "P69")


# Sums over the keys, from piece to piece


def _folded(folds: Sequence[Callable], parts: Iterable[tuple]) -> tuple:
    """The parts as one, entry by entry."""
    return reduce(lambda one, other: tuple(fold(*each) for fold, *each in zip(folds, one, other, strict=True)), parts)


SCORES = (np.maximum, np.logical_or, np.logical_or, np.logical_or)


def _of_scores(whole: Attention, compute: Format, keys: Keys) -> tuple[np.ndarray, ...]:
    """[r, 1]: (the largest score, whether one is NaN or infinite, whether P69 leaves the row open, whether a product of
    query and key may overflow: scaled or not, it makes NaN of inf - inf, and of 0 * inf)."""
    hi, factor = keys.scores.hi, 1.0 if whole.scale is None else max(1.0, abs(whole.scale))
    tests = (
        np.isnan(hi) | (hi == np.inf),
        keys.masked & keys.is_special | keys.has_infinite_value,
        factor * keys.magnitude > compute.max_finite,
    )
    return hi.max(axis=1, keepdims=True), *(test.any(axis=1, keepdims=True) for test in tests)


class _Reference(NamedTuple):
    """The first key of each query with the largest score, [r, 1], and that score, from which all are taken."""

    key: np.ndarray
    score: Real

    def distance(self, keys: Keys) -> Real:
        """[r, s]: the scores less that of the key: 0 of itself, however large; -FAR stands for what is less."""
        number = np.arange(keys.start, keys.start + keys.scores.shape[1])
        above = (keys.scores.hi - self.score.hi) + (keys.scores.radius + self.score.radius)
        distance = where(above < -FAR, -FAR, keys.scores - self.score)
        return where(number == self.key, 0.0, where(keys.masked, -np.inf, distance))


def _reference(keys: Iterable[Keys], largest: np.ndarray) -> _Reference:
    """largest: [r, 1], the largest hi of the scores of each query."""
    key, score = np.full(largest.shape, -1), Real.exact(largest)
    for piece in keys:
        is_largest = piece.scores.hi == largest
        place = is_largest.argmax(axis=1)[:, None]
        found = is_largest.any(axis=1, keepdims=True) & (key < 0)
        own = piece.scores.map_parts(lambda part, place=place: np.take_along_axis(part, place, 1))
        score = where(found, own, score)
        key = np.where(found, piece.start + place, key)
    return _Reference(key, score)


class _Weighed(NamedTuple):
    """Keys with e^(score - a number near the largest score), and their values, both 0 where they are masked."""

    keys: Keys
    e: Ball  # [r, s]
    value: np.ndarray  # [r, s, v]


def _weighed(whole: Attention, compute: Format, largest: np.ndarray, keys: Keys) -> _Weighed:
    factor = 1 / np.sqrt(whole.size) if whole.scale is None else abs(whole.scale)
    terms = whole.size + SCALING
    relative = gamma(terms, accumulator_of(compute).unit_roundoff)
    spread = factor * (relative * keys.magnitude + terms * underflow(compute))
    scores = Ball.exact(keys.bias, compute).rounded(keys.scores.hi, spread)
    e = scores.rounded(scores.mid - largest, scores.rad).exp()
    e = Ball(np.where(keys.masked, 0.0, e.mid), np.where(keys.masked, 0.0, e.rad), compute)
    return _Weighed(keys, e, np.where(keys.masked[..., None], 0.0, keys.value))


class _Sums(NamedTuple):
    """Sums over all keys. [r, 1] without values, [r, v] with them."""

    total: Real  # of e
    weighted: Real  # of e v
    meets_nan: np.ndarray  # whether a value that counts is NaN
    e: np.ndarray
    e_radius: np.ndarray
    e_value: np.ndarray
    e_size: np.ndarray  # of e |v|
    e_size_joined: np.ndarray
    size: np.ndarray  # of |v|


SUMS = _Sums(
    add, add, meets_nan=np.logical_or, e=add, e_radius=add, e_value=add, e_size=add, e_size_joined=joined, size=add
)


def _sums(reference: _Reference, some: _Weighed) -> _Sums:
    e = functions.exp(reference.distance(some.keys))
    mid, size = some.e.mid[..., None], np.abs(some.value)
    return _Sums(
        e.sum(axis=1, keepdims=True),
        (e.reshape((*e.shape, 1)) * Real.exact(some.value)).sum(axis=1),
        meets_nan=np.isnan(some.value).any(axis=1),
        e=mid.sum(axis=1),
        e_radius=some.e.rad.sum(axis=1, keepdims=True),
        e_value=(mid * some.value).sum(axis=1),
        e_size=(mid * size).sum(axis=1),
        e_size_joined=joined_along(mid * size, axis=1),
        size=size.sum(axis=1),
    )


# Errors


def _budget(fmt: Format, count: int, weighed: Iterable[_Weighed], sums: _Sums) -> np.ndarray:
    """What the formula may lose in the compute type, at once or in blocks of 16 keys or more that rescale what
    came before.

    An error eps_j of the j-th exponential is in numerator and denominator: it moves the mean by
    p_j |v_j - mean| eps_j. Rescaling costs 7 roundings a block, so fewer than one a key, and no more than those of the
    keys that count: blocks before the first of these vanish when it is met, and once the largest score is known blocks
    are rescaled by e^0, which is 1. Weights may be rounded to the element type, which the second product takes.
    """
    compute = held_format(fmt)
    u, mean, relative = compute.unit_roundoff, sums.e_value / sums.e, sums.e_radius / sums.e

    def moved(some: _Weighed) -> np.ndarray:
        return joined_along((some.e.rad / sums.e)[..., None] * np.abs(some.value - mean[:, None]), axis=1)

    shared = reduce(joined, map(moved, weighed)) / np.maximum(1 - relative, 0.0)
    counting, left, left_value = _folded((add,) * 3, map(partial(_counted, sums.e * u / count), weighed))
    roundings = np.minimum(2 * count, 8 * counting)
    added = joined(gamma(roundings, accumulator_of(compute).unit_roundoff), 2 * ULPS["div"] * u)
    added = added * (sums.e_size / sums.e + np.abs(mean))
    added = joined(added, 2 * (left_value + left * np.abs(mean)) / sums.e)
    least = 2 * fmt.min_normal / np.maximum(1 - relative, 0.0)
    near_zero = reduce(add, map(partial(_lost_near_zero, fmt, sums.e, least), weighed))
    stored = sums.e_size_joined / sums.e * fmt.unit_roundoff + near_zero
    tiny = underflow(compute) * (2 + sums.size)
    budget = joined(shared, added * (1 + relative), 0.0 if compute == fmt else stored, tiny)
    holds = (sums.size <= compute.max_finite) & ~np.isnan(budget)  # NaN: no bound of e beside a value that is the mean
    return np.where(holds, budget, np.inf)


def _lost_near_zero(fmt: Format, total: np.ndarray, least: np.ndarray, some: _Weighed) -> np.ndarray:
    """What weights lose that are stored in `fmt` below its normal numbers, times the values: of a weight no more than
    itself, and nothing of those that are `least`, and so normal however they are rounded."""
    weights = some.e.mid / total
    lost = np.where(weights < least, np.minimum(weights, underflow(fmt)), 0.0)
    return (lost[..., None] * np.abs(some.value)).sum(axis=1)


def _counted(least: np.ndarray, some: _Weighed) -> tuple[np.ndarray, ...]:
    """Of each row (how many keys have an exponential above `least` [r, 1], the sum of the others' exponentials, that of
    their products with the values' magnitudes).

    To add what is negligible costs no more than itself: |fl(a + b) - (a + b)| <= min(|a|, |b|), since a and b are
    numbers of the format and the sum is rounded to the nearest.
    """
    left = np.where(some.e.mid > least, 0.0, some.e.mid)
    counting = np.count_nonzero(some.e.mid > least, axis=1, keepdims=True)
    return counting, left.sum(axis=1, keepdims=True), (left[..., None] * np.abs(some.value)).sum(axis=1)


# Rows that the reals do not decide


def _scaled(
    queries: Queries, keys: Pieces[Keys], weighed: Pieces[_Weighed], sums_of: Callable[[_Weighed], _Sums]
) -> Scaled:
    """[r, v]: the means of values that are over a power of two, the largest of them all, so that none of their products
    underflows; and the values of keys that have all the weight."""
    exponent = reduce(np.maximum, (np.frexp(some.value)[1].max(axis=1) for some in weighed))

    def over_power(some: _Weighed) -> _Weighed:
        return some._replace(value=np.ldexp(some.value, -exponent[:, None]))

    are_held = reduce(np.logical_and, (_is_held(some.value, exponent) for some in weighed))
    sums = _Sums(*_folded(SUMS, map(sums_of, map(over_power, weighed))))
    mean = sums.weighted / sums.total
    means = Scaled.of(mean.hi, mean.lo, mean.radius / np.abs(mean.hi) * RAISE, exponent).known_where(are_held)
    return means if keys.are_many else means.or_else(_only_values(queries, keys))


def _is_held(value: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    """[r, v]: whether the values [r, s, v] over the power of two are numbers of float64."""
    return (np.ldexp(np.ldexp(value, -exponent[:, None]), exponent[:, None]) == value).all(axis=1)


def _only_values(queries: Queries, keys: Pieces[Keys]) -> Scaled:
    """[r, v]: the values, which are numbers of the format, of the keys that have all the weight; what others add is
    less than 2^-10^6, and of a value other than 0 less than NEGLIGIBLE. The keys come in one piece."""
    (piece,) = keys
    place, is_only = queries.only_weights(piece)
    value = np.take_along_axis(piece.value, place[:, None, None], 1)[:, 0]
    return Scaled.of(value, np.zeros_like(value), NEGLIGIBLE).known_where(is_only[:, None])
