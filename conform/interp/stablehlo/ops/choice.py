"""Which of two elements: by a condition, or by comparing them."""

from __future__ import annotations

import numpy as np

from conform.interp.stablehlo.ops.elementwise import Array, same_types
from conform.interp.stablehlo.quantized import numbers
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.values import Tensor, contiguous
from conform.numerics.formats import format_of


@meaning("stablehlo.maximum", pointwise=True, selects=True, quantized=numbers("C1"))
def maximum(call: Call) -> Array:
    """The larger of lhs and rhs: NaN if either is, +0 rather than -0; of complex numbers by (real, imag)"""
    x, y = same_types(call)
    return extreme(x, y, +1)


@meaning("stablehlo.minimum", pointwise=True, selects=True, quantized=numbers("C1"))
def minimum(call: Call) -> Array:
    """The smaller of lhs and rhs: NaN if either is, -0 rather than +0; of complex numbers by (real, imag)"""
    x, y = same_types(call)
    return extreme(x, y, -1)


def extreme(x: Array, y: Array, direction: int) -> Array:
    """The larger (+1) or smaller (-1) of each pair, as IEEE 754-2019, 9.6, has maximum and minimum."""
    fmt = format_of(x)
    with np.errstate(all="ignore"):
        if fmt.is_complex:
            return np.where(_lexicographic(x, y, direction), x, y)
        ahead = x >= y if direction > 0 else x <= y
        chosen = np.where(ahead | (x != x), x, y)
        if fmt.is_float and fmt.has_negative_zero:
            negative = np.signbit(x.astype(np.float64)) if direction < 0 else ~np.signbit(x.astype(np.float64))
            chosen = np.where((x == 0) & (y == 0), np.where(negative, x, y), chosen)
        return chosen.astype(fmt.storage)


def _lexicographic(x: Array, y: Array, direction: int) -> Array:
    """Where x comes first; of NaNs the first operand's, then the second's."""
    lhs, rhs = (x, y) if direction > 0 else (y, x)
    ahead = (lhs.real > rhs.real) | ((lhs.real == rhs.real) & (lhs.imag >= rhs.imag))
    return (ahead & ~np.isnan(y)) | np.isnan(x)


@meaning("stablehlo.select", pointwise=True, selects=True, quantized=numbers("C2", first=1))
def select(call: Call) -> Array:
    """on_true where pred, on_false elsewhere; a 0-dimensional pred chooses all"""
    pred, on_true, on_false = call.operands
    call.require("I1", pred.dtype == "bool", f"a pred of {pred.dtype}")
    call.require("C1", pred.rank == 0 or pred.shape == on_true.shape, f"{pred} to choose from {on_true}")
    call.require("C2", (on_true.dtype, on_true.shape) == (on_false.dtype, on_false.shape)
                 and call.results[0].holds(on_true.dtype, on_true.shape),
                 f"{on_true} and {on_false} with the result {call.results[0]}")  # fmt: skip
    return np.where(pred.array, on_true.array, on_false.array)


@meaning("stablehlo.clamp", pointwise=True, selects=True, quantized=numbers("C3", "C4"))
def clamp(call: Call) -> Array:
    """minimum(maximum(operand, min), max)"""
    low, operand, high = call.operands
    call.require("C1", low.rank == 0 or low.shape == operand.shape, f"a min of {low} for {operand}")
    call.require("C2", high.rank == 0 or high.shape == operand.shape, f"a max of {high} for {operand}")
    call.require("C3", low.dtype == operand.dtype == high.dtype, f"{low}, {operand} and {high}")
    call.require("C4", call.results[0].holds(operand.dtype, operand.shape),
                 f"{operand} with the result {call.results[0]}")  # fmt: skip
    lows, highs = (np.broadcast_to(one.array, operand.shape) for one in (low, high))
    return extreme(extreme(operand.array, lows, +1), highs, -1)


DIRECTIONS = {"EQ": np.equal, "NE": np.not_equal, "GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal,
              "LT": np.less}  # fmt: skip


@meaning("stablehlo.compare", pointwise=True, quantized=numbers("C1", None))
def compare(call: Call) -> Array:
    """lhs against rhs as comparison_direction says; with compare_type TOTALORDER by IEEE 754's totalOrder"""
    lhs, rhs = call.operands
    call.require("C1", lhs.dtype == rhs.dtype, f"operands of the types {lhs} and {rhs}")
    call.require("C2", lhs.shape == rhs.shape and call.results[0].holds("bool", lhs.shape),
                 f"{lhs} and {rhs} with the result {call.results[0]}")  # fmt: skip
    kinds = {"int": ("SIGNED",), "uint": ("UNSIGNED",), "bool": ("UNSIGNED",), "float": ("FLOAT", "TOTALORDER"),
             "complex": ("FLOAT",)}[lhs.format.kind]  # fmt: skip
    kind = call.get("compare_type", kinds[0])
    kind = kinds[0] if kind == "NOTYPE" else kind
    call.require("C3", kind in kinds, f"compare_type {kind} of {lhs.dtype}, expected {' or '.join(kinds)}")
    holds = DIRECTIONS[call.attributes["comparison_direction"]]
    if kind == "TOTALORDER":
        return holds(total_order(lhs), total_order(rhs))
    if not lhs.format.is_complex:
        return holds(lhs.array, rhs.array)
    return _compared(holds, lhs.array, rhs.array)


def total_order(x: Tensor) -> Array:
    """An integer for each code: negative ones in the opposite order, -0 before +0, NaN beyond infinity by its sign."""
    codes = contiguous(x.array).view(x.format.code_storage).astype(np.int64)
    if x.format.bits == 64:
        return np.where(codes < 0, codes ^ np.int64(2**63 - 1), codes)
    sign = np.int64(1 << (x.format.bits - 1))
    return np.where(codes & sign, -(codes & (sign - 1)) - 1, codes) if x.format.is_signed else codes


def _compared(holds: np.ufunc, lhs: Array, rhs: Array) -> Array:
    """By (real, imag)."""
    if holds in (np.equal, np.not_equal):
        return holds(lhs, rhs)
    strict = np.greater if holds in (np.greater, np.greater_equal) else np.less
    return strict(lhs.real, rhs.real) | ((lhs.real == rhs.real) & holds(lhs.imag, rhs.imag))
