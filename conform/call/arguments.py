"""The arguments of one call of an op, and how its tensors are numbered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from conform.inputs.layouts import Placed

    Tensor = np.ndarray | Placed


@dataclass(frozen=True)
class Arguments:
    """Positional and keyword arguments of one call.

    A tensor is a numpy array in the storage dtype of its format, or a `Placed` where its layout is not contiguous.
    Everything else is as in the case's header: Python scalars, strings, None, and lists of any of these.
    `literal` holds the numbers of the tensors whose values the test wrote out; they are never replaced. `requires_grad`
    holds those of the tensors that the backend gets with this flag. `scalars` tells where the test's scalar nodes
    stand, and their dtypes: ("in", 0), ("kwargs", "alpha"), ("in", 1, 2) inside a list.
    """

    args: list[Any]
    kwargs: dict[str, Any] = field(default_factory=dict)
    literal: frozenset[int] = frozenset()
    requires_grad: frozenset[int] = frozenset()
    scalars: Mapping[tuple[str | int, ...], str] = field(default_factory=dict)


def is_tensor(value: object) -> bool:
    """Whether `value` is an array or a Placed (which has a storage)."""
    return isinstance(value, np.ndarray) or hasattr(value, "storage")


def tensors(arguments: Arguments) -> list[Tensor]:
    """The tensors in the order of their numbers: args, then kwargs, nested lists and tuples flattened."""
    found: list[Tensor] = []
    for value in (*arguments.args, *arguments.kwargs.values()):
        _collect(value, found)
    return found


def _collect(value: Any, found: list[Tensor]) -> None:
    if is_tensor(value):
        found.append(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _collect(item, found)


def map_tensors(arguments: Arguments, function: Callable[[int, Tensor], Tensor]) -> Arguments:
    """New arguments with every tensor replaced by `function(number, tensor)`; all else is shared with the old ones."""
    number = -1

    def mapped(value: Any) -> Any:
        nonlocal number
        if is_tensor(value):
            number += 1
            return function(number, value)
        if isinstance(value, (list, tuple)):
            return type(value)([mapped(item) for item in value])
        return value

    args = [mapped(value) for value in arguments.args]
    kwargs = {name: mapped(value) for name, value in arguments.kwargs.items()}
    return replace(arguments, args=args, kwargs=kwargs)
