"""Whatever ends a run or a case, nothing that was found is lost: the record is written, and says how it ended."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import conform
from conform import straight_line, time_limit
from conform.backends.base import BackendUnavailable
from conform.backends.call import Call
from conform.backends.reply import Output, Reply
from conform.contracts.tables import contract_table
from conform.errors import UsageError
from conform.judging.verdict import KIT_DEFECT, Verdict
from conform.report import terminal
from conform.report.header import variant
from conform.report.record import Interrupted, Run, Stopped
from conform.running import verdicts
from conform.suites import load
from conform.suites.cases import Selection, select

ROOT = Path(__file__).parents[1]
SUITE = """
tests:
- {id: a, op: aten::neg, in: [{type: tensor, shape: [3], dtype: float32}]}
- {id: b, op: aten::neg, in: [{type: tensor, shape: [3], dtype: float32}]}
- {id: c, op: aten::neg, in: [{type: tensor, shape: [3], dtype: float32}]}
- {id: d, op: aten::neg, in: [{type: tensor, shape: [3], dtype: float32}]}
"""


class Fake:
    """In the place of a BackendProcess: replies from a function of the call's number, which may raise."""

    def __init__(self, reply: Callable[[int, Call], Reply]) -> None:
        self.reply, self.calls = reply, deque()
        self.number = 0
        self.at_the_end: Reply | None = None
        self.left_running: list[str] = []

    def __call__(self, name: str, timeout_s: float, jail: None, imports: tuple[str, ...]) -> Fake:
        return self

    def __enter__(self) -> Fake:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def describe(self) -> dict[str, Any]:
        return {"name": "fake", "device": "cpu", "exports": False, "numerics": {}}

    def submit(self, call: Call) -> None:
        self.calls.append(call)

    def settle(self) -> Reply | None:
        return self.at_the_end

    def receive(self, most: object = None) -> Reply:
        self.number += 1
        return self.reply(self.number, self.calls.popleft())


