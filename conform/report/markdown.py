"""report.md: the terminal's tables in full, for a pull request or an archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tabulate import tabulate

from conform.foreign import cell, code, fenced
from conform.judging.verdict import FAILURES, STATUSES
from conform.report import checks, failure, findings, header
from conform.report.numbers import percent
from conform.report.record import word
from conform.report.tally import (
    Cell,
    FailureGroup,
    cells_of,
    error_of_bound,
    failure_groups,
    in_order,
    nearest_to_bound,
    not_judged,
    table_counts,
    vacuous,
)
from conform.report.terminal import (
    LEGEND,
    admitted_lines,
    elements_line,
    summary_line,
    trust_line,
    warnings,
    why_partial,
)

SHOWN_IDS = 50
NEAREST_HEADERS = ["nearest to a bound", "dtype", "error / bound", "case", "at"]
VACUOUS_HEADERS = ["vacuous: no bound, or beyond 1e-2 of the scale", "elements", "compared", "share", "most in"]
TABLE_HEADERS = ["table", "share", "would pass", "of cases it bounds", "tightest of"]


def render(record: Mapping) -> str:
    """The text of report.md."""
    summary, cases = record["summary"], record["cases"]
    sections = [
        f"# conform: {word(record)}",
        *map(code, header.lines(record)),
        f"{summary_line(summary)}; {elements_line(cases)}",
        *map(code, admitted_lines(cases)),
        *map(code, why_partial(record)),
        *map(code, warnings(record)),
        *checks.lines(record),
        trust_line(record),
        _table(_status_rows(record), ["status", "cases"]),
        f"## Op and dtype\n\n{LEGEND}",
        _op_table(record),
    ]
    groups = failure_groups(cases)
    if groups:
        sections += ["## Failures", *(_failure(group, record) for group in groups)]
    if told := findings.lines(record):
        sections += [f"## {findings.TITLE}", "\n".join(f"- {code(one)}" for one in told)]
    sections += _section("## Not judged", ["cases", "status", "rule", "reason", "ops"], _not_judged_rows(cases))
    sections += _section("## Not counted", ["case", "check", "status", "reason"], _not_counted_rows(record))
    sections += _section("## Vacuous bounds", VACUOUS_HEADERS, _vacuous_rows(cases))
    sections += _section("## Nearest to their bounds", NEAREST_HEADERS, _nearest_rows(cases))
    sections += _section("## Contract tables", TABLE_HEADERS, _table_rows(cases))
    return "\n\n".join(sections) + "\n"


def _section(title: str, headers: list[str], rows: list[list]) -> list[str]:
    return [title, _table(rows, headers)] if rows else []


def _table(rows: Sequence[Sequence], headers: Sequence[str]) -> str:
    return tabulate(rows, headers=headers, tablefmt="pipe", disable_numparse=True)


def _status_rows(record: Mapping) -> list[list]:
    return [[status, record["summary"][status]] for status in STATUSES] + [["not run", record["not_run"]]]


def _op_table(record: Mapping) -> str:
    cells = cells_of(record["cases"])
    dtypes = in_order({dtype for row in cells.values() for dtype in row})
    rows = [
        [one["family"], cell(op), _shape(one["largest"]), *(_text(cells[op].get(dtype)) for dtype in dtypes)]
        for op, one in record["ops"].items()
        if op in cells
    ]
    return _table(rows, ["family", "op", "largest", *dtypes])


def _shape(shape: Sequence[int] | None) -> str:
    return "x".join(map(str, shape)) if shape else "-"


def _text(one: Cell | None) -> str:
    """`40/40, 0.50 / 3`."""
    return "" if one is None else ", ".join(part for part in (one.counts, one.error) if part)


def _table_rows(cases: Sequence[Mapping]) -> list[list]:
    """What each shipped table would say of this run."""
    counts = table_counts(cases)
    return [[one.table, percent(one.passed, one.judged), one.passed, one.judged, one.tightest] for one in counts]


def _nearest_rows(cases: Sequence[Mapping]) -> list[list]:
    return [
        [cell(case["op"]), case["dtype"], error_of_bound(case), cell(case["id"]), failure.place(case["worst"])]
        for case in nearest_to_bound(cases)
    ]


def _vacuous_rows(cases: Sequence[Mapping]) -> list[list]:
    return [
        [cell(row.op), f"{row.elements:,}", f"{row.compared:,}", row.share, cell(row.example)] for row in vacuous(cases)
    ]


def _not_judged_rows(cases: Sequence[Mapping]) -> list[list]:
    return [
        [row.cases, row.status, row.rule or "", cell(row.reason), cell(", ".join(row.ops))] for row in not_judged(cases)
    ]


def _not_counted_rows(record: Mapping) -> list[list]:
    """What would have failed if its check counted."""
    failed = [case for case in record["not_counted"] if case["status"] in FAILURES]
    return [[cell(case["id"]), case["check"], case["status"], cell(case["reason"])] for case in failed]


def _failure(group: FailureGroup, record: Mapping) -> str:
    count = f"{len(group.cases)} of {group.judged}"
    title = f"### {group.status} {code(group.op)} {', '.join(group.dtypes)}: {code(group.reason)} ({count})"
    body = "\n".join(failure.aligned(failure.details(group.example, record)))
    others = [f"- {code(case['id'])}" for case in group.cases if case is not group.example]
    if len(others) > SHOWN_IDS:
        others = [*others[:SHOWN_IDS], f"- and {len(others) - SHOWN_IDS} more: see run.json"]
    return "\n\n".join([title, fenced(body), *(["\n".join(others)] if others else [])])
