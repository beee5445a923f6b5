"""The names of the references: `@reference("aten::mm")` over a function makes it the meaning of that overload."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

REFERENCES: dict[str, Callable] = {}


def reference(*op_names: str) -> Callable[[Callable], Callable]:
    """Register the decorated function under each overload name; ValueError if a name already has a reference.

    A parameter `from_` is the schema's `from`, which Python keeps for itself."""

    def register(function: Callable) -> Callable:
        for name in op_names:
            if name in REFERENCES:
                raise ValueError(f"{name} has two references: {REFERENCES[name].__name__} and {function.__name__}")
            REFERENCES[name] = _called_by_schema_names(function)
        return function

    return register


def _called_by_schema_names(function: Callable) -> Callable:
    own = {name.removesuffix("_"): name for name in inspect.signature(function).parameters if name.endswith("_")}
    if not own:
        return function

    @wraps(function)
    def called(**arguments: Any) -> Any:
        return function(**{own.get(name, name): value for name, value in arguments.items()})

    return called
