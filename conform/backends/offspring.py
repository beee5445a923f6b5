"""What a worker started and left behind: found, named and killed when the worker ends, however it was started.

A process that leaves its worker's group and session, and whose parent ends, becomes a child of the nearest ancestor
that asked for it (prctl(2), PR_SET_CHILD_SUBREAPER): the template. So all that is left over are its children, and
killing them until there are none left leaves none. Only Linux has this; elsewhere the worker's group is killed.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
# How long killing may take what keeps starting new processes.
_KILLING_S = 5.0


def adopt() -> None:
    """Makes this process the parent of all processes below it whose own parents end."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def kill_all_but(kept: Collection[int]) -> list[str]:
    """Kills the children of this process, and what these leave, but for those `kept`; the names of those that ran."""
    names = set()
    is_alone = os.getpid() == 1 and not kept  # in a jail: one signal reaches them all, before they start others
    deadline = time.monotonic() + _KILLING_S
    while (found := _children() - set(kept)) and time.monotonic() < deadline:
        for pid in found:
            state, name = _state(pid)
            if state not in ("Z", ""):
                names.add(name)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(-1 if is_alone else pid, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    return sorted(names)


def _children() -> set[int]:
    """The processes whose parent is this one, those that have ended included; none where there is no /proc."""
    mine = str(os.getpid())
    return {int(path.name) for path in Path("/proc").glob("[0-9]*") if _stat(path)[1:2] == [mine]}


def _state(pid: int) -> tuple[str, str]:
    """One letter (`R`, `S`, `Z` of one that has ended; empty of one that is gone) and the name of its program."""
    path = Path(f"/proc/{pid}")
    try:
        return _stat(path)[0], (path / "comm").read_text(errors="replace").strip()
    except (OSError, IndexError):
        return "", ""


def _stat(path: Path) -> list[str]:
    """The fields of /proc/PID/stat behind the name (proc(5)): state, parent, ...; none of a process that is gone."""
    try:
        return (path / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
