"""torch's other names of an op: an alias means, takes and may err what that op does. `data/aliases.txt` has them, but
for the copies of views: `permute_copy` is permute, with a result that has memory of its own, as its schema says. So
does a variant in place or with out arguments, but for the tensors that it writes into."""

from __future__ import annotations

import functools
from collections.abc import Container, Iterator, Mapping
from pathlib import Path

from conform.call import schemas
from conform.call.variants import plain_name

FILE = Path(__file__).parent / "data" / "aliases.txt"


@functools.cache
def _ops() -> Mapping[str, str]:
    """The op, or overload, of each alias."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    pairs = [line.split() for line in lines if not line.startswith("#")]
    return {f"aten::{alias}": f"aten::{op}" for alias, op in pairs} | _views_of_copies()


def _views_of_copies() -> Mapping[str, str]:
    """The view of which each `NAME_copy` is a copy, as torch makes one of every op whose results its schema lets share
    memory with an argument that it does not write."""
    packets = {name.partition(".")[0] for name in schemas.operator_names() if name.startswith("aten::")}
    copies = {name: name.removesuffix("_copy") for name in packets if name.endswith("_copy")}
    return {name: view for name, view in copies.items() if view in packets and _gives_a_view(view)}


def _gives_a_view(packet: str) -> bool:
    return any(
        any(one.aliases) and not any(argument.is_written for argument in one.arguments)
        for one in schemas.every_overload(packet)
    )


def canonical(name: str) -> str:
    """The op, or its overload, of which `name` ("aten::greater.Tensor", "aten::gt_.Tensor") is an alias, or a variant
    that writes; a name that is neither is itself."""
    packet, dot, overload = plain_name(name).partition(".")
    return f"{_ops().get(packet, packet)}{dot}{overload}"


def aliases_of(known: Container[str]) -> Iterator[tuple[str, str]]:
    """(the overload of an alias, that of its op), sorted, of the overloads in `known`."""
    for name in sorted(schemas.operator_names()):
        if name.partition(".")[0] in _ops() and plain_name(name) == name and canonical(name) in known:
            yield name, canonical(name)
