"""Elements repeated, turned, shifted, cut off beside a diagonal, or moved between channels and pixels."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from conform.refs.exact.promotion import convert
from conform.refs.exact.tensor import RefTensor, Shape, rearranged, strides_of, wrap_dim, wrap_dims
from conform.refs.references import reference


@reference("aten::repeat")
def repeat(self: RefTensor, repeats: list[int]) -> RefTensor:
    """self beside itself, repeats[d] times along dim d; repeats may have more dims than self, which come first."""
    if len(repeats) < len(self.shape) or any(times < 0 for times in repeats):
        raise ValueError(f"repeats {repeats}: none below 0, and one for each dim of shape {self.shape}")
    own = (1,) * (len(repeats) - len(self.shape)) + self.shape
    aligned = RefTensor(self.dtype, own, self.data)
    shape = [size * times for size, times in zip(own, repeats, strict=True)]
    return rearranged(aligned, shape, lambda index: tuple(i % size for i, size in zip(index, own, strict=True)))


@reference("aten::tile")
def tile(self: RefTensor, dims: list[int]) -> RefTensor:
    """As repeat; dims of self for which there is no number are repeated once."""
    return repeat(self, [1] * (len(self.shape) - len(dims)) + list(dims))


@reference("aten::flip")
def flip(self: RefTensor, dims: list[int]) -> RefTensor:
    """self with the order along each of the dims reversed."""
    flipped = wrap_dims(dims, len(self.shape))

    def source(index: Shape) -> Shape:
        return tuple(self.shape[d] - 1 - i if d in flipped else i for d, i in enumerate(index))

    return rearranged(self, self.shape, source)


@reference("aten::roll")
def roll(self: RefTensor, shifts: int | list[int], dims: int | list[int] = ()) -> RefTensor:
    """The element at i moved to (i + shift) mod size along each dim; without dims along the flattened tensor.

    A dim may be named again: its shifts add up.
    """
    dims = [dims] if isinstance(dims, int) else list(dims)
    shifts = [shifts] if isinstance(shifts, int) else list(shifts)
    if len(shifts) != (len(dims) or 1):
        raise ValueError(f"{len(shifts)} shifts do not go with {len(dims)} dims")
    if not dims:
        count = len(self.data)
        return RefTensor(self.dtype, self.shape, [self.data[(i - shifts[0]) % count] for i in range(count)])
    by_dim = [0] * max(len(self.shape), 1)
    for dim, shift in zip(dims, shifts, strict=True):
        by_dim[wrap_dim(dim, len(self.shape))] += shift

    def source(index: Shape) -> Shape:
        return tuple((i - by_dim[d]) % self.shape[d] for d, i in enumerate(index))

    return rearranged(self, self.shape, source)


@reference("aten::channel_shuffle", "aten::native_channel_shuffle")
def channel_shuffle(self: RefTensor, groups: int) -> RefTensor:
    """The channels, dim 1, in the order in which one is taken of each of the `groups` in turn."""
    if len(self.shape) < 3 or groups < 1 or self.shape[1] % groups:
        raise ValueError(f"channel_shuffle of {groups} groups does not divide the channels of shape {self.shape}")
    each = self.shape[1] // groups
    order = [group * each + place for place in range(each) for group in range(groups)]
    return rearranged(self, self.shape, lambda index: (index[0], order[index[1]], *index[2:]))


@reference("aten::fliplr")
def fliplr(self: RefTensor) -> RefTensor:
    """The columns, dim 1, from the last to the first."""
    if len(self.shape) < 2:
        raise ValueError(f"fliplr needs columns, found shape {self.shape}")
    return rearranged(self, self.shape, lambda index: (index[0], self.shape[1] - 1 - index[1], *index[2:]))


@reference("aten::flipud")
def flipud(self: RefTensor) -> RefTensor:
    """The rows, dim 0, from the last to the first."""
    if not self.shape:
        raise ValueError("flipud needs rows, found a 0-d tensor")
    return rearranged(self, self.shape, lambda index: (self.shape[0] - 1 - index[0], *index[1:]))


@reference("aten::repeat_interleave.self_int", "aten::repeat_interleave.self_Tensor")
def repeat_interleave(
    self: RefTensor, repeats: int | RefTensor, dim: int | None = None, output_size: int | None = None
) -> RefTensor:
    """Each index of `dim` as often as repeats says, of it or of all; without dim of the elements as a list."""
    if dim is None:
        self, dim = RefTensor(self.dtype, (len(self.data),), self.data), 0
    shape = tuple(self.shape) or (1,)
    dim = wrap_dim(dim, len(shape))
    places = _repeated_places(repeats, shape[dim])
    if output_size not in (None, len(places)):
        raise ValueError(f"output_size {output_size} is not {len(places)}")
    own = RefTensor(self.dtype, shape, self.data)
    result = (*shape[:dim], len(places), *shape[dim + 1 :])
    return rearranged(own, result, lambda index: (*index[:dim], places[index[dim]], *index[dim + 1 :]))


def _repeated_places(repeats: int | RefTensor, size: int) -> list[int]:
    """0, ..., size - 1, each as often as it is repeated."""
    counts = [repeats] if isinstance(repeats, int) else _counts(repeats)
    if any(count < 0 for count in counts) or len(counts) not in (1, size):
        raise ValueError(f"{size} indices are not repeated {counts} times")
    counts = counts * size if len(counts) == 1 else counts
    return [place for place, count in enumerate(counts) for _ in range(count)]


def _counts(repeats: RefTensor) -> list[int]:
    if repeats.dtype not in ("int32", "int64") or len(repeats.shape) > 1:
        raise ValueError(f"repeats is a list of int32 or int64, found {repeats.dtype} of shape {repeats.shape}")
    return list(repeats.data)


@reference("aten::repeat_interleave.Tensor")
def repeat_interleave_places(repeats: RefTensor, output_size: int | None = None) -> RefTensor:
    """i as often as repeats[i], in the order of i."""
    if len(repeats.shape) != 1:
        raise ValueError(f"repeats is a list, found shape {repeats.shape}")
    places = _repeated_places(repeats, len(repeats.data))
    if output_size not in (None, len(places)):
        raise ValueError(f"output_size {output_size} is not {len(places)}")
    return RefTensor(repeats.dtype, (len(places),), places)


@reference("aten::rot90")
def rot90(self: RefTensor, k: int = 1, dims: list[int] = (0, 1)) -> RefTensor:
    """self turned by k quarters in the plane of the two dims, from the first to the second; by -k backwards."""
    if len(dims) != 2 or len(self.shape) < 2:
        raise ValueError(f"rot90 needs two dims, found dims {list(dims)} of shape {self.shape}")
    first, second = wrap_dims(dims, len(self.shape))
    turned = self
    for _ in range(k % 4):
        turned = _quarter(turned, first, second)
    return turned


def _quarter(self: RefTensor, first: int, second: int) -> RefTensor:
    """result[r, c] = self[c, columns - 1 - r], r and c being the indices of first and second."""
    shape = list(self.shape)
    shape[first], shape[second] = shape[second], shape[first]

    def source(index: Shape) -> Shape:
        own = list(index)
        own[first], own[second] = index[second], self.shape[second] - 1 - index[first]
        return tuple(own)

    return rearranged(self, shape, source)


def _triangle(op: str, self: RefTensor, is_kept: Callable[[int], bool]) -> RefTensor:
    """self where column - row of the last two dims is kept, else zero."""
    if len(self.shape) < 2:
        raise ValueError(f"{op} needs at least 2 dims, found shape {self.shape}")
    rows, columns = self.shape[-2:]
    zero = convert(0, self.dtype)
    places = [(place // columns % rows, place % columns) for place in range(len(self.data))]
    kept = [is_kept(column - row) for row, column in places]
    return RefTensor(self.dtype, self.shape, [x if keep else zero for x, keep in zip(self.data, kept, strict=True)])


@reference("aten::tril")
def tril(self: RefTensor, diagonal: int = 0) -> RefTensor:
    """The elements on and below the diagonal, zeros above it, of each matrix of the last two dims."""
    return _triangle("tril", self, lambda above: above <= diagonal)


@reference("aten::triu")
def triu(self: RefTensor, diagonal: int = 0) -> RefTensor:
    """The elements on and above the diagonal, zeros below it, of each matrix of the last two dims."""
    return _triangle("triu", self, lambda above: above >= diagonal)


@reference("aten::diag_embed")
def diag_embed(self: RefTensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> RefTensor:
    """Zeros, but that the last dim of self is the diagonal `offset` of the new dims dim1 and dim2 of the result."""
    rank = len(self.shape) + 1
    dim1, dim2 = wrap_dim(dim1, rank), wrap_dim(dim2, rank)
    if not self.shape or dim1 == dim2:
        raise ValueError(f"diag_embed needs a dimensioned tensor and two dims, found {self.shape}, {dim1} and {dim2}")
    if dim1 > dim2:
        dim1, dim2, offset = dim2, dim1, -offset
    size = self.shape[-1] + abs(offset)
    shape = list(self.shape[:-1])
    shape.insert(dim1, size)
    shape.insert(dim2, size)
    strides = strides_of(shape)
    kept = [stride for dim, stride in enumerate(strides) if dim not in (dim1, dim2)]
    data = [convert(0, self.dtype)] * prod(shape)
    for place, value in enumerate(self.data):
        index = [place // stride % extent for stride, extent in zip(strides_of(self.shape), self.shape, strict=True)]
        target = sum(i * stride for i, stride in zip(index, kept, strict=False))
        row, column = index[-1] + max(-offset, 0), index[-1] + max(offset, 0)
        data[target + row * strides[dim1] + column * strides[dim2]] = value
    return RefTensor(self.dtype, shape, data)


@reference("aten::diag")
def diag(self: RefTensor, diagonal: int = 0) -> RefTensor:
    """Of a list the matrix that has it as that diagonal, of a matrix the list."""
    if len(self.shape) == 1:
        return _on_diagonal(self, diagonal)
    if len(self.shape) != 2:
        raise ValueError(f"diag needs a list or a matrix, found shape {self.shape}")
    rows, columns = self.shape
    found = [self.data[i * columns + i + diagonal] for i in range(rows) if 0 <= i + diagonal < columns]
    return RefTensor(self.dtype, (len(found),), found)


@reference("aten::diagflat")
def diagflat(self: RefTensor, offset: int = 0) -> RefTensor:
    """The matrix that has the elements as that diagonal."""
    return _on_diagonal(self, offset)


def _on_diagonal(self: RefTensor, offset: int) -> RefTensor:
    side = len(self.data) + abs(offset)
    zero = convert(0, self.dtype)
    values = {(i + max(-offset, 0), i + max(offset, 0)): x for i, x in enumerate(self.data)}
    data = [values.get((row, column), zero) for row in range(side) for column in range(side)]
    return RefTensor(self.dtype, (side, side), data)


def _pixels(op: str, self: RefTensor, factor: int) -> None:
    if len(self.shape) < 3 or factor <= 0:
        raise ValueError(f"{op} needs at least 3 dims and a positive factor, found {self.shape} and {factor}")


@reference("aten::pixel_shuffle")
def pixel_shuffle(self: RefTensor, upscale_factor: int) -> RefTensor:
    """(*, C r^2, H, W) as (*, C, H r, W r): pixel y, x of channel c is y // r, x // r of c r^2 + y % r * r + x % r."""
    r = upscale_factor
    _pixels("pixel_shuffle", self, r)
    *batch, channels, height, width = self.shape
    if channels % r**2:
        raise ValueError(f"{channels} channels are not divided by {r}^2")
    shape = (*batch, channels // r**2, height * r, width * r)

    def source(index: Shape) -> Shape:
        *rest, channel, y, x = index
        return (*rest, channel * r**2 + y % r * r + x % r, y // r, x // r)

    return rearranged(self, shape, source)


@reference("aten::pixel_unshuffle")
def pixel_unshuffle(self: RefTensor, downscale_factor: int) -> RefTensor:
    """(*, C, H r, W r) as (*, C r^2, H, W): what pixel_shuffle makes undone."""
    r = downscale_factor
    _pixels("pixel_unshuffle", self, r)
    *batch, channels, height, width = self.shape
    if height % r or width % r:
        raise ValueError(f"height {height} and width {width} are not multiples of {r}")
    shape = (*batch, channels * r**2, height // r, width // r)

    def source(index: Shape) -> Shape:
        *rest, channel, y, x = index
        return (*rest, channel // r**2, y * r + channel % r**2 // r, x * r + channel % r)

    return rearranged(self, shape, source)
