"""Sorting: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import REAL, spec

spec("aten::sort", dtypes=REAL)
