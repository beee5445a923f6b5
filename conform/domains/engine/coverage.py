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
        self.count = 0  # of targets, and pairs of them, that have been had
        self._had: dict[Place, dict[object, set[int]]] = {}  # by label of a target: beside which marks
        self._marks: dict[tuple[Place, object], int] = {}  # the number of a label at a paired place
        self._partners: list[int] = []

    def begin(self) -> None:
        self._partners = []

    def choose(self, place: Place, targets: Sequence[Target], dice: Dice) -> Target:
        """The target to take; ties are broken by the dice, so that places do not go in step."""
        had = self._had.setdefault(place, {})
        wanted = [number for number, target in enumerate(targets) if target.label not in had]
        if place.is_paired and self._partners and not wanted:
            known = [sum(map(had[target.label].__contains__, self._partners)) for target in targets]
            fewest = min(known)
            is_new = fewest < len(self._partners)
            wanted = [number for number, pairs in enumerate(known) if pairs == fewest] if is_new else []
        number = wanted[dice.below(len(wanted))] if wanted else dice.weighted([one.weight for one in targets])
        self._record(place, targets[number].label, had)
        return targets[number]

    def _record(self, place: Place, label: object, had: dict[object, set[int]]) -> None:
        if label not in had:
            had[label] = set()
            self.count += 1
        if place.is_paired:
            beside = had[label]
            self.count -= len(beside)
            beside.update(self._partners)
            self.count += len(beside)
            self._partners.append(self._marks.setdefault((place, label), len(self._marks)))
