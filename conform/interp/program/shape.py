"""Rules of ops that move numbers: the op's own semantics moves their places, or one arrangement of arrays all parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.call.schemas import schema
from conform.errors import NoGolden
from conform.interp import semantics
from conform.interp.dims import wrap_dim
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden
from conform.interp.program.apply import apply
from conform.interp.program.choice import for_each_possible, possible
from conform.interp.program.creation import full
from conform.interp.program.number import Number
from conform.interp.program.rules import common_format, operands, rule, unbounded_where
from conform.numerics.real import concatenate


def _moves(op: str, *moved: str, by: str | None = None) -> None:
    """Register the rule of `op`, which only moves elements of its arguments `moved`; each of the result hangs on one
    element of `by`, which broadcasts to it."""
    function = moving(op, *moved)

    def by_choices(**arguments: Any) -> Any:
        if (hangs := arguments.get(by)) is None or hangs.array is not None:
            return function(**arguments)
        return for_each_possible(op, hangs, lambda one: apply(op, **{**arguments, by: one}))

    rule(op, selects=True)(function if by is None else by_choices)


def moving(op: str, *moved: str) -> Callable[..., Any]:
    def function(**arguments: Any) -> Any:
        given = {name: arguments[name] for name in moved}
        numbers = [one for value in given.values() for one in (value if isinstance(value, list | tuple) else [value])]
        fmt = common_format(*numbers)
        if all(getattr(one, "array", 0) is not None for one in numbers):
            return NotImplemented
        held = operands(fmt, *numbers) if fmt.is_float else _choices(op, numbers)
        places = iter(places_of([one.shape for one in held]))
        placed = {
            name: [next(places) for _ in value] if isinstance(value, list | tuple) else next(places)
            for name, value in given.items()
        }
        others = {name: known(op, name, value) for name, value in arguments.items() if name not in given}
        goldens = evaluate(op, (), {**others, **placed}).goldens
        row = in_a_row(held)
        results = tuple(_unless_open(golden, at_places(row, golden.value)) for golden in goldens)
        return results if schema(op).returns != ("Tensor",) else results[0]

    return function


def _unless_open(golden: Golden, moved: Number) -> Number:
    """Of two elements that go to one place an implementation may have either."""
    return moved if golden.open is None else unbounded_where(golden.open, moved)


def places_of(shapes: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
    """For each shape the numbers of its elements, counted on from 1, from one to the next."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    starts = np.cumsum([0, *sizes])
    numbered = zip(starts[:-1], sizes, shapes, strict=True)
    return [start + 1 + np.arange(size).reshape(shape) for start, size, shape in numbered]


