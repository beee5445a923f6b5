"""gather and scatter, index by index from the specification's text. Elements may be anything."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from conform.refs.exact.tensor import RefTensor, Shape
from conform.refs.stablehlo.movement import at, indices

Numbers = Mapping[str, Sequence[int]]  # the dimension numbers by their names; missing ones are empty


def _start_index(indices_: RefTensor, batch_index: Sequence[int], index_vector_dim: int, size: int) -> list[int]:
    """start_indices[bi0, ..., :, ..., biN], `:` at index_vector_dim; the one number where there is none."""
    if index_vector_dim == len(indices_.shape):
        return [int(at(indices_, batch_index))]
    before, behind = batch_index[:index_vector_dim], batch_index[index_vector_dim:]
    return [int(at(indices_, (*before, k, *behind))) for k in range(size)]


def _batching(
    rank: int, batch_index: Sequence[int], of_operand: Sequence[int], of_indices: Sequence[int], index_vector_dim: int
) -> list[int]:
    """full_batching_index."""
    found = [0] * rank
    for d_operand, d_start in zip(of_operand, of_indices, strict=True):
        found[d_operand] = batch_index[d_start - (0 if d_start < index_vector_dim else 1)]
    return found


def _inserted(values: Sequence[int], rank: int, zeros: Sequence[int]) -> list[int]:
    """`values`, with a 0 at each of the indices `zeros`."""
    left = list(values)
    return [0 if d in zeros else left.pop(0) for d in range(rank)]


def gather(
    operand: RefTensor, start_indices: RefTensor, numbers: Numbers, index_vector_dim: int, slice_sizes: Sequence[int],
    shape: Shape,
) -> RefTensor:  # fmt: skip
    """result[result_index] = operand[full_start_index + full_batching_index + full_offset_index], of `shape`."""
    offset_dims, map_ = numbers.get("offset_dims", ()), numbers.get("start_index_map", ())
    of_operand = numbers.get("operand_batching_dims", ())
    rank, data = len(operand.shape), []
    for index in indices(shape):
        batch_index = [i for d, i in enumerate(index) if d not in offset_dims]
        start = _start_index(start_indices, batch_index, index_vector_dim, len(map_))
        full = _batching(
            rank, batch_index, of_operand, numbers.get("start_indices_batching_dims", ()), index_vector_dim
        )
        for d_start, d_operand in enumerate(map_):
            full[d_operand] += min(max(start[d_start], 0), operand.shape[d_operand] - slice_sizes[d_operand])
        offset = [index[d] for d in offset_dims]
        inside = _inserted(offset, rank, (*numbers.get("collapsed_slice_dims", ()), *of_operand))
        data.append(at(operand, [a + b for a, b in zip(full, inside, strict=True)]))
    return RefTensor(operand.dtype, shape, data)


def scatter(
    inputs: Sequence[RefTensor], scatter_indices: RefTensor, updates: Sequence[RefTensor], numbers: Numbers,
    index_vector_dim: int, update_computation: Callable[..., Sequence[object]],
) -> list[RefTensor]:  # fmt: skip
    """inputs, with update_computation of each element that an update is for and that update, the updates in ascending
    order of their indices."""
    window_dims, map_ = numbers.get("update_window_dims", ()), numbers.get("scatter_dims_to_operand_dims", ())
    of_operand = numbers.get("input_batching_dims", ())
    shape, results = inputs[0].shape, [dict(zip(indices(one.shape), one.data, strict=True)) for one in inputs]
    for index in indices(updates[0].shape):
        scatter_index = [i for d, i in enumerate(index) if d not in window_dims]
        start = _start_index(scatter_indices, scatter_index, index_vector_dim, len(map_))
        of_indices = numbers.get("scatter_indices_batching_dims", ())
        full = _batching(len(shape), scatter_index, of_operand, of_indices, index_vector_dim)
        for d_start, d_input in enumerate(map_):
            full[d_input] += start[d_start]
        window = [index[d] for d in window_dims]
        inside = _inserted(window, len(shape), (*numbers.get("inserted_window_dims", ()), *of_operand))
        place = tuple(a + b for a, b in zip(full, inside, strict=True))
        if all(0 <= i < n for i, n in zip(place, shape, strict=True)):
            new = update_computation(*(one[place] for one in results), *(at(one, index) for one in updates))
            for result, value in zip(results, new, strict=True):
                result[place] = value
    return [RefTensor(one.dtype, shape, list(found.values())) for one, found in zip(inputs, results, strict=True)]
