"""Maxima over windows, where they stand, and the gradients of maxima."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.patches import Windows
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.places import Writes
from conform.interp.ops.indexing.written import replaced
from conform.interp.ops.reduction.sums import accumulation, sums_of
from conform.interp.ops.windows.average import adaptive, adaptive_windows
from conform.interp.ops.windows.sliding import Adaptive, Block, Sliding, most_windows, per_dim, pooling
from conform.interp.semantics import semantics
from conform.numerics import accumulate
from conform.numerics.digits import decide_digits, dots
from conform.numerics.formats import FORMATS, Format, compute_format, format_of
from conform.numerics.grid import common_grid


def _largest(self: np.ndarray, windows: Sliding) -> tuple[Golden, Golden]:
    """(the largest element of each window, NaN if one is; its number in the image).

    Which of several largest ones, or NaNs, is open (P120), and so is what a window has that lies in the padding, but
    that it is -inf of floats (P121)."""
    fmt, plane = format_of(self), self.shape[self.ndim - len(windows.counts) :]
    values = windows.golden(self, lambda block: _values(fmt, block))
    return values, windows.golden(self, lambda block: _places(fmt, block, plane))


def _lowest(fmt: Format) -> float | int:
    return -np.inf if fmt.is_float else fmt.min_value


def _met(fmt: Format, block: Block) -> Pieces[np.ndarray]:
    """[taps, m]: what the windows meet, the lowest number where that is nothing."""
    return block.elements.map(lambda piece, there: np.where(there, piece, piece.dtype.type(_lowest(fmt))), block.there)


def _maximum(fmt: Format, block: Block) -> np.ndarray:
    """[m]: the largest, NaN where there is one."""
    largest = [piece.max(0) for piece in _met(fmt, block)]
    return np.max(largest, axis=0)


def _values(fmt: Format, block: Block) -> Golden:
    golden = exact(_maximum(fmt, block), fmt, zero_sign_free=fmt.is_float)
    return golden if fmt.is_float else golden.opened(_is_in_padding(block), "P121")


def _is_in_padding(block: Block) -> np.ndarray:
    return ~np.logical_or.reduce([there.any(0) for there in block.there])


def _places(fmt: Format, block: Block, plane: Sequence[int]) -> Golden:
    largest = _maximum(fmt, block)
    count, place = np.zeros(block.count, np.int64), np.zeros(block.count, np.int64)
    own = block.pieces(lambda coordinates, there, _: _numbers(coordinates, plane))
    for piece, there, at in zip(block.elements, block.there, own, strict=True):
        is_largest = there & ((piece == largest) | (piece != piece))
        count += is_largest.sum(0)
        place = np.where(is_largest.any(0), at[is_largest.argmax(0), np.arange(block.count)], place)
    return exact(place, FORMATS["int64"]).opened(count > 1, "P120").opened(count == 0, "P121")


def _numbers(coordinates: Sequence[np.ndarray], plane: Sequence[int]) -> np.ndarray:
    """Those of the elements there, in C order."""
    number = coordinates[0]
    for along, size in zip(coordinates[1:], plane[1:], strict=True):
        number = number * size + along
    return number


def _pooled(rank: int, with_indices: bool) -> Callable[..., Any]:
    def max_pool(
        self: np.ndarray,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: bool = False,
    ) -> Golden | tuple[Golden, Golden]:
        """The largest element of each window of the last dimensions, NaN if one is, and with indices its number in its
        image (P4, P5, P120, P121). Windows as those of avg_pool2d, with elements dilation apart"""
        windows = pooling(self.shape[-rank:], kernel_size, stride, padding, dilation, ceil_mode)
        if with_indices:
            return _largest(self, windows)
        fmt = format_of(self)
        return windows.golden(self, lambda block: _values(fmt, block))

    return max_pool


for _rank in (1, 2, 3):
    _register = semantics(f"aten::max_pool{_rank}d", compares=True, selects=True, elements=most_windows(_rank))
    _register(_pooled(_rank, with_indices=False))
for _rank in (2, 3):
    _most = most_windows(_rank, results=2)
    _register = semantics(f"aten::max_pool{_rank}d_with_indices", compares=True, elements=_most)
    _register(_pooled(_rank, with_indices=True))


def _adaptive(rank: int) -> Callable[..., tuple[Golden, Golden]]:
    def adaptive_max_pool(self: np.ndarray, output_size: Sequence[int]) -> tuple[Golden, Golden]:
        """The largest element of each of output_size windows along the last dimensions (those of adaptive_avg_pool),
        and its number in its image (P4, P5, P120)"""
        return _largest(self, adaptive(self, per_dim(output_size, rank)))

    return adaptive_max_pool


for _rank in (1, 2, 3):
    _windows = adaptive_windows(_rank, results=2)
    semantics(f"aten::adaptive_max_pool{_rank}d", compares=True, elements=_windows)(_adaptive(_rank))


def _pooled_backward(rank: int) -> Callable[..., Golden]:
    def max_pool_with_indices_backward(
        grad_output: np.ndarray,
        self: np.ndarray,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil_mode: bool,
        indices: np.ndarray,
    ) -> Golden:
        """The sum of grad_output over the windows whose index each element is, in its image; open where that of a
        window is an element that the window does not have (P125)"""
        windows = pooling(self.shape[-rank:], kernel_size, stride, padding, dilation, ceil_mode)
        return _at_maxima(grad_output, self, indices, windows)

    return max_pool_with_indices_backward


def _adaptive_backward(rank: int) -> Callable[..., Golden]:
    def adaptive_max_pool_backward(grad_output: np.ndarray, self: np.ndarray, indices: np.ndarray) -> Golden:
        """The sum of grad_output over the windows, those of adaptive_avg_pool, whose index each element is, in its
        image; open where that of a window is an element that the window does not have (P125)"""
        return _at_maxima(grad_output, self, indices, adaptive(self, grad_output.shape[-rank:]))

    return adaptive_max_pool_backward


for _rank in (2, 3):
    _register = semantics(f"aten::max_pool{_rank}d_with_indices_backward", accumulates="grad_output")
    _register(_pooled_backward(_rank))
    semantics(f"aten::adaptive_max_pool{_rank}d_backward", accumulates="grad_output")(_adaptive_backward(_rank))


def _at_maxima(grad_output: np.ndarray, self: np.ndarray, indices: np.ndarray, windows: Sliding) -> Golden:
    rank = len(windows.counts)
    plane = self.shape[-rank:]
    targets = _in_all_images(indices, prod(plane), rank)
    strays = np.zeros(prod(self.shape), bool)
    strays[targets[~_is_within(indices, windows, plane).reshape(-1)]] = True
    return _sums_at(grad_output, targets, self.shape).opened(strays.reshape(self.shape), "P125")


def _is_within(indices: np.ndarray, windows: Sliding, plane: Sequence[int]) -> np.ndarray:
    """Whether each element, told by its number in the image, is one of its window's."""
    places, of = np.unravel_index(indices, plane), np.ix_(*map(np.arange, windows.counts))
    along = zip(places, of, windows.along, windows.taps, strict=True)
    return np.logical_and.reduce([_is_tap(*each) for each in along])


