"""Random integers: what every draw must obey (P228)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.interp.formulas import chance
from conform.interp.golden import Outcome
from conform.interp.ops.creation.constants import named
from conform.interp.ops.creation.drawn import of_chance, stream_of
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, format_of

RULE = "P228"
OF_SHORT_WORDS = 2.0**-20  # what probabilities are off by where words of 32 bits are divided by a small range


def _of_size(arguments: Mapping[str, Any]) -> int:
    return prod(arguments["size"])


def _integers(op: str, fmt: Format, shape: Sequence[int], low: int, high: int, least: int | None = None) -> Outcome:
    """Integers of low .. high - 1; of least .. high - 1 where one below `low` is among them."""
    count = high - low
    drawn = stream_of(op, shape).integers(low, high - 1, tuple(shape)).astype(fmt.storage)

    def may_be(actual: np.ndarray) -> np.ndarray:
        numbers = actual if fmt.is_integer else actual.astype(np.float64)
        is_whole = np.isfinite(numbers) & (numbers % 1 == 0)
        return is_whole & (numbers >= (low if least is None else least)) & (numbers <= high - 1)

    def places(actual: np.ndarray) -> list[chance.Places]:
        numbers = actual.reshape(-1).astype(np.int64)
        first, among = (low, count) if least is None or not (numbers < low).any() else (least, high - least)
        below = (numbers.view(np.uint64) - np.uint64(first % 2**64)) / among  # exact: it is below 2^64
        return [chance.Places(below, below + 1 / among, max(OF_SHORT_WORDS, _off(among)))]

    return of_chance(drawn, fmt, may_be, places, RULE, np.full(drawn.shape, count == 1 and least is None))


@semantics("aten::randint", elements=_of_size, undetermined=True)
def randint(high: int, size: Sequence[int], dtype: str) -> Outcome:
    """Independent integers of 0 .. high - 1, each with the same probability (P228)"""
    return _integers("randint", named(dtype), size, 0, high)


@semantics("aten::randint.low", elements=_of_size, undetermined=True)
def randint_from(low: int, high: int, size: Sequence[int], dtype: str) -> Outcome:
    """Independent integers of low .. high - 1, each with the same probability (P228)"""
    return _integers("randint", named(dtype), size, low, high)


@semantics("aten::randint_like", undetermined=True)
def randint_like(self: np.ndarray, high: int, dtype: str | None = None) -> Outcome:
    """What randint draws, in the shape of self, and in its dtype unless there is another (P228)"""
    return _integers("randint_like", named(dtype, format_of(self)), self.shape, 0, high)


@semantics("aten::randint_like.low_dtype", undetermined=True)
def randint_like_from(self: np.ndarray, low: int, high: int, dtype: str | None = None) -> Outcome:
    """What randint draws from low on, in the shape of self, and in its dtype unless there is another (P228)"""
    return _integers("randint_like", named(dtype, format_of(self)), self.shape, low, high)


@semantics("aten::random.from", undetermined=True)
def random_between(self: np.ndarray, from_: int, to: int | None) -> Outcome:
    """Independent integers of from .. to - 1, each with the same probability, in the shape and the dtype of self; up to
    the largest of the dtype without an end (P228)"""
    fmt = format_of(self)
    return _integers("random", fmt, self.shape, from_, _largest(fmt) + 1 if to is None else to)


@semantics("aten::random.to", undetermined=True)
def random_below(self: np.ndarray, to: int) -> Outcome:
    """Independent integers of 0 .. to - 1, each with the same probability, in the shape and the dtype of self (P228)"""
    return _integers("random", format_of(self), self.shape, 0, to)


@semantics("aten::random", undetermined=True)
def random(self: np.ndarray) -> Outcome:
    """Independent integers of 0 .. the largest of an integer dtype, or of its least .. largest; of a float dtype
    0 .. 2^precision; each with the same probability (P228)"""
    fmt = format_of(self)
    return _integers("random", fmt, self.shape, 0, _largest(fmt) + 1, fmt.min_value if fmt.is_integer else None)


def _off(count: int) -> float:
    """What the probabilities to be at most so large are off by, of remainders of words of 64 bits."""
    more = 2**64 % count  # so many have one word more than the others
    return more * (count - more) / count / 2**64


def _largest(fmt: Format) -> int:
    """The largest integer up to which the dtype has all."""
    if fmt == FORMATS["bool"]:
        return 1
    return fmt.max_value if fmt.is_integer else 2**fmt.precision
