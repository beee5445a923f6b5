"""Ops whose results have the dtype and shape of an operand, and none of its numbers."""

from __future__ import annotations

from conform.interp.gradients.rules import independent

independent(
    "aten::zeros_like", "aten::ones_like", "aten::full_like", "aten::empty_like", "aten::heaviside",
    "aten::nextafter",
)  # fmt: skip
