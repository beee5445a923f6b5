"""The jail of `--jail`: a backend's processes see Python, torch and the backend, and nothing to forge a verdict with.

Namespaces of their own for processes, network, IPC and mounts; a file system of what is named here, read-only, and a
private /tmp; of the kit the files that serve calls; an environment of known variables; limits on memory, processes and
the size of files. bubblewrap makes it where it is installed, else `conform.backends.confine`, by the same calls.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import site
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from conform.backends.spelling import spelt
from conform.errors import ConformError, UsageError

_KIT = Path(__file__).parent.parent
# Of the kit: what loads a backend, and serves calls to it.
_SERVING = ("__init__.py", "errors.py", "foreign.py", "backends")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/sys/devices")
_ETC = ("alternatives", "group", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "nsswitch.conf", "passwd")
_ACCELERATORS = ("nvidia*", "dri", "kfd", "accel*")
_TEMPORARY = ("/tmp", "/dev/shm")
# Variables that choose devices, kernels, languages and where modules are; none of them is a place for a secret.
_VARIABLES = re.compile(
    r"(LANG|TZ|LD_LIBRARY_PATH|PYTHONPATH|GLIBC_TUNABLES"
    r"|(ATEN|CUBLAS|CUDA|DNNL|HIP|KMP|LC|MKL|NVIDIA|OMP|ONEDNN|PYTORCH|ROCR|TORCH|TRITON)_\w*)"
)
# As whom root's backends run: limits on processes do not bind root, and two runs must not count together. The range is
# the one that systemd keeps for such users (systemd.exec, DynamicUser), and every container has it.
_FIRST_UID, _UIDS = 61184, 4336
PROCESSES = 512
TEMPORARY_BYTES = 1 << 29  # of each place for files, which is memory
FILE_BYTES = 1 << 28
_OLDEST_BUBBLEWRAP = (0, 7)  # the first with --size
_PROBE_S = 20.0


class JailUnavailable(ConformError):
    """`--jail` cannot be had on this machine; the message says why."""

    exit_code = 3


@dataclass(frozen=True)
class Mount:
    """One step in making the file system, in order.

    kind    "read" (a file or directory, read-only), "device", "temporary" (empty, of TEMPORARY_BYTES), "sealed" (no
            longer written to), "empty" (an empty file in the place of one), "directory", "devices" (a /dev of the
            usual ones), "processes" (a /proc)
    """

    kind: str
    place: str
    source: str = ""


@dataclass(frozen=True)
class Jail:
    """What a backend sees besides the kit's own choice: `reads` are files and directories that it needs, `hidden` those
    that it must not see though they may lie there (suites, contracts, results)."""

    reads: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    made_by: str = field(default_factory=lambda: mechanism())

    def command(self, module: list[str], directory: str) -> list[str]:
        """The command that runs `python -m MODULE...` within; `directory` is there, if only empty."""
        mounts = list(_mounts(self.reads, self.hidden, directory))
        return _command(self.made_by, mounts, [sys.executable, "-m", *module])

    def settling(self) -> dict[str, Any]:
        """What the first process within does before anything else: `confine.settle`."""
        return {
            "uid": _FIRST_UID + os.getpid() % _UIDS if os.geteuid() == 0 else None,
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2,
            "is_reserved_memory_counted": not _accelerators(),  # their drivers reserve more than there is
            "processes": PROCESSES,
            "file_bytes": FILE_BYTES,
        }


def jail_for(backend: str, hidden: Iterable[Path]) -> Jail:
    """The jail of the backend of this name. UsageError for one that cannot be in it, JailUnavailable."""
    if backend == "self":
        raise UsageError("--jail keeps the kit's interpreter from a backend, and `self` is that; leave out one of them")
    path = spelt(backend).path
    reads = _of_file(Path(path).resolve()) if path is not None else ()
    return Jail(reads, tuple(path.resolve() for path in hidden))


def environment(given: Mapping[str, str]) -> dict[str, str]:
    """The variables that a backend gets of those given, and where it finds a home."""
    kept = {name: value for name, value in given.items() if _VARIABLES.fullmatch(name)}
    user_base = {"PYTHONUSERBASE": site.getuserbase()} if site.ENABLE_USER_SITE else {}
    private = {"HOME": "/tmp", "TMPDIR": "/tmp", "USER": "nobody", "PATH": "/usr/bin:/bin"}
    return {**kept, **user_base, **private, "PYTHONDONTWRITEBYTECODE": "1"}


def _of_file(file: Path) -> tuple[Path, ...]:
    """What a backend in a file reads: the file's folder, or the file alone where its folder is no project's; a folder
    of kernels is its own."""
    wide = {Path("/"), Path("/tmp"), Path("/var/tmp"), Path.home(), *Path.home().parents}
    seen = file if file.is_dir() or file.parent in wide else file.parent
    unreadable = [path for path in (seen, file) if path.exists() and not _is_for_all(path)]
    if os.geteuid() == 0 and unreadable:
        told = f"--jail runs root's backends as a user of their own, who may not read {unreadable[0]}"
        raise UsageError(f"{told}: chmod a+rX {unreadable[0]}")
    return (seen,)


def _is_for_all(path: Path) -> bool:
    needed = 0o005 if path.is_dir() else 0o004
    return path.stat().st_mode & needed == needed


# --- The file system --------------------------------------------------------------------------------------------------


def _mounts(reads: Collection[Path], hidden: Iterable[Path], directory: str) -> Iterator[Mount]:
    yield from (Mount("devices", "/dev"), Mount("processes", "/proc"))
    yield from (Mount("temporary", place) for place in _TEMPORARY)
    yield from (Mount("device", str(path)) for path in _accelerators())
    seen = [Path(one) for one in (*_SYSTEM, *(f"/etc/{name}" for name in _ETC))]
    seen += [Path("/sys")] if _accelerators() else []
    seen += [*_python(), *reads]
    present = sorted({path for path in seen if path.exists()}, key=lambda path: len(path.parts))
    above = dict.fromkeys(parent for path in (*present, Path(directory) / "_") for parent in reversed(path.parents))
    yield from (Mount("directory", str(path)) for path in above)  # for all to enter
    yield from (Mount("read", str(path), str(path)) for path in present)  # what holds another before it
    yield Mount("temporary", str(_KIT))
    yield from (Mount("read", str(_KIT / name), str(_KIT / name)) for name in _SERVING)
    yield from (Mount("sealed", place) for place in (str(_KIT), "/dev", "/"))
    gone: list[Path] = []
    earlier = [found.parent for one in reads for found in one.glob("*/run.json*")]  # and run.json~
    for path in (*hidden, *earlier, *_other_kits(present)):
        is_needed = any(one.is_relative_to(path) for one in reads)  # results in the backend's own folder, perhaps
        is_seen = any(path.is_relative_to(one) for one in present) and not any(map(path.is_relative_to, gone))
        if path.exists() and is_seen and not is_needed:
            gone.append(path)
            yield from _nothing_at(path)


def _nothing_at(path: Path) -> list[Mount]:
    if path.is_dir():
        return [Mount("temporary", str(path)), Mount("sealed", str(path))]
    return [Mount("empty", str(path))]


def _other_kits(seen: Iterable[Path]) -> list[Path]:
    """Installations and checkouts of the kit besides the one that runs."""
    places = [path / "conform" for path in seen]
    return [place for place in places if (place / "interp").is_dir() and place.resolve() != _KIT]


def _python() -> list[Path]:
    """What this Python and its packages consist of, but for the directory that the kit itself is imported from."""
    places = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix, *sys.path]
    found = {Path(place).resolve() for place in places if place}
    return [path for path in found if path != _KIT.parent or path.name == "site-packages"]


def _accelerators() -> list[Path]:
    return sorted(path for pattern in _ACCELERATORS for path in Path("/dev").glob(pattern))


# --- What makes it ----------------------------------------------------------------------------------------------------

_BUBBLEWRAP = {"read": "--ro-bind", "device": "--dev-bind", "directory": "--dir", "devices": "--dev",
               "processes": "--proc", "sealed": "--remount-ro"}  # fmt: skip


@cache
def mechanism() -> str:
    """"bubblewrap" or "unshare", whichever works here. JailUnavailable, with what each says, where neither does."""
    refusals = []
    for name in ("bubblewrap", "unshare"):
        reason = _refusal(name)
        if reason is None:
            return name
        refusals.append(f"{name}: {reason}")
    raise JailUnavailable(
        f"--jail cannot be had here ({'; '.join(refusals)}). It needs Linux, and bubblewrap or user namespaces "
        "(sysctl kernel.unprivileged_userns_clone, user.max_user_namespaces), which containers mostly forbid"
    )


def _refusal(name: str) -> str | None:
    """Why this mechanism makes no jail here; None where it does."""
    if sys.platform != "linux":
        return "not Linux"
    if name == "bubblewrap":
        if (version := _bubblewrap_version()) is None:
            return "not installed"
        if version < _OLDEST_BUBBLEWRAP:
            return f"version {'.'.join(map(str, version))} is older than {'.'.join(map(str, _OLDEST_BUBBLEWRAP))}"
    command = _command(name, list(_mounts((), (), "/tmp")), [sys.executable, "-c", ""])
    try:
        ended = subprocess.run(command, cwd=_KIT.parent, capture_output=True, text=True, timeout=_PROBE_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if ended.returncode == 0 else " ".join(ended.stderr.split())[-200:] or f"exit {ended.returncode}"


def _bubblewrap_version() -> tuple[int, ...] | None:
    if shutil.which("bwrap") is None:
        return None
    told = subprocess.run(["bwrap", "--version"], capture_output=True, text=True).stdout
    return tuple(map(int, re.findall(r"\d+", told)))


def _command(name: str, mounts: list[Mount], program: list[str]) -> list[str]:
    if name == "unshare":
        steps = json.dumps([[one.kind, one.place, one.source] for one in mounts])
        return [sys.executable, "-m", "conform.backends.confine", steps, str(TEMPORARY_BYTES), *program]
    words = ["bwrap", "--die-with-parent", "--as-pid-1", "--new-session", "--unshare-all", "--unshare-cgroup-try"]
    if os.geteuid() == 0:  # its backend becomes another user's, with which it loses these two rights
        words = [word for word in words if word != "--unshare-all"]
        words += ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
        words += ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    for one in mounts:
        words += _of_bubblewrap(one)
    return [*words, "--chdir", str(_KIT.parent), "--", *program]


def _of_bubblewrap(one: Mount) -> list[str]:
    if one.kind == "temporary":
        return ["--size", str(TEMPORARY_BYTES), "--tmpfs", one.place]
    if one.kind == "empty":
        return ["--ro-bind", "/dev/null", one.place]
    source = {"read": [one.source], "device": [one.place]}.get(one.kind, [])
    return [_BUBBLEWRAP[one.kind], *source, one.place]
