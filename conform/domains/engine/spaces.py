"""Variable spaces: the sets of values that a variable may take, narrowed by one suffix after another.

A space is a discrete set, a union of disjoint intervals over the integers or the reals, or everything of a type that
has neither order nor an end (strings, tuples, complex numbers). Spaces are never changed; narrowing gives another one.
They are made by the hundred thousand, and a frozen dataclass takes three times as long to make: none is frozen.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

ENUMERABLE = 4096  # members of an integer range that a "such that" constraint goes through


@dataclass(slots=True, unsafe_hash=True)
class Discrete:
    """A finite set in the order in which its members were stated."""

    members: tuple[Any, ...]

    @property
    def is_empty(self) -> bool:
        return not self.members

    def __contains__(self, value: object) -> bool:
        return value in self.members

    def narrowed(self, suffix: str, value: Any) -> Discrete:
        """The members for which `member suffix value` holds; St: for which the predicate `value` does."""
        if suffix == "Eq":
            return Discrete(tuple([member for member in self.members if member == value]))
        if suffix == "In":
            return Discrete(tuple([member for member in self.members if member in value]))
        if suffix == "NotIn":
            return Discrete(tuple([member for member in self.members if member not in value]))
        if suffix == "St":
            return such_that(self, value)
        holds = _HOLDS[suffix]
        return Discrete(tuple([member for member in self.members if holds(member, value)]))

    def complement(self, universe: Space) -> Space:
        """What of `universe` is not in this set."""
        return universe.narrowed("NotIn", self.members)

    def boundaries(self) -> tuple[Any, ...]:
        return self.members

    def __str__(self) -> str:
        return "{" + ", ".join(map(str, self.members)) + "}"


class Interval(NamedTuple):
    """The numbers between `low` and `high`; an end that is infinite or open does not belong to it."""

    low: int | float
    high: int | float
    low_open: bool = False
    high_open: bool = False

    @property
    def is_empty(self) -> bool:
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def __contains__(self, value: Any) -> bool:
        above = self.low < value or (self.low == value and not self.low_open)
        return above and (value < self.high or (value == self.high and not self.high_open))

    def intersection(self, other: Interval) -> Interval:
        """The later of the starts to the earlier of the ends; of equal ones the open one."""
        low, high, low_open, high_open = self
        if other.low > low or other.low == low and other.low_open > low_open:
            low, low_open = other.low, other.low_open
        if other.high < high or other.high == high and other.high_open > high_open:
            high, high_open = other.high, other.high_open
        return Interval(low, high, low_open, high_open)

    def __str__(self) -> str:
        if self.low == self.high:
            return f"{{{self.low}}}"
        return f"{'(' if self.low_open else '['}{self.low}, {self.high}{')' if self.high_open else ']'}"


@dataclass(slots=True, unsafe_hash=True)
class Intervals:
    """A union of disjoint intervals in rising order; over the integers their finite ends are closed."""

    intervals: tuple[Interval, ...]
    of_integers: bool

    @property
    def is_empty(self) -> bool:
        return not self.intervals

    def __contains__(self, value: Any) -> bool:
        if self.of_integers and value % 1 != 0:
            return False
        for interval in self.intervals:  # noqa: SIM110 - there is one nearly always: `any` takes three times as long
            if value in interval:
                return True
        return False

    def narrowed(self, suffix: str, value: Any) -> Space:
        """The numbers of this space for which `number suffix value` holds; St: for which the predicate does. ValueError
        where `value` is NaN, or the space cannot be gone through."""
        if suffix == "Eq":
            return Discrete((value,) if value in self else ())
        if suffix == "In":
            return self._common_with(value)
        if suffix == "NotIn" and not isinstance(value, Collection):
            return self._common_with(value.complement(self.universe()))
        if suffix in ("Ne", "NotIn"):
            points = (value,) if suffix == "Ne" else value
            return self._clipped(list(_between(sorted(set(points)))))
        if suffix == "St":
            return such_that(self, value)
        return self._clipped([_half_line(suffix, value)])

    def universe(self) -> Intervals:
        return INTEGERS if self.of_integers else REALS

    def complement(self, universe: Intervals) -> Intervals:
        """The gaps between the intervals, within `universe`."""
        gaps, low, low_open = [], -math.inf, True
        for interval in self.intervals:
            gaps.append(Interval(low, interval.low, low_open, not interval.low_open))
            low, low_open = interval.high, not interval.high_open
        return universe._clipped([*gaps, Interval(low, math.inf, low_open, True)])

    def within(self, low: float, high: float) -> Intervals:
        """The part of the space in [low, high]."""
        return self._clipped([Interval(low, high)])

    def boundaries(self) -> tuple[int | float, ...]:
        """The finite ends that belong to the space, in rising order."""
        ends = [end for interval in self.intervals for end in (interval.low, interval.high) if end in interval]
        return tuple(dict.fromkeys(end for end in ends if math.isfinite(end)))

    def members(self) -> tuple[int, ...]:
        """Every integer of the space. ValueError if it is not a bounded set of integers, or a very large one."""
        ends = [end for interval in self.intervals for end in (interval.low, interval.high)]
        if not self.of_integers or any(map(math.isinf, ends)) or ends and ends[-1] - ends[0] > ENUMERABLE:
            raise ValueError(f"{self} has more than {ENUMERABLE} members")
        return tuple(n for interval in self.intervals for n in range(int(interval.low), int(interval.high) + 1))

    def _common_with(self, values: Any) -> Space:
        if isinstance(values, Everything):
            return self
        if isinstance(values, Intervals):  # of the reals too: their integers are meant then
            return self._clipped(values.intervals)
        members = values.members if isinstance(values, Discrete) else values
        return Discrete(tuple(dict.fromkeys([value for value in members if value in self])))

    def _clipped(self, others: Collection[Interval]) -> Intervals:
        kept = []
        for mine in self.intervals:
            for other in others:
                piece = mine.intersection(other)
                if self.of_integers and not piece.is_empty:
                    piece = _closed(piece)
                if not piece.is_empty:
                    kept.append(piece)
        return Intervals(tuple(kept), self.of_integers)

    def __str__(self) -> str:
        return " u ".join(map(str, self.intervals)) or "{}"


@dataclass(slots=True, unsafe_hash=True)
class Everything:
    """All values of an unordered type, but for those `excluded`."""

    excluded: tuple[Any, ...] = ()

    @property
    def is_empty(self) -> bool:
        return False

    def __contains__(self, value: object) -> bool:
        return value not in self.excluded

    def narrowed(self, suffix: str, value: Any) -> Space:
        """The values for which `it suffix value` holds: an order holds for none. ValueError for a St."""
        if suffix == "Eq":
            return Discrete((value,) if value in self else ())
        if suffix == "In":
            if isinstance(value, Everything):
                return Everything(self.excluded + value.excluded)
            return Discrete(tuple(member for member in value if member in self))
        if suffix == "NotIn" and isinstance(value, Everything):
            return value.complement(self)
        if suffix in ("Ne", "NotIn"):
            return Everything(self.excluded + ((value,) if suffix == "Ne" else tuple(value)))
        return such_that(self, value) if suffix == "St" else Discrete(())

    def complement(self, universe: Everything) -> Discrete:
        return Discrete(tuple(value for value in self.excluded if value in universe))

    def boundaries(self) -> tuple[()]:
        return ()

    def __str__(self) -> str:
        return "everything" + (f" but {Discrete(self.excluded)}" if self.excluded else "")


Space = Discrete | Intervals | Everything

INTEGERS = Intervals((Interval(-math.inf, math.inf, True, True),), True)
REALS = Intervals((Interval(-math.inf, math.inf, True, True),), False)
NUMBERS_WITH_INFINITIES = Intervals((Interval(-math.inf, math.inf),), False)  # all but NaN
ANYTHING = Everything()  # what an In says where it does not restrict


@cache
def integers_between(low: int, high: int) -> Intervals:
    """The integers of low .. high."""
    return INTEGERS.within(low, high)


def enumerable(space: Space) -> Space:
    """The space, or of one without a bound the part next to zero."""
    return space.within(-ENUMERABLE // 2, ENUMERABLE // 2) if isinstance(space, Intervals) else space


def such_that(space: Space, holds: Callable[[Any], bool]) -> Discrete:
    """The members for which `holds`. ValueError where the space cannot be enumerated: nothing is searched for."""
    if isinstance(space, Everything):
        raise ValueError(f"{space} cannot be enumerated")
    members = space.members if isinstance(space, Discrete) else space.members()
    return Discrete(tuple(member for member in members if holds(member)))


def _half_line(suffix: str, bound: int | float) -> Interval:
    if bound != bound:
        raise ValueError(f"{suffix} NaN holds for no number")
    if suffix in ("Lt", "Le"):
        return Interval(-math.inf, bound, True, suffix == "Lt" or bound == math.inf)
    return Interval(bound, math.inf, suffix == "Gt" or bound == -math.inf, True)


def _between(points: Collection[int | float]) -> Iterator[Interval]:
    """The open intervals that a line without `points` consists of."""
    ends = [-math.inf, *points, math.inf]
    for low, high in itertools.pairwise(ends):
        yield Interval(low, high, True, True)


def _closed(piece: Interval) -> Interval:
    """The integers of a piece, as an interval whose finite ends are integers that belong to it."""
    low, high = piece.low, piece.high
    if math.isfinite(low):
        low = math.floor(low) + 1 if piece.low_open else math.ceil(low)
    if math.isfinite(high):
        high = math.ceil(high) - 1 if piece.high_open else math.floor(high)
    return Interval(low, high, math.isinf(low), math.isinf(high))


_HOLDS: dict[str, Callable[[Any, Any], bool]] = {
    "Ne": operator.ne, "Lt": operator.lt, "Le": operator.le, "Gt": operator.gt, "Ge": operator.ge,
}  # fmt: skip
