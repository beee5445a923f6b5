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
from conform.interp.promotion import DEFAULT_FLOAT, result_type
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


@semantics(
    "aten::block_diag", selects=True, moves=("tensors",),
    elements=lambda arguments: prod(sum(sizes) for sizes in zip(*map(_block, arguments["tensors"]), strict=True)),
)  # fmt: skip
def block_diag(tensors: Sequence[np.ndarray]) -> Golden:
    """The tensors, each right of and below the one before, in their common dtype, and 0 elsewhere; 0-d and 1-d ones
    count as one row. [1, 0] of no tensors"""
    if not tensors:
        return exact(np.empty((1, 0), DEFAULT_FLOAT.storage), DEFAULT_FLOAT)
    fmt, sizes = result_type(*tensors), [_block(tensor) for tensor in tensors]
    result = np.zeros([sum(each) for each in zip(*sizes, strict=True)], fmt.storage)
    row = column = 0
    for tensor, (rows, columns) in zip(tensors, sizes, strict=True):
        result[row : row + rows, column : column + columns] = converted(tensor.reshape(rows, columns), fmt)
        row, column = row + rows, column + columns
    return exact(result, fmt)


def _block(tensor: np.ndarray) -> tuple[int, int]:
    """The rows and columns of a tensor as a block."""
    return tuple((1, 1, *np.shape(tensor))[-2:])


@semantics("aten::_chunk_cat", selects=True, moves=("tensors",), elements=lambda arguments: _of_chunks(arguments))
def chunk_cat(tensors: Sequence[np.ndarray], dim: int, num_chunks: int) -> Golden:
    """Each tensor, with zeros behind it along dim to a multiple of num_chunks, in as many parts; result.select(dim, i)
    has the elements of the i-th parts of all tensors, one after the other along a last dim that stands for the dims
    from dim on"""
    fmt, axis = format_of(tensors[0]), wrap_dim(dim, tensors[0].ndim)
    return exact(np.concatenate([_chunked(tensor, axis, num_chunks) for tensor in tensors], axis=-1), fmt)


def _chunked(tensor: np.ndarray, axis: int, num_chunks: int) -> np.ndarray:
    size = tensor.shape[axis]
    before, behind = tensor.shape[:axis], tensor.shape[axis + 1 :]
    padded = np.zeros((*before, num_chunks * -(-size // num_chunks), *behind), tensor.dtype)
    padded[(slice(None),) * axis + (slice(size),)] = tensor
    return padded.reshape(*before, num_chunks, -1)


def _of_chunks(arguments: Mapping[str, Any]) -> int:
    """At most, where a size of 1 becomes one of num_chunks."""
    return sum(map(np.size, arguments["tensors"])) * max(arguments["num_chunks"], 1)


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