def _is_tap(places: np.ndarray, of: np.ndarray, windows: Windows | Adaptive, taps: int) -> np.ndarray:
    """Whether the windows `of` have an element at the places, along one dim."""
    if isinstance(windows, Adaptive):
        return (places >= windows.start(of)) & (places < windows.end(of))
    tap, rest = np.divmod(places + windows.padding - of * windows.stride, windows.dilation)
    return (rest == 0) & (tap >= 0) & (tap < taps)


def _in_all_images(indices: np.ndarray, plane: int, rank: int) -> np.ndarray:
    """Numbers in images of `plane` elements each, as numbers in all of them, flat."""
    count = prod(indices.shape[-rank:])
    return indices.reshape(-1) + np.arange(indices.size) // max(count, 1) * plane


def _unpool(self: np.ndarray, indices: np.ndarray, output_size: Sequence[int]) -> Golden:
    shape = (*self.shape[: self.ndim - len(output_size)], *output_size)
    images = np.arange(indices.size) // max(prod(self.shape[-len(output_size) :]), 1)
    targets = indices.reshape(-1) + images * prod(output_size)
    writes = Writes((prod(shape),), [targets], self.reshape(-1))
    golden = replaced(np.zeros(prod(shape), self.dtype), format_of(self), writes)
    return golden.rearranged(lambda part: part.reshape(shape))


def _unpooled(arguments: Mapping[str, Any]) -> int:
    sizes = arguments["output_size"]
    return prod(np.shape(arguments["self"])[: -len(sizes)]) * prod(sizes)


@semantics("aten::max_unpool2d", elements=_unpooled)
def max_unpool2d(self: np.ndarray, indices: np.ndarray, output_size: Sequence[int]) -> Golden:
    """Images of output_size of zeros, with each element of self at the number in its image that indices has of it; open
    where a number is repeated (P25)"""
    return _unpool(self, indices, output_size)


@semantics("aten::max_unpool3d", elements=_unpooled, ignores=("stride", "padding"))
def max_unpool3d(self: np.ndarray, indices: np.ndarray, output_size: Sequence[int]) -> Golden:
    """As max_unpool2d, of volumes; stride and padding are those of the pooling, and say nothing beside output_size"""
    return _unpool(self, indices, output_size)


def _sums_at(grad_output: np.ndarray, targets: np.ndarray, shape: tuple[int, ...]) -> Golden:
    """Of results of `shape`: the sums of what has each as its target."""
    fmt = format_of(grad_output)
    grads = grad_output.reshape(-1).astype(np.float64)
    total = accumulate.total_at([(targets, grads)], prod(shape))

    def exactly(index: tuple[int]) -> Fraction:
        return accumulate.exact_total(grads[targets == index[0]])

    return accumulation(fmt, total, exactly).rearranged(lambda part: part.reshape(shape))


def sum_of_terms(fmt: Format, terms: Pieces[np.ndarray]) -> Golden:
    """The sums [m] of terms [k, m]."""
    total, one = accumulate.total_of(terms, axis=0), np.ones((1, 1))
    exactly = lambda index: dots((piece[:, index[0]], one) for piece in terms)  # noqa: E731
    golden = sums_of(fmt, total, *decide_digits(fmt, total.real, total.terms, exactly))
    return golden.on_grid(common_grid(compute_format(fmt), terms, axis=0))
