"""What one rounding costs in the compute type, and how the errors of many join.

Errors add up, because they may all point the same way. Within `root_sum_of_squares()` the same formulas add up their
squares: no bound, but what to expect of errors that are independent and centred. Within `flushed_intermediates()` every
operation may lose what is below the smallest normal number, additions too, which otherwise lose nothing there. Within
`rounded_intermediates()` results on the way are rounded to the element type: balls of it, whose functions are computed
in the compute type all the same, and whose sums are added up there unless partial sums are rounded, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, reduce

import numpy as np

from conform.numerics.formats import Format, compute_format

CORRECTLY_ROUNDED = 0.5
# How many times the root of the sum of their squares independent centred errors may come to: by Hoeffding's inequality
# n of them all stay within it but with a chance of 2 n e^(-32), 1e-10 for n = 4096.
FACTOR = 8.0

_STATISTICAL: ContextVar[bool] = ContextVar("_STATISTICAL", default=False)


@contextmanager
def root_sum_of_squares() -> Iterator[None]:
    """Within, errors of different origin join by the root of the sum of their squares, and n roundings by that of n.

    Ipsen and Zhou, Probabilistic error analysis for inner products, arXiv 1906.10465: the errors of n independent
    centred roundings grow with the root of n.
    """
    before = _STATISTICAL.set(True)
    try:
        yield
    finally:
        _STATISTICAL.reset(before)


def is_statistical() -> bool:
    """Whether errors join by the root of the sum of their squares."""
    return _STATISTICAL.get()


def reach(errors: np.ndarray | float) -> np.ndarray | float:
    """How far errors may go: as far as they add up, or within `root_sum_of_squares()` FACTOR times what they come to
    there. What a number is on either side of a threshold is decided by that."""
    return FACTOR * errors if _STATISTICAL.get() else errors


def joined(*errors: np.ndarray | float) -> np.ndarray:
    """What errors of different origin come to together."""
    return reduce(np.hypot if _STATISTICAL.get() else np.add, errors)


def joined_along(errors: np.ndarray, axis: int | tuple[int, ...], keepdims: bool = False) -> np.ndarray:
    """What the errors along `axis`, all of different origin, come to together."""
    if not _STATISTICAL.get():
        return errors.sum(axis, keepdims=keepdims)
    largest = errors.max(axis, keepdims=True, initial=0.0)  # squares of errors may leave the range of float64
    with np.errstate(all="ignore"):
        share = np.where(np.isfinite(largest) & (largest > 0), errors / largest, 1.0)
        joined_ = largest * np.sqrt((share**2).sum(axis, keepdims=True))
    return joined_ if keepdims else joined_.squeeze(axis)


def joined_so_far(errors: np.ndarray) -> np.ndarray:
    """What the errors up to each place along the last axis come to together."""
    if not _STATISTICAL.get():
        return np.cumsum(errors, -1)
    unbounded = ~np.isfinite(errors)
    largest = np.where(unbounded, 0.0, errors).max(-1, keepdims=True, initial=2.0**-1022)
    share = np.where(unbounded, 0.0, errors) / largest  # squares of errors may leave the range of float64
    return np.where(np.logical_or.accumulate(unbounded, -1), np.inf, largest * np.sqrt(np.cumsum(share**2, -1)))


def growth(n: np.ndarray | int) -> np.ndarray:
    """How many roundings n roundings of the same size come to together."""
    count = np.maximum(np.asarray(n, np.float64), 0.0)
    return np.sqrt(count) if _STATISTICAL.get() else count


_FLUSHES: ContextVar[bool] = ContextVar("_FLUSHES", default=False)


@contextmanager
def flushed_intermediates() -> Iterator[None]:
    """Within, every result of an operation that is below the normal range may be a zero."""
    before = _FLUSHES.set(True)
    try:
        yield
    finally:
        _FLUSHES.reset(before)


_ROUNDED: ContextVar[str | None] = ContextVar("_ROUNDED", default=None)


@contextmanager
def rounded_intermediates(*, partial_sums: bool) -> Iterator[None]:
    """Within, every result on the way to a composite op's may be rounded to the element type; so may `partial_sums`."""
    before = _ROUNDED.set("partial sums" if partial_sums else "results")
    try:
        yield
    finally:
        _ROUNDED.reset(before)


def held_format(fmt: Format) -> Format:
    """The format that results on the way to one of `fmt` are held in: the compute type, or as is declared, `fmt`."""
    return fmt if _ROUNDED.get() else compute_format(fmt)


def accumulator_of(held: Format) -> Format:
    """The format that sums and products of numbers held in `held` are accumulated in."""
    return held if _ROUNDED.get() == "partial sums" else compute_format(held)


@cache
def ulps_held(held: Format, ulps: float) -> float:
    """`ulps` of the compute type that a result is computed in, and its rounding to a narrower one."""
    computed = compute_format(held)
    return ulps if computed == held else CORRECTLY_ROUNDED + ulps * computed.unit_roundoff / held.unit_roundoff


def flushed_sum(compute: Format) -> float:
    """The absolute error of one addition below the normal range: none, but all of it where it is flushed."""
    return compute.min_normal if _FLUSHES.get() else 0.0


def readings_of_step(compute: Format, rounded: np.ndarray) -> list[np.ndarray]:
    """What a step on the way, rounded to `compute`, may hand on: itself, and where such are flushed, zeros of their
    sign for the subnormal numbers in it."""
    if not _FLUSHES.get():
        return [rounded]
    return [rounded, np.where(np.abs(rounded) < compute.min_normal, np.copysign(0.0, rounded), rounded)]


def underflow(compute: Format) -> float:
    """The absolute error of one rounding below the normal range: half the smallest subnormal, where float64 holds that;
    where results are flushed, all below the smallest normal number."""
    return flushed_sum(compute) or half_subnormal(compute)


def half_subnormal(compute: Format) -> float:
    """Half the smallest subnormal number of a format, where float64 holds that."""
    return max(compute.min_subnormal / 2, 2.0**-1074)


def gamma(n: np.ndarray | int, unit_roundoff: float) -> np.ndarray:
    """gamma_n = n u / (1 - n u), infinite where n u >= 1 (Higham, lemma 3.1)."""
    spent = growth(n) * unit_roundoff
    with np.errstate(divide="ignore"):
        return np.where(spent < 1, spent / np.maximum(1 - spent, 0.0), np.inf)
