"""Rules by op name: the gradient of an op's operands, as a program over the kit's own ops."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from conform.call.aliases import canonical
from conform.call.families import load_families
from conform.interp import semantics
from conform.interp.gradients import elements
from conform.interp.program.number import Number

_ROOM = "conform.interp.gradients"

# Of a call's arguments by name, with Numbers for tensors, of its cotangents (None of an output that has none), of its
# results and of the operand's name: the gradient of that operand, a list of them for a list of tensors. It may be of
# the shape to which the operand is broadcast.
Gradient = Callable[[Mapping[str, Any], Sequence[Number | None], Callable[[], Sequence[Number]], str], Any]


@dataclass(frozen=True)
class Rule:
    """The gradient of an op.

    operands: those that have one; outputs: the numbers of the results that they are gradients of, None: all that are
    floats; of_result: whether a kernel may start from the result that it has rounded already; text: the formula.
    """

    operands: tuple[str, ...]
    outputs: tuple[int, ...] | None
    function: Gradient
    text: str


_table: dict[str, Rule] = {}


def gradient(
    *names: str, of: Sequence[str] = ("self",), outputs: Sequence[int] | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the decorated function as the gradient of the overloads `names` with respect to their arguments `of`.

    Its parameters are, as it needs them, `g`, the cotangent (of several outputs a list), `result` (of several a tuple)
    and the arguments by their names in the schema, Numbers for tensors. It gives a Number, or for several arguments a
    tuple of them, each of the argument's shape, or of that to which it is broadcast. The docstring is the formula.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        wanted = tuple(inspect.signature(function).parameters)

        def of_operand(
            arguments: Mapping[str, Any], cotangents: Sequence[Number | None],
            results: Callable[[], Sequence[Number]], name: str,
        ) -> Any:  # fmt: skip
            given = {one: arguments[one] for one in wanted if one not in ("g", "result")}
            if "g" in wanted:
                given["g"] = cotangents[0] if len(cotangents) == 1 else _only(cotangents, outputs)
            if "result" in wanted:
                found = tuple(results())
                given["result"] = found[0] if len(found) == 1 else found
            made = function(**given)
            return made[of.index(name)] if len(of) > 1 else made

        add(names, Rule(tuple(of), None if outputs is None else tuple(outputs), of_operand, _text(function)))
        return function

    return register


def _only(cotangents: Sequence[Number | None], outputs: Sequence[int] | None) -> Any:
    """The cotangent of the one output that has any, else all."""
    return cotangents[outputs[0]] if outputs is not None and len(outputs) == 1 else list(cotangents)


def _text(function: Callable[..., Any]) -> str:
    text = inspect.getdoc(function)
    if not text:
        raise ValueError(f"the gradient {function.__module__}.{function.__name__} has no docstring, its formula")
    return text


def add(names: Sequence[str], rule: Rule) -> None:
    """Note the gradient of the overloads. ValueError where one has any."""
    for name in names:
        if name in _table:
            raise ValueError(f"{name} has two gradients")
        _table[name] = rule


def moved(*names: str, of: Sequence[str]) -> None:
    """Register the gradient of overloads whose results are elements of the arguments `of`, or others; which one stands
    where the other arguments say."""
    for name in names:
        add([name], Rule(tuple(of), None, elements.of_places(name), elements.OF_PLACES))


def chosen(*names: str, of: Sequence[str] = ("self",)) -> None:
    """Register the gradient of overloads whose float results are elements of the arguments `of`, or others; which one
    stands where their order says, and no more."""
    for name in names:
        add([name], Rule(tuple(of), None, elements.of_order(name), elements.OF_ORDER))


_independent: set[str] = set()


def independent(*names: str) -> None:
    """Note overloads of whose results none is a float that depends on floats: what has their dtype or shape alone, what
    is found, counted or compared."""
    _independent.update(names)


def is_independent(name: str) -> bool:
    """Whether the results of the overload `name` depend on no number."""
    _load()
    return canonical(name) in _independent


@cache
def _load() -> dict[str, Rule]:
    load_families(_ROOM)
    for name in semantics.names():
        if semantics.traits_of(name).moves and canonical(name) == name and name not in _table:
            moved(name, of=semantics.traits_of(name).moves)
    return _table


def find(name: str) -> Rule | None:
    """The gradient of the overload `name`, or None."""
    return _load().get(canonical(name))


def names() -> list[str]:
    """Every overload that has a gradient, but for other names of it, sorted."""
    return sorted(_load())
