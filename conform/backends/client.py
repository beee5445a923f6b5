"""A backend in a process of its own, as the rest of the kit sees it: calls in, replies out in order, come what may."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from conform.backends.base import BackendUnavailable
from conform.backends.call import Call, encode_call
from conform.backends.channel import Channel, Closed
from conform.backends.given import Given
from conform.backends.jail import Jail
from conform.backends.launcher import Template, describe_exit
from conform.backends.log import Log
from conform.backends.pending import Pending
from conform.backends.protocol import MOST, Most, ProtocolError, parse_header, payload_of
from conform.backends.reply import Reply, decode_greeting, decode_reply
from conform.backends.spelling import spelt
from conform.backends.suspects import Suspect, Suspects, time_to_watch_s
from conform.errors import UsageError
from conform.foreign import line

# How long torch's import and a backend's loading (a device's first use, an engine's start) may take together.
START_TIMEOUT_S = 300.0
NOTICE_AFTER_S = 5.0  # of silent loading
_REASON_CHARACTERS = 2000  # why a backend does not load, which may name several paths
SETTLED_S = 0.2  # how long it is watched after the last answer of a run
# What a worker tells of its backend that is the same whenever one is started.
IDENTITY = (
    "name", "version", "device", "exports", "compute", "flushes_subnormals", "rounds_intermediates",
    "accumulates_in_element_type", "keeps_intermediates", "views_share_memory", "numerics",
)  # fmt: skip


class _Silent(Exception):
    """The worker has not answered in time."""


_FAILURES = (_Silent, Closed, ProtocolError)


class BackendProcess:
    """A backend, by its name or as it was given, in a worker process; a context manager.

    Several calls may be in flight: `receive` answers them in the order of `submit`. A call on which the worker dies,
    or which it does not answer within `timeout_s` seconds, is answered with status "crash" or "timeout"; a new worker
    takes the calls behind it. A worker may also die of a call that it has answered: then those are asked again.
    `threads` is torch's number of intra-op threads in the worker. `template` may be shared with other
    BackendProcesses, which saves the import of torch; a `jail` needs one of its own. `imports` are modules that the
    worker imports before it looks for the backend.

    Raises, from the first method that needs the worker: UsageError (no backend of this name), BackendUnavailable.
    """

    def __init__(
        self,
        backend: str | Given,
        timeout_s: float = 60.0,
        threads: int = 1,
        template: Template | None = None,
        jail: Jail | None = None,
        imports: Sequence[str] = (),
    ) -> None:
        self.name = backend if isinstance(backend, str) else backend.label
        self._backend = backend
        self._jail = jail
        self._imports = list(imports)
        self._timeout_s = timeout_s
        self._threads = threads
        self._given_template = template
        self._in_flight: deque[Pending] = deque()
        self.submitted = 0  # calls, or several equal ones
        self._suspects = Suspects()
        self._identity: dict[str, Any] | None = None
        self.left_running: list[str] = []  # names of the programs that outlived a worker, and were killed

    def another(self) -> BackendProcess:
        """One more process of the same backend, for calls of its own, that forks from the same template where it may.
        """
        template = None if self._jail else self._template
        return BackendProcess(
            self._backend, self._timeout_s, self._threads, template=template, jail=self._jail, imports=self._imports
        )

    def __enter__(self) -> BackendProcess:
        self._template = self._given_template or Template(self._jail)
        self._started = False
        return self

    def __exit__(self, error: object = None, *_: object) -> None:
        self.retire(kill=error is not None)  # Ctrl-C, perhaps, in the midst of a call
        for call in self._in_flight:
            call.give_up()
        if self._given_template is None:
            self._template.close()

    @property
    def _loaded_as(self) -> str | None:
        """The name by which a worker finds the backend: in a jail there are no links that lead to its file. None for
        one that is given."""
        if isinstance(self._backend, Given):
            return None
        return str(spelt(self.name).resolved()) if self._jail else self.name

    @property
    def in_flight(self) -> int:
        """How many calls were submitted and not yet answered."""
        return len(self._in_flight)

    @property
    def suspected(self) -> int:
        """How many of the last answers a reply may take back (`Reply.before`)."""
        return len(self._suspects)

    def describe(self) -> dict[str, Any]:
        """What the backend's worker tells of it: name, version, device, exports, what it declares, numerics."""
        self._ensure_worker()
        return self._description

    def retire(self, kill: bool = False) -> None:
        """Ends the worker, if there is one, so that `left_running` is complete; the next call starts another."""
        if self._started:
            self._end_worker(kill=kill or bool(self._in_flight))

    def submit(self, call: Call) -> None:
        """Sends a call, without waiting for anything but the start of the worker."""
        self._submit(call, 1)

    def _submit(self, call: Call, times: int) -> None:
        self._ensure_worker()
        frame, storages = encode_call(call, self.submitted, times)
        storages = storages * times
        sizes = [len(storage) for storage in storages]
        pending = Pending(call, self.submitted, frame, payload_of(storages), sizes, times)
        self._in_flight.append(pending)
        self.submitted += 1
        pending.send(self._channel)

    def answer(self, call: Call) -> Reply:
        """The reply to one call, where none is in flight."""
        self.submit(call)
        return self.receive()

    def answers(self, call: Call, times: int) -> list[Reply]:
        """The replies to so many equal calls, where none is in flight, which the worker gets together and answers
        within the time for one; none comes behind one that is no answer. Where the worker is lost on them, they are
        asked one by one, and if that goes well, the loss is the last reply."""
        self._submit(call, times)
        together = self._in_flight.popleft()
        try:
            replies = self._replies_to(together)
        except _FAILURES as failure:
            lost = self._lost_on(failure)
            replies = [self.answer(call)]
            while replies[-1].status == "ok" and len(replies) < times:
                replies.append(self.answer(call))
            if replies[-1].status == "ok":
                replies[-1] = replace(lost, reason=f"{lost.reason}; asked again one by one, they are answered")
        finally:
            together.give_up()
        ends = (place for place, reply in enumerate(replies, 1) if reply.status != "ok")
        return replies[: next(ends, times)]

    def take_back(self, places: Collection[int]) -> None:
        """Calls in flight, by their places in the queue, are not to be run; the worker, which may have begun one of
        them, ends."""
        self.retire(kill=True)
        for place in places:
            self._in_flight[place].give_up()
        self._in_flight = deque(call for place, call in enumerate(self._in_flight) if place not in places)

    def receive(self, most: Most = MOST) -> Reply:
        """The reply to the oldest call in flight, which is a crash if it takes more than `most` bytes. LookupError if
        there is none."""
        if not self._in_flight:
            raise LookupError("receive() without a call in flight")
        self._ensure_worker()
        call = self._in_flight.popleft()
        call.most = most
        try:
            return self._reply_to(call)
        except _FAILURES as failure:
            suspects = self._suspects.by_now()
            lost = self._lost_on(failure)
            if not suspects or isinstance(failure, _Silent):
                return lost
        finally:
            call.give_up()
        return self._blamed(call, lost, suspects)

    def _reply_to(self, call: Pending) -> Reply:
        """The reply that comes next, and what the call did to the memory that was lent for it."""
        (reply,) = self._replies_to(call)
        return reply

    def _replies_to(self, calls: Pending) -> list[Reply]:
        """The replies that come next, to as many equal calls."""
        frames = self._next_frames(self._timeout_s, calls.most, calls.times)
        ends = list(zip(frames, calls.changes(), strict=True))
        replies: list[Reply] = []
        retires = False
        for place, ((text, payload), changes) in enumerate(ends):
            if place > 0 and ends[place - 1] == ends[place]:
                replies.append(replies[-1])
                continue
            header = parse_header(text)
            reply = decode_reply(header, payload, calls.number)
            replies.append(calls.with_changes(reply, changes, self._description["views_share_memory"]))
            retires |= header.get("retire") is True
        self._suspects.add(calls)
        if retires:
            self._end_worker(kill=True)
        return replies

    def settle(self) -> Reply | None:
        """What a call that was answered last deserves instead, as `Reply.before` tells it, where the worker dies or
        speaks within a moment; None mostly. For the end of a run, when there is no call behind that would notice."""
        if not self._started or not self._suspects:
            return None
        try:
            self._watch(SETTLED_S)
        except _FAILURES as failure:
            suspects = self._suspects.by_now()
            lost = self._lost_on(failure)
            with contextlib.suppress(BackendUnavailable):
                return self._culprit(suspects) or _though_answered(lost)
            return lost
        return None

    # --- Who is to blame ----------------------------------------------------------------------------------------------

    def _blamed(self, call: Pending, lost: Reply, suspects: list[Suspect]) -> Reply:
        """The reply to a call on which a worker was lost that had answered `suspects` before.

        A thread that one of them has left may have aborted, or written a frame too many; so the call is asked again
        alone, and where that goes well, those before, after which the worker is watched for some time.
        """
        try:
            again = self._again([call], 0.0)
            if again.status in ("crash", "timeout"):
                return lost
            before = self._culprit(suspects)
        except BackendUnavailable:  # told to whoever asks for the next reply; that a worker was lost stays true
            return lost
        if before is not None:
            return replace(again, before=before)
        return _though_answered(lost)

    def _culprit(self, suspects: list[Suspect]) -> Reply | None:
        """What the one deserves of which a worker dies, the last one mostly; None where it dies of none."""
        reply = self._after(suspects[-1:])
        if reply.status == "crash":
            return reply
        some, behind = suspects[:-1], 1
        if not some or self._after(some).status != "crash":
            return None
        while len(some) > 1:
            later = some[len(some) // 2 :]
            if self._after(later).status == "crash":
                some = later
            else:
                some, behind = some[: len(some) // 2], behind + len(later)
        reply = self._after(some)
        return replace(reply, calls_before=1 + behind) if reply.status == "crash" else None

    def _after(self, suspects: list[Suspect]) -> Reply:
        """The reply to the last of these, asked again without any other call; a crash if they end the worker."""
        return self._again([call for call, _ in suspects], time_to_watch_s(suspects, self._timeout_s))

    def _again(self, calls: list[Pending], watched_s: float) -> Reply:
        """The last reply of a worker that gets these calls and no other; a crash if it ends or speaks within
        `watched_s`."""
        others, self._in_flight = self._in_flight, deque(calls)
        try:
            while self._in_flight:
                self._ensure_worker()
                *_, reply = self._replies_to(self._in_flight.popleft())
            if self._started:
                self._watch(watched_s)
        except _FAILURES as failure:
            return self._lost_on(failure)
        finally:
            self._in_flight = others
            for call in calls:
                call.give_up()
        if self._started:
            self._end_worker(kill=True)
        return reply

    def _watch(self, watched_s: float) -> None:
        """Raises Closed or ProtocolError if the worker ends, or says anything, though nothing was asked."""
        with contextlib.suppress(_Silent):
            self._next_frames(watched_s, MOST)
            raise ProtocolError("a frame came that answers no call")

    # --- The worker's life --------------------------------------------------------------------------------------------

    def _ensure_worker(self) -> None:
        """Starts a worker if there is none and sends it what is in flight."""
        if self._started:
            return
        ours, theirs = socket.socketpair()
        with theirs, ExitStack() as unless_started:
            unless_started.enter_context(ours)
            self._log = unless_started.enter_context(Log())
            self._pid = self._template.fork(self._loaded_as, self._threads, self._imports, theirs, self._log)
            unless_started.pop_all()
        self._log.close_writer()
        self._channel = Channel(ours, self._log)
        self._started = True
        if isinstance(self._backend, Given):
            self._channel.send(self._backend.frame)
        self._description = self._greeting()
        for call in self._in_flight:
            call.send(self._channel)

    def _greeting(self) -> dict[str, Any]:
        """The description in the worker's first frame."""
        try:
            if not self._channel.wait(NOTICE_AFTER_S):
                print(f"conform: still loading backend {self.name!r}, at most {START_TIMEOUT_S:g} s", file=sys.stderr)
            ((text, _),) = self._next_frames(START_TIMEOUT_S, MOST)
            header = parse_header(text)
            if "hello" in header:
                return self._same(decode_greeting(header["hello"]))
        except UsageError as error:
            self._end_worker(kill=True)
            raise UsageError(f"backend {self.name!r}: {error}") from None
        except _FAILURES as failure:
            reply = self._lost_on(failure)
            raise BackendUnavailable(f"backend {self.name!r} did not start: {reply.reason}\n{reply.log}") from None
        self._end_worker(kill=False)
        if "usage" in header:
            raise UsageError(line(header["usage"], _REASON_CHARACTERS))
        reason = line(header.get("unavailable"), _REASON_CHARACTERS)
        raise BackendUnavailable(f"backend {self.name!r} is not available: {reason}")

    def _same(self, described: dict[str, Any]) -> dict[str, Any]:
        """The description, which identifies the backend as it did when it was started before."""
        identity = {field: described[field] for field in IDENTITY}
        if self._identity not in (None, identity):
            self._end_worker(kill=True)
            changed = ", ".join(field for field in IDENTITY if self._identity[field] != identity[field])
            raise BackendUnavailable(f"backend {self.name!r} was started again, and its {changed} is another one")
        self._identity = identity
        return described

    def _next_frames(self, timeout_s: float, most: Most, count: int = 1) -> list[tuple[bytes, bytes]]:
        """Header and payload of the worker's next frames; _Silent where they have not come in full after `timeout_s`,
        however many bytes moved: one a second would keep a clock going that each byte sets back."""
        deadline = time.monotonic() + timeout_s
        frames: list[tuple[bytes, bytes]] = []
        while len(frames) < count:
            if (frame := self._channel.next_frame(most)) is not None:
                frames.append(frame)
            elif time.monotonic() >= deadline:
                raise _Silent(f"no answer for {timeout_s:g} s")
            else:
                self._channel.wait(deadline - time.monotonic())
        return frames

    def _end_worker(self, kill: bool) -> tuple[int | None, str]:
        """Its exit code (None if nobody knows) and the end of its log."""
        self._started = False
        self._suspects.clear()
        self._channel.close()
        exit_code, left = self._template.end(self._pid, kill)
        self.left_running = sorted({*self.left_running, *left})
        with self._log:
            return exit_code, self._log.tail()

    def _lost_on(self, failure: Exception) -> Reply:
        """Ends the worker, which failed so; the reply to the call it failed on."""
        exit_code, log = self._end_worker(kill=not isinstance(failure, Closed))
        if isinstance(failure, ProtocolError):
            return Reply("crash", line(f"the worker broke the protocol: {failure}"), log=log)
        if isinstance(failure, _Silent) and exit_code in (None, -signal.SIGKILL):
            return Reply("timeout", str(failure), log=log)
        if exit_code is None:
            return Reply("crash", "the worker ended, and its template process with it", log=log)
        return Reply("crash", describe_exit(exit_code), log=log)


def _though_answered(lost: Reply) -> Reply:
    return replace(lost, reason=f"{lost.reason}; asked again alone, it is answered")
