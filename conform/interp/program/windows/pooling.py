"""Rules of pooling: the largest number of each window, its place, and means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.interp.program.contraction.matrices import stacked
from conform.interp.program.elementwise.arithmetic import div
from conform.interp.program.elementwise.steps import ends
from conform.interp.program.number import Number
from conform.interp.program.reduction.order import amax
from conform.interp.program.reduction.sums import mean_over, sum_over
from conform.interp.program.rules import rule
from conform.interp.program.windows.places import Windows, each
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real, where


def _define_pooling(rank: int) -> None:
    def max_pool(
        self: Number,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: bool = False,
    ) -> Any:
        """The largest number of each window that lies in the input."""
        return _largest(self, _windows(rank, kernel_size, stride, padding, dilation, ceil_mode))

    def max_pool_with_indices(
        self: Number,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        dilation: Sequence[int] = (1,),
        ceil_mode: bool = False,
    ) -> Any:
        """And its place in the flattened last dims."""
        if self.array is not None:
            return NotImplemented
        windows = _windows(rank, kernel_size, stride, padding, dilation, ceil_mode)
        places = np.arange(prod(self.shape[-rank:])).reshape(self.shape[-rank:])
        rows = [_flat(one, rank) for one in (_without_padding(self, windows), windows.of(places))]
        return _largest(self, windows), chosen_places(*rows)

    def avg_pool(
        self: Number,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Any:
        """The sum of each window divided by its number of places, those in the padding too or not."""
        if self.array is not None:
            return NotImplemented
        windows = _windows(rank, kernel_size, stride, padding, (1,), ceil_mode)
        axes = list(range(-rank, 0))
        total = sum_over(self.moved(windows.of), axes)
        places = windows.of_padded(self.shape) if count_include_pad else windows.of(np.ones(self.shape))
        counted = places.sum(tuple(axes)) if divisor_override is None else divisor_override
        divisor = np.broadcast_to(np.float64(counted), total.shape)
        return div(total, Number(total.format, Real.exact(divisor), np.zeros(total.shape)))

    rule(f"aten::max_pool{rank}d", selects=True)(max_pool)
    rule(f"aten::max_pool{rank}d_with_indices", selects=True)(max_pool_with_indices)
    rule(f"aten::avg_pool{rank}d")(avg_pool)


for _rank in (2, 3):
    _define_pooling(_rank)


def _windows(
    rank: int, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int],
    ceil: bool,
) -> Windows:  # fmt: skip
    sizes = each(kernel, rank)
    return Windows(sizes, each(stride, rank) or sizes, each(padding, rank), each(dilation, rank), ceil)


def _largest(self: Number, windows: Windows) -> Any:
    return amax(_without_padding(self, windows), list(range(-len(windows.kernel), 0)))


def _without_padding(self: Number, windows: Windows) -> Number:
    """The windows, -inf where they lie outside."""
    outside = ~windows.of(np.ones(self.shape, bool))
    number = self.moved(windows.of)
    real = where(outside, Real.exact(np.float64(-np.inf)), number.real)
    return replace(number, real=real, rad=np.where(outside, 0.0, number.rad), array=None)


def _flat(windows: Any, rank: int) -> Any:
    def flat(part: np.ndarray) -> np.ndarray:
        return part.reshape(*part.shape[:-rank], -1)

    return windows.moved(flat) if isinstance(windows, Number) else flat(windows)


def chosen_places(rows: Number, places: np.ndarray) -> Number:
    """The place of the largest number of each row; where honest implementations may choose another one, nothing is
    known of them all."""
    low, high = ends(rows)
    found = np.argmax(low, -1, keepdims=True)
    others = high.copy()
    np.put_along_axis(others, found, -np.inf, -1)
    is_decided = np.take_along_axis(low, found, -1)[..., 0] > others.max(-1)
    if not is_decided.all():
        return Number(FORMATS["int64"], Real.exact(np.zeros(is_decided.shape)), np.full(is_decided.shape, np.inf))
    return Number.exact(np.take_along_axis(np.broadcast_to(places, low.shape), found, -1)[..., 0].astype(np.int64))


# --- Adaptive ---------------------------------------------------------------------------------------------------------


@rule("aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool3d")
def adaptive_avg_pool(self: Number, output_size: Sequence[int]) -> Any:
    """The mean of each of windows that cover the input: of n elements, from floor(i n / m) to ceil((i + 1) n / m)."""
    if self.array is not None:
        return NotImplemented
    axes = list(range(-len(output_size), 0))
    return _assembled([mean_over(one, axes) for one in _covering(self, output_size)], self, output_size)


@rule("aten::adaptive_max_pool2d", selects=True)
def adaptive_max_pool2d(self: Number, output_size: Sequence[int]) -> Any:
    if self.array is not None:
        return NotImplemented
    places = Number.exact(np.arange(prod(self.shape[-2:])).reshape(self.shape[-2:]))
    parts, of_places = _covering(self, output_size), _covering(places, output_size)
    values = _assembled([amax(part, [-2, -1]) for part in parts], self, output_size)
    chosen = [chosen_places(_flat(part, 2), _flat(at, 2).array) for part, at in zip(parts, of_places, strict=True)]
    if any(one.array is None for one in chosen):
        return values, Number(FORMATS["int64"], Real.exact(np.zeros(values.shape)), np.full(values.shape, np.inf))
    whole = np.stack([one.array for one in chosen], -1)
    return values, Number.exact(whole.reshape(values.shape))


def _covering(number: Number, output_size: Sequence[int]) -> list[Number]:
    """The windows, in order."""
    rank = len(output_size)
    spans = [
        [slice(at * size // count, -(-(at + 1) * size // count)) for at in range(count)]
        for size, count in zip(number.shape[-rank:], output_size, strict=True)
    ]
    return [
        number.moved(lambda part, index=index: part[(..., *(spans[dim][at] for dim, at in enumerate(index)))])
        for index in np.ndindex(*output_size)
    ]


def _assembled(parts: Sequence[Number], number: Number, output_size: Sequence[int]) -> Number:
    leading = number.shape[: -len(output_size)]
    whole = stacked(parts, (len(parts), *leading), number.format)
    return whole.moved(lambda part: np.moveaxis(part, 0, -1).reshape(*leading, *output_size))
