"""The limit on the kit's own time where no run is made: `explain` of a case, `repro`."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest
from click.testing import CliRunner, Result

import conform as api
from conform import time_limit
from conform.cli import main
from conform.errors import Unjudged
from conform.explain import case as explained
from conform.repro import command
from conform.running import truth

SUITE = """
tests:
- {id: t, op: aten::neg, in: [{type: tensor, shape: [2], dtype: float32}]}
"""
BACKEND = """
import conform

class Wrong(conform.Backend):
    name = "wrong"

    def run(self, op, args, kwargs):
        return args[0]
"""
CASE = "t/float32/typical/contiguous"


def endless(*_: object, **__: object) -> NoReturn:
    while True:
        try:
            sum(range(1000))
        except Exception:  # nothing that is caught so ends it
            continue


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the run of a wrong backend."""
    folder = tmp_path_factory.mktemp("limit")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("s.yaml").write_text(SUITE)
        Path("b.py").write_text(BACKEND)
        assert conform("check", "s.yaml", "--backend", "b.py::Wrong", "--out", "out").exit_code == 1
    return folder


def conform(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


@pytest.mark.one_in(6)
def test_a_large_answer_without_a_golden_is_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """72 MB, where a reply may have 64 MiB more than what is expected."""
    monkeypatch.setattr(truth, "evaluate_call", endless)
    path = tmp_path / "s.yaml"
    path.write_text(SUITE.replace("[2]", "[3000, 3001]").replace("float32", "float64"))
    run = api.check(str(path), backend="cpu", golden_timeout_s=2)
    (case,) = run.record["cases"]
    assert (case["status"], case["reason"]) == ("unjudged", "the golden took longer than 2 s")


@pytest.mark.parametrize("place", ["evaluate_call", "_output"])
def test_explain_of_a_case(checked: Path, monkeypatch: pytest.MonkeyPatch, place: str) -> None:
    monkeypatch.chdir(checked)
    words = ("explain", CASE, "--suite", "s.yaml", "--golden-timeout", "0.05")
    monkeypatch.setattr(explained, place, endless)
    ended = conform(*words)
    assert (ended.exit_code, ended.stdout) == (3, "")
    assert ended.stderr == f"conform: the golden of {CASE} took longer than 0.05 s\n"


@pytest.mark.parametrize(
    ("module", "place", "what"),
    [(truth, "evaluate_call", "the golden"), (command, "verdict_of", "the judgement")],
)
def test_repro(checked: Path, monkeypatch: pytest.MonkeyPatch, module: object, place: str, what: str) -> None:
    monkeypatch.chdir(checked)
    monkeypatch.setattr(module, place, endless)
    ended = conform("repro", CASE, "--run", "out", "--backend", "b.py::Wrong", "--golden-timeout", "0.05")
    assert (ended.exit_code, ended.stdout) == (3, "")
    assert ended.stderr == (
        f"conform: case {CASE!r} gave fail in the run, and is not judged now: {what} took longer than 0.05 s\n"
    )


@pytest.mark.parametrize("words", [("explain", CASE, "--suite", "s.yaml"), ("repro", CASE, "--run", "out")])
@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "100000"])
def test_a_limit_that_nothing_can_have(
    checked: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], seconds: str
) -> None:
    monkeypatch.chdir(checked)
    ended = conform(*words, "--golden-timeout", seconds)
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "golden timeout: expected seconds > 0 and <= 86400, got " in ended.stderr


def test_what_ends_in_time_is_returned_and_what_fails_fails() -> None:
    assert time_limit.or_unjudged("it", 5.0, lambda: 3) == 3
    with pytest.raises(ZeroDivisionError):
        time_limit.or_unjudged("it", 5.0, lambda: 1 // 0)
    with pytest.raises(Unjudged, match=r"^it took longer than 0\.05 s$"):
        time_limit.or_unjudged("it", 0.05, endless)
