"""Integers and bools that an honest error may turn: what of them is right, and what hangs on them.

Such a number has no `array` but `allowed`: arrays of which each element of any is right there, the exact numbers'
first. Its `rad` says how far the others lie from that, infinite where they are not told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.number import Number
from conform.numerics.formats import Format, format_named
from conform.numerics.real import Real
from conform.numerics.rounding_errors import reach

MOST_ALLOWED = 4  # numbers of an element; of one with more nothing is told


def choice(fmt: Format, allowed: Sequence[np.ndarray], unknown: np.ndarray | bool = False) -> Number:
    """The number of `allowed` arrays, the first those of the exact numbers; `unknown`: elements that may be others."""
    first = np.asarray(allowed[0]).astype(fmt.storage)
    others = [np.asarray(one).astype(fmt.storage) for one in allowed[1:] if (np.asarray(one) != first).any()]
    unknown = np.broadcast_to(unknown, first.shape)
    if not others and not unknown.any():
        return Number.exact(first)
    middle = first.astype(np.float64)
    rad = np.where(unknown, np.inf, 0.0)
    for other in others:
        rad = np.maximum(rad, np.abs(other.astype(np.float64) - middle))
    return Number(fmt, Real.exact(middle), rad, allowed=(first, *others))


def either(holds: np.ndarray, undecided: np.ndarray) -> Number:
    """Bools, of which either is right where they are undecided."""
    holds = np.asarray(holds)
    return choice(format_named("bool"), [holds, holds ^ undecided])


def possible(op: str, number: Number) -> list[Number]:
    """The exact numbers that a known one, or one of choices, may be; each element alone may be that of any. Unjudged
    where `op` would hang on numbers of which nothing is told."""
    if number.array is not None:
        return [number]
    if not number.allowed:
        raise NoGolden(f"a program cannot use {op} on {number.dtype} numbers of which nothing is known")
    return [Number.exact(one) for one in number.allowed]


def is_unknown(number: Number) -> np.ndarray:
    return np.isinf(np.broadcast_to(number.rad, number.shape))


def for_each_possible(op: str, number: Number, result: Callable[[Number], Number]) -> Number:
    """What `op` gives where each element hangs on one element of known numbers, or of choices: that of the exact ones,
    and how far the others' lie from it, of which nothing is told where the choice makes a step of it. The elements of
    `number` broadcast to those of the result.

    Where a function is continuous the threshold lies within the ball of the number that is compared, and the two ways
    meet there; each way's ball covers its image. So the results are no further apart than the errors of both.
    """
    if number.array is not None:
        return result(number)
    numbers = [result(one) for one in possible(op, number)]
    unknown = np.broadcast_to(is_unknown(number), numbers[0].shape)
    if not numbers[0].format.is_float:
        arrays = [array for one in numbers for array in (one.allowed or (one.array,))]
        return choice(numbers[0].format, arrays, np.logical_or.reduce([unknown, *map(is_unknown, numbers)]))
    return hull(numbers, unknown)


def hull(numbers: Sequence[Number], unknown: np.ndarray) -> Number:
    """The first of float numbers, of which each element may be that of any, and nothing is told of `unknown` ones."""
    first = numbers[0]
    rad = np.where(unknown, np.inf, np.broadcast_to(first.rad, first.shape))
    with np.errstate(all="ignore"):
        for other in numbers[1:]:
            off, errors = np.abs((other.real - first.real).hi) * (1 + 2.0**-50), first.rad + other.rad
            off = np.where(off <= reach(errors), off / reach(1.0) + other.rad, np.inf)
            rad = np.where(_are_one(first, other), rad, np.maximum(rad, off))
    return replace(first, rad=rad, array=None if rad.any() else first.array)


def _are_one(lhs: Number, rhs: Number) -> np.ndarray:
    """Which elements are one known number."""
    hi = (lhs.real.hi == rhs.real.hi) | (np.isnan(lhs.real.hi) & np.isnan(rhs.real.hi))
    return hi & (lhs.real.lo == rhs.real.lo) & (lhs.rad == 0) & (rhs.rad == 0)
