"""Conversion between dtypes."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Golden
from conform.interp.numerics.formats import Format, format_named, format_of
from conform.interp.numerics.real import Real
from conform.interp.numerics.rounding import convert, in_integer_range
from conform.interp.ops.elementwise import exact
from conform.interp.registry import semantics


@semantics("aten::_to_copy")
def to_copy(self: np.ndarray, dtype: str | None = None) -> Golden:
    """self in `dtype`: floats rounded once to nearest even, toward zero to integers (P13, P14), `x != 0` to bool
    (P15)"""
    return cast(self, format_named(dtype) if dtype else format_of(self))


def cast(operand: np.ndarray, fmt: Format) -> Golden:
    """`operand` converted to `fmt`."""
    source = format_of(operand)
    value = convert(operand, source, fmt)
    if source.is_float and fmt.is_float and fmt.precision < source.precision:
        return Golden(fmt, value, Real.exact(operand.astype(np.float64)))
    if source.is_integer and fmt.is_float:
        return Golden(fmt, value, Real.of_integers(operand))
    golden = exact(value, fmt)
    if source.is_float and fmt.is_integer:
        return golden.opened(~in_integer_range(operand, fmt), "P13")
    return golden
