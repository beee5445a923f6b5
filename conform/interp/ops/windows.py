"""Pooling over windows."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.golden import Golden
from conform.interp.numerics import accumulate
from conform.interp.numerics.accumulate import Accumulated
from conform.interp.numerics.formats import Format, format_of
from conform.interp.numerics.real import Real
from conform.interp.ops.elementwise import exact
from conform.interp.ops.reduction import accumulation, overflowing
from conform.interp.registry import semantics


@semantics("aten::avg_pool2d")
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
    if not (fmt.is_float or fmt.name == "int64"):
        raise InvalidArguments(f"avg_pool2d is not defined for {fmt.name}")
    kernel, pads = _pair("kernel_size", kernel_size), _pair("padding", padding)
    steps = _pair("stride", stride) if len(stride) else kernel
    _check(self, kernel, steps, pads, divisor_override)
    rows, columns = (_windows(*each, ceil_mode) for each in zip(self.shape[-2:], kernel, steps, pads, strict=True))
    counted = [
        _divisors(windows, n, p, count_include_pad)
        for windows, n, p in zip((rows, columns), self.shape[-2:], pads, strict=True)
    ]
    divisor = np.outer(*counted) if divisor_override is None else np.full((len(rows), len(columns)), divisor_override)
    if fmt.is_float:
        return _float_mean(fmt, _terms(self.astype(np.float64), rows, columns, kernel), divisor)
    return _integer_mean(fmt, _terms(self, rows, columns, kernel), divisor)


def _pair(argument: str, values: Sequence[int]) -> tuple[int, int]:
    if len(values) not in (1, 2):
        raise InvalidArguments(f"avg_pool2d takes one number or two as {argument}, got {list(values)}")
    first, *rest = values
    return (first, rest[0]) if rest else (first, first)


def _check(self: np.ndarray, kernel: tuple, steps: tuple, pads: tuple, divisor_override: int | None) -> None:
    if self.ndim not in (3, 4) or 0 in self.shape[-3:]:
        raise InvalidArguments(
            f"avg_pool2d expects 3 or 4 dimensions, none but the batch empty, got {list(self.shape)}"
        )
    if min(kernel) < 1 or min(steps) < 1 or any(not 0 <= p <= k // 2 for p, k in zip(pads, kernel, strict=True)):
        raise InvalidArguments(
            f"avg_pool2d with kernel {kernel}, stride {steps}, padding {pads}: padding must be at most half the kernel"
        )
    if divisor_override == 0:
        raise InvalidArguments("divisor_override must not be zero")


def _windows(size: int, kernel: int, step: int, pad: int, ceil_mode: bool) -> list[tuple[int, int]]:
    """Start and end of each window, counted in the unpadded input; the end stops at the padded input's."""
    room = size + 2 * pad - kernel
    count = (room + (step - 1 if ceil_mode else 0)) // step + 1
    if ceil_mode and (count - 1) * step >= size + pad:
        count -= 1
    if count < 1:
        raise InvalidArguments(f"avg_pool2d kernel {kernel} exceeds an input of {size} with padding {pad}")
    starts = [i * step - pad for i in range(count)]
    return [(start, min(start + kernel, size + pad)) for start in starts]


def _divisors(windows: list[tuple[int, int]], size: int, pad: int, count_include_pad: bool) -> list[int]:
    """How many places of each window count."""
    return [end - start if count_include_pad else min(end, size) - max(start, 0) for start, end in windows]


def _terms(self: np.ndarray, rows: list, columns: list, kernel: tuple[int, int]) -> np.ndarray:
    """[kernel places, ..., rows, columns]: the elements of each window, zero outside the input."""
    margin = [(0, 0)] * (self.ndim - 2) + [(kernel[0], kernel[0]), (kernel[1], kernel[1])]
    padded = np.pad(self, margin)
    i = np.array([start for start, _ in rows]) + kernel[0]
    j = np.array([start for start, _ in columns]) + kernel[1]
    return np.stack([padded[..., (i + di)[:, None], j + dj] for di in range(kernel[0]) for dj in range(kernel[1])])


def _float_mean(fmt: Format, terms: np.ndarray, divisor: np.ndarray) -> Golden:
    total = accumulate.total(terms, axis=0)
    counts = np.broadcast_to(divisor, terms.shape[1:])
    mean = Accumulated(
        total.real / Real.exact(counts.astype(np.float64)), total.magnitude / np.abs(counts), total.terms + 1
    )
    golden = accumulation(
        fmt, mean, lambda index: accumulate.exact_total(terms[(slice(None), *index)]) / Fraction(int(counts[index]))
    )
    return golden.opened(overflowing(fmt, total), "P35")


def _integer_mean(fmt: Format, terms: np.ndarray, divisor: np.ndarray) -> Golden:
    """Integers: the wrapped sum, divided toward zero as C does."""
    with np.errstate(over="ignore"):
        total = terms.sum(axis=0, dtype=fmt.storage)
    quotient = total // divisor
    return exact(quotient + ((quotient * divisor != total) & (quotient < 0)), fmt)
