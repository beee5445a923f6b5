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


def of_rows(spec: OpSpec) -> Iterator[tuple[str, MetaTuple, float, bool]]:
    """(name, plain call, what its data tensor shall be filled with, whether its float dtypes are left to the run).

    They are where another float dtype changes those of the data and nothing else. Where it changes more (an argument
    that is a dtype, boundaries that go with the numbers sought) each dtype has a call of its own.
    """
    data = spec.data
    if is_pointwise(spec) or data is None or not data.type.is_tensor or "float32" not in spec.dtypes:
        return
    for name, fill in FILLS.items():
        try:
            calls = {dtype: _plain(spec, name, dtype) for dtype in spec.dtypes if kind_of(dtype) == "float"}
        except Contradiction:
            continue
        plain = calls["float32"]
        if not _holds(plain.arguments[data.name], fill):
            continue
        if all(_differ_in_data_alone(spec, dtype, plain, call) for dtype, call in calls.items()):
            yield f"rows_{name}", plain, fill, True
        else:
            yield from ((f"rows_{name}_{dtype}", call, fill, False) for dtype, call in calls.items())


def _plain(spec: OpSpec, name: str, dtype: str) -> MetaTuple:
    return wished_tuple(spec, f"rows_{name}", Plain(spec, dtype, sizes=(2, 3, 3, 5)))


def _holds(meta: MetaArgument, fill: float) -> bool:
    """Whether the argument is given and may hold the number."""
    return not meta.is_none and (meta.value is None or fill in meta.value)


def _differ_in_data_alone(spec: OpSpec, dtype: str, plain: MetaTuple, call: MetaTuple) -> bool:
    """Whether the call is the plain one with its float data in the dtype, as `tests` writes it."""
    for one in spec.arguments:
        mine, its = plain.arguments[one.name], call.arguments[one.name]
        if one.type.name == "ScalarType" and mine.structure != its.structure:
            return False
        is_data = one.type.is_tensor and not one.type.is_index
        if one.type.is_tensor and its.dtype != (dtype if is_data and _is_float(mine) else mine.dtype):
            return False
    return True


def _is_float(meta: MetaArgument) -> bool:
    return meta.dtype is not None and kind_of(meta.dtype) == "float"
