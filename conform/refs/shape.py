"""Ops that move elements and compute nothing."""

from __future__ import annotations

from conform.refs.exact.promotion import converted, result_type
from conform.refs.exact.tensor import RefTensor, lines, positions, strides_of, wrap_dim, wrap_dims
from conform.refs.references import reference


@reference("aten::cat")
def cat(tensors: list[RefTensor], dim: int = 0) -> RefTensor:
    """The tensors one behind the other along `dim`, in their common dtype; shape (0,) counts for that alone."""
    if not tensors or not all(tensor.shape for tensor in tensors):
        raise ValueError("cat needs at least one tensor, and no 0-d tensor")
    dtype = result_type(tensors)
    joined = [tensor for tensor in tensors if tensor.shape != (0,)]
    if not joined:
        return RefTensor(dtype, (0,), [])
    dim = wrap_dim(dim, len(joined[0].shape))
    rest = [tensor.shape[:dim] + tensor.shape[dim + 1 :] for tensor in joined]
    if any(len(tensor.shape) != len(joined[0].shape) for tensor in joined) or len(set(rest)) != 1:
        raise ValueError(f"shapes {[tensor.shape for tensor in joined]} differ in more than dim {dim}")
    first = joined[0].shape
    shape = (*first[:dim], sum(tensor.shape[dim] for tensor in joined), *first[dim + 1 :])
    data = [None] * (len(lines(shape, dim)) * shape[dim])
    offset = 0
    for tensor in joined:
        values = converted(tensor, dtype)
        for source, target in zip(lines(tensor.shape, dim), lines(shape, dim), strict=True):
            for along, position in enumerate(source):
                data[target[offset + along]] = values[position]
        offset += tensor.shape[dim]
    return RefTensor(dtype, shape, data)


@reference("aten::permute")
def permute(self: RefTensor, dims: list[int]) -> RefTensor:
    """Dim i of the result is dim dims[i] of self."""
    if len(dims) != len(self.shape):
        raise ValueError(f"dims {dims} do not order the {len(self.shape)} dims of self")
    order = wrap_dims(dims, len(self.shape))
    strides = strides_of(self.shape)
    shape = tuple(self.shape[dim] for dim in order)
    return RefTensor(self.dtype, shape, [self.data[i] for i in positions(shape, [strides[dim] for dim in order])])


@reference("aten::slice.Tensor")
def slice_(
    self: RefTensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> RefTensor:
    """Every step-th index of `dim` from start to before end; both count from the end if negative, and are clamped."""
    if not self.shape or step <= 0:
        raise ValueError(f"slice needs a dimensioned tensor and a positive step; found {self.shape} and {step}")
    dim = wrap_dim(dim, len(self.shape))
    size = self.shape[dim]
    first, last = _clamped(start, 0, size), _clamped(end, size, size)
    kept = len(range(first, last, step))
    strides = list(strides_of(self.shape))
    offset = first * strides[dim]
    strides[dim] *= step
    shape = (*self.shape[:dim], kept, *self.shape[dim + 1 :])
    return RefTensor(self.dtype, shape, [self.data[i] for i in positions(shape, strides, offset)])


def _clamped(bound: int | None, default: int, size: int) -> int:
    """A bound of a slice as an index in [0, size]."""
    if bound is None:
        return default
    return min(max(bound + size if bound < 0 else bound, 0), size)
