"""Pooling over windows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import Pieces, fits, spans
from conform.interp.blocks.patches import Windows, met, read
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.reduction.sums import accumulation, overflowing
from conform.interp.semantics import semantics
from conform.numerics import accumulate
from conform.numerics.accumulate import Accumulated
from conform.numerics.formats import Format, compute_format, format_of
from conform.numerics.grid import common_grid
from conform.numerics.real import Real


def _windows(arguments: Mapping[str, Any]) -> int:
    """In every image, with the last ones of ceil_mode."""
    shape, strides = np.shape(arguments["self"]), arguments["stride"] or arguments["kernel_size"]
    padded = (size + 2 * pad for size, pad in zip(shape[-2:], _pair(arguments["padding"]), strict=False))
    counts = (-(-size // max(step, 1)) + 1 for size, step in zip(padded, _pair(strides), strict=False))
    return prod(shape[:-2]) * prod(counts)


@semantics("aten::avg_pool2d", accumulates="self", elements=_windows)
def avg_pool2d(
    self: np.ndarray,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0, 0),
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Golden:
    """The mean of each kernel_size window of the last two dimensions, stride apart (kernel_size apart if empty).

    The divisor is divisor_override, or the number of window places inside the input (inside the padded input with
    count_include_pad). With ceil_mode a last window may reach beyond the padded input, if it starts inside the input or
    its left padding.
    """
    fmt = format_of(self)
    kernel, pads = _pair(kernel_size), _pair(padding)
    steps = _pair(stride) if len(stride) else kernel
    windows = [Windows(*along) for along in zip(self.shape[-2:], steps, pads, strict=True)]
    sizes = [_count(one, k, ceil_mode) for one, k in zip(windows, kernel, strict=True)]
    shape = (*self.shape[:-2], *sizes)

    def mean(places: slice) -> Golden:
        """The means of the results `places` in C order, [m]."""
        *batch, row, column = np.unravel_index(np.arange(places.start, places.stop), shape)
        terms = _terms(self, windows, kernel, batch, (row, column))
        if divisor_override is None:
            counted = (_counted(*each, count_include_pad) for each in zip(windows, kernel, (row, column), strict=True))
            divisor = prod(counted)
        else:
            divisor = np.full(len(row), divisor_override)
        return (_float_mean if fmt.is_float else _integer_mean)(fmt, terms, divisor)

    goldens = ((places, mean(places)) for places in spans(prod(shape), prod(kernel)))
    return assembled(goldens, prod(shape)).rearranged(lambda part: part.reshape(shape))


def _pair(values: Sequence[int]) -> tuple[int, int]:
    """One number or two, False and True as 0 and 1, for the last two dimensions."""
    first, *rest = map(int, values)
    return (first, rest[0]) if rest else (first, first)


def _count(windows: Windows, kernel: int, ceil_mode: bool) -> int:
    """How many windows there are."""
    room = windows.size + 2 * windows.padding - kernel
    count = (room + (windows.stride - 1 if ceil_mode else 0)) // windows.stride + 1
    if ceil_mode and (count - 1) * windows.stride >= windows.size + windows.padding:
        count -= 1
    return count


def _counted(windows: Windows, kernel: int, places: np.ndarray, count_include_pad: bool) -> np.ndarray:
    """How many places of each window count, all before the end of the padded input."""
    start = places * windows.stride - windows.padding
    end = np.minimum(start + kernel, windows.size + windows.padding)
    return end - start if count_include_pad else np.minimum(end, windows.size) - np.maximum(start, 0)


def _terms(
    self: np.ndarray,
    windows: Sequence[Windows],
    kernel: tuple[int, int],
    batch: Sequence[np.ndarray],
    places: Sequence[np.ndarray],
) -> Pieces[np.ndarray]:
    """[kernel places, m]: the elements of each window, zero outside the input."""
    taps, count = prod(kernel), len(places[0])

    def piece(some: slice) -> np.ndarray:
        offsets = np.unravel_index(np.arange(some.start, some.stop), kernel)
        coordinates, there = met(windows, offsets, places)
        return read(self, (*batch, *coordinates), there)

    return Pieces(lambda: map(piece, spans(taps, count)), not fits(taps * count))


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
    return exact(quotient + ((quotient * divisor != total) & (quotient < 0)), fmt)
