"""Gradients of ops that choose between their operands."""

from __future__ import annotations

from conform.interp.gradients.rules import chosen, moved

moved("aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther", of=("self", "other"))
moved("aten::masked_fill.Scalar", "aten::fill.Scalar", "aten::clone", "aten::alias", "aten::lift_fresh", of=("self",))
moved("aten::masked_fill.Tensor", "aten::fill.Tensor", of=("self", "value"))
moved("aten::copy", of=("self", "src"))
chosen("aten::maximum", "aten::minimum", of=("self", "other"))
