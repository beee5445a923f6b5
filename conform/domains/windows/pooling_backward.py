"""Gradients of pooling: the domains of their arguments. The sizes of what was pooled follow from grad_output's."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from conform.domains.engine.arguments import Argument, boolean, index_tensor, integer, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING, Space, integers_between
from conform.domains.engine.vocabulary import dtype_of, shape_of, sized
from conform.domains.specs import FLOATS, spec
from conform.domains.windows.pooling import (
    SOME,
    Numbers,
    numbers_of,
    of_batches,
    per_dim,
    reach,
    slid,
    window_count,
)
from conform.numerics.draws import Stream

Reached = Callable[[int], np.ndarray]


def _below_half(rank: int) -> Callable[..., int]:
    def below_half(kernel_size: Numbers, i: int, length: int) -> int:
        """(kernel_size[i] - 1) // 2"""
        halves = [max(size - 1, 0) // 2 for size in per_dim(kernel_size, rank)]
        return min(halves) if length == 1 else halves[min(i, rank - 1)]

    return below_half


def _sizes_before(sliding: int) -> Callable[..., Numbers]:
    def sizes(
        grad_output: MetaArgument, d: int, kernel_size: Numbers, stride: Numbers, padding: Numbers, ceil_mode: bool
    ) -> Numbers:
        """size(grad_output, d); of the dims that are slid over those of which there are so many windows"""
        return _before(sliding, grad_output, d, kernel_size, stride, padding, (1,), ceil_mode)

    return sizes


def _sizes_before_dilated(sliding: int) -> Callable[..., Numbers]:
    def sizes(
        grad_output: MetaArgument, d: int, kernel_size: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers,
        ceil_mode: bool,
    ) -> Numbers:  # fmt: skip
        """size(grad_output, d); of the dims that are slid over those of which there are so many windows"""
        return _before(sliding, grad_output, d, kernel_size, stride, padding, dilation, ceil_mode)

    return sizes


def _before(
    sliding: int, grad_output: MetaArgument, d: int, kernel_size: Numbers, stride: Numbers, padding: Numbers,
    dilation: Numbers, ceil_mode: bool,
) -> Numbers:  # fmt: skip
    count, at = grad_output.size(d), d - grad_output.rank
    if at < -sliding:
        return (count,)
    numbers = [per_dim(values, sliding)[at] for values in (kernel_size, stride or kernel_size, padding, dilation)]
    if min(count, numbers[0], numbers[1], numbers[3]) < 1:
        return ANYTHING
    kernel, step, pad, gap = numbers
    most = count * step + reach(kernel, gap) - 2 * pad  # of which there are so many with ceil_mode, or one more
    near = range(max(1, most - 2 * step + 1), most + 1)
    return tuple(size for size in near if window_count(size, *numbers, ceil_mode) == count)


def _grads(rank: int, sizes: Callable[..., Numbers], *more: Argument) -> tuple[Argument, ...]:
    """grad_output, self, kernel_size, stride, padding, those between, ceil_mode."""
    half = Value.Le(_below_half(rank)).lenient("half the kernel will do if an image has so many windows")
    return (
        tensor("grad_output", Dtype.In(FLOATS).unjudged("torch takes int64 here and there"),
               Rank.In((rank + 1, rank + 2)), Size.Ge(of_batches(rank))),
        tensor("self", dtype_of("grad_output"), Rank.Eq(lambda grad_output: grad_output.rank), Size.In(sizes)),
        *slid(rank, half),
        *more,
        boolean("ceil_mode"),
    )  # fmt: skip


for _rank in (2, 3):
    spec(
        f"aten::avg_pool{_rank}d_backward",
        *_grads(_rank, _sizes_before(_rank)),
        boolean("count_include_pad"),
        optional(integer("divisor_override", Value.Ne(0))),
        result(dtype_of("self"), shape_of("self")),
    )

# --- Of maxima --------------------------------------------------------------------------------------------------------


def _places(rank: int) -> Callable[[MetaArgument], Space]:
    def places(self: MetaArgument) -> Space:
        """[0, the number of elements of an image)"""
        return integers_between(0, math.prod(self.shape[-rank:]) - 1)

    return places


def _drawn(rank: int, stream: Stream, self: MetaArgument, indices: MetaArgument, reached: Reached) -> np.ndarray:
    """Where the maxima of the windows stand, in images whose elements are sums of a number for each coordinate:
    neighbouring windows share them. reached: of a dim, counted from the end, the places of each window [count, taps]"""
    images = math.prod(indices.shape[:-rank])
    if min(self.rank, indices.rank) < rank or min(*self.shape, images) < 1:
        return np.zeros(indices.shape, np.int64)  # in which another argument is at fault, or there is none
    number = np.zeros((images, *[1] * rank), np.int64)
    for at in range(-rank, 0):
        own = _maxima_along(stream.uniform((images, self.size(at))), reached(at))
        along = (own.shape[1] if at == d else 1 for d in range(-rank, 0))
        number = number * self.size(at) + own.reshape(images, *along)
    return np.broadcast_to(number, (images, *indices.shape[-rank:])).reshape(indices.shape).copy()


def _maxima_along(heights: np.ndarray, places: np.ndarray) -> np.ndarray:
    """[images, count]: which of its places [count, taps] is the greatest of the heights [images, size], 0 if it has
    none."""
    there = (places >= 0) & (places < heights.shape[1])
    places = np.where(there, places, 0)
    tap = np.where(there, heights[:, places], -1).argmax(-1)
    return places[np.arange(len(places)), tap]


def _drawn_maxima(rank: int) -> Callable[..., np.ndarray]:
    def drawn(
        stream: Stream, self: MetaArgument, kernel_size: Numbers, stride: Numbers, padding: Numbers, dilation: Numbers,
        indices: MetaArgument,
    ) -> np.ndarray:  # fmt: skip
        """Where the maxima of the windows stand"""

        def reached(at: int) -> np.ndarray:
            each = (per_dim(values, rank)[at] for values in (kernel_size, stride or kernel_size, padding, dilation))
            kernel, step, pad, gap = each
            return np.arange(indices.shape[at])[:, None] * step - pad + np.arange(max(kernel, 1)) * gap

        return _drawn(rank, stream, self, indices, reached)

    return drawn


for _rank in (2, 3):
    _dilation = numbers_of("dilation", _rank, least=1, preferred=(1, 2))
    spec(
        f"aten::max_pool{_rank}d_with_indices_backward",
        *_grads(_rank, _sizes_before_dilated(_rank), _dilation),
        index_tensor("indices", Dtype.Eq("int64"), shape_of("grad_output"),
                     Value.In(_places(_rank)).unjudged("some of torch's kernels do not check it"),
                     Value.Gen(_drawn_maxima(_rank))),
        result(dtype_of("self"), shape_of("self")),
    )  # fmt: skip

# --- Of as many windows as are asked for ------------------------------------------------------------------------------


def _adaptive_grads(rank: int) -> tuple[Argument, Argument]:
    """grad_output and self."""

    def leading(grad_output: MetaArgument) -> tuple[int, ...]:
        """{size(grad_output, d)} but of the dims that are pooled"""
        return grad_output.shape[:-rank]

    return (
        tensor("grad_output", Dtype.In(FLOATS), Rank.In((rank + 1, rank + 2)),
               Size.Ge(of_batches(rank)).unjudged(SOME)),
        tensor("self", dtype_of("grad_output"), Rank.Eq(lambda grad_output: grad_output.rank),
               Size.Ge(of_batches(rank)).unjudged(SOME), sized(leading, leading.__doc__).unjudged(SOME)),
    )  # fmt: skip


def _drawn_adaptively(rank: int) -> Callable[..., np.ndarray]:
    def drawn(stream: Stream, self: MetaArgument, indices: MetaArgument) -> np.ndarray:
        """Where the maxima of the windows stand"""

        def reached(at: int) -> np.ndarray:
            size, count = self.size(at), max(indices.shape[at], 1)
            window = np.arange(indices.shape[at])
            start, end = window * size // count, -(-(window + 1) * size // count)
            return np.minimum(start[:, None] + np.arange(size // count + 2), end[:, None] - 1)

        return _drawn(rank, stream, self, indices, reached)

    return drawn


for _rank in (2, 3):
    spec(f"aten::_adaptive_avg_pool{_rank}d_backward", *_adaptive_grads(_rank),
         result(dtype_of("self"), shape_of("self")))  # fmt: skip
    spec(
        f"aten::adaptive_max_pool{_rank}d_backward",
        *_adaptive_grads(_rank),
        index_tensor("indices", Dtype.Eq("int64"), shape_of("grad_output"),
                     Value.In(_places(_rank)).unjudged("some of torch's kernels do not check it"),
                     Value.Gen(_drawn_adaptively(_rank))),
        result(dtype_of("self"), shape_of("self")),
    )  # fmt: skip
