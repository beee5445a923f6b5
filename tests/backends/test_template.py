"""The template process: it outlives nobody, and what it forks holds nothing that is not its own."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from conform.backends import template
from conform.backends.base import BackendUnavailable
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.launcher import Template, _tail, describe_exit
from conform.backends.log import KEPT_BYTES, Log
from tests.backends.conftest import MISBEHAVING
from tests.backends.processes import is_gone

pytestmark = pytest.mark.one_in(6)

NAME = f"{MISBEHAVING}::Misbehaving"

# Prints the ids of template and worker, has the worker hang, and dies without a chance to tidy up.
DYING_PARENT = f"""
import os, signal
from conform.backends.call import Call
from conform.backends.client import BackendProcess

with BackendProcess({NAME!r}) as process:
    process.submit(Call("do::where", []))
    worker, template, *_ = process.receive().result
    print(worker, template, flush=True)
    process.submit(Call("do::hang", []))
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_template_and_hanging_worker_end_with_a_killed_parent() -> None:
    root = Path(__file__).parents[2]
    ended = subprocess.run([sys.executable, "-c", DYING_PARENT], capture_output=True, text=True, cwd=root, timeout=60)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    worker, of_template = map(int, ended.stdout.split())
    assert is_gone(worker, template.LINGER_S / 2)  # it is killed, and not waited for
    assert is_gone(of_template)


def test_dead_template_is_replaced_when_a_worker_is_needed() -> None:
    with Template() as template, BackendProcess(NAME, template=template) as process:
        process.submit(Call("do::where", []))
        worker, first_template, *_ = process.receive().result
        os.kill(first_template, signal.SIGKILL)
        template.process.wait()

        process.submit(Call("do::where", []))
        assert process.receive().result[0] == worker  # a worker needs its template only to be replaced

        for op in ("segfault", "where"):
            process.submit(Call(f"do::{op}", []))
        crashed, answered = process.receive(), process.receive()
        assert (crashed.status, crashed.reason) == ("crash", "the worker ended, and its template process with it")
        assert answered.result[1] == template.process.pid != first_template
    assert template.process.returncode == 0


# --- Twins ------------------------------------------------------------------------------------------------------------


def where(process: BackendProcess) -> tuple[int, int]:
    """The ids of its worker and of the worker's parent."""
    process.submit(Call("do::where", []))
    return tuple(process.receive().result[:2])


def test_a_twin_is_a_template_of_its_own() -> None:
    with (
        Template() as template,
        template.twin() as twin,
        BackendProcess(NAME, template=template) as first,
        BackendProcess(NAME, template=twin) as second,
    ):
        (_, of_template), (worker, of_twin) = where(first), where(second)
        assert of_template == template.process.pid != of_twin
        first.retire()  # what a worker left running is killed then: the twin is none of that
        assert where(second) == (worker, of_twin)
        os.kill(of_template, signal.SIGKILL)
        template.process.wait()
        second.retire()
        assert where(second)[1] == of_twin
    assert is_gone(of_twin)


def test_a_dead_twin_is_replaced_by_a_template_that_imports_torch() -> None:
    with Template() as template, template.twin() as twin, BackendProcess(NAME, template=twin) as process:
        _, first = where(process)
        os.kill(first, signal.SIGKILL)
        process.retire()
        assert where(process)[1] == twin.process.pid not in (first, template.process.pid)


def test_a_twin_of_a_template_that_cannot_start_tells_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('a broken torch')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with (
        Template() as template,
        template.twin() as twin,
        BackendProcess("cpu", template=twin) as process,
        pytest.raises(BackendUnavailable, match="ImportError: a broken torch"),
    ):
        process.describe()


def killed_with(twin: Template, template: Template, connection: Connection) -> None:
    template.leave()
    with BackendProcess(NAME, template=twin) as process:
        connection.send(where(process))
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_twin_ends_with_the_process_that_holds_it() -> None:
    ours, theirs = multiprocessing.Pipe()
    with Template() as template, ours, theirs:
        twin = template.twin()
        holder = multiprocessing.get_context("fork").Process(target=killed_with, args=(twin, template, theirs))
        holder.start()
        twin.leave()
        worker, of_twin = ours.recv()
        holder.join()
        assert is_gone(worker)
        assert is_gone(of_twin)


def test_a_template_that_is_a_child_of_this_process_is_not_handed_on() -> None:
    with Template() as template, pytest.raises(TypeError, match="found no twin"):
        pickle.dumps(template)


def test_template_that_cannot_start_tells_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('a broken torch')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with BackendProcess("cpu") as process, pytest.raises(BackendUnavailable, match="ImportError: a broken torch"):
        process.describe()


def test_modules_in_the_working_directory_are_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('not the torch that is installed')\n")
    monkeypatch.chdir(tmp_path)
    with BackendProcess("cpu") as process:
        assert process.describe()["device"] == "cpu"


@pytest.mark.parametrize(
    ("exit_code", "text"),
    [
        (0, "exited with code 0"),
        (-11, "SIGSEGV (Segmentation fault)"),
        (-9, "SIGKILL (Killed)"),
        (-40, "signal 40 (Real-time signal 6)"),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="signal numbers and their descriptions are Linux's")
def test_exits_are_described(exit_code: int, text: str) -> None:
    assert describe_exit(exit_code) == text


def test_tail_is_the_last_lines_without_addresses() -> None:
    with Log() as log:
        for number in range(30):
            os.write(log.writer, b"\nline %d at 0x7f0123456789" % number)
        os.write(log.writer, b"\nExtension modules: numpy, torch (total: 2)\n\xff\x1b[31m\n")
        assert log.tail().splitlines() == [*(f"line {number} at 0x..." for number in range(11, 30)), "\ufffd\\x1b[31m"]


def test_a_worker_that_lingers_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(template, "LINGER_S", 0.2)
    pid = os.posix_spawnp("sleep", ["sleep", "60"], os.environ)
    late = threading.Timer(10.0, os.kill, (pid, signal.SIGTERM))  # should nobody kill it
    late.start()
    assert template.end(pid, kill=False) == -signal.SIGKILL
    late.cancel()
    assert template.end(os.posix_spawnp("false", ["false"], os.environ), kill=False) == 1  # of its own accord


def test_the_tail_of_a_file_begins_with_its_first_character_where_it_is_short() -> None:
    with tempfile.TemporaryFile() as log:
        log.write(b"abc")
        log.flush()
        assert _tail(log) == "abc"
        log.write(b"\n" + b"x" * KEPT_BYTES)
        log.flush()
        assert _tail(log).strip("x") == ""


def test_a_log_keeps_the_end_of_what_a_talkative_backend_prints() -> None:
    with Log() as log:
        for _ in range(100):
            os.write(log.writer, b"x" * 50_000)
            assert log.take()
        os.write(log.writer, b"\nlast words")
        assert log.tail().splitlines()[-1] == "last words"
        assert len(log.tail()) < 10_000


def test_a_log_that_nobody_writes_to_any_more_is_closed() -> None:
    with Log() as log:
        assert not log.take()
        assert log.is_open
        log.close_writer()
        assert not log.take()
        assert not log.is_open