def right(call: Call) -> Reply:
    return Reply("ok", result=Output(-call.args[0], (1,)))


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Runs SUITE on a Fake; gives the run also where something ended it."""

    def on(reply: Callable[[int, Call], Reply] = lambda _, call: right(call), **options: Any) -> Run:
        (tmp_path / "suite.yaml").write_text(SUITE)
        monkeypatch.setattr(straight_line, "BackendProcess", Fake(reply))
        return conform.check(str(tmp_path / "suite.yaml"), backend="fake", **options)

    return on


def statuses(run: Run) -> list[str]:
    return [case["status"] for case in run.cases]


# --- What ends a run --------------------------------------------------------------------------------------------------


def third(error: BaseException) -> Callable[[int, Call], Reply]:
    """Right answers, and in the place of the third an exception."""

    def reply(number: int, call: Call) -> Reply:
        if number == 3:
            raise error
        return right(call)

    return reply


@pytest.mark.parametrize(
    ("error", "exit_code", "told"),
    [
        (BackendUnavailable("the device is gone"), 1, "the device is gone"),
        (UsageError("the file changed"), 2, "the file changed"),
        (OSError(24, "Too many open files"), 2, "Too many open files: more is needed to run a backend beside the kit"),
        (RuntimeError("what nobody thought of"), 70, "defect of the kit, please report it: RuntimeError in reply"),
    ],
)
def test_what_ends_a_run_keeps_the_cases_before(
    run: Callable[..., Run], error: Exception, exit_code: int, told: str
) -> None:
    with pytest.raises(Stopped) as caught:
        run(third(error))
    ended = caught.value
    assert (ended.exit_code, ended.run.record["not_run"], statuses(ended.run)) == (exit_code, 2, ["pass", "pass"])
    assert str(ended).startswith(told)
    assert ended.run.record["stopped"].startswith(told)
    assert terminal.summary_lines(ended.run.record).splitlines()[0].startswith("\x1b[33m\x1b[1mpartial")


def test_ctrl_c_keeps_the_cases_before(run: Callable[..., Run]) -> None:
    with pytest.raises(Interrupted) as caught:
        run(third(KeyboardInterrupt()))
    assert (caught.value.run.record["not_run"], statuses(caught.value.run)) == (2, ["pass", "pass"])


def test_nothing_judged_before_the_backend_is_gone(run: Callable[..., Run]) -> None:
    def gone(number: int, call: Call) -> Reply:
        raise BackendUnavailable("gone")

    with pytest.raises(Stopped) as caught:
        run(gone)
    assert (caught.value.exit_code, caught.value.run.record["not_run"]) == (3, 4)


# --- What fails in a case ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["verdict_of", "exported", "bound_call", "too_large"])
def test_what_fails_in_the_kit_is_its_defect_in_that_case(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    honest, calls = getattr(verdicts, place), []

    def failing(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise ZeroDivisionError("in the midst")
        return honest(*args, **kwargs)

    monkeypatch.setattr(verdicts, place, failing)
    monkeypatch.setattr(Fake, "describe", lambda _: {"name": "fake", "device": "cpu", "exports": True, "numerics": {}})
    ended = run()
    assert statuses(ended) == ["pass", "unjudged", "pass", "pass"]
    assert ended.cases[1]["rule"] == KIT_DEFECT
    assert "ZeroDivisionError" in ended.cases[1]["reason"]
    assert (ended.exit_code, ended.record["not_run"]) == (70, 0)


def test_too_little_memory_for_a_golden_is_no_defect(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    def exhausted(call: object) -> None:
        raise MemoryError

    monkeypatch.setattr(verdicts, "evaluate_call", exhausted)
    ended = run()
    assert {case["reason"] for case in ended.cases} == {"there is not enough memory for it"}
    assert ended.exit_code == 3


# --- Deadlines of the kit's own ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("place", "what"), [("evaluate_call", "the golden"), ("verdict_of", "the judgement")])
def test_what_takes_too_long_is_unjudged(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, place: str, what: str
) -> None:
    def endless(*_: object, **__: object) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:  # nothing that is caught so ends it
                continue

    monkeypatch.setattr(verdicts, place, endless)
    ended = run(golden_timeout_s=0.05)
    assert {(case["status"], case["reason"]) for case in ended.cases} == {
        ("unjudged", f"{what} took longer than 0.05 s")
    }
    assert ended.exit_code == 3


def test_a_norm_of_degree_two_million_ends_in_time() -> None:
    from conform.call.bound import bound_call

    call = bound_call("aten::linalg_vector_norm", [np.linspace(1, 2, 100_000), 2_097_152.5], {})
    started_s = time.monotonic()
    outcome = verdicts.evaluated(call, 0.5)
    assert time.monotonic() - started_s < 10
    assert not isinstance(outcome, conform.errors.KitDefect)


def test_what_an_interrupted_golden_changed_is_put_back() -> None:
    import mpmath

    def changing() -> None:
        mpmath.mp.prec = 1000
        np.seterr(all="raise")
        while True:
            pass

    settings, precision = np.geterr(), mpmath.mp.prec
    with pytest.raises(time_limit.TookTooLong):
        time_limit.limited(0.05, changing)
    assert (np.geterr(), mpmath.mp.prec) == (settings, precision)


def test_an_alarm_of_the_caller_goes_off_all_the_same() -> None:
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        assert time_limit.limited(5.0, lambda: 3) == 3
        assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 0.2
        time.sleep(0.3)
        assert rung == [1]
    finally:
        signal.signal(signal.SIGALRM, before)


def test_no_alarm_is_left() -> None:
    with pytest.raises(time_limit.TookTooLong):
        time_limit.limited(0.01, lambda: time.sleep(10))
    time.sleep(2 * time_limit._AGAIN_S)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_results_that_are_too_large_are_not_asked_for(
    run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Call] = []
    monkeypatch.setenv("CONFORM_MAX_RESULT_ELEMENTS", "3")
    assert run(lambda _, call: asked.append(call) or right(call)).exit_code == 0
    monkeypatch.setenv("CONFORM_MAX_RESULT_ELEMENTS", "2")
    with pytest.raises(UsageError, match=r"suite\.yaml:3:30: test 'a': a result of 3 elements; the limit is 2 "):
        run()
    assert len(asked) == 4
    monkeypatch.setattr("conform.straight_line.BackendProcess", Fake(lambda *_: pytest.fail("asked")))
    builtin = conform.check("smoke", backend="fake", ids=["smoke_exp/float32/typical/contiguous"])
    assert builtin.cases[0]["reason"].startswith("a result of 35 elements; the limit is 2")
    assert builtin.exit_code == 3


def test_who_asks_for_huge_calls_gets_them() -> None:
    assert straight_line._limits(["scale"]).max_result_elements == 2**25
    assert straight_line._limits(["scale", "huge"]).max_result_elements == 2**32


# --- Blame ------------------------------------------------------------------------------------------------------------


def test_the_case_before_gets_a_second_verdict_where_its_worker_died_of_it(run: Callable[..., Run]) -> None:
    def reply(number: int, call: Call) -> Reply:
        crash = Reply("crash", "SIGABRT", log="last words")
        return Reply("ok", result=right(call).result, before=crash) if number == 3 else right(call)

    told: list[Verdict] = []
    ended = run(reply, on_verdict=lambda verdict, _: told.append(verdict))
    assert statuses(ended) == ["pass", "crash", "pass", "pass"]
    assert [verdict.test for verdict in told] == ["a", "b", "b", "c", "d"]
    assert ended.record["environment"]["logs"] == {ended.cases[1]["id"]: ["last words"]}
    assert "  printed  last words\n  repeat " in terminal.render(ended.record)


def test_the_call_before_may_have_been_somebody_elses(tmp_path: Path) -> None:
    """As under pytest, where each case is run by itself in one process."""
    (tmp_path / "suite.yaml").write_text(SUITE)
    groups = select(load([str(tmp_path / "suite.yaml")]), Selection())
    fake = Fake(lambda _, call: Reply("ok", result=right(call).result, before=Reply("crash", "SIGABRT")))
    (verdict,) = verdicts.verdicts_of(groups[:1], fake, fake.describe(), contract_table("opencl"), is_end=False)
    assert (verdict.status, verdict.reason) == ("crash", "SIGABRT, of the call before this one")


def test_the_last_case_too(run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fake, "settle", lambda _: Reply("crash", "SIGABRT"))
    assert statuses(run()) == ["pass", "pass", "pass", "crash"]


# --- Conformant means compared ----------------------------------------------------------------------------------------


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
    rows = [f"- {{id: {t}, op: aten::neg, in: [{{type: tensor, shape: [3], dtype: {t}}}]}}"
            for t in ("float16", "float32", "float64", "int64")]  # fmt: skip
    (tmp_path / "suite.yaml").write_text("tests:\n" + "\n".join(rows))
    monkeypatch.setattr(straight_line, "BackendProcess", Fake(floats_alone))
    ended = conform.check(str(tmp_path / "suite.yaml"), backend="fake", min_coverage=least)
    assert (ended.exit_code, ended.summary["coverage"]) == (exit_code, 0.25)
    assert said in terminal.summary_lines(ended.record)


@pytest.mark.parametrize("fraction", [-0.1, 1.1, float("nan"), "1", None])
def test_a_coverage_that_cannot_be_is_refused(fraction: object) -> None:
    with pytest.raises(UsageError, match="min_coverage: expected a fraction from 0 to 1, got "):
        conform.check("smoke", backend="self", min_coverage=fraction)


# --- As a program -----------------------------------------------------------------------------------------------------

BACKEND = """
import os, pathlib, time
import torch, conform

