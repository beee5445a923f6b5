"""Comparisons and selection."""

from __future__ import annotations

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.golden import Golden
from conform.interp.operands import broadcast_converted, broadcast_numbers
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import pointwise
from conform.numerics.formats import FORMATS, format_of


@pointwise("aten::eq.Tensor", "aten::eq.Scalar", compares=True)
def eq(self: Operand, other: Operand) -> Golden:
    """Whether the operands, converted to their common dtype, are equal; NaN equals nothing, -0 equals +0"""
    fmt = result_type(self, other)
    pair = broadcast_numbers(fmt, self, other) if fmt.is_float else broadcast_converted(fmt, self, other)
    return exact(np.equal(*pair), FORMATS["bool"])


@pointwise("aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther", "aten::where.Scalar")
def where(condition: np.ndarray, self: Operand, other: Operand) -> Golden:
    """self where condition is true, else other, in their common dtype"""
    if format_of(condition).name not in ("bool", "uint8"):
        raise InvalidArguments(f"where expects a bool or uint8 condition, got {format_of(condition).name}")
    fmt = result_type(self, other)
    chosen, rejected = broadcast_converted(fmt, self, other)
    try:
        selected = np.where(condition.astype(bool), chosen, rejected)
    except ValueError:
        shapes = f"{list(condition.shape)} and {list(chosen.shape)}"
        raise InvalidArguments(f"shapes {shapes} do not broadcast") from None
    return exact(selected, fmt)
