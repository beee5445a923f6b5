"""The Bessel functions of the second kind: the domains of their arguments."""

from __future__ import annotations

from conform.domains.engine.arguments import tensor
from conform.domains.engine.constraints import Dtype
from conform.domains.engine.vocabulary import typically
from conform.domains.functions.forward import OF_WIDE, REAL_RESULT
from conform.domains.specs import REAL, spec

for _name in ("special_bessel_y0", "special_bessel_y1"):
    spec(f"aten::{_name}", tensor("self", Dtype.In(REAL), OF_WIDE, typically(0, 40)), REAL_RESULT)
