"""Ctrl-C and its like on the command line: while the program loads it leaves at once, later what ran is kept.

Python's way, an exception wherever the program happens to be, is swallowed by some packages as they are imported, and
by destructors; so it is remembered as well, and raised again at the next verdict (`check`). Once what ran is being
written, nothing interrupts any more.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130  # 128 + SIGINT, as shells have it
TERMINATED = 143  # 128 + SIGTERM; SIGHUP, a terminal that was closed, as well
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP; what lets Ctrl-C pass lets it pass too."""


class _State:
    is_program = False  # only then are the signals the kit's business
    held: tuple[int, ...] = ()
    received: type[KeyboardInterrupt] | None = None


def leave_at_once() -> None:
    """From here on Ctrl-C ends the process, unless it is ignored (as in the background of a shell)."""
    _State.is_program = True
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def raise_instead() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt, and SIGTERM and SIGHUP raise Terminated, the first of them that
    comes: there is something to keep, or to tidy up. Those that are ignored stay so (nohup)."""
    if _State.is_program:
        for number in _ENDING:
            if signal.getsignal(number) in (_leave, signal.SIG_DFL):
                signal.signal(number, _raise_once)


def check() -> None:
    """Raises what came and was swallowed."""
    if _State.received:
        raise _State.received


def hold() -> None:
    """From here on none of them ends the process: what ran is being written."""
    for number in _ENDING:
        if signal.getsignal(number) is _raise_once:
            signal.signal(number, signal.SIG_IGN)
            _State.held += (number,)


def release() -> None:
    """What ran is written, and more is to run: those that were held end the process again."""
    for number in _State.held:
        signal.signal(number, _raise_once)
    _State.held = ()


def exit_code(interruption: KeyboardInterrupt) -> int:
    """130 or 143."""
    return TERMINATED if isinstance(interruption, Terminated) else INTERRUPTED


def name(interruption: KeyboardInterrupt) -> str:
    """What came."""
    return "terminated" if isinstance(interruption, Terminated) else "interrupted"


def _leave(*_: object) -> None:
    os.write(2, b"conform: interrupted\n")
    os._exit(INTERRUPTED)


def _raise_once(number: int, frame: object) -> None:
    if _State.received is None:
        _State.received = KeyboardInterrupt if number == signal.SIGINT else Terminated
        raise _State.received
