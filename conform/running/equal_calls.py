"""Equal calls, one after another: many in one frame where they are small and quick, the last in another process."""

from __future__ import annotations

import time

from conform.backends.call import Call, encode_call
from conform.backends.client import BackendProcess
from conform.backends.reply import Output, Reply
from conform.suites.repeats import times_of

# The most that go together. The first call, alone, tells how long one takes: far less than the time limit, together.
MOST_CALLS = 64
MOST_BYTES = 2**20  # of what goes in, and of what comes out
MOST_SECONDS = 0.25


class EqualCalls:
    """Asks a process of a backend for equal calls, and another one that it starts when it is first needed."""

    def __init__(self, process: BackendProcess) -> None:
        self._process = process
        self._other: BackendProcess | None = None

    def replies(self, call: Call, times: int) -> list[Reply]:
        """The replies to so many of a call, or to fewer where they are large (`times_of`), and to one in another
        process; none comes behind one that is no answer."""
        since = time.perf_counter()
        replies = [self._process.answer(call)]
        together = _together(call, replies[0], time.perf_counter() - since)
        times = times_of(times, replies[0].shapes)
        while replies[-1].status == "ok" and len(replies) < times:
            replies += self._process.answers(call, min(together, times - len(replies)))
        return [*replies, self._another().answer(call)] if replies[-1].status == "ok" else replies

    def _another(self) -> BackendProcess:
        if self._other is None:
            self._other = self._process.another()
            self._other.__enter__()
        return self._other

    def close(self) -> None:
        """Ends the other process; what it left running is told by the first."""
        if self._other is not None:
            self._other.__exit__()
            self._process.left_running = sorted({*self._process.left_running, *self._other.left_running})


def _together(call: Call, reply: Reply, seconds: float) -> int:
    """How many calls may go in one frame, by what one takes."""
    sent = sum(map(len, encode_call(call, 0)[1]))
    came = sum(one.array.nbytes for one in reply.outputs if isinstance(one, Output))
    return max(1, min(MOST_CALLS, MOST_BYTES // max(1, sent, came), int(MOST_SECONDS / seconds)))
