"""An op of a torch module's program as a call of its own: as torch writes it, and what it means by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from conform.call.bound import Bound, bound_call
from conform.interp import semantics
from conform.interp.evaluate import is_array
from conform.interp.golden import Golden
from conform.interp.program.apply import apply
from conform.interp.program.aten import arguments_of
from conform.interp.program.form import Op
from conform.interp.program.goldens import golden_of

# Its schema promises memory of its own, and torch gives a view all the same, of which it says that nobody may tell.
UNSAFE_VIEW, RESHAPED = "aten::_unsafe_view", "aten::reshape"


def as_call(op: Op, operands: Sequence[Any]) -> tuple[str, list[Any], dict[str, Any]]:
    """(name, args, kwargs) of an op on `operands`, whatever stands for a tensor there: by place what its schema has so,
    and nothing of where tensors lie."""
    schema, given = arguments_of(op, operands, op.attributes)
    given.pop("device", None)
    by_place = [one for one in schema.arguments if not one.kwarg_only]
    count = max((at + 1 for at, one in enumerate(by_place) if one.name in given), default=0)
    args = [given.pop(one.name, one.default) for one in by_place[:count]]
    return RESHAPED if schema.name == UNSAFE_VIEW else schema.name, args, given


def meant(op: str, args: Sequence[Any], kwargs: dict[str, Any]) -> Bound:
    """The call of an op on arrays, with the meaning that the rules of programs give one that has no other."""
    call = bound_call(op, args, kwargs, is_array)
    return call if semantics.find(call.op) else replace(call, meaning=partial(_by_rule, call.op))


def _by_rule(op: str, **arguments: Any) -> tuple[Golden, ...]:
    result = apply(op, **arguments)
    return tuple(golden_of(op, one) for one in (result if isinstance(result, list | tuple) else (result,)))
