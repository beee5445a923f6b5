"""Comparisons, the classes of numbers, and selection by a condition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import broadcast_converted, broadcast_numbers, converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import pointwise
from conform.numerics.formats import FORMATS, format_of

BOOL = FORMATS["bool"]


def _compared(comparison: Callable[..., np.ndarray], self: Operand, other: Operand) -> Golden:
    """A comparison of the operands, converted to their common dtype."""
    fmt = result_type(self, other)
    pair = broadcast_numbers(fmt, self, other) if fmt.is_float else broadcast_converted(fmt, self, other)
    return exact(comparison(*pair), BOOL)


@pointwise("aten::eq.Tensor", "aten::eq.Scalar", compares=True, commutes=True)
def eq(self: Operand, other: Operand) -> Golden:
    """Whether the operands, converted to their common dtype, are equal; NaN equals nothing, -0 equals +0"""
    return _compared(np.equal, self, other)


@pointwise("aten::ne.Tensor", "aten::ne.Scalar", compares=True, commutes=True)
def ne(self: Operand, other: Operand) -> Golden:
    """Whether the operands, converted to their common dtype, differ; NaN differs from everything"""
    return _compared(np.not_equal, self, other)


@pointwise("aten::lt.Tensor", "aten::lt.Scalar", compares=True)
def lt(self: Operand, other: Operand) -> Golden:
    """Whether self is less than other, in their common dtype; false of NaN"""
    return _compared(np.less, self, other)


@pointwise("aten::le.Tensor", "aten::le.Scalar", compares=True)
def le(self: Operand, other: Operand) -> Golden:
    """Whether self is less than other or equal, in their common dtype; false of NaN"""
    return _compared(np.less_equal, self, other)


@pointwise("aten::gt.Tensor", "aten::gt.Scalar", compares=True)
def gt(self: Operand, other: Operand) -> Golden:
    """Whether self is greater than other, in their common dtype; false of NaN"""
    return _compared(np.greater, self, other)


@pointwise("aten::ge.Tensor", "aten::ge.Scalar", compares=True)
def ge(self: Operand, other: Operand) -> Golden:
    """Whether self is greater than other or equal, in their common dtype; false of NaN"""
    return _compared(np.greater_equal, self, other)


# Classes of numbers


@pointwise("aten::isnan")
def isnan(self: np.ndarray) -> Golden:
    """Whether self is NaN, or a part of it is"""
    return exact(self != self, BOOL)


@pointwise("aten::isinf")
def isinf(self: np.ndarray) -> Golden:
    """Whether self is an infinity, or a part of it is"""
    return exact(np.isinf(self), BOOL)


@pointwise("aten::isfinite")
def isfinite(self: np.ndarray) -> Golden:
    """Whether self, or each part of it, is neither an infinity nor NaN"""
    return exact(np.isfinite(self), BOOL)


@pointwise("aten::signbit")
def signbit(self: np.ndarray) -> Golden:
    """Whether the sign of self is negative, that of -0 too; open of NaN (P1)"""
    negative = np.signbit(self) if format_of(self).is_float else self < 0
    return exact(negative, BOOL).opened(self != self, "P1")


# Selection


@pointwise("aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther", "aten::where.Scalar", selects=True)
def where(condition: np.ndarray, self: Operand, other: Operand) -> Golden:
    """self where condition is true, else other, in their common dtype"""
    fmt = result_type(self, other)
    chosen, rejected = broadcast_converted(fmt, self, other)
    return exact(np.where(condition.astype(bool), chosen, rejected), fmt)


@pointwise("aten::masked_fill.Scalar", "aten::masked_fill.Tensor", selects=True)
def masked_fill(self: np.ndarray, mask: np.ndarray, value: Operand) -> Golden:
    """value, in the dtype of self, where mask is true, else self; both broadcast (P93)"""
    fmt = format_of(self)
    return exact(np.where(mask, converted(value, fmt), self), fmt)
