"""The same elements in another shape or order of dims; the elements of a result, not whose memory they are in."""

from __future__ import annotations

from math import prod

from conform.refs.exact.promotion import converted
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, expand, positions, strides_of, wrap_dim, wrap_dims
from conform.refs.references import reference


@reference("aten::permute", "aten::permute_copy")
def permute(self: RefTensor, dims: list[int]) -> RefTensor:
    """Dim i of the result is dim dims[i] of self."""
    if len(dims) != len(self.shape):
        raise ValueError(f"dims {dims} do not order the {len(self.shape)} dims of self")
    order = wrap_dims(dims, len(self.shape))
    strides = strides_of(self.shape)
    shape = tuple(self.shape[dim] for dim in order)
    return RefTensor(self.dtype, shape, [self.data[i] for i in positions(shape, [strides[dim] for dim in order])])


@reference("aten::transpose.int", "aten::transpose_copy.int", "aten::swapdims")
def transpose(self: RefTensor, dim0: int, dim1: int) -> RefTensor:
    """self with two dims swapped."""
    order = list(range(len(self.shape)))
    dim0, dim1 = wrap_dim(dim0, len(order)), wrap_dim(dim1, len(order))
    if order:
        order[dim0], order[dim1] = dim1, dim0
    return permute(self, order)


@reference("aten::swapaxes")
def swapaxes(self: RefTensor, axis0: int, axis1: int) -> RefTensor:
    """self with two dims swapped."""
    return transpose(self, axis0, axis1)


@reference("aten::t", "aten::t_copy")
def t(self: RefTensor) -> RefTensor:
    """A matrix transposed; a tensor of less dims is itself."""
    if len(self.shape) > 2:
        raise ValueError(f"t needs a tensor of at most 2 dims, found shape {self.shape}")
    return permute(self, list(reversed(range(len(self.shape)))))


@reference("aten::numpy_T")
def numpy_T(self: RefTensor) -> RefTensor:  # noqa: N802
    """All dims in the other order."""
    return permute(self, list(range(len(self.shape)))[::-1])


@reference("aten::mT")
def mT(self: RefTensor) -> RefTensor:  # noqa: N802
    """Each matrix of the last two dims transposed."""
    if len(self.shape) < 2:
        raise ValueError(f"mT needs matrices, found shape {self.shape}")
    return transpose(self, -2, -1)


@reference("aten::adjoint", "aten::mH")
def adjoint(self: RefTensor) -> RefTensor:
    """Each matrix of the last two dims transposed, and of complex numbers the conjugates."""
    found = mT(self)
    data = [complex(z.real, -z.imag) if isinstance(z, complex) else z for z in found.data]
    return RefTensor(found.dtype, found.shape, data)


@reference("aten::matrix_H")
def matrix_H(self: RefTensor) -> RefTensor:  # noqa: N802
    """The adjoint of one matrix."""
    if len(self.shape) != 2:
        raise ValueError(f"matrix_H needs a matrix, found shape {self.shape}")
    return adjoint(self)


@reference("aten::movedim.int", "aten::movedim.intlist", "aten::moveaxis.int", "aten::moveaxis.intlist")
def movedim(self: RefTensor, source: int | list[int], destination: int | list[int]) -> RefTensor:
    """Each dim of `source` moved to its place in `destination`; the others keep their order."""
    rank = len(self.shape)
    source = wrap_dims([source] if isinstance(source, int) else source, rank)
    destination = wrap_dims([destination] if isinstance(destination, int) else destination, rank)
    if len(source) != len(destination):
        raise ValueError(f"{len(source)} dims do not move to {len(destination)} places")
    others = iter(dim for dim in range(rank) if dim not in source)
    moved = dict(zip(destination, source, strict=True))
    return permute(self, [moved[place] if place in moved else next(others) for place in range(rank)])


@reference("aten::expand", "aten::expand_copy")
def expand_(self: RefTensor, size: list[int], implicit: bool = False) -> RefTensor:
    """Dims of size 1 repeated to `size`, and new dims before them; -1 keeps the size of a dim that self has."""
    new = len(size) - len(self.shape)
    if new < 0:
        raise ValueError(f"shape {self.shape} has more dims than size {size}")
    own = (None,) * new + self.shape
    target = tuple(old if wanted == -1 else wanted for wanted, old in zip(size, own, strict=True))
    if any(wanted is None or wanted < 0 for wanted in target):
        raise ValueError(f"size {size} has a negative size, or -1 for a new dim")
    return RefTensor(self.dtype, target, expand(self.data, self.shape, target))


@reference("aten::broadcast_to")
def broadcast_to(self: RefTensor, size: list[int]) -> RefTensor:
    """self repeated to the size; -1 keeps the size of a dim that self has."""
    return expand_(self, size)


@reference("aten::expand_as")
def expand_as(self: RefTensor, other: RefTensor) -> RefTensor:
    """self repeated to the shape of other."""
    return RefTensor(self.dtype, other.shape, expand(self.data, self.shape, other.shape))


