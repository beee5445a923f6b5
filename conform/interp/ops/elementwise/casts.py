"""Conversion between dtypes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.formulas.complexes import components
from conform.interp.golden import Golden
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


def cast(operand: np.ndarray, fmt: Format) -> Golden:
    """`operand` converted to `fmt`."""
    source = format_of(operand)
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
