"""Semantics by op name: a decorator beside each definition, duplicates refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from conform.call.families import family_in, load_families
from conform.interp.golden import Golden, Outcome

_ROOM = "conform.interp.ops"


@dataclass(frozen=True)
class Semantics:
    """The definition of an op's overloads, and which of the schema's arguments its meaning depends on.

    arrays: the parameters that take tensors only, though torch takes a Python number for any tensor
    pointwise: whether an element of the result depends on the same element of each (broadcast) tensor alone
    """

    names: tuple[str, ...]
    family: str
    function: Callable[..., Golden | tuple[Golden, ...] | Outcome]
    parameters: tuple[str, ...]
    arrays: tuple[str, ...]
    pointwise: bool

    @property
    def meaning(self) -> str:
        return inspect.getdoc(self.function) or ""


_table: dict[str, Semantics] = {}


def semantics(*names: str, pointwise: bool = False) -> Callable[[Callable], Callable]:
    """Register the decorated function as the meaning of the overloads `names`; its parameters are the schema's
    names. Large tensors of a `pointwise` meaning are given to it a block at a time."""

    def register(function: Callable) -> Callable:
        parameters = inspect.signature(function).parameters
        arrays = tuple(name for name, parameter in parameters.items() if parameter.annotation == "np.ndarray")
        family = family_in(_ROOM, function.__module__)
        entry = Semantics(names, family, function, tuple(parameters), arrays, pointwise)
        for name in names:
            if name in _table:
                taken = _table[name].function
                raise ValueError(f"{name} is defined twice: {_place(taken)} and {_place(function)}")
            _table[name] = entry
        return function

    return register


pointwise = partial(semantics, pointwise=True)


def _place(function: Callable) -> str:
    return f"{function.__module__}.{function.__name__}"


@cache
def _load() -> dict[str, Semantics]:
    load_families(_ROOM)
    return _table


def find(name: str) -> Semantics | None:
    """The semantics of the overload `name` ("aten::add.Tensor"), or None."""
    return _load().get(name)


def names() -> list[str]:
    """Every overload that has semantics, sorted."""
    return sorted(_load())
