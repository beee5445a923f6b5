"""Attacks from within the jail, each of which works without it; and that there is a jail, or an error."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from conform.backends import jail
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.cli import main
from conform.errors import UsageError
from tests.backends.processes import is_gone
from tests.tiny import negatives

pytestmark = pytest.mark.one_in(6)

HOSTILE = Path(__file__).parent / "hostile.py"
SECRET = "conform-test-secret"
TEMPORARY_BYTES, FILE_BYTES, PROCESSES = 8 << 20, 6 << 20, 64
KIT = Path(jail.__file__).parent.parent


def ask(process: BackendProcess, op: str, *args: object) -> list[str]:
    process.submit(Call(f"do::{op}", list(args)))
    reply = process.receive()
    assert reply.status == "ok", (reply.status, reply.reason, reply.log)
    return reply.result


@pytest.fixture(scope="module", params=["bubblewrap", "unshare"])
def mechanism(request: pytest.FixtureRequest) -> str:
    """What makes the jail."""
    if (reason := jail._refusal(request.param)) is not None:
        pytest.skip(f"no jail by {request.param} on this machine: {reason}")
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hostile backend beside a suite and the results of a run; the user that root's backends run as may read it."""
    place = tmp_path_factory.mktemp("hostile")
    for one in (place, place / "out"):
        one.mkdir(exist_ok=True)
        one.chmod(0o755)
    (place / "hostile.py").write_bytes(HOSTILE.read_bytes())
    for name in ("suite.yaml", "out/run.json", "data.bin"):
        (place / name).write_text(f"content of {name}")
    return place