def _at(part: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The elements at the places, counted from 1; at 0 a zero."""
    zero = part.dtype.type(0)
    return np.where(places > 0, part[np.maximum(places - 1, 0)], zero) if part.size else np.full(places.shape, zero)


def known(op: str, name: str, value: Any) -> Any:
    if not isinstance(value, Number):
        return value
    if value.array is None:
        raise NoGolden(f"a program cannot use {op} with a computed {name}: what it moves would hang on it")
    return value.array


def _choices(op: str, numbers: Sequence[Any]) -> list[Number]:
    """Integers or bools in their common dtype, with as many arrays each."""
    fmt = common_format(*numbers)
    given = [one if isinstance(one, Number) else Number.exact(np.asarray(one, fmt.storage)) for one in numbers]
    found = [[one.array.astype(fmt.storage) for one in possible(op, number)] for number in given]
    most = max(map(len, found))
    return [
        replace(number, format=fmt, allowed=(*arrays, *arrays[:1] * (most - len(arrays))), array=None)
        for number, arrays in zip(given, found, strict=True)
    ]


def at_places(row: Number, places: np.ndarray) -> Number:
    """The elements of `in_a_row` at places as `places_of` counts them; at 0 a zero."""
    return row.moved(lambda part: _at(part, places))


def in_a_row(numbers: Sequence[Number]) -> Number:
    """All elements of the numbers, one after the other."""
    flat = [one.moved(lambda part: part.reshape(-1)) for one in numbers]
    rads = np.concatenate([one.rad for one in flat])
    are_choices = not numbers[0].format.is_float
    allowed = tuple(map(np.concatenate, zip(*(one.allowed for one in flat), strict=True))) if are_choices else ()
    return Number(numbers[0].format, concatenate([one.real for one in flat]), rads, allowed=allowed)


_moves("aten::gather", "self", by="index")
_moves("aten::where.self", "self", "other", by="condition")
_moves("aten::where.ScalarSelf", "self", "other", by="condition")
_moves("aten::where.ScalarOther", "self", "other", by="condition")
_moves("aten::masked_scatter", "self", "source")
_moves("aten::index_copy", "self", "source")
for _op in semantics.names():
    if semantics.traits_of(_op).moves:
        _moves(_op, *semantics.traits_of(_op).moves)


@rule("aten::clone", "aten::alias", "aten::detach", "aten::contiguous", "aten::lift_fresh", selects=True)
def _same(self: Number) -> Number:
    return self


_DROPOUTS = [f"aten::{name}dropout" for name in ("", "alpha_", "feature_", "feature_alpha_")]


@rule(*_DROPOUTS, selects=True, refuses=True)
def dropout(input: Number, p: float, train: bool) -> Number:
    """`input`, but in training with p above 0, where chance has a part in it."""
    if train and p > 0:
        raise _by_chance("dropout")
    return input


@rule("aten::native_dropout")
def native_dropout(input: Number, p: float, train: bool | None) -> Any:
    if p > 0 and train is not False:
        raise _by_chance("native_dropout")
    return NotImplemented


def _by_chance(name: str) -> NoGolden:
    hint = "a module in training mode: call its eval() first"
    return NoGolden(f"a program cannot use {name}: chance has a part in it ({hint})")


_pad = moving("aten::pad", "self")


@rule("aten::pad", selects=True, refuses=True)
def pad(self: Number, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Any:
    """What is there around `self`, by the mode."""
    if mode == "constant":
        return apply("aten::constant_pad_nd", self, pad, value or 0)
    return _pad(self=self, pad=pad, mode=mode)


@rule("aten::broadcast_tensors", selects=True)
def broadcast_tensors(tensors: Sequence[Number]) -> tuple[Number, ...]:
    """Each repeated to the shape of all."""
    shape = np.broadcast_shapes(*(one.shape for one in tensors))
    return tuple(one.moved(lambda part: np.broadcast_to(part, shape)) for one in tensors)


@rule("aten::unflatten.int", selects=True)
def unflatten(self: Number, dim: int, sizes: Sequence[int]) -> Number:
    """Dim `dim` as several, of these sizes, of which one may be -1."""
    at = wrap_dim(dim, self.ndim)
    length = self.shape[at] // max(1, prod(size for size in sizes if size != -1))
    own = [length if size == -1 else size for size in sizes]
    return self.moved(lambda part: part.reshape(*self.shape[:at], *own, *self.shape[at + 1 :]))


# --- Some elements put in the place of others -------------------------------------------------------------------------


@rule("aten::constant_pad_nd", selects=True)
def constant_pad_nd(self: Number, pad: Sequence[int], value: float = 0) -> Number:
    """`value` before and behind each of the last dims, the last one first; negative numbers cut off."""
    leading = self.ndim - len(pad) // 2
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)][::-1]
    kept, cut, shape = [], [], list(self.shape[:leading])
    for size, (low, high) in zip(self.shape[leading:], pairs, strict=True):
        cut.append(slice(max(-low, 0), size - max(-high, 0)))
        kept.append(slice(max(low, 0), size + low + min(high, 0)))
        shape.append(size + low + high)
    inside = self.moved(lambda part: part[(..., *cut)])
    return _put(full(shape, value, dtype=self.dtype), inside, (..., *kept))


@rule("aten::copy", selects=True)
def copy(self: Number, src: Number) -> Number:
    return _put(self, src, (...,))


def _put(self: Number, src: Number, place: tuple[Any, ...]) -> Number:
    """`self` with the elements of `src`, which broadcasts there and has its dtype, in `place`."""
    if src.format != self.format:
        raise NoGolden(f"a program cannot put {src.dtype} numbers into a tensor of {self.dtype}")
    if self.array is not None and src.array is not None:
        whole = self.array.copy()
        whole[place] = src.array
        return Number.exact(whole)
    whole, some = places_of([self.shape, src.shape])
    whole = np.array(whole)  # of a 0-d tensor it is a scalar
    whole[place] = some
    return at_places(in_a_row(operands(self.format, self, src)), whole)
