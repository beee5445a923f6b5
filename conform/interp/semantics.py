"""Semantics by op name: a decorator beside each definition, duplicates refused."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from typing import Any

from conform.call import schemas
from conform.call.aliases import aliases_of
from conform.call.arguments import is_tensor
from conform.call.bound import Bound, bound_call
from conform.call.families import family_in, load_families
from conform.call.foreach import ForEach, foreach_ops
from conform.call.variants import numbered, plain_name
from conform.interp.golden import Golden, Outcome
from conform.interp.traits import Traits

_ROOM = "conform.interp.ops"
FOREACH_FAMILY = "optimizers"  # which call the ops of lists, whatever these are of each tensor
_ARRAYS = ("np.ndarray", "np.ndarray | None")


@dataclass(frozen=True)
class Semantics:
    """The definition of an op's overloads, and which of the schema's arguments its meaning depends on.

    arrays: the parameters that take tensors only, though torch takes a Python number for any tensor; each: of an op of
    lists, that it means another op of each of their tensors, which `function` defines.
    """

    names: tuple[str, ...]
    family: str
    function: Callable[..., Golden | tuple[Golden, ...] | Outcome]
    parameters: tuple[str, ...]
    arrays: tuple[str, ...]
    traits: Traits
    each: ForEach | None = None

    @property
    def meaning(self) -> str:
        own = inspect.getdoc(self.function) or ""
        return own if self.each is None else f"{self.each.member.name} of what stands in each place (P222): {own}"


_table: dict[str, Semantics] = {}


def semantics(*names: str, **traits: Any) -> Callable[[Callable], Callable]:
    """Register the decorated function as the meaning of the overloads `names`; its parameters are the schema's
    names. `traits` are fields of Traits. Large tensors of a pointwise meaning are given to it a block at a time."""

    def register(function: Callable) -> Callable:
        declared = _schema_names(function)
        arrays = tuple(name for name, parameter in declared.items() if parameter.annotation in _ARRAYS)
        family = family_in(_ROOM, function.__module__)
        entry = Semantics(
            names, family, function=_called_by_them(function, declared), parameters=tuple(declared), arrays=arrays,
            traits=Traits(**traits),
        )  # fmt: skip
        for name in names:
            if name in _table:
                taken = _table[name].function
                raise ValueError(f"{name} is defined twice: {_place(taken)} and {_place(function)}")
            _table[name] = entry
        return function

    return register


def _schema_names(function: Callable) -> dict[str, inspect.Parameter]:
    """The parameters by the schema's names: `from`, which Python keeps for itself, is that of `from_`."""
    return {name.removesuffix("_"): one for name, one in inspect.signature(function).parameters.items()}


def _called_by_them(function: Callable, declared: Mapping[str, inspect.Parameter]) -> Callable:
    if all(name == one.name for name, one in declared.items()):
        return function

    @wraps(function)
    def called(**arguments: Any) -> Any:
        return function(**{declared[name].name: value for name, value in arguments.items()})

    return called


pointwise = partial(semantics, pointwise=True)


def _place(function: Callable) -> str:
    return f"{function.__module__}.{function.__name__}"


@cache
def _load() -> dict[str, Semantics]:
    load_families(_ROOM)
    _table.update([(alias, _table[name]) for alias, name in aliases_of(_table)])
    _table.update([(each.lists.name, _of_each(each)) for each in list(foreach_ops(_table))])
    return _table


def _of_each(each: ForEach) -> Semantics:
    """Of an op of lists; what a member's meaning is is a fact of each tensor, and none of a call."""
    member = _table[each.member.name]
    traits = Traits(compares=member.traits.compares, signs=member.traits.signs, memory=member.traits.memory)
    return replace(
        member, names=(each.lists.name,), family=FOREACH_FAMILY, parameters=tuple(each.places), arrays=(),
        traits=traits, each=each,
    )  # fmt: skip


_own: dict[str, Semantics] = {}  # of a user's ops: no part of what the kit proves of itself


def define_own(name: str, function: Callable[..., tuple[Golden, ...]], parameters: tuple[str, ...]) -> None:
    """Give the user's own op `name` a meaning; another one than before, if it had one."""
    _own[name] = Semantics((name,), "own", function=function, parameters=parameters, arrays=(), traits=Traits())


def find(name: str) -> Semantics | None:
    """The semantics of the overload `name` ("aten::add.Tensor"); of a variant that writes ("aten::add_.Tensor") those
    of the overload that returns the same; None where there are none."""
    return _load().get(name) or _own.get(name) or _load().get(plain_name(name))


def traits_of(name: str) -> Traits:
    """The traits of the overload `name`; none of an op without semantics."""
    found = find(name)
    return found.traits if found else Traits()


def updated_by(call: Bound) -> tuple[str, ...]:
    """The arguments of the call that hold something else after it (`Traits.updates`), of those that it has."""
    updates = traits_of(call.op).updates
    if updates is None or not call.arguments[updates.where]:
        return ()
    return tuple(name for name in updates.arguments if is_tensor(call.arguments[name]))


def updated_in(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[int, Any]]:
    """(its number, the tensor) of each argument of a call of the overload `name` that holds something else after it."""
    if traits_of(name).updates is None:
        return []
    call = bound_call(name, args, kwargs, is_tensor)
    return numbered(call.schema, updated_by(call), args, kwargs)


def is_view(name: str) -> bool:
    """Whether a result of the overload `name` is a view of an argument, in whose memory it lies: torch's schema says so
    by `Tensor(a)`, and its documentation does not take it back."""
    schema = schemas.schema(name)
    is_written = any(argument.is_written for argument in schema.arguments)
    return any(schema.aliases) and not is_written and not traits_of(name).may_copy


def related(name: str) -> str:
    """`; there are for aten::_softmax`: ops with semantics whose names are like that of `name`, or an empty string."""
    bare = {one.partition(".")[0].partition("::")[2] for one in _load()}
    close = difflib.get_close_matches(name.partition(".")[0].partition("::")[2], bare, n=2, cutoff=0.7)
    return f"; there are for aten::{' and aten::'.join(close)}" if close else ""


def names() -> list[str]:
    """Every overload that the kit itself has semantics of, sorted."""
    return sorted(_load())