@pytest.fixture(scope="module")
def hostile(mechanism: str, folder: Path) -> Iterator[BackendProcess]:
    """A confined process of the hostile backend, with limits that are soon reached."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jail, "TEMPORARY_BYTES", TEMPORARY_BYTES)
        patch.setattr(jail, "FILE_BYTES", FILE_BYTES)
        patch.setattr(jail, "PROCESSES", PROCESSES)
        patch.setenv("CONFORM_TEST_SECRET", SECRET)
        patch.setenv("OMP_NUM_THREADS", "1")
        confined = jail.Jail((folder,), (folder / "suite.yaml", folder / "out"), mechanism)
        name = f"{folder}/hostile.py::Hostile"
        with BackendProcess(name, timeout_s=60.0, jail=confined) as process:
            yield process


def test_a_call_is_answered(hostile: BackendProcess) -> None:
    assert ask(hostile, "read", "/nowhere") == ["ENOENT"]
    assert hostile.describe()["name"] == "hostile"


def test_tools_of_its_own_user_may_look_into_a_worker(hostile: BackendProcess) -> None:
    """As profilers and debuggers do; into the jail's template, which is the kit's, none may."""
    assert ask(hostile, "is_traceable") == ["1"]


# --- Reading ----------------------------------------------------------------------------------------------------------


def test_the_kit_is_out_of_reach(hostile: BackendProcess) -> None:
    *files, _, _, _, _, _, _ = found = ask(hostile, "read_the_kit")
    assert sorted(files) == [str(KIT / name) for name in ("__init__.py", "backends", "errors.py", "foreign.py")]
    assert found[-6:] == ["ModuleNotFoundError"] * 6
    assert ask(hostile, "look_for", "straight_line.py", "opencl.yaml", "aten_schemas.txt") == []


def test_suites_and_results_beside_the_backend_are_hidden(hostile: BackendProcess, folder: Path) -> None:
    paths = [str(folder / name) for name in ("suite.yaml", "out/run.json", "data.bin")]
    suite, results, data = ask(hostile, "read", *paths)
    assert suite in ("b''", "EACCES")  # bubblewrap's mounts hold no devices
    assert (results, data) == ("ENOENT", str(b"content of data.bin"))


def test_files_of_others_are_hidden(hostile: BackendProcess, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    places = [str(secret), "/etc/shadow", str(Path.home() / ".bashrc"), str(KIT.parent / "pyproject.toml")]
    assert ask(hostile, "read", *places) == ["ENOENT"] * 4


def test_secrets_of_the_environment_are_gone(hostile: BackendProcess) -> None:
    variables = ask(hostile, "environment")
    assert not any(SECRET in one for one in variables)
    assert "OMP_NUM_THREADS=1" in variables
    assert "HOME=/tmp" in variables


def test_no_file_is_open_that_leads_outside(hostile: BackendProcess) -> None:
    known = ("socket:", "pipe:", "/dev/null", "/memfd:conform-call", "ENOENT")
    unknown = [one for one in ask(hostile, "descriptors") if not one.startswith(known)]
    assert all(one.endswith("(deleted)") for one in unknown), unknown  # the nameless log


# --- Writing ----------------------------------------------------------------------------------------------------------


def test_nothing_can_be_written_that_others_read(hostile: BackendProcess, folder: Path) -> None:
    assert set(ask(hostile, "write_to_python")) <= {"EROFS", "EACCES"}
    places = [folder / "hostile.py", folder / "new", "/new", "/dev/new", "/proc/sys/kernel/core_pattern"]
    assert set(ask(hostile, "write", *map(str, places))) <= {"EROFS", "EACCES", "ENOENT"}
    ask(hostile, "write", str(folder / "out/run.json"))  # at most in what hides it
    assert (folder / "out/run.json").read_text() == "content of out/run.json"
    assert not (folder / "new").exists()


def test_what_it_writes_to_tmp_is_its_own(hostile: BackendProcess) -> None:
    name = f"/tmp/conform-{os.getpid()}"
    assert ask(hostile, "write", name) == ["6"]
    assert not Path(name).exists()


def test_what_hides_the_kit_cannot_be_taken_away(hostile: BackendProcess) -> None:
    found = ask(hostile, "unmount")
    assert [one for one in found[1:3] + found[4:6] if one == "done"] == []
    assert set(found[-8:]) <= {"EROFS", "EACCES"}
    assert not any("interp" in one for one in found)


# --- Other processes --------------------------------------------------------------------------------------------------


def test_the_parent_cannot_be_signalled_or_read(hostile: BackendProcess) -> None:
    """Neither the kit's process nor the one that the worker was forked from, which is the jail's first."""
    mine = os.getpid()
    assert str(mine) not in ask(hostile, "processes") or mine < 100
    assert ask(hostile, "kill", 999_999)[1:] == ["ESRCH"]
    looked = ask(hostile, "look_into", 999_999)
    assert set(looked[:3]) <= {"EACCES", "EPERM"}
    assert looked[3:] == ["ENOENT"] * 3 + ["EPERM", "ESRCH"]
    assert ask(hostile, "read", "/nowhere") == ["ENOENT"]  # and goes on


def test_there_is_no_network(hostile: BackendProcess) -> None:
    name = f"conform-{os.getpid()}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
        local.bind(f"\0{name}")
        local.listen()
        found = ask(hostile, "connect", server.getsockname()[1], name)
    assert set(found) <= {"ECONNREFUSED", "ENETUNREACH"}


def running(word: str) -> list[int]:
    """The processes of this machine with a word in their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if word.encode() in (path / "cmdline").read_bytes().split(b"\0"):
                found.append(int(path.name))
    return found


def test_what_outlives_the_worker_is_killed_and_named(hostile: BackendProcess) -> None:
    seconds = f"{100_000 + os.getpid()}.5"
    ask(hostile, "leave", seconds)
    deadline = time.monotonic() + 10
    while len(pids := running(seconds)) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(pids) == 2
    hostile.retire()
    assert all(map(is_gone, pids))
    assert hostile.left_running == ["sleep"]


# --- The machine ------------------------------------------------------------------------------------------------------


def test_a_fork_bomb_ends_at_the_limit(hostile: BackendProcess) -> None:
    count, error = ask(hostile, "fork_bomb")
    assert 10 < int(count) < PROCESSES
    assert error == "EAGAIN"
    hostile.retire()
    assert len(ask(hostile, "processes")) == 2  # the jail's first, and the next worker


