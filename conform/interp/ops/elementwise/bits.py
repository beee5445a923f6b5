"""Bits of integers and bools, and the logic of what is zero and what is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import broadcast_complex_numbers, broadcast_converted, broadcast_numbers, converted
from conform.interp.ops.elementwise.arithmetic import exact, integers
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import pointwise
from conform.numerics.formats import FORMATS


@pointwise("aten::bitwise_and.Tensor", "aten::bitwise_and.Scalar", "aten::bitwise_and.Scalar_Tensor", commutes=True)
def bitwise_and(self: Operand, other: Operand) -> Golden:
    """The bits set in both, in two's complement; of bools, and"""
    fmt = result_type(self, other)
    return integers(fmt, np.bitwise_and, self, other)


@pointwise("aten::bitwise_or.Tensor", "aten::bitwise_or.Scalar", "aten::bitwise_or.Scalar_Tensor", commutes=True)
def bitwise_or(self: Operand, other: Operand) -> Golden:
    """The bits set in either, in two's complement; of bools, or"""
    return integers(result_type(self, other), np.bitwise_or, self, other)


@pointwise("aten::bitwise_xor.Tensor", "aten::bitwise_xor.Scalar", "aten::bitwise_xor.Scalar_Tensor", commutes=True)
def bitwise_xor(self: Operand, other: Operand) -> Golden:
    """The bits set in one alone, in two's complement; of bools, exclusive or"""
    return integers(result_type(self, other), np.bitwise_xor, self, other)


@pointwise("aten::bitwise_not")
def bitwise_not(self: Operand) -> Golden:
    """The bits that are not set, in two's complement; of bools, not"""
    return integers(result_type(self), np.invert, self)


# Shifts


def _shifted(shift: Callable[..., np.ndarray], self: Operand, other: Operand) -> Golden:
    """P92: open where bits would be shifted by a negative number, or by as many as there are."""
    fmt = result_type(self, other)
    lhs, rhs = broadcast_converted(fmt, self, other)
    undefined = (rhs < 0) | (rhs >= fmt.bits)
    return exact(shift(lhs, np.where(undefined, fmt.storage.type(0), rhs)), fmt).opened(undefined, "P92")


@pointwise(
    "aten::bitwise_left_shift.Tensor",
    "aten::bitwise_left_shift.Tensor_Scalar",
    "aten::bitwise_left_shift.Scalar_Tensor",
)
def bitwise_left_shift(self: Operand, other: Operand) -> Golden:
    """self * 2^other, which wraps (P10, P92)"""
    return _shifted(np.left_shift, self, other)


@pointwise(
    "aten::bitwise_right_shift.Tensor",
    "aten::bitwise_right_shift.Tensor_Scalar",
    "aten::bitwise_right_shift.Scalar_Tensor",
)
def bitwise_right_shift(self: Operand, other: Operand) -> Golden:
    """floor(self / 2^other): the sign is kept (P92)"""
    return _shifted(np.right_shift, self, other)


# Logic


def _truths(*operands: Operand) -> list[np.ndarray]:
    """Which elements of the operands, in their common dtype, are not zero; NaN is not."""
    fmt = result_type(*operands)
    read = broadcast_numbers if fmt.is_float else broadcast_complex_numbers if fmt.is_complex else broadcast_converted
    return [operand != 0 for operand in read(fmt, *operands)]


@pointwise("aten::logical_and", commutes=True)
def logical_and(self: Operand, other: Operand) -> Golden:
    """Whether both are other than zero; NaN is"""
    return exact(np.logical_and(*_truths(self, other)), FORMATS["bool"])


@pointwise("aten::logical_or", commutes=True)
def logical_or(self: Operand, other: Operand) -> Golden:
    """Whether one or both are other than zero; NaN is"""
    return exact(np.logical_or(*_truths(self, other)), FORMATS["bool"])


@pointwise("aten::logical_xor", commutes=True)
def logical_xor(self: Operand, other: Operand) -> Golden:
    """Whether one alone is other than zero; NaN is"""
    return exact(np.logical_xor(*_truths(self, other)), FORMATS["bool"])


@pointwise("aten::logical_not")
def logical_not(self: Operand) -> Golden:
    """Whether self is zero, of either sign"""
    return exact(converted(self, result_type(self)) == 0, FORMATS["bool"])
