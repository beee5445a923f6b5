"""A program on Numbers, or on the values of another op set: each op's meaning from the set, each value in a scope, all
that a program states checked."""

from __future__ import annotations

from collections import ChainMap, Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from conform.errors import ConformError, KitDefect, NoGolden
from conform.interp.program.form import Function, Op, Operand, Program
from conform.interp.program.number import Number

Listener = Callable[[Op, Sequence[Any], Sequence[Any]], None]


class Attributes(Mapping[str, Any]):
    """An op's attributes, which notes what of them is read."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given, self.unread = given, set(given)

    def __getitem__(self, name: str) -> Any:
        self.unread.discard(name)
        return self._given[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)


class Run(Protocol):
    """A region of an op, to be run by its meaning, on values of the op set."""

    function: Function

    def __call__(self, *arguments: Any) -> tuple[Any, ...]: ...


class OpSet(Protocol):
    """What ops mean: the results of an op's operands (Numbers, or what else has a dtype and a shape; None, tuples of
    these), attributes and, for an op that has any, regions.

    NoGolden, which names the op, for one that it does not know, and for a wrong number of operands.
    """

    def __call__(
        self, op: Op, operands: Sequence[Any], attributes: Mapping[str, Any], *regions: Run
    ) -> Sequence[Any]: ...


def evaluate(
    program: Program, op_set: OpSet, inputs: Sequence[Any], listener: Listener | None = None
) -> tuple[Any, ...]:
    """The results of `program` on `inputs`, one an argument; `listener` hears each op, its operands and its results.

    NoGolden, which names op and place, for an op without a meaning, an attribute that its meaning does not read, and
    inputs or results of another number, dtype or shape than the program states; what the op set raises, with the place.
    """
    return _Runner(op_set, listener).run(program.function, inputs, ChainMap(dict(program.constants)))


@dataclass(frozen=True)
class _Runner:
    """Runs functions; `op_set` and `listener` are those of `evaluate`."""

    op_set: OpSet
    listener: Listener | None

    def run(self, function: Function, inputs: Sequence[Any], scope: ChainMap[str, Any]) -> tuple[Any, ...]:
        """The results of `function`, whose values are named in the innermost map of `scope`."""
        if len(inputs) != len(function.arguments):
            raise NoGolden(f"a program of {len(function.arguments)} arguments was given {len(inputs)}")
        for argument, value in zip(function.arguments, inputs, strict=True):
            if not argument.holds(value.dtype, value.shape):
                raise NoGolden(f"argument {argument.name}: found {value}, expected {argument}")
            scope[argument.name] = value
        remaining = _uses(function)
        for op in function.ops:
            operands = [_held(scope, operand) for operand in op.operands]
            results = self._evaluated(op, operands, scope)
            if self.listener is not None:
                self.listener(op, operands, results)
            scope.update((value.name, one) for value, one in zip(op.results, results, strict=True) if value is not None)
            _forget(scope, op, remaining)
        return tuple(_held(scope, name) for name in function.results)

    def _evaluated(self, op: Op, operands: Sequence[Any], scope: ChainMap[str, Any]) -> Sequence[Any]:
        where = f" ({op.location})" if op.location else ""
        attributes = Attributes(op.attributes)
        try:
            results = self.op_set(op, operands, attributes, *(_Region(self, one, scope) for one in op.regions))
        except ConformError as error:
            raise _placed(error, where) from None
        if attributes.unread:
            raise NoGolden(f"{op.name}: nothing reads its attribute {', '.join(sorted(attributes.unread))}{where}")
        if len(results) != len(op.results):
            raise NoGolden(f"{op.name}: {len(op.results)} results are stated, its meaning has {len(results)}{where}")
        for value, one in zip(op.results, results, strict=True):
            if value is not None and not value.holds(one.dtype, one.shape):
                raise KitDefect(f"defect of the kit, please report it: {op.name} gives {one}, where the program states "
                                f"{value}{where}")  # fmt: skip
        return results


@dataclass(frozen=True)
class _Region:
    runner: _Runner
    function: Function
    scope: ChainMap[str, Any]

    def __call__(self, *arguments: Any) -> tuple[Any, ...]:
        return self.runner.run(self.function, arguments, self.scope.new_child())


def _placed(error: ConformError, where: str) -> ConformError:
    """The error with the place of the innermost op that raised it."""
    if getattr(error, "placed", False):
        return error
    placed = type(error)(f"{error}{where}")
    placed.placed = bool(where)
    return placed


def _uses(function: Function) -> Counter[str]:
    return Counter([*(name for op in function.ops for name in op.used()), *function.results])


def _forget(scope: ChainMap[str, Any], op: Op, remaining: Counter[str]) -> None:
    """Drops the operands of this scope that nothing else uses, so that a long program takes no more than it must."""
    remaining.subtract(op.used())
    for name in op.used():
        if remaining[name] <= 0:
            scope.pop(name, None)


def _held(scope: Mapping[str, Any], operand: Operand) -> Any:
    """What an operand names; of a constant, which the scope has as an array, a Number that is gone with its use."""
    if isinstance(operand, tuple):
        return [_held(scope, name) for name in operand]
    value = None if operand is None else scope[operand]
    return Number.exact(value) if isinstance(value, np.ndarray) else value
