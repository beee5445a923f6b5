"""The witness calls of each overload, by name: `@witness("aten::mm")` over a generator of keyword arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from conform.call.families import family_in, load_families
from conform.selftest.agreement.draw import Draw

Call = dict[str, Any]  # every argument by its name in the schema
Witness = Callable[[str, str, Draw], Iterator[Call]]

_ROOM = "conform.selftest.agreement.witness"
_WITNESSES: dict[str, Witness] = {}


def witness(*names: str) -> Callable[[Witness], Witness]:
    """Register a generator of calls under the overloads `names`.

    It is called with the overload, the dtype of the op's data and the draws of one round, and gives the calls of that
    round: every keyword away from its default, broadcasting, 0-d, empty, and what both sides must refuse.
    """

    def register(function: Witness) -> Witness:
        for name in names:
            if name in _WITNESSES:
                raise ValueError(f"{name} has the witnesses {_WITNESSES[name].__name__} and {function.__name__}")
            _WITNESSES[name] = function
        return function

    return register


@cache
def witnesses() -> dict[str, Witness]:
    """Every overload that has witness calls, with their generator."""
    load_families(_ROOM)
    return _WITNESSES


def family_of(name: str) -> str:
    """The family of the overload `name`."""
    return family_in(_ROOM, witnesses()[name].__module__)
