"""Counts over a run record that every report shows: ops by dtype, failures by kind, what was not judged."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from conform.judging.verdict import FAILURES, NOT_JUDGED
from conform.report.numbers import in_ulps, percent, ulps

ROUNDING_ALONE_ULP = 0.6  # half an ulp, and what is left of a wider compute type
DTYPE_ORDER = (
    "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32",
    "float64", "complex32", "complex64", "complex128",
)  # fmt: skip
RANK = {dtype: number for number, dtype in enumerate(DTYPE_ORDER)}
UNSUPPORTED = "unsupported"


def in_order(dtypes: Iterable[str]) -> list[str]:
    """Dtypes in DTYPE_ORDER, others behind them."""
    return sorted(dtypes, key=lambda dtype: (RANK.get(dtype, len(RANK)), dtype))


@dataclass
class Cell:
    """The cases of one op and dtype, or of several; `nearest` is the one whose error is nearest to its bound, or
    furthest over it: of those that failed if any did, else of those that passed and whose bound says something
    (`says_something`)."""

    dtypes: list[str] = field(default_factory=list)
    passed: int = 0
    failed: int = 0
    not_judged: set[str] = field(default_factory=set)
    nearest: Mapping | None = None
    has_errors: bool = False
    reason: str = ""  # of the first case that failed

    def add(self, case: Mapping) -> None:
        """Count one case of the record."""
        self.passed += case["status"] == "pass"
        if case["status"] in FAILURES:
            self.reason = self.reason or case["reason"]
            self.failed += 1
        if case["status"] in NOT_JUDGED:
            self.not_judged.add(case["status"])
        is_bounded = case["status"] == "pass" and case["bound_ulp"] is not None
        if case["max_error_ulp"] is not None and (is_bounded or case["status"] in FAILURES):
            self.has_errors = True
            self._offer(case if says_something(case) else None)

    def join(self, other: Cell) -> None:
        """Count what another cell has counted."""
        self.dtypes += other.dtypes
        self.passed += other.passed
        self.failed += other.failed
        self.not_judged |= other.not_judged
        self.has_errors |= other.has_errors
        self.reason = self.reason or other.reason
        self._offer(other.nearest)

    def _offer(self, case: Mapping | None) -> None:
        if case is not None and (self.nearest is None or _telling(case) > _telling(self.nearest)):
            self.nearest = case

    @property
    def judged(self) -> int:
        return self.passed + self.failed

    @property
    def counts(self) -> str:
        """`40/40` passed of judged, `FAIL 7/40` failed of judged, or why nothing was judged."""
        if self.failed:
            return f"FAIL {self.failed}/{self.judged}"
        return f"{self.passed}/{self.judged}" if self.passed else "+".join(sorted(self.not_judged))

    @property
    def error(self) -> str:
        """`0.50 / 3`, `equal` where all must be, `-` where no bound says anything."""
        if not self.judged:
            return ""
        if self.nearest is not None and (not self.failed or self.nearest["status"] in FAILURES):
            return error_of_bound(self.nearest)
        return "-" if self.has_errors or self.failed else "equal"


def error_of_bound(case: Mapping) -> str:
    """`0.50 / 3`: the largest error of a case and its bound, in ulps."""
    return f"{ulps(case['max_error_ulp'])} / {float(case['bound_ulp'] or 0):.3g}"


def says_something(case: Mapping) -> bool:
    """Whether the bound at a case's worst element is smaller than the result there: one that is as large lets zero
    pass. Of a failure every bound says something."""
    worst = case["worst"]
    if case["status"] in FAILURES or worst is None:
        return True
    size_ulp = in_ulps(worst["expected"], worst["dtype"])
    return size_ulp is None or float(case["bound_ulp"]) < size_ulp - 1  # expected is rounded, the bound is not


def _telling(case: Mapping) -> tuple:
    """Sort key: failures, then bounds that allow more than the rounding of the result, by how near the error is."""
    return (case["status"] in FAILURES, float(case["bound_ulp"] or 0) > ROUNDING_ALONE_ULP, excess(case))


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


def cells_of(cases: Sequence[Mapping]) -> dict[str, dict[str, Cell]]:
    """By op, in the order of the cases, and dtype, in order."""
    found: dict[str, dict[str, Cell]] = {}
    for case in cases:
        found.setdefault(case["op"], {}).setdefault(case["dtype"], Cell([case["dtype"]])).add(case)
    return {op: {dtype: cells[dtype] for dtype in in_order(cells)} for op, cells in found.items()}


def rows_of(cells: Mapping[str, Cell]) -> list[Cell]:
    """The cells of an op's dtypes joined where they say the same: all that passed, failures with the same error and
    reason, dtypes of which nothing was judged."""
    rows: dict[tuple, Cell] = {}
    for cell in cells.values():
        why_not = () if cell.passed else sorted(cell.not_judged)
        key = ("failed", cell.error, cell.reason) if cell.failed else ("passed", *why_not)
        rows.setdefault(key, Cell()).join(cell)
    return sorted(rows.values(), key=lambda row: (row.failed > 0, not row.judged))


def lacking(cells: Mapping[str, Mapping[str, Cell]]) -> list[str]:
    """The ops that the backend does not have: every case of theirs is unsupported."""
    return [op for op, row in cells.items() if all(_is_lacking(cell) for cell in row.values())]


def _is_lacking(cell: Cell) -> bool:
    return not cell.judged and cell.not_judged == {UNSUPPORTED}


@dataclass(frozen=True)
class FailureGroup:
    """Cases of one op that failed for the same reason; `example` is the plainest of them; `judged`: how many cases of
    their dtypes were."""

    op: str
    dtypes: tuple[str, ...]
    status: str
    reason: str
    cases: tuple[Mapping, ...]
    example: Mapping
    judged: int


def failure_groups(cases: Sequence[Mapping]) -> list[FailureGroup]:
    """Groups in the order of their first case. Reasons that differ only in their numbers are one."""
    groups: dict[tuple[str, str, str], list[Mapping]] = {}
    for case in cases:
        if case["status"] in FAILURES:
            key = (case["op"], case["status"], re.sub(r"\d+", "#", case["reason"]))
            groups.setdefault(key, []).append(case)
    judged = Counter((case["op"], case["dtype"]) for case in cases if case["status"] not in NOT_JUDGED)
    return [_group(members, judged) for members in groups.values()]


def _group(members: list[Mapping], judged: Counter) -> FailureGroup:
    example = min(members, key=plainness)
    dtypes = tuple(in_order({case["dtype"] for case in members}))
    return FailureGroup(
        example["op"],
        dtypes,
        status=example["status"],
        reason=example["reason"],
        cases=tuple(members),
        example=example,
        judged=sum(judged[example["op"], dtype] for dtype in dtypes),
    )


def plainness(case: Mapping) -> tuple:
    """Sort key: typical values before others, contiguous layouts before others, few elements before many, and the
    largest error first among equals."""
    share, error = excess(case)
    return (case["values"] != "typical", case["layout"] != "contiguous", case["compared"], -share, -error, case["id"])


def nearest_to_bound(cases: Sequence[Mapping]) -> list[Mapping]:
    """The nearest case of each op and dtype that passed altogether, nearest first.

    Where the bound allows the rounding of the result and hardly more, the error always comes close: those say nothing.
    """
    nearest = [cell.nearest for row in cells_of(cases).values() for cell in row.values() if not cell.failed]
    found = [case for case in nearest if case is not None and float(case["bound_ulp"]) > ROUNDING_ALONE_ULP]
    return sorted(found, key=lambda case: (-excess(case)[0], case["id"]))


@dataclass(frozen=True)
class NotJudged:
    """Cases that ended in one of the statuses that are no judgement, for one rule and reason."""

    status: str
    rule: str | None
    reason: str
    ops: tuple[str, ...]
    cases: int


def not_judged(cases: Sequence[Mapping], without: Iterable[str] = ()) -> list[NotJudged]:
    """By status, rule and reason, the most frequent first; without the cases of some ops."""
    found: dict[tuple[str, str | None, str], list[str]] = {}
    left_out = set(without)
    for case in cases:
        if case["status"] in NOT_JUDGED and case["op"] not in left_out:
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

    @property
    def share(self) -> str:
        """`18.75 %`: of these in all."""
        return percent(self.elements, self.elements + self.compared)


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
