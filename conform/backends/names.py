"""Names of backends: how each is found and loaded. Loading happens in the worker; importing this loads no torch."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from conform.backends.base import Backend
from conform.backends.spelling import FOLDER, Spelling, spelt
from conform.errors import UsageError, did_you_mean

ENTRY_POINT_GROUP = "conform.backends"
# torch devices that hold and compute values, as `conform backends` lists them; any other device string loads as well.
_USUAL_DEVICES = ("cpu", "cuda", "mps", "xpu")
COMPILED = {"inductor": "torch.compile by Inductor", "aot_eager": "torch.compile without code of its own"}
# Engines that run StableHLO programs: the module that each needs, and what it is.
ENGINES = {"xla": ("jaxlib", "XLA for the CPU"), "iree": ("iree.compiler", "IREE for the CPU")}
BUILT_IN = ("self", *COMPILED, *ENGINES)


def load(name: str) -> Backend:
    """The backend called `name`: `self`, `inductor`, `aot_eager`, `xla`, `iree`, `FILE.py::CLASS`, `folder:DIR`, the
    name of an entry point or a torch device string; with arguments for its class, perhaps: `FILE.py::CLASS(size=3)`.

    Raises UsageError if there is none; what the backend raises on loading passes through.
    """
    one = spelt(name)
    if one.is_folder:
        return created(_folder(), name, {"path": one.path, **one.options})
    if one.path is not None:
        return created(_class_in_file(one), name, one.options)
    if one.plain in ENGINES:
        return created(_engine(one.plain), name, one.options)
    if one.plain in COMPILED:
        return created(_compiled(), name, {"mode": one.plain, **one.options})
    if (entry_point := _entry_points().get(one.plain)) is not None:
        return created(entry_point.load(), name, one.options)
    if one.options:
        raise UsageError(f"backend {name!r}: {one.plain!r} takes no arguments")
    return _interpreter() if name == "self" else _torch_device(name)


def _interpreter() -> Backend:
    from conform.backends.interpreter import Interpreter

    return Interpreter()


def _folder() -> type[Backend]:
    from conform.backends.folder import Folder

    return Folder


def _compiled() -> type[Backend]:
    from conform.backends.compiled import Compiled

    return Compiled


def _engine(name: str) -> type[Backend]:
    if name == "xla":
        from conform.backends.xla import XLA

        return XLA
    from conform.backends.iree import IREE

    return IREE


def backends() -> list[tuple[str, bool, str]]:
    """(name, available, version and device or the reason why not) of the backends that can be named.

    Imports torch; of installed entry points it imports nothing, so those are listed as they are registered.
    """
    rows = [("self", True, "the kit's interpreter; needs no device")]
    rows += [(device, *_availability(device)) for device in _USUAL_DEVICES]
    rows += [(mode, True, f"{text}; each call is compiled") for mode, text in COMPILED.items()]
    rows += [(name, *_presence(package, text)) for name, (package, text) in ENGINES.items()]
    rows += [(name, True, f"entry point {point.value}") for name, point in sorted(_entry_points().items())]
    return rows


def _presence(package: str, text: str) -> tuple[bool, str]:
    try:
        is_there = importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # of what it is in
        is_there = False
    return is_there, f"{text}: StableHLO programs" if is_there else f"{text}: {package} is not installed"


def _availability(device: str) -> tuple[bool, str]:
    import torch

    version = f"torch {torch.__version__}"
    if device == "cpu":
        return True, f"{version}, {torch.backends.cpu.get_cpu_capability()}"
    module = torch.backends.mps if device == "mps" else torch.get_device_module(device)
    if not module.is_available():
        return False, f"{version} finds no {device} device"
    names = [module.get_device_name(index) for index in range(module.device_count())] if device != "mps" else ["mps"]
    return True, f"{version}, {', '.join(names)}"


def holds_kernels(name: str) -> bool:
    """Whether the name is that of a class in a file, or of a folder of kernels."""
    return spelt(name).path is not None


def is_device(name: str) -> bool:
    """Whether the name is that of a device of torch, and nothing else."""
    return not (name in BUILT_IN or "(" in name or holds_kernels(name) or name in _entry_points())


def source(name: str) -> dict[str, str]:
    """Where the backend called `name` comes from, as this process sees it, whatever the backend says of itself.

    {"source": "FILE.py::CLASS", "digest": "sha256:..."}, the file without its folder and the digest of its bytes, not
    of what it imports; of a folder "folder:DIR" and the digest of all its Python files; {"source": "MODULE:CLASS"} of
    an entry point; nothing of a torch device. Arguments stand behind it. To be asked before a worker runs, which may
    change the files. UsageError if there is no such file or folder.
    """
    one = spelt(name)
    if one.is_folder:
        path = Path(one.path).resolve()
        if not path.is_dir():
            raise UsageError(f"folder {one.path!r}: there is no such folder")
        files = sorted(path.rglob("*.py"))
        whole = hashlib.sha256()
        for file in files:
            whole.update(f"{file.relative_to(path).as_posix()}\0".encode() + hashlib.sha256(file.read_bytes()).digest())
        return {"source": str(replace(one, plain=f"{FOLDER}{path.name}")), "digest": f"sha256:{whole.hexdigest()}"}
    if one.path is not None:
        path = _file_of(one)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return {"source": str(replace(one, plain=f"{path.name}::{one.class_name}")), "digest": f"sha256:{digest}"}
    entry_point = _entry_points().get(one.plain)
    return {} if name == "self" or entry_point is None else {"source": str(replace(one, plain=entry_point.value))}


def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def _torch_device(name: str) -> Backend:
    import torch

    from conform.backends.torch_device import TorchDevice

    try:
        torch.device(name)
    except RuntimeError:
        known = [*BUILT_IN, *_USUAL_DEVICES, *_entry_points()]
        raise UsageError(
            f"unknown backend {name!r}{did_you_mean(name, known)}; it is neither a torch device nor an entry point of "
            f"{ENTRY_POINT_GROUP!r} nor FILE.py::CLASS nor folder:DIR (`conform backends` lists what there is)"
        ) from None
    return TorchDevice(name)


def _class_in_file(one: Spelling) -> object:
    """The attribute CLASS of a module FILE.py. UsageError if there is none, if it is no Python, or has no such name."""
    path = _file_of(one)
    try:
        module = _imported(path)
    except SyntaxError as error:  # there, or in a module that it imports
        raise UsageError(f"backend {one.plain!r}: {error.filename}:{error.lineno}: {error.msg}") from None
    name, has_arguments, _ = one.class_name.partition("(")
    if has_arguments and hasattr(module, name):
        raise UsageError(f"backend {one.plain!r}: the arguments of a class are keywords of literals, as in "
                         f"{name}(path='x', bits=8)")  # fmt: skip
    if not hasattr(module, one.class_name):
        classes = [key for key, value in vars(module).items() if _is_backend_class(value)]
        hint = did_you_mean(one.class_name, classes)
        raise UsageError(f"backend {one.plain!r}: {path.name} has no class {one.class_name!r}{hint}")
    return getattr(module, one.class_name)


def _file_of(one: Spelling) -> Path:
    path = Path(one.path).resolve()
    if path.suffix != ".py" or not os.access(path, os.R_OK) or not path.is_file():
        raise UsageError(f"backend {one.plain!r}: there is no Python file {one.path!r} that can be read")
    return path


def _imported(path: Path) -> ModuleType:
    """The module in this file; modules beside it can be imported from it, as from a script."""
    sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # where dataclasses and pickle look a class's module up
    spec.loader.exec_module(module)
    return module


def created(candidate: object, name: str, options: Mapping[str, object] | None = None) -> Backend:
    """An instance of what a name led to, with these arguments. UsageError unless it is a subclass of Backend that takes
    them, with a name."""
    if not _is_backend_class(candidate):
        raise UsageError(f"backend {name!r} is {candidate!r}; a subclass of conform.Backend was expected")
    try:
        inspect.signature(candidate).bind(**(options or {}))
    except TypeError as error:
        raise UsageError(f"backend {name!r}: {candidate.__name__}: {error}") from None
    backend = candidate(**(options or {}))
    if not backend.name:
        raise UsageError(f"backend {name!r}: {candidate.__name__}.name is not set; give the class a name")
    return backend


def _is_backend_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Backend)
