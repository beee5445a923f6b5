"""Overloads that mean another op of each tensor of their lists: `aten::_foreach_add.List` is `aten::add.Tensor` of the
first tensors of both lists, then of the second. The schemas tell which: that of the member, an overload of the name
behind `_foreach_`, takes one tensor or number where that of the lists takes a list of them."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.call import schemas
from conform.call.bound import Bound
from conform.call.schemas import Argument, OpSchema
from conform.call.variants import plain_name

PREFIX = "aten::_foreach_"
LISTS = {"Tensor[]": "Tensor", "Scalar[]": "Scalar"}  # and what one of their elements is
# Where no overload of the name behind the prefix has the arguments: the dtype of a norm, a maximum with a number.
_OTHER_NAMES = {"norm": "linalg_vector_norm", "maximum": "clamp_min", "minimum": "clamp_max"}
# What a member may take in place of a type, the likest first: a tensor `scalars` holds a number for each member.
_LIKE: tuple[dict[str, str], ...] = ({}, {"Tensor": "Scalar"})


@dataclass(frozen=True)
class ForEach:
    """lists: the overload that takes lists; member: the one that it means of each; places: of each argument of `lists`
    that of the member which it, or what it holds, is given for."""

    lists: OpSchema
    member: OpSchema
    places: Mapping[str, str]

    @property
    def listed(self) -> tuple[str, ...]:
        """The arguments that are lists, or hold a number for each member; the first is a list of tensors."""
        first = [one.name for one in self.lists.arguments if one.type == "Tensor[]"]
        others = [one.name for one in self.lists.arguments if one.type == "Scalar[]" or self.holds_numbers(one.name)]
        return (*first, *others)

    def holds_numbers(self, name: str) -> bool:
        """Whether the argument is a tensor with a number for each member."""
        types = {one.name: one.type for one in self.lists.arguments}
        taken = {one.name: one.type for one in self.member.arguments}
        return types[name] == "Tensor" and taken[self.places[name]] == "Scalar"

    @property
    def left_out(self) -> dict[str, Any]:
        """The defaults of the member's arguments that no argument is given for."""
        given = set(self.places.values())
        return {one.name: one.default for one in self.member.arguments if one.name not in given}

    def members(self, arguments: Mapping[str, Any]) -> Iterator[Bound]:
        """The calls that a call of the lists means, in their order; of the arguments that it has."""
        for number in range(len(arguments[self.listed[0]])):
            given = {self.places[name]: self._of_member(name, value, number) for name, value in arguments.items()}
            every = {**self.left_out, **given}
            yield Bound(self.member, {one.name: every[one.name] for one in self.member.arguments if one.name in every})

    def _of_member(self, name: str, value: Any, number: int) -> Any:
        if name not in self.listed:
            return value
        return value[number].item() if self.holds_numbers(name) and isinstance(value, np.ndarray) else value[number]


@functools.cache
def for_each(name: str) -> ForEach | None:
    """What the overload `name` means of each tensor; None of one that means nothing of the kind, or writes."""
    if not name.startswith(PREFIX) or name not in schemas.operator_names() or name != plain_name(name):
        return None
    lists = next((one for one in schemas.every_overload(name.partition(".")[0]) if one.name == name), None)
    if lists is None or lists.returns != ("Tensor[]",) or any(one.is_written for one in lists.arguments):
        return None
    short = lists.packet.removeprefix(PREFIX)
    for packet, like in itertools.product((short, _OTHER_NAMES.get(short)), _LIKE):
        for member in filter(_is_plain, schemas.every_overload(f"aten::{packet}")):
            if (places := _places(lists.arguments, member.arguments, like)) is not None:
                return ForEach(lists, member, places)
    return None


def foreach_ops(known: Container[str]) -> Iterator[ForEach]:
    """Those whose member is in `known`, sorted by name."""
    for name in sorted(schemas.operator_names()):
        found = for_each(name)
        if found is not None and found.member.name in known:
            yield found


def meant_by(call: Bound, outputs: int) -> list[Bound]:
    """Of each output the call that it is the result of: of lists that of what stands in its place."""
    each = for_each(plain_name(call.op))
    return [call] * outputs if each is None else list(each.members(call.returning.arguments))


def _is_plain(one: OpSchema) -> bool:
    return one.returns == ("Tensor",) and not any(argument.is_written for argument in one.arguments)


def _places(
    mine: Sequence[Argument], its: Sequence[Argument], like: Mapping[str, str]
) -> dict[str, str] | None:
    """The member's argument of each of the lists': that of its name, else the first of none of their names; None where
    one has no place or another type, or the member needs more."""
    named = {one.name for one in mine}
    others = [one.name for one in its if one.name not in named]
    types = {one.name: one.type for one in its}
    places = {}
    for one in mine:
        place = one.name if one.name in types else others.pop(0) if others else None
        given = LISTS.get(one.type, one.type)
        if place is None or types[place] not in (given, like.get(given)):
            return None
        places[one.name] = place
    needed = {one.name for one in its if not one.has_default}
    return places if needed <= set(places.values()) else None
