"""The calls that a worker answered last: it may die of one of them while it is busy with another."""

from __future__ import annotations

import time
from collections import deque
from typing import NamedTuple

from conform.backends.pending import Pending

MOST_CALLS = 32
MOST_BYTES = 2**24  # of what goes into them, but for the last one
MOST_AGE_S = 1.0  # since their answers, but for the last one
WATCHED_S = 0.5  # how long a worker is watched that was asked such calls alone, at least


class Suspect(NamedTuple):
    call: Pending
    age_s: float  # since its answer


class Suspects:
    """Those of one worker, the oldest first."""

    def __init__(self) -> None:
        self._answered: deque[tuple[Pending, float]] = deque()
        self._bytes = 0  # of what went into them

    def __len__(self) -> int:
        return len(self._answered)

    def add(self, call: Pending) -> None:
        """It was answered now."""
        while self._answered and (self._bytes > MOST_BYTES or len(self._answered) >= MOST_CALLS):
            self._bytes -= len(self._answered.popleft()[0].payload)
        self._answered.append((call, time.monotonic()))
        self._bytes += len(call.payload)

    def clear(self) -> None:
        """The worker is another one."""
        self._answered.clear()
        self._bytes = 0

    def by_now(self) -> list[Suspect]:
        """Those that are to be asked about a worker that was lost now."""
        now = time.monotonic()
        found = [Suspect(call, now - answered_at) for call, answered_at in self._answered]
        return [one for one in found[:-1] if one.age_s <= MOST_AGE_S] + found[-1:]


def time_to_watch_s(suspects: list[Suspect], most_s: float) -> float:
    """How long a worker that was asked these again is watched: as late as one of them may have ended it, twice."""
    return min(max(2 * suspects[0].age_s, WATCHED_S), most_s)
