"""Counts over a run record that every report shows: the op x dtype table, failures by group, what was not judged."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from conform.judging.verdict import FAILURES, NOT_JUDGED
from conform.report.numbers import ulps

ROUNDING_ALONE_ULP = 0.6  # half an ulp, and what is left of a wider compute type
DTYPE_ORDER = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
    "float64", "complex32", "complex64", "complex128",
)  # fmt: skip


@dataclass
class Cell:
    """The cases of one op and dtype; `nearest` is the one whose error is nearest to its bound, or furthest over it."""

    passed: int = 0
    failed: int = 0
    not_judged: set[str] = field(default_factory=set)
    nearest: Mapping | None = None

    def add(self, case: Mapping) -> None:
        """Count one case of the record."""
        self.passed += case["status"] == "pass"
        self.failed += case["status"] in FAILURES
        if case["status"] in NOT_JUDGED:
            self.not_judged.add(case["status"])
        if case["max_error_ulp"] is not None and (self.nearest is None or excess(case) > excess(self.nearest)):
            self.nearest = case

    @property
    def text(self) -> str:
        """`0.50 / 3`, `ok` where all must be equal, `FAIL 12` (cases), or why nothing was judged."""
        if self.failed:
            return f"FAIL {self.failed}"
        if not self.passed:
            return "+".join(sorted(self.not_judged))
        if self.nearest is None or self.nearest["bound_ulp"] is None:
            return "ok"
        return error_of_bound(self.nearest)


def error_of_bound(case: Mapping) -> str:
    """`0.50 / 3`: the largest error of a case and its bound, in ulps."""
    return f"{ulps(case['max_error_ulp'])} / {float(case['bound_ulp']):.3g}"


def excess(case: Mapping) -> tuple[float, float]:
    """Error over bound of a case, for comparison; the larger error first among equals, cases without an error last."""
    if case["max_error_ulp"] is None:
        return -1.0, 0.0
    error, bound = float(case["max_error_ulp"]), float(case["bound_ulp"] or 0.0)
    if case["bound_ulp"] is None and case["status"] == "pass":
        return 0.0, error
    if math.isnan(error) or error > 0 == bound:
        return math.inf, error
    return (0.0 if math.isinf(bound) or bound == 0 else error / bound), error


def table(cases: Sequence[Mapping]) -> tuple[list[str], list[str], dict[tuple[str, str], Cell]]:
    """Ops (sorted), dtypes (in DTYPE_ORDER, others behind it) and the cells by (op, dtype)."""
    cells: dict[tuple[str, str], Cell] = {}
    for case in cases:
        cells.setdefault((case["op"], case["dtype"]), Cell()).add(case)
    rank = {dtype: number for number, dtype in enumerate(DTYPE_ORDER)}
    dtypes = sorted({dtype for _, dtype in cells}, key=lambda dtype: (rank.get(dtype, len(rank)), dtype))
    return sorted({op for op, _ in cells}), dtypes, cells


def largest_judged(cases: Sequence[Mapping]) -> dict[str, str]:
    """By op the largest tensor of the calls whose results were judged, `2x100003`; `-` where none was."""
    shapes: dict[str, tuple[int, ...]] = {}
    for case in cases:
        if case["largest"] is not None:
            shapes[case["op"]] = max(shapes.get(case["op"], (0,)), tuple(case["largest"]), key=prod)
    return {case["op"]: "x".join(map(str, shapes.get(case["op"], ()))) or "-" for case in cases}


@dataclass(frozen=True)
class FailureGroup:
    """Cases of one op and dtype that failed for the same reason; `example` is the one with the largest error."""

    op: str
    dtype: str
    status: str
    reason: str
    cases: tuple[Mapping, ...]
    example: Mapping


def failure_groups(cases: Sequence[Mapping]) -> list[FailureGroup]:
    """Groups in the order of their first case. Reasons that differ only in their numbers are one."""
    groups: dict[tuple[str, str, str, str], list[Mapping]] = {}
    for case in cases:
        if case["status"] in FAILURES:
            key = (case["op"], case["dtype"], case["status"], re.sub(r"\d+", "#", case["reason"]))
            groups.setdefault(key, []).append(case)
    return [_group(members) for members in groups.values()]


def _group(members: list[Mapping]) -> FailureGroup:
    example = max(members, key=excess)
    return FailureGroup(
        example["op"],
        example["dtype"],
        status=example["status"],
        reason=example["reason"],
        cases=tuple(members),
        example=example,
    )


def nearest_to_bound(cases: Sequence[Mapping]) -> list[Mapping]:
    """The nearest case of each op and dtype that passed altogether, nearest first.

    Where the bound allows the rounding of the result and hardly more, the error always comes close: those say nothing.
    """
    nearest = [cell.nearest for cell in table(cases)[2].values() if not cell.failed]
    found = [case for case in nearest if case is not None and float(case["bound_ulp"] or 0) > ROUNDING_ALONE_ULP]
    return sorted(found, key=lambda case: (-excess(case)[0], case["id"]))


@dataclass(frozen=True)
class NotJudged:
    """Cases that ended in one of the statuses that are no judgement, for one rule and reason."""

    status: str
    rule: str | None
    reason: str
    ops: tuple[str, ...]
    cases: int


def not_judged(cases: Sequence[Mapping]) -> list[NotJudged]:
    """By status, rule and reason, the most frequent first."""
    found: dict[tuple[str, str | None, str], list[str]] = {}
    for case in cases:
        if case["status"] in NOT_JUDGED:
            found.setdefault((case["status"], case["rule"], case["reason"]), []).append(case["op"])
    rows = [NotJudged(*key, ops=tuple(sorted(set(ops))), cases=len(ops)) for key, ops in found.items()]
    return sorted(rows, key=lambda row: (-row.cases, row.status, row.rule or "", row.reason))


@dataclass(frozen=True)
class Vacuous:
    """Elements of one op that no bound holds, or one beyond 1e-2 of their scale: they are no evidence.

    compared   those beside them that are;  cases   that have some, of which `example` has the most
    """

    op: str
    elements: int
    compared: int
    cases: int
    example: str


def vacuous(cases: Sequence[Mapping]) -> list[Vacuous]:
    """Of each op that has such elements, the largest share first."""
    of_op: dict[str, list[Mapping]] = {}
    for case in cases:
        of_op.setdefault(case["op"], []).append(case)
    rows = []
    for op, members in of_op.items():
        affected = [case for case in members if case["vacuous"]]
        if affected:
            counts = (sum(case[count] for case in members) for count in ("vacuous", "compared"))
            example = max(affected, key=lambda case: case["vacuous"])["id"]
            rows.append(Vacuous(op, *counts, cases=len(affected), example=example))
    return sorted(rows, key=lambda row: (-row.elements / (row.elements + row.compared), row.op))


def admitted(cases: Sequence[Mapping]) -> dict[str, list[str]]:
    """By what passes needed of the arithmetic that the backend declares, their ops, one for each case."""
    needed: dict[str, list[str]] = {}
    for case in cases:
        if case["admitted"] and case["status"] == "pass":
            needed.setdefault(case["admitted"], []).append(case["op"])
    return dict(sorted(needed.items()))


@dataclass(frozen=True)
class TableCount:
    """How a shipped contract table would judge a run: cases that would pass, of those that it bounds, and how many have
    it as their tightest."""

    table: str
    passed: int
    judged: int
    tightest: int


def table_counts(cases: Sequence[Mapping]) -> list[TableCount]:
    """One of each shipped table, in the record's order."""
    names = dict.fromkeys(name for case in cases for name in case["tables"])
    told = Counter((name, said) for case in cases for name, said in case["tables"].items())
    tightest = Counter(case["tightest"] for case in cases)
    return [
        TableCount(name, told[name, "pass"], told[name, "pass"] + told[name, "fail"], tightest[name]) for name in names
    ]
