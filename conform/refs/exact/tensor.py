"""A tensor as a plain list, and the index arithmetic of shapes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

Shape = tuple[int, ...]


class Unspecified:
    """The type of UNSPECIFIED: an output element whose value the policy leaves open."""

    def __repr__(self) -> str:
        return "UNSPECIFIED"


UNSPECIFIED = Unspecified()


@dataclass
class RefTensor:
    """A tensor: torch's dtype name, shape, and the elements in row-major order as bool, int, float or complex."""

    dtype: str
    shape: Shape
    data: list

    def __post_init__(self) -> None:
        self.shape = tuple(self.shape)
        if len(self.data) != prod(self.shape):
            raise ValueError(f"shape {self.shape} holds {prod(self.shape)} elements, found {len(self.data)}")


def strides_of(shape: Shape) -> Shape:
    """Elements between neighbours along each dim of a row-major tensor."""
    return tuple(prod(shape[dim + 1 :]) for dim in range(len(shape)))


def positions(sizes: Sequence[int], strides: Sequence[int], start: int = 0) -> list[int]:
    """start + sum(index[d] * strides[d]) for every index below `sizes`, in row-major order."""
    result = [start]
    for size, stride in zip(sizes, strides, strict=True):
        result = [position + step * stride for position in result for step in range(size)]
    return result


def rearranged(tensor: RefTensor, shape: Sequence[int], source: Callable[[Shape], Shape]) -> RefTensor:
    """A tensor of `shape` whose element at each index is that of `tensor` at source(index)."""
    own = strides_of(tensor.shape)
    indices = itertools.product(*(range(size) for size in shape))
    places = [sum(i * stride for i, stride in zip(source(index), own, strict=True)) for index in indices]
    return RefTensor(tensor.dtype, tuple(shape), [tensor.data[place] for place in places])


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape to which all shapes expand: aligned at the last dim, sizes equal or 1."""
    rank = max((len(shape) for shape in shapes), default=0)
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    result = []
    for sizes in zip(*padded, strict=True):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            raise ValueError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
        result.append(others.pop() if others else 1)
    return tuple(result)


def expand(data: list, shape: Shape, target: Shape) -> list:
    """The elements of a tensor of `shape`, repeated to fill `target`; ValueError if it does not expand to that."""
    if shape == target:
        return data
    if len(shape) > len(target) or broadcast_shapes(shape, target) != target:
        raise ValueError(f"shape {shape} does not expand to {target}")
    own = (0,) * (len(target) - len(shape)) + strides_of(shape)
    sizes = (1,) * (len(target) - len(shape)) + shape
    repeating = [0 if size == 1 else stride for size, stride in zip(sizes, own, strict=True)]
    return [data[position] for position in positions(target, repeating)]


def wrap_dim(dim: int, rank: int) -> int:
    """A dim counted from the end made non-negative; a 0-d tensor has the dims 0 and -1."""
    extent = max(rank, 1)
    if not -extent <= dim < extent:
        raise ValueError(f"dim {dim} is outside [{-extent}, {extent - 1}] of a {rank}-d tensor")
    return dim % extent


def wrap_dims(dims: Sequence[int], rank: int) -> list[int]:
    """`wrap_dim` of each; ValueError if a dim appears twice."""
    wrapped = [wrap_dim(dim, rank) for dim in dims]
    if len(set(wrapped)) != len(wrapped):
        raise ValueError(f"dims {list(dims)} name a dim of a {rank}-d tensor twice")
    return wrapped


def lines(shape: Shape, dim: int) -> list[list[int]]:
    """Positions along `dim`, one list for each index of the other dims in row-major order. 0-d counts as (1,)."""
    shape = shape or (1,)
    strides = strides_of(shape)
    rest = [d for d in range(len(shape)) if d != dim]
    starts = positions([shape[d] for d in rest], [strides[d] for d in rest])
    return [positions([shape[dim]], [strides[dim]], start) for start in starts]


def groups(shape: Shape, dims: list[int]) -> list[list[int]]:
    """Positions over `dims`, one list for each index of the other dims, those in row-major order."""
    shape = shape or (1,)
    strides = strides_of(shape)
    kept = [dim for dim in range(len(shape)) if dim not in dims]
    starts = positions([shape[dim] for dim in kept], [strides[dim] for dim in kept])
    return [positions([shape[dim] for dim in dims], [strides[dim] for dim in dims], start) for start in starts]


def reduced_shape(shape: Shape, dims: list[int], keepdim: bool) -> Shape:
    """The shape that is left when `dims` are reduced: without them, or with size 1 there."""
    if keepdim:
        return tuple(1 if dim in dims else size for dim, size in enumerate(shape))
    return tuple(size for dim, size in enumerate(shape) if dim not in dims)


def dims_or_all(dims: list[int] | int | None, rank: int) -> list[int]:
    """The dims, wrapped and sorted; all of them for None and []."""
    listed = [dims] if isinstance(dims, int) else dims
    return sorted(wrap_dims(listed, rank)) if listed else list(range(max(rank, 1)))


def one_per_dim(values: Sequence[int] | int, count: int, name: str) -> list[int]:
    """An int[] argument with a value for each spatial dim; a single value stands for all of them."""
    listed = [values] if isinstance(values, int) else list(values)
    if len(listed) == 1:
        listed = listed * count
    if len(listed) != count:
        raise ValueError(f"{name} needs 1 or {count} values, found {listed}")
    return listed
