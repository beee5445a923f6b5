"""The parent's side of the template process: start it, have it fork workers, learn how they ended."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from multiprocessing import reduction
from pathlib import Path
from typing import Any, BinaryIO

from conform.backends.base import BackendUnavailable
from conform.backends.jail import Jail, environment
from conform.backends.log import KEPT_BYTES, Log, tidied
from conform.foreign import line

# How long the template may take: to kill its workers and end once its socket is closed; to import torch, before its
# first answer; to give any other one, of which the slowest waits for a worker that lingers.
_CLOSING_S = 10.0
_STARTING_S = 300.0
_ANSWERING_S = 30.0
_ROOT = Path(__file__).parent.parent.parent

# Fresh memory is filled with 0xfe and freed memory with 0x01, so that an output that a backend leaves unwritten is
# never right by accident (as the last run's values would be). The allocator does it; torch's mode that does it as well,
# deterministic algorithms, would exchange the kernels under test.
# glibc: GLIBC_TUNABLES, "malloc.perturb" (its per-thread cache hands blocks out unfilled, hence count 0).
# macOS: malloc(3), MallocPreScribble fills fresh memory with 0xaa, MallocScribble freed memory with 0x55.
_POISON = {"GLIBC_TUNABLES": "glibc.malloc.perturb=1:glibc.malloc.tcache_count=0"}
_POISON_MACOS = {"MallocPreScribble": "1", "MallocScribble": "1"}


class Template:
    """A template process. It starts at once and in the background; a context manager that ends it and its workers.

    Several backends may share one, unless it is in a `jail`. If it dies, the next `fork` starts another. It imports the
    modules `preloaded` beside torch: what workers would import, each by itself.
    """

    process: subprocess.Popen | None  # None of a twin, which is the child of another template
    _twin_pid: int | None = None

    def __init__(self, jail: Jail | None = None, preloaded: Sequence[str] = ()) -> None:
        self._jail, self._preloaded = jail, list(preloaded)
        self._start()

    def twin(self) -> Template:
        """A template for another process of the kit: a fork of this one's process, which has imported torch by then.
        It ends when nobody holds it any more; a process that shall not hold it any longer leaves it.
        """
        twin = object.__new__(type(self))
        twin._jail, twin._preloaded, twin.process, twin._has_worked = None, self._preloaded, None, False
        twin._control, theirs = socket.socketpair()
        twin._log = os.fdopen(os.dup(self._log.fileno()), "rb")
        with theirs, contextlib.suppress(ConnectionError):  # one that is dead is found out by who asks the twin
            socket.send_fds(self._control, [json.dumps({"twin": True}).encode() + b"\n"], [theirs.fileno()])
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """A twin goes to a process that is being spawned, which holds it then, too."""
        if self.process is not None:
            raise TypeError("a template that is the child of this process cannot be another's; found no twin")
        return self.__dict__ | {"_log": reduction.DupFd(self._log.fileno())}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _log=os.fdopen(state["_log"].detach(), "rb"))

    def leave(self) -> None:
        """Lets go of it, in this process alone."""
        self._control.close()
        self._log.close()

    def __enter__(self) -> Template:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start(self) -> None:
        self._control, theirs = socket.socketpair()
        self._log = _new_log()
        self._has_worked = False
        module = ["conform.backends.template", str(theirs.fileno()), json.dumps(self._preloaded)]
        command, variables = [sys.executable, "-m", *module], dict(os.environ)
        if self._jail is not None:
            command = self._jail.command([*module, json.dumps(self._jail.settling())], os.getcwd())
            variables = environment(os.environ)
        with theirs:
            self.process = subprocess.Popen(
                command,
                cwd=_ROOT,  # so that -m finds this conform, installed or not
                env=_poisoned(variables),
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                start_new_session=True,  # the terminal's Ctrl-C is the parent's business
            )

    def fork(
        self, backend: str | None, threads: int, imports: list[str], connection: socket.socket, log: Log
    ) -> int:
        """The process id of a new worker that serves `connection`, prints to `log`, and runs in the directory in which
        this process runs now.

        Raises BackendUnavailable if the template cannot start.
        """
        request = {"fork": {"directory": os.getcwd(), "backend": backend, "threads": threads, "imports": imports}}
        descriptors = [connection.fileno(), log.writer]
        reply = self._ask(request, descriptors)
        if reply is None and (self._has_worked or self.process is None):
            self.close()
            self._start()
            reply = self._ask(request, descriptors)
        if reply is None:
            raise BackendUnavailable(f"the process that imports torch ended while starting:\n{_tail(self._log)}")
        self._has_worked = True
        if self.process is None:
            self._twin_pid = reply["template"]
        return reply["pid"]

    def end(self, pid: int, kill: bool) -> tuple[int | None, list[str]]:
        """Ends a worker (by force, or after it has closed its connection): its exit code, negative for a signal, and
        the names of the programs that it left running, which are killed.

        The code is None if the template died first, so that nobody knows; the worker is killed then.
        """
        reply = self._ask({"end": pid, "kill": kill}, [])
        if reply is not None:
            return reply["exit_code"], [line(name) for name in reply["left"]]
        if self._jail is None:  # else its processes have ended with the template, and numbers of their own
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
        return None, []

    def _ask(self, request: dict[str, Any], descriptors: list[int]) -> dict[str, Any] | None:
        """The template's answer, None if it is dead, as it is made to be when it gives none in time."""
        deadline = time.monotonic() + (_ANSWERING_S if self._has_worked else _STARTING_S)
        answer = b""
        try:
            self._control.settimeout(_ANSWERING_S)
            socket.send_fds(self._control, [json.dumps(request).encode() + b"\n"], descriptors)
            while not answer.endswith(b"\n"):
                self._control.settimeout(max(deadline - time.monotonic(), 0.001))
                if not (chunk := self._control.recv(1 << 12)):
                    return None
                answer += chunk
        except ConnectionError:
            return None
        except TimeoutError:
            self._kill()
            return None
        return json.loads(answer)

    def close(self) -> None:
        """Ends the template, and with it every worker."""
        if self.process is None:
            self._close_twin()
        else:
            self._close_process(self.process)

    def _close_process(self, process: subprocess.Popen) -> None:
        self.leave()
        try:
            process.wait(_CLOSING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _close_twin(self) -> None:
        """A twin is no child of this process, which hears of its end by its socket's."""
        try:
            self._control.shutdown(socket.SHUT_WR)
            self._control.settimeout(_CLOSING_S)
            self._control.recv(1)
        except TimeoutError:
            self._kill()
        except OSError:
            pass  # it has ended
        self.leave()

    def _kill(self) -> None:
        if self.process is not None:
            self.process.kill()
        elif self._twin_pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._twin_pid, signal.SIGKILL)


