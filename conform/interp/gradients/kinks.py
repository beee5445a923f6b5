"""Places at which an op has no gradient, or any of several: what is known there, and what hangs on it, is nothing.

A kink is a NaN of infinite radius, which goes through sums and products as it is. Where two pieces of a function meet
and have the same slope there is none: `celu` at 0.
"""

from __future__ import annotations

from dataclasses import replace
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
    real = where(np.broadcast_to(mask, shape), nothing, wide.real)
    return replace(wide, real=real, rad=np.where(mask, np.inf, wide.rad), array=None, allowed=())


def are_kinks(number: Number) -> np.ndarray:
    """Where nothing is said because of a kink."""
    return np.isnan(number.real.hi) & np.isinf(np.broadcast_to(number.rad, number.shape))


def distance(x: Number, y: Number | float) -> tuple[np.ndarray, np.ndarray]:
    """(sign, uncertain): that of x - y, and where there is none or the honest errors of both let it be another."""
    first, second = as_float(x), as_float(y)
    difference = first.real - second.real
    return np.sign(difference.hi), ~(np.abs(difference.hi) > first.rad + second.rad)


def as_float(x: Number | float) -> Number:
    """The number, or one of integers that are known in float64."""
    if not isinstance(x, Number):
        return Number.exact(np.float64(x))
    return x if x.format.is_float else Number.exact(x.array.astype(np.float64))


def promoted(x: Number, like: Number) -> Number:
    """The number, or one of integers or bools in the float dtype of `like`."""
    return x if x.format.is_float else x.held_in(like.format)


def chosen_by(sign: np.ndarray, uncertain: np.ndarray, above: Any, below: Any, like: Number) -> Number:
    """`above` where the sign is positive, `below` where it is negative, both of the dtype of `like`. Where the sign is
    uncertain an implementation's may be the other one: a kink, unless both agree."""
    both = [_like(like, one) for one in (above, below)]
    chosen = apply("aten::where.self", np.asarray(sign > 0), *both)
    if not np.any(uncertain):
        return chosen
    agree, rad = _agreement(*both)
    agree = agree & uncertain & ~np.isnan(sign)
    return kinked(replace(chosen, rad=np.where(agree, rad, chosen.rad), array=None), uncertain & ~agree)


@np.errstate(all="ignore")
def _agreement(one: Number, other: Number) -> tuple[np.ndarray, np.ndarray]:
    """(agree, rad): where the numbers are no further apart than the honest errors of both, and how far either of an
    implementation's may lie from either of them."""
    apart = one.real - other.real
    gap = np.abs(apart.hi) + np.abs(apart.lo) + apart.radius
    rad = gap + np.maximum(one.rad, other.rad)
    return (gap <= one.rad + other.rad) & np.isfinite(rad), rad


def by_side(x: Number, y: Number | float, above: Any, below: Any, like: Number) -> Number:
    """`above` where x > y, `below` where x < y, both Numbers or constants of the dtype of `like`; between them a kink,
    unless both agree."""
    return chosen_by(*distance(x, y), above=above, below=below, like=like)


def _like(like: Number, one: Any) -> Number:
    return one if isinstance(one, Number) else Number.exact(np.asarray(one, like.format.storage))


def zeros(like: Number) -> Number:
    return Number.exact(np.zeros(like.shape, like.format.storage))
