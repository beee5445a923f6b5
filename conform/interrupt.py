"""Ctrl-C on the command line: while the program loads it leaves at once, later what ran is kept.

Python's way, an exception wherever the program happens to be, is swallowed by some packages as they are imported.
"""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130  # 128 + SIGINT, as shells have it


def leave_at_once() -> None:
    """From here on Ctrl-C ends the process, unless it is ignored (as in the background of a shell)."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def raise_instead() -> None:
    """From here on Ctrl-C raises KeyboardInterrupt again: there is something to keep, or to tidy up."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(*_: object) -> None:
    os.write(2, b"conform: interrupted\n")
    os._exit(INTERRUPTED)
