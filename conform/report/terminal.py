"""What a person reads after `conform check`: a row an op, each kind of failure once, and two numbers.

Everything fits the terminal's width; without a terminal lines are as long as they need to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from conform.foreign import escaped
from conform.judging.verdict import NOT_JUDGED
from conform.report import checks, claims, failure, findings, header, pairs, waivers
from conform.report.layout import BAR, GAP, LEAST_WIDTH, Style, cut, hanging, table, width_of, wrapped
from conform.report.numbers import percent
from conform.report.record import CONFORMANT, NOT_CONFORMANT, kit_changed, word
from conform.report.tally import (
    Cell,
    FailureGroup,
    NotJudged,
    admitted,
    cells_of,
    error_of_bound,
    failure_groups,
    in_order,
    lacking,
    nearest_to_bound,
    not_judged,
    rows_of,
    table_counts,
    vacuous,
)

LEGEND = (
    "passed of judged cases, or FAIL: failed of judged; error / bound of the case nearest to its bound, in ulp of the "
    "exact result (equal: all must be; -: there is no number to tell); largest: the largest tensor that was judged."
)
HEADS = ("op", "largest", "dtypes", "passed", "error / bound", "first reason")
PASSED, REASON = HEADS.index("passed"), HEADS.index("first reason")
LEAST = (24, 7, 23, 12, 13, 30)  # columns, below which no column of the table is squeezed
KINDS = {  # what a row of dtypes is called where it has all of them
    "ints": ("uint8", "int8", "int16", "int32", "int64"),
    "floats": ("float16", "bfloat16", "float32", "float64"),
    "complex": ("complex64", "complex128"),
    "float8": ("float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
}
SHOWN_GROUPS = 20
SHOWN_IDS = 3
SHOWN_OPS = 4
SHOWN_NEAREST = 3
SHOWN_VACUOUS = 5
SHOWN_LACKING = 100  # characters of the ops that a backend does not have, where no terminal sets a limit


def render(record: Mapping, width: int | None = None, report: str | None = None) -> str:
    """The whole text, with ANSI styles (`click.echo` drops them where there is no terminal).

    width   columns of the terminal; None: no limit.  report: the file that holds all failures, if one was written
    """
    width = None if width is None else max(width, LEAST_WIDTH)
    cells = cells_of(record["cases"])
    missing = lacking(cells)
    groups = failure_groups(record["cases"])
    parts = [
        "\n".join(line for text in header.lines(record) for line in hanging("", text, width)),
        op_table(record, width),
        lacking_line(record["cases"], missing, width),
        *failure_blocks(groups[:SHOWN_GROUPS], record, width),
    ]
    if len(groups) > SHOWN_GROUPS:
        where = f"all in {report}" if report else "--out DIR writes them all to a report"
        parts.append(_wrapped(f"... and {len(groups) - SHOWN_GROUPS} more kinds of failure; {where}", width))
    cases = record["cases"]
    parts += [
        findings.section(record, width, but={group.op for group in groups[:SHOWN_GROUPS]}),
        not_judged_lines(not_judged(cases, missing), width),
        vacuous_lines(cases, width), nearest_lines(cases, width), pairs.lines(cases, width),
        summary_lines(record, width),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def _wrapped(text: str, width: int | None) -> str:
    return "\n".join(hanging("", text, width))


# --- The table of ops -------------------------------------------------------------------------------------------------


def op_table(record: Mapping, width: int | None) -> str:
    """A row an op, one more for each kind of failure, by family; without the ops that the backend does not have."""
    cells = cells_of(record["cases"])
    missing = set(lacking(cells))
    rows: list[tuple[str, ...]] = [HEADS]
    families: list[tuple[int, str]] = []  # before which row each begins
    for op, told in record["ops"].items():
        if op in missing or op not in cells:  # nor those of which no case counts
            continue
        if not families or families[-1][1] != told["family"]:
            families.append((len(rows), told["family"]))
        rows += _op_rows(op, told["largest"], rows_of(cells[op]))
    if not families:
        return ""
    return "\n".join(["\n".join(wrapped(LEGEND, width)), "", *_with_families(rows, families, width)])


def _op_rows(op: str, largest: Sequence[int] | None, row: Sequence[Cell]) -> list[tuple[str, ...]]:
    """The first row names the op."""
    shape = "x".join(map(str, largest)) if largest else "-"
    names = [(f"  {escaped(op.removeprefix('aten::'))}", shape), *([("", "")] * (len(row) - 1))]
    return [
        (*name, short_dtypes(cell.dtypes), cell.counts, cell.error, escaped(cell.reason))
        for name, cell in zip(names, row, strict=True)
    ]


def short_dtypes(dtypes: Sequence[str]) -> str:
    """`bool ints float16`: kinds of which all are there by their name."""
    left, said = list(in_order(dtypes)), []
    for dtype in list(left):
        kind = next((kind for kind, members in KINDS.items() if dtype == members[0] and {*members} <= {*left}), None)
        said += [kind] if kind else [dtype] if dtype in left else []
        left = [one for one in left if one not in KINDS.get(kind, (dtype,))]
    return " ".join(said)


def _with_families(rows: list[tuple[str, ...]], families: list[tuple[int, str]], width: int | None) -> list[str]:
    """The table's lines, with a heading before each family. Reasons stand in a column of their own where they have
    room, else below their rows; the largest tensors where they have room."""
    columns = _columns(rows, width)
    beside = REASON in columns
    shown = [tuple(row[column] for column in columns if column != REASON) for row in rows]
    place = columns.index(PASSED)

    def style(row: int, column: int) -> Style | None:
        return _style(shown[row][column]) if column == place and row > 0 else None

    room = width - LEAST[REASON] - GAP if beside and width is not None else width
    blocks = table(shown, room, [LEAST[column] for column in columns if column != REASON], frozenset([place]), style)
    widest = max(width_of(click.unstyle(line)) for block in blocks for line in block)
    starts = dict(families)
    lines = []
    for number, (block, row) in enumerate(zip(blocks, rows, strict=True)):
        lines += [click.style(starts[number], bold=True)] if number in starts else []
        lines += _with_reason(block, row[REASON], widest if beside else None, width)
    return lines


def _with_reason(block: list[str], reason: str, column: int | None, width: int | None) -> list[str]:
    """A row with its reason, as much as one line holds: behind it from a column on, or below it."""
    if not reason:
        return block
    if column is None:
        return [*block, cut(f"    {BAR}{reason}", width)]
    first, *rest = block
    blanks = " " * (column + GAP - width_of(click.unstyle(first)))
    return [first + blanks + cut(reason, None if width is None else width - column - GAP), *rest]


def _columns(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Those that fit beside each other: without a column for reasons, then without one for the largest tensors."""
    every = list(range(len(HEADS)))
    if width is None:
        return every
    needed = [max(map(width_of, column)) + 2 for column in zip(*rows, strict=True)]
    needed[REASON] = LEAST[REASON] + 2
    for left_out in ((), ("first reason",), ("first reason", "largest")):
        columns = [column for column in every if HEADS[column] not in left_out]
        if sum(needed[column] for column in columns) <= width:
            break
    return columns


