"""Convolution of one to three dims, forward and transposed."""

from __future__ import annotations

from itertools import product
from math import prod

from conform.refs.contraction.products import Elements, Vector, dot, one_dtype, round_total
from conform.refs.exact.reals import add_exact, exact
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, one_per_dim, strides_of
from conform.refs.references import reference


@reference("aten::convolution")
def convolution(
    input: RefTensor,
    weight: RefTensor,
    bias: RefTensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
) -> RefTensor:
    """torch.nn.Conv{1,2,3}d and ConvTranspose{1,2,3}d: input (N, C_in, *), cross-correlated with the weight.

    The weight is (C_out, C_in / groups, *) or, transposed, (C_in, C_out / groups, *). A window in which an infinite or
    NaN weight meets padding, or transposed no input, is UNSPECIFIED (P39).
    """
    dtype = one_dtype("convolution", input, weight, *([bias] if bias else []))
    spatial = len(input.shape) - 2
    if spatial not in (1, 2, 3) or len(weight.shape) != len(input.shape):
        raise ValueError(f"convolution of input {input.shape} with weight {weight.shape}")
    if 0 in (*input.shape[2:], *weight.shape):
        raise ValueError(f"convolution of input {input.shape} with weight {weight.shape}, of which one is empty")
    stride, padding, dilation, output_padding = (
        one_per_dim(values, spatial, name)
        for values, name in (
            (stride, "stride"),
            (padding, "padding"),
            (dilation, "dilation"),
            (output_padding, "output_padding"),
        )
    )
    if min(stride) < 1 or min(padding) < 0 or min(dilation) < 1 or min(output_padding) < 0:
        raise ValueError(f"stride {stride}, padding {padding}, dilation {dilation}, output_padding {output_padding}")
    if transposed and any(p >= max(s, d) for p, s, d in zip(output_padding, stride, dilation, strict=True)):
        raise ValueError(f"output_padding {output_padding} must be below stride {stride} or dilation {dilation}")
    out_channels = _output_channels(input, weight, bias, transposed, groups)
    windows_of = _transposed_windows if transposed else _forward_windows
    windows = [
        windows_of(input.shape[d + 2], weight.shape[d + 2], stride[d], padding[d], dilation[d], output_padding[d])
        for d in range(spatial)
    ]
    return _correlate(
        dtype, input, bias=bias, kernels=_kernels(weight, out_channels, transposed, groups), groups=groups,
        windows=windows,
    )  # fmt: skip


def _output_channels(input: RefTensor, weight: RefTensor, bias: RefTensor | None, transposed: bool, groups: int) -> int:
    """The number of output channels, after checking that the channels of all operands agree."""
    in_channels, (first, second) = input.shape[1], weight.shape[:2]
    expected_in = first if transposed else second * groups
    out_channels = second * groups if transposed else first
    if groups < 1 or in_channels != expected_in or in_channels % groups or out_channels % groups:
        raise ValueError(f"input {input.shape} and weight {weight.shape} do not make {groups} groups")
    if bias is not None and bias.shape != (out_channels,):
        raise ValueError(f"bias {bias.shape} is not one value for each of {out_channels} output channels")
    return out_channels


Window = list[int | None]  # for each kernel index the input index that it is multiplied by, or None


def _forward_windows(
    size: int, kernel: int, stride: int, padding: int, dilation: int, _output_padding: int
) -> list[Window]:
    """out[o] = sum over k of in[o * stride - padding + k * dilation] * w[k]; None is an index in the padding."""
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    if reach < 0:
        raise ValueError(f"a kernel of {kernel} (dilation {dilation}) is wider than {size} padded by {padding}")
    windows: list[Window] = []
    for start in range(-padding, reach - padding + 1, stride):
        indices = range(start, start + kernel * dilation, dilation)
        windows.append([i if 0 <= i < size else None for i in indices])
    return windows


def _transposed_windows(
    size: int, kernel: int, stride: int, padding: int, dilation: int, output_padding: int
) -> list[Window]:
    """out[i * stride - padding + k * dilation] += in[i] * w[k], the gradient of the forward op; None: no such i."""
    out_size = (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1
    if out_size < 1:
        raise ValueError(f"the output of a transposed convolution would have size {out_size}")
    windows: list[Window] = [[None] * kernel for _ in range(out_size)]
    for i, k in product(range(size), range(kernel)):
        o = i * stride - padding + k * dilation
        if 0 <= o < out_size:
            windows[o][k] = i
    return windows


def _correlate(
    dtype: str,
    input: RefTensor,
    bias: RefTensor | None,
    kernels: list[Vector],
    groups: int,
    windows: list[list[Window]],
) -> RefTensor:
    """Sum input * weight over the input channels of the output channel's group and over the kernel."""
    elements, batch, in_channels = Elements(input), *input.shape[:2]
    in_group, out_group, volume = in_channels // groups, len(kernels) // groups, prod(input.shape[2:])
    flat_windows = [_flat_window(each, input.shape[2:]) for each in product(*windows)]
    data = []
    for n, group in product(range(batch), range(groups)):
        starts = [(n * in_channels + group * in_group + c) * volume for c in range(in_group)]
        patches = [
            elements.at(None if i is None else start + i for start in starts for i in window) for window in flat_windows
        ]
        for out_channel in range(group * out_group, (group + 1) * out_group):
            added = exact(bias.data[out_channel]) if bias else (0, 0)
            for patch in patches:
                if _special_meets_padding(patch, kernels[out_channel]):
                    data.append(UNSPECIFIED)  # P39
                else:
                    data.append(round_total(dtype, add_exact(dot(patch, kernels[out_channel]), added)))
    return RefTensor(dtype, (batch, len(kernels), *map(len, windows)), data)


def _kernels(weight: RefTensor, out_channels: int, transposed: bool, groups: int) -> list[Vector]:
    """For each output channel its weights, over the input channels of its group and the kernel's dims."""
    elements, volume = Elements(weight), prod(weight.shape[2:])
    in_group = weight.shape[0] // groups if transposed else weight.shape[1]
    kernels = []
    for out_channel in range(out_channels):
        group, within = divmod(out_channel, out_channels // groups)
        if transposed:
            blocks = [(group * in_group + c) * weight.shape[1] + within for c in range(in_group)]
        else:
            blocks = [out_channel * in_group + c for c in range(in_group)]
        kernels.append(elements.at(block * volume + k for block in blocks for k in range(volume)))
    return kernels


def _special_meets_padding(patch: Vector, kernel: Vector) -> bool:
    """Whether an infinite or NaN weight is multiplied by padding, or by nothing."""
    return any(patch.values[i] is None for i in kernel.special)


def _flat_window(window: tuple[Window, ...], input_sizes: Shape) -> Window:
    """The windows of one output index, one a spatial dim, as one on the flattened kernel and input."""
    strides = strides_of(input_sizes)
    return [
        None if None in indices else sum(i * stride for i, stride in zip(indices, strides, strict=True))
        for indices in product(*window)
    ]
