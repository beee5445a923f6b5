"""Elements chosen by indices along one dimension, by places in the whole tensor, or by a mask."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import zip_longest
from math import prod
from typing import Any

import numpy as np

from conform.interp.blocks.blocks import flat, spans
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.advanced import elements_at
from conform.interp.ops.indexing.places import Places, of_dim, of_elements
from conform.interp.ops.reduction.sums import reshaped
from conform.interp.semantics import semantics
from conform.interp.size import broadcast_elements
from conform.numerics.formats import FORMATS, format_of


@semantics("aten::gather", selects=True)
def gather(self: np.ndarray, dim: int, index: np.ndarray) -> Golden:
    """result[i, j, ...] = self[i, index[i, j, ...], ...], the index standing in for coordinate dim (P26)"""
    source, places = (array.reshape(1) if array.ndim == 0 else array for array in (self, index))
    if not places.size:
        return exact(np.empty(index.shape, self.dtype), format_of(self))
    return reshaped(elements_at(source, Places(source.shape, of_elements(dim, places))), index.shape)


def _slices(arguments: Mapping[str, Any]) -> int:
    """As many hyperplanes of self as there are indices."""
    shape = np.shape(arguments["self"]) or (1,)
    axis = wrap_dim(arguments["dim"], len(shape))
    return prod(size for d, size in enumerate(shape) if d != axis) * np.size(arguments["index"])


@semantics("aten::index_select", along="dim", selects=True, elements=_slices)
def index_select(self: np.ndarray, dim: int, index: np.ndarray) -> Golden:
    """result[..., j, ...] = self[..., index[j], ...], the index standing for coordinate dim (P26)"""
    source = self if self.ndim else self.reshape(1)
    golden = elements_at(source, Places(source.shape, of_dim(source.ndim, dim, index)))
    return golden if self.ndim else reshaped(golden, ())


@semantics("aten::take", selects=True)
def take(self: np.ndarray, index: np.ndarray) -> Golden:
    """The elements of the flattened tensor at index, of which negative ones count from the end (P26)"""
    return elements_at(self, Places((self.size,), [index]))


def _along_dim(arguments: Mapping[str, Any]) -> int:
    """As many as the index has, broadcast along the dims beside dim."""
    own, its, dim = np.shape(arguments["self"]), np.shape(arguments["indices"]), arguments["dim"]
    sizes = zip_longest(own[::-1], its[::-1], fillvalue=1)
    return prod(its) if dim is None else prod(its) * prod(a for a, b in sizes if b == 1)


@semantics("aten::take_along_dim", selects=True, elements=_along_dim)
def take_along_dim(self: np.ndarray, indices: np.ndarray, dim: int | None = None) -> Golden:
    """result[i, j, ...] = self[i, indices[i, j, ...], ...], the index standing in for coordinate dim, both broadcast in
    the other dims; without dim of both flattened tensors (P26)"""
    if dim is None:
        return elements_at(self, Places((self.size,), [indices.reshape(-1)]))
    axis = wrap_dim(dim, self.ndim)
    shape = list(np.broadcast_shapes(*(one.shape[:axis] + (1,) + one.shape[axis + 1 :] for one in (self, indices))))
    source, places = (np.broadcast_to(one, _with_size(shape, axis, one.shape[axis])) for one in (self, indices))
    return gather(source, axis, places)


def _with_size(shape: list[int], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _classes(arguments: Mapping[str, Any]) -> int:
    classes = _class_count(arguments["self"], arguments["num_classes"])
    return np.size(arguments["self"]) * max(classes, 0)


def _class_count(self: np.ndarray, num_classes: int) -> int:
    return num_classes if num_classes >= 0 else int(self.max()) + 1 if self.size else 0


@semantics("aten::one_hot", elements=_classes)
def one_hot(self: np.ndarray, num_classes: int = -1) -> Golden:
    """result[..., c] = 1 where self is c, else 0, for c from 0 to num_classes, which is not one; -1 stands for the
    largest element and one more"""
    classes = _class_count(self, num_classes)
    result = np.zeros(self.size * classes, np.int64)
    for some in spans(self.size):
        result[np.arange(some.start, some.stop) * classes + flat(self, some)] = 1
    return exact(result.reshape(*self.shape, classes), FORMATS["int64"])


# By a mask, or by being true: how many elements there are depends on the data


@semantics("aten::masked_select", selects=True, elements=broadcast_elements)
def masked_select(self: np.ndarray, mask: np.ndarray) -> Golden:
    """The elements of self where mask is true, both broadcast, in C order"""
    elements, chosen = np.broadcast_arrays(self, mask)
    result = np.empty(sum(np.count_nonzero(flat(chosen, some)) for some in spans(chosen.size)), self.dtype)
    done = 0
    for some in spans(chosen.size):
        part = flat(elements, some)[flat(chosen, some)]
        result[done : done + part.size] = part
        done += part.size
    return exact(result, format_of(self))


@semantics("aten::nonzero_static", elements=lambda arguments: arguments["size"] * np.ndim(arguments["self"]))
def nonzero_static(self: np.ndarray, size: int, fill_value: int = -1) -> Golden:
    """The first size rows of nonzero; where there are fewer, rows of fill_value behind them"""
    result, done = np.full((size, self.ndim), fill_value, np.int64), 0
    for some in spans(self.size):
        places = some.start + np.flatnonzero(flat(self, some) != 0)[: size - done]
        for axis, coordinates in enumerate(np.unravel_index(places, self.shape) if self.ndim else ()):
            result[done : done + places.size, axis] = coordinates
        done += places.size
    return exact(result, FORMATS["int64"])


@semantics("aten::nonzero", elements=lambda arguments: np.size(arguments["self"]) * np.ndim(arguments["self"]))
def nonzero(self: np.ndarray) -> Golden:
    """The coordinates of the elements that are not 0 (NaN is not), a row for each, in C order"""
    count, done = sum(np.count_nonzero(flat(self, some)) for some in spans(self.size)), 0
    result = np.empty((count, self.ndim), np.int64)
    for some in spans(self.size):
        places = some.start + np.flatnonzero(flat(self, some) != 0)
        for axis, coordinates in enumerate(np.unravel_index(places, self.shape) if self.ndim else ()):
            result[done : done + places.size, axis] = coordinates
        done += places.size
    return exact(result, FORMATS["int64"])
