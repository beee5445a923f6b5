"""Ops with regions, element by element from the specification's text; of orders that it leaves open the ascending one.

A region is a function of elements, which gives as many as it has results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from conform.refs.exact.tensor import RefTensor, Shape
from conform.refs.stablehlo.movement import at, indices, pad

Region = Callable[..., Sequence[object]]


def _executed(body: Region, init_values: Sequence[object], rows: Sequence[Sequence[object]]) -> list[object]:
    """body(...body(init, row 0)..., row n)."""
    state = list(init_values)
    for row in rows:
        state = list(body(*state, *row))
    return state


def _columns(inputs: Sequence[RefTensor], shape: Shape, found: Sequence[Sequence[object]]) -> list[RefTensor]:
    return [RefTensor(one.dtype, shape, [row[at_] for row in found]) for at_, one in enumerate(inputs)]


def reduce(
    inputs: Sequence[RefTensor], init_values: Sequence[object], dimensions: Sequence[int], body: Region
) -> list[RefTensor]:
    """results[j0, ..., jR-1] = reduce(inputs[j0, ..., :, ..., jR-1]), `:` at dimensions."""
    whole = inputs[0].shape
    kept = [dim for dim in range(len(whole)) if dim not in dimensions]
    found = []
    for index in indices([whole[dim] for dim in kept]):
        rows = []
        for inner in indices([whole[dim] for dim in sorted(dimensions)]):
            place = dict(zip((*kept, *sorted(dimensions)), (*index, *inner), strict=True))
            rows.append([at(one, [place[dim] for dim in range(len(whole))]) for one in inputs])
        found.append(_executed(body, init_values, rows))
    return _columns(inputs, tuple(whole[dim] for dim in kept), found)


def reduce_window(
    inputs: Sequence[RefTensor], init_values: Sequence[object], window_dimensions: Sequence[int],
    window_strides: Sequence[int], base_dilations: Sequence[int], window_dilations: Sequence[int],
    padding: Sequence[Sequence[int]], body: Region,
) -> list[RefTensor]:  # fmt: skip
    """reduce of each window of the padded inputs."""
    low, high = [row[0] for row in padding], [row[1] for row in padding]
    interior = [each - 1 for each in base_dilations]
    padded = [pad(one, init, low, high, interior) for one, init in zip(inputs, init_values, strict=True)]
    shape = []
    for size, window, stride, dilation in zip(padded[0].shape, window_dimensions, window_strides, window_dilations,
                                              strict=True):  # fmt: skip
        extent = (window - 1) * dilation + 1
        shape.append(0 if size == 0 or extent > size else (size - extent) // stride + 1)
    found = []
    for index in indices(shape):
        places = [[i * stride + k * dilation for i, stride, k, dilation in
                   zip(index, window_strides, inner, window_dilations, strict=True)]
                  for inner in indices(window_dimensions)]  # fmt: skip
        found.append(_executed(body, init_values, [[at(one, place) for one in padded] for place in places]))
    return _columns(inputs, tuple(shape), found)


def select_and_scatter(
    operand: RefTensor, source: RefTensor, init_value: object, window_dimensions: Sequence[int],
    window_strides: Sequence[int], padding: Sequence[Sequence[int]], select: Region, scatter: Region,
) -> RefTensor:  # fmt: skip
    """init_value, with scatter of it and each element of source at the place that select keeps of its window."""
    data = dict.fromkeys(indices(operand.shape), init_value)
    for index in indices(source.shape):
        chosen = None
        for inner in indices(window_dimensions):
            place = tuple(i * stride + k - row[0] for i, stride, k, row in
                          zip(index, window_strides, inner, padding, strict=True))  # fmt: skip
            if place not in data:
                continue
            if chosen is None or not select(at(operand, chosen), at(operand, place))[0]:
                chosen = place
        if chosen is not None:
            (data[chosen],) = scatter(data[chosen], at(source, index))
    return RefTensor(operand.dtype, operand.shape, list(data.values()))


def sort(inputs: Sequence[RefTensor], dimension: int, comparator: Region) -> list[RefTensor]:
    """Each slice along dimension, by insertion from behind: an element goes before those that it is less than."""
    shape = inputs[0].shape
    dim = dimension if dimension >= 0 else len(shape) + dimension
    found = [dict(zip(indices(shape), one.data, strict=True)) for one in inputs]
    for index in indices([1 if d == dim else size for d, size in enumerate(shape)]):
        places = [(*index[:dim], k, *index[dim + 1 :]) for k in range(shape[dim])]
        ordered: list[list[object]] = []
        for place in places:
            new, end = [one[place] for one in found], len(ordered)
            while end and comparator(*(e for pair in zip(new, ordered[end - 1], strict=True) for e in pair))[0]:
                end -= 1
            ordered.insert(end, new)
        for place, row in zip(places, ordered, strict=True):
            for one, value in zip(found, row, strict=True):
                one[place] = value
    return [RefTensor(one.dtype, shape, list(part.values())) for one, part in zip(inputs, found, strict=True)]
