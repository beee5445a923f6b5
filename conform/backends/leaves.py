"""The tensors of nested Python values, in one order for what goes into a module and for what comes out of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from conform.backends.reply import Output


def leaves(value: Any) -> Iterator[Any]:
    """What a value consists of, None left out: lists and tuples in their order, mappings by their keys in order of
    text, dataclasses by their fields."""
    if value is None:
        return
    if isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from leaves(value[key])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type | Output):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name))
    else:
        yield value
