"""A folder of pages: one of each run, and a table of all of them, of those beside each other that compare."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conform.foreign import line
from conform.judging.verdict import FAILURES
from conform.report import checks, header
from conform.report.html import overview, page
from conform.report.numbers import percent
from conform.report.record import CONFORMANT, word
from conform.report.run_json import CASES

INDEX = "index.html"
HEADS = ("backend", "verdict", "conformance", "coverage", "passed", "not passed", "confined")
LONGEST_NAME = 60  # characters of a file's name


@dataclass(frozen=True)
class Figure:
    """A cell: what it says, by what it is sorted, and whether something failed there."""

    text: str
    order: float
    failed: bool = False


@dataclass(frozen=True)
class Row:
    """A run of a league, and the file with its page."""

    page: str
    name: str
    about: list[str]
    verdict: str
    look: str
    figures: list[Figure]


@dataclass(frozen=True)
class League:
    """Runs of the same cases, contract and seed."""

    title: str
    digest: str
    heads: list[str]
    rows: list[Row]


def render(records: Sequence[Mapping]) -> dict[str, str]:
    """The texts of the files by their names: the table, and each run's page."""
    names = file_names(records)
    leagues: dict[tuple, list[tuple[str, Mapping]]] = {}
    for name, record in zip(names, records, strict=True):
        leagues.setdefault(_comparable(record), []).append((name, record))
    index = page.filled("assets/site.html", ["assets/league.js"], leagues=[_league(runs) for runs in leagues.values()])
    return {INDEX: index, **{name: page.render([record]) for name, record in zip(names, records, strict=True)}}


def file_names(records: Sequence[Mapping]) -> list[str]:
    """`cpu-2.13.0-cpu.html`, and `_2` behind the second of its name: of letters that every file system takes."""
    seen: Counter[str] = Counter()
    found = []
    for record in records:
        told = overview.names([record])[0]
        plain = re.sub(r"[^a-z0-9.]+", "-", told.lower()).strip("-.")[:LONGEST_NAME].strip("-.") or "run"
        seen[plain] += 1
        found.append(f"{plain}.html" if seen[plain] == 1 else f"{plain}_{seen[plain]}.html")  # no name holds a _
    return found


def _comparable(record: Mapping) -> tuple:
    """What two runs must have in common to stand in one table: what was asked, and by what it was judged. Of one that
    ended early that is what ran."""
    ids = sorted(case["id"] for key in CASES for case in record[key])
    suite = record["suite"]
    return (*suite["names"], suite["digest"], record["contract"], record["seed"], "\n".join(ids))


def _league(runs: Sequence[tuple[str, Mapping]]) -> League:
    first = runs[0][1]
    families = list(dict.fromkeys(one["family"] for _, record in runs for one in record["ops"].values()))
    cases = sum(len(first[key]) for key in CASES)
    suite = " ".join(first["suite"]["names"])
    title = (
        f"Suite {suite}, {cases:,} case{'s' if cases > 1 else ''}, contract {first['contract']}, seed {first['seed']}"
    )
    ranked = sorted(runs, key=lambda run: _rank(run[1]))
    rows = [_row(name, record, families) for name, record in ranked]
    return League(line(title), first["suite"]["digest"], [*HEADS, *map(line, families)], rows)


def _rank(record: Mapping) -> tuple:
    summary = record["summary"]
    return (word(record) != CONFORMANT, -(summary["conformance"] or 0.0), -(summary["coverage"] or 0.0))


def _row(name: str, record: Mapping, families: Sequence[str]) -> Row:
    head, summary = overview.head(record, overview.names([record])[0]), record["summary"]
    failed = summary["judged"] - summary["pass"]
    figures = [
        Figure(head.conformance, summary["conformance"] or 0.0),
        Figure(head.coverage, summary["coverage"] or 0.0),
        Figure(f"{summary['pass']:,}", summary["pass"]),
        Figure(f"{failed:,}", failed, failed > 0),
        Figure(record["environment"]["jail"] or "no", float(record["environment"]["jail"] is not None)),
        *_of_families(record, families),
    ]
    about = [line(told) for told in (*header.lines(record)[1:], *checks.selected(record))]
    return Row(name, line(head.name), about, f"{head.sign} {head.verdict}", head.look, figures)


def _of_families(record: Mapping, families: Sequence[str]) -> list[Figure]:
    """Passed of judged cases of each family; a dash where none was judged."""
    passed: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    for case in record["cases"]:
        family = record["ops"][case["op"]]["family"]
        passed[family] += case["status"] == "pass"
        failed[family] += case["status"] in FAILURES
    return [_of_family(passed[family], passed[family] + failed[family]) for family in families]


def _of_family(passed: int, judged: int) -> Figure:
    if not judged:
        return Figure("–", -1.0)
    sign = "✗ " if passed < judged else ""
    return Figure(f"{sign}{percent(passed, judged)}", passed / judged, passed < judged)
