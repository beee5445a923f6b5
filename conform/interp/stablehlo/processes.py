"""Processes of a grid that run in turns: each until it ends, or waits for what another one has to give.

The turns are those of the processes in order, so that a program has one run. Where all that are left wait for what
nobody gives, the program is at a deadlock, which is an error that names the ops that wait.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from conform.errors import Scarcity, Unjudged, UsageError
from conform.interp.program.form import Function, Op

Task = Callable[[], tuple[Any, ...]]
PROCESSES = 1024  # each has a thread


class ProcessId(NamedTuple):
    """Where a process is in the grid."""

    replica: int
    partition: int

    def __str__(self) -> str:
        return f"({self.replica}, {self.partition})"


FIRST = ProcessId(0, 0)


class _Stopped(BaseException):
    """Another process ended the run."""


class _Turn:
    """A process that runs in a thread of its own, while the others stand still."""

    def __init__(self, process: ProcessId, task: Task, back: threading.Semaphore) -> None:
        self.process, self.task, self.back = process, task, back
        self.go = threading.Semaphore(0)
        self.ready: Callable[[], bool] = lambda: True
        self.waits = ""
        self.results: tuple[Any, ...] | None = None
        self.error: BaseException | None = None
        self.is_stopped = False
        self.thread = threading.Thread(target=self._run, daemon=True)

    @property
    def is_over(self) -> bool:
        return self.results is not None or self.error is not None

    def _run(self) -> None:
        self.go.acquire()
        try:
            self.results = self.task()
        except BaseException as error:  # told in the thread that waits for all of them
            self.error = error
        self.back.release()

    def resume(self) -> None:
        """Let it run until it ends or waits."""
        self.go.release()
        self.back.acquire()

    def wait(self, ready: Callable[[], bool], waits: str) -> None:
        """Called by the process itself: stand still until `ready`; `waits` says at what."""
        if ready():
            return
        self.ready, self.waits = ready, waits
        self.back.release()
        self.go.acquire()
        if self.is_stopped:
            raise _Stopped


class Exchange:
    """What the processes of one grid give each other: contributions to collectives, and messages in channels."""

    def __init__(self, replicas: int, partitions: int, infeed: Sequence[Task] = ()) -> None:
        self.replicas, self.partitions = replicas, partitions
        self.given: dict[tuple[Any, ...], Any] = {}
        self.takers: dict[tuple[Any, ...], int] = {}
        self.counts: Counter[tuple[Any, ...]] = Counter()
        self.infeed, self.fed = infeed, 0
        self.sent: dict[tuple[Any, ...], str] = {}  # what nobody has received yet, and the op that sent it
        self.ends: dict[tuple[str, Any], ProcessId] = {}  # who sends, receives or reads where there can be but one
        self.turns: dict[ProcessId, _Turn] = {}

    @property
    def ids(self) -> list[ProcessId]:
        """All processes, by replica and then by partition."""
        return [ProcessId(r, p) for r in range(self.replicas) for p in range(self.partitions)]

    def only(self, end: str, what: Any, process: ProcessId) -> None:
        """Unjudged where a second process takes what the specification gives no order for."""
        first = self.ends.setdefault((end, what), process)
        if first != process:
            raise Unjudged(f"the processes {first} and {process} both {end}: nothing says in which order")

    def occurrence(self, process: ProcessId, *key: Any) -> tuple[Any, ...]:
        """The key of a step that a process takes, with how often it has taken it before."""
        own = (process, *key)
        self.counts[own] += 1
        return *key, self.counts[own]

    def give(self, key: tuple[Any, ...], process: ProcessId, value: Any, takers: int) -> None:
        """Kept until so many have taken it."""
        if takers:
            self.given[(*key, process)] = value
            self.takers[(*key, process)] = takers

    def take(self, key: tuple[Any, ...], givers: Sequence[ProcessId], taker: ProcessId, waits: str) -> list[Any]:
        """What `givers` give under `key`, once all of them have."""
        keys = [(*key, giver) for giver in givers]

        def ready() -> bool:
            return all(one in self.given for one in keys)

        self.until(taker, ready, waits)
        return [self._taken(one) for one in keys]

    def _taken(self, key: tuple[Any, ...]) -> Any:
        self.takers[key] -= 1
        if self.takers[key]:
            return self.given[key]
        del self.takers[key]
        return self.given.pop(key)

    def until(self, process: ProcessId, ready: Callable[[], bool], waits: str) -> None:
        """Called by a process: let the others have their turns until `ready`. UsageError where there are no others."""
        turn = self.turns.get(process)
        if turn is not None:
            turn.wait(ready, waits)
        elif not ready():
            raise UsageError(f"deadlock: {process} waits at {waits}")

    def run(self, tasks: Sequence[Task]) -> list[tuple[Any, ...]]:
        """The results of all processes, whose tasks are in their order. The first error of any of them; UsageError at
        a deadlock, Unjudged of a grid of more than 1024 processes."""
        if len(tasks) > PROCESSES:
            raise Unjudged(f"a grid of {len(tasks)} processes; the kit runs {PROCESSES} at most")
        back = threading.Semaphore(0)
        self.turns = {one: _Turn(one, task, back) for one, task in zip(self.ids, tasks, strict=True)}
        try:
            self._start()
            self._take_turns()
        finally:
            self._stop()
        return [turn.results or () for turn in self.turns.values()]

    def _start(self) -> None:
        for turn in self.turns.values():
            try:
                turn.thread.start()
            except RuntimeError as error:
                raise Scarcity(f"{error}: a grid of {len(self.turns)} processes needs as many threads") from None

    def _take_turns(self) -> None:
        while left := [turn for turn in self.turns.values() if not turn.is_over]:
            able = [turn for turn in left if turn.ready()]
            if not able:
                told = "; ".join(f"{turn.process} waits at {turn.waits}" for turn in left)
                raise UsageError(f"deadlock: {told}")
            for turn in able:
                turn.resume()
                if turn.error is not None:
                    raise turn.error

    def _stop(self) -> None:
        for turn in self.turns.values():
            turn.is_stopped = True
            if turn.thread.is_alive() and not turn.is_over:
                turn.task = _stopped
                turn.resume()


def _stopped() -> tuple[Any, ...]:
    raise _Stopped


@dataclass
class Told:
    """What programs say beside their results, in the order in which they say it."""

    checks: list[Any] = field(default_factory=list)
    printed: list[tuple[str, Any]] = field(default_factory=list)  # the place of the op, and what it shows
    probed: dict[str, list[Any]] = field(default_factory=dict)  # by probe_id


Evaluated = Callable[[Function, Sequence[Any], "Process"], tuple[Any, ...]]


@dataclass(frozen=True)
class Process:
    """One process of a grid, as its ops see it; `evaluated` runs a function as a process."""

    id: ProcessId = FIRST
    exchange: Exchange = field(default_factory=lambda: Exchange(1, 1))
    evaluated: Evaluated | None = None
    told: Told = field(default_factory=Told)

    def collective(self, op: Op, channel: int, group: Sequence[ProcessId], value: Any) -> list[Any]:
        """The values that all processes of `group` give at the same op."""
        key = self.exchange.occurrence(self.id, op.name, channel, tuple(group))
        self.exchange.give(key, self.id, value, takers=len(group))
        missing = [one for one in group if (*key, one) not in self.exchange.given]
        return self.exchange.take(key, group, self.id, f"{placed(op)} for {', '.join(map(str, missing))}")


def placed(op: Op) -> str:
    return f"{op.name} ({op.location})" if op.location else op.name
