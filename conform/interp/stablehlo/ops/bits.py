"""Bits of integers, and logic of bools."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.stablehlo.ops.elementwise import Array, of_kinds, of_torch, same_types
from conform.interp.stablehlo.registry import Call, meaning
from conform.interp.stablehlo.two_complement import codes_of, of_codes
from conform.interp.stablehlo.values import contiguous
from conform.numerics.formats import Format


def _bit_counts(codes: Array) -> Array:
    return np.unpackbits(contiguous(codes)[..., None].view(np.uint8), axis=-1).sum(-1)


@meaning("stablehlo.popcnt", pointwise=True)
def popcnt(call: Call) -> Array:
    """How many bits of operand are set"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint")
    return of_codes(_bit_counts(codes_of(x, fmt)).astype(np.uint64), fmt)


@meaning("stablehlo.count_leading_zeros", pointwise=True)
def count_leading_zeros(call: Call) -> Array:
    """How many bits of operand are clear above its highest set bit"""
    (x,) = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint")
    codes = codes_of(x, fmt)
    for shift in (1, 2, 4, 8, 16, 32):  # every bit below the highest one is set
        codes = codes | codes >> np.uint64(shift)
    return of_codes((fmt.bits - _bit_counts(codes)).astype(np.uint64), fmt)


@meaning("stablehlo.not", pointwise=True)
def not_(call: Call) -> Array:
    """The bits that are not set; of bools, not"""
    (x,) = same_types(call)
    of_kinds(call, "I1", "bool", "int", "uint")
    return of_torch("aten::bitwise_not", x)


def _bitwise(name: str) -> None:
    def function(call: Call) -> Array:
        x, y = same_types(call)
        of_kinds(call, "I1", "bool", "int", "uint")
        return of_torch(f"aten::bitwise_{name}.Tensor", x, y)

    function.__doc__ = f"{name} of the bits, or of bools"
    meaning(f"stablehlo.{name}", pointwise=True)(function)


for one in ("and", "or", "xor"):
    _bitwise(one)


@meaning("stablehlo.shift_left", pointwise=True)
def shift_left(call: Call) -> Array:
    """lhs * 2^rhs, rhs unsigned; the bits beyond are lost, 0 where all are"""
    return _shifted(call, lambda codes, by, fmt: codes << by)


@meaning("stablehlo.shift_right_logical", pointwise=True)
def shift_right_logical(call: Call) -> Array:
    """The bits of lhs moved down by rhs, unsigned, with zeros from above"""
    return _shifted(call, lambda codes, by, fmt: codes >> by)


def _shifted(call: Call, shift: Callable[[Array, Array, Format], Array]) -> Array:
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint")
    by = codes_of(y, fmt)
    beyond = by >= fmt.bits
    moved = shift(codes_of(x, fmt), np.where(beyond, np.uint64(0), by), fmt)
    return of_codes(np.where(beyond, np.uint64(0), moved), fmt)


@meaning("stablehlo.shift_right_arithmetic", pointwise=True)
def shift_right_arithmetic(call: Call) -> Array:
    """The bits of lhs moved down by rhs, unsigned, with copies of the highest bit from above"""
    x, y = same_types(call)
    fmt = of_kinds(call, "I1", "int", "uint")
    unused = np.int64(64 - fmt.bits)
    signed = (codes_of(x, fmt).view(np.int64) << unused) >> unused
    by = np.minimum(codes_of(y, fmt), np.uint64(fmt.bits - 1)).astype(np.int64)
    return of_codes((signed >> by).view(np.uint64), fmt)
