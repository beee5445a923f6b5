"""Ops over sliding windows: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import FLOATS, spec

spec("aten::avg_pool2d", dtypes=("int64", *FLOATS))
