"""The greatest elements of windows, and where they stand."""

from __future__ import annotations

from fractions import Fraction
from math import inf, prod

from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, category
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference
from conform.refs.windows.sliding import Ints, Window, adaptive_windows, joined, planes, pooling_windows
from conform.refs.windows.sums import Term, check_floats, check_planes, weighted_sum

Pair = tuple[RefTensor, RefTensor]


def _maxima(self: RefTensor, windows: list[list[Window]]) -> Pair:
    """The greatest element of each window, NaN if one is; and its position in the flattened plane.

    Padding counts as -inf: a window without an input element has that, of integers it is open. The position of several
    equal elements, or NaNs, is open.
    """
    sizes = self.shape[-len(windows) :]
    each = joined(windows, sizes)
    values, indices = [], []
    for plane in planes(self, prod(sizes)):
        for places, _ in each:
            nans = [i for i in places if plane[i] != plane[i]]
            greatest = max((plane[i] for i in places), default=None) if not nans else None
            holders = nans or [i for i in places if plane[i] == greatest]
            nothing = -inf if category(self.dtype) == FLOAT else UNSPECIFIED
            values.append(plane[holders[0]] if holders else nothing)
            indices.append(holders[0] if len(holders) == 1 else UNSPECIFIED)
    shape = (*self.shape[: -len(windows)], *map(len, windows))
    return RefTensor(self.dtype, shape, values), RefTensor("int64", shape, indices)


def _max_pool(
    spatial: int, self: RefTensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints, ceil_mode: bool
) -> Pair:
    if category(self.dtype) in (BOOL, COMPLEX):
        raise ValueError(f"max_pool{spatial}d is not defined for {self.dtype}")
    check_planes(f"max_pool{spatial}d", self.shape, spatial)
    return _maxima(self, pooling_windows(self.shape, spatial, kernel_size, stride, padding, dilation, ceil_mode))


