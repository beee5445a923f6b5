"""Argument specs: which calls of an op are valid. One module a family registers them."""

from __future__ import annotations

import functools
import sys

from conform.call.aliases import aliases_of
from conform.call.families import FAMILIES, family_in, load_families
from conform.call.foreach import foreach_ops
from conform.call.variants import variant_of
from conform.domains.engine.arguments import RESULT, Argument
from conform.domains.engine.dtypes import COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL
from conform.domains.engine.members import with_members
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.out_arguments import with_out_arguments, with_result_in_place
from conform.domains.optimizers.lists import BESIDES

__all__ = ["COMPLEX", "FLOATS", "INTEGERS", "NUMBERS", "REAL", "OpSpec", "spec", "spec_of", "specs", "variant_specs"]

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
    """The spec of `aten::name.overload`, a variant that writes among them, or None; of a name without overload that is
    none itself, the first of its overloads'."""
    _load()
    return _SPECS.get(op_name) or _variant_spec(op_name) or _first_of_packet().get(op_name)


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


@functools.cache
def variant_specs() -> tuple[OpSpec, ...]:
    """The specs of the variants that write, which follow from the others: of each op that in place, then that with out
    arguments."""
    made = (make(one) for one in specs() for make in (with_result_in_place, with_out_arguments))
    return tuple(one for one in made if one is not None)


@functools.cache
def _variant_spec(op_name: str) -> OpSpec | None:
    variant = variant_of(op_name)
    plain = _SPECS.get(variant.plain.name) if variant else None
    made = (make(plain) for make in (with_result_in_place, with_out_arguments)) if plain else ()
    return next((one for one in made if one is not None and one.name == op_name), None)


@functools.cache
def _load() -> None:
    """In the order of the families and of their modules, whichever was imported first."""
    load_families(_ROOM)
    for alias, name in list(aliases_of(_SPECS)):
        _SPECS[alias] = OpSpec(alias, _SPECS[name].arguments, _SPECS[name].results)
        _MODULE[alias] = _MODULE[name]
    for each in list(foreach_ops(_SPECS)):
        _SPECS[each.lists.name] = with_members(each, _SPECS[each.member.name], BESIDES.get(each.lists.name, {}))
        _MODULE[each.lists.name] = _MODULE[each.member.name]
    ordered = sorted(_SPECS.items(), key=lambda item: _place(_MODULE[item[0]]))
    _SPECS.clear()
    _SPECS.update(ordered)


def _place(module: str) -> tuple[int, str]:
    return FAMILIES.index(family_in(_ROOM, module)), module
