"""Indices for every dim: gather, and numpy's advanced indexing with tensors and masks, of which index_put writes."""

from __future__ import annotations

from conform.refs.exact.promotion import BOOL, COMPLEX, INTEGER, category
from conform.refs.exact.reals import round_exact, sum_exact
from conform.refs.exact.rounding import wrap_integer
from conform.refs.exact.tensor import (
    UNSPECIFIED,
    RefTensor,
    Shape,
    broadcast_shapes,
    expand,
    positions,
    strides_of,
    wrap_dim,
)
from conform.refs.references import reference


@reference("aten::gather")
def gather(self: RefTensor, dim: int, index: RefTensor, sparse_grad: bool = False) -> RefTensor:
    """result[..., i, ...] = self[..., index[..., i, ...], ...]; a 0-d tensor counts as shape (1,)."""
    dim = wrap_dim(dim, len(self.shape))
    source_shape, shape = self.shape or (1,), index.shape or (1,)
    if index.dtype not in ("int64", "int32"):
        raise ValueError(f"gather needs an index of int64 or int32, found {index.dtype}")
    if not index.data:
        return RefTensor(self.dtype, index.shape, [])
    fits = [d == dim or size <= limit for d, (size, limit) in enumerate(zip(shape, source_shape, strict=False))]
    if len(shape) != len(source_shape) or not all(fits):
        raise ValueError(f"index shape {index.shape} does not fit self of shape {self.shape} along dim {dim}")
    strides = list(strides_of(source_shape))
    along, strides[dim] = strides[dim], 0
    starts = positions(shape, strides)
    for i in index.data:
        if not 0 <= i < source_shape[dim]:
            raise ValueError(f"index {i} is outside dim {dim} of size {source_shape[dim]}")
    data = [self.data[start + i * along] for start, i in zip(starts, index.data, strict=True)]
    return RefTensor(self.dtype, index.shape, data)


@reference("aten::index.Tensor")
def index_(self: RefTensor, indices: list[RefTensor | None]) -> RefTensor:
    """self[indices], numpy's advanced indexing: the dims of separated index tensors come first."""
    shape, sources = _indexed(self.shape, _without_masks(indices, self.shape))
    return RefTensor(self.dtype, shape, [self.data[position] for position in sources])


@reference("aten::index_put")
def index_put(
    self: RefTensor, indices: list[RefTensor | None], values: RefTensor, accumulate: bool = False
) -> RefTensor:
    """self with `values` written, or added if `accumulate`, at self[indices] (numpy's advanced indexing)."""
    if values.dtype != self.dtype:
        raise ValueError(f"values of {values.dtype} do not go into self of {self.dtype}")
    shape, targets = _indexed(self.shape, _without_masks(indices, self.shape))
    written: dict[int, list] = {}
    for position, value in zip(targets, expand(values.data, values.shape, shape), strict=True):
        written.setdefault(position, []).append(value)
    data = list(self.data)
    for position, new in written.items():
        if accumulate:
            data[position] = accumulated(self.dtype, [data[position], *new])
        else:
            data[position] = new[0] if len(new) == 1 else UNSPECIFIED  # P25
    return RefTensor(self.dtype, self.shape, data)


def accumulated(dtype: str, terms: list) -> bool | int | float:
    """The sum of an element and what is added to it, rounded once; -0 only if every term is -0."""
    kind = category(dtype)
    if kind == COMPLEX:
        raise NotImplementedError("the references accumulate real dtypes only")
    if kind == BOOL:
        return any(terms)
    if kind == INTEGER:
        return wrap_integer(dtype, sum(terms))
    if all(str(term) == "-0.0" for term in terms):
        return -0.0
    return round_exact(dtype, sum_exact(terms))


def _without_masks(indices: list[RefTensor | None], shape: Shape) -> list[RefTensor | None]:
    """Each bool (or uint8) mask replaced by the index tensors of its true elements, one for each of its dims."""
    expanded: list[RefTensor | None] = []
    for index in indices:
        if index is None or index.dtype in ("int64", "int32"):
            expanded.append(index)
            continue
        if index.dtype not in ("bool", "uint8"):
            raise ValueError(f"an index is int64, int32, bool or uint8; found {index.dtype}")
        if not index.shape:
            raise NotImplementedError("the references of indexing take no 0-d mask")
        if index.shape != shape[len(expanded) : len(expanded) + len(index.shape)]:
            raise ValueError(f"mask of shape {index.shape} does not match dims {len(expanded)}... of shape {shape}")
        true = [i for i, value in enumerate(index.data) if value]
        for stride, size in zip(strides_of(index.shape), index.shape, strict=True):
            expanded.append(RefTensor("int64", (len(true),), [i // stride % size for i in true]))
    return expanded


def _indexed(shape: Shape, indices: list[RefTensor | None]) -> tuple[Shape, list[int]]:
    """The shape of self[indices] and the position in self of each of its elements, in row-major order."""
    indexed_dims = [dim for dim, index in enumerate(indices) if index is not None]
    if len(indices) > len(shape) or not indexed_dims:
        raise ValueError(f"{len(indices)} indices ({len(indexed_dims)} of them tensors) into shape {shape}")
    common = broadcast_shapes(*(indices[dim].shape for dim in indexed_dims))
    strides = strides_of(shape)
    chosen = positions(common, [0] * len(common))  # for each index of `common`, the offset that the index tensors give
    for dim in indexed_dims:
        wrapped = [_wrap_index(i, shape[dim]) * strides[dim] for i in indices[dim].data]
        chosen = [a + b for a, b in zip(chosen, expand(wrapped, indices[dim].shape, common), strict=True)]
    adjacent = indexed_dims == list(range(indexed_dims[0], indexed_dims[-1] + 1))
    before = list(range(indexed_dims[0])) if adjacent else []  # else the broadcast dims come first
    after = [dim for dim in range(len(shape)) if dim not in indexed_dims and dim not in before]
    outer = positions([shape[dim] for dim in before], [strides[dim] for dim in before])
    inner = positions([shape[dim] for dim in after], [strides[dim] for dim in after])
    result_shape = tuple(shape[dim] for dim in before) + common + tuple(shape[dim] for dim in after)
    return result_shape, [a + b + c for a in outer for b in chosen for c in inner]


def _wrap_index(index: int, size: int) -> int:
    if not -size <= index < size:
        raise ValueError(f"index {index} is outside a dim of size {size}")
    return index % size
