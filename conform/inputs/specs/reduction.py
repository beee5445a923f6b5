"""Reductions and scans: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import NUMBERS, REAL, spec

spec("aten::sum", dtypes=REAL)
spec("aten::amax", dtypes=REAL)
spec("aten::argmax", dtypes=NUMBERS)
spec("aten::cumsum", dtypes=REAL)
