"""Every way to take one argument wrongly, from the schema and the spec of its op: ignored, altered, left out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from conform.call import schemas
from conform.domains.engine.arguments import (
    BOOL,
    DIM,
    DIM_LIST,
    FLOAT,
    INDEX,
    INT,
    INT_LIST,
    LENGTH,
    SCALAR,
    SCALAR_TYPE,
    SHAPE,
    STRING,
    Argument,
)
from conform.domains.engine.meta_argument import MetaArgument
from conform.selftest.plants.facts import Op

Change = Callable[[Any], Any]

# The dtype next to each, one that holds more and one that holds less.
WIDER = {
    "bool": "uint8", "uint8": "int16", "int8": "int16", "int16": "int32", "int32": "int64", "int64": "float64",
    "float16": "float32", "bfloat16": "float32", "float32": "float64", "float64": "complex128",
    "complex64": "complex128",
}  # fmt: skip
NARROWER = {
    "uint8": "bool", "int8": "bool", "int16": "int8", "int32": "int16", "int64": "int32", "float16": "bfloat16",
    "bfloat16": "float16", "float32": "bfloat16", "float64": "float32", "complex64": "float32",
    "complex128": "complex64",
}  # fmt: skip


@dataclass(frozen=True)
class Alteration:
    """One argument taken wrongly: `change` gives what the op works with in place of what it was given.

    what: the defect in words, "dim from the other end". `change` sees a dtype as torch's name.
    """

    argument: str
    what: str
    change: Change


def alterations(op: Op) -> list[Alteration]:
    """The alterations of an op that change some valid call, argument by argument."""
    found = [each for one in op.spec.arguments for each in _of_argument(op, one)]
    return [each for each in found if _shows(op, each)]


def _shows(op: Op, one: Alteration) -> bool:
    """Whether a valid call is changed: what the spec fixes cannot be taken wrongly."""
    return any(_changes(call.arguments[one.argument], one.change) for call in op.calls)


def _changes(argument: MetaArgument, change: Change) -> bool:
    if argument.type.is_tensor or argument.type.is_tensor_list:
        return not argument.optional
    if argument.optional:
        return False
    value = argument.value if argument.is_number else argument.structure
    value = list(value) if isinstance(value, tuple) else value
    return not same(value, change(value))


def same(one: Any, other: Any) -> bool:
    """Whether two values of an argument are the same: equal, of one type."""
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other):
        return True
    return one is other or type(one) is type(other) and isinstance(one, _PLAIN) and one == other


_PLAIN = (bool, int, float, complex, str, list)


def _of_argument(op: Op, one: Argument) -> Iterator[Alteration]:
    declared = next(each for each in op.spec.schema.arguments if each.name == one.name)
    if one.type.is_tensor or one.type.is_tensor_list:
        changes = _of_tensors(one)
    else:
        changes = [*_ignored(one, declared), *_ALTERED.get(one.type.name, lambda _: [])(one)]
    yield from (Alteration(one.name, f"{one.name} {what}", _unless_none(change)) for what, change in changes)


def _unless_none(change: Change) -> Change:
    return lambda value: None if value is None else change(value)


Named = list[tuple[str, Change]]


def _ignored(one: Argument, declared: schemas.Argument) -> Named:
    """The default whatever is given; without a default, or where that is None, the plainest value of the type."""
    if declared.has_default:
        return [("ignored", lambda _: declared.default)]
    if one.may_be_none:
        return [("ignored", lambda _: None)]
    return [("ignored", lambda _: _PLAINEST[one.type.name])] if one.type.name in _PLAINEST else []


_PLAINEST = {BOOL.name: False, DIM.name: 0, INT.name: 1, INDEX.name: 0, LENGTH.name: 1, FLOAT.name: 0.0,
             SCALAR.name: 1, DIM_LIST.name: []}  # fmt: skip


def _of_tensors(one: Argument) -> Named:
    """Its elements unread, all but the first unread, or the whole tensor left out."""
    if one.type.is_tensor_list:
        return [("without its last", lambda given: given[:-1]), ("in reverse", lambda given: given[::-1])]
    read = [("read as zeros", lambda given: given.new_zeros(given.shape)), ("read as its first element", _first)]
    return [*read, ("left out", lambda _: None)] if one.may_be_none else read


def _first(tensor: Any) -> Any:
    return tensor.reshape(-1)[:1].expand(tensor.numel()).reshape(tensor.shape).contiguous()


# --- One function a type ----------------------------------------------------------------------------------------------


def _of_bool(_: Argument) -> Named:
    return [("flipped", lambda given: not given)]


def _of_dim(_: Argument) -> Named:
    return [
        ("always the last", lambda given: -1),
        ("from the other end", lambda given: -1 - given),
        ("off by one", lambda given: given + 1),
        ("0 where negative", lambda given: max(given, 0)),
    ]


def _of_dims(_: Argument) -> Named:
    return [
        ("from the other end", lambda given: [-1 - dim for dim in _listed(given)]),
        ("without its last", lambda given: _listed(given)[:-1] or given),
        ("without its first", lambda given: _listed(given)[1:] or given),
        ("in reverse", lambda given: _listed(given)[::-1]),
        ("inverted", _inverted),
        ("0 where negative", lambda given: [max(dim, 0) for dim in _listed(given)]),
    ]


def _inverted(given: Any) -> Any:
    """The inverse permutation, if it is one."""
    dims = [dim % len(given) for dim in given] if isinstance(given, list) and given else []
    return sorted(range(len(dims)), key=dims.__getitem__) if len(set(dims)) == len(dims) > 0 else given


def _of_integer(_: Argument) -> Named:
    return [("too large by one", lambda given: given + 1), ("too small by one", lambda given: given - 1)]


def _of_index(one: Argument) -> Named:
    return [*_of_integer(one), ("0 where negative", lambda given: max(given, 0))]


def _of_integers(_: Argument) -> Named:
    return [
        ("too large by one", lambda given: [each + 1 for each in _listed(given)]),
        ("too small by one", lambda given: [each - 1 for each in _listed(given)]),
        ("in reverse", lambda given: _listed(given)[::-1]),
        ("its first for all", lambda given: _listed(given)[:1] * len(_listed(given))),
    ]


def _of_real(_: Argument) -> Named:
    return [("doubled", lambda given: 2 * given)]


def _of_number(_: Argument) -> Named:
    return [("doubled", lambda given: 2 * given), ("truncated", _truncated)]


def _truncated(given: Any) -> Any:
    if isinstance(given, complex):
        return given.real
    return int(given) if isinstance(given, float) and math.isfinite(given) else given


def _of_string(one: Argument) -> Named:
    values = [each.value for each in one.constraints if each.suffix == "In" and each.is_constant]
    known: Sequence[str] = values[0] if values else ()
    return [(f"always {value}", lambda _, value=value: value) for value in known]


def _of_dtype(_: Argument) -> Named:
    return [
        ("too wide", lambda given: WIDER.get(given, given)),
        ("too narrow", lambda given: NARROWER.get(given, given)),
    ]


def _listed(given: Any) -> list[int]:
    return given if isinstance(given, list) else [given]


_ALTERED: dict[str, Callable[[Argument], Named]] = {
    BOOL.name: _of_bool, DIM.name: _of_dim, DIM_LIST.name: _of_dims, INT.name: _of_integer, INDEX.name: _of_index,
    LENGTH.name: _of_integer, SHAPE.name: _of_integers, INT_LIST.name: _of_integers, FLOAT.name: _of_real,
    SCALAR.name: _of_number, STRING.name: _of_string, SCALAR_TYPE.name: _of_dtype,
}  # fmt: skip
