"""Argument specs: which calls of an op are valid. One module a family registers them."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from dataclasses import dataclass

from conform import schema

FAMILIES = (
    "elementwise",
    "functions",
    "shape",
    "indexing",
    "reduction",
    "contraction",
    "windows",
    "normalization",
    "sorting",
    "creation",
)

INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
NUMBERS = INTEGERS + FLOATS
REAL = ("bool", *NUMBERS)


@dataclass(frozen=True)
class OpSpec:
    """The domain of one op. `name` without an overload speaks for all overloads that have no spec of their own.

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


_SPECS: dict[str, OpSpec] = {}


def spec(
    name: str, dtypes: Sequence[str], index_arguments: Sequence[str] = (), nonzero_integers: Sequence[str] = ()
) -> OpSpec:
    """Register the spec of an op. ValueError if it has one, or an argument name is in none of its schemas."""
    if name in _SPECS:
        raise ValueError(f"spec of {name}: registered twice")
    for argument in (*index_arguments, *nonzero_integers):
        position(name, argument)
    _SPECS[name] = OpSpec(name, tuple(dtypes), tuple(index_arguments), tuple(nonzero_integers))
    return _SPECS[name]


def spec_of(op_name: str) -> OpSpec | None:
    """The spec of `aten::name.overload`: its own, else the one of `aten::name`; None if there is neither."""
    _load()
    return _SPECS.get(op_name) or _SPECS.get(op_name.partition(".")[0])


def specs() -> tuple[OpSpec, ...]:
    """Every spec, family by family."""
    _load()
    return tuple(_SPECS.values())


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
