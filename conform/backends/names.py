"""Names of backends: how each is found and loaded. Loading happens in the worker; importing this loads no torch."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from conform.backends.base import Backend
from conform.errors import UsageError, did_you_mean

ENTRY_POINT_GROUP = "conform.backends"
# torch devices that hold and compute values, as `conform backends` lists them; any other device string loads as well.
_USUAL_DEVICES = ("cpu", "cuda", "mps", "xpu")


def load(name: str) -> Backend:
    """The backend called `name`: `self`, `FILE.py::CLASS`, an entry point's name, or a torch device string.

    Raises UsageError if there is none; what the backend raises on loading passes through.
    """
    if name == "self":
        from conform.backends.interpreter import Interpreter

        return Interpreter()
    if "::" in name:
        return created(_class_in_file(name), name)
    if (entry_point := _entry_points().get(name)) is not None:
        return created(entry_point.load(), name)
    return _torch_device(name)


def backends() -> list[tuple[str, bool, str]]:
    """(name, available, version and device or the reason why not) of the backends that can be named.

    Imports torch; of installed entry points it imports nothing, so those are listed as they are registered.
    """
    rows = [("self", True, "the kit's interpreter; needs no device")]
    rows += [(device, *_availability(device)) for device in _USUAL_DEVICES]
    rows += [(name, True, f"entry point {point.value}") for name, point in sorted(_entry_points().items())]
    return rows


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


def is_file(name: str) -> bool:
    """Whether the name is that of a class in a file: `FILE.py::CLASS`."""
    return "::" in name


def source(name: str) -> dict[str, str]:
    """Where the backend called `name` comes from, as this process sees it, whatever the backend says of itself.

    {"source": "FILE.py::CLASS", "digest": "sha256:..."}, the file without its folder and the digest of its bytes, not
    of what it imports; {"source": "MODULE:CLASS"} of an entry point; nothing of a torch device. To be asked before a
    worker runs, which may change the file. UsageError if there is no such file.
    """
    if is_file(name):
        path, class_name = _file_of(name)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return {"source": f"{path.name}::{class_name}", "digest": f"sha256:{digest}"}
    entry_point = _entry_points().get(name)
    return {} if name == "self" or entry_point is None else {"source": entry_point.value}


def is_entry_point(name: str) -> bool:
    """Whether an installed package registers a backend of this name."""
    return name in _entry_points()


def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINT_GROUP)}


def _torch_device(name: str) -> Backend:
    import torch

    from conform.backends.torch_device import TorchDevice

    try:
        torch.device(name)
    except RuntimeError:
        known = ["self", *_USUAL_DEVICES, *_entry_points()]
        raise UsageError(
            f"unknown backend {name!r}{did_you_mean(name, known)}; it is neither a torch device nor an entry point of "
            f"{ENTRY_POINT_GROUP!r} nor FILE.py::CLASS (`conform backends` lists what there is)"
        ) from None
    return TorchDevice(name)


def _class_in_file(name: str) -> object:
    """The attribute CLASS of a module FILE.py. UsageError if there is none, if it is no Python, or has no such name."""
    path, class_name = _file_of(name)
    try:
        module = _imported(path)
    except SyntaxError as error:  # there, or in a module that it imports
        raise UsageError(f"backend {name!r}: {error.filename}:{error.lineno}: {error.msg}") from None
    if not hasattr(module, class_name):
        classes = [key for key, value in vars(module).items() if _is_backend_class(value)]
        hint = did_you_mean(class_name, classes)
        raise UsageError(f"backend {name!r}: {path.name} has no class {class_name!r}{hint}")
    return getattr(module, class_name)


def _file_of(name: str) -> tuple[Path, str]:
    file, _, class_name = name.partition("::")
    path = Path(file).resolve()
    if path.suffix != ".py" or not os.access(path, os.R_OK) or not path.is_file():
        raise UsageError(f"backend {name!r}: there is no Python file {file!r} that can be read")
    return path, class_name


def _imported(path: Path) -> ModuleType:
    """The module in this file; modules beside it can be imported from it, as from a script."""
    sys.path.append(str(path.parent))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # where dataclasses and pickle look a class's module up
    spec.loader.exec_module(module)
    return module


def created(candidate: object, name: str) -> Backend:
    """An instance of what a name led to. UsageError unless it is a subclass of Backend with a name."""
    if not _is_backend_class(candidate):
        raise UsageError(f"backend {name!r} is {candidate!r}; a subclass of conform.Backend was expected")
    backend = candidate()
    if not backend.name:
        raise UsageError(f"backend {name!r}: {candidate.__name__}.name is not set; give the class a name")
    return backend


def _is_backend_class(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Backend)
