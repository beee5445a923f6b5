"""StableHLO's ops that move elements, index by index from the specification's text. Elements may be anything."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from conform.refs.exact.tensor import RefTensor, Shape, rearranged, strides_of


def at(tensor: RefTensor, index: Sequence[int]) -> object:
    """The element at an index."""
    return tensor.data[sum(i * stride for i, stride in zip(index, strides_of(tensor.shape), strict=True))]


def indices(shape: Sequence[int]) -> product:
    """The index space, in ascending lexicographic order."""
    return product(*(range(size) for size in shape))


def transpose(operand: RefTensor, permutation: Sequence[int]) -> RefTensor:
    """result_index[d] = operand_index[permutation[d]]."""

    def source(index: Shape) -> Shape:
        return tuple(index[list(permutation).index(dim)] for dim in range(len(index)))

    return rearranged(operand, [operand.shape[dim] for dim in permutation], source)


def reverse(operand: RefTensor, dimensions: Sequence[int]) -> RefTensor:
    """operand_index[d] = dim(result, d) - result_index[d] - 1 for d in dimensions."""
    shape = operand.shape
    return rearranged(operand, shape, lambda index: tuple(
        shape[d] - i - 1 if d in dimensions else i for d, i in enumerate(index)))  # fmt: skip


def slice_(
    operand: RefTensor, start_indices: Sequence[int], limit_indices: Sequence[int], strides: Sequence[int]
) -> RefTensor:
    """operand_index = start_indices + result_index * strides."""
    bounds = list(zip(start_indices, limit_indices, strides, strict=True))
    shape = [-((start - limit) // stride) for start, limit, stride in bounds]
    return rearranged(operand, shape, lambda index: tuple(
        start + i * stride for i, (start, _, stride) in zip(index, bounds, strict=True)))  # fmt: skip


def pad(
    operand: RefTensor, padding_value: object, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> RefTensor:
    """operand[operand_index] where result_index = low + operand_index * (interior + 1), else the padding value."""
    dims = list(zip(operand.shape, low, high, interior, strict=True))
    shape = [n + a + max(n - 1, 0) * k + b for n, a, b, k in dims]
    data = []
    for index in indices(shape):
        steps = [divmod(i - a, k + 1) for i, (_, a, _, k) in zip(index, dims, strict=True)]
        inside = all(rest == 0 and 0 <= place < n for (place, rest), (n, *_) in zip(steps, dims, strict=True))
        data.append(at(operand, [place for place, _ in steps]) if inside else padding_value)
    return RefTensor(operand.dtype, tuple(shape), data)


def concatenate(inputs: Sequence[RefTensor], dimension: int) -> RefTensor:
    """The k-th input, from the place on where those before it end."""
    first = inputs[0]
    owners = [(one, place) for one in inputs for place in range(one.shape[dimension])]
    shape = (*first.shape[:dimension], len(owners), *first.shape[dimension + 1 :])
    data = []
    for index in indices(shape):
        one, place = owners[index[dimension]]
        data.append(at(one, (*index[:dimension], place, *index[dimension + 1 :])))
    return RefTensor(first.dtype, shape, data)


def reshape(operand: RefTensor, shape: Shape) -> RefTensor:
    """The same positions in the lexicographic order."""
    assert prod(shape) == len(operand.data)
    return RefTensor(operand.dtype, shape, list(operand.data))


def broadcast_in_dim(operand: RefTensor, broadcast_dimensions: Sequence[int], shape: Shape) -> RefTensor:
    """operand_index[d] = 0 where dim(operand, d) = 1, else result_index[broadcast_dimensions[d]]."""
    dims = list(zip(operand.shape, broadcast_dimensions, strict=True))
    return rearranged(operand, shape, lambda index: tuple(0 if size == 1 else index[dim] for size, dim in dims))


def _adjusted(starts: Sequence[int], shape: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """clamp(0, start_indices, shape(operand) - slice_sizes)."""
    return [min(max(0, start), n - size) for start, n, size in zip(starts, shape, sizes, strict=True)]


def dynamic_slice(operand: RefTensor, start_indices: Sequence[int], slice_sizes: Sequence[int]) -> RefTensor:
    """operand_index = adjusted_start_indices + result_index."""
    starts = _adjusted(start_indices, operand.shape, slice_sizes)
    return rearranged(operand, slice_sizes, lambda index: tuple(map(sum, zip(starts, index, strict=True))))


def dynamic_update_slice(operand: RefTensor, update: RefTensor, start_indices: Sequence[int]) -> RefTensor:
    """update[update_index] where 0 <= update_index < shape(update), else operand[result_index]."""
    starts, data = _adjusted(start_indices, operand.shape, update.shape), []
    for index in indices(operand.shape):
        own = [i - start for i, start in zip(index, starts, strict=True)]
        inside = all(0 <= i < n for i, n in zip(own, update.shape, strict=True))
        data.append(at(update, own) if inside else at(operand, index))
    return RefTensor(operand.dtype, operand.shape, data)


def iota(dtype: str, shape: Shape, iota_dimension: int) -> RefTensor:
    """output_index[iota_dimension], as an integer."""
    return RefTensor(dtype, shape, [index[iota_dimension] for index in indices(shape)])


def bitcast_convert(operand: RefTensor, from_bits: int, to_bits: int) -> RefTensor:
    """Of elements that are the bits of integers, the lowest first."""
    if to_bits <= from_bits:
        count = from_bits // to_bits
        data = [(bits >> (k * to_bits)) % 2**to_bits for bits in operand.data for k in range(count)]
        shape = operand.shape if count == 1 else (*operand.shape, count)
    else:
        count = to_bits // from_bits
        rows = [operand.data[k : k + count] for k in range(0, len(operand.data), count)]
        data = [sum(bits << (k * from_bits) for k, bits in enumerate(row)) for row in rows]
        shape = operand.shape[:-1]
    return RefTensor(operand.dtype, shape, data)
