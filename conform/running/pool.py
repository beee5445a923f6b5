"""Processes of the kit: each judges some groups of the cases, on a backend process of its own.

They are forks of the process that selected the cases, so what goes to them is the number of a group, and what comes
back a verdict at a time. Two groups are with each of them, so that none waits. One that dies (out of memory, perhaps)
is replaced by one that sends its backend a call at a time; if that dies as well, the case which it was at is the
kit's defect, and the run goes on.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from operator import itemgetter
from typing import Any

from conform.backends.base import BackendUnavailable
from conform.backends.client import IDENTITY, BackendProcess
from conform.backends.launcher import Template, describe_exit
from conform.errors import ConformError, KitDefect, Scarcity
from conform.judging.checks import EVERY
from conform.judging.ended import defect, undecided
from conform.judging.verdict import Verdict
from conform.running.breaker import Breaker
from conform.suites.cases import Case

AHEAD = 2  # groups that a process holds
CASES_PER_PROCESS = 200  # fewer are not worth another one
BYTES_PER_PROCESS = 2 * 2**30  # of the machine's memory

_THE_PARENTS = (signal.SIGINT, signal.SIGHUP)
_BLOCKED = (*_THE_PARENTS, signal.SIGTERM)

Judged = Callable[..., Iterator[Verdict]]  # of groups, a process, its description and `in_flight`


def worth_while(cases: int, wanted: int | None = None, threads: int = 1) -> int:
    """How many processes so many cases keep busy: `wanted`, or as many as there are cores and memory for, where each
    has a backend of so many `threads`."""
    if wanted is None:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        wanted = min(cores() // threads, memory // BYTES_PER_PROCESS)
    return max(1, min(wanted, cases // CASES_PER_PROCESS))


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Alone:
    """This process judges `groups` itself, with the interface of a Pool."""

    def __init__(
        self,
        backend: Callable[..., BackendProcess],
        groups: Sequence[Sequence[Case]],
        judged: Judged,
        template: Template | None = None,
    ) -> None:
        self._groups, self._judged, self._template = groups, judged, template
        self._process = backend(template=template)

    def __enter__(self) -> Alone:
        self._process.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._process.__exit__(*error)
        if self._template is not None:
            self._template.close()

    @property
    def left_running(self) -> list[str]:
        """Names of the programs that outlived the backend."""
        return self._process.left_running

    def describe(self) -> dict[str, Any]:
        """What the backend tells of itself. Raises what starting it raises."""
        return self._process.describe()

    def verdicts(self, numbers: Iterator[int]) -> Iterator[Verdict]:
        """The verdicts of the cases of the groups of these numbers, in order."""
        return self._judged((self._groups[number] for number in numbers), self._process, self.describe())


@dataclass
class _Worker:
    """One process, and the cases that it has yet to judge: by their ids, in order, (group, place in it). It leaves
    those of an op that it gives up, as `breaker` knows."""

    process: BaseProcess
    connection: Connection
    is_careful: bool
    has_started: bool = False  # its backend has
    left: dict[str, tuple[int, int]] = field(default_factory=dict)
    breaker: Breaker = field(default_factory=Breaker)

    def send(self, message: object) -> None:
        """Sends it; a process that is gone is found by its connection's end."""
        with contextlib.suppress(ConnectionError):
            self.connection.send(message)


