"""Values that are written out: their plain Python form, and whether they match what is declared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conform.suites.dtypes import default_dtype, holds
from conform.suites.fields import describe

_ELEMENT = {
    "bool": (lambda value: isinstance(value, bool), "true or false"),
    "int": (lambda value: isinstance(value, int) and not isinstance(value, bool), "an integer"),
    "float": (lambda value: isinstance(value, int | float) and not isinstance(value, bool), "a number"),
}


def plain(value: Any) -> Any:
    """Built-in dicts, lists and strings in place of those that remember where they were written."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, str) else value


def literal_problem(value: Any, shape: tuple[int, ...], kind: str, dtype: str | None) -> str | None:
    """What is wrong with nested lists as the value of a tensor, None if nothing.

    A complex tensor of `shape` is written packed: real numbers of shape `[*shape, 2]`.
    """
    is_complex = kind == "complex"
    full = (*shape, 2) if is_complex else shape
    if not _has_shape(value, full):
        packed = " (real and imaginary part last)" if is_complex else ""
        return f"the value does not match the shape; expected nested lists of shape {list(full)}{packed}"
    is_element, expected = _ELEMENT["float" if is_complex else kind]
    target = default_dtype(kind, dtype)
    for element in elements(value):
        if not is_element(element):
            return f"expected {expected}, found {describe(element)}"
        if not holds(target, element):
            return f"{describe(element)} does not fit {target}"
    return None


def _has_shape(value: Any, shape: tuple[int, ...]) -> bool:
    if not shape:
        return not isinstance(value, list)
    return isinstance(value, list) and len(value) == shape[0] and all(_has_shape(item, shape[1:]) for item in value)


def elements(value: Any) -> Iterator[Any]:
    """The numbers of nested lists, in order."""
    if isinstance(value, list):
        for item in value:
            yield from elements(item)
    else:
        yield value
