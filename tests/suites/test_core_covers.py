"""What the core suite must show of every overload, read off its tests without running one: the sizes 0, 1, 31 to 33
and a prime, several ranks, broadcasting, every keyword off its default, every dtype of the spec."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conform import schema
from conform.cases import Selection, draws, resolved_op
from conform.inputs.arguments import Arguments, is_tensor
from conform.interp.numerics.formats import format_of
from conform.suites import Test, load


@dataclass
class Seen:
    """What the valid calls of one overload show."""

    dtypes: set[str] = field(default_factory=set)
    sizes: set[int] = field(default_factory=set)
    ranks: set[int] = field(default_factory=set)
    broadcasts: bool = False
    values: dict[str, list[Any]] = field(default_factory=lambda: defaultdict(list))


@functools.cache
def seen() -> Mapping[str, Seen]:
    """By overload. Tests of calls that a backend must refuse show nothing."""
    found: dict[str, Seen] = defaultdict(Seen)
    for test in load(["core"]).tests:
        if "_refuses_" not in test.id:
            _see(test, found)
    return found


def _see(test: Test, found: dict[str, Seen]) -> None:
    for draw in draws(test, Selection()):
        arguments = draw.arguments()
        op = resolved_op(test, arguments)
        _add(found[op], op, arguments)


def _add(one: Seen, op: str, arguments: Arguments) -> None:
    bound = schema.bind(schema.schema(op), arguments.args, arguments.kwargs, is_tensor)
    arrays = [array for value in bound.values() for array in _arrays(value)]
    data = bound[DATA.get(op, DATA.get(op.partition(".")[0], "self"))]
    if is_tensor(data):
        one.dtypes.add(format_of(data).name)
