"""Two runs beside each other: what changed, and what does not count as a change."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from conform.cli import main
from conform.judging.verdict import Verdict
from conform.report import write
from conform.report.compare import Accuracy, Comparison, compared, render
from conform.report.schema import read
from tests.report.verdicts import CRASHED, FAILED, PASSED, run_of

NOW_FAILS = replace(FAILED, id=PASSED.id)
NOW_PASSES = replace(PASSED, id=FAILED.id)


def between(tmp_path: Path, before: list[Verdict], after: list[Verdict]) -> Comparison:
    return compared(*(read(directory) for directory in written(tmp_path, before, after)))


def written(tmp_path: Path, *runs: list[Verdict]) -> list[Path]:
    directories = [tmp_path / str(number) for number in range(len(runs))]
    for directory, verdicts in zip(directories, runs, strict=True):
        directory.mkdir()
        write.write(run_of(*verdicts), directory)
    return directories


def test_equal_runs_differ_in_nothing(tmp_path: Path) -> None:
    every = [PASSED, FAILED, CRASHED]
    assert between(tmp_path, every, every) == Comparison((), (), (), (), (), (), (), both=3, apart=())


def test_a_case_that_passed_and_fails_now_is_a_regression(tmp_path: Path) -> None:
    found = between(tmp_path, [PASSED, CRASHED], [NOW_FAILS, CRASHED])
    assert [(one.id, one.before, one.after) for one in found.regressions] == [
        (PASSED.id, "pass", "fail: outside the bound")
    ]


@pytest.mark.parametrize("status", ["error", "crash", "timeout", "unsupported", "fallback", "unspecified", "unjudged"])
def test_so_is_one_that_ends_in_any_other_way(tmp_path: Path, status: str) -> None:
    other = replace(PASSED, status=status, reason="so it ended")
    assert len(between(tmp_path, [PASSED], [other]).regressions) == 1


def test_what_is_waived_is_none(tmp_path: Path) -> None:
    waived = replace(PASSED, status="waived", reason="fail: known", rule="waiver at known.yaml:2")
    found = between(tmp_path, [PASSED], [waived])
    assert (found.regressions, found.changes) == ((), ())


def test_fixes_and_other_failures(tmp_path: Path) -> None:
    crashes = replace(CRASHED, status="error", reason="RuntimeError: no kernel")
    found = between(tmp_path, [FAILED, CRASHED], [NOW_PASSES, crashes])
    assert [one.id for one in found.fixes] == [FAILED.id]
    assert [(one.before, one.after) for one in found.changes] == [("crash: SIGFPE", "error: RuntimeError: no kernel")]


def test_cases_of_one_run_alone(tmp_path: Path) -> None:
    found = between(tmp_path, [PASSED, CRASHED], [CRASHED, FAILED])
    assert (found.new, found.missing, found.both) == ((FAILED.id,), (PASSED.id,), 1)


@pytest.mark.parametrize(
    ("before_ulp", "after_ulp", "worse", "better"),
    [
        (1.0, 1.09, 0, 0),  # less than a tenth
        (1.0, 1.11, 1, 0),
        (1.11, 1.0, 0, 1),
        (0.1, 0.5, 0, 0),  # both are correctly rounded
        (0.1, 0.6, 1, 0),
        (float("inf"), 1.0, 0, 0),  # no number to compare
    ],
)
def test_errors_grow_or_shrink(tmp_path: Path, before_ulp: float, after_ulp: float, worse: int, better: int) -> None:
    runs = [[replace(PASSED, max_error_ulp=error)] for error in (before_ulp, after_ulp)]
    found = between(tmp_path, *runs)
    assert (len(found.worse), len(found.better)) == (worse, better)


def test_the_largest_error_of_an_op_and_dtype_counts(tmp_path: Path) -> None:
    two = [replace(PASSED, max_error_ulp=2.0), replace(PASSED, id=f"{PASSED.id}/1", max_error_ulp=1.0)]
    swapped = [replace(two[0], max_error_ulp=1.0), replace(two[1], max_error_ulp=3.0)]
    assert between(tmp_path, two, swapped).worse == (Accuracy("aten::exp", "float32", 2.0, 3.0),)


def test_the_command_tells_all_of_it_and_fails_by_a_regression_alone(tmp_path: Path) -> None:
    before, after = written(tmp_path, [PASSED, FAILED], [NOW_FAILS, NOW_PASSES])
    told = CliRunner().invoke(main, ["compare", str(before), str(after)])
    assert told.exit_code == 1
    assert "regressions: passed before (1):\n  aten::exp: pass -> fail: outside the bound: exp_1d/" in told.output
    assert "fixed: failed before (1):" in told.output
    assert told.output.endswith(
        "2 cases in both, 0 new, 0 missing: 1 regression, 1 fix, 0 other failures, 0 larger errors, 0 smaller errors\n"
        "before: 50.00 % of 2 judged cases pass\nnow: 50.00 % of 2 judged cases pass\n"
    )
    assert CliRunner().invoke(main, ["compare", str(after), str(after)]).exit_code == 0
    assert CliRunner().invoke(main, ["compare", str(after), str(tmp_path)]).exit_code == 2


def test_many_cases_that_changed_alike_are_a_line(tmp_path: Path) -> None:
    passed = [replace(PASSED, id=f"{PASSED.id}/{number}") for number in range(30)]
    failed = [replace(NOW_FAILS, id=one.id) for one in passed]
    found = between(tmp_path, passed, failed)
    assert "contiguous/0 and 29 more" in render(found, [{"pass": 30, "judged": 30}] * 2)
