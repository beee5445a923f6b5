"""What a person reads of a comparison of backends: a row an op and dtype that differs, and what fails."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from conform.equivalence.compare import BOTH_WRONG, IDENTICAL, NOT_COMPARED, WITHIN, WRONG
from conform.foreign import escaped
from conform.report.layout import hanging, table
from conform.report.numbers import element_text

HEADS = ("op", "dtype", "identical", "within", "wrong", "elements", "distance", "larger error", "errors")
LEAST = (24, 10, 10, 6, 6, 12, 9, 12, 12)
SHOWN_ROWS, SHOWN_FAILURES = 40, 10
LEGEND = (
    "identical: cases of equal bytes, right on both sides, of those compared; within: other bytes, both within the "
    "contract; wrong: not equivalent; elements of equal bytes; distance: the largest, in ulp of the smaller number; "
    "larger error: in how many cases the first and the second is further from the true result, errors: the largest of "
    "each, in ulp of that."
)


def render(record: Mapping[str, Any], width: int | None = None) -> str:
    """The text of equivalence.json for a terminal of `width` columns (None: of any)."""
    parts = [_pair(pair, width) for pair in record["pairs"]]
    if any(map(_differing, record["pairs"])):
        parts.insert(0, "\n".join(hanging("", LEGEND, width)))
    if record["skipped"]:
        parts.append("\n".join(hanging("", escaped(f"equivalence: skipped, {record['skipped']}"), width)))
    return "\n\n".join(parts)


def _pair(pair: Mapping[str, Any], width: int | None) -> str:
    mine, its = pair["backends"]
    lines = hanging("", escaped(f"equivalence of {mine} and {its}"), width)
    if differing := _differing(pair):
        shown = table([HEADS, *map(_row, differing[:SHOWN_ROWS])], width, LEAST)
        lines += ["", *(line for block in shown for line in block)]
    if len(differing) > SHOWN_ROWS:
        lines.append(f"... and {len(differing) - SHOWN_ROWS} more rows that differ; --out DIR writes them all")
    groups = _groups(pair["failures"])
    lines += ["", *(line for group in groups[:SHOWN_FAILURES] for line in _failure(group, pair, width))]
    if len(groups) > SHOWN_FAILURES:
        lines.append(f"... and {len(groups) - SHOWN_FAILURES} more kinds of failure; --out DIR writes them all")
    return "\n".join([*lines, *hanging("", escaped(summary(pair)), width)])


def _differing(pair: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The rows with something to tell, those of most failures first."""
    rows = [row for row in pair["ops"] if row["elements"] > row["equal_elements"] or _wrong(row)]
    return sorted(rows, key=lambda row: (-_wrong(row), row["op"], row["dtype"]))


def _groups(failures: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    """Those of one op, dtype and reason together, plain values first."""
    found: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for one in sorted(failures, key=lambda one: "/special" in one["id"]):
        found.setdefault((one["op"], one["dtype"], one["reason"]), []).append(one)
    return list(found.values())


def _wrong(row: Mapping[str, Any]) -> int:
    return sum(row[kind] for kind in WRONG)


def _compared(row: Mapping[str, Any]) -> int:
    return row[IDENTICAL] + row[WITHIN] + _wrong(row)


def _row(row: Mapping[str, Any]) -> tuple[str, ...]:
    errors = row["max_error_ulp"]
    return (
        escaped(row["op"].removeprefix("aten::")), row["dtype"], f"{row[IDENTICAL]}/{_compared(row)}",
        str(row[WITHIN]), str(_wrong(row)), f"{row['equal_elements']:,}/{row['elements']:,}", _ulps(row["worst_ulp"]),
        " : ".join(map(str, row["further_from_truth"])), " : ".join(map(_ulps, errors)),
    )  # fmt: skip


def _ulps(value: float | str | None) -> str:
    return "-" if value is None else f"{float(value):.3g}"


def _failure(group: Sequence[Mapping[str, Any]], pair: Mapping[str, Any], width: int | None) -> list[str]:
    one, cases = group[0], f"{len(group)} case{'s' if len(group) > 1 else ''}"
    told = f"NOT EQUIVALENT {one['op']} {one['dtype']}: {one['reason']} ({cases}, as {one['id']})"
    lines = hanging("", escaped(told), width)
    if at := one["at"]:
        place = f"output {at['output']}, index {at['index']}"
        told = [f"{name}: {element_text(value)}" for name, value in zip(pair["backends"], at["values"], strict=True)]
        lines += hanging("  ", escaped(f"{place}: {', '.join(told)}; {_ulps(one['worst_ulp'])} ulp apart"), width)
    return lines


def summary(pair: Mapping[str, Any]) -> str:
    """`equivalent: 120 cases compared, 100 identical, 20 within their contracts; 12 not compared`."""
    found = pair["summary"]
    wrong = sum(found[kind] for kind in WRONG)
    compared = found[IDENTICAL] + found[WITHIN] + wrong
    said = "not equivalent" if wrong else "equivalent" if compared else "nothing compared"
    told = [f"{kind} {found[kind]}" for kind in (IDENTICAL, WITHIN, *WRONG) if found[kind]]
    both = "; agreement in what is wrong is no pass" if found[BOTH_WRONG] else ""
    names = " and ".join(pair["backends"])
    counts = f"{compared} cases compared: {', '.join(told) or '-'}{both}; not compared {found[NOT_COMPARED]}"
    return f"{said}: {names}: {counts}"


def is_right(pairs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no case of any pair fails."""
    return not any(pair["summary"][kind] for pair in pairs for kind in WRONG)
