"""Several tensors in one: cat, stack, meshgrid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import flat, spans
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import result_type
from conform.interp.semantics import semantics
from conform.numerics.formats import Format, format_of


@semantics("aten::cat", "aten::concat", "aten::concatenate", selects=True, moves=("tensors",))
def cat(tensors: Sequence[np.ndarray], dim: int = 0) -> Golden:
    """The tensors one after the other along dim, in their common dtype; 1-d tensors of no elements are skipped"""
    fmt = result_type(*tensors)
    parts = [tensor for tensor in tensors if tensor.shape != (0,)]
    if not parts:
        return exact(np.empty(0, fmt.storage), fmt)
    return exact(_joined(parts, wrap_dim(dim, parts[0].ndim), fmt), fmt)


def _joined(parts: Sequence[np.ndarray], axis: int, fmt: Format) -> np.ndarray:
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    result = np.empty(shape, fmt.storage)
    stop = 0
    for part in parts:
        start, stop = stop, stop + part.shape[axis]
        there = result[(slice(None),) * axis + (slice(start, stop),)]
        for place in spans(part.size):
            there.flat[place] = converted(flat(part, place), fmt)
    return result


@semantics("aten::stack", selects=True, moves=("tensors",))
def stack(tensors: Sequence[np.ndarray], dim: int = 0) -> Golden:
    """result.select(dim, i) = tensors[i], in their common dtype"""
    axis, fmt = wrap_dim(dim, tensors[0].ndim + 1), result_type(*tensors)
    return exact(_joined([np.expand_dims(tensor, axis) for tensor in tensors], axis, fmt), fmt)


def _of_grids(arguments: Mapping[str, Any]) -> int:
    return len(arguments["tensors"]) * prod(tensor.size for tensor in arguments["tensors"])


@semantics("aten::meshgrid", selects=True, moves=("tensors",), elements=_of_grids)
def meshgrid(tensors: Sequence[np.ndarray]) -> tuple[Golden, ...]:
    """result i at an index is tensors[i] at the index's coordinate i; 0-d tensors count as ones of one element"""
    return _grids(tensors)


@semantics("aten::meshgrid.indexing", selects=True, moves=("tensors",), elements=_of_grids)
def meshgrid_indexing(tensors: Sequence[np.ndarray], indexing: str) -> tuple[Golden, ...]:
    """As meshgrid for "ij"; for "xy" with the first two dims of every result swapped"""
    swapped = indexing == "xy" and len(tensors) > 1
    grids = _grids(tensors)
    return tuple(grid.rearranged(lambda part: part.swapaxes(0, 1)) for grid in grids) if swapped else grids


def _grids(tensors: Sequence[np.ndarray]) -> tuple[Golden, ...]:
    shape = tuple(tensor.size for tensor in tensors)
    lines = [tensor.reshape([-1 if d == i else 1 for d in range(len(shape))]) for i, tensor in enumerate(tensors)]
    return tuple(exact(np.broadcast_to(line, shape), format_of(line)) for line in lines)
