"""Gradients of convolutions: what convolution_backward gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conform.interp.gradients.rules import gradient
from conform.interp.program.apply import apply
from conform.interp.program.number import Number


def _backward(
    g: Number, input: Number, weight: Number, bias: Number | None, *, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int, transposed: bool = False, output_padding: Sequence[int] | None = None,
) -> Any:  # fmt: skip
    dims = weight.ndim - 2
    batched = input.ndim == weight.ndim
    given = [one if batched else one.moved(lambda part: part[None]) for one in (g, input)]
    each = [_of_every_dim(one, dims) for one in (stride, padding, dilation)]
    sizes = None if bias is None else [*bias.shape]
    found = apply(
        "aten::convolution_backward", *given, weight, sizes, *each, transposed,
        _of_every_dim(output_padding or [0], dims), groups, [True, True, bias is not None],
    )  # fmt: skip
    of_input = found[0] if batched else found[0].moved(lambda part: part[0])
    return of_input, found[1], None if bias is None else found[2]


def _of_every_dim(values: Sequence[int] | int, dims: int) -> list[int]:
    listed = [values] if isinstance(values, int) else [*values]
    return listed * dims if len(listed) == 1 else listed


@gradient("aten::convolution", of=("input", "weight", "bias"))
def convolution(
    g: Number, input: Number, weight: Number, bias: Number | None, stride: Any, padding: Any, dilation: Any,
    transposed: bool, output_padding: Any, groups: int,
) -> Any:  # fmt: skip
    """convolution_backward of g, input and weight"""
    return _backward(
        g, input, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups,
        transposed=transposed, output_padding=output_padding if transposed else None,
    )  # fmt: skip


@gradient("aten::conv1d", "aten::conv2d", "aten::conv3d", of=("input", "weight", "bias"))
def conv(
    g: Number, input: Number, weight: Number, bias: Number | None, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """convolution_backward of g, input and weight"""
    return _backward(
        g, input, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups
    )  # fmt: skip


@gradient("aten::conv1d.padding", "aten::conv2d.padding", "aten::conv3d.padding", of=("input", "weight", "bias"))
def conv_padded(
    g: Number, input: Number, weight: Number, bias: Number | None, stride: Any, padding: str, dilation: Any, groups: int
) -> Any:
    """convolution_backward of g, the padded input and weight, without the padding"""
    dims = weight.ndim - 2
    reach = [d * (k - 1) for d, k in zip(_of_every_dim(dilation, dims), weight.shape[2:], strict=True)]
    ends = [(size // 2, size - size // 2) if padding == "same" else (0, 0) for size in reach]
    widths = [(0, 0)] * (input.ndim - dims) + ends
    wide = input.moved(lambda part: np.pad(part, widths))
    of_wide, *others = _backward(
        g, wide, weight, bias, stride=stride, padding=[0], dilation=dilation, groups=groups
    )  # fmt: skip
    inner = tuple(slice(low, low + size) for (low, _), size in zip(widths, input.shape, strict=True))
    return of_wide.moved(lambda part: part[inner]), *others


@gradient(
    "aten::conv_transpose1d", "aten::conv_transpose2d.input", "aten::conv_transpose3d.input",
    of=("input", "weight", "bias"),
)  # fmt: skip
def conv_transpose(
    g: Number, input: Number, weight: Number, bias: Number | None, stride: Any, padding: Any, output_padding: Any,
    groups: int, dilation: Any,
) -> Any:  # fmt: skip
    """convolution_backward of g, input and weight"""
    return _backward(
        g, input, weight, bias, stride=stride, padding=padding, dilation=dilation, groups=groups, transposed=True,
        output_padding=output_padding,
    )  # fmt: skip