@reference("aten::view", "aten::view_copy", "aten::_unsafe_view")
def view(self: RefTensor, size: list[int]) -> RefTensor:
    """The elements in row-major order in another shape; one size may be -1, the one that the others leave."""
    return _reshaped(self, size)


@reference("aten::reshape")
def reshape(self: RefTensor, shape: list[int]) -> RefTensor:
    """The elements in row-major order in another shape; one size may be -1, the one that the others leave."""
    return _reshaped(self, shape)


@reference("aten::view_as", "aten::reshape_as")
def view_as(self: RefTensor, other: RefTensor) -> RefTensor:
    """The elements in row-major order in the shape of other, which has as many."""
    return RefTensor(self.dtype, other.shape, self.data)


@reference("aten::ravel")
def ravel(self: RefTensor) -> RefTensor:
    """The elements in row-major order."""
    return RefTensor(self.dtype, (len(self.data),), self.data)


def _reshaped(self: RefTensor, sizes: list[int]) -> RefTensor:
    known = prod(size for size in sizes if size != -1)
    if any(size < -1 for size in sizes) or sizes.count(-1) > 1:
        raise ValueError(f"sizes {sizes}: all but one are 0 or more, and one may be -1")
    if -1 in sizes and (known == 0 or len(self.data) % known):
        raise ValueError(f"sizes {sizes} leave no one size for {len(self.data)} elements")
    shape = tuple(len(self.data) // known if size == -1 else size for size in sizes)
    return RefTensor(self.dtype, shape, self.data)


@reference("aten::flatten.using_ints")
def flatten(self: RefTensor, start_dim: int = 0, end_dim: int = -1) -> RefTensor:
    """The dims from start_dim to end_dim, that included, as one; of a 0-d tensor shape (1,)."""
    start, end = wrap_dim(start_dim, len(self.shape)), wrap_dim(end_dim, len(self.shape))
    if start > end:
        raise ValueError(f"dim {start_dim} comes behind dim {end_dim}")
    shape = (*self.shape[:start], prod(self.shape[start : end + 1]), *self.shape[end + 1 :])
    return RefTensor(self.dtype, shape, self.data)


@reference("aten::unsqueeze", "aten::unsqueeze_copy")
def unsqueeze(self: RefTensor, dim: int) -> RefTensor:
    """A new dim of size 1 at `dim`, which counts the dims of the result."""
    dim = wrap_dim(dim, len(self.shape) + 1)
    return RefTensor(self.dtype, (*self.shape[:dim], 1, *self.shape[dim:]), self.data)


@reference("aten::squeeze", "aten::squeeze_copy")
def squeeze(self: RefTensor) -> RefTensor:
    """self without its dims of size 1."""
    return _squeezed(self, list(range(len(self.shape))))


@reference("aten::squeeze.dim", "aten::squeeze.dims", "aten::squeeze_copy.dim", "aten::squeeze_copy.dims")
def squeeze_dims(self: RefTensor, dim: int | list[int]) -> RefTensor:
    """self without those of the dims that have size 1."""
    return _squeezed(self, wrap_dims([dim] if isinstance(dim, int) else dim, len(self.shape)))


def _squeezed(self: RefTensor, dims: list[int]) -> RefTensor:
    shape = tuple(size for dim, size in enumerate(self.shape) if dim not in dims or size != 1)
    return RefTensor(self.dtype, shape, self.data)


@reference("aten::as_strided", "aten::as_strided_copy")
def as_strided(self: RefTensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> RefTensor:
    """The element at storage_offset + sum(index[d] * stride[d]) of self's storage: its elements in row-major order.

    That is what a contiguous self has in its storage from offset 0; without storage_offset it is 0.
    """
    offset = 0 if storage_offset is None else storage_offset
    if len(size) != len(stride) or any(number < 0 for number in [*size, *stride, offset]):
        raise ValueError(f"size {size}, stride {stride} and offset {offset}: as many of each, and none below 0")
    places = positions(size, stride, offset)
    if any(place >= len(self.data) for place in places):
        raise ValueError(f"size {size} and stride {stride} from {offset} reach beyond {len(self.data)} elements")
    return RefTensor(self.dtype, tuple(size), [self.data[place] for place in places])


@reference("aten::as_strided_scatter")
def as_strided_scatter(
    self: RefTensor, src: RefTensor, size: list[int], stride: list[int], storage_offset: int | None = None
) -> RefTensor:
    """self with src, converted to its dtype, where as_strided reads; open where it reads an element again."""
    read = as_strided(RefTensor("int64", self.shape, list(range(len(self.data)))), size, stride, storage_offset)
    if read.shape != src.shape:
        raise ValueError(f"src of shape {src.shape} does not fit size {size}")
    written: dict[int, list] = {}
    for place, value in zip(read.data, converted(src, self.dtype), strict=True):
        written.setdefault(place, []).append(value)
    data = list(self.data)
    for place, values in written.items():
        data[place] = values[0] if len(values) == 1 else UNSPECIFIED
    return RefTensor(self.dtype, self.shape, data)
