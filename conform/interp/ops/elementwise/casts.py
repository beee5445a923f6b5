"""Conversion between dtypes, and copies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.formulas.complexes import components
from conform.interp.golden import Golden
from conform.interp.operands import converted
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import pointwise
from conform.numerics.formats import Format, format_named, format_of
from conform.numerics.real import Real
from conform.numerics.rounding import convert, in_integer_range, widened


@pointwise("aten::_to_copy")
def to_copy(self: np.ndarray, dtype: str | None = None) -> Golden:
    """self in `dtype`: floats rounded once to nearest even, toward zero to integers (P13, P14), `x != 0` to bool
    (P15); P80 to P82 for what float8 formats do not hold"""
    return cast(self, format_named(dtype) if dtype else format_of(self))


@pointwise("aten::copy", selects=True)
def copy(self: np.ndarray, src: np.ndarray) -> Golden:
    """src, broadcast to the shape of self, in its dtype, converted as _to_copy does (P13 to P16)"""
    return cast(np.broadcast_to(src, self.shape), format_of(self))


@pointwise("aten::clone", "aten::alias", "aten::detach", "aten::lift_fresh", "aten::positive", selects=True)
def clone(self: np.ndarray) -> Golden:
    """self"""
    return exact(self, format_of(self))


@pointwise("aten::fill.Scalar", selects=True)
def fill(self: np.ndarray, value: int | float | complex) -> Golden:
    """value, in the dtype of self, at every place (P93)"""
    fmt = format_of(self)
    return exact(np.broadcast_to(converted(value, fmt), self.shape), fmt)


@pointwise("aten::fill.Tensor", selects=True)
def fill_with_element(self: np.ndarray, value: np.ndarray) -> Golden:
    """The element of value, converted to the dtype of self as _to_copy does, at every place"""
    return copy(self, value)


def cast(operand: np.ndarray, fmt: Format) -> Golden:
    """`operand` converted to `fmt`."""
    source = format_of(operand)
    if source.is_complex and not fmt.is_complex and fmt.kind != "bool":  # P16
        operand, source = operand.real, source.component
    if fmt.is_float and fmt.bits <= 8 and fmt != source:
        return _to_small_float(operand, source, fmt)
    value = convert(operand, source, fmt)
    if (source.is_float and fmt.is_float and fmt.precision < source.precision) or (source.is_integer and fmt.is_float):
        return Golden(fmt, value, _exact_real(operand, source))
    if source.is_complex and fmt.is_complex and fmt.bits < source.bits:
        return Golden(fmt, value, Real.exact(components(operand)))
    golden = exact(value, fmt)
    if source.is_float and fmt.is_integer:
        return golden.opened(~in_integer_range(operand, fmt), "P13")
    return golden


def _exact_real(operand: np.ndarray, source: Format) -> Real:
    numbers = widened(operand.real if source.is_complex else operand, source.component if source.is_complex else source)
    return Real.exact(numbers) if numbers.dtype == np.float64 else Real.of_integers(numbers)


def _to_small_float(operand: np.ndarray, source: Format, fmt: Format) -> Golden:
    """P80: what overflows saturates or not, float8_e4m3fn first of all as torch does it; P81, P82: float8_e8m0fnu."""
    real = _exact_real(operand, source)
    overflowing = Golden(fmt, convert(operand, source, fmt), real)
    if not fmt.has_zero:
        raised = Real(np.maximum(real.hi, fmt.min_normal), real.lo, real.radius)
        return replace(overflowing, real=raised).opened(real.hi <= 0, "P81")
    saturating = Golden(fmt, convert(operand, source, fmt, saturate=True), _clamped(real, fmt.max_finite))
    if fmt.name == "float8_e4m3fn":
        return saturating.or_else(overflowing)
    return overflowing.or_else(saturating)


def _clamped(real: Real, largest: float) -> Real:
    beyond = np.abs(real.hi) > largest
    hi, lo = np.where(beyond, np.copysign(largest, real.hi), real.hi), np.where(beyond, 0.0, real.lo)
    return Real(hi, lo, real.radius)
