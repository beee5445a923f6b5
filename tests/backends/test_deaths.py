"""The parent outlives whatever the backend does: it crashes, hangs, leaves processes behind, or never starts."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from conform.backends import cgroup
from conform.backends.base import BackendUnavailable
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.template import LINGER_S
from conform.errors import UsageError
from tests.backends.conftest import MISBEHAVING
from tests.backends.processes import exists, is_gone
from tests.backends.test_client import Starter, ask


def _makes_groups() -> bool:
    group = cgroup.made()
    return group is not None and group.end() == []


needs_groups = pytest.mark.skipif(not _makes_groups(), reason="this process can make no control groups")


# --- Death ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "args", "reason"),
    [
        ("segfault", [], "SIGSEGV (Segmentation fault)"),
        ("read_null", [], "SIGSEGV (Segmentation fault)"),
        ("exit", [3], "exited with code 3"),
        ("exit", [None], "exited with code 0"),
        ("exit", ["bye"], "exited with code 1"),
        ("exit_at_once", [0], "exited with code 0"),
        ("say_and_die", ["last words"], "SIGABRT (Aborted)"),
        ("garbage", [], "the worker broke the protocol: a frame starts with b'hell', not with b'cfm1'"),
    ],
)
def test_crash_is_an_answer_and_the_run_goes_on(
    misbehaving: BackendProcess, op: str, args: list[object], reason: str
) -> None:
    first = ask(misbehaving, "where").result
    reply = ask(misbehaving, op, *args)
    assert (reply.status, reply.reason) == ("crash", reason)
    assert ask(misbehaving, "where").result != first
    assert is_gone(first[0])


def test_worker_whose_device_is_lost_answers_and_is_replaced(misbehaving: BackendProcess) -> None:
    first = ask(misbehaving, "where").result
    for op in ("lose_device", "where"):
        misbehaving.submit(Call(f"do::{op}", []))
    lost, answered = misbehaving.receive(), misbehaving.receive()
    assert (lost.status, str(lost.reason)[:51]) == ("error", "RuntimeError: CUDA error: device-side assert trigge")
    assert answered.result[0] != first[0]
    assert (lost.device_lost, answered.device_lost) == (True, False)


def test_log_of_a_crash_tells_last_words_and_place(misbehaving: BackendProcess) -> None:
    log = ask(misbehaving, "say_and_die", "last words").log
    assert log.startswith("last words\nFatal Python error: Aborted\n")
    assert "in say_and_die" in log
    assert "Extension modules" not in log


def test_silence_is_a_timeout_and_the_run_goes_on(start: Starter) -> None:
    with start(timeout_s=0.3) as process:
        worker = ask(process, "where").result[0]
        reply = ask(process, "hang")
        assert (reply.status, reply.reason) == ("timeout", "no answer for 0.3 s")
        assert ask(process, "echo", 1).result == [1]
        assert is_gone(worker)


def test_timeout_ends_what_the_worker_started(start: Starter) -> None:
    with start(timeout_s=0.3) as process:
        child = ask(process, "hang_with_child").result
        assert exists(child)
        assert ask(process, "hang_with_child").status == "timeout"
        assert is_gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to an ancestor that asked for them")
def test_a_process_that_left_its_worker_is_seen_and_killed() -> None:
    with BackendProcess(f"{MISBEHAVING}::Misbehaving") as process:
        daemon = ask(process, "leave_daemon").result
        assert exists(daemon)
        process.retire()
        assert is_gone(daemon)
        assert process.left_running == ["sleep"]
        child = ask(process, "hang_with_child").result  # of the next worker
        process.retire()
        assert is_gone(child)
        assert process.left_running == ["sleep"]
        assert ask(process, "where").status == "ok"


@needs_groups
def test_what_left_a_worker_is_its_own_while_another_worker_lives(start: Starter) -> None:
    with start() as one, start() as other:
        daemon, its = ask(one, "leave_daemon").result, ask(other, "leave_daemon").result
        one.retire()
        assert is_gone(daemon)
        assert exists(its)
        assert (one.left_running, other.left_running) == (["sleep"], [])
        other.retire()
        assert is_gone(its)
        assert other.left_running == ["sleep"]


@needs_groups
def test_what_starts_others_faster_than_it_is_killed_ends(start: Starter, tmp_path: Path) -> None:
    with start() as process, start() as other:
        ask(other, "where")  # whose life keeps the template from killing all of its children
        ask(process, "leave_a_crowd", str(tmp_path / "crowd"))
        process.retire()
        size = (tmp_path / "crowd").stat().st_size
        time.sleep(0.3)
        assert (tmp_path / "crowd").stat().st_size == size
        assert process.left_running


def test_calls_behind_a_fatal_one_are_answered_by_the_next_worker(start: Starter) -> None:
    with start(timeout_s=0.3) as process:
        for op in ("echo", "segfault", "echo", "hang", "exit_at_once", "echo"):
            process.submit(Call(f"do::{op}", [7]))
        replies = [process.receive() for _ in range(6)]
    assert [reply.status for reply in replies] == ["ok", "crash", "ok", "timeout", "crash", "ok"]
    assert [replies[at].result for at in (0, 2, 5)] == [[7], [7], [7]]


def test_leaving_with_calls_in_flight_leaves_no_process(start: Starter) -> None:
    with start() as process:
        worker = ask(process, "where").result[0]
        process.submit(Call("do::hang", []))
    assert is_gone(worker)


# --- Not starting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("class_name", "reason"),
    [
        ("DiesLoading", "did not start: SIGKILL (Killed)"),
        ("FailsLoading", "is not available: OSError: no such accelerator (in __init__, misbehaving.py:"),
    ],
)
def test_backend_that_cannot_load_is_unavailable(start: Starter, class_name: str, reason: str) -> None:
    with start(class_name) as process, pytest.raises(BackendUnavailable) as caught:
        process.describe()
    assert reason in str(caught.value)
    assert caught.value.exit_code == 3


def interrupt(*_: object) -> None:
    """In the place of a wait: Ctrl-C."""
    raise KeyboardInterrupt


def left_after_s(process: BackendProcess, wait: Callable[[], object]) -> float:
    """How long after an interruption in `wait` the process is left."""
    with contextlib.suppress(KeyboardInterrupt), process:
        try:
            wait()
        finally:
            interrupted_s = time.monotonic()
    return time.monotonic() - interrupted_s


def test_loading_is_announced_and_interrupted_at_once(
    start: Starter, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("conform.backends.client.NOTICE_AFTER_S", 0.1)
    process = start("HangsLoading")
    monkeypatch.setattr(process, "_next_frames", interrupt)
    assert left_after_s(process, process.describe) < LINGER_S / 2
    assert capsys.readouterr().err == f"conform: still loading backend {process.name!r}, at most 300 s\n"


def test_the_only_call_is_interrupted_at_once(start: Starter, monkeypatch: pytest.MonkeyPatch) -> None:
    process = start()

    def hang() -> None:
        process.submit(Call("do::hang", []))
        monkeypatch.setattr(process, "_next_frames", interrupt)
        process.receive()

    assert left_after_s(process, hang) < LINGER_S / 2


def test_absent_device_is_unavailable(start: Starter) -> None:
    with start(name="cuda:99") as process, pytest.raises(BackendUnavailable, match="'cuda:99' is not available: "):
        process.submit(Call("aten::neg", [np.float32(1)]))


def test_file_that_cannot_be_imported_is_unavailable(start: Starter, tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text("import a_package_that_is_not_there\n")
    with start(name=f"{file}::Mine") as process, pytest.raises(BackendUnavailable) as caught:
        process.describe()
    expected = "ModuleNotFoundError: No module named 'a_package_that_is_not_there' (in <module>, kernels.py:1)"
    assert expected in str(caught.value)


def test_file_that_is_not_python_is_a_usage_error(start: Starter, tmp_path: Path) -> None:
    file = tmp_path / "kernels.py"
    file.write_text("import torch\nclass Mine(\n")
    with start(name=f"{file}::Mine") as process, pytest.raises(UsageError, match=r"kernels\.py:2: '\(' was never clo"):
        process.describe()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cpuu", "unknown backend 'cpuu'; did you mean 'cpu'?"),
        ("nowhere.py::Mine", "there is no Python file 'nowhere.py'"),
        ("{file}::Misbehavin", "has no class 'Misbehavin'; did you mean 'Misbehaving'?"),
        ("{file}::Misbehaving(deed=thrown)", "the arguments of a class are keywords of literals"),
        ("{file}::NOT_A_CLASS", "a subclass of conform.Backend was expected"),
        ("{file}::Nameless", "Nameless.name is not set"),
    ],
)
def test_name_that_leads_nowhere_is_a_usage_error(start: Starter, name: str, message: str) -> None:
    file = Path(__file__).parent / "misbehaving.py"
    with start(name=name.format(file=file)) as process, pytest.raises(UsageError) as caught:
        process.describe()
    assert message in str(caught.value)
