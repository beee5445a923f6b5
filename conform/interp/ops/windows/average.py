"""Means over windows, and the gradients of such means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import isfinite, prod
from operator import add
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import Pieces
from conform.interp.blocks.patches import Windows
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import accumulation, overflowing
from conform.interp.ops.windows.sliding import Adaptive, Block, Sliding, most_windows, per_dim, pooling
from conform.interp.semantics import semantics
from conform.numerics import accumulate
from conform.numerics.accumulate import Accumulated
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.grid import common_grid
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import gamma, underflow

Divisors = Callable[[Sequence[np.ndarray]], np.ndarray]  # of the places of windows, in every dim


def _average(rank: int) -> Callable[..., Golden]:
    """Pooling over the last `rank` dims."""

    def avg_pool(
        self: np.ndarray,
        kernel_size: Sequence[int],
        stride: Sequence[int] = (),
        padding: Sequence[int] = (0,),
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> Golden:
        """The mean of each kernel_size window of the last dimensions, stride apart (kernel_size apart if empty).

        The divisor is divisor_override, or the number of window places inside the input (inside the padded input with
        count_include_pad). With ceil_mode a last window may reach beyond the padded input, if it starts inside the
        input or its left padding.
        """
        windows = pooling(self.shape[-rank:], kernel_size, stride, padding, ceil_mode=ceil_mode)
        return _means(self, windows, _divisors(windows, count_include_pad, divisor_override))

    return avg_pool


semantics("aten::avg_pool2d", accumulates="self", elements=most_windows(2))(_average(2))
semantics("aten::avg_pool3d", accumulates="self", elements=most_windows(3))(_average(3))


@semantics("aten::avg_pool1d", accumulates="self", elements=most_windows(1))
def avg_pool1d(
    self: np.ndarray,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Golden:
    """The mean of each kernel_size window of the last dimension, as avg_pool2d of the last two"""
    return _average(1)(self, kernel_size, stride, padding, ceil_mode, count_include_pad)


def _divisors(windows: Sliding, count_include_pad: bool, divisor_override: int | None) -> Divisors:
    def divisors(places: Sequence[np.ndarray]) -> np.ndarray:
        if divisor_override is not None:
            return np.full(np.shape(places[0]), divisor_override)
        each = zip(windows.along, windows.taps, places, strict=True)
        return prod(_counted(*one, count_include_pad) for one in each)

    return divisors


def _counted(windows: Windows, kernel: int, places: np.ndarray, count_include_pad: bool) -> np.ndarray:
    """How many places of each window count, all before the end of the padded input."""
    start = places * windows.stride - windows.padding
    end = np.minimum(start + kernel, windows.size + windows.padding)
    return end - start if count_include_pad else np.minimum(end, windows.size) - np.maximum(start, 0)


def _means(self: np.ndarray, windows: Sliding, divisors: Divisors) -> Golden:
    fmt = format_of(self)
    of_block = _float_mean if fmt.is_float else _integer_mean
    return windows.golden(self, lambda block: of_block(fmt, block.elements, divisors(block.places)))


def _float_mean(fmt: Format, terms: Pieces[np.ndarray], divisor: np.ndarray) -> Golden:
    wide = terms.map(lambda piece: piece.astype(np.float64))
    total = accumulate.total_of(wide, axis=0)
    mean = Accumulated(
        total.real / Real.exact(divisor.astype(np.float64)), total.magnitude / np.abs(divisor), total.terms + 1
    )

    def exactly(index: tuple[int]) -> Fraction:
        return sum(accumulate.exact_total(piece[:, index[0]]) for piece in terms) / Fraction(int(divisor[index]))

    grid = common_grid(compute_format(fmt), wide, axis=0)
    golden = replace(accumulation(fmt, mean, exactly), divided=True)
    return golden.on_grid(None if grid is None else grid / np.abs(divisor)).opened(overflowing(fmt, total), "P35")


def _integer_mean(fmt: Format, terms: Iterable[np.ndarray], divisor: np.ndarray) -> Golden:
    """Integers: the wrapped sum, divided toward zero as C does."""
    with np.errstate(over="ignore"):
        total = reduce(np.add, (piece.sum(axis=0, dtype=fmt.storage) for piece in terms))
    quotient = total // divisor
    golden = exact(quotient + ((quotient * divisor != total) & (quotient < 0)), fmt)
    return golden.opened((total == fmt.min_value) & (divisor == -1), "P12")


# Windows of as equal sizes as can be


def adaptive(self: np.ndarray, output_size: Sequence[int]) -> Sliding:
    """output_size windows over the last dims, one size for all of them or one each."""
    sizes = self.shape[-len(output_size) :]
    along = [Adaptive(size, count) for size, count in zip(sizes, output_size, strict=True)]
    return Sliding(along, tuple(one.taps if one.count else 1 for one in along), tuple(output_size))


def adaptive_windows(rank: int, results: int = 1) -> Callable[[Mapping[str, Any]], int]:
    """How many there are over the last `rank` dims of self; once a result."""

    def count(arguments: Mapping[str, Any]) -> int:
        return results * prod(np.shape(arguments["self"])[:-rank]) * prod(per_dim(arguments["output_size"], rank))

    return count


def _adaptive(rank: int) -> Callable[..., Golden]:
    def adaptive_avg_pool(self: np.ndarray, output_size: Sequence[int]) -> Golden:
        """The mean of each of output_size windows along the last dimensions: along a dimension of n, window i of m is
        from floor(i n / m) to ceil((i + 1) n / m)"""
        windows = adaptive(self, per_dim(output_size, rank))
        return _means(self, windows, lambda places: _extents(windows, places))

    return adaptive_avg_pool


semantics("aten::adaptive_avg_pool1d", accumulates="self", elements=adaptive_windows(1))(_adaptive(1))
semantics("aten::_adaptive_avg_pool2d", accumulates="self", elements=adaptive_windows(2))(_adaptive(2))
semantics("aten::_adaptive_avg_pool3d", accumulates="self", elements=adaptive_windows(3))(_adaptive(3))


def _extents(windows: Sliding, places: Sequence[np.ndarray]) -> np.ndarray:
    """How many elements each window has."""
    return prod(one.end(each) - one.start(each) for one, each in zip(windows.along, places, strict=True))


# Gradients: every window spreads its own, divided by its divisor, over its elements


def _average_backward(rank: int) -> Callable[..., Golden]:
    def avg_pool_backward(
        grad_output: np.ndarray,
        self: np.ndarray,
        kernel_size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil_mode: bool,
        count_include_pad: bool,
        divisor_override: int | None,
    ) -> Golden:
        """The sum over the windows of each element of their grad_output, divided by their divisors (see avg_pool2d)"""
        windows = pooling(self.shape[-rank:], kernel_size, stride, padding, ceil_mode=ceil_mode)
        counts = grad_output.shape[-rank:]
        along = [replace(one, size=count, transposed=True) for one, count in zip(windows.along, counts, strict=True)]
        divisors = _divisors(windows, count_include_pad, divisor_override)
        return _spread(grad_output, Sliding(along, windows.taps, self.shape[-rank:]), divisors)

    return avg_pool_backward


semantics("aten::avg_pool2d_backward", accumulates="grad_output")(_average_backward(2))
semantics("aten::avg_pool3d_backward", accumulates="grad_output")(_average_backward(3))


def _adaptive_backward(rank: int) -> Callable[..., Golden]:
    def adaptive_avg_pool_backward(grad_output: np.ndarray, self: np.ndarray) -> Golden:
        """The sum over the windows of each element of their grad_output, divided by the number of their elements"""
        windows = adaptive(self, grad_output.shape[-rank:])
        along = [replace(one, transposed=True) for one in windows.along]
        own = Sliding(along, tuple(one.taps for one in along), self.shape[-rank:])
        return _spread(grad_output, own, lambda places: _extents(windows, places))

    return adaptive_avg_pool_backward


semantics("aten::_adaptive_avg_pool2d_backward", accumulates="grad_output")(_adaptive_backward(2))
semantics("aten::_adaptive_avg_pool3d_backward", accumulates="grad_output")(_adaptive_backward(3))


def _spread(grad_output: np.ndarray, own: Sliding, divisors: Divisors) -> Golden:
    """own: of each element of the result the windows that it lies in, as if grad_output were slid over."""
    fmt = format_of(grad_output)

    def of_block(block: Block) -> Golden:
        quotients = block.pieces(lambda found, there, _: (
            block.read(grad_output, found, there).astype(np.float64), np.where(there, divisors(found), 1)))  # fmt: skip
        return _sum_of_quotients(fmt, quotients)

    return own.golden(grad_output, of_block)


def _sum_of_quotients(fmt: Format, terms: Pieces[tuple[np.ndarray, np.ndarray]]) -> Golden:
    """The budget is that of k quotients, each rounded and perhaps below the normal range, added up in any order."""
    compute, sums, sizes, special, count = compute_format(fmt), [], 0.0, 0.0, 0
    for numbers, divisors in terms:
        finite = np.where(np.isfinite(numbers), numbers, 0.0)
        sums.append((Real.exact(finite) / Real.exact(divisors.astype(np.float64))).sum(0))
        special = special + np.where(np.isfinite(numbers), 0.0, numbers * np.sign(divisors)).sum(0)
        sizes, count = sizes + (np.abs(finite) / np.abs(divisors)).sum(0), count + len(numbers)

    def exactly(index: tuple[int]) -> Fraction:
        return sum(
            (Fraction(x) / int(d) for numbers, divisors in terms
             for x, d in zip(numbers[:, index[0]].tolist(), divisors[:, index[0]].tolist(), strict=True)
             if isfinite(x)),
            Fraction(0),
        )  # fmt: skip

    with np.errstate(all="ignore"):
        value, real = decide_exactly(fmt, where(special != 0, special, reduce(add, sums)), exactly)
        budget = gamma(count, compute.unit_roundoff) * sizes + count * underflow(compute)
    special = ~np.isfinite(real.hi)
    golden = Golden(fmt, value, real, budget=np.where(special, 0.0, budget), scale=sizes, zero_sign_free=True)
    return golden.opened((sizes > compute.max_finite) & ~np.isnan(real.hi), "P35")
