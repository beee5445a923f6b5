"""Elements at other places, some repeated and some replaced by zeros."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import flat, spans
from conform.interp.dims import wrap_dim, wrap_dims
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of


@semantics("aten::repeat", selects=True, moves=("self",), elements=lambda arguments: _of_copies(arguments, "repeats"))
def repeat(self: np.ndarray, repeats: Sequence[int]) -> Golden:
    """self repeats[i] times along dim i, with new leading dims where repeats has more"""
    return exact(_copies(self, repeats), format_of(self))


@semantics("aten::tile", selects=True, moves=("self",), elements=lambda arguments: _of_copies(arguments, "dims"))
def tile(self: np.ndarray, dims: Sequence[int]) -> Golden:
    """self as often along each dim, the last of dims being that of the last dim; once along dims before"""
    return exact(_copies(self, dims), format_of(self))


def _copies(self: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """numpy's tile, which makes a copy for every dim."""
    rank = max(self.ndim, len(counts))
    sizes, times = ((*(1 for _ in range(rank - len(each))), *each) for each in (self.shape, counts))
    result = np.empty([size * time for size, time in zip(sizes, times, strict=True)], self.dtype)
    split = [one for pair in zip(times, sizes, strict=True) for one in pair]
    result.reshape(split)[...] = self.reshape([one for size in sizes for one in (1, size)])
    return result


def _of_copies(arguments: Mapping[str, Any], counts: str) -> int:
    return np.size(arguments["self"]) * prod(arguments[counts])


def _of_repetitions(arguments: Mapping[str, Any]) -> int:
    return np.size(arguments["self"]) * int(np.max(arguments["repeats"], initial=1))


@semantics("aten::repeat_interleave.self_int", selects=True, moves=("self",), elements=_of_repetitions)
def repeat_interleave_equally(
    self: np.ndarray, repeats: int, dim: int | None = None, output_size: int | None = None
) -> Golden:
    """Each element of self repeats times, one after the other, along dim; without dim of all elements in their order"""
    return repeat_interleave(self, np.array(repeats), dim)


@semantics("aten::repeat_interleave.self_Tensor", selects=True, moves=("self",), elements=_of_repetitions)
def repeat_interleave(
    self: np.ndarray, repeats: np.ndarray, dim: int | None = None, output_size: int | None = None
) -> Golden:
    """What stands at i along dim repeats[i] times, one after the other, or as often as the one number of repeats says;
    without dim of all elements in their order"""
    operand = self.reshape(-1 if dim is None else self.shape or (1,))
    return exact(np.repeat(operand, repeats.reshape(-1), wrap_dim(dim or 0, self.ndim)), format_of(self))


@semantics("aten::repeat_interleave.Tensor", elements=lambda arguments: _of_places(arguments))
def repeat_interleave_places(repeats: np.ndarray, output_size: int | None = None) -> Golden:
    """i repeats[i] times, for each i"""
    return exact(np.repeat(np.arange(repeats.size, dtype=repeats.dtype), repeats), format_of(repeats))


def _of_places(arguments: Mapping[str, Any]) -> int:
    return int(np.sum(np.maximum(arguments["repeats"], 0)))


@semantics("aten::flip", selects=True, moves=("self",))
def flip(self: np.ndarray, dims: Sequence[int]) -> Golden:
    """self in the other order along each of dims"""
    return exact(np.flip(self, wrap_dims(dims, self.ndim) if self.ndim else ()), format_of(self))


@semantics("aten::fliplr", selects=True, moves=("self",))
def fliplr(self: np.ndarray) -> Golden:
    """self in the other order along dim 1"""
    return flip(self, [1])


@semantics("aten::flipud", selects=True, moves=("self",))
def flipud(self: np.ndarray) -> Golden:
    """self in the other order along dim 0"""
    return flip(self, [0])


@semantics("aten::roll", selects=True, moves=("self",))
def roll(self: np.ndarray, shifts: Sequence[int], dims: Sequence[int] = ()) -> Golden:
    """result[i + shift] = self[i] along each dim, modulo its size; without dims along all elements in their order"""
    if not dims:
        return exact(np.roll(self.reshape(-1), shifts[0] % max(self.size, 1)).reshape(self.shape), format_of(self))
    axes = wrap_dims(dims, self.ndim)
    within = tuple(shift % max(self.shape[axis], 1) for shift, axis in zip(shifts, axes, strict=True))
    return exact(np.roll(self, within, axes), format_of(self))


@semantics("aten::rot90", selects=True, moves=("self",))
def rot90(self: np.ndarray, k: int = 1, dims: Sequence[int] = (0, 1)) -> Golden:
    """self turned k times by 90 degrees from dims[0] towards dims[1]"""
    return exact(np.rot90(self, k % 4, wrap_dims(dims, self.ndim)), format_of(self))


