"""Padding: numbers around a tensor, constant or its own, and a negative padding cuts off."""

from __future__ import annotations

from collections.abc import Callable

from conform.refs.creation.constants import fill_number
from conform.refs.exact.promotion import BOOL, FLOAT, Scalar, category
from conform.refs.exact.reals import round_exact, sum_exact
from conform.refs.exact.tensor import RefTensor, positions, strides_of
from conform.refs.references import reference


def _paddings(pad: list[int], rank: int) -> list[tuple[int, int]]:
    """What is added before and behind each dim; `pad` has pairs for the last dims, the last dim first."""
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    return [(0, 0)] * (rank - len(pairs)) + pairs[::-1]


@reference("aten::constant_pad_nd")
def constant_pad_nd(self: RefTensor, pad: list[int], value: Scalar = 0) -> RefTensor:
    """`value`, as full takes it, around self: pad[2 i] before and pad[2 i + 1] behind the i-th dim from the last."""
    if len(pad) % 2 or len(pad) > 2 * len(self.shape):
        raise ValueError(f"pad {pad} is no list of at most {len(self.shape)} pairs")
    paddings = _paddings(pad, len(self.shape))
    shape = tuple(size + before + behind for size, (before, behind) in zip(self.shape, paddings, strict=True))
    if any(size < 0 for size in shape):
        raise ValueError(f"pad {pad} of shape {self.shape} gives a negative size, {shape}")
    data = [fill_number("value", value, self.dtype)] * len(positions(shape, strides_of(shape)))
    for place, x in enumerate(self.data):
        strides = strides_of(self.shape)
        index = [place // stride % size for stride, size in zip(strides, self.shape, strict=True)]
        target = [i + before for i, (before, _) in zip(index, paddings, strict=True)]
        if all(0 <= i < size for i, size in zip(target, shape, strict=True)):
            data[sum(i * stride for i, stride in zip(target, strides_of(shape), strict=True))] = x
    return RefTensor(self.dtype, shape, data)


def _padded(self: RefTensor, padding: list[int], dims: int, source: Callable[[int, int], int]) -> RefTensor:
    """self, channels and perhaps a batch before `dims` spatial dims: at i of a dim of size n is its source(i, n)."""
    rank = len(self.shape)
    if rank not in (dims + 1, dims + 2) or len(padding) != 2 * dims or 0 in self.shape[rank - dims - 1 :]:
        raise ValueError(f"padding {padding} for {dims} dims does not go with self of shape {self.shape}")
    if category(self.dtype) == BOOL:
        raise ValueError("padding by a tensor's own elements is not defined for bool")
    sources = [
        [source(i, size) for i in range(-before, size + behind)]
        for size, (before, behind) in zip(self.shape, _paddings(padding, rank), strict=True)
    ]
    if not all(sources[rank - dims :]):
        raise ValueError(f"padding {padding} leaves nothing of shape {self.shape}")
    places = [0]
    for along, stride in zip(sources, strides_of(self.shape), strict=True):
        places = [place + i * stride for place in places for i in along]
    return RefTensor(self.dtype, tuple(map(len, sources)), [self.data[place] for place in places])


def _reflect(self: RefTensor, padding: list[int], dims: int) -> RefTensor:
    sizes = self.shape[len(self.shape) - dims :]
    for size, pair in zip(reversed(sizes), zip(padding[::2], padding[1::2], strict=True), strict=False):
        if max(pair) >= size:
            raise ValueError(f"a padding of {max(pair)} is not less than the size {size} that it reflects")
    return _padded(self, padding, dims, lambda i, size: -i if i < 0 else min(i, 2 * (size - 1) - i))


def _replicate(self: RefTensor, padding: list[int], dims: int) -> RefTensor:
    return _padded(self, padding, dims, lambda i, size: min(max(i, 0), size - 1))


@reference("aten::reflection_pad1d")
def reflection_pad1d(self: RefTensor, padding: list[int]) -> RefTensor:
    """self and, beyond its boundary, its mirror image, the boundary itself not repeated; (C, W) or (N, C, W)."""
    return _reflect(self, padding, 1)


@reference("aten::reflection_pad2d")
def reflection_pad2d(self: RefTensor, padding: list[int]) -> RefTensor:
    """As reflection_pad1d in each of the last two dims; (C, H, W) or (N, C, H, W)."""
    return _reflect(self, padding, 2)


@reference("aten::reflection_pad3d")
def reflection_pad3d(self: RefTensor, padding: list[int]) -> RefTensor:
    """As reflection_pad1d in each of the last three dims; (C, D, H, W) or (N, C, D, H, W)."""
    return _reflect(self, padding, 3)


@reference("aten::replication_pad1d")
def replication_pad1d(self: RefTensor, padding: list[int]) -> RefTensor:
    """self and, beyond its boundary, the element at it; (C, W) or (N, C, W)."""
    return _replicate(self, padding, 1)


@reference("aten::replication_pad2d")
def replication_pad2d(self: RefTensor, padding: list[int]) -> RefTensor:
    """As replication_pad1d in each of the last two dims; (C, H, W) or (N, C, H, W)."""
    return _replicate(self, padding, 2)


@reference("aten::replication_pad3d")
def replication_pad3d(self: RefTensor, padding: list[int]) -> RefTensor:
    """As replication_pad1d in each of the last three dims; (C, D, H, W) or (N, C, D, H, W)."""
    return _replicate(self, padding, 3)


def _gradient(grad_output: RefTensor, self: RefTensor, padded: Callable[[RefTensor], RefTensor]) -> RefTensor:
    """Zeros of self's shape, to each element of which grad_output is added wherever the padded tensor has it."""
    if category(grad_output.dtype) != FLOAT or grad_output.dtype != self.dtype:
        raise ValueError(f"grad_output of {grad_output.dtype} and self of {self.dtype} are floats of one dtype")
    sources = padded(RefTensor("int64", self.shape, list(range(len(self.data)))))
    if grad_output.shape != sources.shape:
        raise ValueError(f"grad_output of shape {grad_output.shape}, expected {sources.shape}")
    terms: list[list[float]] = [[] for _ in self.data]
    for source, grad in zip(sources.data, grad_output.data, strict=True):
        terms[source].append(grad)
    return RefTensor(self.dtype, self.shape, [round_exact(self.dtype, sum_exact(own)) for own in terms])


def _register_backward(mode: str, pad: Callable[[RefTensor, list[int], int], RefTensor], dims: int) -> None:
    @reference(f"aten::{mode}_pad{dims}d_backward")
    def backward(grad_output: RefTensor, self: RefTensor, padding: list[int]) -> RefTensor:
        """The sums of what stands where each element of self, of which the shape counts, is padded to."""
        return _gradient(grad_output, self, lambda numbers: pad(numbers, padding, dims))


for _dims in (1, 2, 3):
    _register_backward("reflection", _reflect, _dims)
    _register_backward("replication", _replicate, _dims)


@reference("aten::pad")
def pad_by_mode(self: RefTensor, pad: list[int], mode: str = "constant", value: float | None = None) -> RefTensor:
    """The last dims padded by a constant, by the mirror image, by the boundary, or as if the tensor were repeated."""
    if mode == "constant":
        return constant_pad_nd(self, pad, 0 if value is None else value)
    if value not in (None, 0):
        raise ValueError(f"mode {mode!r} takes no value, found {value}")
    dims = len(pad) // 2
    if mode == "reflect":
        return _reflect(self, pad, dims)
    if mode == "replicate":
        return _replicate(self, pad, dims)
    if mode != "circular":
        raise ValueError(f"mode is constant, reflect, replicate or circular, found {mode!r}")
    if any(count > size for size, count in zip(reversed(self.shape), pad[::2], strict=False)):
        raise ValueError(f"pad {pad} goes round {self.shape} more than once")
    return _padded(self, pad, dims, lambda i, size: i % size)
