"""`--fail-fast`: which verdicts end a run, and what it keeps."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
import torch

import conform
from conform.backends import TorchDevice

SUITE = """
tests:
- {id: a, op: aten::neg, in: [{type: tensor, shape: [3], dtype: float32}]}
- {id: b, op: aten::exp, in: [{type: tensor, shape: [3], dtype: float32}]}
- {id: c, op: aten::abs, in: [{type: tensor, shape: [3], dtype: float32}]}
"""


class Ends(TorchDevice):
    """torch, but that `exp` ends as it is told to."""

    name = "ends"

    def __init__(self, status: str) -> None:
        super().__init__("cpu")
        self.status = status

    def run(self, op: str, args: list, kwargs: dict) -> object:
        return getattr(self, self.status)(args) if op == "aten::exp" else super().run(op, args, kwargs)

    def fail(self, args: list) -> torch.Tensor:
        return args[0].exp() + 1

    def error(self, args: list) -> None:
        raise ValueError("no")

    def crash(self, args: list) -> None:
        os._exit(3)

    def timeout(self, args: list) -> None:
        time.sleep(60)

    def unsupported(self, args: list) -> None:
        raise conform.Unsupported("no")


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(SUITE)
    return "s.yaml"


@pytest.mark.parametrize("status", ["fail", "error", "crash", "timeout"])
def test_whatever_fails_ends_the_run(suite: str, status: str) -> None:
    run = conform.check(suite, backend=Ends(status), timeout_s=1.0, fail_fast=True)
    assert [(case["test"], case["status"]) for case in run.cases] == [("a", "pass"), ("b", status)]
    assert (run.summary["asked"], run.record["not_run"]) == (3, 1)


def test_what_is_not_judged_does_not(suite: str) -> None:
    run = conform.check(suite, backend=Ends("unsupported"), fail_fast=True)
    assert [case["status"] for case in run.cases] == ["pass", "unsupported", "pass"]


def test_without_it_nothing_does(suite: str) -> None:
    run = conform.check(suite, backend=Ends("fail"))
    assert [case["status"] for case in run.cases] == ["pass", "fail", "pass"]
