"""What a person reads of a certificate: `certificate.md`, and the same in short on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from conform.foreign import cell, code, line
from conform.report.header import i8_held, i8_is_whole
from conform.report.numbers import percent

_TEMPLATE = """# Certificate of {backend}: {result}

{sentence}

| | |
|---|---|
{facts}

## Levels

| level | held | what it says | cases | why not |
|---|---|---|---|---|
{levels}

## Operators

| operator | dtype | passed of asked | others |
|---|---|---|---|
{ops}

Check it with `conform verify`, which needs nothing but this folder and the kit of the version above.
"""
_SENTENCES = {
    "PASSED": "Every judged case of both draws passed.",
    "WARNED": "Every judged case of both draws passed, or failed as a waiver expects; the waivers are below.",
    "FAILED": "Not every case passed: this is a record of what was found, not a claim of conformance.",
}


def render(result: str, conform: Mapping[str, Any]) -> str:
    """The page."""
    return _TEMPLATE.format(
        backend=code(line(conform["backend"]["name"])), result=result, sentence=_SENTENCES[result],
        facts="\n".join(f"| {name} | {cell(line(told, 400))} |" for name, told in _facts(conform).items()),
        levels="\n".join(map(_level_row, conform["levels"])), ops="\n".join(_op_rows(conform["ops"])),
    ) + _waivers(conform["waivers"])  # fmt: skip


def _facts(conform: Mapping[str, Any]) -> dict[str, str]:
    kit, truth, figure = conform["kit"], conform["truth"], conform["kit"]["selftest"]
    facts = {
        "date": conform["date"],
        "backend": f"{conform['backend']['name']} {conform['backend'].get('version') or ''}",
        "backend's digest": conform["backend"].get("digest") or "none: it is no file",
        "kit": f"conform {kit['version']}, {kit['digest']}",
        "must-pass list": f"{' '.join(conform['must_pass']['suites'])}, sha256:{conform['must_pass']['digest']}"
        + ("" if conform["must_pass"]["is_whole"] else "; A PART OF IT"),
        "contract": conform["must_pass"]["contract"],
        "I8 (interpreter against references)": i8_held(truth["i8"]),
        "self-test": f"{figure['caught']:,} of {figure['plants']:,} planted defects caught, "
        f"{figure['explained']:,} explained",
        "nonce": f"{conform['nonce']} ({conform['nonce_is']})",
        "manifest": conform["manifest"]["source"] if conform["manifest"] else "none: every case was asked",
        "answers kept": conform["kept"],
        "Merkle root": f"{conform['merkle']['root']} over {conform['merkle']['leaves']:,} cases",
    }
    for draw in conform["draws"]:
        facts[f"draw {draw['name']}"] = f"seed {draw['seed']} ({draw['seed_is_from']}): " + _counts(
            conform["summary"][draw["name"]]
        )
    if conform["equivalence"]:
        facts["equivalence"] = "; ".join(conform["equivalence"]["pairs"])
    return facts


def _counts(summary: Mapping[str, Any]) -> str:
    waived = f", {summary['waived']:,} waived" if summary["waived"] else ""
    return (
        f"{summary['pass']:,} of {summary['judged']:,} judged cases pass, coverage "
        f"{percent(summary['judged'], summary['asked'])} of {summary['asked']:,}{waived}"
    )


def _level_row(level: Mapping[str, Any]) -> str:
    open_ = f" ({level['not_judged']:,} open or not judged)" if level["not_judged"] else ""
    why = cell(line(level["why_not"])) if level["why_not"] else ""
    held = "**held**" if level["held"] else "no"
    return f"| {level['name']} | {held} | {level['says']} | {level['cases']:,}{open_} | {why} |"


def _op_rows(ops: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[str]:
    return [
        f"| {cell(line(op))} | {cell(line(dtype))} | {counts.get('pass', 0)} of {sum(counts.values())} | "
        f"{', '.join(f'{status} {count}' for status, count in counts.items() if status != 'pass')} |"
        for op, dtypes in ops.items()
        for dtype, counts in dtypes.items()
    ]


def _waivers(waivers: Mapping[str, Any] | None) -> str:
    if not waivers:
        return ""
    rows = "\n".join(
        f"| {cell(line(' '.join(one.get('op') or one.get('id') or [])))} | {cell(line(one['reason'], 400))} | "
        f"{one.get('until') or ''} |"
        for one in waivers["entries"]
    )
    return f"\n## Waivers of {cell(line(waivers['source']))}\n\n| cases | reason | until |\n|---|---|---|\n{rows}\n"


def tell(result: str, conform: Mapping[str, Any], path: Path) -> None:
    """The result and the levels, on the terminal."""
    held = [level["name"] for level in conform["levels"] if level["held"]]
    colour = {"PASSED": "green", "WARNED": "yellow"}.get(result, "red")
    part = "" if conform["must_pass"]["is_whole"] else " (of a part of the must-pass list)"
    click.echo(f"\n{click.style(result, fg=colour, bold=True)}{part}; levels held: {', '.join(held) or 'none'}")
    for level in conform["levels"] if conform["must_pass"]["is_whole"] else ():
        if not level["held"]:
            click.echo(f"  not {level['name']}: {line(level['why_not'])}")
    if not i8_is_whole(conform["truth"]["i8"]):
        click.echo(f"  I8 {i8_held(conform['truth']['i8'])}")
    click.echo(f"written: {path}")
