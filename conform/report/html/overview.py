"""What a page says of runs as wholes: figures with a column a run, and lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conform.foreign import escaped, line
from conform.judging.verdict import ACCURACY, CHECKS, FAILURES, LAYOUT, REFUSAL, SPECIAL, STATUSES
from conform.report import checks, findings, header
from conform.report.numbers import percent
from conform.report.record import CONFORMANT, NOT_CONFORMANT, word
from conform.report.tally import table_counts, vacuous
from conform.report.terminal import admitted_lines, trust_line, warnings, why_partial

SHOWN = 100  # entries of a list: run.json has them all
NOTHING = "-"
SIGNS = {CONFORMANT: "✓", NOT_CONFORMANT: "✗"}  # beside the word, for whom colours say nothing
LOOKS = {CONFORMANT: "pass", NOT_CONFORMANT: "fail"}

QUESTIONS = (ACCURACY, SPECIAL, LAYOUT, REFUSAL)  # of the checks; the others are invariants

Facts = dict[str, str]  # label -> figure


@dataclass(frozen=True)
class Section:
    """A table: of each label what every run says; `note` tells how it is read."""

    title: str
    note: str
    rows: list[tuple[str, list[str]]]


@dataclass(frozen=True)
class Head:
    """A run in a few words. `name` tells it from the others of the page."""

    name: str
    verdict: str
    sign: str
    look: str
    conformance: str
    judged: str
    coverage: str
    asked: str
    lines: list[str]
    notes: list[str]


def letters(runs: int) -> list[str]:
    """`A`, `B`, ... `AA`: what tells the runs of a page apart."""
    found = []
    for number in range(1, runs + 1):
        letter = ""
        while number:
            number, rest = divmod(number - 1, 26)
            letter = chr(ord("A") + rest) + letter
        found.append(letter)
    return found


def names(records: Sequence[Mapping]) -> list[str]:
    """`cpu 2.13.0`, with a letter in front where there are several."""
    backends = [
        " ".join(said for said in (header.backend_name(record), record["backend"].get("version")) if said)
        for record in records
    ]
    if len(records) == 1:
        return backends
    return [f"{letter}: {backend}" for letter, backend in zip(letters(len(records)), backends, strict=True)]


def head(record: Mapping, name: str) -> Head:
    """The verdict, the two figures, and what was run on what."""
    summary, said = record["summary"], word(record)
    return Head(
        name, said, SIGNS.get(said, "?"), LOOKS.get(said, "open"),
        conformance=percent(summary["pass"], summary["judged"]),
        judged=f"{summary['pass']:,} of {summary['judged']:,} judged cases pass",
        coverage=percent(summary["judged"], summary["asked"]),
        asked=f"{summary['judged']:,} of {summary['asked']:,} cases asked are judged",
        lines=header.lines(record),
        notes=[*why_partial(record), *warnings(record), *admitted_lines(record["cases"]), trust_line(record)],
    )  # fmt: skip


# --- Figures ----------------------------------------------------------------------------------------------------------

NOTES = {
    "Result": "Conformance is pass of judged, coverage judged of asked: never one number.",
    "Checks and invariants": (
        "A question is what a case asks of a result. An invariant holds whatever is asked: the right dtypes and "
        "shapes, no input changed, no memory shared, equal answers to equal calls. Passed of judged in each."
    ),
    "Contract tables": "Whether results would pass the bounds of each shipped table, and which table is the tightest.",
    "Self-test of the kit": "How many of the defects planted on purpose its cases catch (conform selftest --full).",
    "Run": "What was asked of which backend.",
    "Environment": "Where it ran, and what decides a backend's results besides its name.",
}


def sections(records: Sequence[Mapping]) -> list[Section]:
    """The tables of a page; a row that no run fills is left out."""
    of_runs = [facts(record) for record in records]
    return [Section(title, note, _rows([told[title] for told in of_runs])) for title, note in NOTES.items()]


def _rows(of_runs: Sequence[Facts]) -> list[tuple[str, list[str]]]:
    labels = dict.fromkeys(label for told in of_runs for label in told)
    rows = [(label, [told.get(label, NOTHING) for told in of_runs]) for label in labels]
    return [(label, values) for label, values in rows if set(values) != {NOTHING}]


def facts(record: Mapping) -> dict[str, Facts]:
    """By the title of a section, what a run says in it."""
    return {
        "Result": _result(record), "Checks and invariants": _checks(record), "Contract tables": _tables(record),
        "Self-test of the kit": _selftest(record), "Run": _run(record), "Environment": _environment(record),
    }  # fmt: skip


def _result(record: Mapping) -> Facts:
    summary, cases = record["summary"], record["cases"]
    elements = {count: sum(case[count] for case in cases) for count in ("compared", "open", "vacuous")}
    return {
        "verdict": word(record),
        "conformance": percent(summary["pass"], summary["judged"]),
        "coverage": percent(summary["judged"], summary["asked"]),
        "cases asked": f"{summary['asked']:,}",
        "cases judged": f"{summary['judged']:,}",
        **{status: f"{summary[status]:,}" if summary[status] else NOTHING for status in STATUSES},
        "not run": f"{record['not_run']:,}" if record["not_run"] else NOTHING,
        "elements compared": f"{elements['compared']:,}",
        "elements left open": f"{elements['open']:,}",
        "elements vacuous": f"{elements['vacuous']:,}",
    }


def _checks(record: Mapping) -> Facts:
    counts = {one["check"]: one for one in record["checks"]["counts"]}
    return {
        f"{check} ({'question' if check in QUESTIONS else 'invariant'})": _passed(counts.get(check))
        if check in record["checks"]["selected"]
        else "does not count"
        for check in CHECKS
    }


def _passed(count: Mapping | None) -> str:
    """`18 of 21 (85.71 %)`."""
    if count is None:
        return NOTHING
    return f"{count['passed']:,} of {count['judged']:,} ({percent(count['passed'], count['judged'])})"


def _tables(record: Mapping) -> Facts:
    return {
        one.table: f"{percent(one.passed, one.judged)} ({one.passed:,} of {one.judged:,}), tightest of {one.tightest:,}"
        for one in table_counts(record["cases"])
    }


def _selftest(record: Mapping) -> Facts:
    figure = record["kit"]["selftest"]
    return {
        "kill rate": percent(figure["caught"], figure["plants"]),
        "defects planted": f"{figure['plants']:,}",
        "caught": f"{figure['caught']:,}",
        "survive, with a reason": f"{figure['explained']:,}",
    }


def _run(record: Mapping) -> Facts:
    kit, backend, invocation = record["kit"], record["backend"], record["environment"]["invocation"]
    return {
        **{f"backend {key.replace('_', ' ')}": _told(value) for key, value in backend.items()},
        "suite": " ".join(record["suite"]["names"]),
        "suite digest": record["suite"]["digest"],
        "contract": record["contract"],
        "seed": str(record["seed"]),
        "shard": _told(record["shard"]),
        "ended early": _told(record["stopped"]),
        "kit": f"conform {kit['version']}",
        "kit digest": _told(kit.get("digest")),
        "confined by": record["environment"]["jail"] or "nothing",
        **{f"asked: {key}": _told(value) for key, value in invocation.items()},
        "waivers": _told((record["waivers"] or {}).get("source")),
    }


def _environment(record: Mapping) -> Facts:
    environment, timings = record["environment"], record["environment"]["timings"]
    return {
        **{key: environment[key] for key in ("python", "platform", "machine")},
        **{f"package {name}": _told(version) for name, version in environment["packages"].items()},
        **{name.replace("_", " "): _told(value) for name, value in environment["numerics"].items()},
        "seconds": f"{timings['seconds']:.1f}",
        "cases per second": f"{timings['cases_per_second']:.1f}",
    }


def _told(value: object) -> str:
    """A value of a record in words: nothing is a dash."""
    if value is None or value in ("", []):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    return escaped(", ".join(map(str, value)) if isinstance(value, list) else str(value))


# --- Lists ------------------------------------------------------------------------------------------------------------


def causes(record: Mapping) -> list[tuple[str, str]]:
    """(op, sentence of which it is the subject): what failures have in common."""
    return [(one["op"], findings.predicate(one)) for one in record["findings"]]


def wide(record: Mapping) -> list[tuple[str, str]]:
    """(op, sentence): the ops of which elements are vacuous, the largest share first."""
    return [
        (row.op, f"{row.share}: {row.elements:,} elements, {row.compared:,} compared; most in {line(row.example)}")
        for row in vacuous(record["cases"])
    ]


def apart(record: Mapping) -> tuple[list[str], list[tuple[str, str]]]:
    """Of the cases that do not count: in how many words what failed, and (op, sentence) of each that did."""
    failed = [case for case in record["not_counted"] if case["status"] in FAILURES]
    told = [one for one in checks.lines(record) if "not counted" in one]
    return told, [(case["op"], f"{line(case['id'])}: {case['status']}: {line(case['reason'])}") for case in failed]
