"""Inside the jail: `settle`, the first thing that a confined template does; and the jail where bubblewrap is not.

`python -m conform.backends.confine STEPS BYTES PROGRAM...` runs PROGRAM in namespaces of its own on the file system
that STEPS (conform.backends.jail.Mount, as JSON) describe, whose temporary places hold BYTES each. It does by system
calls what bubblewrap does: unshare(2), mount(2), pivot_root(2).
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

_LIBC = ctypes.CDLL(None, use_errno=True)
# linux/sched.h, linux/mount.h, linux/prctl.h, linux/fcntl.h
_NEW_MOUNTS, _NEW_UTS, _NEW_IPC, _NEW_USER, _NEW_PIDS, _NEW_NET = (
    0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000,
)  # fmt: skip
_NO_SUID, _NO_DEVICES, _BIND, _RECURSIVE, _PRIVATE = 2, 4, 1 << 12, 1 << 14, 1 << 18
_DETACH = 2
_SET_DEATH_SIGNAL, _SET_DUMPABLE, _SET_NO_NEW_PRIVILEGES = 1, 4, 38
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _ATTRIBUTE_READ_ONLY = 442, -100, 0x8000, 1
_DEVICES = ("null", "zero", "full", "random", "urandom")


def settle(
    uid: int | None, memory_bytes: int, is_reserved_memory_counted: bool, processes: int, file_bytes: int
) -> None:
    """Sets the limits that everything below this process has, and becomes user `uid`, for good.

    Memory is that of one process: with `is_reserved_memory_counted` all that it maps, else what it may write to.
    """
    memory = resource.RLIMIT_AS if is_reserved_memory_counted else resource.RLIMIT_DATA
    limits = {
        memory: memory_bytes, resource.RLIMIT_NPROC: processes, resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_CORE: 0,
    }  # fmt: skip
    for limit, most in limits.items():
        resource.setrlimit(limit, (most, most))
    if uid is not None:
        for place in ("/tmp", "/dev/shm"):
            os.chmod(place, 0o1777)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    _LIBC.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    set_traceable(False)


def set_traceable(is_traceable: bool) -> None:
    """Whether processes of the same user may trace this one, and read its memory."""
    if sys.platform == "linux":
        _LIBC.prctl(_SET_DUMPABLE, int(is_traceable), 0, 0, 0)


def main(steps: list[list[str]], temporary_bytes: int, program: list[str]) -> int:
    """Runs `program` as process 1 of the jail; its exit code."""
    uid, gid = os.geteuid(), os.getegid()
    spaces = _NEW_MOUNTS | _NEW_UTS | _NEW_IPC | _NEW_PIDS | _NEW_NET
    _call("unshare", spaces if uid == 0 else spaces | _NEW_USER)
    if uid != 0:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
        Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")
    _LIBC.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if (pid := os.fork()) == 0:
        _LIBC.prctl(_SET_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        directory = os.getcwd()
        _change_root(steps, temporary_bytes)
        os.chdir(directory)
        os.execv(program[0], program)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _change_root(steps: list[list[str]], temporary_bytes: int) -> None:
    """Makes the file system of `steps`, in which everything else is gone, and enters it."""
    mask = os.umask(0o022)
    root = "/tmp"  # a place that exists; that something is mounted on it, nobody outside sees
    _mount(None, "/", None, _RECURSIVE | _PRIVATE)
    before = os.open("/", os.O_PATH | os.O_DIRECTORY)
    held = {source: os.open(source, os.O_PATH) for _, _, source in steps if source}  # some lie below `root`
    _mount("tmpfs", root, "tmpfs", _NO_SUID | _NO_DEVICES, "mode=755,size=16m")
    for kind, place, source in steps:
        _step(kind, root + place, f"/proc/self/fd/{held[source]}" if source else place, temporary_bytes)
    os.chdir(root)
    _call("pivot_root", b".", b".")
    _call("umount2", b".", _DETACH)
    os.umask(mask)
    for descriptor in (before, *held.values()):
        os.close(descriptor)


def _step(kind: str, place: str, source: str, temporary_bytes: int) -> None:
    """Carries out one of jail.Mount's steps at `place`; `source` is where what it shows is."""
    if kind == "read":
        _bind(source, place)
        _read_only(place, recursive=True)
    elif kind == "sealed":
        _read_only(place, recursive=False)
    elif kind == "device":
        _bind(source, place)
    elif kind == "empty":
        _bind("/dev/null", place)
        _read_only(place, recursive=True)
    elif kind == "temporary":
        os.makedirs(place, exist_ok=True)
        _mount("tmpfs", place, "tmpfs", _NO_SUID | _NO_DEVICES, f"mode=755,size={temporary_bytes}")
    elif kind == "directory":
        os.makedirs(place, exist_ok=True)
    elif kind == "processes":
        os.makedirs(place, exist_ok=True)
        _mount("proc", place, "proc", _NO_SUID | _NO_DEVICES)
    else:
        _devices(place)


def _devices(place: str) -> None:
    """A /dev with the devices that every program may use."""
    os.makedirs(place)
    _mount("tmpfs", place, "tmpfs", _NO_SUID, "mode=755,size=1m")
    for name in _DEVICES:
        _bind(f"/dev/{name}", f"{place}/{name}")
    for name, target in {"fd": "fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}.items():
        os.symlink(f"/proc/self/{target}", f"{place}/{name}")
    os.mkdir(f"{place}/shm")


def _bind(source: str, place: str) -> None:
    """Shows a file or directory at `place`, which is made if it is not there."""
    if os.path.isdir(source):
        os.makedirs(place, exist_ok=True)
    elif not os.path.lexists(place):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        Path(place).touch()
    _mount(source, place, None, _BIND | _RECURSIVE)


def _read_only(place: str, recursive: bool) -> None:
    attributes = (ctypes.c_uint64 * 4)(_ATTRIBUTE_READ_ONLY, 0, 0, 0)  # struct mount_attr of mount_setattr(2)
    depth = _AT_RECURSIVE if recursive else 0
    _call("syscall", _MOUNT_SETATTR, _AT_FDCWD, place.encode(), depth, attributes, ctypes.sizeof(attributes))


def _mount(source: str | None, place: str, kind: str | None, flags: int, options: str | None = None) -> None:
    texts = [None if text is None else text.encode() for text in (source, place, kind, options)]
    _call("mount", *texts[:3], ctypes.c_ulong(flags), texts[3])


def _call(name: str, *arguments: Any) -> None:
    """A system call. OSError, with its name and what it was about, where it fails."""
    if getattr(_LIBC, name)(*arguments) == -1:
        number = ctypes.get_errno()
        about = next((one.decode() for one in arguments[-4:] if isinstance(one, bytes)), "")
        raise OSError(number, f"{name}: {os.strerror(number)}", about or None)


if __name__ == "__main__":
    try:
        sys.exit(main(json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
    except OSError as error:
        sys.exit(f"conform: the jail cannot be made: {error}")