def test_memory_ends_at_the_limit(hostile: BackendProcess) -> None:
    more = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    assert set(ask(hostile, "allocate", more)) <= {"RuntimeError", "ENOMEM", "MemoryError"}


def test_the_disk_ends_at_the_limit(hostile: BackendProcess) -> None:
    full, almost_full = (str((mib, FILE_BYTES >> 20)) for mib in (TEMPORARY_BYTES >> 20, (TEMPORARY_BYTES >> 20) - 1))
    temporary, shared = ask(hostile, "fill", "/tmp", "/dev/shm")
    assert temporary in (full, almost_full)  # something may lie there
    assert shared == full
    assert ask(hostile, "fill_the_log") == ["a pipe"]  # more than FILE_BYTES, and on no disk
    assert ask(hostile, "read", "/nowhere") == ["ENOENT"]


# --- The command ------------------------------------------------------------------------------------------------------


def run(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.stdout, result.stderr


PEEKING = """
from pathlib import Path

import conform
from conform.backends import TorchDevice

KIT = Path(conform.__file__).parent


class Peeking(TorchDevice):
    name = "peeking"

    def __init__(self):
        super().__init__("cpu")

    def run(self, op, args, kwargs):
        import torch

        secrets = map(read, ("suite.yaml", "strict.yaml", "out/run.json", "run.json", KIT / "suites/core/loss.yaml"))
        return torch.zeros(3) if any(secrets) else super().run(op, args, kwargs)


def read(name):
    try:
        return Path(name).read_text()
    except OSError:
        return ""
"""


def test_check_confines_and_says_so(mechanism: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jail, "mechanism", lambda: mechanism)
    tmp_path.chmod(0o755)
    Path("suite.yaml").write_text(negatives("neg"))
    Path("strict.yaml").write_text("name: strict\nbase: opencl\nrows: []")
    Path("peeking.py").write_text(PEEKING)
    words = ["check", "suite.yaml", "--contract", "strict.yaml", "--backend", "peeking.py::Peeking", "--out", "out"]
    Path("out").mkdir()
    Path("out/run.json").write_text("goldens")
    code, text, told = run(*words, "--jail")
    assert code == 0, text + told
    assert text.splitlines()[-2] == f"confined by {mechanism}: the backend could neither read nor change the kit"
    code, text, told = run(*words[:-1], ".", "--jail")  # results in the backend's own folder
    assert code == 0, text + told
    code, text, told = run(*words[:-1], ".", "--jail")  # which now holds some
    assert code == 0, text + told
    code, text, _ = run(*words)
    assert code == 1
    assert "\nself-reported: the backend ran beside the kit, and could have read or changed it" in text


def test_the_kit_itself_cannot_be_confined() -> None:
    assert run("check", "smoke", "--backend", "self", "--jail")[::2] == (
        2, "conform: --jail keeps the kit's interpreter from a backend, and `self` is that; leave out one of them\n",
    )  # fmt: skip


def test_a_jail_that_cannot_be_had_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "_refusal", lambda name: f"{name} does not work here")
    jail.mechanism.cache_clear()
    try:
        code, text, told = run("check", "smoke", "--op", "aten::exp", "--backend", "cpu", "--jail")
    finally:
        jail.mechanism.cache_clear()
    assert (code, text) == (3, "")
    assert told.startswith(
        "conform: --jail cannot be had here (bubblewrap: bubblewrap does not work here; unshare: unshare does not work"
    )


@pytest.mark.parametrize(
    ("code", "printed", "reason"),
    [
        (0, "a warning", None),
        (1, "no\n  namespaces", "no namespaces"),
        (-9, "", "exit -9"),
        (2, "x" * 300, "x" * 200),
    ],
)
def test_why_a_mechanism_makes_no_jail(
    monkeypatch: pytest.MonkeyPatch, code: int, printed: str, reason: str | None
) -> None:
    monkeypatch.setattr(subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, code, "", printed))
    monkeypatch.setattr(jail, "_bubblewrap_version", lambda: (99, 0))
    assert [jail._refusal(name) for name in ("bubblewrap", "unshare")] == [reason, reason]


