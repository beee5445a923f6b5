"""Rules of ops that pick elements by tensors of indices, which must be known."""

from __future__ import annotations

import numpy as np

from conform.errors import NoGolden
from conform.interp.dims import wrap_dim
from conform.interp.program.choice import for_each_possible
from conform.interp.program.number import Number
from conform.interp.program.rules import composition, rule


@rule("aten::embedding", selects=True)
def embedding(
    weight: Number, indices: Number, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Number:
    """The rows of `weight` with the numbers `indices`; all else concerns gradients alone."""
    def picked(one: Number) -> Number:
        rows = _known("aten::embedding", one, weight.shape[0])
        return weight.moved(lambda part: part[rows])

    if indices.array is not None:
        return picked(indices)
    hangs = indices.moved(lambda part: part[..., None])
    return for_each_possible("aten::embedding", hangs, lambda one: picked(one.moved(lambda part: part[..., 0])))


@rule("aten::index_select", selects=True)
def index_select(self: Number, dim: int, index: Number) -> Number:
    axis = wrap_dim(dim, self.ndim)
    places = _known("aten::index_select", index, self.shape[axis])
    return self.moved(lambda part: part.take(np.atleast_1d(places), axis))


@rule("aten::index.Tensor", selects=True)
def index(self: Number, indices: list[Number | None]) -> Number:
    """self[indices], None for a whole dim; indices of integers as numpy takes them, which stand side by side."""
    given = [at for at, one in enumerate(indices) if one is not None]
    if any(indices[at].format.kind == "bool" for at in given):
        raise NoGolden("a program cannot use aten::index.Tensor with a mask: its elements decide the result's shape")
    places = tuple(
        slice(None) if one is None else _known("aten::index.Tensor", one, self.shape[at])
        for at, one in enumerate(indices)
    )
    return self.moved(lambda part: part[places])


@composition("aten::take")
def take(self: Number, index: Number) -> Number:
    """The elements at places of `self` as one row."""
    return self.reshape(-1)[index]


@composition("aten::take_along_dim")
def take_along_dim(self: Number, indices: Number, dim: int | None = None) -> Number:
    """gather of tensors that broadcast but along `dim`, or of both as rows"""
    if dim is None:
        return self.reshape(-1).gather(0, indices.reshape(-1))
    axis = wrap_dim(dim, self.ndim)
    shape = np.broadcast_shapes(*((*one.shape[:axis], 1, *one.shape[axis + 1 :]) for one in (self, indices)))
    source, places = (one.expand([*shape[:axis], one.shape[axis], *shape[axis + 1 :]]) for one in (self, indices))
    return source.gather(axis, places)


def _known(op: str, indices: Number, size: int) -> np.ndarray:
    if indices.array is None:
        raise NoGolden(f"a program cannot use {op} with computed indices: what it picks would hang on them")
    found = indices.array.astype(np.int64)
    outside = (found < -size) | (found >= size)
    if outside.any():
        raise NoGolden(f"{op}: found index {found[outside].flat[0]}, expected one of {size}")
    return found
