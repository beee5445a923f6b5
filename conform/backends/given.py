"""A backend given as an object (a class, an instance, a function), and how it reaches its worker.

The parent pickles it; a new worker, which holds nothing else of the parent's, gets that as its first frame. Nothing
that comes back from a worker is unpickled. What a fresh interpreter can import goes by its name, the rest by value:
what was written in a script, a notebook, a test or another function.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import pickle
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, ClassVar

from conform.backends.base import Backend
from conform.backends.protocol import frame
from conform.errors import UsageError

INTERFACE = "run(op, args, kwargs)"


@dataclass(frozen=True)
class Given:
    """A backend as an object: the `label` it goes by in messages, and the frame that a worker makes it from."""

    label: str
    frame: bytes


class FunctionBackend(Backend):
    """A function of an op's name and its arguments, as a backend of the function's name."""

    def __init__(self, function: Callable[[str, list[Any], dict[str, Any]], Any], name: str) -> None:
        self.function, self.name = function, name

    def run(self, op: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        return self.function(op, args, kwargs)


def given(backend: type[Backend] | Backend | Callable) -> Given:
    """A class (created in the worker, without arguments), an instance or a function, ready to be sent.

    UsageError for anything else, for an instance without a name, and for what cannot be pickled.
    """
    label = _label(backend)
    if not isinstance(backend, Backend | type):
        backend = FunctionBackend(backend, label)
    return Given(label, frame({"label": label, "path": sys.path}, _pickled(backend, label)))


def loaded(header: dict[str, Any], payload: bytes) -> Backend:
    """The backend that `given` made a frame of. What importing and creating it raises passes through."""
    from conform.backends.names import created

    sys.path += [entry for entry in header["path"] if entry not in sys.path]
    backend = pickle.loads(payload)
    return created(backend, header["label"]) if isinstance(backend, type) else backend


def bring_home(classes: Iterable[type]) -> None:
    """What the functions of classes name is put into the Python modules that they are of, where these are not here:
    torch.compile looks for it there, also of a class that came by value."""
    for function in (function for one in classes for function in vars(one).values()):
        scope = getattr(function, "__globals__", {})
        name = scope.get("__name__")
        if name is not None and vars(sys.modules.setdefault(name, ModuleType(name))) is not scope:
            vars(sys.modules[name]).update({key: value for key, value in scope.items() if not key.startswith("__")})


def origin(backend: type[Backend] | Backend | Callable) -> dict[str, str]:
    """{"source": "MODULE.NAME"} of the class or function, whatever it calls itself."""
    code = backend if hasattr(backend, "__qualname__") else type(backend)
    return {"source": f"{code.__module__}.{code.__qualname__}"}


def _label(backend: Any) -> str:
    """The name of a backend; UsageError for what is none."""
    if isinstance(backend, type):
        if not issubclass(backend, Backend):
            raise UsageError(f"backend {backend.__qualname__} is no subclass of conform.Backend, which was expected")
        return backend.name or backend.__name__
    if isinstance(backend, Backend):
        if not backend.name:
            raise UsageError(f"backend {type(backend).__qualname__}: its name is not set; give the class a name")
        return backend.name
    if not callable(backend):
        expected = f"a name, a subclass of conform.Backend, an instance of one or a function {INTERFACE}"
        raise UsageError(f"backend: found {backend!r:.200}, expected {expected}")
    label = getattr(backend, "__name__", type(backend).__name__)
    if not _takes_three(backend):
        raise UsageError(f"backend {label}: found {label}{inspect.signature(backend)}, expected a function {INTERFACE}")
    return label


def _takes_three(function: Callable) -> bool:
    """Whether three positional arguments fit; of some built-in functions nobody knows."""
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


# --- Pickling ---------------------------------------------------------------------------------------------------------


def _pickled(backend: Backend | type[Backend], label: str) -> bytes:
    try:
        return dumps(backend, [_defining_module(backend)])
    except Exception as error:  # whatever an object's own pickling raises
        raise UsageError(
            f"backend {label} cannot be sent to its worker process: {type(error).__name__}: {error}; write it to a "
            "file and give 'FILE.py::CLASS', or let it make what it holds when it first runs"
        ) from None


def dumps(value: Any, defined_in: Iterable[str]) -> bytes:
    """The pickled value; what is defined in those of the modules that a fresh interpreter does not find, by value."""
    import cloudpickle

    found = (sys.modules.get(name) for name in sorted(set(defined_in)))
    by_value = [module for module in found if module is not None and not _is_importable(module)]
    try:
        for module in by_value:
            cloudpickle.register_pickle_by_value(module)
        return _with_files(value)
    finally:
        for module in by_value:
            with contextlib.suppress(ValueError):  # where registering it failed
                cloudpickle.unregister_pickle_by_value(module)


def _with_files(value: Any) -> bytes:
    """The value as cloudpickle pickles it, and code with the file that it is from, which cloudpickle 3.1.3 leaves out:
    where a backend raises is told by it, and torch.compile reads it."""
    import cloudpickle  # heavy for what most runs never need

    plain = cloudpickle.Pickler.dispatch_table
    with_files = {CodeType: lambda code: _code_reduced(code, plain[CodeType](code))}

    class Pickler(cloudpickle.Pickler):
        dispatch_table: ClassVar[ChainMap] = ChainMap(with_files, plain)

    packed = io.BytesIO()
    Pickler(packed).dump(value)
    return packed.getvalue()


def _code_reduced(code: CodeType, reduced: tuple[Callable[..., CodeType], tuple]) -> tuple:
    make, arguments = reduced
    return _code_of_file, (code.co_filename, make, arguments)


def _code_of_file(file: str, make: Callable[..., CodeType], arguments: tuple) -> CodeType:
    return make(*arguments).replace(co_filename=file)


def _defining_module(backend: Any) -> str:
    code = backend.function if isinstance(backend, FunctionBackend) else backend
    return getattr(code, "__module__", None) or type(code).__module__


def _finders() -> list[Any]:
    """What a fresh interpreter looks for modules with: sys.path, and what a .pth file of an editable installation (PEP
    660) puts beside it."""
    return [one for one in sys.meta_path if one is PathFinder or "editable" in getattr(one, "__module__", "")]


def _is_importable(module: ModuleType) -> bool:
    """Whether a fresh interpreter with this sys.path finds the module under its name. `__main__` is pickled by value
    anyway."""
    if module.__name__ in ("__main__", *sys.builtin_module_names):
        return True
    if not (file := getattr(module, "__file__", None)):
        return False
    path, spec, packages = None, None, module.__name__.split(".")
    for depth in range(1, len(packages) + 1):
        name = ".".join(packages[:depth])
        spec = next(filter(None, (finder.find_spec(name, path) for finder in _finders())), None)
        if spec is None:
            return False
        path = spec.submodule_search_locations
    return bool(spec.origin) and Path(spec.origin).resolve() == Path(file).resolve()