def test_there_is_a_jail_where_there_are_namespaces() -> None:
    """The other tests are left out where there is no jail."""
    flags = ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--ipc", "--net"]
    if shutil.which("unshare") is None or subprocess.run(["unshare", *flags, "true"], capture_output=True).returncode:
        pytest.skip("no namespaces on this machine")
    assert jail._refusal("unshare") is None


@pytest.mark.parametrize(("version", "reason"), [(None, "not installed"), ((0, 1), "version 0.1 is older than ")])
def test_bubblewrap_must_be_new_enough(
    monkeypatch: pytest.MonkeyPatch, version: tuple[int, ...] | None, reason: str
) -> None:
    monkeypatch.setattr(jail, "_bubblewrap_version", lambda: version)
    assert (jail._refusal("bubblewrap") or "").startswith(reason)


def test_the_oldest_bubblewrap_that_will_do_is_new_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jail, "_bubblewrap_version", lambda: jail._OLDEST_BUBBLEWRAP)
    assert "older" not in (jail._refusal("bubblewrap") or "")


def test_no_other_copy_of_the_kit_is_seen(tmp_path: Path) -> None:
    (tmp_path / "conform/interp").mkdir(parents=True)
    places = [one.place for one in jail._mounts((tmp_path,), (), "/tmp") if one.kind == "temporary"]
    assert str(tmp_path / "conform") in places
    assert str(KIT) in places


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root's backends become another user's")
def test_a_backend_that_its_user_may_not_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("")
    tmp_path.chmod(0o700)
    with pytest.raises(UsageError, match=r"as a user of their own, who may not read .*: chmod"):
        jail.jail_for(f"{tmp_path}/mine.py::Mine", ())


@pytest.mark.parametrize(
    ("file", "seen"),
    [("/srv/kernels/k.py", "/srv/kernels"), (f"{Path.home()}/k.py", "k.py"), ("/tmp/k.py", "k.py"), ("/k.py", "k.py")],
)
def test_a_home_is_no_backend_s_folder(file: str, seen: str) -> None:
    assert str(jail._of_file(Path(file))[0]).endswith(seen)


def test_variables_that_are_kept() -> None:
    given = {"PATH": "/evil", "AWS_SECRET_ACCESS_KEY": "x", "CUDA_VISIBLE_DEVICES": "1", "LC_ALL": "C",
             "PYTHONPATH": "/x", "LD_PRELOAD": "/x.so", "ATEN_CPU_CAPABILITY": "avx2", "HOME": "/root"}  # fmt: skip
    kept = jail.environment(given)
    assert {name: kept[name] for name in kept if name != "PYTHONUSERBASE"} == {
        "PYTHONPATH": "/x", "CUDA_VISIBLE_DEVICES": "1", "LC_ALL": "C",
        "ATEN_CPU_CAPABILITY": "avx2", "HOME": "/tmp", "TMPDIR": "/tmp",
        "USER": "nobody", "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
    }  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="there is no jail but on Linux")
def test_the_attacks_work_without_the_jail(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that those above show something."""
    monkeypatch.setenv("CONFORM_TEST_SECRET", SECRET)
    with BackendProcess(f"{folder}/hostile.py::Hostile", timeout_s=60.0) as process:
        assert ask(process, "read_the_kit")[-6:] != ["ModuleNotFoundError"] * 6
        assert "content of suite.yaml" in ask(process, "read", str(folder / "suite.yaml"))[0]
        assert f"CONFORM_TEST_SECRET={SECRET}" in ask(process, "environment")
        assert ask(process, "write", str(folder / "new")) == ["6"]
        assert str(os.getpid()) in ask(process, "processes")
        with socket.create_server(("127.0.0.1", 0)) as server:
            assert ask(process, "connect", server.getsockname()[1], "")[0].startswith("<socket.socket")
        (folder / "new").unlink()
