"""Ops that make tensors of nothing: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import NUMBERS, spec

spec("aten::arange", dtypes=NUMBERS)
