"""Two runs of the same cases side by side: what their answers have in common, by op and dtype.

Agreement is no truth: two answers of equal bytes are called identical only where both are within their contracts, and
`both wrong` where neither is. Two that differ, and are both within, are no failure: the contract allows more than one
answer there, be it by a bound, a NaN's bits, or what the op's meaning leaves open. Where the contract is exact it does
not, so that there one of the two has failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conform.equivalence.distance import Distance, are_equal, between_answers
from conform.judging.compared import python_number
from conform.judging.verdict import DETERMINISM, JUDGED, REFUSAL
from conform.numerics.formats import format_of
from conform.report.numbers import element_json
from conform.running.answers import Outputs

# What becomes of a case of two runs.
IDENTICAL = "identical"  # equal bytes, both within their contracts
WITHIN = "within"  # other bytes, both within
APART = "apart"  # other bytes, one of them not within
BOTH_WRONG = "both wrong"  # equal bytes, neither within
ONE_WRONG = "one wrong"  # equal bytes, and by what it declares or did besides one of them is wrong
ONE_ALONE = "one alone"  # the other gave no answer: an exception, a crash, a hang
NOT_COMPARED = "not compared"
KINDS = (IDENTICAL, WITHIN, APART, BOTH_WRONG, ONE_WRONG, ONE_ALONE, NOT_COMPARED)
WRONG = (APART, BOTH_WRONG, ONE_WRONG, ONE_ALONE)
NO_ANSWER = ("error", "crash", "timeout")

Case = Mapping[str, Any]  # as a record has it


@dataclass(frozen=True)
class Side:
    """One backend's run: the name of the backend, its record, and its answers by case id."""

    name: str
    record: Mapping[str, Any]
    answers: Mapping[str, Outputs]

    def cases(self) -> dict[str, Case]:
        """Every case by id, those too that do not count."""
        return {case["id"]: case for case in (*self.record["cases"], *self.record["not_counted"])}


@dataclass
class Row:
    """The cases of one op and dtype: how many of each kind, elements, the largest distance and its case; of how many
    the first or the second backend has the larger error, and the largest error of each, in ulps of the true result."""

    op: str
    dtype: str
    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    elements: int = 0
    equal: int = 0
    worst_ulp: float | None = None
    worst_case: str | None = None
    further: list[int] = field(default_factory=lambda: [0, 0])
    max_error_ulp: list[float | None] = field(default_factory=lambda: [None, None])

    @property
    def compared(self) -> int:
        """Cases that were."""
        return sum(self.kinds.values()) - self.kinds[NOT_COMPARED]

    @property
    def wrong(self) -> int:
        """Cases in which the two are not equivalent."""
        return sum(self.kinds[kind] for kind in WRONG)

    def note(self, case_id: str, kind: str, distance: Distance, errors_ulp: Sequence[float | None]) -> None:
        """Counts one case that was compared."""
        self.kinds[kind] += 1
        self.elements, self.equal = self.elements + distance.elements, self.equal + distance.equal
        if distance.worst_ulp is not None and (self.worst_ulp is None or distance.worst_ulp > self.worst_ulp):
            self.worst_ulp, self.worst_case = distance.worst_ulp, case_id
        if None in errors_ulp:
            return
        mine, its = errors_ulp
        self.further[0] += mine > its
        self.further[1] += its > mine
        pairs = zip(self.max_error_ulp, errors_ulp, strict=True)
        self.max_error_ulp = [new if old is None else max(old, new) for old, new in pairs]


@dataclass(frozen=True)
class Failure:
    """A case in which two backends are not equivalent; `values`: the elements of both, as a record has them, where they
    are farthest off."""

    id: str
    op: str
    dtype: str
    kind: str
    reason: str
    distance: Distance
    values: tuple[Any, Any] | None = None


@dataclass
class Pair:
    """Two backends: a row an op and dtype, in the order of the cases, and the cases that fail."""

    names: tuple[str, str]
    rows: list[Row]
    failures: list[Failure]

    def total(self, kind: str) -> int:
        """The cases of a kind."""
        return sum(row.kinds[kind] for row in self.rows)


def compared(lhs: Side, rhs: Side) -> Pair:
    """The two runs, case by case."""
    rows: dict[tuple[str, str], Row] = {}
    failures: list[Failure] = []
    theirs = rhs.cases()
    for case_id, case in lhs.cases().items():
        row = rows.setdefault((case["op"], case["dtype"]), Row(case["op"], case["dtype"]))
        other, answers = theirs.get(case_id), (lhs.answers.get(case_id), rhs.answers.get(case_id))
        if other is None or not is_compared((case, other)):
            row.kinds[NOT_COMPARED] += 1
            continue
        distance = Distance() if None in answers else between_answers(*answers)
        kind = kind_of((case, other), answers)
        row.note(case_id, kind, distance, [_error_ulp(one) for one in (case, other)])
        if kind in WRONG:
            failures.append(_failure((lhs.name, rhs.name), (case, other), answers, kind, distance))
    return Pair((lhs.name, rhs.name), list(rows.values()), failures)


def is_compared(cases: tuple[Case, Case]) -> bool:
    """Whether it is a valid call that was judged on both sides, and answered on one: a call that must be refused, and
    equal calls, have no values to compare; where neither answers both runs tell so."""
    statuses = [case["status"] for case in cases]
    is_question = all(case["check"] not in (REFUSAL, DETERMINISM) for case in cases)
    return is_question and all(one in JUDGED for one in statuses) and not all(one in NO_ANSWER for one in statuses)


def kind_of(cases: tuple[Case, Case], answers: tuple[Outputs, Outputs]) -> str:
    """What became of a case that is compared."""
    right = [case["status"] == "pass" for case in cases]
    if None in answers:
        return ONE_ALONE
    if are_equal(*answers):
        return IDENTICAL if all(right) else ONE_WRONG if any(right) else BOTH_WRONG
    return WITHIN if all(right) else APART


def _error_ulp(case: Case) -> float | None:
    """The error of a result whose elements were compared; a record writes infinity as a word."""
    return None if case["max_error_ulp"] is None else float(case["max_error_ulp"])


def _failure(
    names: tuple[str, str], cases: tuple[Case, Case], answers: tuple[Outputs, Outputs], kind: str, distance: Distance
) -> Failure:
    values = None
    if distance.index is not None:
        arrays = [answer[distance.output].array() for answer in answers]
        values = tuple(element_json(python_number(one[distance.index]), format_of(one).name) for one in arrays)
    case = cases[0]
    return Failure(case["id"], case["op"], case["dtype"], kind, _reason(names, cases, kind), distance, values)


def _reason(names: tuple[str, str], cases: tuple[Case, Case], kind: str) -> str:
    wrong = [(name, case) for name, case in zip(names, cases, strict=True) if case["status"] != "pass"]
    told = "; ".join(f"{name}: {case['reason']}" for name, case in wrong)
    return f"{_WORDS[kind]} ({told})"


_WORDS = {
    APART: "the answers differ, and not all are within the contract",
    BOTH_WRONG: "the same answer, and both are wrong",
    ONE_WRONG: "the same answer, and one of them is wrong",
    ONE_ALONE: "one gives no answer",
}
