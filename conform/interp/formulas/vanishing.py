"""Elements of discrete Fourier transforms that are 0, told by their size and that of their conjugates.

Twice the real or the imaginary part of an element of the transform of integers is an algebraic integer (the imaginary
one times i), and so are its conjugates. The norm, the product of all of them, is an integer: where each is less than 1,
it is 0, and one of its factors, and with that all of them. An automorphism takes every root of unity z to z^a, a prime
to the order, and the place k of a transform to a k, in all dims alike; one that takes i to -i too gives the real part
at the place -a k, and the imaginary part there but for its sign.
"""

from __future__ import annotations

from functools import lru_cache
from math import lcm

import numpy as np

from conform.numerics.real import RAISE, Real

AT_ONCE = 1 << 18  # numbers that are looked up together
MOST = 1 << 14  # the largest order of roots of unity of whose elements so many conjugates are looked up


def vanishing(sums: Real, unit: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Which of the elements `asked` of are known to be 0: a mask of the shape of `sums`.

    sums: [rows, *lengths], the real parts of a transform or the imaginary ones; unit: [rows], a number of which each of
    what was transformed is an integer multiple
    """
    lengths = sums.shape[1:]
    with np.errstate(all="ignore"):
        size = (np.abs(sums.hi) + np.abs(sums.lo) + sums.radius) * (2 * RAISE) / unit.reshape(-1, *[1] * len(lengths))
    is_small = (size < 1).reshape(len(sums.hi), -1)  # not so where nothing is known
    found = np.zeros(asked.shape, bool)
    places = np.nonzero(asked)
    if (order := lcm(1, *lengths)) > MOST:
        return found
    units = _units(order)
    step = max(AT_ONCE // len(units), 1)
    for start in range(0, len(places[0]), step):
        row, *some = (each[start : start + step] for each in places)
        found[(row, *some)] = is_small[row[:, None], _multiples(some, units, lengths)].all(axis=1)
    return found


def _multiples(places: list[np.ndarray], units: np.ndarray, lengths: tuple[int, ...]) -> np.ndarray:
    """[places, units]: where in a row the multiples of each place are, by all units."""
    at = np.zeros((len(places[0]) if places else 1, len(units)), np.int64)
    for place, length in zip(places, lengths, strict=True):
        at = at * length + place[:, None] * units % length
    return at


@lru_cache(maxsize=64)
def _units(order: int) -> np.ndarray:
    """The integers up to `order` that are prime to it."""
    integers = np.arange(1, order + 1)
    return integers[np.gcd(integers, order) == 1]
