"""im2col and col2im: the domains of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from conform.domains.engine.arguments import Argument, integers, result, tensor
from conform.domains.engine.constraints import Dtype, Length, Rank, Size, Value
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.spaces import ANYTHING
from conform.domains.engine.vocabulary import NOT_MANY, dtype_of, shaped
from conform.domains.specs import FLOATS, spec
from conform.domains.windows.pooling import pooled_sizes

Numbers = Sequence[int]
CHANNELS = 64  # of images that are generated


def _two(name: str, least: int, *preferred: int) -> Argument:
    return integers(name, Length.Eq(2), Value.Ge(least), Value.Be(preferred))


WINDOWS = (
    _two("kernel_size", 1, 1, 2, 3), _two("dilation", 1, 1, 2), _two("padding", 0, 0, 1), _two("stride", 1, 1, 2),
)  # fmt: skip


def _least(rank: int, d: int, kernel_size: Numbers, dilation: Numbers, padding: Numbers) -> int:
    """0 of batches, 1 of channels, of the others max(1, dilation (kernel_size - 1) + 1 - 2 padding)"""
    if d < rank - 2:
        return 1 if d == rank - 3 else 0
    at = d - rank
    return max(1, dilation[at] * (kernel_size[at] - 1) + 1 - 2 * padding[at])


def _columns(
    self: MetaArgument, kernel_size: Numbers, dilation: Numbers, padding: Numbers, stride: Numbers
) -> tuple[int, ...]:
    windows = pooled_sizes(self.shape[-2:], kernel_size, stride, padding, dilation, ceil_mode=False)
    return (*self.shape[:-3], self.size(-3) * prod(kernel_size), prod(windows))


spec(
    "aten::im2col",
    tensor("self", Dtype.In(FLOATS).unjudged("torch takes bools and complex numbers"), Rank.In((3, 4)),
           Size.Ge(_least)),
    *WINDOWS,
    result(dtype_of("self"), shaped(_columns)),
)  # fmt: skip


def _least_size(i: int, kernel_size: Numbers, dilation: Numbers, padding: Numbers) -> int:
    """max(1, dilation (kernel_size - 1) + 1 - 2 padding)"""
    return max(1, dilation[i] * (kernel_size[i] - 1) + 1 - 2 * padding[i])


def _sizes_of_columns(
    rank: int, d: int, output_size: Numbers, kernel_size: Numbers, dilation: Numbers, padding: Numbers, stride: Numbers
) -> object:
    """of batches any; channels times taps; as many columns as there are windows"""
    if d == rank - 1:
        return (prod(pooled_sizes(output_size, kernel_size, stride, padding, dilation, ceil_mode=False)),)
    taps = max(prod(kernel_size), 1)
    return tuple(range(taps, (CHANNELS + 1) * taps, taps)) if d == rank - 2 else ANYTHING


def _of_many_channels(
    self: MetaArgument, output_size: Numbers, kernel_size: Numbers, dilation: Numbers, padding: Numbers, stride: Numbers
) -> bool:
    """Whether the columns are those of an image, of however many channels."""
    taps, numbers = prod(kernel_size), (output_size, kernel_size, stride, padding, dilation)
    if self.rank not in (2, 3) or taps < 1 or min(stride) < 1:
        return False
    return self.size(-2) % taps == 0 < self.size(-2) and self.size(-1) == prod(pooled_sizes(*numbers, ceil_mode=False))


spec(
    "aten::col2im",
    tensor("self", Dtype.In(FLOATS).unjudged("torch takes bools and complex numbers"), Rank.In((2, 3)),
           Size.In(_sizes_of_columns).lenient(NOT_MANY, _of_many_channels)),
    integers("output_size", Length.Eq(2), Value.Ge(_least_size), Value.Be((4, 5, 7))),
    *WINDOWS,
    result(
        dtype_of("self"),
        shaped(lambda self, output_size, kernel_size: (
            *self.shape[:-2], self.size(-2) // prod(kernel_size), *output_size)),
    ),
)  # fmt: skip
