"""The variable generator: values of a space, steered so that its boundaries and members appear early."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from conform.domains.engine.coverage import Coverage, Place
from conform.domains.engine.spaces import Discrete, Everything, Interval, Intervals, Space
from conform.numerics.draws import Stream

# The limits of what is generated; a space that lies beyond them altogether is entered as little as possible.
MAX_RANK = 4
LARGEST_COUNT = 4096
ANY_COUNT = 2**63 - 1
MAX_LENGTH = 4
MAX_NUMEL = 256
MAX_SIZE_OF_RANK = (1, 17, 8, 5, 4)
TYPICAL_INTEGERS = (-8, 8)
TYPICAL_REALS = (-8.0, 8.0)
_MANY = 32  # members of a discrete set that are targets one by one

Window = tuple[float, float]


class Limits(NamedTuple):
    """How large tensors are made, where no constraint says it.

    numel: elements of a tensor; size_of_rank: sizes of a tensor of rank 0, 1, ...; short: where it is not 0, every
    second size, at random, is at most this, so that what is summed over is short beside many results; largest: of
    lengths, ranks and sizes, even where a constraint is broken or a size is wished for.
    """

    numel: int = MAX_NUMEL
    size_of_rank: tuple[int, ...] = MAX_SIZE_OF_RANK
    short: int = 0
    largest: int = LARGEST_COUNT

    def window(self, rank: int, numel: int, dice: Dice) -> Window:
        """Where the next size of a tensor of this rank is drawn, of which the sizes so far make `numel`; 0 and 1 are
        targets of their own."""
        most = self.size_of_rank[min(rank, len(self.size_of_rank) - 1)]
        if self.short and dice.below(2):
            most = self.short
        room = self.numel // numel if numel > 1 else self.numel
        return (2, max(2, most if most < room else room))


class Target(NamedTuple):
    """Something to be covered: a value, or what `inner` draws. Once all are covered, `weight` decides."""

    label: object
    weight: int
    value: Any = None
    is_inner: bool = False


_INNER = Target("inner", 40, is_inner=True)
_WEIGHT_OF_SIZE = {0: 1, 1: 8}  # an empty tensor tells little; there shall be few
_WEIGHT = 10  # of an end that costs nothing


class Dice:
    """Small integers and fractions from the words of a stream."""

    __slots__ = ("_stream", "_words")

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._words: list[int] = []

    def below(self, count: int) -> int:
        """One of 0 .. count - 1."""
        if not self._words:
            self._words = self._stream.bits(64).tolist()
        return self._words.pop() % count

    def unit(self) -> float:
        """k * 2^-53 in [0, 1)."""
        return (self.below(2**64) >> 11) * 2.0**-53

    def weighted(self, weights: Sequence[int]) -> int:
        """The number of one of the weights, in proportion to them."""
        left = self.below(sum(weights))
        for number, weight in enumerate(weights):
            left -= weight
            if left < 0:
                return number
        raise AssertionError("below(n) is less than n")


def choose(
    space: Space,
    place: Place,
    coverage: Coverage,
    dice: Dice,
    window: Window = TYPICAL_INTEGERS,
    each: bool = False,
    materialized: bool = False,
    preferred: tuple[Any, ...] = (),
) -> Any:
    """A value of the space: what `place` has not had yet, else at random.

    window: where values are drawn; each: every integer of the window is a target; materialized: larger values cost
    memory, so ends beyond the window are no targets; preferred: values, which are half of those drawn, where the space
    has them.
    """
    if isinstance(space, Discrete) and len(space.members) == 1 and not preferred:
        return space.members[0]
    if isinstance(space, Everything):
        wanted = tuple(value for value in preferred if value in space)
        targets = tuple(Target(value, 4, value) for value in wanted) or (_INNER,)
    else:
        kind = type(space.members[0]) if isinstance(space, Discrete) else None
        targets = _targets(space, window, each, materialized, kind)
        if preferred:
            targets = _with_preferred(targets, space, preferred)
    target = targets[0] if len(targets) == 1 else coverage.choose(place, targets, dice)
    return _inner(space, window, dice) if target.is_inner else target.value


def _with_preferred(targets: tuple[Target, ...], space: Space, preferred: tuple[Any, ...]) -> tuple[Target, ...]:
    wanted = [value for value in preferred if value in space]
    if not wanted:
        return targets
    others = [target for target in targets if target.is_inner or target.value not in wanted]
    weight = max(1, sum(target.weight for target in others) // len(wanted))
    return (*[Target(value, weight, value) for value in wanted], *others)


@functools.lru_cache(maxsize=4096)
def _targets(
    space: Discrete | Intervals, window: Window, each: bool, materialized: bool, _kind: type | None
) -> tuple[Target, ...]:
    """What is to be covered of a space. `_kind` keeps {False} and {0}, which are equal, apart in the cache."""
    if isinstance(space, Discrete):
        if len(space.members) <= _MANY:
            return tuple(Target(member, 1, member) for member in space.members)
        ends = (space.members[0], space.members[-1])
        return (*[Target(("end", number), 1, end) for number, end in enumerate(ends)], _INNER)
    pieces = _pieces(space, window)
    if each:
        return tuple(Target(n, 1, n) for piece in pieces for n in range(int(piece.low), int(piece.high) + 1))
    ends = [end for end in space.boundaries() if not materialized or window[0] <= end <= window[1]]
    marked = dict.fromkeys([*ends, *[n for n in (0, 1) if n in space]])
    labels = {end: ("end", number) for number, end in enumerate(ends)}
    weights = _WEIGHT_OF_SIZE if materialized else {}
    return (*[Target(labels.get(value, value), weights.get(value, _WEIGHT), value) for value in marked], _INNER)


def _inner(space: Space, window: Window, dice: Dice) -> Any:
    """Any value of the space within the window, or near to it."""
    if isinstance(space, Discrete):
        return space.members[dice.below(len(space.members))]
    if isinstance(space, Everything):
        return _arbitrary(space, dice)
    pieces = _pieces(space, window)
    if space.of_integers:
        counts = [int(piece.high) - int(piece.low) + 1 for piece in pieces]
        number = dice.weighted(counts)
        return int(pieces[number].low) + dice.below(counts[number])
    piece = pieces[dice.below(len(pieces))]
    value = piece.low + dice.unit() * (piece.high - piece.low)
    return value if value in piece else math.nextafter(piece.low, piece.high)


def _arbitrary(space: Everything, dice: Dice) -> Any:
    """A string that nothing means, or a complex number: all that is drawn of an unordered type."""
    if any(isinstance(value, str) for value in space.excluded):
        return "neither"
    return complex(dice.below(33) / 4 - 4, (1 + dice.below(16)) / 4)


@functools.lru_cache(maxsize=4096)
def _pieces(space: Intervals, window: Window) -> tuple[Interval, ...]:
    """The space within the window; where it has nothing there, what lies nearest, as wide as an eighth of it."""
    inside = space.within(*window).intervals
    if inside:
        return inside
    narrowest = max(1, (window[1] - window[0]) // 8)
    above = [one for one in space.intervals if one.low > window[1]]
    if above:
        low = above[0].low
        return (above[0].intersection(Interval(low, low + max(narrowest, abs(low) // 8))),)
    high = space.intervals[-1].high
    return (space.intervals[-1].intersection(Interval(high - max(narrowest, abs(high) // 8), high)),)
