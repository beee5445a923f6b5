"""Reading and writing at indices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from conform.errors import InvalidArguments, Unjudged
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.numerics import accumulate as sums
from conform.interp.numerics.formats import Format, format_of
from conform.interp.operands import refuse_complex
from conform.interp.ops.elementwise import exact
from conform.interp.ops.reduction import overflowing
from conform.interp.registry import semantics


def _checked(index: np.ndarray, extent: int, dim: int, smallest: int = 0) -> np.ndarray:
    """`index`, of int64 or int32, counted from zero; out of range is an error (P26)."""
    if format_of(index).name not in ("int64", "int32"):
        raise InvalidArguments(f"an index is int64 or int32, got {format_of(index).name}")
    outside = (index < smallest) | (index >= extent)
    if outside.any():
        raise InvalidArguments(f"index {index[outside].flat[0]} is out of range for dim {dim} of size {extent}")
    return np.where(index < 0, index + extent, index)


@semantics("aten::gather")
def gather(self: np.ndarray, dim: int, index: np.ndarray) -> Golden:
    """result[i, j, ...] = self[i, index[i, j, ...], ...], the index standing in for coordinate dim"""
    axis = wrap_dim(dim, self.ndim)
    source, places = (array.reshape(1) if array.ndim == 0 else array for array in (self, index))
    if source.ndim != places.ndim:
        raise InvalidArguments(f"gather expects an index of {source.ndim} dimensions, got {list(index.shape)}")
    if any(i > s for d, (i, s) in enumerate(zip(places.shape, source.shape, strict=True)) if d != axis):
        raise InvalidArguments(f"index shape {list(index.shape)} exceeds {list(self.shape)} outside dim {dim}")
    if places.size == 0:
        return exact(np.empty(index.shape, self.dtype), format_of(self))
    coordinates = list(np.indices(places.shape, sparse=True))
    coordinates[axis] = _checked(places, source.shape[axis], dim)
    return exact(source[tuple(coordinates)].reshape(index.shape), format_of(self))


@semantics("aten::index_put")
def index_put(
    self: np.ndarray, indices: Sequence[np.ndarray | None], values: np.ndarray, accumulate: bool = False
) -> Golden:
    """self with `values` written at self[indices], or added there; None takes a whole dimension, a bool mask its
    True places"""
    fmt = format_of(self)
    if format_of(values) != fmt:
        raise InvalidArguments(f"index_put expects values of dtype {fmt.name}, got {format_of(values).name}")
    try:
        places = np.arange(self.size).reshape(self.shape)[_coordinates(self, indices)]
    except IndexError as error:
        raise InvalidArguments(f"index_put: {error}") from None
    try:
        written = np.broadcast_to(values, places.shape).ravel()
    except ValueError:
        raise InvalidArguments(
            f"values of shape {list(values.shape)} do not fit indices of {list(places.shape)}"
        ) from None
    if accumulate:
        return _added(self, fmt, places.ravel(), written)
    result = self.copy().reshape(-1)
    result[places.ravel()] = written
    repeated = np.bincount(places.ravel(), minlength=self.size) > 1
    return exact(result.reshape(self.shape), fmt).opened(repeated.reshape(self.shape), "P25")


def _coordinates(self: np.ndarray, indices: Sequence[np.ndarray | None]) -> tuple:
    """numpy's index for `indices`: masks as coordinates, integers checked; missing dimensions are taken whole."""
    coordinates: list = []
    for index in indices:
        dim = len(coordinates)
        if index is None:
            coordinates.append(slice(None))
        elif format_of(index).name in ("bool", "uint8"):
            if index.ndim == 0:
                raise Unjudged("no semantics for index_put with a 0-d mask, which torch documents nowhere")
            if index.shape != self.shape[dim : dim + index.ndim]:
                raise InvalidArguments(
                    f"mask of shape {list(index.shape)} does not match dims {dim}.. of {list(self.shape)}"
                )
            coordinates += list(np.nonzero(index))
        else:
            if dim >= self.ndim:
                raise InvalidArguments(f"too many indices for a tensor of {self.ndim} dimensions")
            coordinates.append(_checked(index, self.shape[dim], dim, smallest=-self.shape[dim]))
    return tuple(coordinates)


def _added(self: np.ndarray, fmt: Format, places: np.ndarray, written: np.ndarray) -> Golden:
    """Every write added: a sum per element, exact for integers and or for bools, else a real sum rounded once."""
    refuse_complex(fmt, "index_put with accumulate")
    if not fmt.is_float:
        result = self.copy().reshape(-1)
        with np.errstate(over="ignore"):
            (np.logical_or if fmt.kind == "bool" else np.add).at(result, places, written)
        return exact(result.reshape(self.shape), fmt)
    counts = np.bincount(places, minlength=self.size)
    terms = np.zeros((1 + counts.max(initial=0), self.size))
    terms[0] = self.reshape(-1).astype(np.float64)
    order = np.argsort(places, kind="stable")
    rank = np.arange(places.size) - np.repeat(np.cumsum(counts) - counts, counts)
    terms[1 + rank, places[order]] = written[order].astype(np.float64)
    total = sums.total(terms, axis=0)
    value, real = sums.decide_sum(fmt, total, lambda index: sums.exact_total(terms[(slice(None), *index)]))
    shape = self.shape
    golden = Golden(
        fmt, value.reshape(shape), real.reshape(shape), counts.reshape(shape), total.magnitude.reshape(shape),
        zero_sign_free=True,
    )  # fmt: skip
    return golden.opened(overflowing(fmt, total).reshape(shape), "P35")
