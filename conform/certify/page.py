"""What a person reads of a certificate: `certificate.html`, and the same in short on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from conform.foreign import line
from conform.judging.verdict import FAILURES
from conform.report.header import i8_held, i8_is_whole
from conform.report.html.page import filled
from conform.report.numbers import percent
from conform.report.waivers import too_much

TEMPLATE = "assets/certificate.html"
_SENTENCES = {
    "PASSED": "Every judged case of both draws passed.",
    "WARNED": "Every judged case of both draws passed, or failed as a waiver expects.",
    "FAILED": "Not everything passed: this is a record of what was found, not a claim of conformance.",
}
_A_PART = " What was run is a part of the must-pass list."
_LOOKS = {"PASSED": ("pass", "✓", "green"), "WARNED": ("open", "!", "yellow"), "FAILED": ("fail", "✗", "red")}


@dataclass(frozen=True)
class Row:
    """The cases of an operator and dtype, of both draws: how many passed of those asked, and how the others ended."""

    op: str
    dtype: str
    passed: int
    asked: int
    others: str
    look: str


def render(result: str, conform: Mapping[str, Any]) -> str:
    """The page."""
    look, sign, _ = _LOOKS[result]
    rows = _rows(conform["ops"])
    return filled(
        TEMPLATE, (), name=conform["backend"]["name"], result=result, look=look, sign=sign,
        sentence=_SENTENCES[result] + ("" if conform["must_pass"]["is_whole"] else _A_PART),
        figures=_figures(conform), levels=conform["levels"], waivers=conform["waivers"], rows=rows,
        others=[row for row in rows if row.others], facts=_facts(conform), version=conform["kit"]["version"],
        draws=[draw["name"] for draw in conform["draws"]],
    )  # fmt: skip


def _figures(conform: Mapping[str, Any]) -> dict[str, str]:
    every = list(conform["summary"].values())
    passed, judged, asked = (sum(one[name] for one in every) for name in ("pass", "judged", "asked"))
    held = sum(level["held"] for level in conform["levels"])
    return {
        "conformance": percent(passed, judged), "coverage": percent(judged, asked), "cases judged": f"{judged:,}",
        "levels held": f"{held} of {len(conform['levels'])}",
    }  # fmt: skip


def _rows(ops: Mapping[str, Mapping[str, Mapping[str, int]]]) -> list[Row]:
    return [_row(op, dtype, counts) for op, dtypes in ops.items() for dtype, counts in dtypes.items()]


def _row(op: str, dtype: str, counts: Mapping[str, int]) -> Row:
    others = {status: count for status, count in counts.items() if status != "pass"}
    look = "fail" if any(status in FAILURES for status in others) else "open" if others else ""
    told = ", ".join(f"{status} {count:,}" for status, count in others.items())
    return Row(op, dtype, counts.get("pass", 0), sum(counts.values()), told, look)


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
        "self-test of this kit": _proved(conform["selftest"]),
        "last full self-test": f"{figure['caught']:,} of {figure['plants']:,} planted defects caught, "
        f"{figure['explained']:,} explained",
        "nonce": f"{conform['nonce']} ({conform['nonce_is']})",
        "manifest": _file(conform["manifest"]) or "none: every case was asked",
        "waivers": _file(conform["waivers"]) or "none",
        "answers kept": conform["kept"],
        "Merkle root": f"{conform['merkle']['root']} over {conform['merkle']['leaves']:,} cases",
        "platform": "{platform}, {machine}, Python {python}".format(**conform["environment"]),
        "confined": conform["environment"]["jail"] or "no: the backend could read and write what its user can",
    }
    for draw in conform["draws"]:
        facts[f"draw {draw['name']}"] = f"seed {draw['seed']} ({draw['seed_is_from']}): " + _counts(
            conform["summary"][draw["name"]]
        )
    if conform["equivalence"]:
        facts["equivalence"] = "; ".join(conform["equivalence"]["pairs"])
    return facts


def _file(given: Mapping[str, Any] | None) -> str | None:
    return given and f"{given['source']}, {given['digest']}"


def _proved(selftest: Mapping[str, Any] | None) -> str:
    if selftest is None:
        return "not run: it belongs to the whole must-pass list"
    caught = f"{selftest['caught']:,} of {selftest['tried']:,} planted defects caught"
    chosen = f"{selftest['explained']:,} explained; the nonce chose them among {selftest['planted']:,}"
    held = f"I8 on {selftest['pairs']:,} pairs of op and dtype; {'; '.join(selftest['problems']) or 'it holds'}"
    return f"{caught}; {chosen}; {held}"


def _counts(summary: Mapping[str, Any]) -> str:
    waived = f", {summary['waived']:,} waived" if summary["waived"] else ""
    return (
        f"{summary['pass']:,} of {summary['judged']:,} judged cases pass, coverage "
        f"{percent(summary['judged'], summary['asked'])} of {summary['asked']:,}{waived}"
    )


def tell(result: str, conform: Mapping[str, Any], path: Path) -> None:
    """The result and the levels, on the terminal."""
    held = [level["name"] for level in conform["levels"] if level["held"]]
    part = "" if conform["must_pass"]["is_whole"] else " (of a part of the must-pass list)"
    click.echo(
        f"\n{click.style(result, fg=_LOOKS[result][2], bold=True)}{part}; levels held: {', '.join(held) or 'none'}"
    )
    for why in _whys(conform):
        click.echo(f"  {why}")
    click.echo(f"written: {path}")


def _whys(conform: Mapping[str, Any]) -> Sequence[str]:
    """Levels that are not held, and what else keeps a result down."""
    whole = conform["must_pass"]["is_whole"]
    found = [f"not {one['name']}: {line(one['why_not'])}" for one in conform["levels"] if whole and not one["held"]]
    if not i8_is_whole(conform["truth"]["i8"]):
        found.append(f"I8 {i8_held(conform['truth']['i8'])}")
    found += map(line, too_much(conform))
    return [*found, *(f"self-test: {line(one)}" for one in (conform["selftest"] or {}).get("problems", ()))]
