"""Argument specs: which calls of an op are valid. One module a family registers them."""

from __future__ import annotations

import functools
import importlib

from conform.inputs.engine.arguments import RESULT, Argument
from conform.inputs.engine.dtypes import COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL
from conform.inputs.engine.op_spec import OpSpec

__all__ = ["COMPLEX", "FLOATS", "INTEGERS", "NUMBERS", "REAL", "OpSpec", "spec", "spec_of", "specs"]

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

_SPECS: dict[str, OpSpec] = {}


def spec(name: str, *arguments: Argument) -> OpSpec:
    """Register the spec of an overload: its arguments in the schema's order, then its results.

    ValueError if the overload has a spec, or other arguments.
    """
    if name in _SPECS:
        raise ValueError(f"spec of {name}: registered twice")
    results = [one for one in arguments if one.name == RESULT]
    _SPECS[name] = OpSpec(name, [one for one in arguments if one.name != RESULT], results)
    return _SPECS[name]


def spec_of(op_name: str) -> OpSpec | None:
    """The spec of `aten::name.overload`, None if it has none; of a name without overload that is none itself, the first
    of its overloads'."""
    _load()
    return _SPECS.get(op_name) or (_first_of_packet().get(op_name) if "." not in op_name else None)


@functools.cache
def _first_of_packet() -> dict[str, OpSpec]:
    return {one.name.partition(".")[0]: one for one in reversed(_SPECS.values())}


def specs() -> tuple[OpSpec, ...]:
    """Every spec, family by family."""
    _load()
    return tuple(_SPECS.values())


@functools.cache
def _load() -> None:
    for family in FAMILIES:
        importlib.import_module(f"{__package__}.{family}")
