"""Ops that sum products: each output element is an exact sum, rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import isfinite, prod

from conform.refs.promotion import COMPLEX, INTEGER, Scalar, category
from conform.refs.reals import (
    Exact,
    add_exact,
    dot_exact,
    exact,
    multiply_exact,
    round_exact,
    scale_to_integers,
)
from conform.refs.registry import reference
from conform.refs.rounding import wrap_integer
from conform.refs.tensor import RefTensor, Shape, expand, one_per_dim, strides_of


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


class _Factors:
    """The elements of a tensor, ready to be multiplied: also as integers of one exponent if all are finite."""

    def __init__(self, tensor: RefTensor) -> None:
        self.values = tensor.data
        self.finite = all(map(isfinite, tensor.data))
        self.integers, self.exponent = scale_to_integers(tensor.data) if self.finite else ([], 0)


def _dot(lhs: _Factors, lhs_at: Sequence[int | None], rhs: _Factors, rhs_at: Sequence[int]) -> Exact:
    """The sum of lhs[lhs_at[i]] * rhs[rhs_at[i]]; a position None stands for a padded 0."""
    if lhs.finite and rhs.finite:
        a, b = lhs.integers, rhs.integers
        return sum(a[i] * b[j] for i, j in zip(lhs_at, rhs_at, strict=True) if i is not None), (
            lhs.exponent + rhs.exponent
        )
    factors = [0 if i is None else lhs.values[i] for i in lhs_at]
    return dot_exact(factors, [rhs.values[j] for j in rhs_at])


def _matrix_product(mat1: RefTensor, mat2: RefTensor) -> tuple[Shape, list[Exact]]:
    if len(mat1.shape) != 2 or len(mat2.shape) != 2 or mat1.shape[1] != mat2.shape[0]:
        raise ValueError(f"matrices of shapes {mat1.shape} and {mat2.shape} have no product")
    (rows, inner), columns = mat1.shape, mat2.shape[1]
    lhs, rhs = _Factors(mat1), _Factors(mat2)
    row_positions = [range(i * inner, (i + 1) * inner) for i in range(rows)]
    column_positions = [[k * columns + j for k in range(inner)] for j in range(columns)]
    totals = [_dot(lhs, row, rhs, column) for row in row_positions for column in column_positions]
    return (rows, columns), totals


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
    if category(dtype) == INTEGER and (isinstance(beta, float) or isinstance(alpha, float)):
        raise ValueError(f"beta and alpha must be integers for {dtype}; found {beta!r} and {alpha!r}")
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

    The weight is (C_out, C_in / groups, *) or, transposed, (C_in, C_out / groups, *). Padded zeros are multiplied like
    any other element, so a non-finite weight there gives NaN.
    """
    dtype = _check_dtypes("convolution", input, weight, *([bias] if bias else []))
    spatial = len(input.shape) - 2
    if spatial not in (1, 2, 3) or len(weight.shape) != len(input.shape):
        raise ValueError(f"convolution of input {input.shape} with weight {weight.shape}")
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
    taps_of = _transposed_taps if transposed else _forward_taps
    taps = [
        taps_of(input.shape[d + 2], weight.shape[d + 2], stride[d], padding[d], dilation[d], output_padding[d])
        for d in range(spatial)
    ]
    return _correlate(dtype, input, weight, bias, out_channels, transposed, groups, taps)


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


Taps = list[list[tuple[int, int | None]]]  # for each output index: (kernel index, input index or None in the padding)


def _forward_taps(size: int, kernel: int, stride: int, padding: int, dilation: int, _output_padding: int) -> Taps:
    """out[o] = sum over k of in[o * stride - padding + k * dilation] * w[k]."""
    reach = size + 2 * padding - dilation * (kernel - 1) - 1
    if reach < 0:
        raise ValueError(f"a kernel of {kernel} (dilation {dilation}) is wider than {size} padded by {padding}")
    taps = []
    for o in range(reach // stride + 1):
        at = [(k, o * stride - padding + k * dilation) for k in range(kernel)]
        taps.append([(k, i if 0 <= i < size else None) for k, i in at])
    return taps


def _transposed_taps(size: int, kernel: int, stride: int, padding: int, dilation: int, output_padding: int) -> Taps:
    """out[i * stride - padding + k * dilation] += in[i] * w[k], the gradient of the forward op."""
    out_size = (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1
    if out_size < 1:
        raise ValueError(f"the output of a transposed convolution would have size {out_size}")
    taps: Taps = [[] for _ in range(out_size)]
    for i, k in product(range(size), range(kernel)):
        o = i * stride - padding + k * dilation
        if 0 <= o < out_size:
            taps[o].append((k, i))
    return taps


def _correlate(
    dtype: str,
    input: RefTensor,
    weight: RefTensor,
    bias: RefTensor | None,
    out_channels: int,
    transposed: bool,
    groups: int,
    taps: list[Taps],
) -> RefTensor:
    """Sum input * weight over the input channels of the output channel's group and over the taps."""
    factors, weights = _Factors(input), _Factors(weight)
    batch, in_channels = input.shape[:2]
    in_group, out_group = in_channels // groups, out_channels // groups
    volume, kernel_volume = prod(input.shape[2:]), prod(weight.shape[2:])
    spatial_taps = [_flat_taps(each, input.shape[2:], weight.shape[2:]) for each in product(*taps)]
    data = []
    for n, out_channel in product(range(batch), range(out_channels)):
        group, within = divmod(out_channel, out_group)
        sources = [(n * in_channels + group * in_group + c) * volume for c in range(in_group)]
        if transposed:
            kernels = [((group * in_group + c) * out_group + within) * kernel_volume for c in range(in_group)]
        else:
            kernels = [(out_channel * in_group + c) * kernel_volume for c in range(in_group)]
        for each in spatial_taps:
            pairs = [
                (None if i is None else source + i, kernel + k)
                for source, kernel in zip(sources, kernels, strict=True)
                for k, i in each
            ]
            total = _dot(factors, [i for i, _ in pairs], weights, [k for _, k in pairs])
            if bias is not None:
                total = add_exact(total, exact(bias.data[out_channel]))
            data.append(_round_total(dtype, total))
    return RefTensor(dtype, (batch, out_channels, *map(len, taps)), data)


def _flat_taps(taps: Taps, input_sizes: Shape, kernel_sizes: Shape) -> list[tuple[int, int | None]]:
    """The taps of one output index, one list a spatial dim, as taps on the flattened kernel and input."""
    input_strides, kernel_strides = strides_of(input_sizes), strides_of(kernel_sizes)
    flat = []
    for each in product(*taps):
        k = sum(k * stride for (k, _), stride in zip(each, kernel_strides, strict=True))
        padded = any(i is None for _, i in each)
        flat.append((k, None if padded else sum(i * s for (_, i), s in zip(each, input_strides, strict=True))))
    return flat
