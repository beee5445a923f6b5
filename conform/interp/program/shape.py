"""Rules of ops that move numbers: the op's own semantics moves their places, or one arrangement of arrays all parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.dims import wrap_dim, wrap_dims
from conform.interp.evaluate import evaluate
from conform.interp.program.creation import full
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

    rule(op, selects=True)(function)


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


# --- Of the same elements in the same order, or picked by numbers that are no tensors: any dtype ----------------------


def _arranges(*ops: str) -> Callable[[Callable[..., np.ndarray]], Callable[..., np.ndarray]]:
    """Register the rule of ops whose result holds elements of `self`, as the decorated function arranges an array."""

    def register(arrange: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
        rule(*ops, selects=True)(lambda self, **arguments: self.moved(lambda part: arrange(part, **arguments)))
        return arrange

    return register


@_arranges("aten::clone", "aten::alias", "aten::detach", "aten::contiguous", "aten::lift_fresh_copy")
def _same(part: np.ndarray) -> np.ndarray:
    return part


@_arranges("aten::view", "aten::_unsafe_view", "aten::reshape")
def _reshaped(part: np.ndarray, size: Sequence[int] = (), shape: Sequence[int] = ()) -> np.ndarray:
    sizes = list(size) + list(shape)  # `reshape` calls it shape
    known = prod(one for one in sizes if one != -1)
    return part.reshape([part.size // max(known, 1) if one == -1 else one for one in sizes])


@_arranges("aten::expand")
def _expanded(part: np.ndarray, size: Sequence[int], implicit: bool = False) -> np.ndarray:
    own = (*(1 for _ in range(len(size) - part.ndim)), *part.shape)
    return np.broadcast_to(part, [mine if one == -1 else one for one, mine in zip(size, own, strict=True)])


@_arranges("aten::unsqueeze")
def _unsqueezed(part: np.ndarray, dim: int) -> np.ndarray:
    return np.expand_dims(part, wrap_dim(dim, part.ndim + 1))


@_arranges("aten::squeeze", "aten::squeeze.dim", "aten::squeeze.dims")
def _squeezed(part: np.ndarray, dim: int | Sequence[int] | None = None) -> np.ndarray:
    dims = range(part.ndim) if dim is None else wrap_dims([dim] if isinstance(dim, int) else dim, part.ndim)
    return part.squeeze(tuple(axis for axis in dims if part.ndim and part.shape[axis] == 1))


@_arranges("aten::transpose.int")
def _transposed(part: np.ndarray, dim0: int, dim1: int) -> np.ndarray:
    return part.swapaxes(wrap_dim(dim0, part.ndim), wrap_dim(dim1, part.ndim)) if part.ndim else part


@_arranges("aten::t")
def _matrix_transposed(part: np.ndarray) -> np.ndarray:
    return part.T


@_arranges("aten::select.int")
def _selected(part: np.ndarray, dim: int, index: int) -> np.ndarray:
    return part.take(index, wrap_dim(dim, part.ndim))


@_arranges("aten::flip")
def _flipped(part: np.ndarray, dims: Sequence[int]) -> np.ndarray:
    return np.flip(part, wrap_dims(dims, part.ndim))


@_arranges("aten::repeat")
def _repeated(part: np.ndarray, repeats: Sequence[int]) -> np.ndarray:
    return np.tile(part, repeats)


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


@rule("aten::slice_scatter", selects=True)
def slice_scatter(
    self: Number, src: Number, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Number:
    return _put(self, src, (slice(None),) * wrap_dim(dim, self.ndim) + (slice(start, end, step),))


@rule("aten::select_scatter", selects=True)
def select_scatter(self: Number, src: Number, dim: int, index: int) -> Number:
    return _put(self, src, (slice(None),) * wrap_dim(dim, self.ndim) + (index,))


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
    whole, some = _places([self.shape, src.shape])
    whole = np.array(whole)  # of a 0-d tensor it is a scalar
    whole[place] = some
    return _in_a_row(operands(self.format, self, src)).moved(lambda part: part[whole])


@rule("aten::unbind.int", selects=True)
def unbind(self: Number, dim: int = 0) -> tuple[Number, ...]:
    axis = wrap_dim(dim, self.ndim)
    return tuple(self.moved(lambda part, at=at: part.take(at, axis)) for at in range(self.shape[axis]))


@rule("aten::split_with_sizes", selects=True)
def split_with_sizes(self: Number, split_sizes: Sequence[int], dim: int = 0) -> tuple[Number, ...]:
    axis, ends = wrap_dim(dim, self.ndim), np.cumsum([0, *split_sizes])
    return tuple(
        self.moved(lambda part, start=start, stop=stop: part[(slice(None),) * axis + (slice(start, stop),)])
        for start, stop in pairwise(ends)
    )


@rule("aten::split.Tensor", selects=True)
def split(self: Number, split_size: int, dim: int = 0) -> tuple[Number, ...]:
    length = self.shape[wrap_dim(dim, self.ndim)]
    sizes = [min(split_size, length - start) for start in range(0, length, max(split_size, 1))]
    return split_with_sizes(self, sizes or [0], dim)


@rule("aten::tril", selects=True)
def tril(self: Number, diagonal: int = 0) -> Number:
    return self.moved(lambda part: np.tril(part, diagonal))


@rule("aten::triu", selects=True)
def triu(self: Number, diagonal: int = 0) -> Number:
    return self.moved(lambda part: np.triu(part, diagonal))
