"""What windows over lines are composed of: those over images of one row. And transposed convolutions by their names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conform.interp.program.apply import apply
from conform.interp.program.number import Number
from conform.interp.program.rules import composition, unbounded_where
from conform.interp.program.windows.places import each


@composition("aten::avg_pool1d")
def avg_pool1d(
    self: Number, kernel_size: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
    ceil_mode: bool = False, count_include_pad: bool = True,
) -> Number:  # fmt: skip
    pooled = apply(
        "aten::avg_pool2d", self.unsqueeze(-2), [1, *kernel_size], [1, *(stride or kernel_size)], [0, *padding],
        ceil_mode, count_include_pad,
    )  # fmt: skip
    return pooled.squeeze(-2)


@composition("aten::max_pool1d")
def max_pool1d(
    self: Number, kernel_size: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,), ceil_mode: bool = False,
) -> Number:  # fmt: skip
    pooled = apply(
        "aten::max_pool2d", self.unsqueeze(-2), [1, *kernel_size], [1, *(stride or kernel_size)], [0, *padding],
        [1, *dilation], ceil_mode,
    )  # fmt: skip
    return pooled.squeeze(-2)


@composition("aten::adaptive_avg_pool1d")
def adaptive_avg_pool1d(self: Number, output_size: Sequence[int]) -> Number:
    return apply("aten::_adaptive_avg_pool2d", self.unsqueeze(-2), [1, *output_size]).squeeze(-2)


@composition("aten::conv1d.padding", "aten::conv2d.padding", "aten::conv3d.padding")
def padded_convolution(
    input: Number, weight: Number, bias: Number | None = None, stride: Sequence[int] = (1,), padding: str = "valid",
    dilation: Sequence[int] = (1,), groups: int = 1,
) -> Number:  # fmt: skip
    """Without padding, or with so much that the result is as long as the input, of which the end has the odd one."""
    rank = weight.ndim - 2
    totals = [step * (size - 1) for step, size in zip(each(dilation, rank), weight.shape[2:], strict=True)]
    around = [side for total in reversed(totals) for side in (total // 2, total - total // 2)]
    padded = apply("aten::constant_pad_nd", input, around) if padding == "same" else input
    plain = f"aten::conv{rank}d"
    result = apply(plain, padded, weight, bias, list(stride), [0] * rank, list(dilation), groups)
    return unbounded_where(np.isnan(result.real.hi), result)  # infinite weights beside the padding (P35)


@composition("aten::conv_transpose1d", "aten::conv_transpose2d.input", "aten::conv_transpose3d.input")
def conv_transpose(
    input: Number, weight: Number, bias: Number | None = None, stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,), output_padding: Sequence[int] = (0,), groups: int = 1,
    dilation: Sequence[int] = (1,),
) -> Number:  # fmt: skip
    is_one = input.ndim < weight.ndim
    result = apply(
        "aten::convolution", input[None] if is_one else input, weight, bias, list(stride), list(padding),
        list(dilation), True, list(output_padding), groups,
    )  # fmt: skip
    return result[0] if is_one else result
