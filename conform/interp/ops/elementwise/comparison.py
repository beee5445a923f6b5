"""Comparisons and selection."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import broadcast_converted, broadcast_numbers
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import pointwise
from conform.numerics.formats import FORMATS


@pointwise("aten::eq.Tensor", "aten::eq.Scalar", compares=True, commutes=True)
def eq(self: Operand, other: Operand) -> Golden:
    """Whether the operands, converted to their common dtype, are equal; NaN equals nothing, -0 equals +0"""
    fmt = result_type(self, other)
    pair = broadcast_numbers(fmt, self, other) if fmt.is_float else broadcast_converted(fmt, self, other)
    return exact(np.equal(*pair), FORMATS["bool"])


@pointwise("aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther", "aten::where.Scalar", selects=True)
def where(condition: np.ndarray, self: Operand, other: Operand) -> Golden:
    """self where condition is true, else other, in their common dtype"""
    fmt = result_type(self, other)
    chosen, rejected = broadcast_converted(fmt, self, other)
    return exact(np.where(condition.astype(bool), chosen, rejected), fmt)
