"""Overloads that write their results into arguments: in place (`aten::add_.Tensor`), or into tensors of the caller's
(`aten::add.out`). Each computes what another overload returns, and nothing of its meaning is its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conform.call import schemas
from conform.call.arguments import is_tensor
from conform.call.schemas import OpSchema, outs_of

FUNCTIONAL = "_functional"  # ends the name of an overload that torch derived from one in place


@dataclass(frozen=True)
class Variant:
    """How an overload writes: `plain` is the one that returns the same results, and writes nothing; `into` names the
    argument of each result, in their order, a list of tensors that of a list; `in_place`: it is one that `plain` reads.
    """

    schema: OpSchema
    plain: OpSchema
    into: tuple[str, ...]

    @property
    def in_place(self) -> bool:
        return self.into[0] in {one.name for one in self.plain.arguments}

    def written_in(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[int, Any]]:
        """(its number, the tensor) of the argument of each result, those of a list one by one: tensors are numbered as
        in `Arguments`. A Python number, which torch takes for a tensor, is none that could be written into."""
        return numbered(self.schema, self.into, args, kwargs)

    def held_by(self, arguments: Mapping[str, Any]) -> list[tuple[str, Any]]:
        """(its name, the tensor) of what holds each result after the call: `self`, or `self[1]` of a list."""
        return [held for name in self.into for held in _named(name, arguments[name])]


def variant_of(name: str) -> Variant | None:
    """How the overload `name` writes; None of one that returns its results, has no counterpart that does, gives its
    argument another shape (`aten::t_`), which is a matter of the tensor and not of its memory, or writes both into
    `out` and into what it reads (`aten::_fused_adamw.out`), which nothing documents."""
    mine = next((one for one in schemas.every_overload(name.partition(".")[0]) if one.name == name), None)
    if mine is None:
        return None
    into, outs = tuple(one.name for one in mine.arguments if one.is_written), outs_of(mine)
    if not into or len(into) < len(mine.returns) or outs and len(into) > len(outs):
        return None
    plain = _returning_plain(mine)
    return None if plain is None or len(plain.returns) != len(into) else Variant(mine, plain, into)


def out_variant(name: str) -> OpSchema | None:
    """The overload that takes the arguments of `name`, and tensors to write its results into; None if there is none."""
    return next((one for one in _variants(name, _packet(name)) if outs_of(one)), None)


def in_place_variant(name: str) -> OpSchema | None:
    """The overload that writes the result of `name` into its first argument; None if there is none."""
    return next(_variants(name, f"{_packet(name)}_"), None)


def _packet(name: str) -> str:
    return schemas.schema(name).packet.removesuffix(FUNCTIONAL)


def plain_name(name: str) -> str:
    """The overload that returns what `name` writes; `name` itself where that writes nothing."""
    found = variant_of(name)
    return name if found is None else found.plain.name


def numbered(
    schema: OpSchema, wanted: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[int, Any]]:
    """(its number, the tensor) of each of the `wanted` arguments of a call that is one, or a list of them."""
    names = [one.name for one in schema.arguments]
    found = _numbered([*zip(names, args, strict=False), *kwargs.items()])
    return [pair for name in wanted for pair in found.get(name, ())]


def _named(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, list | tuple):
        return [(f"{name}[{number}]", one) for number, one in enumerate(value)]
    return [(name, value)]


def _numbered(given: list[tuple[str, Any]]) -> dict[str, list[tuple[int, Any]]]:
    """The tensors of each argument with their numbers."""
    number, found = 0, {}
    for name, value in given:
        found[name] = []
        for one in value if isinstance(value, list | tuple) else [value]:
            if is_tensor(one):
                found[name].append((number, one))
            number += _count(one)
    return found


def _count(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(map(_count, value))
    return int(is_tensor(value) or isinstance(value, np.generic))


def _variants(name: str, packet: str) -> Iterator[OpSchema]:
    """The overloads of `packet` that write what `name` returns."""
    for one in schemas.every_overload(packet):
        found = variant_of(one.name)
        if found is not None and found.plain.name == name:
            yield one


def _returning_plain(mine: OpSchema) -> OpSchema | None:
    """The overload of the same arguments, less those that are given to be written into, which writes to none."""
    outs = outs_of(mine)
    packet = mine.packet if outs else mine.packet.removesuffix("_")
    read = [(one.name, one.type) for one in mine.arguments if one not in outs]
    for one in [*schemas.every_overload(packet), *schemas.every_overload(packet + FUNCTIONAL)]:
        is_plain = not any(argument.is_written for argument in one.arguments)
        if is_plain and [(argument.name, argument.type) for argument in one.arguments] == read:
            return None if any(one.aliases) else one
    return None
