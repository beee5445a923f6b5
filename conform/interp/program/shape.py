"""Rules of ops that move numbers: the op's own semantics moves their places."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.evaluate import evaluate
from conform.interp.program.number import Number
from conform.interp.program.rules import common_format, operands, rule
from conform.numerics.real import concatenate


def _moves(op: str, *moved: str) -> None:
    """Register the rule of `op`, which only moves elements of its arguments `moved`."""

    def function(**arguments: Any) -> Any:
        given = {name: arguments[name] for name in moved}
        numbers = [one for value in given.values() for one in (value if isinstance(value, list | tuple) else [value])]
        fmt = common_format(*numbers)
        if not fmt.is_float or all(isinstance(one, Number) and one.array is not None for one in numbers):
            return NotImplemented
        held = operands(fmt, *numbers)
        places = iter(_places([one.shape for one in held]))
        placed = {
            name: [next(places) for _ in value] if isinstance(value, list | tuple) else next(places)
            for name, value in given.items()
        }
        others = {name: _array(op, name, value) for name, value in arguments.items() if name not in given}
        (golden,) = evaluate(op, (), {**others, **placed}).goldens
        return _in_a_row(held).moved(lambda part: part[golden.value])

    rule(op)(function)


def _places(shapes: list[tuple[int, ...]]) -> list[np.ndarray]:
    """For each shape the numbers of its elements, counted on from one to the next."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    starts = np.cumsum([0, *sizes])
    numbered = zip(starts[:-1], sizes, shapes, strict=True)
    return [start + np.arange(size).reshape(shape) for start, size, shape in numbered]


def _array(op: str, name: str, value: Any) -> Any:
    if not isinstance(value, Number):
        return value
    if value.array is None:
        raise NoGolden(f"a program cannot use {op} with a computed {name}: what it moves would hang on it")
    return value.array


def _in_a_row(numbers: list[Number]) -> Number:
    """All elements of the numbers, one after the other."""
    flat = [one.moved(lambda part: part.reshape(-1)) for one in numbers]
    rads = np.concatenate([one.rad for one in flat])
    return Number(numbers[0].format, concatenate([one.real for one in flat]), rads)


_moves("aten::permute", "self")
_moves("aten::slice.Tensor", "self")
_moves("aten::gather", "self")
_moves("aten::cat", "tensors")
_moves("aten::where.self", "self", "other")
_moves("aten::where.ScalarSelf", "self", "other")
_moves("aten::where.ScalarOther", "self", "other")
