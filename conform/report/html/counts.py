"""The cases of runs as columns of counts: what the map of ops and dtypes is drawn of, whatever filter is set.

A case is a place in each of the tables `Tables`; cases with the same places are one row with a count. So a run of core
is some ten thousand numbers, and a filter is a comparison of integers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conform.foreign import line
from conform.judging.verdict import CHECKS, STATUSES
from conform.report.tally import in_order

COLUMNS = ("op", "dtype", "status", "check", "layout", "values", "reason")  # of a row, before its count
LONGEST_REASON = 300  # characters, where cases are told by their reasons


@dataclass(frozen=True)
class Tables:
    """What the columns' numbers stand for, the same for all runs of a page.

    families   in the order of the runs; ops: (name, family), by family and name
    layouts, values   classes: `special` of `special.1`
    reasons    the empty one of cases that passed first; reasons that differ only in their numbers are one
    """

    families: list[str]
    ops: list[tuple[str, int]]
    dtypes: list[str]
    statuses: list[str]
    checks: list[str]
    layouts: list[str]
    values: list[str]
    reasons: list[str]


class Places:
    """Where a case's fields stand in the tables."""

    def __init__(self, records: Sequence[Mapping]) -> None:
        families = list(dict.fromkeys(one["family"] for record in records for one in record["ops"].values()))
        of_op = {op: one["family"] for record in records for op, one in record["ops"].items()}
        ops = sorted(of_op, key=lambda op: (families.index(of_op[op]), op))
        cases = [case for record in records for case in record["cases"]]
        reasons: dict[str, str] = {"": ""}  # by what is the same of them
        for case in cases:
            reasons.setdefault(alike(case["reason"]), line(case["reason"], LONGEST_REASON))
        self.tables = Tables(
            families, [(op, families.index(of_op[op])) for op in ops],
            dtypes=in_order({case["dtype"] for case in cases}), statuses=list(STATUSES), checks=list(CHECKS),
            layouts=_classes(cases, "layout", "contiguous"), values=_classes(cases, "values", "typical"),
            reasons=list(reasons.values()),
        )  # fmt: skip
        self._places = [
            {name: place for place, name in enumerate(table)}
            for table in (
                ops, self.tables.dtypes, STATUSES, CHECKS, self.tables.layouts, self.tables.values, list(reasons),
            )
        ]  # fmt: skip

    def of(self, case: Mapping) -> tuple[int, ...]:
        """The places of one case, one for each of COLUMNS."""
        fields = (
            case["op"], case["dtype"], case["status"], case["check"], class_of(case["layout"]),
            class_of(case["values"]), alike(case["reason"]),
        )  # fmt: skip
        return tuple(places[field] for places, field in zip(self._places, fields, strict=True))


def alike(reason: str | None) -> str:
    """What is the same in reasons that differ only in their numbers."""
    return re.sub(r"\d+", "#", reason or "")


def class_of(name: str) -> str:
    """`special` of `special.1`."""
    return name.partition(".")[0]


def _classes(cases: Iterable[Mapping], field: str, first: str) -> list[str]:
    return sorted({class_of(case[field]) for case in cases}, key=lambda name: (name != first, name))


def columns(record: Mapping, places: Places) -> list[list[int]]:
    """One list for each of COLUMNS and one of counts, in the order of the ops."""
    counted = Counter(places.of(case) for case in record["cases"])
    rows = [(*row, count) for row, count in sorted(counted.items())]
    return [[row[number] for row in rows] for number in range(len(COLUMNS) + 1)]


def data(records: Sequence[Mapping], places: Places, names: Sequence[str]) -> dict[str, Any]:
    """What a page's scripts get at once: the tables, and of each run its columns."""
    return {"runs": list(names), **vars(places.tables), "counts": [columns(record, places) for record in records]}