@reference("aten::max_pool2d_with_indices")
def max_pool2d_with_indices(
    self: RefTensor, kernel_size: Ints, stride: Ints = (), padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Pair:  # fmt: skip
    """The greatest element of each window of (C, H, W) or (N, C, H, W), NaN if one is, and its position in H * W."""
    return _max_pool(2, self, kernel_size, stride, padding, dilation, ceil_mode)


@reference("aten::max_pool3d_with_indices")
def max_pool3d_with_indices(
    self: RefTensor, kernel_size: Ints, stride: Ints = (), padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False,
) -> Pair:  # fmt: skip
    """max_pool2d_with_indices with three dims; positions in D * H * W."""
    return _max_pool(3, self, kernel_size, stride, padding, dilation, ceil_mode)


@reference("aten::max_pool1d")
def max_pool1d(
    self: RefTensor, kernel_size: Ints, stride: Ints = (), padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False,
) -> RefTensor:  # fmt: skip
    """The greatest element of each window of (C, L) or (N, C, L), NaN if one is."""
    return _max_pool(1, self, kernel_size, stride, padding, dilation, ceil_mode)[0]


@reference("aten::max_pool2d")
def max_pool2d(
    self: RefTensor, kernel_size: Ints, stride: Ints = (), padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False,
) -> RefTensor:  # fmt: skip
    """The first result of max_pool2d_with_indices."""
    return _max_pool(2, self, kernel_size, stride, padding, dilation, ceil_mode)[0]


@reference("aten::max_pool3d")
def max_pool3d(
    self: RefTensor, kernel_size: Ints, stride: Ints = (), padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False,
) -> RefTensor:  # fmt: skip
    """The first result of max_pool3d_with_indices."""
    return _max_pool(3, self, kernel_size, stride, padding, dilation, ceil_mode)[0]


def _adaptive(spatial: int, self: RefTensor, output_size: Ints) -> Pair:
    op = f"adaptive_max_pool{spatial}d"
    check_floats(op, self)
    check_planes(op, self.shape, spatial)
    counts = [output_size] if isinstance(output_size, int) else list(output_size)
    if len(counts) != spatial:
        raise ValueError(f"{op} takes {spatial} output sizes, found {counts}")
    return _maxima(self, [adaptive_windows(*pair) for pair in zip(self.shape[-spatial:], counts, strict=True)])


@reference("aten::adaptive_max_pool1d")
def adaptive_max_pool1d(self: RefTensor, output_size: Ints) -> Pair:
    """The greatest element of each of adaptive_avg_pool1d's windows, NaN if one is, and its position in L."""
    return _adaptive(1, self, output_size)


@reference("aten::adaptive_max_pool2d")
def adaptive_max_pool2d(self: RefTensor, output_size: Ints) -> Pair:
    """The greatest element of each of adaptive_avg_pool2d's windows, NaN if one is, and its position in H * W."""
    return _adaptive(2, self, output_size)


@reference("aten::adaptive_max_pool3d")
def adaptive_max_pool3d(self: RefTensor, output_size: Ints) -> Pair:
    """The greatest element of each of adaptive_avg_pool3d's windows, NaN if one is, and its position in D * H * W."""
    return _adaptive(3, self, output_size)


@reference("aten::max_unpool2d")
def max_unpool2d(self: RefTensor, indices: RefTensor, output_size: list[int]) -> RefTensor:
    """In each image, zeros but for the elements of self, at the places that indices gives; open where two have one."""
    return _unpooled(self, indices, output_size, 2)


@reference("aten::max_unpool3d")
def max_unpool3d(
    self: RefTensor, indices: RefTensor, output_size: list[int], stride: list[int], padding: list[int]
) -> RefTensor:
    """max_unpool2d of volumes; what the pooling was does not matter beside output_size."""
    if len(stride) != 3 or len(padding) != 3 or any(step < 1 for step in stride):
        raise ValueError(f"stride {stride} and padding {padding} need three numbers, and the first positive ones")
    return _unpooled(self, indices, output_size, 3)


def _unpooled(self: RefTensor, indices: RefTensor, output_size: list[int], spatial: int) -> RefTensor:
    if category(self.dtype) != FLOAT or indices.dtype != "int64" or indices.shape != self.shape:
        raise ValueError("unpooling needs floats, and an index of int64 for each of them")
    if len(self.shape) not in (spatial + 1, spatial + 2) or 0 in self.shape[1:] or len(output_size) != spatial:
        raise ValueError(f"unpooling of shape {self.shape} to {output_size}")
    before, size, own = self.shape[:-spatial], prod(output_size), prod(self.shape[-spatial:])
    data = []
    for image in range(prod(before)):
        places = indices.data[image * own : (image + 1) * own]
        if any(not 0 <= place < size for place in places):
            raise ValueError(f"an index is outside an image of {size} elements")
        values = dict(zip(places, self.data[image * own : (image + 1) * own], strict=True))
        repeated = {place for place in values if places.count(place) > 1}
        data += [UNSPECIFIED if place in repeated else values.get(place, 0.0) for place in range(size)]
    return RefTensor(self.dtype, (*before, *output_size), data)


def _max_pool_backward(spatial: int) -> None:
    op = f"max_pool{spatial}d_with_indices_backward"

    @reference(f"aten::{op}")
    def backward(
        grad_output: RefTensor, self: RefTensor, kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints,
        ceil_mode: bool, indices: RefTensor,
    ) -> RefTensor:  # fmt: skip
        """Zeros of self's shape, to which each element of grad_output is added at its index: exact sums, rounded once.
        What the index of a window names that is none of its elements is open."""
        check_planes(op, self.shape, spatial)
        windows = pooling_windows(self.shape, spatial, kernel_size, stride, padding, dilation, ceil_mode)
        return _gradient(op, grad_output, self, indices, windows)


def _adaptive_max_pool_backward(spatial: int) -> None:
    op = f"adaptive_max_pool{spatial}d_backward"

    @reference(f"aten::{op}")
    def backward(grad_output: RefTensor, self: RefTensor, indices: RefTensor) -> RefTensor:
        """As max_pool2d_with_indices_backward, of the windows of adaptive pooling."""
        check_planes(op, self.shape, spatial)
        sizes = zip(self.shape[-spatial:], grad_output.shape[-spatial:], strict=False)
        return _gradient(op, grad_output, self, indices, [adaptive_windows(*pair) for pair in sizes])


for _spatial in (2, 3):
    _max_pool_backward(_spatial)
    _adaptive_max_pool_backward(_spatial)


def _gradient(
    op: str, grad_output: RefTensor, self: RefTensor, indices: RefTensor, windows: list[list[Window]]
) -> RefTensor:
    dtype, spatial = check_floats(op, grad_output, self), len(windows)
    expected = (*self.shape[:-spatial], *map(len, windows))
    if not grad_output.shape == indices.shape == expected or indices.dtype != "int64" or 0 in expected[1:]:
        raise ValueError(f"grad_output {grad_output.shape} and int64 indices {indices.shape} do not fit the windows")
    inside = [places for places, _ in joined(windows, self.shape[-spatial:])]
    volume, data = prod(self.shape[-spatial:]), []
    for grads, places in zip(planes(grad_output, len(inside)), planes(indices, len(inside)), strict=True):
        data += _gradients_of_plane(dtype, volume, grads, places, inside)
    return RefTensor(dtype, self.shape, data)


def _gradients_of_plane(
    dtype: str, volume: int, grads: list[float], places: list[int], inside: list[list[int]]
) -> list[float | Unspecified]:
    terms: list[list[Term]] = [[] for _ in range(volume)]
    strays = set()
    for grad, place, window in zip(grads, places, inside, strict=True):
        if not 0 <= place < volume:
            raise ValueError(f"index {place} is outside a plane of {volume} elements")
        terms[place].append((Fraction(1), grad))
        if place not in window:
            strays.add(place)
    return [UNSPECIFIED if i in strays else weighted_sum(dtype, own) for i, own in enumerate(terms)]