class Pool:
    """`count` processes that judge `groups`; a context manager, which ends them.

    `backend(template=...)` makes the backend process of one of them, and `judged` the verdicts on it; `checks` count.
    Their templates are twins of `template`, which ends with the pool; in a jail each has one of its own (None).
    """

    def __init__(
        self,
        count: int,
        groups: Sequence[Sequence[Case]],
        backend: Callable[..., BackendProcess],
        judged: Judged,
        checks: Collection[str] = EVERY,
        template: Template | None = None,
    ) -> None:
        self._groups, self._backend, self._judged, self._checks = groups, backend, judged, checks
        self._template = template
        self._workers = [self._started(is_careful=False) for _ in range(count)]
        self._described: dict[str, Any] | None = None
        self.left_running: list[str] = []

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.process.kill()  # its template sees that its socket closed, and ends with what it started
            worker.process.join()
        if self._template is not None:
            self._template.close()

    def describe(self) -> dict[str, Any]:
        """What the first process to start its backend tells of it. Raises what starting it raises."""
        while self._described is None:
            for worker in self._ready():
                list(self._hear(worker, iter(())))  # before it is given a group, it has no verdict to give
        return self._described

    def verdicts(self, numbers: Iterator[int]) -> Iterator[Verdict]:
        """The verdicts of the cases of the groups of these numbers, as they come."""
        for worker in self._workers:
            for _ in range(AHEAD):
                self._give(worker, numbers)
        while self._workers:
            for worker in self._ready():
                yield from self._hear(worker, numbers)

    def _ready(self) -> list[_Worker]:
        ready = wait([worker.connection for worker in self._workers])
        return [worker for worker in self._workers if worker.connection in ready]

    def _started(self, is_careful: bool) -> _Worker:
        ours, theirs = multiprocessing.Pipe()
        twin = None if self._template is None else self._template.twin()
        of_parent = [ours.close, *([] if self._template is None else [self._template.leave])]
        backend = partial(self._backend, template=twin)
        target = (theirs, of_parent, self._groups, backend, self._judged, is_careful)
        process = multiprocessing.get_context("fork").Process(target=_serve, args=target, daemon=True)
        with _signals_blocked():
            process.start()
        theirs.close()
        if twin is not None:
            twin.leave()
        return _Worker(process, ours, is_careful)

    def _give(self, worker: _Worker, numbers: Iterator[int]) -> None:
        """Sends a group; None where there is no more."""
        number = next(numbers, None)
        if number is not None:
            worker.left |= {case.id: (number, place) for place, case in enumerate(self._groups[number])}
        worker.send(None if number is None else (number, None))

    def _hear(self, worker: _Worker, numbers: Iterator[int]) -> Iterator[Verdict]:
        """Takes the next message of a process; gives the verdict, if it is one."""
        try:
            kind, content = worker.connection.recv()
        except (EOFError, ConnectionError):
            yield from self._replaced(worker, numbers)
            return
        if kind == "verdict":
            worker.left.pop(content.id, None)
            worker.breaker.note(content)
            yield content
        elif kind == "next":
            self._give(worker, numbers)
        elif kind == "described":
            worker.has_started = True
            self._described = self._same(content)
        elif kind == "ended":
            self.left_running = sorted({*self.left_running, *content})
            self._workers.remove(worker)
            worker.process.join()
        else:
            raise content

    def _same(self, described: dict[str, Any]) -> dict[str, Any]:
        """The description, which identifies the backend as in the other processes."""
        first = self._described or described
        changed = [name for name in IDENTITY if described[name] != first[name]]
        if changed:
            raise BackendUnavailable(
                f"backend {described['name']!r}: its {', '.join(changed)} is another one in another process"
            )
        return first

    def _replaced(self, worker: _Worker, numbers: Iterator[int]) -> Iterator[Verdict]:
        """Has a new process do what is left; gives the verdict on the case of which a careful one died."""
        worker.process.join()
        how = describe_exit(worker.process.exitcode)
        self._workers.remove(worker)
        if not worker.has_started:
            raise KitDefect(f"defect of the kit, please report it: its process ended while starting: {how}")
        worker.left = {
            case_id: (number, place) for case_id, (number, place) in worker.left.items()
            if not worker.breaker.has_given_up(self._groups[number][place].op)
        }  # fmt: skip
        if worker.is_careful and worker.left:
            number, place = worker.left.pop(next(iter(worker.left)))
            reason = f"defect of the kit, please report it: its process ended on this case: {how}"
            yield undecided(self._groups[number][place], KitDefect(reason), self._checks)
        new = self._started(is_careful=True)
        new.left = worker.left
        self._workers.append(new)
        for number, cases in groupby(worker.left.values(), key=itemgetter(0)):
            new.send((number, [place for _, place in cases]))
        self._give(new, numbers)


# --- In a process of the kit ------------------------------------------------------------------------------------------


def _serve(
    connection: Connection,
    of_parent: Sequence[Callable[[], None]],
    groups: Sequence[Sequence[Case]],
    backend: Callable[[], BackendProcess],
    judged: Judged,
    is_careful: bool,
) -> None:
    """Judges the groups that are named over the connection, until there is none or the parent is gone. `of_parent` lets
    go of what is the parent's alone."""
    for let_go in of_parent:
        let_go()
    gc.enable()  # the parent's is paused
    for number in _THE_PARENTS:  # it tells what becomes of the run
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _BLOCKED)
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)  # its other threads, if the parent had any, are none of a fork's
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        try:
            with backend() as process:
                described = process.describe()
                connection.send(("described", described))
                more = {"in_flight": 1} if is_careful else {}
                for verdict in judged(_named(connection, groups), process, described, **more):
                    connection.send(("verdict", verdict))
            connection.send(("ended", process.left_running))
        except Exception as error:
            connection.send(("failed", as_told(error)))


def _named(connection: Connection, groups: Sequence[Sequence[Case]]) -> Iterator[Sequence[Case]]:
    """The groups, or what is left of them, that the parent names, one after the other."""
    while (named := connection.recv()) is not None:
        number, places = named
        group = groups[number]
        yield group if places is None else [group[place] for place in places]
        connection.send(("next", None))


def as_told(error: Exception) -> ConformError:
    """What ends a run, as what it is: told by the kit, a lack of something, or a defect of the kit."""
    return error if isinstance(error, ConformError) else Scarcity.of(error) or defect(error)


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """A signal that comes between fork and the child's own settings would be taken for the parent's."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _BLOCKED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