@semantics("aten::channel_shuffle", "aten::native_channel_shuffle", selects=True, moves=("self",))
def channel_shuffle(self: np.ndarray, groups: int) -> Golden:
    """Channel g * (channels / groups) + c of self, dim 1, is channel c * groups + g of the result"""
    split = self.reshape(self.shape[0], groups, self.shape[1] // groups, *self.shape[2:])
    return exact(split.swapaxes(1, 2).reshape(self.shape), format_of(self))


@semantics("aten::tril", selects=True, moves=("self",))
def tril(self: np.ndarray, diagonal: int = 0) -> Golden:
    """self[..., i, j] where j - i <= diagonal, else 0"""
    return _triangle(self, lambda beyond: beyond <= diagonal)


@semantics("aten::triu", selects=True, moves=("self",))
def triu(self: np.ndarray, diagonal: int = 0) -> Golden:
    """self[..., i, j] where j - i >= diagonal, else 0"""
    return _triangle(self, lambda beyond: beyond >= diagonal)


def _triangle(self: np.ndarray, is_kept: Callable[[np.ndarray], np.ndarray]) -> Golden:
    """self with zeros where `is_kept` is false of j - i of the last two dims."""
    rows, columns = self.shape[-2:]
    result = np.zeros(self.size, self.dtype)
    for some in spans(self.size) if self.size else ():
        i, j = np.divmod(np.arange(some.start, some.stop) % (rows * columns), columns)
        result[some] = np.where(is_kept(j - i), flat(self, some), result[some])
    return exact(result.reshape(self.shape), format_of(self))


def _of_square(arguments: Mapping[str, Any]) -> int:
    shape = np.shape(arguments["self"])
    return prod(shape[:-1]) * (shape[-1] + abs(arguments.get("offset", 0))) ** 2 if shape else 0


@semantics("aten::diag_embed", selects=True, moves=("self",), elements=_of_square)
def diag_embed(self: np.ndarray, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Golden:
    """Zeros, with self's last dim as a diagonal of dims dim1, dim2 of the result; below the main one where offset is
    negative"""
    side, rank = self.shape[-1] + abs(offset), self.ndim + 1
    result = np.zeros((*self.shape[:-1], side, side), self.dtype)
    first = max(-offset, 0) * side + max(offset, 0)
    result.reshape(*self.shape[:-1], side**2)[..., first :: side + 1][..., : self.shape[-1]] = self
    return exact(np.moveaxis(result, (-2, -1), (wrap_dim(dim1, rank), wrap_dim(dim2, rank))), format_of(self))


def _of_side(arguments: Mapping[str, Any]) -> int:
    offset = arguments.get("diagonal", arguments.get("offset"))
    return (np.size(arguments["self"]) + abs(offset)) ** 2


@semantics("aten::diag", selects=True, moves=("self",), elements=_of_side)
def diag(self: np.ndarray, diagonal: int = 0) -> Golden:
    """A matrix with the 1-d self as that diagonal, and zeros; of a matrix its diagonal"""
    return diag_embed(self, diagonal) if self.ndim == 1 else exact(self.diagonal(diagonal), format_of(self))


@semantics("aten::diagflat", selects=True, moves=("self",), elements=_of_side)
def diagflat(self: np.ndarray, offset: int = 0) -> Golden:
    """A matrix with the elements of self, in their order, as that diagonal, and zeros"""
    return diag_embed(self.reshape(-1), offset)


@semantics("aten::pixel_shuffle", selects=True, moves=("self",))
def pixel_shuffle(self: np.ndarray, upscale_factor: int) -> Golden:
    """[..., c * r * r, h, w] as [..., c, h * r, w * r]: of a pixel channel c r^2 + i r + j is at row i, column j"""
    *batch, channels, rows, columns = self.shape
    r = upscale_factor
    parts = self.reshape(*batch, channels // r**2, r, r, rows, columns)
    lead = len(batch)
    order = (*range(lead + 1), lead + 3, lead + 1, lead + 4, lead + 2)
    return exact(parts.transpose(order).reshape(*batch, channels // r**2, rows * r, columns * r), format_of(self))


@semantics("aten::pixel_unshuffle", selects=True, moves=("self",))
def pixel_unshuffle(self: np.ndarray, downscale_factor: int) -> Golden:
    """[..., c, h * r, w * r] as [..., c * r * r, h, w]: what undoes pixel_shuffle"""
    *batch, channels, rows, columns = self.shape
    r = downscale_factor
    parts = self.reshape(*batch, channels, rows // r, r, columns // r, r)
    lead = len(batch)
    order = (*range(lead + 1), lead + 2, lead + 4, lead + 1, lead + 3)
    return exact(parts.transpose(order).reshape(*batch, channels * r**2, rows // r, columns // r), format_of(self))
