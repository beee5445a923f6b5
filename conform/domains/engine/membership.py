"""Membership: whether the arguments of a call lie in the domain of its op, and what keeps them out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.domains.engine.arguments import SCALAR, Argument, ArgumentType
from conform.domains.engine.attribute import Scope
from conform.domains.engine.constraints import Constraint
from conform.domains.engine.dtypes import ALL
from conform.domains.engine.elements import Elements
from conform.domains.engine.meta_argument import ELEMENT, WRAPPED_NUMBER, MetaArgument, MetaArgumentEngine
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.stand_ins import NO_INDEX, stand_ins
from conform.domains.engine.variables import WHOLE, VariableType
from conform.numerics.formats import format_of

_KINDS = {"bool": "bool", "int": "int", "uint": "int", "float": "float", "complex": "complex"}  # of Python numbers
_WRAPPED = {bool: "bool", int: "int64", float: "float32", complex: "complex64"}  # torch.result_type
_NO_MEANING = (LookupError, ArithmeticError, TypeError, ValueError)


@dataclass(frozen=True)
class Violation:
    """A constraint that a call breaks, the name of its argument, and what the argument was found to be.

    lenience: why an implementation may accept the call, None where it must refuse it
    """

    argument: str
    constraint: Constraint
    found: MetaArgument
    lenience: str | None


def first_violation(spec: OpSpec, arguments: Mapping[str, Any]) -> Violation | None:
    """The first constraint that a call breaks and must be refused for; if it breaks none, the first for which the kit
    does not judge it; None if there is neither.

    arguments: by the schema's names, numpy arrays for tensors (all of their elements are looked at), dtypes by torch's
    names. They are gone through in the order of their dependencies, attribute by attribute.
    """
    metas = _meta_arguments(spec, arguments)
    scope: Scope = {name: meta.view for name, meta in metas.items()}
    unjudged = None
    for one, engine in spec.checks:
        for constraint in _broken(spec, engine, metas[one.name], metas, scope):
            is_lenient = constraint.is_lenient_for(scope)
            if not is_lenient:
                return _violation(spec, one, constraint, metas, scope)
            if not constraint.is_judged and unjudged is None:
                unjudged = _violation(
                    spec, one, constraint=constraint, metas=metas, scope=scope, lenience=constraint.lenience
                )
    return unjudged


def accepted_breach(spec: OpSpec, arguments: Mapping[str, Any]) -> Constraint | None:
    """The first constraint that a call breaks, where an implementation may accept all that it breaks; else None.

    arguments: as `first_violation` has them. Whether the kit has semantics for what is accepted makes no difference.
    """
    violation = first_violation(spec, arguments)
    if violation is not None and violation.lenience is None:
        return None
    metas = _meta_arguments(spec, arguments)
    return next(_all_broken(spec, metas, {name: meta.view for name, meta in metas.items()}), None)


def _broken(
    spec: OpSpec, engine: MetaArgumentEngine, meta: MetaArgument, metas: Mapping[str, MetaArgument], scope: Scope
) -> Iterator[Constraint]:
    """What an argument breaks of the constraints of its engine that can be a reason to refuse.

    Constraints are written for calls that satisfy those before them. One that has no value is no reason to refuse a
    call that breaks another which it may break; of any other call the spec is wrong.
    """
    try:
        yield from engine.broken(meta, scope, strict=True)
    except _NO_MEANING:
        if not any(constraint.lenience for constraint in _all_broken(spec, metas, scope)):
            raise


def _all_broken(spec: OpSpec, metas: Mapping[str, MetaArgument], scope: Scope) -> Iterator[Constraint]:
    """The broken constraints of every argument that has a value."""
    for one, engine in spec.checks:
        try:
            yield from engine.broken(metas[one.name], scope)
        except _NO_MEANING:
            continue


def _violation(
    spec: OpSpec,
    one: Argument,
    constraint: Constraint,
    metas: Mapping[str, MetaArgument],
    scope: Scope,
    lenience: str | None = None,
) -> Violation:
    meta = metas[one.name]
    tensor = meta.structure[scope["#i"]] if one.type.is_tensor_list and constraint.attribute != "Length" else meta
    if constraint.attribute == "Value" and isinstance(tensor.value, Elements):
        tensor.outside = spec.engines[one.name].outside(constraint, tensor.value, scope)
    return Violation(one.name, constraint, meta, lenience)


# --- Meta arguments of values -----------------------------------------------------------------------------------------


def _meta_arguments(spec: OpSpec, arguments: Mapping[str, Any]) -> dict[str, MetaArgument]:
    values = {one.name: arguments.get(one.name) for one in spec.arguments}
    known = _stand_ins(spec, values)
    return {one.name: _meta(one.type, values[one.name], known) for one in spec.arguments}


def _stand_ins(spec: OpSpec, values: Mapping[str, Any]) -> dict[str, str]:
    names = []
    for one in spec.arguments:
        value = values[one.name]
        if one.type.name == "ScalarType":
            names += [value] if value else []
        else:
            some = value if isinstance(value, list | tuple) else (value,)
            names += [format_of(each).name for each in some if isinstance(each, np.ndarray)]
    return {} if all(name in ALL for name in names) else stand_ins(names)


def _meta(type_: ArgumentType, value: Any, known: Mapping[str, str]) -> MetaArgument:
    meta = MetaArgument(type_)
    if type_.is_tensor_list:
        meta.structure = tuple(_meta_of_element(type_, each, known) for each in value)
    elif value is None:
        meta.optional = True
    elif type_.is_tensor:
        return _meta_of_tensor(meta, value, known) if isinstance(value, np.ndarray) else _meta_of_wrapped(value)
    elif type_.is_number:
        meta.value, meta.dtype = _number(value)
    elif type_.is_number_list:
        meta.structure = tuple(_meta(SCALAR, each, known) for each in value)
    elif type_.is_list:
        meta.structure = tuple(value)
    elif type_.name == "ScalarType":
        meta.structure, meta.stands_for = known.get(value, value), value if value in known else None
    else:
        meta.structure = bool(value) if type_.value is VariableType.BOOL else value
    return meta


def _meta_of_element(type_: ArgumentType, value: np.ndarray | None, known: Mapping[str, str]) -> MetaArgument:
    meta = MetaArgument(ELEMENT)
    if value is None:
        meta.optional = True
        return meta
    return _meta_of_tensor(meta, value, known, type_.is_index)


def _meta_of_tensor(
    meta: MetaArgument, value: np.ndarray, known: Mapping[str, str], is_index: bool = False
) -> MetaArgument:
    fmt = format_of(value)
    meta.dtype = fmt.name
    if fmt.name in known and fmt.name not in WHOLE[meta.type.dtypes]:
        of_index = fmt.is_integer and (is_index or meta.type.is_index)
        meta.dtype, meta.stands_for = NO_INDEX if of_index else known[fmt.name], fmt.name
    meta.structure, meta.value = value.shape, Elements(value)
    return meta


def _meta_of_wrapped(value: complex) -> MetaArgument:
    """A Python number for a tensor: one of no dimensions, whose dtype counts least."""
    meta = MetaArgument(WRAPPED_NUMBER)
    meta.dtype, meta.structure = _WRAPPED[type(value)], ()
    meta.value = Elements(np.asarray(value))
    return meta


def _number(value: complex | np.ndarray) -> tuple[complex, str]:
    """(a Python number, its kind), of a tensor of no dimensions too."""
    if not isinstance(value, np.ndarray):
        return value, type(value).__name__
    kind = _KINDS[format_of(value).kind]
    return {"bool": bool, "int": int, "float": float, "complex": complex}[kind](value.item()), kind
