"""Gradients of softmax and its logarithm."""

from __future__ import annotations

from conform.interp.gradients.rules import gradient
from conform.interp.program.number import Number


@gradient("aten::_softmax", "aten::softmax.int")
def softmax(g: Number, dim: int, result: Number) -> Number:
    """result (g - the sum of g result along dim)"""
    weighed = g * result
    return result * (g - (weighed.sum(dim, True) if weighed.ndim else weighed))


@gradient("aten::_log_softmax", "aten::log_softmax.int")
def log_softmax(g: Number, dim: int, result: Number) -> Number:
    """g - e^result times the sum of g along dim"""
    return g - result.exp() * (g.sum(dim, True) if g.ndim else g)
