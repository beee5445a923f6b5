"""Rounding to integers: the domains of its arguments."""

from __future__ import annotations

from conform.domains.elementwise.outcomes import SAME
from conform.domains.engine.arguments import integer, tensor
from conform.domains.engine.constraints import Dtype
from conform.domains.specs import FLOATS, NUMBERS, spec

for _op in ("aten::round", "aten::ceil", "aten::floor", "aten::trunc"):
    spec(_op, tensor("self", Dtype.In(NUMBERS)), SAME)
spec("aten::frac", tensor("self", Dtype.In(FLOATS)), SAME)
spec("aten::round.decimals", tensor("self", Dtype.In(FLOATS)), integer("decimals"), SAME)
