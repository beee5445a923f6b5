"""Means of windows, and their gradients."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod

from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.reals import sum_exact
from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio, wrap_integer
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, Unspecified
from conform.refs.references import reference
from conform.refs.windows.sliding import Ints, Window, adaptive_windows, joined, planes, pooling_windows
from conform.refs.windows.sums import Term, check_floats, check_planes, weighted_sum

Divisor = Callable[[Window], int]


def _pooled(self: RefTensor, windows: list[list[Window]], divisor: Divisor) -> RefTensor:
    sizes = self.shape[-len(windows) :]
    each = joined(windows, sizes)
    data = [
        _mean(self.dtype, [plane[i] for i in window[0]], divisor(window))
        for plane in planes(self, prod(sizes))
        for window in each
    ]
    return RefTensor(self.dtype, (*self.shape[: -len(windows)], *map(len, windows)), data)


def _mean(dtype: str, values: list, divisor: int) -> int | float | Unspecified:
    if dtype == "int64":
        total = wrap_integer(dtype, sum(values))
        if divisor == -1 and total == -(2**63):
            return UNSPECIFIED  # P12
        quotient = abs(total) // abs(divisor)
        return quotient if (total < 0) == (divisor < 0) else -quotient
    total = sum_exact(values)
    if isinstance(total, float):
        return total if divisor > 0 else -total
    m, e = total
    return round_ratio(dtype, m << max(e, 0), divisor << max(-e, 0)) if m else 0.0


def _divisor(count_include_pad: bool, override: int | None) -> Divisor:
    """divisor_override if given; else the extent of the window, or without count_include_pad its input elements."""
    if override == 0:
        raise ValueError("divisor_override must not be 0")
    return lambda window: override or (window[1] if count_include_pad else len(window[0]))


def _average(
    spatial: int, self: RefTensor, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None = None,
) -> RefTensor:  # fmt: skip
    """The mean of each window: the exact sum over the divisor, rounded once; int64 truncates the quotient."""
    if self.dtype != "int64" and self.dtype not in FLOAT_FORMATS:
        raise ValueError(f"avg_pool{spatial}d is not defined for {self.dtype}")
    check_planes(f"avg_pool{spatial}d", self.shape, spatial)
    windows = pooling_windows(self.shape, spatial, kernel_size, stride, padding, 1, ceil_mode)
    return _pooled(self, windows, _divisor(count_include_pad, divisor_override))


@reference("aten::avg_pool1d")
def avg_pool1d(
    self: RefTensor, kernel_size: Ints, stride: Ints = (), padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> RefTensor:  # fmt: skip
    """The mean of each window of (C, L) or (N, C, L), over its extent, or without count_include_pad its elements."""
    return _average(1, self, kernel_size, stride, padding, ceil_mode, count_include_pad)


@reference("aten::avg_pool2d")
def avg_pool2d(
    self: RefTensor, kernel_size: Ints, stride: Ints = (), padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> RefTensor:  # fmt: skip
    """The mean of each window of (C, H, W) or (N, C, H, W): the exact sum over the divisor, rounded once.

    int64 truncates the quotient. The divisor is divisor_override if given; else the extent of the window, less what
    ceil_mode lets reach beyond the padding; without count_include_pad the number of its input elements.
    """
    return _average(2, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@reference("aten::avg_pool3d")
def avg_pool3d(
    self: RefTensor, kernel_size: Ints, stride: Ints = (), padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> RefTensor:  # fmt: skip
    """avg_pool2d with three dims: (C, D, H, W) or (N, C, D, H, W)."""
    return _average(3, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _spread(grad_output: RefTensor, shape: Shape, windows: list[list[Window]], divisor: Divisor) -> RefTensor:
    """The gradient of `_pooled`: each element the sum of grad / divisor over the windows that hold it, rounded once."""
    sizes = shape[-len(windows) :]
    each = joined(windows, sizes)
    if grad_output.shape != (*shape[: -len(windows)], *map(len, windows)):
        raise ValueError(f"grad_output is of the shape of the pooled tensor, found {grad_output.shape}")
    data = []
    for grads in planes(grad_output, len(each)) if each else [[]] * prod(shape[: -len(windows)]):
        terms: list[list[Term]] = [[] for _ in range(prod(sizes))]
        for window, grad in zip(each, grads, strict=True):
            for i in window[0]:
                terms[i].append((Fraction(1, divisor(window)), grad))
        data += [weighted_sum(grad_output.dtype, own) for own in terms]
    return RefTensor(grad_output.dtype, shape, data)


def _average_backward(spatial: int) -> None:
    op = f"avg_pool{spatial}d_backward"

    @reference(f"aten::{op}")
    def backward(
        grad_output: RefTensor, self: RefTensor, kernel_size: Ints, stride: Ints, padding: Ints, ceil_mode: bool,
        count_include_pad: bool, divisor_override: int | None,
    ) -> RefTensor:  # fmt: skip
        """The gradient of the op without _backward with respect to self, of which the shape counts."""
        if category(self.dtype) < FLOAT and self.dtype == grad_output.dtype == "int64":
            raise NotImplementedError(f"the reference of {op} covers floats only")
        check_floats(op, grad_output, self)
        check_planes(op, self.shape, spatial)
        windows = pooling_windows(self.shape, spatial, kernel_size, stride, padding, 1, ceil_mode)
        return _spread(grad_output, self.shape, windows, _divisor(count_include_pad, divisor_override))


_average_backward(2)
_average_backward(3)


def _adaptive(spatial: int, self: RefTensor, output_size: Ints) -> RefTensor:
    op = f"adaptive_avg_pool{spatial}d"
    check_floats(op, self)
    check_planes(op, self.shape, spatial)
    counts = [output_size] if isinstance(output_size, int) else list(output_size)
    if len(counts) != spatial:
        raise ValueError(f"{op} takes {spatial} output sizes, found {counts}")
    windows = [adaptive_windows(*pair) for pair in zip(self.shape[-spatial:], counts, strict=True)]
    return _pooled(self, windows, lambda window: window[1])


@reference("aten::adaptive_avg_pool1d")
def adaptive_avg_pool1d(self: RefTensor, output_size: Ints) -> RefTensor:
    """The means of output_size windows that cover (C, L) or (N, C, L): from floor(i L / n) to ceil((i + 1) L / n)."""
    return _adaptive(1, self, output_size)


@reference("aten::_adaptive_avg_pool2d", "aten::adaptive_avg_pool2d")
def adaptive_avg_pool2d(self: RefTensor, output_size: Ints) -> RefTensor:
    """adaptive_avg_pool1d with two dims: (C, H, W) or (N, C, H, W)."""
    return _adaptive(2, self, output_size)


@reference("aten::_adaptive_avg_pool3d", "aten::adaptive_avg_pool3d")
def adaptive_avg_pool3d(self: RefTensor, output_size: Ints) -> RefTensor:
    """adaptive_avg_pool1d with three dims: (C, D, H, W) or (N, C, D, H, W)."""
    return _adaptive(3, self, output_size)


def _adaptive_backward(spatial: int) -> None:
    op = f"_adaptive_avg_pool{spatial}d_backward"

    @reference(f"aten::{op}")
    def backward(grad_output: RefTensor, self: RefTensor) -> RefTensor:
        """The gradient of the op without _backward with respect to self, of which the shape counts."""
        check_floats(op, grad_output, self)
        check_planes(op, self.shape, spatial)
        if len(grad_output.shape) != len(self.shape) or 0 in grad_output.shape[1:]:
            raise ValueError(f"grad_output {grad_output.shape} is no pooled tensor of shape {self.shape}")
        sizes = zip(self.shape[-spatial:], grad_output.shape[-spatial:], strict=True)
        windows = [adaptive_windows(*pair) for pair in sizes]
        return _spread(grad_output, self.shape, windows, lambda window: window[1])


_adaptive_backward(2)
_adaptive_backward(3)
