"""All planted backends by name."""

from __future__ import annotations

import functools
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent
FILES = (
    "layout", "special", "integers", "accuracy", "edges", "functions", "products", "complex_numbers", "parameters",
    "kernels", "composites", "cheating",
)  # fmt: skip

if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))  # as in a worker: a planted file imports `planting`, which lies beside it

from planting import Planted  # noqa: E402


@functools.cache
def planted() -> dict[str, type[Planted]]:
    """Every planted class, by its name in its file. ValueError if two have one name."""
    found: dict[str, type[Planted]] = {}
    for file in FILES:
        module = _module(file)
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, Planted) and value.ops and _is_of(module, value):
                if name in found and found[name] is not value:
                    raise ValueError(f"planted classes: {name} is defined twice")
                found[name] = value
    return found


def _is_of(module: ModuleType, value: type) -> bool:
    """Whether the class is the module's own, not one that it derives others from."""
    return value.__module__ == module.__name__


def _module(file: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"planted_{file}", FOLDER / f"{file}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def backend_name(name: str) -> str:
    """What `conform check --backend` calls the planted class `name`."""
    file = planted()[name].__module__.removeprefix("planted_")
    return f"{FOLDER / file}.py::{name}"
