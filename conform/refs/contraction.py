"""Ops that sum products: each output element is an exact sum, rounded once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from math import isfinite, prod
from operator import mul

from conform.refs.exact.promotion import COMPLEX, INTEGER, Scalar, category, read_factor
from conform.refs.exact.reals import (
    Exact,
    add_exact,
    exact,
    multiply_exact,
    round_exact,
    scale_to_integers,
)
from conform.refs.exact.rounding import wrap_integer
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, expand, one_per_dim, strides_of
from conform.refs.references import reference


def _check_dtypes(op: str, *tensors: RefTensor) -> str:
    """The one dtype of the tensors; ValueError if they differ or it is bool."""
    dtypes = {tensor.dtype for tensor in tensors}
    if len(dtypes) != 1 or "bool" in dtypes:
        raise ValueError(f"{op} needs tensors of one dtype other than bool, found {sorted(dtypes)}")
    dtype = dtypes.pop()
    if category(dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {dtype}")
    return dtype


def _round_total(dtype: str, total: Exact) -> int | float:
    """An exact sum as an element: integers (their exponent is 0) wrap, floats round."""
    if category(dtype) != INTEGER:
        return round_exact(dtype, total)
    m, e = total
    return wrap_integer(dtype, m << e)


@dataclass
class _Vector:
    """Elements to be multiplied by those of another: None where there is none, and the finite ones as integers.

    values[i] = integers[i] * 2^exponent where values[i] is finite, else integers[i] is 0; `special` lists the indices
    of infinities and NaNs.
    """

    values: list[int | float | None]
    integers: list[int]
    exponent: int
    special: list[int]


class _Elements:
    """The elements of a tensor, scaled to integers of one exponent once, however often they are multiplied."""

    def __init__(self, tensor: RefTensor) -> None:
        self.values = tensor.data
        self.integers, self.exponent = scale_to_integers([x if isfinite(x) else 0 for x in tensor.data])

    def at(self, positions: Iterable[int | None]) -> _Vector:
        """The elements at the positions; None stays None."""
        listed = list(positions)
        values = [None if i is None else self.values[i] for i in listed]
        integers = [0 if i is None else self.integers[i] for i in listed]
        special = [index for index, x in enumerate(values) if x is not None and not isfinite(x)]
        return _Vector(values, integers, self.exponent, special)


def _dot(lhs: _Vector, rhs: _Vector) -> Exact:
    """The sum of the products: exact, or what those of infinities and NaNs add up to. Only lhs may lack elements."""
    special = [lhs.values[i] * rhs.values[i] for i in lhs.special + rhs.special if lhs.values[i] is not None]
    if special:
        return sum(special)
    return sum(map(mul, lhs.integers, rhs.integers)), lhs.exponent + rhs.exponent


def _matrix_product(mat1: RefTensor, mat2: RefTensor) -> tuple[Shape, list[Exact]]:
    if len(mat1.shape) != 2 or len(mat2.shape) != 2 or mat1.shape[1] != mat2.shape[0]:
        raise ValueError(f"matrices of shapes {mat1.shape} and {mat2.shape} have no product")
    (rows, inner), columns = mat1.shape, mat2.shape[1]
    lhs, rhs = _Elements(mat1), _Elements(mat2)
    row_vectors = [lhs.at(range(i * inner, (i + 1) * inner)) for i in range(rows)]
    column_vectors = [rhs.at(range(j, inner * columns, columns)) for j in range(columns)]
    return (rows, columns), [_dot(row, column) for row in row_vectors for column in column_vectors]


@reference("aten::mm")
def mm(self: RefTensor, mat2: RefTensor) -> RefTensor:
    """The matrix product of (n, m) and (m, p)."""
    dtype = _check_dtypes("mm", self, mat2)
    shape, totals = _matrix_product(self, mat2)
    return RefTensor(dtype, shape, [_round_total(dtype, total) for total in totals])


@reference("aten::addmm")
def addmm(self: RefTensor, mat1: RefTensor, mat2: RefTensor, beta: Scalar = 1, alpha: Scalar = 1) -> RefTensor:
    """beta * self + alpha * (mat1 @ mat2), self expanded to the product's shape; beta 0 ignores self, NaN or not."""
    dtype = _check_dtypes("addmm", self, mat1, mat2)
    beta, alpha = read_factor("beta", beta, dtype), read_factor("alpha", alpha, dtype)
    shape, totals = _matrix_product(mat1, mat2)
    added = expand(self.data, self.shape, shape)
    data = []
    for total, value in zip(totals, added, strict=True):
        result = multiply_exact(exact(alpha), total)
        if beta != 0:
            result = add_exact(result, multiply_exact(exact(beta), exact(value)))
        data.append(_round_total(dtype, result))
    return RefTensor(dtype, shape, data)


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
    dtype = _check_dtypes("convolution", input, weight, *([bias] if bias else []))
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


def _output_channels(
    input: RefTensor, weight: RefTensor, bias: RefTensor | None, transposed: bool, groups: int
) -> int:
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
    kernels: list[_Vector],
    groups: int,
    windows: list[list[Window]],
) -> RefTensor:
    """Sum input * weight over the input channels of the output channel's group and over the kernel."""
    elements, batch, in_channels = _Elements(input), *input.shape[:2]
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
                    data.append(_round_total(dtype, add_exact(_dot(patch, kernels[out_channel]), added)))
    return RefTensor(dtype, (batch, len(kernels), *map(len, windows)), data)


def _kernels(weight: RefTensor, out_channels: int, transposed: bool, groups: int) -> list[_Vector]:
    """For each output channel its weights, over the input channels of its group and the kernel's dims."""
    elements, volume = _Elements(weight), prod(weight.shape[2:])
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


def _special_meets_padding(patch: _Vector, kernel: _Vector) -> bool:
    """Whether an infinite or NaN weight is multiplied by padding, or by nothing."""
    return any(patch.values[i] is None for i in kernel.special)


def _flat_window(window: tuple[Window, ...], input_sizes: Shape) -> Window:
    """The windows of one output index, one a spatial dim, as one on the flattened kernel and input."""
    strides = strides_of(input_sizes)
    return [
        None if None in indices else sum(i * stride for i, stride in zip(indices, strides, strict=True))
        for indices in product(*window)
    ]
