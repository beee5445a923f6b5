"""Steering: what has been generated, so that everything that can appear does so early.

A target is what a place (an attribute of an argument) can be given: a member of a set, an end of an interval, an
integer of a small range. A target that its place has not had comes first. Places of keyword arguments are covered in
pairs: of the targets, the one that makes most new pairs with what the tuple has already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from conform.domains.engine.generator import Dice, Target


class Place(NamedTuple):
    """An attribute of an argument. `is_paired`: it counts in pairs with others."""

    argument: str
    attribute: str
    is_paired: bool


class Coverage:
    """What one sequence of tuples has covered. `begin` starts a tuple."""

    def __init__(self) -> None:
        self._seen: set[tuple[Place, object]] = set()
        self._pairs: set[tuple[tuple[Place, object], tuple[Place, object]]] = set()
        self._partners: list[tuple[Place, object]] = []

    @property
    def count(self) -> int:
        """How many targets, and pairs of them, have been had."""
        return len(self._seen) + len(self._pairs)

    def begin(self) -> None:
        self._partners = []

    def choose(self, place: Place, targets: Sequence[Target], dice: Dice) -> Target:
        """The target to take; ties are broken by the dice, so that places do not go in step."""
        marks = [(place, target.label) for target in targets]
        wanted = [number for number, mark in enumerate(marks) if mark not in self._seen]
        if place.is_paired and self._partners and not wanted:
            news = [sum((partner, mark) not in self._pairs for partner in self._partners) for mark in marks]
            most = max(news)
            wanted = [number for number, new in enumerate(news) if new == most] if most else []
        number = wanted[dice.below(len(wanted))] if wanted else dice.weighted([one.weight for one in targets])
        self._record(marks[number])
        return targets[number]

    def _record(self, mark: tuple[Place, object]) -> None:
        self._seen.add(mark)
        if mark[0].is_paired:
            self._pairs.update((partner, mark) for partner in self._partners)
            self._partners.append(mark)
