"""The elements of a tensor that is there, as a space of values: all of them must satisfy what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any

import numpy as np

from conform.domains.engine.spaces import Discrete, Everything, Interval, Intervals, Space

BLOCK = 1 << 15  # elements looked at together, so that the work space does not grow with the tensor

Holds = Callable[[np.ndarray], np.ndarray]  # of which elements of a block something is true


class Elements:
    """The elements of an array. Narrowing leaves the whole of them, or those of the first block that are left out.

    NaN satisfies no bound and is in no set of numbers.
    """

    __slots__ = ("_count", "array")

    is_empty = False

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self._count: int | None = None

    def narrowed(self, suffix: str, value: Any) -> Elements | Discrete:
        """Itself where `element suffix value` holds for every element, else nothing."""
        return self if self.outside(suffix, value) is None else Discrete(())

    def outside(self, suffix: str, value: Any) -> Any:
        """The first element for which `element suffix value` does not hold, as a Python number; None: there is none."""
        holds = _holding(suffix, value)
        if holds is None:
            return None
        for block in self._blocks() if self.array.size else ():
            left_out = ~holds(block)
            if left_out.any():
                return block[left_out.argmax()].item()
        return None

    def count(self) -> int:
        """How many of them are not zero: the places that a mask chooses."""
        if self._count is None:
            self._count = sum(int(np.count_nonzero(block)) for block in self._blocks())
        return self._count

    def largest(self) -> int | float:
        """The largest of them, -1 if there is none."""
        return max((block.max().item() for block in self._blocks() if block.size), default=-1)

    def distinct(self) -> int:
        """How many of them differ from all before them: NaN does."""
        numbers = self.array.astype(np.float64) if self.array.dtype.kind == "V" else self.array  # ml_dtypes' floats
        return len(np.unique(numbers, equal_nan=False))

    def _blocks(self) -> Iterator[np.ndarray]:
        array = self.array
        if array.size <= BLOCK:
            yield array.reshape(-1)
            return
        whole = array.reshape(-1) if array.flags.c_contiguous else array.flat
        for start in range(0, array.size, BLOCK):
            yield whole[start : start + BLOCK]


def _holding(suffix: str, value: Any) -> Holds | None:
    """What tells for which elements `element suffix value` holds; None if it does for all."""
    if suffix == "St":
        raise TypeError("such that: a predicate is asked about one value, not about the elements of a tensor")
    if suffix in _ORDERS:
        return lambda block: _ORDERS[suffix](block, value)
    points = suffix in ("Eq", "Ne")
    within = _within(Discrete((value,)) if points else value)
    if suffix in ("Eq", "In"):
        return within
    return (lambda block: ~within(block)) if within else (lambda block: np.zeros(block.shape, bool))


_ORDERS = {"Lt": np.less, "Le": np.less_equal, "Gt": np.greater, "Ge": np.greater_equal}


def _within(space: Space | tuple[Any, ...]) -> Holds | None:
    """Which elements lie in the space; None: all do."""
    if isinstance(space, Intervals):
        return lambda block: reduce(
            np.logical_or, (_between(one, block) for one in space.intervals), np.zeros(block.shape, bool)
        )
    if isinstance(space, Everything):
        if not space.excluded:
            return None
        return lambda block: ~np.isin(block, space.excluded)
    members = space.members if isinstance(space, Discrete) else space
    return lambda block: np.isin(block, members)


def _between(ends: Interval, block: np.ndarray) -> np.ndarray:
    above = np.greater if ends.low_open else np.greater_equal
    below = np.less if ends.high_open else np.less_equal
    with np.errstate(over="ignore"):  # an end beyond the format is infinite to it
        return above(block, ends.low) & below(block, ends.high)
