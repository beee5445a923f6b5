"""Levels: what a backend may be said to hold, each a list of cases that must pass, by a rule that a person can read.

They are data, `levels.yaml`. A level is held or not, never in part: no case of it may fail, be waived, be refused as
unsupported or be left out. What a manifest does not claim is no case of it, nor what the op's meaning leaves open or
the kit cannot judge; these are counted, and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from conform.judging.verdict import NOT_CLAIMED
from conform.suites.filters import matches_op

FILE = Path(__file__).with_name("levels.yaml")
NOT_THE_BACKENDS = ("unspecified", "unjudged")


class Level(BaseModel):
    """One level, and the conditions on its cases: the kind of their contract, the check that they asked for, their op.

    table      the contract table by which each case has to pass; by default that of the run
    contract   the table of the run without which the level says nothing
    calls      how many equal calls the cases have to have made
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    name: str
    says: str
    kind: list[str] | None = None
    check: list[str] | None = None
    op: list[str] | None = None
    table: str | None = None
    contract: str | None = None
    calls: int = 0

    def is_for(self, case: Mapping[str, Any]) -> bool:
        """Whether a case of a record is one of its own."""
        contract = case["contract"] or {}
        return (
            (self.kind is None or contract.get("kind") in self.kind)
            and (self.check is None or case["check"] in self.check)
            and (self.op is None or any(matches_op(case["op"], glob) for glob in self.op))
            and (self.table is None or case["tables"].get(self.table) is not None)
            and case["rule"] != NOT_CLAIMED
        )

    def accepts(self, case: Mapping[str, Any]) -> bool:
        """Whether the case ended as the level demands."""
        by_table = self.table is None or case["tables"][self.table] == "pass"
        return case["status"] == "pass" and by_table


@cache
def levels() -> Sequence[Level]:
    """All of them, in the order of the file."""
    return [Level(**row) for row in yaml.safe_load(FILE.read_text(encoding="utf-8"))]


@dataclass(frozen=True)
class Asked:
    """What decides beside the cases: the contract table of the run, how many equal calls determinism made, whether the
    whole must-pass list ran."""

    contract: str
    calls: int
    is_whole: bool


def standing(cases: Sequence[Mapping[str, Any]], asked: Asked) -> list[dict[str, Any]]:
    """Of each level whether it is held by the cases of all draws."""
    return [_standing(level, cases, asked) for level in levels()]


def _standing(level: Level, cases: Iterable[Mapping[str, Any]], asked: Asked) -> dict[str, Any]:
    own = [case for case in cases if level.is_for(case)]
    judged = [case for case in own if case["status"] not in NOT_THE_BACKENDS]
    failed = [case["id"] for case in judged if not level.accepts(case)]
    why_not = _why_not(level, asked, len(judged), failed)
    return {
        "name": level.name, "says": level.says, "held": why_not is None, "why_not": why_not, "cases": len(judged),
        "not_judged": len(own) - len(judged),
    }  # fmt: skip


def _why_not(level: Level, asked: Asked, judged: int, failed: Sequence[str]) -> str | None:
    if failed:
        return f"{len(failed):,} of {judged:,} cases did not end as it demands, {failed[0]} first"
    if not asked.is_whole:
        return "only a part of the must-pass list ran"
    if level.contract not in (None, asked.contract):
        return f"the run was judged by {asked.contract}, not by {level.contract}"
    if asked.calls < level.calls:
        return f"{asked.calls} equal calls were made, not {level.calls}"
    return None if judged else "no case of it was judged"
