"""Comparisons, the classes of numbers, and selection by a condition."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.interp.operands import broadcast_converted, broadcast_numbers, converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import pointwise, semantics
from conform.interp.size import broadcast_elements
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS, format_of
from conform.numerics.real import Real

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


# Closeness


@pointwise("aten::isclose", compares=True)
def isclose(
    self: np.ndarray, other: np.ndarray, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Golden:
    """Whether self == other, or both are finite and |self - other| <= atol + rtol |other|, or with equal_nan both are
    NaN; open where rounding decides (P146)"""
    fmt = format_of(self)
    x, y = broadcast_numbers(fmt, self, other)
    finite = np.isfinite(x) & np.isfinite(y)
    near, undecided = _within(np.where(finite, x, 0.0), np.where(finite, y, 0.0), rtol, atol)
    with np.errstate(all="ignore"):
        distance = Ball.exact(x, fmt) - Ball.exact(y, fmt)
        allowed = _magnitude(Ball.exact(y, fmt) * distance.constant(rtol)) + distance.constant(atol)
        margin = distance.rad + allowed.rad
        doubtful = finite & ~(np.abs(np.abs(distance.mid) - allowed.mid) > margin) & (x != y)
    both_nan = np.isnan(x) & np.isnan(y) & equal_nan
    close = (x == y) | (finite & near) | both_nan
    return exact(close, BOOL).opened(finite & (x != y) & (undecided | doubtful), "P146")


def _within(x: np.ndarray, y: np.ndarray, rtol: float, atol: float) -> tuple[np.ndarray, np.ndarray]:
    """(whether |x - y| <= atol + rtol |y| of finite numbers, where the reals do not tell)."""
    allowed = Real.exact(np.abs(y)) * np.float64(rtol) + np.float64(atol)
    beyond, undecided = allowed.less(abs(Real.exact(x) - Real.exact(y)))
    return ~beyond, undecided


def _magnitude(ball: Ball) -> Ball:
    return Ball(np.abs(ball.mid), ball.rad, ball.compute)


@semantics("aten::allclose", elements=broadcast_elements, compares=True)
def allclose(
    self: np.ndarray, other: np.ndarray, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Golden:
    """Whether isclose is true of all elements; of none it is; open where rounding decides (P146)"""
    x, y = np.broadcast_arrays(self, other)
    may_be, is_sure = True, True
    for place in spans(x.size):
        close = isclose(flat(x, place), flat(y, place), rtol, atol, equal_nan)
        open_ = False if close.open is None else close.open
        may_be, is_sure = may_be and (close.value | open_).all(), is_sure and (close.value & ~np.asarray(open_)).all()
    return exact(np.array(is_sure, bool), BOOL).opened(np.array(may_be and not is_sure), "P146")


@semantics("aten::equal", compares=True, commutes=True)
def equal(self: np.ndarray, other: np.ndarray) -> Golden:
    """Whether the shapes are the same, and all elements are equal: NaN equals nothing, -0 equals +0"""
    same = self.shape == other.shape and all(
        (flat(self, place) == flat(other, place)).all() for place in spans(self.size)
    )
    return exact(np.array(same), BOOL)


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


@pointwise("aten::isposinf", compares=True)
def isposinf(self: np.ndarray) -> Golden:
    """Whether self is +infinity"""
    return exact(self == np.inf, BOOL)


@pointwise("aten::isneginf", compares=True)
def isneginf(self: np.ndarray) -> Golden:
    """Whether self is -infinity"""
    return exact(self == -np.inf, BOOL)


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
