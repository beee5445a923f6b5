"""Places at which an op has no gradient, or any of several: what is known there, and what hangs on it, is nothing.

A kink is a NaN of infinite radius, which goes through sums and products as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.program.apply import apply
from conform.interp.program.number import Number
from conform.numerics.real import Real, where


def kinked(number: Number, mask: np.ndarray) -> Number:
    """The number with nothing said where `mask`, which broadcasts with it."""
    if not np.any(mask):
        return number
    shape = np.broadcast_shapes(number.shape, np.shape(mask))
    wide = number.moved(lambda part: np.broadcast_to(part, shape))
    nothing = Real.exact(np.full(shape, np.nan))
    return Number(
        number.format, where(np.broadcast_to(mask, shape), nothing, wide.real), np.where(mask, np.inf, wide.rad)
    )


def are_kinks(number: Number) -> np.ndarray:
    """Where nothing is said because of a kink."""
    return np.isnan(number.real.hi) & np.isinf(np.broadcast_to(number.rad, number.shape))


def distance(x: Number, y: Number | float) -> tuple[np.ndarray, np.ndarray]:
    """(sign, kink): that of x - y, and where the honest errors of both let it be another."""
    first, second = as_float(x), as_float(y)
    difference = first.real - second.real
    return np.sign(difference.hi), np.abs(difference.hi) <= first.rad + second.rad


def as_float(x: Number | float) -> Number:
    """The number, or one of integers that are known in float64."""
    if not isinstance(x, Number):
        return Number.exact(np.float64(x))
    return x if x.format.is_float else Number.exact(x.array.astype(np.float64))


def promoted(x: Number, like: Number) -> Number:
    """The number, or one of integers or bools in the float dtype of `like`."""
    return x if x.format.is_float else x.held_in(like.format)


def chosen_by(sign: np.ndarray, kink: np.ndarray, above: Any, below: Any, like: Number) -> Number:
    """`above` where the sign is positive, `below` where it is negative, both of the dtype of `like`."""
    both = [_like(like, one) for one in (above, below)]
    return kinked(apply("aten::where.self", np.asarray(sign > 0), *both), kink)


def by_side(x: Number, y: Number | float, above: Any, below: Any, like: Number) -> Number:
    """`above` where x > y, `below` where x < y, both Numbers or constants of the dtype of `like`; a kink between."""
    return chosen_by(*distance(x, y), above=above, below=below, like=like)


def _like(like: Number, one: Any) -> Number:
    return one if isinstance(one, Number) else Number.exact(np.asarray(one, like.format.storage))


def zeros(like: Number) -> Number:
    return Number.exact(np.zeros(like.shape, like.format.storage))
