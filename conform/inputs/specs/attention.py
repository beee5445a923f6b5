"""Attention: the domains of its arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import FLOATS, spec

spec("aten::scaled_dot_product_attention", dtypes=FLOATS)
