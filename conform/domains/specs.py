"""Argument specs: which calls of an op are valid. One module a family registers them."""

from __future__ import annotations

import functools
import sys

from conform.call.aliases import aliases_of
from conform.call.families import FAMILIES, family_in, load_families
from conform.domains.engine.arguments import RESULT, Argument
from conform.domains.engine.dtypes import COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.out_arguments import with_out_arguments

__all__ = ["COMPLEX", "FLOATS", "INTEGERS", "NUMBERS", "REAL", "OpSpec", "out_specs", "spec", "spec_of", "specs"]

_ROOM = "conform.domains"
_SPECS: dict[str, OpSpec] = {}
_MODULE: dict[str, str] = {}  # of each spec: the name of the module that registered it


def spec(name: str, *arguments: Argument) -> OpSpec:
    """Register the spec of an overload: its arguments in the schema's order, then its results.

    ValueError if the overload has a spec, or other arguments.
    """
    if name in _SPECS:
        raise ValueError(f"spec of {name}: registered twice")
    results = [one for one in arguments if one.name == RESULT]
    _SPECS[name] = OpSpec(name, [one for one in arguments if one.name != RESULT], results)
    _MODULE[name] = sys._getframe(1).f_globals["__name__"]
    return _SPECS[name]


def spec_of(op_name: str) -> OpSpec | None:
    """The spec of `aten::name.overload`, an out variant among them, or None; of a name without overload that is none
    itself, the first of its overloads'."""
    _load()
    if "." in op_name:
        return _SPECS.get(op_name) or _out_specs().get(op_name)
    return _SPECS.get(op_name) or _first_of_packet().get(op_name)


@functools.cache
def _first_of_packet() -> dict[str, OpSpec]:
    return {one.name.partition(".")[0]: one for one in reversed(_SPECS.values())}


def module_of(op_name: str) -> str:
    """The module that registers the spec of this overload, or of that of which it is an alias; KeyError without one."""
    _load()
    return _MODULE[op_name]


def specs() -> tuple[OpSpec, ...]:
    """Every spec, family by family."""
    _load()
    return tuple(_SPECS.values())


def out_specs() -> tuple[OpSpec, ...]:
    """The specs of the out variants, which follow from the others."""
    return tuple(_out_specs().values())


@functools.cache
def _out_specs() -> dict[str, OpSpec]:
    found = (with_out_arguments(one) for one in specs())
    return {one.name: one for one in found if one is not None}


@functools.cache
def _load() -> None:
    """In the order of the families and of their modules, whichever was imported first."""
    load_families(_ROOM)
    for alias, name in list(aliases_of(_SPECS)):
        _SPECS[alias] = OpSpec(alias, _SPECS[name].arguments, _SPECS[name].results)
        _MODULE[alias] = _MODULE[name]
    ordered = sorted(_SPECS.items(), key=lambda item: _place(_MODULE[item[0]]))
    _SPECS.clear()
    _SPECS.update(ordered)


def _place(module: str) -> tuple[int, str]:
    return FAMILIES.index(family_in(_ROOM, module)), module
