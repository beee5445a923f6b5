"""Argument specs: which calls of an op are valid. One module a family registers them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from dataclasses import dataclass

from conform import schema
from conform.inputs.engine.arguments import RESULT, Argument
from conform.inputs.engine.dtypes import COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL
from conform.inputs.engine.op_spec import OpSpec

__all__ = ["COMPLEX", "FLOATS", "INTEGERS", "NUMBERS", "REAL", "MinimalSpec", "OpSpec", "op_specs", "position", "spec",
           "spec_of", "specs"]  # fmt: skip

FAMILIES = (
    "elementwise",
    "functions",
    "shape",
    "indexing",
    "reduction",
    "contraction",
    "windows",
    "normalization",
    "loss",
    "attention",
    "sorting",
    "creation",
)


@dataclass(frozen=True)
class MinimalSpec:
    """What specs said before they stated whole domains; families give it up one by one.

    `name` without an overload speaks for all overloads that have no spec of their own.

    dtypes: what the op's first data tensor may have (of an op that has none, its `dtype` argument); masks and
        indices that stand before it do not count. Those that torch takes on the CPU.
    index_arguments: names of arguments that are indices or masks; they never take special values.
    nonzero_integers: names of integer divisors. 0 is kept out of their special values (policy P11), and so is the
        smallest integer divided by -1 (P12).
    """

    name: str
    dtypes: tuple[str, ...]
    index_arguments: tuple[str, ...] = ()
    nonzero_integers: tuple[str, ...] = ()


_SPECS: dict[str, OpSpec | MinimalSpec] = {}


def spec(
    name: str,
    *arguments: Argument,
    dtypes: Sequence[str] = (),
    index_arguments: Sequence[str] = (),
    nonzero_integers: Sequence[str] = (),
) -> OpSpec | MinimalSpec:
    """Register the spec of an overload: its arguments in the schema's order, then its results.

    Without arguments it is minimal, and may speak of all overloads of a name. ValueError if the op has a spec, or it
    has other arguments.
    """
    if name in _SPECS:
        raise ValueError(f"spec of {name}: registered twice")
    if arguments:
        results = [one for one in arguments if one.name == RESULT]
        _SPECS[name] = OpSpec(name, [one for one in arguments if one.name != RESULT], results)
    else:
        for argument in (*index_arguments, *nonzero_integers):
            position(name, argument)
        _SPECS[name] = MinimalSpec(name, tuple(dtypes), tuple(index_arguments), tuple(nonzero_integers))
    return _SPECS[name]


def spec_of(op_name: str) -> OpSpec | MinimalSpec | None:
    """The spec of `aten::name.overload`: its own, else the one of `aten::name`; None if there is neither.

    Of a name without overload that has none itself, the first of its overloads'.
    """
    _load()
    packet = op_name.partition(".")[0]
    found = _SPECS.get(op_name) or _SPECS.get(packet)
    return found or (_first_of_packet().get(packet) if op_name == packet else None)


@functools.cache
def _first_of_packet() -> dict[str, OpSpec | MinimalSpec]:
    return {one.name.partition(".")[0]: one for one in reversed(_SPECS.values())}


def specs() -> tuple[OpSpec | MinimalSpec, ...]:
    """Every spec, family by family."""
    _load()
    return tuple(_SPECS.values())


def op_specs() -> tuple[OpSpec, ...]:
    """The specs that state whole domains."""
    return tuple(one for one in specs() if isinstance(one, OpSpec))


@functools.cache
def position(op_name: str, argument: str) -> int:
    """The place of a positional argument, the same in all overloads that have it. ValueError if none has."""
    candidates = [schema.schema(op_name)] if "." in op_name else schema.overloads(op_name)
    names = [[one.name for one in candidate.arguments if not one.kwarg_only] for candidate in candidates]
    places = {each.index(argument) for each in names if argument in each}
    if len(places) != 1:
        raise ValueError(f"spec of {op_name}: {argument!r} has positions {sorted(places)} in its schemas, expected one")
    return places.pop()


@functools.cache
def _load() -> None:
    for family in FAMILIES:
        importlib.import_module(f"{__package__}.{family}")
