"""Elements chosen by an index along one dim, by a position in the whole tensor, or by being true."""

from __future__ import annotations

from conform.refs.exact.promotion import BOOL, category
from conform.refs.exact.tensor import RefTensor, broadcast_shapes, expand, positions, strides_of, wrap_dim
from conform.refs.indexing.advanced import gather
from conform.refs.references import reference

INDEX_DTYPES = ("int64", "int32")


def vector_of_indices(op: str, index: RefTensor, size: int) -> list[int]:
    """The elements of a 0-d or 1-d index into a dim; ValueError for another rank, dtype, or an index outside (P26)."""
    if index.dtype not in INDEX_DTYPES or len(index.shape) > 1:
        raise ValueError(f"{op} needs an index vector of int64 or int32, found {index.dtype} of shape {index.shape}")
    for i in index.data:
        if not 0 <= i < size:
            raise ValueError(f"index {i} is outside a dim of size {size}")
    return index.data


def hyperplane(shape: tuple[int, ...], dim: int, i: int) -> list[int]:
    """The positions of the elements whose index along `dim` is i, in row-major order; a 0-d tensor counts as (1,)."""
    shape = shape or (1,)
    strides = strides_of(shape)
    others = [d for d in range(len(shape)) if d != dim]
    return positions([shape[d] for d in others], [strides[d] for d in others], i * strides[dim])


@reference("aten::index_select")
def index_select(self: RefTensor, dim: int, index: RefTensor) -> RefTensor:
    """result[..., j, ...] = self[..., index[j], ...] along `dim`; a 0-d self counts as shape (1,), and stays 0-d."""
    dim = wrap_dim(dim, len(self.shape))
    chosen = vector_of_indices("index_select", index, (self.shape or (1,))[dim])
    if not self.shape:
        if len(chosen) != 1:
            raise ValueError(f"a 0-d self takes one index, found {len(chosen)}")
        return RefTensor(self.dtype, (), list(self.data))
    shape = (*self.shape[:dim], len(chosen), *self.shape[dim + 1 :])
    data: list = [None] * (len(hyperplane(shape, dim, 0)) * len(chosen))
    for j, i in enumerate(chosen):
        for target, source in zip(hyperplane(shape, dim, j), hyperplane(self.shape, dim, i), strict=True):
            data[target] = self.data[source]
    return RefTensor(self.dtype, shape, data)


@reference("aten::take")
def take(self: RefTensor, index: RefTensor) -> RefTensor:
    """The elements at positions `index` of self, seen as a vector; a negative position counts from the end."""
    if index.dtype != "int64":
        raise ValueError(f"take needs an index of int64, found {index.dtype}")
    count = len(self.data)
    for i in index.data:
        if not -count <= i < count:
            raise ValueError(f"index {i} is outside a tensor of {count} elements")
    return RefTensor(self.dtype, index.shape, [self.data[i] for i in index.data])


@reference("aten::take_along_dim")
def take_along_dim(self: RefTensor, indices: RefTensor, dim: int | None = None) -> RefTensor:
    """gather along `dim`, the other dims broadcast against each other; without a dim both are vectors."""
    if indices.dtype != "int64":
        raise ValueError(f"take_along_dim needs indices of int64, found {indices.dtype}")
    if dim is None:
        flat, places = (RefTensor(t.dtype, (len(t.data),), t.data) for t in (self, indices))
        return gather(flat, 0, places)
    if len(self.shape) != len(indices.shape):
        raise ValueError(f"indices of shape {indices.shape} for self of shape {self.shape}")
    dim = wrap_dim(dim, len(self.shape))
    if not self.shape:
        return gather(self, dim, indices)
    common = broadcast_shapes(*((*t.shape[:dim], 1, *t.shape[dim + 1 :]) for t in (self, indices)))
    own, its = ((*common[:dim], t.shape[dim], *common[dim + 1 :]) for t in (self, indices))
    source = RefTensor(self.dtype, own, expand(self.data, self.shape, own))
    return gather(source, dim, RefTensor("int64", its, expand(indices.data, indices.shape, its)))


@reference("aten::nonzero_static")
def nonzero_static(self: RefTensor, size: int, fill_value: int = -1) -> RefTensor:
    """As many rows as `size`: those of nonzero in order, and then rows of fill_value."""
    if size < 0:
        raise ValueError(f"nonzero_static of {size} rows")
    rank = len(self.shape)
    data = nonzero(self).data[: size * rank]
    return RefTensor("int64", (size, rank), data + [fill_value] * (size * rank - len(data)))


@reference("aten::nonzero", "aten::argwhere")
def nonzero(self: RefTensor) -> RefTensor:
    """The indices of the elements that are not zero (NaN is not), one a row, in row-major order."""
    true = [position for position, value in enumerate(self.data) if value != 0]
    rows = [
        position // stride % size
        for position in true
        for stride, size in zip(strides_of(self.shape), self.shape, strict=True)
    ]
    return RefTensor("int64", (len(true), len(self.shape)), rows)


@reference("aten::masked_select")
def masked_select(self: RefTensor, mask: RefTensor) -> RefTensor:
    """The elements of self where the mask is true, both broadcast, in row-major order."""
    if category(mask.dtype) != BOOL:
        raise ValueError(f"a mask is of bool, found {mask.dtype}")
    shape = broadcast_shapes(self.shape, mask.shape)
    pairs = zip(expand(self.data, self.shape, shape), expand(mask.data, mask.shape, shape), strict=True)
    chosen = [value for value, is_true in pairs if is_true]
    return RefTensor(self.dtype, (len(chosen),), chosen)


@reference("aten::one_hot")
def one_hot(self: RefTensor, num_classes: int = -1) -> RefTensor:
    """1 at the class, 0 elsewhere, along a new last dim; num_classes -1 is one more than the greatest class."""
    if self.dtype != "int64":
        raise ValueError(f"one_hot needs classes of int64, found {self.dtype}")
    if not self.data and num_classes <= 0:
        raise ValueError("no classes can be inferred from an empty tensor")
    count = max(self.data) + 1 if num_classes == -1 else num_classes
    if num_classes < -1 or any(not 0 <= c < count for c in self.data):
        raise ValueError(f"classes {self.data} are not all in 0 .. {count - 1}")
    return RefTensor("int64", (*self.shape, count), [int(c == i) for c in self.data for i in range(count)])
