"""Tensors with elements before and behind each of their last dims: a constant, a reflection, or the outermost ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import spans
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.adjoints import summed_back
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of

Number = bool | int | float | complex


def _pairs(shape: Sequence[int], padding: Sequence[int]) -> list[tuple[int, int, int]]:
    """(size, before, behind) of each dim; padding begins with the last one."""
    before_behind = list(zip_longest(padding[0::2], padding[1::2], fillvalue=0))[: len(shape)]
    of_all = [(0, 0)] * (len(shape) - len(before_behind)) + before_behind[::-1]
    return [(size, *pair) for size, pair in zip(shape, of_all, strict=True)]


def _of_padded(padding: str) -> Callable[[Mapping[str, Any]], int]:
    return lambda arguments: prod(max(sum(each), 0) for each in _pairs(np.shape(arguments["self"]), arguments[padding]))


@semantics("aten::constant_pad_nd", selects=True, elements=_of_padded("pad"))
def constant_pad_nd(self: np.ndarray, pad: Sequence[int], value: Number = 0) -> Golden:
    """`value`, in self's dtype, before and behind each of the last dims, the last one first; negative numbers cut"""
    fmt = format_of(self)
    pairs = _pairs(self.shape, pad)
    result = np.full([sum(each) for each in pairs], converted(value, fmt))
    kept = tuple(slice(max(-before, 0), size - max(-behind, 0)) for size, before, behind in pairs)
    there = tuple(slice(max(before, 0), size + before + min(behind, 0)) for size, before, behind in pairs)
    result[there] = self[kept]
    return exact(result, fmt)


def _padded(self: np.ndarray, padding: Sequence[int], source: Callable[[np.ndarray, int], np.ndarray]) -> Golden:
    """The tensor with the element at `source(place, size)` at each place of every dim; those before are negative."""
    pairs = _pairs(self.shape, padding)
    result = np.empty([sum(each) for each in pairs], self.dtype)
    for some in spans(result.size) if result.size else ():
        places = np.unravel_index(np.arange(some.start, some.stop), result.shape)
        read = (source(place - before, size) for place, (size, before, _) in zip(places, pairs, strict=True))
        result.reshape(-1)[some] = self[tuple(read)]
    return exact(result, format_of(self))


_of_padding = _of_padded("padding")


@semantics("aten::reflection_pad1d", "aten::reflection_pad2d", selects=True, moves=("self",), elements=_of_padding)
@semantics("aten::reflection_pad3d", selects=True, moves=("self",), elements=_of_padding)
def reflection_pad(self: np.ndarray, padding: Sequence[int]) -> Golden:
    """The elements beyond an end are those as far within: the outermost one is not repeated; negative numbers cut"""
    return _padded(self, padding, lambda place, size: size - 1 - np.abs(size - 1 - np.abs(place)))


@semantics("aten::replication_pad1d", "aten::replication_pad2d", selects=True, moves=("self",), elements=_of_padding)
@semantics("aten::replication_pad3d", selects=True, moves=("self",), elements=_of_padding)
def replication_pad(self: np.ndarray, padding: Sequence[int]) -> Golden:
    """The elements beyond an end are the outermost one; negative numbers cut off"""
    return _padded(self, padding, lambda place, size: np.clip(place, 0, size - 1))


def _register_backward(mode: str, pad: Callable[[np.ndarray, Sequence[int]], Golden], dims: int) -> None:
    @semantics(f"aten::{mode}_pad{dims}d_backward", accumulates="grad_output")
    def backward(grad_output: np.ndarray, self: np.ndarray, padding: Sequence[int]) -> Golden:
        """The adjoint of the op without _backward: each element of a tensor like self is the sum of the elements of
        grad_output at which the padded tensor has it (P3)"""
        return summed_back(grad_output, self.shape, lambda numbers: pad(numbers, padding))


for _dims in (1, 2, 3):
    _register_backward("reflection", reflection_pad, _dims)
    _register_backward("replication", replication_pad, _dims)


@semantics("aten::pad", selects=True, elements=_of_padded("pad"))
def pad(self: np.ndarray, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Golden:
    """constant_pad_nd, reflection_pad or replication_pad by the mode ("reflect", "replicate"), or "circular": beyond an
    end the elements go on from the other end"""
    if mode == "constant":
        return constant_pad_nd(self, pad, 0 if value is None else value)
    if mode == "circular":
        return _padded(self, pad, lambda place, size: place % size)
    return (reflection_pad if mode == "reflect" else replication_pad)(self, pad)
