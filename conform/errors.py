"""The exceptions a user of the kit meets; each carries the exit code of the command line."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable


class ConformError(Exception):
    """Base of everything the kit raises on purpose; the command line prints the message and exits with `exit_code`."""

    exit_code = 2


class UsageError(ConformError):
    """Bad input: an unknown name, an unreadable or invalid file, a filter that matches nothing."""


class Scarcity(UsageError):
    """The machine, or the limits that the user set (ulimit), gives no more files, processes or memory."""

    @staticmethod
    def of(error: Exception) -> Scarcity | None:
        """What an exception means, if it means that."""
        if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN):
            return Scarcity(f"{error.strerror}: more is needed to run a backend beside the kit (see `ulimit -a`)")
        if isinstance(error, MemoryError):
            return Scarcity("there is not enough memory: a file, or what is made of it, is larger than what is left")
        return None


class Unjudged(ConformError):
    """The kit has no semantics for an op, or could not decide a result. Never a guess."""

    exit_code = 3


class Undecided(Unjudged):
    """A result so near to a rounding boundary that the highest precision does not tell on which side it lies."""


class NoGolden(UsageError, Unjudged):
    """A user's own reference program does what has no sound golden. In a run its cases are unjudged."""


class KitDefect(Unjudged):
    """The kit itself failed on a case. The run goes on, and ends with exit code 70 (EX_SOFTWARE of sysexits.h)."""

    exit_code = 70


class Unsupported(ConformError):
    """Raised by a backend for what it does not do, with its reason; the case ends as `unsupported`."""


class Fallback(ConformError):
    """Raised by a backend for what it handed to another one, with the reason; the case ends as `fallback`."""

    exit_code = 3


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'X'?` for the closest known name, or an empty string."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


class InvalidArguments(ConformError):
    """The op's definition rejects these arguments; a conformant backend raises too."""
