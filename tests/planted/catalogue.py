"""All planted backends by name."""

from __future__ import annotations

import functools
import importlib
import sys
from pathlib import Path

FOLDER = Path(__file__).parent
if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))  # the planted files import what lies beside them, as they do in a worker

from planting import Planted  # noqa: E402

FILES = ("layout", "special", "integers", "accuracy", "parameters", "cheating")


@functools.cache
def planted() -> dict[str, type[Planted]]:
    """Every planted class that has a bug, by its name in its file."""
    found: dict[str, type[Planted]] = {}
    for file in FILES:
        module = importlib.import_module(file)
        for name, value in vars(module).items():
            if isinstance(value, type) and issubclass(value, Planted) and value.__module__ == file and value.bug and value.ops:
                assert name not in found, f"two planted classes are called {name}"
                found[name] = value
    return found


def backend_name(name: str) -> str:
    """What `conform check --backend` calls a planted class."""
    return f"{FOLDER / planted()[name].__module__}.py::{name}"
