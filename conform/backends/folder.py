"""A folder with a kernel an operator: `folder:DIR`.

The layout is BackendBench's (meta-pytorch/BackendBench, DirectoryBackend): `DIR/add/add_implementation_v1.py` with a
function `add_kernel_impl`; also `DIR/add__Tensor/` for one overload, and a flat `DIR/add.py` with a function `add`. Of
several versions the first is taken. What the folder does not have is unsupported: torch does not stand in for it.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from conform.backends.torch_device import TorchDevice
from conform.errors import Unsupported, UsageError, did_you_mean

_VERSION = re.compile(r"_implementation_(.+)\.py")


class Folder(TorchDevice):
    """The kernels of a folder, on tensors of `device`. UsageError where the folder has none, or a name that no operator
    of torch has."""

    version = None

    def __init__(self, path: str, device: str = "cpu") -> None:
        super().__init__(device)
        self.name = Path(path).name
        self._files = _files(Path(path))
        self._kernels: dict[Path, Callable | Exception] = {}
        sys.path.append(path)  # modules beside the kernels can be imported from them

    def kernel(self, op: str) -> Callable[..., Any]:
        """The function for an overload: its own, or that of all overloads of the operator."""
        name, _, overload = op.removeprefix("aten::").partition(".")
        for folder in (f"{name}__{overload or 'default'}", name):
            if (file := self._files.get(folder)) is not None:
                return self._loaded(file, folder, name)
        raise Unsupported(f"the folder has no {name}")

    def _loaded(self, file: Path, folder: str, name: str) -> Callable[..., Any]:
        """What the file defines; a file that cannot be imported raises the same for every call."""
        if file not in self._kernels:
            try:
                self._kernels[file] = _function(file, folder, name)
            except Exception as error:
                self._kernels[file] = error
        kernel = self._kernels[file]
        if isinstance(kernel, Exception):
            raise kernel
        return kernel


def _files(folder: Path) -> dict[str, Path]:
    """The file of each operator, or overload, that the folder has: by `add`, `add__Tensor`."""
    if not folder.is_dir():
        raise UsageError(f"folder {str(folder)!r}: there is no such folder")
    own = {inner.name: found for inner in sorted(folder.iterdir()) if (found := _first_version(inner)) is not None}
    unknown = [name for name in own if not _is_operator(name)]
    if unknown:
        names = [name for name in dir(torch.ops.aten) if not name.startswith("__")]
        hint = did_you_mean(unknown[0].partition("__")[0], names)
        raise UsageError(f"folder {str(folder)!r}: {unknown[0]!r} is no operator of torch{hint}")
    flat = {file.stem: file for file in sorted(folder.glob("*.py")) if _is_operator(file.stem)}
    if not own and not flat:
        raise UsageError(
            f"folder {str(folder)!r}: it has no kernels; expected NAME/NAME_implementation_v1.py or NAME.py, NAME an "
            "operator of torch"
        )
    return flat | own


def _first_version(folder: Path) -> Path | None:
    if not folder.is_dir():
        return None
    found = [(match[1], file) for file in folder.glob("*.py") if (match := _VERSION.search(file.name))]
    return min(found, key=lambda one: _natural(one[0]))[1] if found else None


def _natural(version: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdecimal() else (0, part) for part in re.split(r"(\d+)", version)]


def _is_operator(folder: str) -> bool:
    """Whether torch has an operator, or an overload, of this name."""
    name, _, overload = folder.rpartition("__")
    for packet, one in ((folder, None), (name, overload)):
        found = getattr(torch.ops.aten, packet, None) if packet.isidentifier() else None
        if found is not None and (one is None or one in found.overloads()):
            return True
    return False


def _function(file: Path, folder: str, name: str) -> Callable[..., Any]:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    wanted = list(dict.fromkeys([f"{folder}_kernel_impl", f"{name}_kernel_impl", folder, name]))
    for one in wanted:
        if callable(found := getattr(module, one, None)):
            return found
    raise AttributeError(f"{file.name} has no function {' or '.join(map(repr, wanted))}")
