"""A backend that attacks: what each method tries is the op's name. It returns what it got, or the error that it met."""

import ctypes
import errno
import mmap
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import conform
from conform.backends import Backend

KIT = Path(conform.__file__).parent
_LIBC = ctypes.CDLL(None, use_errno=True)


class Hostile(Backend):
    """`do::NAME` calls the method NAME; a list of its successes and errors as text comes back."""

    name = "hostile"

    def run(self, op, args, kwargs):
        return [str(one) for one in getattr(self, op.removeprefix("do::"))(*args)]

    # --- Reading what it must not know

    def read_the_kit(self):
        found = [str(path) for path in KIT.rglob("*") if path.parent != KIT / "backends" and path.suffix != ".pyc"]
        for module in ("interp.evaluate", "refs", "suites", "inputs", "contracts.tables", "straight_line"):
            found.append(_tried(lambda module=module: __import__(f"conform.{module}")))
        return found

    def look_for(self, *names):
        """Where files or directories of these names are, of all that can be seen."""
        found = []
        for folder, folders, files in os.walk("/"):
            folders[:] = [one for one in folders if one not in ("proc", "sys")]
            found += [os.path.join(folder, one) for one in (*folders, *files) if one in names]
        return found

    def read(self, *paths):
        return [_tried(lambda path=path: Path(path).read_bytes()[:99]) for path in paths]

    def is_traceable(self):
        """As prctl(2) tells PR_GET_DUMPABLE."""
        return [str(_LIBC.prctl(3, 0, 0, 0, 0))]

    def environment(self):
        return [f"{name}={value}" for name, value in os.environ.items()]

    def descriptors(self):
        return [_tried(lambda fd=fd: os.readlink(f"/proc/self/fd/{fd}")) for fd in os.listdir("/proc/self/fd")]

    def processes(self):
        return [path for path in os.listdir("/proc") if path.isdecimal()]

    # --- Writing what others will read

    def write(self, *paths):
        return [_tried(lambda path=path: Path(path).write_text("forged")) for path in paths]

    def write_to_python(self):
        site = next(path for path in sys.path if path.endswith("site-packages"))
        places = [KIT / "errors.py", KIT / "__init__.py", KIT / "forged.py", Path(site) / "forged.pth"]
        places += [Path(site) / "sitecustomize.py", Path(os.__file__), Path(sys.prefix) / "forged", "/etc/forged"]
        return self.write(*places)

    def unmount(self):
        """Takes what lies on the kit away, and makes it writable, as it is and in a user namespace of its own."""
        found = []
        for spaces in (0, 0x10020000):
            found.append(_called("unshare", spaces))
            found.append(_called("umount2", str(KIT).encode(), 2))
            found.append(_called("mount", None, str(KIT / "backends").encode(), None, ctypes.c_ulong(0x1020), None))
        return [*found, *self.read_the_kit(), *self.write_to_python()]

    # --- Reaching other processes

    def kill(self, *pids):
        return [_tried(lambda pid=pid: os.kill(pid, signal.SIGKILL)) for pid in (os.getppid(), *pids)]

    def look_into(self, *pids):
        places = [f"/proc/{pid}/{one}" for pid in (os.getppid(), *pids) for one in ("mem", "environ", "maps")]
        return [*self.read(*places), *(_called("ptrace", 16, pid, 0, 0) for pid in (os.getppid(), *pids))]

    def connect(self, port, abstract):
        return [
            _tried(lambda: socket.create_connection(("127.0.0.1", port), timeout=5)),
            _tried(lambda: socket.create_connection(("192.0.2.1", 80), timeout=5)),
            _tried(lambda: socket.socket(socket.AF_UNIX).connect(f"\0{abstract}")),
        ]

    def leave(self, seconds):
        """Starts processes that outlive it: one in its group, and one that left group and session."""
        subprocess.Popen(["sleep", seconds])
        subprocess.Popen(["setsid", "sh", "-c", f"sleep {seconds} & exit"], stdin=subprocess.DEVNULL).wait()
        return []

    # --- Using up the machine

    def fork_bomb(self):
        count = 0
        try:
            while count < 5000:
                if os.fork() == 0:
                    signal.pause()
                count += 1
        except OSError as error:
            return [count, errno.errorcode[error.errno]]
        return [count]

    def allocate(self, size):
        import torch

        flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS
        return [
            _tried(lambda: torch.empty(size, dtype=torch.uint8).shape),
            _tried(lambda: mmap.mmap(-1, size, flags=flags)),
            _tried(lambda: bytearray(size)[:1]),
        ]

    def fill(self, *folders):
        return [_tried(lambda folder=folder: self._filled(Path(folder))) for folder in folders]

    def _filled(self, folder):
        """How many MiB it could write, in files of 1 MiB and in one."""
        written = 0
        try:
            while written < 5000:
                (folder / f"part{written}").write_bytes(bytes(1 << 20))
                written += 1
        except OSError:
            pass
        for part in folder.glob("part*"):
            part.unlink()
        with (folder / "one").open("wb") as one:
            try:
                for _ in range(5000):
                    one.write(bytes(1 << 20))
            except OSError:
                size = (folder / "one").stat().st_size >> 20
        (folder / "one").unlink()
        return written, size

    def fill_the_log(self):
        for _ in range(300):
            os.write(1, bytes(1 << 20))
        return ["a pipe" if stat.S_ISFIFO(os.fstat(1).st_mode) else "a file"]


def _tried(attempt):
    try:
        return attempt()
    except (OSError, ImportError, RuntimeError, MemoryError, ValueError) as error:
        return errno.errorcode[error.errno] if getattr(error, "errno", None) else type(error).__name__


def _called(name, *arguments):
    return errno.errorcode[ctypes.get_errno()] if getattr(_LIBC, name)(*arguments) == -1 else "done"
