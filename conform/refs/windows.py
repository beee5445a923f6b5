"""Ops over sliding windows."""

from __future__ import annotations

from itertools import product

from conform.refs.exact.reals import sum_exact
from conform.refs.exact.rounding import FLOAT_FORMATS, round_ratio, wrap_integer
from conform.refs.exact.tensor import RefTensor, one_per_dim
from conform.refs.references import reference

Window = tuple[list[int], int]  # input indices inside the window; its extent, padding included


@reference("aten::avg_pool2d")
def avg_pool2d(
    self: RefTensor,
    kernel_size: list[int],
    stride: list[int] = (),
    padding: list[int] | int = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> RefTensor:
    """The mean of each window of (C, H, W) or (N, C, H, W): the exact sum over the divisor, rounded once.

    int64 truncates the quotient. The divisor is divisor_override if given; else the extent of the window, less what
    ceil_mode lets reach beyond the padding; without count_include_pad the number of its input elements.
    """
    kernel = one_per_dim(kernel_size, 2, "kernel_size")
    step = one_per_dim(stride, 2, "stride") if stride else kernel
    pad = one_per_dim(padding, 2, "padding")
    _check(self, kernel, step, pad, divisor_override)
    height, width = self.shape[-2:]
    rows = _windows(height, kernel[0], step[0], pad[0], ceil_mode)
    columns = _windows(width, kernel[1], step[1], pad[1], ceil_mode)
    windows = [
        ([i * width + j for i, j in product(inside_rows, inside_columns)], row_extent * column_extent)
        for (inside_rows, row_extent), (inside_columns, column_extent) in product(rows, columns)
    ]
    data = []
    for start in range(0, len(self.data), height * width):
        plane = self.data[start : start + height * width]
        for inside, extent in windows:
            divisor = divisor_override or (extent if count_include_pad else len(inside))
            data.append(_mean(self.dtype, [plane[i] for i in inside], divisor))
    return RefTensor(self.dtype, (*self.shape[:-2], len(rows), len(columns)), data)


def _check(self: RefTensor, kernel: list[int], step: list[int], pad: list[int], divisor: int | None) -> None:
    if self.dtype != "int64" and self.dtype not in FLOAT_FORMATS:
        raise ValueError(f"avg_pool2d is not defined for {self.dtype}")
    if len(self.shape) not in (3, 4) or 0 in self.shape[-3:]:
        raise ValueError(f"avg_pool2d needs (C, H, W) or (N, C, H, W) with no size 0 but N's, found {self.shape}")
    if min(kernel) < 1 or min(step) < 1 or divisor == 0:
        raise ValueError(f"kernel {kernel}, stride {step} and divisor {divisor} must not be 0")
    if any(not 0 <= 2 * p <= k for p, k in zip(pad, kernel, strict=True)):
        raise ValueError(f"padding {pad} must be at most half of the kernel {kernel}")


def _windows(size: int, kernel: int, stride: int, padding: int, ceil_mode: bool) -> list[Window]:
    """The windows along one dim; with ceil_mode the last must start inside the input or the left padding."""
    reach = size + 2 * padding - kernel
    count = (-(-reach // stride) if ceil_mode else reach // stride) + 1
    if ceil_mode and (count - 1) * stride >= size + padding:
        count -= 1
    if count < 1:
        raise ValueError(f"no window of {kernel} fits into {size} padded by {padding}")
    windows = []
    for o in range(count):
        start = o * stride - padding
        end = min(start + kernel, size + padding)
        windows.append((list(range(max(start, 0), min(end, size))), end - start))
    return windows


def _mean(dtype: str, values: list, divisor: int) -> int | float:
    if dtype == "int64":
        total = wrap_integer(dtype, sum(values))
        quotient = abs(total) // abs(divisor)
        return quotient if (total < 0) == (divisor < 0) else -quotient
    total = sum_exact(values)
    if isinstance(total, float):
        return total if divisor > 0 else -total
    m, e = total
    return round_ratio(dtype, m << max(e, 0), divisor << max(-e, 0)) if m else 0.0
