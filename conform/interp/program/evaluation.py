"""A program on Numbers: each op's meaning from an op set, each value in a scope, all that a program states checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from conform.errors import ConformError, KitDefect, NoGolden
from conform.interp.program.form import Function, Op, Operand, Program
from conform.interp.program.number import Number

Listener = Callable[[Op, Sequence[Any], Sequence[Number]], None]


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


class OpSet(Protocol):
    """What ops mean: the results of an op's operands (Numbers, None, tuples of these) and attributes.

    NoGolden, which names the op, for one that it does not know, and for a wrong number of operands.
    """

    def __call__(self, op: Op, operands: Sequence[Any], attributes: Mapping[str, Any]) -> Sequence[Number]: ...


def evaluate(
    program: Program, op_set: OpSet, inputs: Sequence[Number], listener: Listener | None = None
) -> tuple[Number, ...]:
    """The results of `program` on `inputs`, one an argument; `listener` hears each op, its operands and its results.

    NoGolden, which names op and place, for an op without a meaning, an attribute that its meaning does not read, and
    inputs or results of another number, dtype or shape than the program states; what the op set raises, with the place.
    """
    function = program.function
    if len(inputs) != len(function.arguments):
        raise NoGolden(f"a program of {len(function.arguments)} arguments was given {len(inputs)}")
    scope = {name: Number.exact(array) for name, array in program.constants.items()}
    for argument, number in zip(function.arguments, inputs, strict=True):
        if (number.dtype, number.shape) != (argument.dtype, argument.shape):
            raise NoGolden(f"argument {argument.name}: found {number}, expected {argument}")
        scope[argument.name] = number
    remaining = _uses(function)
    for op in function.ops:
        operands = [_held(scope, operand) for operand in op.operands]
        results = _evaluated(op, op_set, operands)
        if listener is not None:
            listener(op, operands, results)
        scope.update((value.name, one) for value, one in zip(op.results, results, strict=True) if value is not None)
        _forget(scope, op, remaining)
    return tuple(scope[name] for name in function.results)


def _uses(function: Function) -> Counter[str]:
    return Counter([*(name for op in function.ops for name in op.used()), *function.results])


def _forget(scope: dict[str, Number], op: Op, remaining: Counter[str]) -> None:
    """Drops the operands that nothing else uses, so that a long program takes no more memory than it must."""
    remaining.subtract(op.used())
    for name in op.used():
        if remaining[name] <= 0:
            scope.pop(name, None)


def _held(scope: Mapping[str, Number], operand: Operand) -> Any:
    if isinstance(operand, tuple):
        return [None if name is None else scope[name] for name in operand]
    return None if operand is None else scope[operand]


def _evaluated(op: Op, op_set: OpSet, operands: Sequence[Any]) -> Sequence[Number]:
    where = f" ({op.location})" if op.location else ""
    attributes = Attributes(op.attributes)
    try:
        results = op_set(op, operands, attributes)
    except ConformError as error:
        raise type(error)(f"{error}{where}") from None
    if attributes.unread:
        raise NoGolden(f"{op.name}: nothing reads its attribute {', '.join(sorted(attributes.unread))}{where}")
    if len(results) != len(op.results):
        raise NoGolden(f"{op.name}: {len(op.results)} results are stated, its meaning has {len(results)}{where}")
    for value, number in zip(op.results, results, strict=True):
        if value is not None and (number.dtype, number.shape) != (value.dtype, value.shape):
            raise KitDefect(f"defect of the kit, please report it: {op.name} gives {number}, where the program states "
                            f"{value}{where}")  # fmt: skip
    return results
