"""Parts of a tensor along a dim, and tensors with a part replaced."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import numpy as np

from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of

Place = tuple[slice | int, ...]


# Splits whose results torch documents as those of the ops without "unsafe_", in self's memory or not.
unsafe = partial(semantics, selects=True, moves=("self",), may_share=True)


def _slice(self: np.ndarray, dim: int, start: int | None, end: int | None, step: int = 1) -> Place:
    axis = wrap_dim(dim, self.ndim)
    return (slice(None),) * axis + (slice(*slice(start, end, step).indices(self.shape[axis])),)


def _index(self: np.ndarray, dim: int, index: int) -> Place:
    return (slice(None),) * wrap_dim(dim, self.ndim) + (index,)


@semantics("aten::slice.Tensor", selects=True, moves=("self",))
def slice_(self: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Golden:
    """self[start:end:step] along dim; bounds count from the end where negative, and are clamped"""
    return exact(self[_slice(self, dim, start, end, step)], format_of(self))


@semantics("aten::narrow", selects=True, moves=("self",))
def narrow(self: np.ndarray, dim: int, start: int, length: int) -> Golden:
    """self[start:start + length] along dim; start counts from the end where negative"""
    first = start + self.shape[wrap_dim(dim, self.ndim)] if start < 0 else start
    return slice_(self, dim, first, first + length)


@semantics("aten::select.int", selects=True, moves=("self",))
def select(self: np.ndarray, dim: int, index: int) -> Golden:
    """self[index] along dim, without it; index counts from the end where negative"""
    return exact(self[(*_index(self, dim, index), ...)], format_of(self))


@semantics("aten::slice_scatter", selects=True, moves=("self", "src"))
def slice_scatter(
    self: np.ndarray, src: np.ndarray, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Golden:
    """self with src, converted to its dtype, in place of self[start:end:step] along dim"""
    return _replaced(self, _slice(self, dim, start, end, step), src)


@semantics("aten::select_scatter", selects=True, moves=("self", "src"))
def select_scatter(self: np.ndarray, src: np.ndarray, dim: int, index: int) -> Golden:
    """self with src, converted to its dtype, in place of self[index] along dim"""
    return _replaced(self, _index(self, dim, index), src)


@semantics("aten::diagonal_scatter", selects=True, moves=("self", "src"))
def diagonal_scatter(self: np.ndarray, src: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Golden:
    """self with src, converted to its dtype, in place of self.diagonal(offset, dim1, dim2)"""
    fmt = format_of(self)
    result = np.array(self, order="C")
    diagonal = result.diagonal(offset, wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim))
    diagonal.flags.writeable = True  # it is a view of the result
    diagonal[...] = converted(src, fmt)
    return exact(result, fmt)


def _replaced(self: np.ndarray, place: Place, src: np.ndarray) -> Golden:
    fmt = format_of(self)
    result = np.array(self, order="C")
    result[place] = converted(src, fmt)
    return exact(result, fmt)


@semantics("aten::unbind.int", selects=True, moves=("self",))
def unbind(self: np.ndarray, dim: int = 0) -> tuple[Golden, ...]:
    """self.select(dim, i) for each i"""
    return tuple(select(self, dim, index) for index in range(self.shape[wrap_dim(dim, self.ndim)]))


@unsafe("aten::unsafe_split_with_sizes")
@semantics("aten::split_with_sizes", selects=True, moves=("self",))
def split_with_sizes(self: np.ndarray, split_sizes: Sequence[int], dim: int = 0) -> tuple[Golden, ...]:
    """Parts of these sizes, one after the other along dim"""
    ends = np.cumsum([0, *split_sizes]).tolist()
    return tuple(slice_(self, dim, start, end) for start, end in pairwise(ends))


@semantics("aten::split.sizes", selects=True, moves=("self",))
def split_sizes(self: np.ndarray, split_size: Sequence[int], dim: int = 0) -> tuple[Golden, ...]:
    """Parts of these sizes, one after the other along dim"""
    return split_with_sizes(self, split_size, dim)


@unsafe("aten::unsafe_split.Tensor")
@semantics("aten::split.Tensor", selects=True, moves=("self",))
def split(self: np.ndarray, split_size: int, dim: int = 0) -> tuple[Golden, ...]:
    """Parts of split_size along dim, the last one of what is left; of an empty dim one"""
    length = self.shape[wrap_dim(dim, self.ndim)]
    count = max(-(-length // max(split_size, 1)), 1)
    return tuple(slice_(self, dim, split_size * i, split_size * (i + 1)) for i in range(count))


@unsafe("aten::unsafe_chunk")
@semantics("aten::chunk", selects=True, moves=("self",))
def chunk(self: np.ndarray, chunks: int, dim: int = 0) -> tuple[Golden, ...]:
    """Parts of ceil(size / chunks) along dim, the last one of what is left: perhaps fewer than chunks. Of an empty dim
    as many empty ones as asked"""
    length = self.shape[wrap_dim(dim, self.ndim)]
    if not length:
        return split_with_sizes(self, [0] * chunks, dim)
    return split(self, -(-length // chunks), dim)


@semantics("aten::tensor_split.indices", selects=True, moves=("self",))
def split_at(self: np.ndarray, indices: Sequence[int], dim: int = 0) -> tuple[Golden, ...]:
    """The parts between the places indices along dim, as slice takes them: one from the start, one to the end"""
    bounds = pairwise([0, *indices, None])
    return tuple(slice_(self, dim, start, end) for start, end in bounds)


@semantics("aten::tensor_split.sections", selects=True, moves=("self",))
def split_in(self: np.ndarray, sections: int, dim: int = 0) -> tuple[Golden, ...]:
    """As many parts along dim, the first ones larger by one where its size is no multiple of sections"""
    size, more = divmod(self.shape[wrap_dim(dim, self.ndim)], sections)
    return split_with_sizes(self, [size + (part < more) for part in range(sections)], dim)


@semantics("aten::hsplit.int", selects=True, moves=("self",))
def hsplit(self: np.ndarray, sections: int) -> tuple[Golden, ...]:
    """Equal parts along dim 1, of a 1-d tensor along dim 0"""
    return split_in(self, sections, min(self.ndim - 1, 1))


@semantics("aten::hsplit.array", selects=True, moves=("self",))
def hsplit_at(self: np.ndarray, indices: Sequence[int]) -> tuple[Golden, ...]:
    """The parts between the places indices along dim 1, of a 1-d tensor along dim 0"""
    return split_at(self, indices, min(self.ndim - 1, 1))


@semantics("aten::vsplit.int", selects=True, moves=("self",))
def vsplit(self: np.ndarray, sections: int) -> tuple[Golden, ...]:
    """Equal parts along dim 0"""
    return split_in(self, sections, 0)


@semantics("aten::vsplit.array", selects=True, moves=("self",))
def vsplit_at(self: np.ndarray, indices: Sequence[int]) -> tuple[Golden, ...]:
    """The parts between the places indices along dim 0"""
    return split_at(self, indices, 0)


@semantics("aten::dsplit.int", selects=True, moves=("self",))
def dsplit(self: np.ndarray, sections: int) -> tuple[Golden, ...]:
    """Equal parts along dim 2"""
    return split_in(self, sections, 2)


@semantics("aten::dsplit.array", selects=True, moves=("self",))
def dsplit_at(self: np.ndarray, indices: Sequence[int]) -> tuple[Golden, ...]:
    """The parts between the places indices along dim 2"""
    return split_at(self, indices, 2)
