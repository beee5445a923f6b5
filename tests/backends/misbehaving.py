"""Backends under test, loaded by their path into worker processes: what each method does is the op's name."""

import ctypes
import os
import signal
import stat
import struct
import subprocess
import sys
import threading
import time

import torch

import conform.errors
from conform.backends import Backend, TorchDevice
from conform.backends.protocol import frame


class Misbehaving(Backend):
    """`do::NAME` calls the method NAME with the call's arguments."""

    name = "misbehaving"
    version = "1.2"

    def run(self, op, args, kwargs):
        return getattr(self, op.removeprefix("do::"))(*args, **kwargs)

    def echo(self, *args, **kwargs):
        return [*args, *kwargs.values()]

    def negated(self, value):
        return [-value]

    def at_call(self, number, name, *args):
        """The method NAME at this call of the process, counted from 1; `echo` before it and behind it."""
        self.calls = getattr(self, "calls", 0) + 1
        return getattr(self, name if self.calls == number else "echo")(*args)

    def keep(self, tensor):
        """The tensor of the call before this one, in its memory."""
        before, self.kept = getattr(self, "kept", tensor), tensor
        return before

    def inspect(self, tensor):
        """The tensor, its whole storage, its offset, and how far its storage lies from 64-byte alignment."""
        storage = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())
        return tensor, storage, tensor.storage_offset(), storage.data_ptr() % 64

    def kinds(self, *args):
        return [f"{type(value).__module__}.{type(value).__name__}:{value}" for value in args]

    def where(self):
        return os.getpid(), os.getppid(), os.getcwd(), torch.get_num_threads()

    def segfault(self, *_):
        os.kill(os.getpid(), signal.SIGSEGV)

    def read_null(self):
        ctypes.string_at(0)

    def exit(self, code):
        sys.exit(code)

    def exit_at_once(self, code):
        os._exit(code)

    def hang(self, *_):
        time.sleep(1000)

    def hang_with_child(self):
        """Starts a process that would outlive the worker, tells where, and hangs on the second call."""
        if not hasattr(self, "child"):
            self.child = subprocess.Popen(["sleep", "1000"])
            return self.child.pid
        return time.sleep(1000)

    def leave_daemon(self):
        """Starts a process that leaves group and session, and is nobody's child."""
        told, tells = os.pipe()
        if (pid := os.fork()) == 0:
            os.setsid()
            if (daemon := os.fork()) == 0:
                os.closerange(0, 1024)
                os.execvp("sleep", ["sleep", "1000"])
            os.write(tells, str(daemon).encode())
            os._exit(0)
        os.waitpid(pid, 0)
        return int(os.read(told, 20))

    def leave_a_crowd(self, path):
        """Leaves processes of which each starts the next one, in a session of its own, and ends; each adds a byte to a
        file."""
        if (pid := os.fork()) == 0:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.fork()
            os.fork()
            while True:
                if os.fork():
                    os._exit(0)
                os.setsid()
                os.write(file, b".")
        os.waitpid(pid, 0)

    def refuse(self, reason):
        raise conform.errors.Unsupported(reason)

    def lose_device(self):
        raise RuntimeError("CUDA error: device-side assert triggered")

    def fail(self, message):
        raise ValueError(message)

    def say(self, text):
        print(text)
        print(text, file=sys.stderr)
        os.write(1, text.encode())

    def say_and_die(self, text):
        print(text)
        os.abort()

    def write_to(self, tensor, value):
        tensor.fill_(value)
        return tensor.clone()

    def write_from_a_thread(self, tensor):
        """Answers at once, and writes to the input for as long as it lives."""

        def write():
            while True:
                tensor.add_(1)
                time.sleep(0.001)

        threading.Thread(target=write, daemon=True).start()
        return tensor.clone()

    def cut_memory(self, tensor):
        """Returns the tensor, and cuts off every file of this process that can be."""
        kept = tensor.clone()
        for entry in os.listdir("/proc/self/fd"):
            try:
                os.ftruncate(int(entry), 0)
            except OSError:
                continue
        return kept

    def lie_about_memory(self, tensor):
        """Writes to the input behind the back of whatever in this process might look."""
        import conform.backends.worker as worker

        worker.answer = lambda *_, **__: 1 / 0
        for value in list(sys.modules["conform.backends.memory"].__dict__.values()):
            if isinstance(value, type):
                value.changes = lambda *_: ([], False)
        tensor.fill_(7)
        return tensor.clone()

    def itself(self, tensor):
        return tensor, tensor[1:], tensor + 0

    def write_past_end(self, tensor):
        ctypes.memset(tensor.data_ptr() + tensor.nbytes, 7, 1)

    def unwritten(self, count):
        return torch.empty(count)

    def bad_bool(self):
        return torch.tensor([0, 2], dtype=torch.uint8).view(torch.bool)

    def array(self):
        return torch.ones(2).numpy()

    def sparse(self):
        return torch.eye(2).to_sparse()

    def nested(self):
        return torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])

    def half_complex(self):
        return torch.ones(2, dtype=torch.complex32)

    def lazy_views(self, tensor):
        """Tensors whose storage is not what they show: conjugated, negated, transposed."""
        return torch.conj(tensor), torch.conj(tensor).imag, tensor.T

    def garbage(self):
        to_parent(b"hello, parent, this is not a frame")
        time.sleep(1000)

    def huge_and_empty(self):
        """A shape that torch has and numpy lacks."""
        return torch.empty((2**31, 0, 2**31))

    def zeros(self, count):
        return torch.zeros(count)

    def drip(self):
        """The beginning of a frame, a byte every tenth of a second: never silent, never done."""
        for byte in struct.pack("<4sIQ", b"cfm1", 1000, 0) + b" " * 1000:
            to_parent(bytes([byte]))
            time.sleep(0.1)

    def say_for_ever(self):
        while True:
            os.write(1, b"again " * 1000 + b"\n")

    def abort_later(self, delay_s):
        """Answers, and takes the process down from a thread, in the midst of whatever runs by then."""
        threading.Timer(delay_s, os.abort).start()
        return torch.ones(1)

    def sleep(self, seconds):
        time.sleep(seconds)
        return torch.ones(1)

    def add_one_and_sleep(self, tensor, seconds):
        tensor.add_(1)
        time.sleep(seconds)
        return tensor.clone()

    def twice(self):
        """Answers, and then once more."""
        threading.Timer(0.1, to_parent, [frame({"call": 0, "status": "ok", "result": 1})]).start()
        return torch.ones(1)

    def abort_once(self, path):
        """Dies at the first call that anybody makes, by a file that stays."""
        if not os.path.exists(path):
            open(path, "w").close()
            os.abort()
        return torch.ones(1)

    def stop_template_and_die(self):
        os.kill(os.getppid(), signal.SIGSTOP)
        os.abort()

    def unreadable(self, how):
        """A result of which nothing can be read, though the call was done."""
        return torch.ones(2, device="meta") if how == "meta" else Unreadable(torch.ones(2))