class Slow(conform.Backend):
    name = "cpu"
    compute = "f16acc"
    def run(self, op, args, kwargs):
        pathlib.Path("started").touch()
        pathlib.Path(__file__).unlink(missing_ok=True)  # what is gone by the end of the run was there at its beginning
        time.sleep(0.3)
        return -args[0]

class Once(conform.Backend):
    name = "once"
    def __init__(self):
        if os.path.exists("created"):
            raise OSError("the device is gone")
        open("created", "w").close()
        self.calls = 0
    def run(self, op, args, kwargs):
        self.calls += 1
        if self.calls == 3:
            print("the last words", flush=True)
            os.abort()
        return -args[0]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kernels.py").write_text(BACKEND)
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "run.json").write_text("of an earlier run")
    return tmp_path


def started(folder: Path, *words: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "conform", "check", "suite.yaml", "--out", "out", "--no-progress", *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)


@pytest.mark.parametrize(
    ("signals", "exit_code", "told"),
    [
        ([signal.SIGINT, signal.SIGINT, signal.SIGINT], 130, "interrupted"),
        ([signal.SIGHUP, signal.SIGTERM], 143, "terminated"),
    ],
)
def test_a_signal_ends_the_run_and_what_ran_is_kept(
    folder: Path, signals: list[int], exit_code: int, told: str
) -> None:
    process = started(folder, "--backend", "kernels.py::Slow")
    while not (folder / "started").exists():
        time.sleep(0.05)
    time.sleep(0.4)  # until the first case is done
    for number in signals:
        process.send_signal(number)
        time.sleep(0.01)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (exit_code, f"conform: {told}; this is what ran\n")
    record = json.loads((folder / "out" / "run.json").read_text())
    assert record["stopped"] == "interrupted"
    assert record["not_run"] == 4 - len(record["cases"]) > 0


