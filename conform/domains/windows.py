"""Ops over sliding windows: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Sequence

from conform.domains.engine.arguments import boolean, integer, integers, optional, result, tensor
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.vocabulary import dtype_of, shaped
from conform.domains.specs import FLOATS, spec


def _pair(values: Sequence[int]) -> tuple[int, int]:
    """The values for rows and columns, of which one may stand for both."""
    return (values[0], values[min(1, len(values) - 1)])


def _half(kernel_size: Sequence[int], i: int, length: int) -> int:
    """kernel_size[i] // 2, of both if padding is one number"""
    halves = [size // 2 for size in _pair(kernel_size)]
    return min(halves) if length == 1 else halves[min(i, 1)]


def _smallest(
    rank: int, d: int, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], ceil_mode: bool
) -> int:
    """0 of batches, 1 of channels, max(1, kernel_size - 2 padding (- stride + 1 with ceil_mode)) of rows and columns"""
    if d < rank - 2:
        return 1 if d == rank - 3 else 0
    kernel, step, pad = (_pair(values)[d - rank] for values in (kernel_size, stride or kernel_size, padding))
    return max(1, kernel - 2 * pad - (step - 1 if ceil_mode else 0))


def _pooled(
    self: MetaArgument, kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int], ceil_mode: bool
) -> tuple[int, ...]:
    rows_and_columns = zip(
        self.shape[-2:], *(_pair(values) for values in (kernel_size, stride or kernel_size, padding)), strict=True
    )
    return (*self.shape[:-2], *[_windows(*each, ceil_mode) for each in rows_and_columns])


def _windows(size: int, kernel: int, step: int, pad: int, ceil_mode: bool) -> int:
    """How many windows there are (torch.nn.AvgPool2d: those of ceil_mode start inside the input or left padding)."""
    count = (size + 2 * pad - kernel + (step - 1 if ceil_mode else 0)) // step + 1
    return count - 1 if ceil_mode and (count - 1) * step >= size + pad else count


spec(
    "aten::avg_pool2d",
    tensor("self", Dtype.In(("int64", *FLOATS)), Rank.In((3, 4)), Size.Ge(_smallest)),
    integers("kernel_size", Length.In((1, 2)), Value.Ge(1), Value.Be((1, 2, 3))),
    integers("stride", Length.In((0, 1, 2)), Value.Ge(1), Value.Be((1, 2, 3))),
    integers("padding", Length.In((1, 2)), Value.Ge(0), Value.Le(_half)),
    boolean("ceil_mode"),
    boolean("count_include_pad"),
    optional(integer("divisor_override", Value.Ne(0))),
    result(dtype_of("self"), shaped(_pooled)),
)