def to_parent(message):
    """Writes to every socket that this process holds."""
    for entry in os.listdir("/dev/fd"):
        try:
            if stat.S_ISSOCK(os.fstat(int(entry)).st_mode):
                os.write(int(entry), message)
        except OSError:
            continue


class Unreadable(torch.Tensor):
    def detach(self):
        raise conform.errors.Unsupported("reading is not supported")


class Sevens(TorchDevice):
    """TorchDevice with one wrong operator."""

    name = "sevens"

    def run(self, op, args, kwargs):
        result = super().run(op, args, kwargs)
        return torch.full_like(result, 7) if op == "aten::neg" else result


class Flushing(TorchDevice):
    """Changes what torch computes when it is created, and tells of an engine of its own."""

    name = "flushing"

    def __init__(self):
        super().__init__("cpu")
        torch.set_flush_denormal(True)
        torch.set_float32_matmul_precision("medium")

    def numerics(self):
        return {**super().numerics(), "engine": "3.1, fp16"}


class Nameless(Backend):
    pass


class DiesLoading(Backend):
    name = "dies"

    def __init__(self):
        os.kill(os.getpid(), signal.SIGKILL)


class FailsLoading(Backend):
    name = "fails"

    def __init__(self):
        raise OSError("no such accelerator")


class HangsLoading(Backend):
    name = "hangs"

    def __init__(self):
        time.sleep(1000)


class Changing(Misbehaving):
    """Flushes subnormals in every process but the first, by a file that stays."""

    name = "changing"

    def __init__(self):
        marker = os.environ["CHANGING_MARKER"]
        self.flushes_subnormals = os.path.exists(marker)
        open(marker, "w").close()


class Unreadily(Misbehaving):
    """Its version is a number."""

    name = "unreadily"
    version = 3


NOT_A_CLASS = 3
