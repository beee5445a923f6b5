"""What the page of one op gets: a row a dtype, errors as histograms and against inputs, and every failing case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from conform.foreign import line
from conform.judging.verdict import FAILURES, NOT_JUDGED
from conform.report import failure, findings
from conform.report.html.counts import COLUMNS, Places
from conform.report.tally import Cell, in_order

LONGEST = 4_000  # characters of a text: run.json has all of it
COMMANDS = ("repeat", "repro")
SHOWN_ROWS = 8  # of contracts of an op and dtype; a dtype has one or two

Case = Mapping[str, Any]


def data(op: str, records: Sequence[Mapping], cases: Sequence[Sequence[Case]], places: Places) -> list[dict[str, Any]]:
    """One dict a run. cases: those of the op, of each run."""
    ends = [{case["id"]: case["status"] for case in of_run} for of_run in cases]
    return [
        {
            "largest": record["ops"].get(op, {}).get("largest"),
            "rows": _rows(of_run),
            "histograms": record["histograms"].get(op, {}),
            "findings": findings.lines(record, op),
            "points": [point for case in of_run if (point := _point(case))],
            "failures": [
                {**_failure(case, record, places), "ends": [end.get(case["id"], "") for end in ends]}
                for case in of_run
                if case["status"] in FAILURES
            ],
        }
        for record, of_run in zip(records, cases, strict=True)
    ]


def by_op(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """The cases of each op."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case["op"], []).append(case)
    return found


# --- A row a dtype ----------------------------------------------------------------------------------------------------


def _rows(cases: Sequence[Case]) -> list[dict[str, Any]]:
    dtypes = in_order({case["dtype"] for case in cases})
    return [_row(dtype, [case for case in cases if case["dtype"] == dtype]) for dtype in dtypes]


def _row(dtype: str, cases: Sequence[Case]) -> dict[str, Any]:
    """Counts, the error nearest to its bound, the rows of the contract that decided, and the tightest tables passed."""
    decided = [case["contract"] for case in cases if case["contract"]]
    statuses = Counter(case["status"] for case in cases)
    tightest = Counter(case["tightest"] for case in cases if case["tightest"])
    rows = Counter((failure.bound_text(contract), contract["source"]) for contract in decided)
    limits = {contract["bound"] for contract in decided if isinstance(contract["bound"], int | float)}
    return {
        "dtype": dtype,
        "pass": statuses["pass"],
        "failed": sum(statuses[status] for status in FAILURES),
        "open": sum(statuses[status] for status in NOT_JUDGED),
        "error": _nearest(dtype, cases),
        "tightest": tightest.most_common(),
        "limits_ulp": sorted(limits),
        "bounds": [[line(bound, LONGEST), line(source, LONGEST)] for bound, source in _most(rows)],
    }


def _most(rows: Counter[tuple[str, str]]) -> list[tuple[str, str]]:
    return [row for row, _ in rows.most_common(SHOWN_ROWS)]


def _nearest(dtype: str, cases: Sequence[Case]) -> str:
    """`0.50 / 3`; of cases that passed, those without an element that no bound holds."""
    cell = Cell([dtype])
    for case in cases:
        if case["status"] in FAILURES or not case["vacuous"]:
            cell.add(case)
    return cell.error


# --- Errors against inputs --------------------------------------------------------------------------------------------


def _point(case: Case) -> dict[str, Any] | None:
    """The worst element of a case, where it has an error in ulps: by operand, the one number of it that reaches the
    element, and what was expected. None where the record does not tell."""
    worst = case["worst"]
    if worst is None or worst["error_ulp"] is None:
        return None
    operands = {
        operand["name"]: operand["values"][0]["decimal"]
        for operand in worst["inputs"]
        if operand["count"] == 1 and operand["values"] and _is_number(operand["values"][0])
    }
    if _is_number(worst["expected"]):
        operands["expected result"] = worst["expected"]["decimal"]
    return {
        "id": line(case["id"]), "dtype": case["dtype"], "status": case["status"], "at": operands,
        "error": str(worst["error_ulp"]), "bound": str(worst["bound_ulp"]),
    }  # fmt: skip


def _is_number(element: object) -> bool:
    return isinstance(element, dict) and "decimal" in element


# --- Failing cases ----------------------------------------------------------------------------------------------------


def _failure(case: Case, record: Mapping, places: Places) -> dict[str, Any]:
    """One failing case: where it stands in the tables, and all that is told of it."""
    told = failure.details(case, record)
    return {
        "id": line(case["id"], LONGEST),
        "reason": line(case["reason"], LONGEST),
        "places": dict(zip(COLUMNS, places.of(case), strict=True)),
        "lines": [[label, line(text, LONGEST)] for label, text in told if label not in COMMANDS],
        "commands": [[label, text] for label, text in told if label in COMMANDS and len(text) <= LONGEST],
    }
