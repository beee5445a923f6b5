"""Ops that move elements, and make them of their places: they know no element type."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from conform.interp.stablehlo.quantization import quantization_of
from conform.interp.stablehlo.quantized import (
    AS_THEY_ARE,
    BROADCAST,
    PER_TENSOR,
    PER_TENSOR_INPUTS,
    RESHAPED,
    TRANSPOSED,
    numbers,
)
from conform.interp.stablehlo.registry import ALL, Call, meaning
from conform.interp.stablehlo.two_complement import reread
from conform.interp.stablehlo.values import Tensor
from conform.numerics.formats import FORMATS, format_named
from conform.numerics.rounding import convert


def is_unique(dims: Sequence[int]) -> bool:
    return len(set(dims)) == len(dims)


def are_dims(dims: Sequence[int], rank: int) -> bool:
    return all(0 <= dim < rank for dim in dims)


def states(call: Call, constraint: str, fmt_name: str, shape: Sequence[int]) -> None:
    """The result that the program states is of this element type and shape."""
    result = call.results[0]
    call.require(constraint, result.holds(fmt_name, tuple(shape)),
                 f"the result {result}, expected {fmt_name}{list(shape)}")  # fmt: skip


def same_element_type(call: Call, constraint: str = "C1") -> Tensor:
    """The first operand, which has the element type of the result."""
    operand = call.operands[0]
    call.require(constraint, operand.dtype == call.results[0].dtype, f"{operand} with the result {call.results[0]}")
    return operand


@meaning("stablehlo.constant", pointwise=True, selects=True, quantized=AS_THEY_ARE)
def constant(call: Call) -> Tensor:
    """value; of a quantized tensor the integers that it stores, which MLIR writes without telling whether they have a
    sign"""
    value, result = Tensor(call.attributes["value"]), call.results[0]
    quantization = quantization_of(result.dtype)
    if quantization is not None and value.format.is_integer and value.format.bits == quantization.storage.bits:
        value = Tensor(reread(value.array, value.format, quantization.storage), quantization)
    call.require("C1", result.holds(value.dtype, value.shape), f"{value} with the result {result}")
    return value


@meaning("stablehlo.iota", selects=True, quantized=numbers("C1"))
def iota(call: Call) -> np.ndarray:
    """The place along iota_dimension, as the element type has it: integers wrap, floats are rounded"""
    result, dim = call.results[0], int(call.attributes["iota_dimension"])
    call.require("C1", 0 <= dim < len(result.shape), f"iota_dimension {dim} of {result}")
    return places_along(dim, result.shape, result.dtype)


def places_along(dim: int, shape: Sequence[int], dtype: str) -> np.ndarray:
    places = np.arange(shape[dim], dtype=np.int64).reshape([-1 if d == dim else 1 for d in range(len(shape))])
    return np.broadcast_to(convert(places, FORMATS["int64"], format_named(dtype)), shape).copy()


@meaning("stablehlo.broadcast_in_dim", moves=1, quantized=BROADCAST)
def broadcast_in_dim(call: Call) -> np.ndarray:
    """operand, its dimension k as dimension broadcast_dimensions[k] of the result, and repeated along all others"""
    operand, dims = same_element_type(call), call.dims("broadcast_dimensions")
    return broadcast(call, operand, dims, call.results[0].shape)


def broadcast(call: Call, operand: Tensor, dims: Sequence[int], shape: Sequence[int]) -> np.ndarray:
    call.require("C2", len(dims) == operand.rank, f"broadcast_dimensions {list(dims)} of {operand}")
    call.require("C3", are_dims(dims, len(shape)), f"broadcast_dimensions {list(dims)} in {len(shape)} dimensions")
    call.require("C4", is_unique(dims), f"broadcast_dimensions {list(dims)}")
    call.require("C5", all(size in (1, shape[dim]) for size, dim in zip(operand.shape, dims, strict=True)),
                 f"{operand} along {list(dims)} of {list(shape)}")  # fmt: skip
    order = np.argsort(dims, kind="stable")
    spread = [1] * len(shape)
    for size, dim in zip(operand.shape, dims, strict=True):
        spread[dim] = size
    return np.broadcast_to(operand.array.transpose(order).reshape(spread), shape).copy()


@meaning("stablehlo.reshape", moves=1, quantized=RESHAPED)
def reshape(call: Call) -> np.ndarray:
    """The elements of operand in their order, in another shape"""
    operand, result = same_element_type(call), call.results[0]
    call.require("C2", prod(result.shape) == operand.array.size, f"{operand} with the result {result}")
    return operand.array.reshape(result.shape)


@meaning("stablehlo.transpose", moves=1, quantized=TRANSPOSED)
def transpose(call: Call) -> np.ndarray:
    """Dimension permutation[k] of operand as dimension k"""
    operand, permutation = same_element_type(call), call.dims("permutation")
    call.require(
        "C2", sorted(permutation) == list(range(operand.rank)), f"permutation {list(permutation)} of {operand}"
    )
    states(call, "C3", operand.dtype, [operand.shape[dim] for dim in permutation])
    return operand.array.transpose(permutation)


@meaning("stablehlo.reverse", moves=1, quantized=PER_TENSOR)
def reverse(call: Call) -> np.ndarray:
    """operand with the order of its elements turned round along dimensions"""
    operand, dims = same_element_type(call), call.dims("dimensions")
    states(call, "C1", operand.dtype, operand.shape)
    call.require("C2", is_unique(dims), f"dimensions {list(dims)}")
    call.require("C3", are_dims(dims, operand.rank), f"dimensions {list(dims)} of {operand}")
    return np.flip(operand.array, dims)


@meaning("stablehlo.slice", moves=1, quantized=PER_TENSOR)
def slice_(call: Call) -> np.ndarray:
    """The elements of operand from start_indices, in steps of strides, up to limit_indices"""
    operand = same_element_type(call)
    start, limit, strides = (call.dims(name) for name in ("start_indices", "limit_indices", "strides"))
    call.require(
        "C2",
        len(start) == len(limit) == len(strides) == operand.rank,
        f"start_indices {list(start)}, limit_indices {list(limit)}, strides {list(strides)} of {operand}",
    )
    call.require("C3", all(0 <= s <= e <= n for s, e, n in zip(start, limit, operand.shape, strict=True)),
                 f"start_indices {list(start)} and limit_indices {list(limit)} of {operand}")  # fmt: skip
    call.require("C4", all(step > 0 for step in strides), f"strides {list(strides)}")
    found = operand.array[tuple(map(slice, start, limit, strides))]
    states(call, "C5", operand.dtype, found.shape)
    return found


@meaning("stablehlo.concatenate", moves=ALL, quantized=PER_TENSOR_INPUTS)
def concatenate(call: Call) -> np.ndarray:
    """inputs one after the other along dimension"""
    inputs, dim = call.operands, int(call.attributes["dimension"])
    call.require("C3", len(inputs) >= 1, "no inputs")
    first = inputs[0]
    call.require("C4", 0 <= dim < first.rank, f"dimension {dim} of {first}")
    for other in inputs:
        call.require("C1", other.dtype == first.dtype, f"inputs of the types {first} and {other}")
        call.require("C2", _but(other.shape, dim) == _but(first.shape, dim), f"inputs of the types {first} and {other}")
    call.require("C5", call.results[0].dtype == first.dtype, f"{first} with the result {call.results[0]}")
    found = np.concatenate([one.array for one in inputs], dim)
    states(call, "C6", first.dtype, found.shape)
    return found


def _but(shape: Sequence[int], dim: int) -> tuple[int, ...]:
    return (*shape[:dim], *shape[dim + 1 :])


@meaning("stablehlo.pad", moves=2, quantized=PER_TENSOR)
def pad(call: Call) -> np.ndarray:
    """operand with padding_value between its elements and around them; negative edges cut off"""
    operand, value = call.operands
    low, high, interior = (call.dims(name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    return padded_as(call, operand, value, low, high, interior)


def padded_as(
    call: Call, operand: Tensor, value: Tensor, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> np.ndarray:
    call.require("C1", operand.dtype == value.dtype == call.results[0].dtype,
                 f"{operand} and {value} with the result {call.results[0]}")  # fmt: skip
    call.require("C2", len(low) == len(high) == len(interior) == operand.rank,
                 f"padding {list(low)}, {list(high)} and {list(interior)} of {operand}")  # fmt: skip
    call.require("C3", all(each >= 0 for each in interior), f"interior_padding {list(interior)}")
    shape = [n + max(n - 1, 0) * i + lo + hi for n, lo, hi, i in zip(operand.shape, low, high, interior, strict=True)]
    call.require("C4", all(size >= 0 for size in shape), f"a result of the shape {shape}")
    states(call, "C4", operand.dtype, shape)
    return padded(operand.array, value.array, low, high, interior)


def padded(
    array: np.ndarray, value: np.ndarray, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> np.ndarray:
    """`array` spread out, padded where the edges are positive, and cut where they are negative."""
    spread = [n + max(n - 1, 0) * i for n, i in zip(array.shape, interior, strict=True)]
    outer = [size + max(lo, 0) + max(hi, 0) for size, lo, hi in zip(spread, low, high, strict=True)]
    result = np.full(outer, value, array.dtype)
    result[tuple(slice(max(lo, 0), max(lo, 0) + size, i + 1)
                 for lo, size, i in zip(low, spread, interior, strict=True))] = array  # fmt: skip
    return result[tuple(slice(max(-lo, 0), size - max(-hi, 0))
                        for lo, hi, size in zip(low, high, outer, strict=True))]  # fmt: skip


@meaning("stablehlo.dynamic_slice", moves=1, quantized=PER_TENSOR)
def dynamic_slice(call: Call) -> np.ndarray:
    """slice_sizes elements of operand from start_indices on, which are moved inward until they all are there"""
    operand, *starts = call.operands
    sizes = call.dims("slice_sizes")
    call.require("C1", operand.dtype == call.results[0].dtype, f"{operand} with the result {call.results[0]}")
    call.require("C2", len(starts) == len(sizes) == operand.rank,
                 f"{len(starts)} start_indices and {len(sizes)} slice_sizes of {operand}")  # fmt: skip
    _same_indices(call, "C3", starts)
    call.require("C4", all(0 <= size <= n for size, n in zip(sizes, operand.shape, strict=True)),
                 f"slice_sizes {list(sizes)} of {operand}")  # fmt: skip
    states(call, "C5", operand.dtype, sizes)
    return operand.array[_within(starts, sizes, operand.shape)]


def _same_indices(call: Call, constraint: str, starts: Sequence[Tensor]) -> None:
    for start in starts:
        call.require(constraint, (start.dtype, start.rank) == (starts[0].dtype, 0) and start.format.is_integer,
                     f"start_indices of the types {starts[0]} and {start}")  # fmt: skip


def _within(starts: Sequence[Tensor], sizes: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    begins = [min(max(int(start.array), 0), n - size) for start, size, n in zip(starts, sizes, shape, strict=True)]
    return tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))


@meaning("stablehlo.dynamic_update_slice", moves=2, quantized=PER_TENSOR)
def dynamic_update_slice(call: Call) -> np.ndarray:
    """operand with update in the place of its elements from start_indices on, which are moved inward until all fit"""
    operand, update, *starts = call.operands
    states(call, "C1", operand.dtype, operand.shape)
    call.require("C2", update.dtype == operand.dtype, f"an update of {update} for {operand}")
    call.require("C3", update.rank == operand.rank, f"an update of {update} for {operand}")
    call.require("C4", len(starts) == operand.rank, f"{len(starts)} start_indices of {operand}")
    _same_indices(call, "C5", starts)
    call.require("C6", all(size <= n for size, n in zip(update.shape, operand.shape, strict=True)),
                 f"an update of {update} for {operand}")  # fmt: skip
    result = operand.array.copy()
    result[_within(starts, update.shape, operand.shape)] = update.array
    return result
