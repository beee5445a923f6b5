"""What is told of a run under way where there is no terminal: lines, seldom enough for a log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from conform.report.progress import Progress
from tests.report.verdicts import FAILED, PASSED


def told(capsys: pytest.CaptureFixture, seconds_a_case: float, cases: int, **options: bool) -> list[str]:
    """What a run prints of which a case takes so long, and every tenth fails."""
    now = 0.0
    progress = Progress(**{"enabled": True, "on_terminal": False, **options}, clock=lambda: now)
    with progress:
        for number in range(cases):
            now += seconds_a_case
            progress.count(replace(FAILED if number % 10 == 0 else PASSED, id=f"t{number}/x"), cases)
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


def test_a_line_every_five_percent(capsys: pytest.CaptureFixture) -> None:
    lines = told(capsys, 1.0, 1000)
    assert lines[0] == "conform: 50 of 1,000 cases, 5 not passed, 50 s"
    assert lines[-1] == "conform: 1,000 of 1,000 cases, 100 not passed, 1000 s"
    assert len(lines) == 20


def test_no_two_lines_within_ten_seconds(capsys: pytest.CaptureFixture) -> None:
    assert told(capsys, 0.001, 9_999) == []
    assert [line.rpartition(", ")[2] for line in told(capsys, 0.25, 120)] == ["10 s", "20 s", "30 s"]


def test_at_least_a_line_a_minute(capsys: pytest.CaptureFixture) -> None:
    assert told(capsys, 30.0, 1000)[:2] == [
        "conform: 2 of 1,000 cases, 1 not passed, 60 s", "conform: 4 of 1,000 cases, 1 not passed, 120 s",
    ]  # fmt: skip


def test_a_case_that_is_judged_anew_counts_once(capsys: pytest.CaptureFixture) -> None:
    now = 0.0
    progress = Progress(enabled=True, on_terminal=False, clock=lambda: now)
    progress.count(PASSED, 20)
    now = 11.0
    progress.count(replace(FAILED, id=PASSED.id), 20)
    assert capsys.readouterr().err == "conform: 1 of 20 cases, 1 not passed, 11 s\n"


def test_what_is_not_enabled_says_nothing(capsys: pytest.CaptureFixture) -> None:
    assert told(capsys, 30.0, 100, enabled=False) == []
    assert told(capsys, 30.0, 100, enabled=False, on_terminal=True) == []
