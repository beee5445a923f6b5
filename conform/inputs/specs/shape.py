"""Ops that move data: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import REAL, spec

spec("aten::cat", dtypes=REAL)
spec("aten::permute", dtypes=REAL)
spec("aten::slice", dtypes=REAL)
