"""Ops of which operands tell the shape, or other attributes: they mean what the static ones mean."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from conform.interp.stablehlo.ops.movement import are_dims, broadcast, is_unique, padded_as, places_along
from conform.interp.stablehlo.quantized import AS_THEY_ARE, BROADCAST, PER_TENSOR, RESHAPED, numbers
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor


def _sizes(call: Call, label: str, operand: Tensor) -> tuple[int, ...]:
    """The integers of a one-dimensional operand."""
    call.require(
        label, operand.rank == 1 and operand.format.is_integer, f"{operand}, expected integers in one dimension"
    )
    return tuple(int(one) for one in operand.array)


def _shape(call: Call, label: str, constraint: str, operand: Tensor) -> tuple[int, ...]:
    """The shape that an operand tells, which is that of the result."""
    shape, result = _sizes(call, label, operand), call.results[0]
    call.require(constraint, all(size >= 0 for size in shape) and result.holds(result.dtype, shape),
                 f"the shape {list(shape)} with the result {result}")  # fmt: skip
    return shape


@meaning("stablehlo.dynamic_broadcast_in_dim", moves=1, quantized=BROADCAST)
def dynamic_broadcast_in_dim(call: Call) -> np.ndarray:
    """broadcast_in_dim into the shape output_dimensions"""
    operand, output_dimensions = call.operands
    call.require("C1", operand.dtype == call.results[0].dtype, f"{operand} with the result {call.results[0]}")
    _known_dimensions(call, operand.rank)
    shape = _shape(call, "I2", "C7", output_dimensions)
    return broadcast(call, operand, call.dims("broadcast_dimensions"), shape)


def _known_dimensions(call: Call, rank: int) -> None:
    """What is known of which dimensions of the operand are repeated: without a meaning but for its constraints."""
    expanding, others = (call.dims(f"known_{name}_dimensions", ()) for name in ("expanding", "nonexpanding"))
    call.require("C8", is_unique((*expanding, *others)), f"known dimensions {[*expanding, *others]}")
    for constraint, dims in (("C9", expanding), ("C10", others)):
        call.require(constraint, are_dims(dims, rank), f"known dimensions {list(dims)} of {rank}")


@meaning("stablehlo.dynamic_iota", selects=True, quantized=numbers("C1", first=1))
def dynamic_iota(call: Call) -> np.ndarray:
    """iota of the shape output_shape"""
    shape, dim = _shape(call, "I1", "C2", call.operands[0]), int(call.attributes["iota_dimension"])
    call.require("C1", 0 <= dim < len(shape), f"iota_dimension {dim} of the shape {list(shape)}")
    return places_along(dim, shape, call.results[0].dtype)


@meaning("stablehlo.dynamic_pad", moves=2, quantized=PER_TENSOR)
def dynamic_pad(call: Call) -> np.ndarray:
    """pad by edge_padding_low, edge_padding_high and interior_padding, which are operands"""
    operand, value, *paddings = call.operands
    low, high, interior = (_sizes(call, f"I{at + 3}", one) for at, one in enumerate(paddings))
    return padded_as(call, operand, value, low, high, interior)


@meaning("stablehlo.dynamic_reshape", moves=1, quantized=RESHAPED)
def dynamic_reshape(call: Call) -> np.ndarray:
    """reshape into the shape output_shape"""
    operand, output_shape = call.operands
    call.require("C1", operand.dtype == call.results[0].dtype, f"{operand} with the result {call.results[0]}")
    shape = _shape(call, "I2", "C4", output_shape)
    call.require("C2", prod(shape) == operand.array.size, f"{operand} in the shape {list(shape)}")
    return operand.array.reshape(shape)


@meaning("stablehlo.set_dimension_size", moves=1, quantized=AS_THEY_ARE)
def set_dimension_size(call: Call) -> np.ndarray:
    """operand without what lies at size and beyond along dimension; no op of the specification"""
    operand, size = call.operands
    dim = int(call.attributes["dimension"])
    call.require("I2", (size.dtype, size.rank) == ("int32", 0), f"a size of {size}")
    call.require("C1", 0 <= dim < operand.rank, f"dimension {dim} of {operand}")
    count = int(size.array)
    call.require("C2", 0 <= count <= operand.shape[dim], f"size {count} of dimension {dim} of {operand}")
    return operand.array[(slice(None),) * dim + (slice(count),)]


@meaning("stablehlo.real_dynamic_slice", moves=1, quantized=PER_TENSOR)
def real_dynamic_slice(call: Call) -> np.ndarray:
    """slice from start_indices in steps of strides up to limit_indices, operands; no op of the specification"""
    operand = call.operands[0]
    call.require("C1", operand.dtype == call.results[0].dtype, f"{operand} with the result {call.results[0]}")
    start, limit, strides = (_sizes(call, f"I{at + 2}", one) for at, one in enumerate(call.operands[1:]))
    call.require("C3", _are_within(start, limit, operand.shape), f"from {list(start)} to {list(limit)} of {operand}")
    call.require("C4", all(step > 0 for step in strides), f"strides {list(strides)}")
    return operand.array[tuple(map(slice, start, limit, strides))]


def _are_within(start: Sequence[int], limit: Sequence[int], shape: Sequence[int]) -> bool:
    return len(start) == len(limit) == len(shape) and all(
        0 <= s <= e <= n for s, e, n in zip(start, limit, shape, strict=True)
    )


@meaning("stablehlo.get_dimension_size", quantized=AS_THEY_ARE)
def get_dimension_size(call: Call) -> np.ndarray:
    """The size of dimension of operand"""
    operand, dim = call.operands[0], int(call.attributes["dimension"])
    call.require("C1", 0 <= dim < operand.rank, f"dimension {dim} of {operand}")
    return np.asarray(operand.shape[dim], np.int32)
