"""What a person reads after `conform check`: the op x dtype table, each kind of failure once, and two numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import click
from tabulate import MIN_PADDING, tabulate

from conform.judging.verdict import NOT_JUDGED
from conform.report import checks, failure, findings, header
from conform.report.numbers import percent
from conform.report.record import CONFORMANT, NOT_CONFORMANT, kit_changed, word
from conform.report.tally import (
    Cell,
    FailureGroup,
    NotJudged,
    Vacuous,
    admitted,
    error_of_bound,
    failure_groups,
    largest_judged,
    nearest_to_bound,
    not_judged,
    table,
    table_counts,
    vacuous,
)

LARGEST = "largest"
LEGEND = (
    "Largest error / bound in ULP of the exact result; ok: equal; FAIL: cases that did not pass.\n"
    f"{LARGEST}: the shape of the largest tensor of a call that was judged."
)
NEAREST_HEADERS = ["nearest to a bound", "dtype", "error / bound", "case", "at"]
SHOWN_GROUPS = 20
SHOWN_IDS = 3
SHOWN_OPS = 4
SHOWN_NEAREST = 3
SHOWN_VACUOUS = 5
VACUOUS_HEADERS = ["vacuous: no bound, or beyond 1e-2 of the scale", "elements", "compared", "share", "most in"]


def render(record: Mapping, width: int | None = None, report: str | None = None) -> str:
    """The whole text, with ANSI styles (`click.echo` drops them where there is no terminal).

    width   columns of the terminal; None: no limit.  report: the file that holds all failures, if one was written
    """
    parts = ["\n".join(header.lines(record)), op_table(record["cases"], width)]
    groups = failure_groups(record["cases"])
    parts += [failure_block(group, record) for group in groups[:SHOWN_GROUPS]]
    if len(groups) > SHOWN_GROUPS:
        where = f"all in {report}" if report else "--out DIR writes them all to a report"
        parts.append(f"... and {len(groups) - SHOWN_GROUPS} more kinds of failure; {where}")
    parts.append(findings.section(record))
    cases = record["cases"]
    parts += [not_judged_table(not_judged(cases)), vacuous_table(cases), nearest_lines(cases), summary_lines(record)]
    return "\n\n".join(part for part in parts if part)


def op_table(cases: Sequence[Mapping], width: int | None) -> str:
    """Op x dtype, in as many blocks of columns as `width` needs."""
    ops, dtypes, cells = table(cases)
    largest = largest_judged(cases)
    blocks = []
    while dtypes:
        count = _fitting(ops, dtypes, cells, largest, width)
        blocks.append(_block(ops, dtypes[:count], cells, largest))
        dtypes = dtypes[count:]
    return "\n\n".join([LEGEND, *blocks])


Cells = Mapping[tuple[str, str], Cell]


def _fitting(ops: list[str], dtypes: list[str], cells: Cells, largest: Mapping[str, str], width: int | None) -> int:
    """How many of the columns `dtypes` fit beside the ops and their largest tensors; at least one."""
    if width is None:
        return len(dtypes)
    used = max(len(op) for op in ops) + _column(LARGEST, largest.values())
    for count, dtype in enumerate(dtypes):
        used += _column(dtype, [cells[op, dtype].text for op in ops if (op, dtype) in cells])
        if used > width and count > 0:
            return count
    return len(dtypes)


def _column(head: str, texts: Iterable[str]) -> int:
    """How wide tabulate makes a column, with what is between it and the one before."""
    return 2 + max(len(head) + MIN_PADDING, *map(len, texts))


def _block(ops: list[str], dtypes: list[str], cells: Cells, largest: Mapping[str, str]) -> str:
    present = [op for op in ops if any((op, dtype) in cells for dtype in dtypes)]
    rows = [[op, largest[op], *(_styled(cells.get((op, dtype))) for dtype in dtypes)] for op in present]
    return tabulate(rows, headers=["op", LARGEST, *dtypes], tablefmt="simple", disable_numparse=True)


def _styled(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.failed:
        return click.style(cell.text, fg="red", bold=True)
    return cell.text if cell.passed else click.style(cell.text, fg="yellow")


def failure_block(group: FailureGroup, record: Mapping) -> str:
    """The kind of failure, its worst case in full, and the ids of the others."""
    count = len(group.cases)
    cases = f"{count} case{'s' if count > 1 else ''}"
    status = click.style(group.status.upper(), fg="red", bold=True)
    head = failure.headline(status, vars(group))
    details = failure.details(group.example, record)
    others = [case["id"] for case in group.cases if case is not group.example]
    if others:
        more = f", ... {len(others) - SHOWN_IDS} more" if len(others) > SHOWN_IDS else ""
        details.append(("also", ", ".join(others[:SHOWN_IDS]) + more))
    return failure.block(f"{head} ({cases})", details)


def not_judged_table(rows: Sequence[NotJudged]) -> str:
    """Why cases were not judged, with the ops; empty if all were."""
    if not rows:
        return ""
    body = [[row.cases, row.status, row.rule or "", row.reason, _some(row.ops)] for row in rows]
    return tabulate(body, headers=["not judged", "status", "rule", "reason", "ops"], tablefmt="simple")


def vacuous_table(cases: Sequence[Mapping]) -> str:
    """The ops with the largest shares of elements that no bound says anything of; empty if there is none."""
    rows = vacuous_rows(cases)
    more = [[f"and {len(rows) - SHOWN_VACUOUS} more ops"]] if len(rows) > SHOWN_VACUOUS else []
    return tabulate(rows[:SHOWN_VACUOUS] + more, headers=VACUOUS_HEADERS, disable_numparse=True) if rows else ""


def vacuous_rows(cases: Sequence[Mapping]) -> list[list[str]]:
    """Rows under VACUOUS_HEADERS."""
    return [
        [row.op, f"{row.elements:,}", f"{row.compared:,}", _share(row), row.example]
        for row in vacuous(cases)
    ]


def _share(row: Vacuous) -> str:
    return percent(row.elements, row.elements + row.compared)


def admitted_lines(cases: Sequence[Mapping]) -> list[str]:
    """`12 passes within the bound of intermediates in bfloat16, declared (aten::logsumexp, aten::mse_loss)`."""
    return [
        f"{len(ops)} pass{'es' if len(ops) > 1 else ''} {needed} ({_some(sorted(set(ops)))})"
        for needed, ops in admitted(cases).items()
    ]


def nearest_lines(cases: Sequence[Mapping]) -> str:
    """Where the passing results that come nearest to their bounds are."""
    rows = nearest_rows(nearest_to_bound(cases)[:SHOWN_NEAREST])
    return tabulate(rows, headers=NEAREST_HEADERS, disable_numparse=True) if rows else ""


def nearest_rows(cases: Sequence[Mapping]) -> list[list[str]]:
    """Rows under NEAREST_HEADERS."""
    return [
        [case["op"], case["dtype"], error_of_bound(case), case["id"], failure.place(case["worst"])] for case in cases
    ]


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_OPS} more" if len(names) > SHOWN_OPS else ""
    return ", ".join(names[:SHOWN_OPS]) + more


def summary_lines(record: Mapping) -> str:
    """The verdict, the two numbers, where the cases that did not pass are, and what the kit catches."""
    summary, cases = record["summary"], record["cases"]
    lines = [f"{verdict(record)}: {summary_line(summary)}; {elements_line(cases)}"]
    lines += [*why_partial(record), *warnings(record), *admitted_lines(cases)]
    bad = [f"{status} {summary[status]}" for status in ("fail", "error", "crash", "timeout") if summary[status]]
    open_ = [f"{status} {summary[status]}" for status in NOT_JUDGED if summary[status]]
    open_ += [f"not run {record['not_run']}"] if record["not_run"] else []
    if bad:
        lines.append(f"not passed: {', '.join(bad)}")
    if open_:
        lines.append(f"not judged: {', '.join(open_)}")
    lines += checks.lines(record)
    if tables := table_counts(cases):
        lines.append(f"would pass: {', '.join(f'{one.table} {percent(one.passed, one.judged)}' for one in tables)}")
    lines += [selftest_line(record["kit"]["selftest"]), trust_line(record)]
    return "\n".join(lines)


def elements_line(cases: Sequence[Mapping]) -> str:
    """`3,412 elements compared, 12 vacuous`."""
    compared, wide = (sum(case[count] for case in cases) for count in ("compared", "vacuous"))
    return f"{compared:,} elements compared" + (f", {wide:,} vacuous" if wide else "")


def warnings(record: Mapping) -> list[str]:
    """What the run saw of a backend that reached beyond its calls."""
    lines = []
    if kit_changed(record):
        lines.append("no verdict: the kit's files changed during the run (run.json: kit.digest, kit.digest_at_end)")
    if left := record["environment"]["left_running"]:
        lines.append(f"outlived the backend's process, and was killed: {', '.join(left)}")
    return lines


def trust_line(record: Mapping) -> str:
    """Whether the results are more than what the backend says of itself."""
    jail = record["environment"]["jail"]
    if jail is None:
        return "self-reported: the backend ran beside the kit, and could have read or changed it (--jail confines it)"
    return f"confined by {jail}: the backend could neither read nor change the kit"


def selftest_line(figure: Mapping) -> str:
    """How far the verdict can be trusted: `self-test: 3,412 of 3,431 planted defects caught, 19 explained`."""
    return (
        f"self-test: {figure['caught']:,} of {figure['plants']:,} planted defects caught, "
        f"{figure['explained']:,} explained (conform selftest --full)"
    )


def verdict(record: Mapping) -> str:
    """The verdict in a word, styled."""
    said = word(record)
    colour = {CONFORMANT: "green", NOT_CONFORMANT: "red"}.get(said, "yellow")
    return click.style(said, fg=colour, bold=True)


def why_partial(record: Mapping) -> list[str]:
    """Why the run says less than it might: what ended it, and the coverage that it lacks."""
    required = record["required"]
    lines = [f"ended early: {record['stopped']}"] if record["stopped"] else []
    lines += [f"shard {record['shard']} of the cases, no more"] if record["shard"] else []
    lines += [
        f"{op}: given up, for the backend hung on it again and again; cases not run: {count}"
        for op, count in record["given_up"].items()
    ]
    if record["summary"]["judged"] and required["coverage"] < required["min_coverage"]:
        share = percent(required["judged"], required["asked"])
        least = f"{required['min_coverage']:.6g}"
        lines.append(f"partial: {share} of {required['of']} were judged, less than --min-coverage {least}")
    return lines


def summary_line(summary: Mapping) -> str:
    """`conformance 99.98 % (4999 of 5000 judged cases pass), coverage 98.03 % (5000 of 5100 asked are judged)`."""
    return (
        f"conformance {percent(summary['pass'], summary['judged'])} "
        f"({summary['pass']} of {summary['judged']} judged cases pass), "
        f"coverage {percent(summary['judged'], summary['asked'])} "
        f"({summary['judged']} of {summary['asked']} asked are judged)"
    )
