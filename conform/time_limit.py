"""A limit on the time that a golden or a judgement may take: an alarm, which raises where Python is.

Python's handler of a signal runs between two bytecodes of the main thread, so the exception comes after the call into
numpy or gmpy2 that is going on. Those are short: a golden is made in blocks, of a size that is limited. What an
exception may leave behind in the midst of a calculation is put back: numpy's floating-point settings belong to a
context that is thrown away, mpmath's precision is set anew. The semantics hold no locks and keep nothing but caches,
which an exception leaves unfilled.
"""

from __future__ import annotations

import contextvars
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

import mpmath

from conform.errors import Unjudged

GOLDEN_TIMEOUT_S = 60.0
_AGAIN_S = 0.5  # a destructor, in which Python swallows exceptions, may have swallowed the first

T = TypeVar("T")


class TookTooLong(BaseException):
    """Nothing that takes an Exception for an answer takes this one."""


def is_enforced() -> bool:
    """Whether there is a limit: signals reach the main thread alone."""
    return threading.current_thread() is threading.main_thread()


def limited(limit_s: float, function: Callable[[], T]) -> T:
    """What `function` returns; TookTooLong if that takes longer than `limit_s` seconds.

    In another thread than the main one there is no limit. An alarm that was set before goes off when it is due, or when
    `function` has ended.
    """
    if not is_enforced():
        return function()
    alarm = _Alarm(limit_s)
    precision = mpmath.mp.prec
    try:
        alarm.set()
        try:
            return contextvars.copy_context().run(function)
        finally:
            alarm.is_set = False  # from here on an alarm that is on its way raises nothing
    except TookTooLong:
        mpmath.mp.prec = precision
        raise
    finally:
        alarm.put_back()


def or_unjudged(what: str, limit_s: float, function: Callable[[], T]) -> T:
    """What `function` returns; Unjudged, with the words for `what` it computes, if that takes longer than `limit_s`
    seconds."""
    try:
        return limited(limit_s, function)
    except TookTooLong:
        raise Unjudged(f"{what} took longer than {limit_s:g} s") from None


class _Alarm:
    """Raises TookTooLong after `limit_s`, and then again, while `is_set`."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._delay_before = self._interval_before = 0.0  # until `set` knows: it may ring before
        self.is_set = True

    def set(self) -> None:
        """Takes the place of the alarm that was set before, if there was one."""
        self._started_s = time.monotonic()
        self._handler_before = signal.signal(signal.SIGALRM, self._ring)
        self._delay_before, self._interval_before = signal.setitimer(signal.ITIMER_REAL, self._limit_s, _AGAIN_S)

    def put_back(self) -> None:
        """Gives the alarm before its place again, with the time that it has left."""
        self.is_set = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, self._handler_before)
        if self._delay_before:
            left_s = self._delay_before - (time.monotonic() - self._started_s)
            signal.setitimer(signal.ITIMER_REAL, max(left_s, 1e-3), self._interval_before)

    def _ring(self, number: int, frame: FrameType | None) -> None:
        if self.is_set:
            raise TookTooLong
