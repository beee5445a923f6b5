"""Parts of a tensor: slices, diagonals, splits, and what writes into such a part."""

from __future__ import annotations

from itertools import pairwise

from conform.refs.exact.promotion import converted
from conform.refs.exact.tensor import RefTensor, Shape, positions, rearranged, strides_of, wrap_dim
from conform.refs.references import reference


def _dim_of(op: str, self: RefTensor, dim: int) -> int:
    """The dim, wrapped; ValueError for a 0-d tensor, which has no parts."""
    if not self.shape:
        raise ValueError(f"{op} needs a tensor of at least one dim")
    return wrap_dim(dim, len(self.shape))


def _with(shape: Shape, dim: int, *sizes: int) -> Shape:
    """The shape with `sizes` in the place of its size at `dim`."""
    return (*shape[:dim], *sizes, *shape[dim + 1 :])


@reference("aten::slice.Tensor", "aten::slice_copy.Tensor")
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


@reference("aten::slice_scatter")
def slice_scatter(
    self: RefTensor, src: RefTensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> RefTensor:
    """self with src, converted to its dtype, in the place of slice(self, dim, start, end, step); src has its shape."""
    return _written(self, src, slice_(_positions(self), dim, start, end, step))


def _positions(self: RefTensor) -> RefTensor:
    """A tensor of self's shape that holds each element's place in self's data."""
    return RefTensor("int64", self.shape, list(range(len(self.data))))


def _written(self: RefTensor, src: RefTensor, places: RefTensor) -> RefTensor:
    if src.shape != places.shape:
        raise ValueError(f"src of shape {src.shape} does not fit the part, of shape {places.shape}")
    data = list(self.data)
    for place, value in zip(places.data, converted(src, self.dtype), strict=True):
        data[place] = value
    return RefTensor(self.dtype, self.shape, data)


@reference("aten::narrow", "aten::narrow_copy")
def narrow(self: RefTensor, dim: int, start: int, length: int) -> RefTensor:
    """The `length` indices of `dim` from start on, which counts from the end if negative; all of them exist."""
    dim = _dim_of("narrow", self, dim)
    size = self.shape[dim]
    first = start + size if start < 0 else start
    if not 0 <= first <= first + length <= size:
        raise ValueError(f"{length} indices from {start} on are not within dim {dim} of size {size}")
    return rearranged(self, _with(self.shape, dim, length), lambda i: _with(i, dim, first + i[dim]))


@reference("aten::select.int", "aten::select_copy.int")
def select(self: RefTensor, dim: int, index: int) -> RefTensor:
    """The part at `index` of `dim`, without that dim; a negative index counts from the end."""
    dim = _dim_of("select", self, dim)
    size = self.shape[dim]
    if not -size <= index < size:
        raise ValueError(f"index {index} is outside dim {dim} of size {size}")
    return rearranged(self, _with(self.shape, dim), lambda i: (*i[:dim], index % size, *i[dim:]))


@reference("aten::select_scatter")
def select_scatter(self: RefTensor, src: RefTensor, dim: int, index: int) -> RefTensor:
    """self with src, converted to its dtype, in the place of select(self, dim, index); src has its shape."""
    return _written(self, src, select(_positions(self), dim, index))


@reference("aten::unbind.int", "aten::unbind_copy.int")
def unbind(self: RefTensor, dim: int = 0) -> tuple[RefTensor, ...]:
    """select(self, dim, i) for every i."""
    dim = _dim_of("unbind", self, dim)
    return tuple(select(self, dim, i) for i in range(self.shape[dim]))


@reference("aten::split_with_sizes", "aten::split_with_sizes_copy", "aten::unsafe_split_with_sizes")
def split_with_sizes(self: RefTensor, split_sizes: list[int], dim: int = 0) -> tuple[RefTensor, ...]:
    """Parts of the sizes given along `dim`, one behind the other; they make up the whole."""
    dim = _dim_of("split_with_sizes", self, dim)
    if any(size < 0 for size in split_sizes) or sum(split_sizes) != self.shape[dim]:
        raise ValueError(f"sizes {split_sizes} do not add up to size {self.shape[dim]} of dim {dim}")
    parts, start = [], 0
    for size in split_sizes:
        parts.append(slice_(self, dim, start, start + size))
        start += size
    return tuple(parts)


@reference("aten::split.sizes")
def split_sizes(self: RefTensor, split_size: list[int], dim: int = 0) -> tuple[RefTensor, ...]:
    """Parts of these sizes along dim, one after the other."""
    return split_with_sizes(self, split_size, dim)


@reference("aten::split.Tensor", "aten::split_copy.Tensor", "aten::unsafe_split.Tensor")
def split(self: RefTensor, split_size: int, dim: int = 0) -> tuple[RefTensor, ...]:
    """Parts of size split_size along `dim`, the last one smaller if it does not divide; of an empty dim one part."""
    dim = _dim_of("split", self, dim)
    size = self.shape[dim]
    if split_size < 0 or (split_size == 0 and size != 0):
        raise ValueError(f"a size of {split_size} does not split dim {dim} of size {size}")
    if size == 0:
        return (self,)
    return tuple(slice_(self, dim, start, start + split_size) for start in range(0, size, split_size))


@reference("aten::chunk", "aten::unsafe_chunk")
def chunk(self: RefTensor, chunks: int, dim: int = 0) -> tuple[RefTensor, ...]:
    """Parts of size ceil(size / chunks) along `dim`, the last one smaller, perhaps fewer; of an empty dim `chunks`."""
    dim = _dim_of("chunk", self, dim)
    if chunks <= 0:
        raise ValueError(f"chunk needs a positive number of chunks, found {chunks}")
    if self.shape[dim] == 0:
        return (self,) * chunks
    return split(self, -(-self.shape[dim] // chunks), dim)


@reference("aten::diagonal", "aten::diagonal_copy")
def diagonal(self: RefTensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> RefTensor:
    """The elements whose index of dim2 is that of dim1 plus offset, along a new last dim in place of both."""
    dim1, dim2 = wrap_dim(dim1, len(self.shape)), wrap_dim(dim2, len(self.shape))
    if dim1 == dim2 or not self.shape:
        raise ValueError(f"diagonal needs two dims, found {dim1} and {dim2} of shape {self.shape}")
    row, column = max(-offset, 0), max(offset, 0)
    length = max(min(self.shape[dim1] - row, self.shape[dim2] - column), 0)
    kept = [dim for dim in range(len(self.shape)) if dim not in (dim1, dim2)]

    def source(index: Shape) -> Shape:
        own = [0] * len(self.shape)
        for dim, i in zip(kept, index, strict=False):
            own[dim] = i
        own[dim1], own[dim2] = index[-1] + row, index[-1] + column
        return tuple(own)

    return rearranged(self, (*(self.shape[dim] for dim in kept), length), source)


@reference("aten::diagonal_scatter")
def diagonal_scatter(self: RefTensor, src: RefTensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> RefTensor:
    """self with src, converted to its dtype, in the place of diagonal(self, offset, dim1, dim2); src has its shape."""
    return _written(self, src, diagonal(_positions(self), offset, dim1, dim2))


@reference("aten::unfold", "aten::unfold_copy")
def unfold(self: RefTensor, dimension: int, size: int, step: int) -> RefTensor:
    """The windows of `size` along the dimension, `step` apart, each along a new last dim; 0-d counts as shape (1,)."""
    dim = wrap_dim(dimension, len(self.shape))
    extent = self.shape[dim] if self.shape else 1
    if not 0 <= size <= extent or step <= 0:
        raise ValueError(f"windows of {size}, {step} apart, in a dim of size {extent}")
    if not self.shape:
        return RefTensor(self.dtype, (size,), self.data[:size])
    shape = (*_with(self.shape, dim, (extent - size) // step + 1), size)
    return rearranged(self, shape, lambda i: _with(i[:-1], dim, i[dim] * step + i[-1]))


def _clamped(bound: int | None, default: int, size: int) -> int:
    """A bound of a slice as an index in [0, size]."""
    if bound is None:
        return default
    return min(max(bound + size if bound < 0 else bound, 0), size)


@reference("aten::tensor_split.indices")
def tensor_split_indices(self: RefTensor, indices: list[int], dim: int = 0) -> tuple[RefTensor, ...]:
    """The slices from 0 to the first index, from there to the next, and so on to the end, as Python slices go."""
    dim = _dim_of("tensor_split", self, dim)
    starts, ends = [0, *indices], [*indices, self.shape[dim]]
    return tuple(slice_(self, dim, start, end) for start, end in zip(starts, ends, strict=True))


@reference("aten::tensor_split.sections")
def tensor_split_sections(self: RefTensor, sections: int, dim: int = 0) -> tuple[RefTensor, ...]:
    """`sections` parts, of which the first size % sections have one index more than the others."""
    dim = _dim_of("tensor_split", self, dim)
    if sections < 1:
        raise ValueError(f"tensor_split needs one section or more, found {sections}")
    ends = [self.shape[dim] // sections * i + min(i, self.shape[dim] % sections) for i in range(sections + 1)]
    return tuple(slice_(self, dim, start, end) for start, end in pairwise(ends))


def _equal(op: str, self: RefTensor, sections: int, dim: int, least: int) -> tuple[RefTensor, ...]:
    if len(self.shape) < least or sections < 1 or self.shape[dim] % sections:
        raise ValueError(f"{op}: shape {self.shape} has no {sections} equal parts along dim {dim}")
    return tensor_split_sections(self, sections, dim)


def _at(op: str, self: RefTensor, indices: list[int], dim: int, least: int) -> tuple[RefTensor, ...]:
    if len(self.shape) < least:
        raise ValueError(f"{op} needs a tensor of {least} dims, found {self.shape}")
    return tensor_split_indices(self, indices, dim)


@reference("aten::hsplit.int")
def hsplit(self: RefTensor, sections: int) -> tuple[RefTensor, ...]:
    """Equal parts, side by side."""
    return _equal("hsplit", self, sections, 0 if len(self.shape) == 1 else 1, 1)


@reference("aten::hsplit.array")
def hsplit_array(self: RefTensor, indices: list[int]) -> tuple[RefTensor, ...]:
    """Parts side by side."""
    return _at("hsplit", self, indices, 0 if len(self.shape) == 1 else 1, 1)


@reference("aten::vsplit.int")
def vsplit(self: RefTensor, sections: int) -> tuple[RefTensor, ...]:
    """Equal parts, one below the other."""
    return _equal("vsplit", self, sections, 0, 2)


@reference("aten::vsplit.array")
def vsplit_array(self: RefTensor, indices: list[int]) -> tuple[RefTensor, ...]:
    """Parts, one below the other."""
    return _at("vsplit", self, indices, 0, 2)


@reference("aten::dsplit.int")
def dsplit(self: RefTensor, sections: int) -> tuple[RefTensor, ...]:
    """Equal parts, one behind the other."""
    return _equal("dsplit", self, sections, 2, 3)


@reference("aten::dsplit.array")
def dsplit_array(self: RefTensor, indices: list[int]) -> tuple[RefTensor, ...]:
    """Parts, one behind the other."""
    return _at("dsplit", self, indices, 2, 3)
