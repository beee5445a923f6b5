"""Tensors with dims added, one beside the other; and choices of elements."""

from __future__ import annotations

import itertools
from math import prod

from conform.refs.exact.promotion import convert
from conform.refs.exact.tensor import RefTensor, broadcast_shapes, expand
from conform.refs.references import reference
from conform.refs.shape.joining import cat


def _with_dims(tensor: RefTensor, rank: int) -> RefTensor:
    """The tensor in the shape of at least so many dims in which torch's atleast functions give it."""
    shape = tuple(tensor.shape)
    if len(shape) >= rank:
        return tensor
    wanted = {
        1: {0: (1,)},
        2: {0: (1, 1), 1: (1, *shape)},
        3: {0: (1, 1, 1), 1: (1, *shape, 1), 2: (*shape, 1)},
    }[rank][len(shape)]
    return RefTensor(tensor.dtype, wanted, tensor.data)


@reference("aten::atleast_1d")
def atleast_1d(self: RefTensor) -> RefTensor:
    """A number as a list of one."""
    return _with_dims(self, 1)


@reference("aten::atleast_2d")
def atleast_2d(self: RefTensor) -> RefTensor:
    """A number, or a list, as a row of a matrix."""
    return _with_dims(self, 2)


@reference("aten::atleast_3d")
def atleast_3d(self: RefTensor) -> RefTensor:
    """A matrix gets a last dim of size 1; a list is a row of such a matrix."""
    return _with_dims(self, 3)


@reference("aten::atleast_1d.Sequence")
def atleast_1d_of_each(tensors: list[RefTensor]) -> tuple[RefTensor, ...]:
    """Each number as a list of one."""
    return tuple(_with_dims(tensor, 1) for tensor in tensors)


@reference("aten::atleast_2d.Sequence")
def atleast_2d_of_each(tensors: list[RefTensor]) -> tuple[RefTensor, ...]:
    """Each number, or list, as a row of a matrix."""
    return tuple(_with_dims(tensor, 2) for tensor in tensors)


@reference("aten::atleast_3d.Sequence")
def atleast_3d_of_each(tensors: list[RefTensor]) -> tuple[RefTensor, ...]:
    """Each with three dims."""
    return tuple(_with_dims(tensor, 3) for tensor in tensors)


@reference("aten::broadcast_tensors")
def broadcast_tensors(tensors: list[RefTensor]) -> tuple[RefTensor, ...]:
    """Every tensor repeated to the one shape to which all broadcast."""
    shape = broadcast_shapes(*(tuple(tensor.shape) for tensor in tensors))
    return tuple(RefTensor(one.dtype, shape, expand(one.data, one.shape, shape)) for one in tensors)


def _beside(tensors: list[RefTensor], dim: int) -> RefTensor:
    """The tensors, all of one rank, one beside the other."""
    if not tensors or len({len(tensor.shape) for tensor in tensors}) > 1:
        raise ValueError(f"tensors of one number of dims are needed, found {[tensor.shape for tensor in tensors]}")
    return cat(tensors, dim)


@reference("aten::hstack")
def hstack(tensors: list[RefTensor]) -> RefTensor:
    """Lists one behind the other; of more dims along the second."""
    own = [_with_dims(tensor, 1) for tensor in tensors]
    return _beside(own, 0 if own and len(own[0].shape) == 1 else 1)


@reference("aten::vstack", "aten::row_stack")
def vstack(tensors: list[RefTensor]) -> RefTensor:
    """Rows one below the other."""
    return _beside([_with_dims(tensor, 2) for tensor in tensors], 0)


@reference("aten::dstack")
def dstack(tensors: list[RefTensor]) -> RefTensor:
    """Matrices one behind the other."""
    return _beside([_with_dims(tensor, 3) for tensor in tensors], 2)


@reference("aten::column_stack")
def column_stack(tensors: list[RefTensor]) -> RefTensor:
    """Columns one beside the other: numbers and lists are columns."""
    columns = [one if len(one.shape) > 1 else RefTensor(one.dtype, (len(one.data), 1), one.data) for one in tensors]
    return _beside(columns, 1)


@reference("aten::pad_sequence")
def pad_sequence(
    sequences: list[RefTensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> RefTensor:
    """Step t of sequence b at [t, b], or at [b, t] where batch_first; where a sequence has no step, padding_value."""
    if not sequences or not all(one.shape and one.shape[1:] == sequences[0].shape[1:] for one in sequences):
        raise ValueError("sequences of one or more dims are needed, equal in all but the first")
    if padding_side not in ("left", "right"):
        raise ValueError(f"padding_side is 'left' or 'right', found {padding_side!r}")
    dtype, rest = sequences[0].dtype, tuple(sequences[0].shape[1:])
    longest, step = max(one.shape[0] for one in sequences), prod(rest)
    padding = [convert(padding_value, dtype)] * step

    def at(number: int, time: int) -> list:
        one = sequences[number]
        own = time - (longest - one.shape[0] if padding_side == "left" else 0)
        return one.data[own * step : (own + 1) * step] if 0 <= own < one.shape[0] else padding

    count = len(sequences)
    order = [(b, t) for b in range(count) for t in range(longest)]
    order = order if batch_first else [(b, t) for t in range(longest) for b in range(count)]
    shape = (count, longest, *rest) if batch_first else (longest, count, *rest)
    return RefTensor(dtype, shape, [x for place in order for x in at(*place)])


@reference("aten::cartesian_prod")
def cartesian_prod(tensors: list[RefTensor]) -> RefTensor:
    """All tuples with an element of each list, as itertools.product orders them; of one list that list."""
    if not tensors or any(len(one.shape) != 1 or one.dtype != tensors[0].dtype for one in tensors):
        raise ValueError("lists of one dtype are needed")
    if len(tensors) == 1:
        return tensors[0]
    rows = list(itertools.product(*(tensor.data for tensor in tensors)))
    return RefTensor(tensors[0].dtype, (len(rows), len(tensors)), [x for row in rows for x in row])


@reference("aten::combinations")
def combinations(self: RefTensor, r: int = 2, with_replacement: bool = False) -> RefTensor:
    """All subsequences of r elements, as itertools orders them."""
    if len(self.shape) != 1 or r < 0:
        raise ValueError(f"combinations of a list, of 0 or more elements, found shape {self.shape} and {r}")
    if r == 0:
        return RefTensor(self.dtype, (0,), [])
    of = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    rows = list(of(self.data, r))
    return RefTensor(self.dtype, (len(rows), r), [x for row in rows for x in row])
