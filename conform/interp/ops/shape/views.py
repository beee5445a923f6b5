"""The same elements under another shape: views. Bits are kept (any NaN stands for any NaN, P1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from conform.interp.dims import wrap_dim, wrap_dims
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of


@semantics("aten::permute", selects=True, moves=("self",))
def permute(self: np.ndarray, dims: Sequence[int]) -> Golden:
    """result.shape[i] = self.shape[dims[i]]"""
    return exact(self.transpose(wrap_dims(dims, self.ndim)), format_of(self))


@semantics("aten::transpose.int", "aten::swapdims", selects=True, moves=("self",))
def transpose(self: np.ndarray, dim0: int, dim1: int) -> Golden:
    """self with two dims swapped; a 0-d tensor stays as it is"""
    return exact(_swapped(self, dim0, dim1), format_of(self))


@semantics("aten::swapaxes", selects=True, moves=("self",))
def swapaxes(self: np.ndarray, axis0: int, axis1: int) -> Golden:
    """self with two dims swapped; a 0-d tensor stays as it is"""
    return exact(_swapped(self, axis0, axis1), format_of(self))


def _swapped(self: np.ndarray, dim0: int, dim1: int) -> np.ndarray:
    return self.swapaxes(wrap_dim(dim0, self.ndim), wrap_dim(dim1, self.ndim)) if self.ndim else self


@semantics("aten::t", selects=True, moves=("self",))
def t(self: np.ndarray) -> Golden:
    """A matrix transposed; tensors of fewer dims stay as they are"""
    return exact(self.T, format_of(self))


@semantics("aten::numpy_T", selects=True, moves=("self",))
def numpy_t(self: np.ndarray) -> Golden:
    """self with its dims in the other order"""
    return exact(self.T, format_of(self))


@semantics("aten::mT", selects=True, moves=("self",))
def m_t(self: np.ndarray) -> Golden:
    """self with its last two dims swapped"""
    return exact(self.swapaxes(-2, -1), format_of(self))


@semantics("aten::adjoint", "aten::mH", "aten::matrix_H")
def adjoint(self: np.ndarray) -> Golden:
    """self with its last two dims swapped, and of complex numbers the conjugates"""
    return exact(np.conjugate(self.swapaxes(-2, -1)), format_of(self))


@semantics("aten::movedim.int", "aten::moveaxis.int", selects=True, moves=("self",))
def movedim(self: np.ndarray, source: int, destination: int) -> Golden:
    """Dim source of self is dim destination of the result; the others keep their order"""
    return movedims(self, [source], [destination])


@semantics("aten::movedim.intlist", "aten::moveaxis.intlist", selects=True, moves=("self",))
def movedims(self: np.ndarray, source: Sequence[int], destination: Sequence[int]) -> Golden:
    """Dim source[i] of self is dim destination[i] of the result; the others keep their order"""
    if not self.ndim:
        return exact(self, format_of(self))
    moved = np.moveaxis(self, wrap_dims(source, self.ndim), wrap_dims(destination, self.ndim))
    return exact(moved, format_of(self))


def _of_size(arguments: Mapping[str, Any]) -> int:
    own = np.shape(arguments["self"])
    beside = (*(1 for _ in range(len(arguments["size"]) - len(own))), *own)
    return prod(old if new == -1 else new for old, new in zip(beside, arguments["size"], strict=False))


@semantics("aten::expand", selects=True, moves=("self",), elements=_of_size)
def expand(self: np.ndarray, size: Sequence[int]) -> Golden:
    """self repeated along dims of size 1 and along new leading ones, to the shape size; -1 keeps a dim's size"""
    beside = (*(1 for _ in range(len(size) - self.ndim)), *self.shape)
    shape = [old if new == -1 else new for old, new in zip(beside, size, strict=True)]
    return exact(np.broadcast_to(self, shape), format_of(self))


@semantics("aten::broadcast_to", selects=True, moves=("self",), elements=_of_size)
def broadcast_to(self: np.ndarray, size: Sequence[int]) -> Golden:
    """self.expand(size)"""
    return expand(self, size)


@semantics("aten::expand_as", selects=True, moves=("self",))
def expand_as(self: np.ndarray, other: np.ndarray) -> Golden:
    """self.expand(the shape of other)"""
    return expand(self, other.shape)


