"""Looking at other processes, for the tests that nothing is left behind."""

from __future__ import annotations

import os
import time
from pathlib import Path

_KILLED_WITHIN_S = 10.0


def exists(pid: int) -> bool:
    """Whether this process runs, or has ended and its parent has not asked how."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not _is_left_to_init(pid)


def is_gone(pid: int, within_s: float = _KILLED_WITHIN_S) -> bool:
    """Whether the process is gone by the time that a kill takes."""
    deadline = time.monotonic() + within_s
    while exists(pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not exists(pid)


def _is_left_to_init(pid: int) -> bool:
    """Whether it has ended and belongs to process 1, which in a container may never ask."""
    try:
        _, _, fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")
    except OSError:
        return False
    state, parent_pid, *_ = fields.split()
    return state == "Z" and parent_pid == "1"
