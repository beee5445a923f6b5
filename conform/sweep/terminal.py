"""What a person reads after `conform sweep`: the largest error and where, how errors are spread, and the tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tabulate import tabulate

from conform.report.header import declared, variant
from conform.report.numbers import element_text, percent
from conform.sweep.record import word

BAR = 40  # characters of the longest bar
SHOWN_LOST = 10


def render(record: Mapping[str, Any]) -> str:
    """The whole text."""
    parts = [
        _head(record), _largest(record), _spread(record), _tables(record), _wrong(record), _lost(record),
        _known(record), summary_line(record),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part)


def summary_line(record: Mapping[str, Any]) -> str:
    """The verdict, with the two numbers that it rests on."""
    summary = record["summary"]
    ended = f"ended early: {record['stopped']}\n" if record["stopped"] else ""
    of = f"{record['swept']:,} of {record['inputs']:,} inputs"
    return f"{ended}{word(record)}: {of}, {summary['compared']:,} compared, {summary['failed']:,} failed"


def _head(record: Mapping[str, Any]) -> str:
    backend = record["backend"]
    keywords = "".join(f", {name}={value!r}" for name, value in record["keywords"].items())
    operands = " x ".join([record["dtype"]] * len(record["operands"]))
    shard = f", shard {record['shard']}" if record["shard"] else ""
    name, numerics = f"{backend['name']} {backend['version'] or ''}".strip(), record["environment"]["numerics"]
    on = ", ".join([name, *variant(numerics), *declared(backend)])
    first, last = record["codes"]
    return (
        f"conform {record['kit']['version']}, sweep of {record['op']} {operands}{keywords} on {on}\n"
        f"contract {record['contract']}, codes {first} to {last}{shard}"
    )


def _largest(record: Mapping[str, Any]) -> str:
    worst, summary = record["worst"], record["summary"]
    rounded = f"correctly rounded: {percent(summary['correctly_rounded'], record['swept'])} of the inputs"
    if worst is None:
        return rounded
    return f"largest error: {error(record)} ulp at {_place(worst)}\n{rounded}"


def error(record: Mapping[str, Any]) -> str:
    """To as many decimals as are known, six at most."""
    known = record["at_most_ulp"] - record["max_error_ulp"]
    return f"{record['max_error_ulp']:.6f}" if known < 1e-6 else f"{record['max_error_ulp']:.4f}"


def _place(example: Mapping[str, Any]) -> str:
    inputs = ", ".join(f"{name} = {element_text(value)}" for name, value in example["inputs"].items())
    expected, actual = element_text(example["expected"]), element_text(example["actual"])
    return f"{inputs}\n  expected {expected}\n  actual   {actual}"


def _spread(record: Mapping[str, Any]) -> str:
    bins = record["histogram"]
    most = max((each["count"] for each in bins), default=0)
    rows = [[_range(each), f"{each['count']:,}", "#" * -(-BAR * each["count"] // most)] for each in bins]
    return tabulate(rows, headers=["error (ulp)", "inputs", ""], colalign=("left", "right", "left")) if rows else ""


def _range(each: Mapping[str, Any]) -> str:
    if each["above_ulp"] is None:
        return "0"
    return f"to {each['to_ulp']:g}"


def _tables(record: Mapping[str, Any]) -> str:
    rows = []
    for name, each in record["tables"].items():
        first = each["first"]
        where = ", ".join(element_text(value) for value in first["inputs"].values()) if first else ""
        rows.append([name, each["standing"] or "no bound", f"{each['failed']:,}", where])
    return tabulate(rows, headers=["table", "standing", "failed", "first at"], disable_numparse=True)


def _wrong(record: Mapping[str, Any]) -> str:
    return "\n".join(
        f"{name}: {each['count']:,} inputs, the first {_place(each['first'])}"
        for name, each in record["wrong_classes"].items()
    )


def _lost(record: Mapping[str, Any]) -> str:
    lines = [f"{_ended(each)}: {each['reason']}" for each in record["lost"][:SHOWN_LOST]]
    more = len(record["lost"]) - SHOWN_LOST
    return "\n".join(lines + ([f"... and {more} more ranges; sweep.json has them"] if more > 0 else []))


def _known(record: Mapping[str, Any]) -> str:
    count = record["environment"]["timings"]["answered_as_known"]
    return f"{count:,} inputs are answered byte for byte as in the sweep that is known" if count else ""


def _ended(each: Mapping[str, Any]) -> str:
    first, last = each["codes"]
    return f"{each['status']} on {each['inputs']:,} inputs, codes {first} to {last}"
