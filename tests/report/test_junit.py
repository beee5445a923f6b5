"""junit.xml by status: what continuous integration counts and shows of every end that a case can have."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest

from conform.judging.verdict import STATUSES
from conform.report import junit
from tests.report.verdicts import PASSED, run_of

TAGS = {
    "pass": None, "fail": "failure", "error": "error", "crash": "error", "timeout": "error",
    "unsupported": "skipped", "fallback": "skipped", "unspecified": "skipped",
    "unjudged": "skipped", "waived": "skipped",
}  # fmt: skip
COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}


def ended(status: str, number: int = 0) -> object:
    reason = None if status == "pass" else f"because of {status}"
    return replace(PASSED, id=f"exp_1d/float32/typical/contiguous/{number}", status=status, reason=reason)


def counts(element: ElementTree.Element) -> dict[str, int]:
    return {name: int(element.get(name)) for name in ("tests", "failures", "errors", "skipped")}


def test_the_table_has_every_status() -> None:
    assert set(TAGS) == set(STATUSES)


@pytest.mark.parametrize("status", STATUSES)
def test_one_case_of_each_status(status: str) -> None:
    root = ElementTree.fromstring(junit.render(run_of(ended(status)).record))
    expected = {"tests": 1, "failures": 0, "errors": 0, "skipped": 0}
    if TAGS[status]:
        expected[COUNTED[TAGS[status]]] = 1
    assert counts(root) == counts(root.find("testsuite")) == expected
    (case,) = root.iter("testcase")
    assert [child.tag for child in case] == ([TAGS[status]] if TAGS[status] else [])
    if TAGS[status]:
        assert case[0].get("message") == f"{status}: because of {status}"
    assert case.get("name") == "exp_1d/float32/typical/contiguous/0"


def test_statuses_add_up() -> None:
    verdicts = [ended(status, number) for number, status in enumerate([*STATUSES, "timeout", "fail", "timeout"])]
    root = ElementTree.fromstring(junit.render(run_of(*verdicts).record))
    assert counts(root) == {"tests": 13, "failures": 2, "errors": 5, "skipped": 5}