def _style(counts: str) -> Style | None:
    if counts.startswith("FAIL"):
        return lambda text: click.style(text, fg="red", bold=True)
    return None if "/" in counts else lambda text: click.style(text, fg="yellow")


def lacking_line(cases: Sequence[Mapping], ops: Sequence[str], width: int | None) -> str:
    """`unsupported, 100 of 139 ops: abs, acos, ... and 88 more`, on one line if one name has room there."""
    if not ops:
        return ""
    total = len({case["op"] for case in cases})
    head = f"unsupported, {len(ops)} of {total} ops: "
    names = [escaped(op.removeprefix("aten::")) for op in ops]
    room = (SHOWN_LACKING if width is None else width) - width_of(head)
    for shown in range(len(names), 0, -1):
        more = f" and {len(names) - shown} more" if shown < len(names) else ""
        text = ", ".join(names[:shown]) + more
        if width_of(text) <= room:
            return head + text
    return _wrapped(head + text, width)


# --- Below it ---------------------------------------------------------------------------------------------------------


def failure_blocks(groups: Sequence[FailureGroup], record: Mapping, width: int | None = None) -> list[str]:
    """A block each kind of failure; the first of an op also tells what all its failures have in common."""
    seen: set[str] = set()
    blocks = []
    for group in groups:
        in_common = [] if group.op in seen else findings.of_op(record, group.op)
        seen.add(group.op)
        blocks.append(failure_block(group, record, in_common, width))
    return blocks