def _poisoned(variables: Mapping[str, str]) -> dict[str, str]:
    """`variables` with an allocator that poisons memory; what the user tunes himself has the last word."""
    if sys.platform == "darwin":
        return {**_POISON_MACOS, **variables}
    tunables = [value for value in (_POISON["GLIBC_TUNABLES"], variables.get("GLIBC_TUNABLES")) if value]
    return {**variables, "GLIBC_TUNABLES": ":".join(tunables)}


# --- What a worker left behind ----------------------------------------------------------------------------------------

def describe_exit(exit_code: int) -> str:
    """ "SIGSEGV (Segmentation fault)", or "exited with code 3"."""
    if exit_code >= 0:
        return f"exited with code {exit_code}"
    name = next((one.name for one in signal.Signals if one == -exit_code), f"signal {-exit_code}")
    return f"{name} ({signal.strsignal(-exit_code)})"


def _tail(log: BinaryIO) -> str:
    """The last lines printed to a file."""
    size = os.fstat(log.fileno()).st_size
    return tidied(os.pread(log.fileno(), KEPT_BYTES, max(0, size - KEPT_BYTES)))


def _new_log() -> BinaryIO:
    """A nameless file for the template to print to, open for appending: whoever holds it writes at its end."""
    log = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    flags = fcntl.fcntl(log, fcntl.F_GETFL)
    fcntl.fcntl(log, fcntl.F_SETFL, flags | os.O_APPEND)
    return log

