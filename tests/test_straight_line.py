"""`conform.check`: what it refuses, and that a record does not depend on how a file was reached."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import conform
from conform.errors import UsageError
from conform.report import terminal
from conform.report.run_json import to_json

SUITE = """
tests:
- {id: right, op: aten::neg, in: [{type: tensor, shape: [3], dtype: float32}]}
- {id: wrong, op: aten::abs, in: [{type: tensor, shape: [3], dtype: float32}]}
"""
BACKEND = """
import conform

class Negates(conform.Backend):
    name = "negates"

    def run(self, op, args, kwargs):
        return -args[0]
"""


@pytest.mark.parametrize("timeout_s", [0, -1, math.nan, math.inf, 1e10, "3", None, True])
def test_a_timeout_that_no_call_can_have_is_refused(timeout_s: object) -> None:
    with pytest.raises(UsageError, match="timeout: expected seconds > 0 and <= 86400, got "):
        conform.check("smoke", backend="self", timeout_s=timeout_s)


@pytest.mark.parametrize("suites", [5, [], [None], {"smoke": 1}])
def test_what_is_no_suite_is_told(suites: object) -> None:
    with pytest.raises(UsageError, match="expected names of suites, a torch module or a function of torch"):
        conform.check(suites, backend="cpu")


@pytest.mark.parametrize("workers", [0, -3, 1.5, "2", True])
def test_workers_are_one_or_more(workers: object) -> None:
    with pytest.raises(UsageError, match="workers: expected an integer >= 1, or None, got "):
        conform.check("smoke", backend="self", workers=workers)


@pytest.mark.parametrize("threads", [0, -3, 1.5, "2", True, None, 10**6])
def test_threads_are_a_number_that_can_be_started(threads: object) -> None:
    with pytest.raises(UsageError, match="threads: expected an integer from 1 to 4096, got "):
        conform.check("smoke", backend="self", threads=threads)


def test_a_selection_is_checked_before_anything_runs() -> None:
    with pytest.raises(UsageError, match="values: unknown choice 'bogus'"):
        conform.check("smoke", backend="no backend", values="bogus")


def test_a_record_is_the_same_from_wherever_the_file_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "sub"
    folder.mkdir()
    (folder / "s.yaml").write_text(SUITE)
    (folder / "mine.py").write_text(BACKEND)
    monkeypatch.chdir(tmp_path)
    outside = conform.check("sub/s.yaml", backend="sub/mine.py::Negates")
    monkeypatch.chdir(folder)
    inside = conform.check("s.yaml", backend="mine.py::Negates")
    assert outside.record["suite"]["names"] == ["s.yaml"]
    assert [case["location"] for case in outside.cases] == ["s.yaml:3", "s.yaml:4"]
    assert [case["status"] for case in outside.cases] == ["pass", "fail"]
    told = terminal.render(outside.record, None, None)
    assert "(sub/s.yaml:4)" in told
    assert "repeat    conform check sub/s.yaml --backend sub/mine.py::Negates --id" in told
    assert _text(outside.record) == _text(inside.record)


def _text(record: dict) -> str:
    return to_json({**record, "environment": {}})
