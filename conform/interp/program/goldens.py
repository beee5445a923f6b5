"""What a program's results are as goldens: rounded once, with the error that honest implementations may have.

Bounds that hold always grow with every step, because all errors might point the same way. Where one has left what says
anything, the root of the sum of squares of the same errors, times a stated factor, takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from conform.errors import NoGolden, Unjudged
from conform.interp.formulas.complexes import components, joined
from conform.interp.golden import Golden
from conform.interp.program.complexes import Complex
from conform.interp.program.number import Number
from conform.interp.program.rules import rounded
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import FACTOR, root_sum_of_squares

LINEAR = 1e-2  # of the scale: up to here the bound that always holds decides
STATISTICAL = 1e-1  # and up to here the other one; in bfloat16 one rounding times FACTOR is 3.1e-2 already
BY_CHOICE = "P151"  # the policy's rule of integers and bools that honest implementations may have otherwise


def goldens_of(evaluated: Callable[[], Sequence[Any]], name: str, nearest: bool = False) -> tuple[Golden, ...]:
    """The goldens of the Numbers that `evaluated` gives, each time it is asked. With `nearest` the value of a golden
    may be the number beside the one that the exact number rounds to, where that is not known; else nothing is judged
    there.

    The linear bound decides where it is below LINEAR of the output's scale, the root mean square of its numbers;
    elsewhere the lesser of that and FACTOR times the root of the sum of squares, if that is below STATISTICAL of it;
    else nothing does.
    """
    linear = tuple(golden_of(name, one, nearest) for one in evaluated())
    if all(_is_within(LINEAR, golden).all() for golden in linear):
        return linear
    with root_sum_of_squares():
        likely = tuple(golden_of(name, one, nearest) for one in evaluated())
    return tuple(_either(*pair) for pair in zip(linear, likely, strict=True))


def _is_within(share: float, golden: Golden) -> np.ndarray:
    """Which elements have a bound that is no more than this share of the scale."""
    if golden.budget is None or golden.real is None:
        return np.ones(golden.value.shape, bool)
    return golden.budget <= share * scale_of(golden.real)


def scale_of(real: Real) -> float:
    """The root mean square of the finite numbers."""
    sizes = np.abs(real.hi[np.isfinite(real.hi)])
    largest = float(sizes.max(initial=0.0))
    return largest * float(np.sqrt(np.mean((sizes / largest) ** 2))) if largest > 0 else 0.0


def _either(linear: Golden, likely: Golden) -> Golden:
    known = _is_within(LINEAR, linear)
    if known.all():
        return linear
    independent = FACTOR * likely.budget
    is_linear = known | (linear.budget < independent)
    lesser = np.where(is_linear, linear.budget, independent)
    budget = np.where(known | _is_within(STATISTICAL, replace(likely, budget=lesser)), lesser, np.inf)
    is_statistical = bool((np.isfinite(budget) & ~is_linear).any())
    # What is not known with certainty may stand for nothing in `linear`.
    value, real = _chosen(is_linear, linear, likely), where(is_linear, linear.real, likely.real)
    return replace(linear, value=value, real=real, budget=budget, statistical=is_statistical)


def _chosen(known: np.ndarray, linear: Golden, likely: Golden) -> np.ndarray:
    """The values, of complex numbers each part by itself."""
    fmt, values = linear.format, (linear.value, likely.value)
    if not fmt.is_complex:
        return np.where(known, *values)
    parts = np.where(known, *map(components, values))
    return joined(fmt, parts.astype(fmt.component.storage))


def golden_of(name: str, result: Any, nearest: bool = False) -> Golden:
    """The exact numbers rounded once. Where the rounding cannot be decided nothing is bounded, so nothing is judged;
    but with `nearest`, where no more is unknown of a finite number than what engines may lose, both add up."""
    if isinstance(result, Complex):
        return result.golden(lambda part: golden_of(name, part, nearest))
    if not isinstance(result, Number):
        found = type(result).__name__
        raise NoGolden(f"{name}: it returned {found}; expected what ops return, or a tuple of these")
    if result.array is not None:
        return Golden(result.format, result.array)
    unknown = np.isinf(result.rad)
    if result.allowed and not (unknown.any() if result.format.is_float else unknown.all()):
        first, *others = (Golden(result.format, one) for one in result.allowed)
        return first.or_else(*others).opened(unknown, BY_CHOICE)
    if not result.format.is_float:
        raise Unjudged(f"{name}: which {result.format.name} numbers it gives hangs on a choice that honest "
                       "implementations make either way")  # fmt: skip
    value, undecided = rounded(result.format, result.real)
    rad, untold = np.broadcast_to(result.rad, value.shape), result.real.radius
    bounded = np.isfinite(value) & (untold <= rad) & nearest
    budget = np.where(undecided, np.where(bounded, rad + untold, np.inf), rad)
    value = np.where(undecided & ~bounded, result.format.storage.type(np.nan), value)
    unstated = np.full(value.shape, np.inf)  # what terms came to on the way
    return Golden(result.format, value, result.real, budget=budget, scale=unstated, zero_sign_free=True)
