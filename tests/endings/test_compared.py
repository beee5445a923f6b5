"""Conformant means compared: who refuses, or does a small part, is not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import conform
from conform import straight_line
from conform.backends.call import Call
from conform.backends.reply import Output, Reply
from conform.errors import UsageError
from conform.report import terminal
from conform.report.record import Run
from tests.endings.fake import Fake, right
from tests.tiny import negatives


def refuses(kind: str) -> Callable[[int, Call], Reply]:
    return lambda *_: Reply("unsupported", f"Could not run 'aten::{kind}' with arguments from the 'y' backend")


def checked(monkeypatch: pytest.MonkeyPatch, reply: Callable[[int, Call], Reply], *suites: str, **options: Any) -> Run:
    monkeypatch.setattr(straight_line, "BackendProcess", Fake(reply))
    return conform.check(suites, backend="fake", ops=["aten::neg"], **options)


def test_who_refuses_everything_is_not_conformant(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = checked(monkeypatch, refuses("x"), "core", "negative")
    assert (ended.summary["judged"], ended.exit_code) == (0, 3)
    assert "refusal not credited" in {case["rule"] for case in ended.cases}


def test_who_supports_empty_tensors_alone_has_compared_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def reply(_: int, call: Call) -> Reply:
        placed = call.args[0]
        if 0 not in placed.shape:
            return Reply("unsupported", "only empty tensors", declared=True)
        empty = np.zeros(placed.shape, getattr(placed, "storage", placed).dtype)
        return Reply("ok", result=Output(empty, ()))

    ended = checked(monkeypatch, reply, "core")
    assert ended.summary["pass"] == ended.summary["judged"] > 0
    assert ended.exit_code == 3
    assert "nothing compared" in terminal.summary_lines(ended.record)


def floats_alone(_: int, call: Call) -> Reply:
    return Reply("unsupported", "no") if call.args[0].dtype != np.float32 else right(call)


@pytest.mark.parametrize(
    ("least", "exit_code", "said"), [(0.5, 1, "partial"), (0.0, 0, "conformant"), (0.25, 0, "conformant")]
)
def test_who_does_a_small_part_is_partial(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, least: float, exit_code: int, said: str
) -> None:
    (tmp_path / "suite.yaml").write_text(negatives("one", two="float16", three="float64", four="int64"))
    monkeypatch.setattr(straight_line, "BackendProcess", Fake(floats_alone))
    ended = conform.check(str(tmp_path / "suite.yaml"), backend="fake", min_coverage=least)
    assert (ended.exit_code, ended.summary["coverage"]) == (exit_code, 0.25)
    assert said in terminal.summary_lines(ended.record)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan"), "1", None])
def test_a_coverage_that_cannot_be_is_refused(fraction: object) -> None:
    with pytest.raises(UsageError, match="min_coverage: expected a fraction from 0 to 1, got "):
        conform.check("smoke", backend="self", min_coverage=fraction)
