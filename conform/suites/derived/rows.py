"""Rows that hold one special value and nothing else, for every op whose results depend on more than one element."""

from __future__ import annotations

import math
from collections.abc import Iterator

from conform.domains.engine.meta_tuple import MetaTuple, wished_tuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.variables import Contradiction
from conform.suites.derived.plain import Plain, is_pointwise

FILLS = {
    "minus_inf": -math.inf, "inf": math.inf, "nan": math.nan, "equal": 0.1, "zero": 0.0, "minus_zero": -0.0,
}  # fmt: skip


def of_rows(spec: OpSpec) -> Iterator[tuple[str, MetaTuple, float]]:
    """By name, the plain call and what its data tensor shall be filled with; its float dtypes are left to the run."""
    data = spec.data
    if is_pointwise(spec) or data is None or not data.type.is_tensor or "float32" not in spec.dtypes:
        return
    for name, fill in FILLS.items():
        try:
            plain = wished_tuple(spec, f"rows_{name}", Plain(spec, sizes=(2, 3, 3, 5)))
        except Contradiction:
            continue
        meta = plain.arguments[data.name]
        space = meta.value
        if meta.is_none:  # it may be left out
            continue
        if space is None or fill in space:
            yield f"rows_{name}", plain, fill