@semantics("aten::_unsafe_view", selects=True, moves=("self",), memory=("strides",), may_share=True)
@semantics("aten::view", selects=True, moves=("self",), memory=("strides",))
def view(self: np.ndarray, size: Sequence[int]) -> Golden:
    """The elements of self, in their order, under the shape size; -1 is what is left of them"""
    known = prod(one for one in size if one != -1)
    shape = [self.size // max(known, 1) if one == -1 else one for one in size]
    return exact(self.reshape(shape), format_of(self))


@semantics("aten::reshape", selects=True, moves=("self",), may_copy=True)
def reshape(self: np.ndarray, shape: Sequence[int]) -> Golden:
    """The elements of self, in their order, under the shape; -1 is what is left of them"""
    return view(self, shape)


@semantics("aten::view_as", selects=True, moves=("self",), memory=("strides",))
def view_as(self: np.ndarray, other: np.ndarray) -> Golden:
    """The elements of self, in their order, under the shape of other"""
    return view(self, other.shape)


@semantics("aten::reshape_as", selects=True, moves=("self",), may_copy=True)
def reshape_as(self: np.ndarray, other: np.ndarray) -> Golden:
    """The elements of self, in their order, under the shape of other"""
    return view(self, other.shape)


@semantics("aten::ravel", selects=True, moves=("self",), may_copy=True)
def ravel(self: np.ndarray) -> Golden:
    """The elements of self, in their order, along one dim"""
    return view(self, [-1])


@semantics("aten::flatten.using_ints", selects=True, moves=("self",), may_copy=True)
def flatten(self: np.ndarray, start_dim: int = 0, end_dim: int = -1) -> Golden:
    """The dims from start_dim to end_dim as one; a 0-d tensor becomes one of one element"""
    start, end = wrap_dim(start_dim, self.ndim), wrap_dim(end_dim, self.ndim)
    flat = prod(self.shape[start : end + 1])
    return exact(self.reshape(*self.shape[:start], flat, *self.shape[end + 1 :]), format_of(self))


@semantics("aten::unsqueeze", selects=True, moves=("self",))
def unsqueeze(self: np.ndarray, dim: int) -> Golden:
    """self with a new dim of size 1 at dim of the result"""
    return exact(np.expand_dims(self, wrap_dim(dim, self.ndim + 1)), format_of(self))


@semantics("aten::squeeze", selects=True, moves=("self",))
def squeeze(self: np.ndarray) -> Golden:
    """self without its dims of size 1"""
    return exact(self.squeeze(), format_of(self))


@semantics("aten::squeeze.dim", "aten::squeeze.dims", selects=True, moves=("self",))
def squeeze_dim(self: np.ndarray, dim: int | Sequence[int]) -> Golden:
    """self without those of the named dims whose size is 1"""
    dims = wrap_dims([dim] if isinstance(dim, int) else dim, self.ndim) if self.ndim else ()
    return exact(self.squeeze(tuple(d for d in dims if self.shape[d] == 1)), format_of(self))


@semantics("aten::diagonal", selects=True, moves=("self",))
def diagonal(self: np.ndarray, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Golden:
    """self[..., i, i + offset] of dims dim1, dim2, along a last dim; below the diagonal where offset is negative"""
    axes = wrap_dim(dim1, self.ndim), wrap_dim(dim2, self.ndim)
    return exact(self.diagonal(offset, *axes), format_of(self))


def _of_windows(arguments: Mapping[str, Any]) -> int:
    return np.size(arguments["self"]) * max(arguments["size"], 1)


@semantics("aten::unfold", selects=True, moves=("self",), elements=_of_windows)
def unfold(self: np.ndarray, dimension: int, size: int, step: int) -> Golden:
    """The slices of size along a dim that start every step, their elements along a last dim, which a 0-d tensor gets"""
    shape, strides, along = list(self.shape), list(self.strides), self.itemsize
    if self.ndim:
        axis = wrap_dim(dimension, self.ndim)
        along = self.strides[axis]
        shape[axis] = (self.shape[axis] - size) // step + 1
        strides[axis] *= step
    windows = np.lib.stride_tricks.as_strided(self, (*shape, size), (*strides, along), writeable=False)
    return exact(windows, format_of(self))


def _of_strided(arguments: Mapping[str, Any]) -> int:
    return prod(arguments["size"])


@semantics(
    "aten::as_strided", selects=True, moves=("self",), elements=_of_strided, memory=("strides", "offset", "storage")
)
def as_strided(
    self: np.ndarray, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Golden:
    """result[i, j, ...] = element storage_offset + i * stride[0] + j * stride[1] + ... of self's storage, which are
    self's elements in their order: of a self that lies otherwise in memory the meaning is another"""
    return exact(_strided(np.ascontiguousarray(self), size, stride, storage_offset or 0), format_of(self))


def _strided(contiguous: np.ndarray, size: Sequence[int], stride: Sequence[int], offset: int) -> np.ndarray:
    storage = contiguous.reshape(-1)[offset:]
    strides = [one * storage.itemsize for one in stride]
    return np.lib.stride_tricks.as_strided(storage, size, strides)


@semantics("aten::as_strided_scatter", selects=True, moves=("self", "src"), memory=("strides", "offset", "storage"))
def as_strided_scatter(
    self: np.ndarray, src: np.ndarray, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Golden:
    """self with src, converted to its dtype, in place of self.as_strided(size, stride, storage_offset); unspecified
    where several elements of src have one place (P25)"""
    fmt, offset = format_of(self), storage_offset or 0
    result = np.array(self, order="C")
    _strided(result, size, stride, offset)[...] = converted(src, fmt)
    steps = (np.arange(count) * step for count, step in zip(size, stride, strict=True))
    places, times = np.unique(reduce(np.add.outer, steps, np.int64(offset)), return_counts=True)
    if (times < 2).all():
        return exact(result, fmt)
    repeated = np.zeros(self.size, bool)
    repeated[places[times > 1]] = True
    return exact(result, fmt).opened(repeated.reshape(self.shape), "P25")
