"""Sums of products: the domains of their arguments."""

from __future__ import annotations

from conform.inputs.specs.registry import FLOATS, NUMBERS, spec

spec("aten::mm", dtypes=NUMBERS)
spec("aten::addmm", dtypes=NUMBERS)
# Without dilation and transposition torch takes every integer type; these are the types that it always takes.
spec("aten::convolution", dtypes=("int64", *FLOATS))
