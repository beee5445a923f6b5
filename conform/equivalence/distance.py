"""How far two answers to one call are from each other, element by element."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from conform.contracts.components import components
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real
from conform.numerics.ulp import error_ulp
from conform.running.answers import KeptOutput

Output = KeptOutput | str


@dataclass(frozen=True)
class Distance:
    """elements: that were compared; equal: those of the same bytes; worst_ulp: the largest distance, None where the
    dtype has no ulp, or no element differs; index: of the element that is farthest off, else of the first that differs,
    None if none does; output: its number."""

    elements: int = 0
    equal: int = 0
    worst_ulp: float | None = None
    index: tuple[int, ...] | None = None
    output: int = 0

    def with_output(self, other: Distance, number: int) -> Distance:
        """This one, and that of one more output."""
        whole = replace(self, elements=self.elements + other.elements, equal=self.equal + other.equal)
        is_first = self.index is None or (other.worst_ulp or 0.0) > (self.worst_ulp or 0.0)
        if other.index is None or not is_first:
            return whole
        return replace(whole, worst_ulp=other.worst_ulp, index=other.index, output=number)


def are_equal(mine: Sequence[Output], its: Sequence[Output]) -> bool:
    """Whether two answers are as many outputs of the same dtypes, shapes and bytes."""
    return len(mine) == len(its) and all(_is_equal(*pair) for pair in zip(mine, its, strict=True))


def _is_equal(mine: Output, its: Output) -> bool:
    return mine.equals(its) if isinstance(mine, KeptOutput) else mine == its


def between_answers(mine: Sequence[Output], its: Sequence[Output]) -> Distance:
    """The distance of the outputs that have the same dtype and shape, and were kept."""
    whole = Distance()
    for number, (one, other) in enumerate(zip(mine, its, strict=False)):
        if _are_comparable(one, other):
            whole = whole.with_output(_of_outputs(one, other), number)
    return whole


def _are_comparable(mine: Output, its: Output) -> bool:
    both = isinstance(mine, KeptOutput) and isinstance(its, KeptOutput)
    return both and (mine.dtype, mine.shape) == (its.dtype, its.shape)


def _of_outputs(mine: KeptOutput, its: KeptOutput) -> Distance:
    if mine.equals(its):
        return Distance(prod(mine.shape), prod(mine.shape))
    arrays = mine.array(), its.array()
    return Distance() if arrays[0] is None or arrays[1] is None else between(*arrays)


def between(lhs: np.ndarray, rhs: np.ndarray) -> Distance:
    """The distance of two tensors of one dtype and shape.

    In ulps of the smaller of two numbers, so that it is the same from both sides, and of neighbours 1. NaNs are at 0
    from each other, and so are the zeros, though their bytes differ; NaN and a number are infinitely far; an infinity
    counts as the number behind the largest, in ulps of the other one (`numerics/ulp.py`).
    """
    fmt = format_of(lhs)
    places = np.flatnonzero(_bytes_differ(lhs, rhs))
    equal = lhs.size - places.size
    if not places.size:
        return Distance(lhs.size, equal)
    if not (fmt.is_float or fmt.is_complex):
        return Distance(lhs.size, equal, None, _index(places[0], lhs.shape))
    distances = _distances_ulp(fmt, lhs.reshape(-1)[places], rhs.reshape(-1)[places])
    worst = int(np.argmax(distances))
    return Distance(lhs.size, equal, float(distances[worst]), _index(places[worst], lhs.shape))


def _bytes_differ(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Of each element, [n], whether any byte differs."""
    mine, its = (np.ascontiguousarray(one).reshape(-1).view(np.uint8) for one in (lhs, rhs))
    return (mine != its).reshape(lhs.size, -1).any(axis=1) if lhs.size else np.zeros(0, bool)


def _distances_ulp(fmt: Format, mine: np.ndarray, its: np.ndarray) -> np.ndarray:
    """Of complex numbers the larger of the two parts'."""
    if fmt.is_complex:
        pairs = components(fmt, mine), components(fmt, its)
        return _distances_ulp(fmt.component, *pairs).max(axis=-1)
    with np.errstate(all="ignore"):  # signalling NaNs
        wide = [one.astype(np.float64) for one in (mine, its)]
        from_its, from_mine = (
            error_ulp(fmt, one, Real.exact(other)) for one, other in ((mine, wide[1]), (its, wide[0]))
        )
    one_overflows = np.isinf(wide[0]) != np.isinf(wide[1])
    return np.where(one_overflows, np.minimum(from_its, from_mine), np.maximum(from_its, from_mine))


def _index(place: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(one) for one in np.unravel_index(place, shape))
