"""The template process: `python -m conform.backends.template FD PRELOADED [SETTLING]`.

It imports torch and the modules PRELOADED (a list, as JSON), runs nothing and holds no expected value. Over the control
socket FD it obeys three requests, each one line of JSON, the first two answered by one line each:

* `{"fork": {"directory": PATH, "backend": NAME, "threads": N, "imports": MODULES}}`, with two file descriptors (the
  worker's socket, a log file): forks a worker that serves the socket in that directory and prints to the log, and
  answers `{"pid": P, "template": T}`, T being its own id; where NAME is null, the backend itself comes first over the
  worker's socket;
* `{"end": P, "kill": true|false}`: waits until worker P has ended, kills it if asked or if it lingers, and what it left
  running; answers `{"exit_code": N, "left": NAMES}`, the code negative for a signal;
* `{"twin": true}`, with a file descriptor, another control socket: forks a template that obeys that one.

SETTLING is what `conform.backends.confine.settle` takes, as JSON, for a template in a jail; it is then process 1 there.
When the socket closes (the parent closed it, or ended in whatever way) it kills its workers and ends.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Collection
from typing import Any

from conform.backends import cgroup, confine, offspring
from conform.backends.cgroup import Group

# How long a worker may take to end after it closed its socket, before it is killed.
LINGER_S = 5.0
REAPED_EVERY_S = 1.0  # twins that have ended
_MAX_REQUEST_BYTES = 1 << 16


def main(control_fd: int, preloaded: list[str], settling: dict | None = None) -> None:
    """Serves until the control socket closes."""
    if settling is not None:
        confine.settle(**settling)
    sys.path.append(sys.path.pop(0))  # -m put conform's own root first; what is installed comes before it
    import torch  # noqa: F401 - once, for all workers

    for module in preloaded:
        with contextlib.suppress(ImportError):  # who needs it will say so
            importlib.import_module(module)
    serve(socket.socket(fileno=control_fd))


def serve(control: socket.socket) -> None:
    """Obeys until the control socket closes, and ends what it started."""
    offspring.adopt()
    workers: dict[int, Group | None] = {}
    twins: set[int] = set()
    try:
        while True:
            while twins and not select.select([control], [], [], REAPED_EVERY_S)[0]:
                twins -= {pid for pid in twins if os.waitpid(pid, os.WNOHANG)[0]}
            request = receive(control)
            if request is None:
                return
            reply = obey(control, *request, workers, twins)
            if reply is not None:
                control.sendall(json.dumps(reply).encode() + b"\n")
    finally:
        for pid in twins:
            end(pid, kill=False)  # who has one has closed it, or has ended
        for pid in workers:
            end(pid, kill=True)
        for pid, group in workers.items():
            clear(pid, group, {}, set())


def obey(
    control: socket.socket, message: dict, descriptors: list[int], workers: dict[int, Group | None], twins: set[int]
) -> dict | None:
    """Carries out one request and keeps `workers`, each with its control group, and `twins`, the process ids of those
    that have not been ended."""
    if "twin" in message:
        twins.add(twin(control, *descriptors))
        return None
    if "fork" in message:
        group = cgroup.made()
        pid = fork(control, descriptors, group, **message["fork"])
        workers[pid] = group
        return {"pid": pid, "template": os.getpid()}
    pid = message["end"]
    group = workers.pop(pid)
    exit_code = end(pid, message["kill"])
    return {"exit_code": exit_code, "left": clear(pid, group, workers, twins)}


def receive(control: socket.socket) -> tuple[dict, list[int]] | None:
    """The next request and the file descriptors that came with it; None where the parent has closed the socket."""
    line = b""
    descriptors: list[int] = []
    while not line.endswith(b"\n"):
        chunk, received, _, _ = socket.recv_fds(control, _MAX_REQUEST_BYTES, 2)
        if not chunk:
            return None
        line += chunk
        descriptors += received
    return json.loads(line), descriptors


def fork(control: socket.socket, descriptors: list[int], group: Group | None, **served: Any) -> int:
    """The process id of a new worker, in a control group of its own where there is one, which owns `descriptors`: its
    socket and its log."""
    pid = os.fork()
    if pid == 0:
        exit_code = 1
        try:
            control.close()
            if group is not None:
                group.enter()
            exit_code = work(*descriptors, **served)
        finally:
            os._exit(exit_code)  # whatever happened: a worker never returns into the template's loop
    os.setpgid(pid, pid)  # a group of its own, so that what it starts ends with it
    for descriptor in descriptors:
        os.close(descriptor)
    return pid


def twin(control: socket.socket, descriptor: int) -> int:
    """The process id of another template, which obeys the control socket `descriptor`."""
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            serve(socket.socket(fileno=descriptor))
        finally:
            os._exit(0)
    os.close(descriptor)
    return pid


def work(
    connection_fd: int, log_fd: int, directory: str, backend: str | None, threads: int, imports: list[str]
) -> int:
    """The worker: serves its socket in `directory`, printing to its log, and returns its exit code."""
    confine.set_traceable(True)  # by its own kind; a jail's template is not
    os.set_inheritable(connection_fd, False)
    for stream in (1, 2):
        os.dup2(log_fd, stream)
    os.close(log_fd)
    sys.stdout.reconfigure(line_buffering=True)
    faulthandler.enable()
    try:
        os.chdir(directory)
        from conform.backends import worker  # imports torch, which the template has by now

        with socket.socket(fileno=connection_fd) as connection:
            worker.serve(connection, backend, threads, imports)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def end(pid: int, kill: bool) -> int:
    """Waits for a worker's end, kills it if need be, and returns its exit code (a signal: < 0)."""
    deadline = time.monotonic() + (0 if kill else LINGER_S)
    while not (ended := os.waitpid(pid, os.WNOHANG))[0] and time.monotonic() < deadline:
        time.sleep(0.002)
    if not ended[0]:
        os.kill(pid, signal.SIGKILL)
        ended = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(ended[1])


def clear(pid: int, group: Group | None, workers: Collection[int], twins: set[int]) -> list[str]:
    """Kills what worker `pid`, which has ended, left running; the names of that.

    While other `workers` live, no more than its control group and its process group are known to be its own.
    """
    left = [] if group is None else group.end()
    if not workers:
        left += offspring.kill_all_but(twins)
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left in its process group
        os.killpg(pid, signal.SIGKILL)
    return sorted({*left})


if __name__ == "__main__":
    main(int(sys.argv[1]), *map(json.loads, sys.argv[2:]))
    os._exit(0)  # nothing to tidy up, and torch takes its time over it
