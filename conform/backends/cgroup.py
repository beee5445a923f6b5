"""A control group for a worker and all that it starts (cgroups(7), version 2), which ends them at one stroke.

Nothing leaves it by another session, another parent or haste: what forks faster than it is killed is killed all the
same (cgroup.kill, Linux 5.14), and what other workers of the template left is told apart. There is one where this
process may make groups below its own: as root, in a container with its own groups, in a scope of systemd's user
manager.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

_NUMBERS = count()
_KILLED_WITHIN_S = 5.0


@dataclass(frozen=True)
class Group:
    """An empty group, whose folder is `path`."""

    path: Path

    def enter(self) -> None:
        """Puts this process into it, and with that all that it will start; where that is forbidden it stays out."""
        with contextlib.suppress(OSError):
            (self.path / "cgroup.procs").write_text("0")

    def end(self) -> list[str]:
        """Kills all that is in it, and removes it; the names of the programs that ran."""
        left = {pid: _name(pid) for pid in self._processes()}
        with contextlib.suppress(OSError):
            (self.path / "cgroup.kill").write_text("1")
        deadline = time.monotonic() + _KILLED_WITHIN_S
        while self._processes() and time.monotonic() < deadline:
            time.sleep(0.002)
        for pid in left:
            with contextlib.suppress(ChildProcessError):  # it came to this process when its parent ended, or did not
                os.waitpid(pid, os.WNOHANG)
        with contextlib.suppress(OSError):
            self.path.rmdir()
        return sorted({name for name in left.values() if name})

    def _processes(self) -> list[int]:
        """Those that have not ended."""
        try:
            return [int(line) for line in (self.path / "cgroup.procs").read_text().split()]
        except OSError:
            return []


def made() -> Group | None:
    """A new group below that of this process; None where it may make none."""
    above = _own()
    if above is None:
        return None
    path = above / f"conform-{os.getpid()}-{next(_NUMBERS)}"
    try:
        path.mkdir()
    except OSError:
        return None
    if (path / "cgroup.kill").exists():
        return Group(path)
    path.rmdir()
    return None


@cache
def _own() -> Path | None:
    """The folder of the group of this process, cleared of groups that ended processes have left."""
    if sys.platform != "linux":
        return None
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        groups = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    mounted = next((Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"), None)
    name = next((line.partition("::")[2] for line in groups if line.startswith("0::")), None)
    if mounted is None or name is None:
        return None
    own = mounted / name.lstrip("/")
    for old in own.glob("conform-*-*"):
        if not Path("/proc", old.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):
                old.rmdir()
    return own


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(errors="replace").strip()
    except OSError:
        return ""
