"""Tensors that get the dims they lack, and are then joined; what is paired of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations as distinct
from itertools import combinations_with_replacement
from math import comb, prod
from typing import Any

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.shape.joining import cat
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of

Tensors = Sequence[np.ndarray]

# --- More dims --------------------------------------------------------------------------------------------------------


@semantics("aten::atleast_1d", selects=True, moves=("self",), may_share=True)
def atleast_1d(self: np.ndarray) -> Golden:
    """self, a 0-d one as [1]"""
    return exact(np.atleast_1d(self), format_of(self))


@semantics("aten::atleast_2d", selects=True, moves=("self",), may_share=True)
def atleast_2d(self: np.ndarray) -> Golden:
    """self, a 0-d one as [1, 1], a 1-d one as [1, n]"""
    return exact(np.atleast_2d(self), format_of(self))


@semantics("aten::atleast_3d", selects=True, moves=("self",), may_share=True)
def atleast_3d(self: np.ndarray) -> Golden:
    """self, a 0-d one as [1, 1, 1], a 1-d one as [1, n, 1], a 2-d one as [m, n, 1]"""
    return exact(np.atleast_3d(self), format_of(self))


@semantics("aten::atleast_1d.Sequence", selects=True, may_share=True)
def each_atleast_1d(tensors: Tensors) -> tuple[Golden, ...]:
    """atleast_1d of each"""
    return tuple(map(atleast_1d, tensors))


@semantics("aten::atleast_2d.Sequence", selects=True, may_share=True)
def each_atleast_2d(tensors: Tensors) -> tuple[Golden, ...]:
    """atleast_2d of each"""
    return tuple(map(atleast_2d, tensors))


@semantics("aten::atleast_3d.Sequence", selects=True, may_share=True)
def each_atleast_3d(tensors: Tensors) -> tuple[Golden, ...]:
    """atleast_3d of each"""
    return tuple(map(atleast_3d, tensors))


def _broadcast_elements(arguments: Mapping[str, Any]) -> int:
    shapes = [np.shape(one) for one in arguments["tensors"]]
    rank = max(map(len, shapes), default=0)
    beside = [(*(1 for _ in range(rank - len(shape))), *shape) for shape in shapes]
    return len(shapes) * prod(max(sizes) for sizes in zip(*beside, strict=True))


@semantics("aten::broadcast_tensors", selects=True, may_share=True, elements=_broadcast_elements)
def broadcast_tensors(tensors: Tensors) -> tuple[Golden, ...]:
    """Each tensor expanded to the shape to which all broadcast"""
    return tuple(exact(wide, format_of(wide)) for wide in np.broadcast_arrays(*tensors))


# --- Side by side -----------------------------------------------------------------------------------------------------


@semantics("aten::hstack", selects=True, moves=("tensors",))
def hstack(tensors: Tensors) -> Golden:
    """cat of atleast_1d of each, along dim 1, of 1-d tensors along dim 0"""
    parts = [np.atleast_1d(tensor) for tensor in tensors]
    return cat(parts, 0 if parts[0].ndim == 1 else 1)


@semantics("aten::vstack", "aten::row_stack", selects=True, moves=("tensors",))
def vstack(tensors: Tensors) -> Golden:
    """cat of atleast_2d of each, along dim 0"""
    return cat([np.atleast_2d(tensor) for tensor in tensors], 0)


@semantics("aten::dstack", selects=True, moves=("tensors",))
def dstack(tensors: Tensors) -> Golden:
    """cat of atleast_3d of each, along dim 2"""
    return cat([np.atleast_3d(tensor) for tensor in tensors], 2)


@semantics("aten::column_stack", selects=True, moves=("tensors",))
def column_stack(tensors: Tensors) -> Golden:
    """hstack of the tensors, of which 0-d and 1-d ones are columns, [n, 1]"""
    return hstack([tensor.reshape(-1, 1) if tensor.ndim < 2 else tensor for tensor in tensors])


def _padded_elements(arguments: Mapping[str, Any]) -> int:
    shapes = [np.shape(one) for one in arguments["sequences"]]
    return len(shapes) * max((shape[0] * prod(shape[1:]) for shape in shapes if shape), default=0)


@semantics("aten::pad_sequence", selects=True, moves=("sequences",), elements=_padded_elements)
def pad_sequence(
    sequences: Tensors, batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Golden:
    """The sequences along dim 1, or along dim 0 where batch_first, each as long as the longest by padding_value behind
    it, or before it where padding_side is "left" """
    fmt, longest = format_of(sequences[0]), max(len(one) for one in sequences)
    result = np.empty((len(sequences), longest, *sequences[0].shape[1:]), fmt.storage)
    result[...] = converted(padding_value, fmt)
    for row, one in zip(result, sequences, strict=True):
        start = longest - len(one) if padding_side == "left" else 0
        row[start : start + len(one)] = one
    return exact(result if batch_first else result.swapaxes(0, 1), fmt)


# --- Pairs ------------------------------------------------------------------------------------------------------------


def _of_product(arguments: Mapping[str, Any]) -> int:
    return len(arguments["tensors"]) * prod(map(np.size, arguments["tensors"]))


@semantics("aten::cartesian_prod", selects=True, moves=("tensors",), may_share=True, elements=_of_product)
def cartesian_prod(tensors: Tensors) -> Golden:
    """A row for each choice of an element of each tensor, the last one's running fastest; of one tensor that itself"""
    fmt = format_of(tensors[0])
    if len(tensors) == 1:
        return exact(tensors[0], fmt)
    grids = np.meshgrid(*tensors, indexing="ij")
    return exact(np.stack([grid.reshape(-1) for grid in grids], axis=1), fmt)


def _of_combinations(arguments: Mapping[str, Any]) -> int:
    count, r = np.size(arguments["self"]), max(arguments["r"], 0)
    return r * comb(count + (r - 1 if arguments["with_replacement"] and r else 0), r)


@semantics("aten::combinations", selects=True, moves=("self",), elements=_of_combinations)
def combinations(self: np.ndarray, r: int = 2, with_replacement: bool = False) -> Golden:
    """A row for each choice of r elements in the order in which they stand, one of them more than once only
    with_replacement; [0] of r = 0"""
    if r == 0:
        return exact(np.empty(0, self.dtype), format_of(self))
    chosen: Callable[..., Any] = combinations_with_replacement if with_replacement else distinct
    places = np.array(list(chosen(range(self.size), r)), dtype=np.int64).reshape(-1, r)
    return exact(self[places], format_of(self))
