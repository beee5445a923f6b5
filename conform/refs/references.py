"""The names of the references: `@reference("aten::mm")` over a function makes it the meaning of that overload."""

from __future__ import annotations

from collections.abc import Callable

REFERENCES: dict[str, Callable] = {}


def reference(*op_names: str) -> Callable[[Callable], Callable]:
    """Register the decorated function under each overload name; ValueError if a name already has a reference."""

    def register(function: Callable) -> Callable:
        for name in op_names:
            if name in REFERENCES:
                raise ValueError(f"{name} has two references: {REFERENCES[name].__name__} and {function.__name__}")
            REFERENCES[name] = function
        return function

    return register
