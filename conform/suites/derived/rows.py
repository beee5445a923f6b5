"""Rows that hold one special value and nothing else, for every op whose results depend on more than one element."""

from __future__ import annotations

import math
from collections.abc import Iterator

from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.meta_tuple import MetaTuple, wished_tuple
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.variables import Contradiction
from conform.suites.derived.plain import Plain, is_pointwise
from conform.suites.dtypes import kind_of

FILLS = {
    "minus_inf": -math.inf, "inf": math.inf, "nan": math.nan, "equal": 0.1, "zero": 0.0, "minus_zero": -0.0,
}  # fmt: skip
IN_EVERY_DTYPE = ("equal", "zero")  # by which eps vanishes, and differences are rounded


def of_rows(spec: OpSpec) -> Iterator[tuple[str, MetaTuple, float]]:
    """(name, plain call, what its data tensor shall be filled with): zeros and equal numbers, between which eps and the
    dtype of a difference decide, in every float dtype, other numbers in float32 and in one more in turn."""
    data = spec.data
    if is_pointwise(spec) or data is None or not data.type.is_tensor or "float32" not in spec.dtypes:
        return
    others = [dtype for dtype in spec.dtypes if kind_of(dtype) == "float" and dtype != "float32"]
    for number, (name, fill) in enumerate(FILLS.items()):
        in_turn = [others[number % len(others)]] if others else []
        for dtype in ("float32", *(others if name in IN_EVERY_DTYPE else in_turn)):
            call = _plain(spec, name, dtype)
            if call and _holds(call.arguments[data.name], fill):
                yield f"rows_{name}" if dtype == "float32" else f"rows_{name}_{dtype}", call, fill


def _plain(spec: OpSpec, name: str, dtype: str) -> MetaTuple | None:
    try:
        return wished_tuple(spec, f"rows_{name}", Plain(spec, dtype, sizes=(2, 3, 3, 5)))
    except Contradiction:
        return None


def _holds(meta: MetaArgument, fill: float) -> bool:
    """Whether the argument is given and may hold the number."""
    return not meta.is_none and (meta.value is None or fill in meta.value)
