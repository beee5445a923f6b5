"""Records as the pages take them, from the text of run.json alone: a page made later is the page that `check` wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from conform.errors import UsageError
from conform.report.record import summarize
from conform.report.run_json import CASES, expanded
from conform.report.schema import read_dict


def of_text(run_json: str) -> dict[str, Any]:
    """The record in the text of a run.json that the kit has just made."""
    return _completed(json.loads(run_json))


def read(directory: Path) -> dict[str, Any]:
    """The record that `conform check --out directory` wrote.

    Raises UsageError, with file and place, where there is none, or where its figures are not those of its cases.
    """
    found = read_dict(directory)
    for problem in contradictions(found):
        path = directory / "run.json"
        raise UsageError(f"{path}: {problem}; it is not as conform wrote it: run `conform check` again")
    return _completed(found)


def _completed(found: Mapping[str, Any]) -> dict[str, Any]:
    return expanded({"waivers": None, **found})


def contradictions(found: Mapping[str, Any]) -> Iterator[str]:
    """What the form allows, and no run says."""
    counted = summarize([case["status"] for case in found["cases"]], len(found["cases"]) + found["not_run"])
    for name, count in counted.items():
        if name not in found["summary"] or found["summary"][name] != count:
            yield f"summary.{name}: expected {count}, as its cases are, found {found['summary'].get(name)!r}"
    names, given = found["suite"]["names"], found["environment"]["invocation"]["suites"]
    if len(names) != len(given):
        yield f"environment.invocation.suites: expected {len(names)}, as suite.names has, found {len(given)}"
    for place, case in ((f"{key}[{n}]", case) for key in CASES for n, case in enumerate(found[key])):
        if case["op"] not in found["ops"]:
            yield f"{place}.op: expected one of ops, found {case['op']!r:.60}"
        if case["reason"] is None and case["status"] != "pass":
            yield f"{place}.reason: expected a text beside the status {case['status']}, found none"
