"""Badly conditioned sums: value class `conditioned` of the ops that accumulate.

Each pattern follows the sum of an element's indices, so that every line along every dim shows it. The other tensors of
the call, the factors, are a little more than 1. The sources are the textbook examples of Higham, Accuracy and Stability
of Numerical Algorithms, 2nd ed., chapters 1 and 4.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np

from conform.interp.traits import Traits
from conform.numerics.draws import Stream
from conform.numerics.formats import Format, format_of

# All numbers of a pattern are multiples of the format's spacing at their magnitude, and so are stored exactly.


def _cancels(fmt: Format, place: np.ndarray, stream: Stream) -> np.ndarray:
    """+-(1 + r) in turn, r random below 1/4: the digits that cancel are those that short inputs keep."""
    fraction = stream.integers(0, 2 ** (fmt.precision - 3) - 1, place.shape) * _spacing(fmt)
    return np.where(place % 2 == 0, 1.0, -1.0) * (1.0 + fraction)


def _stagnates(fmt: Format, place: np.ndarray, stream: Stream) -> np.ndarray:
    """1, then 15 numbers of less than half a spacing of 1, each of which alone would not count."""
    fraction = stream.integers(0, 2 ** (fmt.precision - 2) - 1, place.shape) * _spacing(fmt)
    return np.where(place % 16 == 0, 1.0, (1.0 + fraction) * _spacing(fmt) / 4.0)


def _large_and_small(fmt: Format, place: np.ndarray, stream: Stream) -> np.ndarray:
    """A large number, a small one, minus the large one, a small one: the sum is that of the small ones."""
    small = 0.5 + stream.integers(0, 2 ** (fmt.precision - 1) - 1, place.shape) * _spacing(fmt) / 4.0
    return np.choose(place % 4, [_large(fmt), small, -_large(fmt), small])


def _offset(fmt: Format, place: np.ndarray, stream: Stream) -> np.ndarray:
    """A large number and 0 to 7 of its spacings: E[x^2] - E[x]^2 has no digit left, e^x overflows."""
    return _large(fmt) + stream.integers(0, 7, place.shape) * (_large(fmt) * _spacing(fmt))


def _factors(fmt: Format, place: np.ndarray, stream: Stream) -> np.ndarray:
    """1 and some spacings, fewer than 2^(precision / 2)."""
    return 1.0 + stream.integers(0, 2 ** (fmt.precision // 2) - 1, place.shape) * _spacing(fmt)


def _spacing(fmt: Format) -> float:
    """The spacing of the format's numbers from 1 to 2."""
    return 2.0 ** (1 - fmt.precision)


def _large(fmt: Format) -> float:
    """Its spacing is 1/2, the largest small number's weight; in float16 1000 of it do not overflow."""
    return 2.0 ** (fmt.precision - 2)


Pattern = Callable[[Format, np.ndarray, Stream], np.ndarray]
_SUMS: tuple[Pattern, ...] = (_cancels, _stagnates, _large_and_small)
_SHIFTED: tuple[Pattern, ...] = (_offset,)


def patterns_of(traits: Traits) -> tuple[Pattern, ...]:
    """What is hard for an op that accumulates: sums, or what is subtracted before."""
    return _SHIFTED if traits.centred else _SUMS


def conditioned(
    every: Mapping[int, np.ndarray], summands: Collection[int], patterns: tuple[Pattern, ...], stream: Stream
) -> dict[int, np.ndarray]:
    """New values for the float tensors of `every`: one pattern, drawn, for the summands and factors for the others."""
    (choice,) = stream.integers(0, len(patterns) - 1, 1)
    new = {}
    for number, tensor in every.items():
        pattern = patterns[choice] if number in summands else _factors
        values = pattern(format_of(tensor.dtype), np.indices(tensor.shape).sum(axis=0), stream)
        new[number] = np.asarray(values).astype(tensor.dtype)  # of a 0-d tensor they are a scalar
    return new
