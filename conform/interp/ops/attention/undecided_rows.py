"""Rows of attention that Reals do not decide: by exact fractions, or on numbers of any precision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, lru_cache
from math import isqrt
from operator import add
from typing import NamedTuple

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.blocks import Pieces
from conform.interp.formulas.queries import FAR, Keys, Queries, Term
from conform.numerics import multiprecision as mp
from conform.numerics.escalate import Irrational

GROUPS = 4096  # different scores, of which the sums are held
NEXT_TO_ZERO = Irrational(1, 2**1200)  # stands for e^-FAR times a value


class Distance(NamedTuple):
    """product * factor + rest: a score less that of the row's reference, exactly; the value [v] of its key."""

    product: mpq
    rest: mpq
    value: np.ndarray


def exactly(
    queries: Queries, keys: Pieces[Keys]
) -> tuple[Callable[[np.ndarray], np.ndarray], Callable[[tuple[int, int]], mpq | Irrational | None]]:
    """The formula of some rows on numbers of any precision, and that of an element by fractions."""
    size, scale = queries.whole.size, queries.whole.scale
    hold = (lambda function: function) if keys.are_many else cache
    terms_of = hold(lambda row: _Again(lambda: queries.terms(row, keys), keys.are_many))
    distances_of = hold(lambda row: _Again(lambda: _distances(terms_of(row), size, scale), keys.are_many))
    means_of = lru_cache(maxsize=1)(lambda row: _rational_means(terms_of(row), size, _rational_scale(size, scale)))

    def formula(some: np.ndarray) -> np.ndarray:
        factor = _factor(size, scale)
        return np.array([_mp_row(distances_of(row), factor) for row in some.tolist()], dtype=object)

    def rational(index: tuple[int, int]) -> mpq | Irrational | None:
        means = means_of(index[0])
        return means[index[1]] if means else None

    return formula, rational


class _Again:
    """What `make` yields, read again and again: held, or where there is too much made each time."""

    def __init__(self, make: Callable[[], Iterable], are_many: bool) -> None:
        self._read = make if are_many else cache(lambda: list(make()))

    def __iter__(self) -> Iterable:
        return iter(self._read())


def _rational_scale(size: int, scale: float | None) -> mpq | None:
    if scale is not None:
        return mpq(scale)
    return mpq(1, isqrt(size)) if isqrt(size) ** 2 == size else None


def _factor(size: int, scale: float | None) -> mp.Number:
    return 1 / mp.sqrt(mp.of_float(size)) if scale is None else mp.of_float(scale)


# Rational means


def _rational_means(terms: Iterable[Term], size: int, scale: mpq | None) -> list[mpq | Irrational | None] | None:
    """The mean of each column of the values, None where it is not known to be rational: it is where all scores are
    equal, or where the values of each score have the same mean. What rounds like 0 stands for that of values whose mean
    is 0 with a score that is FAR above all others. None beside more than GROUPS different scores."""
    groups: dict[object, list[mpq] | np.ndarray] = {}  # the sums of several values, or the value
    counts: Counter[object] = Counter()
    for product, bias, value in terms:
        score = (product, bias) if scale is None else product * scale + mpq(bias)
        counts[score] += 1
        groups[score] = _sum(groups[score], value) if score in groups else value
        if len(groups) > GROUPS:
            return None
    alone = _far_above_all(groups, size, scale)
    if len(groups) == counts.total():
        return _common(np.stack(list(groups.values())), groups.get(alone))
    means = {score: [one / counts[score] for one in _fractions(sums)] for score, sums in groups.items()}
    tops = means.get(alone, [None] * len(value))
    columns = zip(*means.values(), tops, strict=True)
    return [one[0] if len(set(one)) == 1 else NEXT_TO_ZERO if top == 0 else None for *one, top in columns]


def _sum(sums: list[mpq] | np.ndarray, value: np.ndarray) -> list[mpq]:
    return list(map(add, _fractions(sums), _fractions(value)))


def _fractions(numbers: list[mpq] | np.ndarray) -> list[mpq]:
    """Fractions, 0 for an infinity or NaN: nobody asks for the mean of a column that has one."""
    if isinstance(numbers, list):
        return numbers
    return [mpq(number) for number in np.where(np.isfinite(numbers), numbers, 0.0).tolist()]


def _common(values: np.ndarray, top: np.ndarray | None) -> list[mpq | Irrational | None]:
    """What all values [s, v] have in common; what rounds like 0 where the `top` value, which has all weight, is 0."""
    is_same = (values == values[0]).all(axis=0).tolist()
    is_zero = [False] * len(is_same) if top is None else (top == 0).tolist()
    columns = zip(_fractions(values[0]), is_same, is_zero, strict=True)
    return [value if same else NEXT_TO_ZERO if zero else None for value, same, zero in columns]


def _far_above_all(scores: Iterable[object], size: int, scale: mpq | None) -> object:
    """The score that is FAR above all others; None if there is none, or if that is not seen from the products."""
    ordered = sorted(scores, reverse=True)
    if scale is not None:
        return ordered[0] if len(ordered) == 1 or ordered[0] - ordered[1] > FAR else None
    (first, bias), *others = ordered
    is_far = all(own == bias and first - product > FAR * size for product, own in others)
    return ordered[0] if is_far else None


# Numbers of any precision


def _distances(terms: Iterable[Term], size: int, scale: float | None) -> Iterable[Distance]:
    """Large scores are not subtracted but their terms, exactly: what one adds to another may be beyond all precision. A
    scale that is rational is multiplied in."""
    exact_scale, factor = _rational_scale(size, scale), _factor(size, scale)

    def score(product: mpq, bias: float) -> mpq | mp.Number:
        return mp.of_fraction(product) * factor + bias if exact_scale is None else product * exact_scale + mpq(bias)

    largest, most = max(((product, bias) for product, bias, _ in terms), key=lambda term: score(*term))
    for product, bias, value in terms:
        distance, rest = product - largest, mpq(bias) - mpq(most)
        if exact_scale is not None:
            distance, rest = mpq(0), distance * exact_scale + rest
        yield Distance(distance, rest, value.astype(object))


def _mp_row(distances: Iterable[Distance], factor: mp.Number) -> list[mp.Number]:
    total, sums = 0, 0
    for product, rest, value in distances:
        exponent = mp.of_fraction(rest)
        e = mp.exp(exponent + mp.of_fraction(product) * factor if product else exponent)
        total, sums = total + e, sums + value * e
    return (sums / total).tolist()
