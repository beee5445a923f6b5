"""Data movement: the same elements at other indices. Bits are kept (any NaN stands for any NaN, P1)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from conform.interp.blocks.blocks import flat, spans
from conform.interp.dims import wrap_dim, wrap_dims
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import result_type
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of


@semantics("aten::permute", selects=True)
def permute(self: np.ndarray, dims: Sequence[int]) -> Golden:
    """result.shape[i] = self.shape[dims[i]]"""
    return exact(self.transpose(wrap_dims(dims, self.ndim)), format_of(self))


@semantics("aten::slice.Tensor", selects=True)
def slice_(self: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Golden:
    """self[start:end:step] along dim; bounds count from the end where negative, and are clamped"""
    axis = wrap_dim(dim, self.ndim)
    index = [slice(None)] * self.ndim
    index[axis] = slice(*slice(start, end, step).indices(self.shape[axis]))
    return exact(self[tuple(index)], format_of(self))


@semantics("aten::cat", selects=True)
def cat(tensors: Sequence[np.ndarray], dim: int = 0) -> Golden:
    """The tensors one after the other along dim, in their common dtype; 1-d tensors of no elements are skipped"""
    fmt = reduce(lambda known, tensor: result_type(np.empty(1, known.storage), tensor), tensors, format_of(tensors[0]))
    parts = [tensor for tensor in tensors if tensor.shape != (0,)]
    if not parts:
        return exact(np.empty(0, fmt.storage), fmt)
    axis = wrap_dim(dim, parts[0].ndim)
    shape = list(parts[0].shape)
    shape[axis] = sum(part.shape[axis] for part in parts)
    result = np.empty(shape, fmt.storage)
    stop = 0
    for part in parts:
        start, stop = stop, stop + part.shape[axis]
        there = result[(slice(None),) * axis + (slice(start, stop),)]
        for place in spans(part.size):
            there.flat[place] = converted(flat(part, place), fmt)
    return exact(result, fmt)
