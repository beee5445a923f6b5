"""torch's other names of an op (`data/aliases.txt`): an alias means, takes and may err what that op does. So does, but
for the tensors that it writes into, a variant in place or with out arguments."""

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
    return {f"aten::{alias}": f"aten::{op}" for alias, op in pairs}


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
