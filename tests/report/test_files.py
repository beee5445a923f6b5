"""run.json, junit.xml, report.md and report.html as they lie in the directory of --out."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from conform.errors import UsageError
from conform.report import junit, markdown, write
from tests.report.verdicts import CRASHED, FAILED, PASSED, UNSPECIFIED, run_of


def test_junit_tells_failures_errors_and_skips_apart() -> None:
    root = ElementTree.fromstring(junit.render(run_of(PASSED, FAILED, CRASHED, UNSPECIFIED).record))
    counts = {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "1"}
    suites = [(suite.get("package"), suite.get("name"), suite.get("time")) for suite in root]
    assert suites == [("functions", "aten::exp", "0.750000"), ("elementwise", "aten::div.Tensor_mode", None)]
    assert [case.get("time") for case in root.iter("testcase")] == ["0.500000", "0.250000", "0.000000", "0.000000"]
    assert root.get("time") == "0.750000"
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "fail: outside the bound"
    assert "expected  1.105171 = 0x1.1aec7cp+0" in (failure.text or "")
    assert root.find(".//error").get("type") == "crash"
    assert root.find(".//skipped").get("message") == "unspecified: integer division by zero"


def test_reports_survive_any_message_of_a_backend() -> None:
    hostile = run_of(replace(CRASHED, reason="<b>&\x00\x1b[31m\ud800\n\t\U0001f600"))
    root = ElementTree.fromstring(junit.render(hostile.record))
    assert root.find(".//error").get("message") == r"crash: <b>&\x00\x1b[31m\ud800 " + "\U0001f600"


def test_markdown_holds_every_failure_and_all_that_was_not_judged() -> None:
    text = markdown.render(run_of(PASSED, FAILED, CRASHED, UNSPECIFIED).record)
    assert text.startswith("# conform: not conformant\n")
    assert "| functions   | `aten::exp`             | 3x8       |             | FAIL 1/2, 7.25 / 3 |" in text
    assert "### crash `aten::div.Tensor_mode` int64: `SIGFPE` (1 of 1)" in text
    assert "| 1       | unspecified | P11    | `integer division by zero` | `aten::div.Tensor_mode` |" in text


def test_a_bar_in_a_reason_does_not_break_a_table() -> None:
    text = markdown.render(run_of(replace(UNSPECIFIED, reason="a|b")).record)
    assert "| `a\\|b` " in text


def test_the_four_files_replace_older_ones_whole(tmp_path: Path) -> None:
    directory = write.prepare(tmp_path / "deep" / "out")
    (directory / "run.json").write_text("old")
    paths = write.write(run_of(PASSED), directory)
    assert sorted(path.name for path in directory.iterdir()) == ["junit.xml", "report.html", "report.md", "run.json"]
    assert json.loads(paths[0].read_text(encoding="utf-8"))["summary"]["pass"] == 1


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run.json").write_text("old")

    def full(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(UsageError, match=r"run\.json cannot be written: no space left"):
        write.write(run_of(PASSED), tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("run.json", "old")]


def test_a_directory_that_cannot_be_made_is_the_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match=r"--out .*file/out: cannot write there: Not a directory"):
        write.prepare(tmp_path / "file" / "out")


def test_a_directory_in_the_place_of_a_file_is_found_before_the_run(tmp_path: Path) -> None:
    (tmp_path / "junit.xml").mkdir()
    with pytest.raises(UsageError, match=r"--out .*: junit\.xml there is a directory"):
        write.prepare(tmp_path)
