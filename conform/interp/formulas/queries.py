"""Attention's queries and keys: the scores of some queries, in pieces of the keys that are made again when read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import mul

import numpy as np
from gmpy2 import mpq

from conform.interp.blocks.blocks import Pieces, fits, spans
from conform.numerics.accumulate import dot_of
from conform.numerics.digits import AT_ONCE, MOST_DIGITS, dots
from conform.numerics.real import Real, where
from conform.numerics.scaled import FARTHEST, Scaled

FAR = 2.0**20  # e^-FAR times any value rounds to 0


class Operand:
    """A tensor [..., m, n], every head of which stands for `repeats` heads in a row."""

    def __init__(self, tensor: np.ndarray, repeats: int = 1) -> None:
        self.tensor, self.repeats = tensor, repeats

    @property
    def shape(self) -> tuple[int, ...]:
        if self.repeats == 1:
            return self.tensor.shape
        *outer, heads, rows, columns = self.tensor.shape
        return (*outer, heads * self.repeats, rows, columns)

    def broadcast_to(self, batch: tuple[int, ...]) -> Operand:
        """The operand with these leading dimensions, of which there is one at least."""
        own = (*batch[:-1], batch[-1] // self.repeats)
        return Operand(np.broadcast_to(self.tensor, (*own, *self.tensor.shape[-2:])), self.repeats)

    def at(self, batch: tuple[np.ndarray, ...], *places: np.ndarray | slice) -> np.ndarray:
        """The elements at places of the matrices that `batch` names, an index array for each leading dimension."""
        *outer, head = batch
        return self.tensor[(*outer, head // self.repeats, *places)]


@dataclass(frozen=True)
class Keys:
    """What some keys [s], from `start` on, are to some queries [r]."""

    start: int
    scores: Real  # [r, s], -inf where masked
    magnitude: np.ndarray  # [r, s]: of the products of query and key
    bias: np.ndarray  # [r, s]: what is added to them
    masked: np.ndarray  # [r, s]
    value: np.ndarray  # [r, s, v]
    is_special: np.ndarray  # [r, s]: whether key or value holds NaN or an infinity
    has_infinite_value: np.ndarray  # [r, s]


Term = tuple[mpq, float, np.ndarray]  # exact product with the query, bias, value [v]


@dataclass(frozen=True)
class Attention:
    """query [*batch, L, E], key [*batch, S, E] and value [*batch, S, V]; mask [*batch, L, S]; scale None is
    1/sqrt(E)."""

    query: Operand
    key: Operand
    value: Operand
    mask: np.ndarray | None
    is_causal: bool
    scale: float | None

    @property
    def size(self) -> int:
        """E, the elements of a key."""
        return self.key.shape[-1]

    @property
    def count(self) -> int:
        """S, how many keys there are."""
        return self.key.shape[-2]

    def factor(self) -> Real:
        """The factor of the products of query and key."""
        if self.scale is not None:
            return Real.exact(np.float64(self.scale))
        return Real.exact(np.float64(1)) / Real.exact(np.float64(self.size)).sqrt()

    def queries(self, rows: slice, columns: slice) -> Queries:
        """Some of all queries in C order, and some columns of the values."""
        *batch, row = np.unravel_index(np.arange(rows.start, rows.stop), self.query.shape[:-1])
        return Queries(self, tuple(batch), row, columns)


@dataclass(frozen=True)
class Queries:
    """Queries `row` [r] of `batch`, an index array [r] for each leading dimension, and columns [v] of the values."""

    whole: Attention
    batch: tuple[np.ndarray, ...]
    row: np.ndarray
    columns: slice

    def keys(self) -> Pieces[Keys]:
        """What all keys are to these queries."""
        width = len(self.row) * max(self.whole.size, self.columns.stop - self.columns.start)
        return Pieces(lambda: map(self._keys, spans(self.whole.count, width)), not fits(self.whole.count * width))

    def _keys(self, keys: slice) -> Keys:
        factors = self._factors(keys)
        products = dot_of(factors)
        bias = self._bias(keys)
        masked = bias == -np.inf
        scaled = self._scaled(products.real, factors)
        scores = where(masked, -np.inf, where(_decides(bias, scaled), bias, scaled + Real.exact(bias)))
        value = self._value(keys, self.columns)
        is_special = np.logical_or.reduce([_any(~np.isfinite(key)) for _, key in factors])
        is_infinite = np.zeros(bias.shape, bool)
        for part in self._values(keys, value):
            is_special |= _any(~np.isfinite(part))
            is_infinite |= _any(np.isinf(part))
        return Keys(
            keys.start,
            scores,
            magnitude=products.magnitude,
            bias=bias,
            masked=masked,
            value=value,
            is_special=is_special,
            has_infinite_value=is_infinite,
        )

    def _scaled(self, products: Real, factors: Pieces[tuple[np.ndarray, np.ndarray]]) -> Real:
        """The products [r, s] times the factor. Of one that is multiplied by an infinity the sign must be known."""
        factor = self.whole.factor()
        unsure = np.isfinite(products.hi) & ~(np.abs(products.hi) > products.radius) & (products.radius > 0)
        if np.isinf(factor.hi) and unsure.any():
            numbers = dots((query[unsure].T, key[unsure].T) for query, key in factors).real()
            signs = np.zeros(unsure.shape)
            underflows = (numbers.hi == 0) & (numbers.radius > 0)  # to a zero of the number's sign
            signs[unsure] = np.where(underflows, np.copysign(1.0, numbers.hi), np.sign(numbers.hi))
            products = where(unsure, signs, products)
        return products * factor

    def _factors(self, keys: slice) -> Pieces[tuple[np.ndarray, np.ndarray]]:
        """(query, key), both [r, s, e], in pieces of their elements."""

        def factors(elements: slice) -> tuple[np.ndarray, np.ndarray]:
            query = self.whole.query.at(self.batch, self.row, elements).astype(np.float64)
            key = self.whole.key.at(self.batch, keys, elements).astype(np.float64)
            return np.broadcast_to(query[:, None], key.shape), key

        size, width = self.whole.size, len(self.row) * (keys.stop - keys.start)
        return Pieces(lambda: map(factors, spans(size, width)), not fits(size * width))

    def _bias(self, keys: slice) -> np.ndarray:
        """What is added to the scores; -inf where a position is masked."""
        if self.whole.mask is not None:
            mask = self.whole.mask[(*self.batch, self.row, keys)]
            return np.where(mask, 0.0, -np.inf) if mask.dtype == bool else mask.astype(np.float64)
        kept = not self.whole.is_causal or np.arange(keys.start, keys.stop) <= self.row[:, None]
        return np.where(kept, 0.0, np.full((len(self.row), keys.stop - keys.start), -np.inf))

    def _value(self, keys: slice, columns: slice) -> np.ndarray:
        return self.whole.value.at(self.batch, keys, columns).astype(np.float64)

    def _values(self, keys: slice, some: np.ndarray) -> Iterable[np.ndarray]:
        """The values of the keys in all columns, of which `some` are known."""
        count = self.whole.value.shape[-1]
        if some.shape[2] == count:
            return [some]
        return (self._value(keys, columns) for columns in spans(count, some.shape[0] * some.shape[1]))

    def only_weights(self, keys: Keys) -> tuple[np.ndarray, np.ndarray]:
        """[r]: (the key with the largest score, whether it has all the weight: every other score is more than 2^20
        less, so that all others together weigh less than e^-2^20 times their number), of all keys in one piece; not
        known where scores are far apart by their bias alone.

        Scores are made of exact products with their exponents held apart, and taken over one power of two a row: each
        is off by less than 8 u of the row's largest number.
        """
        products, factor = self._exact_products(), self.whole.factor()
        significand, exponent = np.frexp(factor.hi)
        scale = np.where(products.hi == 0, -FARTHEST, products.exponent).max(axis=1, keepdims=True) + exponent
        with np.errstate(all="ignore"):
            scores = np.ldexp(products.hi * significand, products.exponent + exponent - scale)
            bias = np.where(keys.masked, 0.0, np.ldexp(keys.bias, -scale))
            scores = np.where(keys.masked, -np.inf, scores + bias)
            first = scores.argmax(axis=1)
            others = np.where(np.arange(scores.shape[1]) == first[:, None], -np.inf, scores).max(axis=1)
            spread = (1 + np.abs(bias).max(axis=1)) * 2.0**-45
            apart = np.ldexp(scores.max(axis=1) - others - spread, scale[:, 0]) > 2 * FAR
        return first, apart & ~keys.is_special.any(axis=1)

    def _exact_products(self) -> Scaled:
        """[r, s]: of all keys, 0 for what is not finite."""
        factors = self._factors(slice(0, self.whole.count))
        query, key = (np.concatenate(parts, axis=-1) for parts in zip(*factors, strict=True))
        lines = [np.where(np.isfinite(part), part, 0.0).reshape(-1, self.whole.size).T for part in (query, key)]
        step = max(AT_ONCE // max(self.whole.size, MOST_DIGITS), 1)
        some = [dots([[line[:, i : i + step] for line in lines]]).scaled() for i in range(0, lines[0].shape[1], step)]
        names = ("hi", "lo", "radius", "exponent")
        parts = [np.concatenate([getattr(one, name) for one in some]).reshape(query.shape[:2]) for name in names]
        return Scaled(np.where(np.isfinite(parts[2]), parts[0], 0.0), *parts[1:])

    def terms(self, query: int, keys: Pieces[Keys]) -> Iterator[Term]:
        """The terms of each key that has a weight for query number `query`, from its `keys`."""
        batch = tuple(index[query] for index in self.batch)
        own = _fractions(self.whole.query.at(batch, self.row[query]))
        for piece in keys:
            places = np.flatnonzero(piece.scores.hi[query] > -np.inf)
            keys_at = self.whole.key.at(batch, piece.start + places)
            for key, s in zip(keys_at, places.tolist(), strict=True):
                yield sum(map(mul, own, _fractions(key))), float(piece.bias[query, s]), piece.value[query, s]


def _fractions(numbers: np.ndarray) -> list[mpq]:
    return list(map(mpq, numbers.astype(np.float64).tolist()))


def _decides(bias: np.ndarray, scaled: Real) -> np.ndarray:
    """Where an infinite or NaN bias makes the score infinite or NaN, whatever number it is added to: the row is NaN
    then."""
    return ~np.isfinite(bias) & ~np.isfinite(scaled.radius)


def _any(holds: np.ndarray) -> np.ndarray:
    return holds.any(axis=2)
