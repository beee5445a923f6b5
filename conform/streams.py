"""What the program is given by the shell, made fit for use: standard streams, and files that it may open."""

from __future__ import annotations

import os
import resource
import sys

from conform.errors import UsageError

FILES = 64  # the kit's own, the template's and a worker's, and those that are open while something is imported


def repair() -> None:
    """Opens what is closed (`2>&-`), so that no socket gets its number, and lets any text be printed.

    A closed stdout is a message and the end, exit code 2: nothing could be told.
    """
    is_told = sys.stdout is not None
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
    sys.stderr = sys.stderr or open(2, "w", errors="backslashreplace", closefd=False)  # noqa: SIM115 - for ever
    if not is_told:
        sys.stderr.write("conform: the output cannot be written: stdout is closed\n")
        sys.exit(UsageError.exit_code)
    sys.stdout.reconfigure(errors="backslashreplace")  # a path need not be UTF-8


def require_files() -> None:
    """Raises the limit of open files as far as needed; UsageError where that is not allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < FILES:
        if hard != resource.RLIM_INFINITY and hard < FILES:
            raise UsageError(f"only {hard} files may be open (ulimit -n); {FILES} are needed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))
