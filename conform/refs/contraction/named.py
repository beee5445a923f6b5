"""Products of matrices and convolutions by other names."""

from __future__ import annotations

import itertools

from conform.refs.contraction.convolution import convolution
from conform.refs.contraction.products import Elements, dot, one_dtype, round_total
from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.tensor import RefTensor, broadcast_shapes, expand, lines, strides_of, wrap_dim, wrap_dims
from conform.refs.references import reference


@reference("aten::linalg_vecdot")
def linalg_vecdot(x: RefTensor, y: RefTensor, dim: int = -1) -> RefTensor:
    """The sum over dim of x y, of the same shape but for dims of size 1."""
    dtype = one_dtype("linalg_vecdot", x, y)
    if category(dtype) != FLOAT or not x.shape:
        raise ValueError(f"linalg_vecdot is of vectors of floats, found {dtype} of shape {x.shape}")
    axis = wrap_dim(dim, len(x.shape))
    if len(y.shape) != len(x.shape) or y.shape[axis] != x.shape[axis]:
        raise NotImplementedError(f"vectors in {x.shape} and {y.shape} along {dim}")
    shape = broadcast_shapes(x.shape, y.shape)
    left, right = (Elements(RefTensor(dtype, shape, expand(one.data, one.shape, shape))) for one in (x, y))
    data = [round_total(dtype, dot(left.at(line), right.at(line))) for line in lines(shape, axis)]
    return RefTensor(dtype, shape[:axis] + shape[axis + 1 :], data)


@reference("aten::tensordot")
def tensordot(self: RefTensor, other: RefTensor, dims_self: list[int], dims_other: list[int]) -> RefTensor:
    """result[i, j] = sum over k of self[i, k] other[k, j], i, j and k of several dims."""
    dtype = one_dtype("tensordot", self, other)
    mine, its = wrap_dims(dims_self, len(self.shape)), wrap_dims(dims_other, len(other.shape))
    if (dims_self and not self.shape) or (dims_other and not other.shape):
        raise ValueError("a 0-d tensor has no dim to add up along")
    if [self.shape[d] for d in mine] != [other.shape[d] for d in its]:
        raise ValueError(f"tensordot over dims of sizes {self.shape}[{mine}] and {other.shape}[{its}]")
    rows = [d for d in range(len(self.shape)) if d not in mine]
    columns = [d for d in range(len(other.shape)) if d not in its]
    left, right = Elements(self), Elements(other)
    left_vectors = [left.at(_summed(self, rows, index, mine)) for index in _all(self, rows)]
    right_vectors = [right.at(_summed(other, columns, index, its)) for index in _all(other, columns)]
    data = [round_total(dtype, dot(a, b)) for a in left_vectors for b in right_vectors]
    return RefTensor(dtype, (*(self.shape[d] for d in rows), *(other.shape[d] for d in columns)), data)


def _all(tensor: RefTensor, dims: list[int]) -> list[tuple[int, ...]]:
    return list(itertools.product(*(range(tensor.shape[d]) for d in dims)))


def _summed(tensor: RefTensor, kept: list[int], index: tuple[int, ...], summed: list[int]) -> list[int]:
    """The positions of all elements with this index of the dims that are kept, in the order of the others."""
    strides = strides_of(tensor.shape)
    start = sum(i * strides[d] for d, i in zip(kept, index, strict=True))
    return [start + sum(i * strides[d] for d, i in zip(summed, k, strict=True)) for k in _all(tensor, summed)]


@reference("aten::_convolution", "aten::_convolution.deprecated")
def convolution_of_library(
    input: RefTensor,
    weight: RefTensor,
    bias: RefTensor | None,
    stride: list[int],
    padding: list[int],
    dilation: list[int],
    transposed: bool,
    output_padding: list[int],
    groups: int,
    benchmark: bool,
    deterministic: bool,
    cudnn_enabled: bool,
    allow_tf32: bool = False,
) -> RefTensor:
    """The convolution, by whichever algorithm."""
    if allow_tf32:
        raise NotImplementedError("a convolution that may round its operands to TF32")
    return convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)
