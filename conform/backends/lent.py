"""Memory that is lent to a worker for one call: the worker maps it, the parent reads afterwards what has become of it.

The parent compares it with bytes of its own. No word of the worker's enters the comparison, and the parent maps
nothing: a worker that shrinks the file ends no read of the parent's.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from conform.backends.protocol import placement

_PIECE = 2**18  # bytes that a processor's cache holds


class Changes(NamedTuple):
    """What a call did to the memory that it was lent: by the number of each storage that differs its bytes, and whether
    a byte outside every storage does."""

    contents: Mapping[int, bytes]
    overrun: bool

    def of_turn(self, turn: int, count: int) -> Changes:
        """Those of one of several equal calls, each of which was lent `count` storages. A byte outside every storage
        may be that of any."""
        numbers = {turn * count + number: number for number in range(count)}
        return Changes({numbers[one]: was for one, was in self.contents.items() if one in numbers}, self.overrun)


UNCHANGED = Changes({}, False)


class Lent:
    """A nameless file that holds `content`, the payload of a call whose storages have `sizes` bytes."""

    def __init__(self, content: bytes | bytearray, sizes: Sequence[int]) -> None:
        self._content, self._sizes = content, sizes
        self._descriptor = _nameless_file()
        written = 0
        while written < len(content):  # a write takes at most 2 GiB
            written += os.pwrite(self._descriptor, memoryview(content)[written:], written)

    def fileno(self) -> int:
        """The file's descriptor, to be sent to a worker."""
        return self._descriptor

    def changes(self) -> Changes:
        """What differs from what was lent. Of a file that has become shorter, the missing bytes are zeros."""
        if self._is_unchanged():
            return UNCHANGED
        found = self._now()
        changed = np.ones(len(self._content), bool)  # of a file that has become shorter, all that is missing
        changed[: len(found)] = np.frombuffer(found, np.uint8) != np.frombuffer(self._content, np.uint8)[: len(found)]
        contents = {}
        for number, (start, size) in enumerate(zip(placement(self._sizes)[0], self._sizes, strict=True)):
            if changed[start : start + size].any():
                contents[number] = bytes(found[start : start + size]).ljust(size, b"\0")
            changed[start : start + size] = False
        return Changes(contents, bool(changed.any()))

    def _is_unchanged(self) -> bool:
        """Whether the file holds what was lent, read piece by piece: of large tensors no second copy is made."""
        content, piece = memoryview(self._content), bytearray(min(_PIECE, len(self._content)))
        for at in range(0, len(content), _PIECE):
            del piece[len(content) - at :]
            if os.preadv(self._descriptor, [piece], at) < len(piece) or piece != content[at : at + _PIECE]:
                return False
        return True

    def _now(self) -> bytearray:
        """What the file holds, up to the length of what was lent."""
        found, size = bytearray(), len(self._content)
        while len(found) < size and (part := os.pread(self._descriptor, size - len(found), len(found))):
            found += part
        return found

    def close(self) -> None:
        """Gives up the file; the worker's mapping lasts as long as the worker wants."""
        os.close(self._descriptor)


def _nameless_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("conform-call", os.MFD_CLOEXEC)
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