def failure_block(group: FailureGroup, record: Mapping, in_common: Sequence[str] = (), width: int | None = None) -> str:
    """The kind of failure, what failures of the op have in common, its plainest case in full, and the ids of the
    others."""
    status = group.status.upper()
    count = f"{len(group.cases)} of {group.judged} case{'s' if group.judged > 1 else ''}"
    head = f"{status} {group.op} {', '.join(group.dtypes)}: {group.reason} ({count})"
    details = [*(("in common", text) for text in in_common), *failure.details(group.example, record)]
    others = [case["id"] for case in group.cases if case is not group.example]
    if others:
        more = f", ... {len(others) - SHOWN_IDS} more" if len(others) > SHOWN_IDS else ""
        details.append(("also", escaped(", ".join(others[:SHOWN_IDS]) + more)))
    text = failure.block(escaped(head), details, width)
    return click.style(status, fg="red", bold=True) + text.removeprefix(status)


def not_judged_lines(rows: Sequence[NotJudged], width: int | None = None) -> str:
    """Why cases were not judged, with the ops; empty if all were."""
    lines = []
    for row in rows:
        rule = f" ({row.rule})" if row.rule else ""
        lines += hanging(f"  {row.cases:>5}  ", escaped(f"{row.status}{rule}: {row.reason}: {_some(row.ops)}"), width)
    return "\n".join(["not judged:", *lines]) if lines else ""


def vacuous_lines(cases: Sequence[Mapping], width: int | None = None) -> str:
    """The ops with the largest shares of elements that no bound says anything of; empty if there is none."""
    rows = vacuous(cases)
    lines = ["\n".join(wrapped("vacuous, the bound none or beyond 1e-2 of the scale:", width))]
    for row in rows[:SHOWN_VACUOUS]:
        counts = f"{row.elements:,} elements, {row.compared:,} compared"
        lines += hanging(f"  {row.share:>8}  ", escaped(f"{row.op}: {counts}; most in {row.example}"), width)
    lines += [f"  and {len(rows) - SHOWN_VACUOUS} more ops"] if len(rows) > SHOWN_VACUOUS else []
    return "\n".join(lines) if rows else ""


def admitted_lines(cases: Sequence[Mapping]) -> list[str]:
    """`12 passes within the bound of intermediates in bfloat16, declared (aten::logsumexp, aten::mse_loss)`."""
    return [
        f"{len(ops)} pass{'es' if len(ops) > 1 else ''} {needed} ({_some(sorted(set(ops)))})"
        for needed, ops in admitted(cases).items()
    ]


def nearest_lines(cases: Sequence[Mapping], width: int | None = None) -> str:
    """Where the passing results that come nearest to their bounds are."""
    rows = nearest_to_bound(cases)[:SHOWN_NEAREST]
    told = [(f"  {error_of_bound(case)}  ", escaped(f"{case['op']} {case['dtype']}, {case['id']}")) for case in rows]
    lines = [line for label, text in told for line in hanging(label, text, width)]
    return "\n".join(["nearest to a bound:", *lines]) if lines else ""


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_OPS} more" if len(names) > SHOWN_OPS else ""
    return ", ".join(names[:SHOWN_OPS]) + more


def summary_lines(record: Mapping, width: int | None = None) -> str:
    """The verdict, the two numbers, where the cases that did not pass are, and what the kit catches."""
    summary, cases = record["summary"], record["cases"]
    told = (*why_partial(record), *warnings(record), *admitted_lines(cases))
    of_others = [_wrapped(line, width) for line in told]
    lines = []
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
    lines += [*known_lines(record), selftest_line(record["kit"]["selftest"]), trust_line(record)]
    first, *rest = ["\n".join(wrapped(line, width)) for line in (quiet_line(record), *lines)]
    return "\n".join([verdict(record) + first.removeprefix(word(record)), *of_others, *rest])


def quiet_line(record: Mapping) -> str:
    """The verdict and the two numbers, on one line without styles."""
    return f"{word(record)}: {summary_line(record['summary'])}; {elements_line(record['cases'])}"


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


def known_lines(record: Mapping) -> list[str]:
    """How many answers were judged in earlier runs, if any were."""
    count = record["environment"]["timings"].get("answered_as_known", 0)
    return [f"known: {count:,} answers are byte for byte those of earlier runs, and not judged again"] if count else []


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
    return [*lines, *claims.lines(record), *waivers.lines(record)]


def summary_line(summary: Mapping) -> str:
    """`conformance 99.98 % (4999 of 5000 judged cases pass), coverage 98.03 % (5000 of 5100 asked are judged)`."""
    return (
        f"conformance {percent(summary['pass'], summary['judged'])} "
        f"({summary['pass']} of {summary['judged']} judged cases pass), "
        f"coverage {percent(summary['judged'], summary['asked'])} "
        f"({summary['judged']} of {summary['asked']} asked are judged)"
    )
