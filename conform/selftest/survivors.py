"""Planted defects that nothing can catch, each with the reason: data, `survivors.yaml`."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import yaml

from conform.call.aliases import canonical
from conform.call.foreach import for_each
from conform.selftest.plants.enumerated import Plant

FILE = Path(__file__).with_name("survivors.yaml")


@dataclass(frozen=True)
class Explanation:
    """Why the defects like `defect`, a glob, survive on the ops like one of `ops`; aten::add.* is every overload.

    caught_where: the machines on which they are caught all the same, in words; empty: on none.
    """

    defect: str
    ops: tuple[str, ...]
    reason: str
    caught_where: str = ""

    def covers(self, plant: Plant) -> bool:
        """Whether it speaks of this plant."""
        return fnmatchcase(plant.defect, self.defect) and self.covers_op(plant.op)

    def covers_op(self, op: str) -> bool:
        """Whether it speaks of this overload."""
        own = canonical(op)
        names = (op, own, f"{own.partition('.')[0]}.*")
        return any(fnmatchcase(name, glob) for glob in self.ops for name in names)


@functools.cache
def explanations() -> Sequence[Explanation]:
    """All of them, in the order of the file."""
    rows = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return [
        Explanation(defect, tuple(row["ops"]), row["reason"], row.get("caught_where", ""))
        for row in rows
        for defect in (row["defect"] if isinstance(row["defect"], list) else [row["defect"]])
    ]


def explanation_of(plant: Plant) -> Explanation | None:
    """The first that speaks of the plant; else of one like it in the op that this op means of each tensor of lists,
    which cases of lists may catch all the same."""
    own = next((one for one in _of_defect(plant.defect) if one.covers_op(plant.op)), None)
    each = for_each(plant.op)
    if own is not None or each is None:
        return own
    of_member = next((one for one in _of_defect(plant.defect) if one.covers_op(each.member.name)), None)
    return of_member and replace(of_member, caught_where=of_member.caught_where or "in lists")


@functools.cache
def _of_defect(defect: str) -> Sequence[Explanation]:
    """Those that speak of a defect, on whichever op."""
    return [one for one in explanations() if fnmatchcase(defect, one.defect)]
