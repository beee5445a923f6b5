"""What a worker prints: the last of it, however much it is."""

from __future__ import annotations

import os
import re

from conform.foreign import lines

KEPT_BYTES = 1 << 13
_TAIL_LINES = 20
_TAIL_COLUMNS = 160
_TAIL_CHARACTERS = 2000
_CHUNK_BYTES = 1 << 16
# Addresses differ from run to run; faulthandler's list of extension modules says nothing of the crash, nor do the kit's
# own frames below the backend's.
_OWN = r'  File "(?:[^"]*/conform/backends/(?:worker|template)\.py|<frozen runpy>)", line'
_NOISE = re.compile(rf"^(?:Extension modules: |{_OWN}).*\n?", re.MULTILINE)
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")


class Log:
    """The reading end of a pipe that a worker prints to; `writer` is the other one, for the worker.

    A file would grow while nobody looks. Who fills a pipe waits until it is read, which the parent does whenever it
    waits for the worker; it keeps the last 8 KiB. `is_open` turns False once nobody holds the writing end.
    """

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._last = b""
        self._is_closed = False
        self.is_open = True

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fileno(self) -> int:
        """The reading end, to be polled."""
        return self._reader

    def close_writer(self) -> None:
        """The worker has its own by now."""
        if self.writer >= 0:
            os.close(self.writer)
            self.writer = -1

    def take(self) -> bool:
        """Reads a chunk of what was printed, without waiting; whether there was any."""
        try:
            chunk = os.read(self._reader, _CHUNK_BYTES)
        except BlockingIOError:
            return False
        self.is_open = bool(chunk)
        self._last = (self._last + chunk)[-KEPT_BYTES:]
        return bool(chunk)

    def tail(self) -> str:
        """The last lines that were printed."""
        for _ in range(64):  # more than a pipe holds; a child of the worker's may print for ever
            if not self.take():
                break
        return tidied(self._last)

    def close(self) -> None:
        """Closes both ends."""
        if not self._is_closed:
            self._is_closed = True
            self.close_writer()
            os.close(self._reader)


def tidied(printed: bytes) -> str:
    """The last lines of what was printed, without what differs from run to run."""
    text = _ADDRESS.sub("0x...", _NOISE.sub("", printed.decode(errors="replace")))
    last = text.strip().splitlines()[-_TAIL_LINES:]
    return lines("\n".join(last), _TAIL_COLUMNS)[-_TAIL_CHARACTERS:]
