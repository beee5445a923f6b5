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
