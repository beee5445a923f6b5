"""gather and scatter. What is out of bounds is the implementation's: gather moves a slice inward until all of it is
there, scatter leaves out the elements of an update that are not (as XLA does)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.stablehlo.dequantized import promoted, promoted_types
from conform.interp.stablehlo.ops.movement import are_dims, is_unique, states
from conform.interp.stablehlo.quantized import PER_TENSOR, PER_TENSOR_INPUTS
from conform.interp.stablehlo.regions import on_elements
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor


def is_sorted(dims: Sequence[int]) -> bool:
    return list(dims) == sorted(dims)


def _start_vectors(call: Call, indices: Tensor, vector_dim: int) -> np.ndarray:
    """[batch dims..., components] of start indices."""
    call.require("I2", indices.format.is_integer, f"indices of {indices}")
    array = indices.array.astype(np.int64) if indices.format.kind == "int" else indices.array.astype(np.uint64)
    array = np.minimum(array, array.dtype.type(2**62)).astype(np.int64)
    return array[..., None] if vector_dim == indices.rank else np.moveaxis(array, vector_dim, -1)


def _full_starts(
    vectors: np.ndarray,
    rank: int,
    map_: Sequence[int],
    batching: Sequence[int],
    of_indices: Sequence[int],
    vector_dim: int,
) -> np.ndarray:
    """[batch dims..., rank]: where each slice begins in every dimension of the operand."""
    starts = np.zeros((*vectors.shape[:-1], rank), np.int64)
    for component, dim in enumerate(map_):
        starts[..., dim] = vectors[..., component]
    for dim, batch in zip(batching, of_indices, strict=True):
        axis = batch - (batch > vector_dim)
        places = np.arange(vectors.shape[axis]).reshape([-1 if d == axis else 1 for d in range(vectors.ndim - 1)])
        starts[..., dim] = np.broadcast_to(places, vectors.shape[:-1])
    return starts


@meaning("stablehlo.gather", moves=1, quantized=PER_TENSOR)
def gather(call: Call) -> np.ndarray:
    """Slices of operand, of slice_sizes, that begin at start_indices"""
    operand, indices = call.operands
    sizes = call.dims("slice_sizes")
    return gathered(call, operand, indices, sizes)


@meaning("stablehlo.dynamic_gather", moves=1, quantized=PER_TENSOR)
def dynamic_gather(call: Call) -> np.ndarray:
    """gather of slice_sizes, which is an operand"""
    operand, indices, sizes = call.operands
    return gathered(call, operand, indices, tuple(int(one) for one in sizes.array))


def gathered(call: Call, operand: Tensor, indices: Tensor, sizes: Sequence[int]) -> np.ndarray:
    numbers: Mapping[str, Any] = call.attributes["dimension_numbers"]
    offset, collapsed, batching, of_indices, map_ = (
        tuple(numbers.get(name, ())) for name in
        ("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
         "start_index_map")
    )  # fmt: skip
    vector_dim = int(numbers.get("index_vector_dim", 0))
    call.get("indices_are_sorted", False)
    require = call.require
    require(
        "C1", operand.rank == len(offset) + len(collapsed) + len(batching), f"{len(offset)} offset_dims of {operand}"
    )
    require("C2", 0 <= vector_dim <= indices.rank, f"index_vector_dim {vector_dim} of {indices}")
    vectors = _start_vectors(call, indices, vector_dim)
    require("C3", len(map_) == vectors.shape[-1], f"start_index_map {list(map_)} of {indices}")
    require("C4", is_unique(offset) and is_sorted(offset), f"offset_dims {list(offset)}")
    require("C5", are_dims(offset, vectors.ndim - 1 + len(offset)), f"offset_dims {list(offset)}")
    require("C6", is_unique((*collapsed, *batching)), f"collapsed_slice_dims {list(collapsed)} and {list(batching)}")
    require("C7", is_sorted(collapsed), f"collapsed_slice_dims {list(collapsed)}")
    require("C8", are_dims(collapsed, operand.rank), f"collapsed_slice_dims {list(collapsed)} of {operand}")
    require("C20", len(sizes) == operand.rank, f"slice_sizes {list(sizes)} of {operand}")
    require("C9", all(sizes[dim] <= 1 for dim in collapsed), f"slice_sizes {list(sizes)}, {list(collapsed)} collapsed")
    require("C10", is_sorted(batching), f"operand_batching_dims {list(batching)}")
    require("C11", are_dims(batching, operand.rank), f"operand_batching_dims {list(batching)} of {operand}")
    require("C12", all(sizes[dim] <= 1 for dim in batching), f"slice_sizes {list(sizes)} with batches {list(batching)}")
    _batching_of_indices(call, indices, of_indices, batching, operand, vector_dim, 13)
    require("C18", is_unique((*map_, *batching)), f"start_index_map {list(map_)} and {list(batching)}")
    require("C19", are_dims(map_, operand.rank), f"start_index_map {list(map_)} of {operand}")
    require("C21", all(0 <= size <= n for size, n in zip(sizes, operand.shape, strict=True)),
            f"slice_sizes {list(sizes)} of {operand}")  # fmt: skip
    starts = _full_starts(vectors, operand.rank, map_, batching, of_indices, vector_dim)
    kept = [dim for dim in range(operand.rank) if dim not in (*collapsed, *batching)]
    window = [size if dim in kept else 1 for dim, size in enumerate(sizes)]  # of a dimension that goes, one element
    batch = vectors.shape[:-1]
    if 0 in operand.shape and prod((*batch, *window)):
        raise Unjudged(f"{call.op.name}: a slice of {operand}, which has no elements")
    starts = np.clip(starts, 0, np.array(operand.shape, np.int64) - np.array(window, np.int64))
    found = _slices(operand.array, starts, window)
    found = found.reshape(*batch, *(sizes[dim] for dim in kept))
    places = [dim for dim in range(found.ndim) if dim not in offset]
    found = np.moveaxis(found, range(found.ndim), [*places, *offset])
    require("C23", operand.dtype == call.results[0].dtype, f"{operand} with the result {call.results[0]}")
    states(call, "C22", operand.dtype, found.shape)
    return found


def _batching_of_indices(
    call: Call,
    indices: Tensor,
    of_indices: Sequence[int],
    batching: Sequence[int],
    operand: Tensor,
    vector_dim: int,
    first: int,
) -> None:
    """The five constraints of the batching dimensions of the indices, the first of which is (C`first`)."""
    names = [f"C{first + at}" for at in range(5)]
    told = f"batching dimensions {list(of_indices)} of {indices}, {list(batching)} of {operand}"
    call.require(names[0], is_unique(of_indices), told)
    call.require(names[1], are_dims(of_indices, indices.rank), told)
    call.require(names[2], vector_dim not in of_indices, told)
    call.require(names[3], len(batching) == len(of_indices), told)
    call.require(
        names[4], all(operand.shape[a] == indices.shape[b] for a, b in zip(batching, of_indices, strict=True)), told
    )


def _slices(array: np.ndarray, starts: np.ndarray, window: Sequence[int]) -> np.ndarray:
    """[batch dims..., window dims...] of an array: the elements from each start on."""
    batch = starts.shape[:-1]
    shape = (*batch, *window)
    if prod(shape) == 0:
        return np.empty(shape, array.dtype)
    index = []
    for dim, size in enumerate(window):
        offsets = np.arange(size).reshape([-1 if d == dim else 1 for d in range(array.ndim)])
        index.append(starts[..., dim].reshape(*batch, *[1] * array.ndim) + offsets)
    return array[tuple(np.broadcast_arrays(*index))] if index else np.broadcast_to(array, batch).copy()


@meaning("stablehlo.scatter", quantized=PER_TENSOR_INPUTS)
def scatter(call: Call) -> tuple[np.ndarray, ...]:
    """inputs with update_computation(element, update) for each element of updates, at scatter_indices, one after the
    other in ascending order of their indices; all in the element types of update_computation"""
    count = len(call.operands) // 2
    call.require("C5", count >= 1 and len(call.operands) == 2 * count + 1, f"{len(call.operands)} operands")
    inputs, indices, updates = call.operands[:count], call.operands[count], call.operands[count + 1 :]
    places, valid = update_places(call, inputs, indices, updates)
    (computation,) = call.regions
    names = promoted_types(call, "C23", computation, inputs)
    for one, result, name in zip(inputs, call.results, names, strict=True):
        call.require("C24", result.holds(result.dtype, one.shape), f"{one} with the result {result}")
        call.require("C25", result.dtype == name, f"the result {result} of a region of {name}")
    results = [promoted(one, name).copy().reshape(-1) for one, name in zip(inputs, names, strict=True)]
    changes = [promoted(one, name).reshape(-1)[valid] for one, name in zip(updates, names, strict=True)]
    for turn in turns(places[valid]):
        where = places[valid][turn]
        new = on_elements(computation, *(one[where] for one in results), *(one[turn] for one in changes))
        for result, value in zip(results, new, strict=True):
            result[where] = value
    return tuple(result.reshape(one.shape) for result, one in zip(results, inputs, strict=True))


def turns(places: np.ndarray) -> list[np.ndarray]:
    """Which updates may be made at once, their places being distinct: the first of each place, then the second, ..."""
    order = np.argsort(places, kind="stable")
    ranked = places[order]
    begins = np.concatenate([[True], ranked[1:] != ranked[:-1]]) if len(ranked) else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(begins, np.arange(len(ranked)), 0)) if len(ranked) else ranked
    turn = np.empty(len(places), np.int64)
    turn[order] = np.arange(len(ranked)) - first
    return [np.flatnonzero(turn == at) for at in range(turn.max(initial=-1) + 1)]


def update_places(
    call: Call, inputs: Sequence[Tensor], indices: Tensor, updates: Sequence[Tensor]
) -> tuple[np.ndarray, np.ndarray]:
    """Of every element of the updates its place in the flat inputs, and whether it has one."""
    numbers: Mapping[str, Any] = call.attributes["scatter_dimension_numbers"]
    window, inserted, batching, of_indices, map_ = (
        tuple(numbers.get(name, ())) for name in
        ("update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
         "scatter_dims_to_operand_dims")
    )  # fmt: skip
    vector_dim, first, update = int(numbers.get("index_vector_dim", 0)), inputs[0], updates[0]
    call.get("indices_are_sorted", False), call.get("unique_indices", False)
    require = call.require
    for one, other in zip(inputs, updates, strict=True):
        require("C1", one.shape == first.shape, f"inputs {first} and {one}")
        require("C3", other.shape == update.shape, f"updates {update} and {other}")
        require("C6", one.dtype == other.dtype, f"an update of {other} for {one}")
    require(
        "C2", first.rank == len(window) + len(inserted) + len(batching), f"update_window_dims {list(window)} of {first}"
    )
    require("C7", is_unique(window) and is_sorted(window), f"update_window_dims {list(window)}")
    require("C8", are_dims(window, update.rank), f"update_window_dims {list(window)} of {update}")
    require("C9", is_unique((*inserted, *batching)), f"inserted_window_dims {list(inserted)} and {list(batching)}")
    require("C10", is_sorted(inserted), f"inserted_window_dims {list(inserted)}")
    require("C11", are_dims(inserted, first.rank), f"inserted_window_dims {list(inserted)} of {first}")
    require("C12", is_sorted(batching), f"input_batching_dims {list(batching)}")
    require("C13", are_dims(batching, first.rank), f"input_batching_dims {list(batching)} of {first}")
    _batching_of_indices(call, indices, of_indices, batching, first, vector_dim, 14)
    require("C22", 0 <= vector_dim <= indices.rank, f"index_vector_dim {vector_dim} of {indices}")
    vectors = _start_vectors(call, indices, vector_dim)
    require("C19", len(map_) == vectors.shape[-1], f"scatter_dims_to_operand_dims {list(map_)} of {indices}")
    require("C20", is_unique((*map_, *batching)), f"scatter_dims_to_operand_dims {list(map_)} and {list(batching)}")
    require("C21", are_dims(map_, first.rank), f"scatter_dims_to_operand_dims {list(map_)} of {first}")
    batch_dims = [dim for dim in range(update.rank) if dim not in window]
    kept = [dim for dim in range(first.rank) if dim not in (*inserted, *batching)]
    require("C4", [update.shape[dim] for dim in batch_dims] == list(vectors.shape[:-1])
            and all(update.shape[a] <= first.shape[b] for a, b in zip(window, kept, strict=True)),
            f"updates {update} of {first} at {indices}")  # fmt: skip
    starts = _full_starts(vectors, first.rank, map_, batching, of_indices, vector_dim)
    return _flat_places(first.shape, update.shape, starts, batch_dims, dict(zip(kept, window, strict=True)))


def _flat_places(
    shape: Sequence[int],
    update: Sequence[int],
    starts: np.ndarray,
    batch_dims: Sequence[int],
    window: Mapping[int, int],
) -> tuple[np.ndarray, np.ndarray]:
    valid, flat = np.ones(update, bool), np.zeros(update, np.int64)
    at = np.indices(update, sparse=True) if len(update) else ()
    for dim, size in enumerate(shape):
        spread = np.expand_dims(starts[..., dim], [d for d in range(len(update)) if d not in batch_dims])
        place = spread + at[window[dim]] if dim in window else spread
        valid &= (place >= 0) & (place < size)
        flat = flat * size + np.clip(place, 0, max(size - 1, 0))
    return np.broadcast_to(flat, update).reshape(-1), valid.reshape(-1)
