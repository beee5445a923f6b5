"""One of the operands, or of two bounds, at every place."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.formulas.complexes import components, joined
from conform.interp.golden import Golden
from conform.interp.operands import broadcast_converted, converted, numbers
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import pointwise
from conform.numerics.formats import format_of

Choice = Callable[[np.ndarray, np.ndarray], np.ndarray]


def larger(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The larger of each pair, NaN if one is NaN; of equal ones the first."""
    return np.where((lhs >= rhs) | (lhs != lhs), lhs, rhs)


def smaller(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The smaller of each pair, NaN if one is NaN; of equal ones the first."""
    return np.where((lhs <= rhs) | (lhs != lhs), lhs, rhs)


@pointwise("aten::maximum", compares=True, commutes=True, selects=True)
def maximum(self: Operand, other: Operand) -> Golden:
    """The larger of self and other, NaN if either is NaN (P4, P5)"""
    fmt = result_type(self, other)
    return exact(larger(*broadcast_converted(fmt, self, other)), fmt, zero_sign_free=fmt.is_float)


@pointwise("aten::minimum", compares=True, commutes=True, selects=True)
def minimum(self: Operand, other: Operand) -> Golden:
    """The smaller of self and other, NaN if either is NaN (P4, P5)"""
    fmt = result_type(self, other)
    return exact(smaller(*broadcast_converted(fmt, self, other)), fmt, zero_sign_free=fmt.is_float)


@pointwise("aten::fmax", compares=True, commutes=True, selects=True)
def fmax(self: Operand, other: Operand) -> Golden:
    """The larger of self and other; of a number and NaN the number, NaN of two (P4, P5)"""
    return _numbers_before_nan(larger, self, other)


@pointwise("aten::fmin", compares=True, commutes=True, selects=True)
def fmin(self: Operand, other: Operand) -> Golden:
    """The smaller of self and other; of a number and NaN the number, NaN of two (P4, P5)"""
    return _numbers_before_nan(smaller, self, other)


def _numbers_before_nan(choose: Choice, self: Operand, other: Operand) -> Golden:
    fmt = result_type(self, other)
    lhs, rhs = broadcast_converted(fmt, self, other)
    number = np.where(lhs != lhs, rhs, lhs)
    return exact(np.where(rhs != rhs, number, choose(number, rhs)), fmt, zero_sign_free=fmt.is_float)


# Between bounds


def _clamped(self: Operand, low: Operand | None, high: Operand | None) -> Golden:
    """Numbers that round like a bound are equal to it: to compare what is converted gives what comparing first does."""
    present = [operand for operand in (self, low, high) if operand is not None]
    fmt = result_type(*present)
    clamped, *bounds = broadcast_converted(fmt, *present)
    if low is not None:
        clamped = larger(clamped, bounds[0])
    if high is not None:
        clamped = smaller(clamped, bounds[-1])
    return exact(clamped, fmt, zero_sign_free=fmt.is_float)


@pointwise("aten::clamp", "aten::clamp.Tensor", compares=True, selects=True)
def clamp(self: Operand, min: Operand | None = None, max: Operand | None = None) -> Golden:
    """min(max(self, min), max), in the common dtype: max where min exceeds it, NaN where one is NaN (P94, P95)"""
    return _clamped(self, min, max)


@pointwise("aten::clamp_min", "aten::clamp_min.Tensor", compares=True, selects=True)
def clamp_min(self: Operand, min: Operand) -> Golden:
    """The larger of self and min, in the common dtype; NaN where one is NaN (P94, P95)"""
    return _clamped(self, min, None)


@pointwise("aten::clamp_max", "aten::clamp_max.Tensor", compares=True, selects=True)
def clamp_max(self: Operand, max: Operand) -> Golden:
    """The smaller of self and max, in the common dtype; NaN where one is NaN (P94, P95)"""
    return _clamped(self, None, max)


@pointwise("aten::relu", compares=True, selects=True)
def relu(self: np.ndarray) -> Golden:
    """max(0, self); NaN of NaN (P95)"""
    fmt = format_of(self)
    return exact(larger(self, fmt.storage.type(0)), fmt, zero_sign_free=fmt.is_float)


@pointwise("aten::hardtanh", compares=True, selects=True)
def hardtanh(self: np.ndarray, min_val: int | float = -1, max_val: int | float = 1) -> Golden:
    """min_val below it, max_val above it, self between them; NaN of NaN (P94, P95)"""
    fmt = format_of(self)
    x, low, high = broadcast_converted(fmt, self, min_val, max_val)
    return exact(smaller(larger(x, low), high), fmt, zero_sign_free=fmt.is_float)


@pointwise("aten::relu6", compares=True, selects=True)
def relu6(self: np.ndarray) -> Golden:
    """min(max(0, self), 6); NaN of NaN (P95)"""
    return hardtanh(self, 0, 6)


# By a threshold


@pointwise("aten::threshold", compares=True, selects=True)
def threshold_(self: np.ndarray, threshold: int | float, value: int | float) -> Golden:
    """self above threshold, value elsewhere; NaN of NaN (P95)"""
    fmt = format_of(self)
    kept = (numbers(self, fmt) > float(threshold)) | (self != self)
    return exact(np.where(kept, self, converted(value, fmt)), fmt)


@pointwise("aten::hardshrink", compares=True, selects=True)
def hardshrink(self: np.ndarray, lambd: int | float = 0.5) -> Golden:
    """self above lambd or below -lambd, 0 between them; NaN of NaN (P95)"""
    fmt, x = format_of(self), numbers(self, format_of(self))
    kept = (x > lambd) | (x < -lambd) | np.isnan(x)
    return exact(np.where(kept, self, fmt.storage.type(0)), fmt, zero_sign_free=True)


@pointwise("aten::heaviside", compares=True, selects=True)
def heaviside(self: np.ndarray, values: np.ndarray) -> Golden:
    """0 below zero, 1 above, values at zeros; open at NaN (P91)"""
    fmt = result_type(self, values)
    x, at_zero = broadcast_converted(fmt, self, values)
    return exact(np.where(x == 0, at_zero, (x > 0).astype(fmt.storage)), fmt).opened(x != x, "P91")


@pointwise("aten::nan_to_num", selects=True)
def nan_to_num(
    self: np.ndarray, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Golden:
    """NaN replaced by nan, or 0, infinities by posinf and neginf, or the largest and smallest finite ones; in each part
    of complex numbers"""
    fmt = format_of(self)
    if fmt.is_integer or fmt.kind == "bool":
        return exact(self, fmt)
    part = fmt.component if fmt.is_complex else fmt
    x, largest = components(self) if fmt.is_complex else self, part.max_finite
    for is_replaced, given, default in (
        (np.isnan(x), nan, 0.0), (x == np.inf, posinf, largest), (x == -np.inf, neginf, -largest)
    ):  # fmt: skip
        x = np.where(is_replaced, converted(default if given is None else given, part), x)
    return exact(joined(fmt, x.astype(part.storage)) if fmt.is_complex else x, fmt)