def test_a_backend_that_cannot_be_created_again_ends_the_run_and_keeps_it(folder: Path) -> None:
    process = started(folder, "--backend", "kernels.py::Once")
    told, errors = process.communicate(timeout=120)
    assert process.returncode == 1
    assert errors.startswith("conform: backend 'kernels.py::Once' is not available: OSError: the device is gone")
    record = json.loads((folder / "out" / "run.json").read_text())
    assert [case["status"] for case in record["cases"]] == ["pass", "pass", "crash"]
    assert record["not_run"] == 1
    printed = [line.removeprefix("  printed").strip() for line in told.splitlines() if line.startswith("  printed ")]
    assert [line for line in printed if line] == [
        "the last words", "Fatal Python error: Aborted", "Current thread 0x... (most recent call first):",
        f'File "{folder / "kernels.py"}", line {1 + BACKEND[: BACKEND.index("os.abort")].count(chr(10))} in run',
    ]  # fmt: skip
    assert (folder / "out" / "run.json~").read_text() == "of an earlier run"


def test_a_failed_run_leaves_no_record_of_an_earlier_one_as_its_own(folder: Path) -> None:
    process = started(folder, "nowhere.yaml", "--backend", "cpu")
    process.communicate(timeout=120)
    assert process.returncode == 2
    assert [path.name for path in (folder / "out").iterdir()] == ["run.json~"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no files of such names")
def test_every_report_names_the_file_and_what_is_declared_and_paths_need_not_be_utf_8(folder: Path) -> None:
    (folder / "kernels.py").rename(folder / f"{os.fsdecode(bytes([255]))}.py")
    process = started(folder, "--backend", f"{os.fsdecode(bytes([255]))}.py::Slow")
    told, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    digest = hashlib.sha256(BACKEND.encode()).hexdigest()
    record = json.loads((folder / "out" / "run.json").read_text())
    numerics = ", ".join(variant(record["environment"]["numerics"]))
    lines = [
        "conform 0.1.0, suite suite.yaml, backend \\udcff.py::Slow, contract opencl, seed 0, checks all but refusal",
        f"backend: calls itself 'cpu', file sha256:{digest}, {numerics}, declares compute f16acc",
    ]
    assert told.splitlines()[:2] == lines
    assert "\n\n".join(f"`{line}`" for line in lines) in (folder / "out" / "report.md").read_text()
    properties = ElementTree.parse(folder / "out" / "junit.xml").getroot().iter("property")
    assert [one.get("value") for one in properties] == lines
    backend = record["backend"]
    assert (backend["name"], backend["source"]) == ("cpu", "\\udcff.py::Slow")
    assert backend["digest"] == f"sha256:{digest}"


@pytest.mark.parametrize(
    ("redirected", "exit_code", "said"),
    [
        ("2>&-", 0, ""),
        (">&- 2>told", 2, "conform: the output cannot be written: stdout is closed\n"),
        ("<&- 2>told", 0, ""),
    ],
)
def test_closed_streams(folder: Path, redirected: str, exit_code: int, said: str) -> None:
    command = f"{sys.executable} -m conform list smoke {redirected}"
    done = subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    assert done.returncode == exit_code
    assert (folder / "told").read_text() == said if "told" in redirected else True


def test_too_few_files_are_told() -> None:
    command = f"ulimit -n 8; {sys.executable} -m conform check smoke --backend cpu"
    done = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "conform: only 8 files may be open (ulimit -n); 64 are needed\n"
