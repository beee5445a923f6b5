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


def of_rows(spec: OpSpec) -> Iterator[tuple[str, MetaTuple, float]]:
    """By name, the plain call and what its data tensor shall be filled with.

    Its float dtypes are left to the run, unless an argument names the dtype (`names_a_dtype`): then each has its call.
    """
    data = spec.data
    if is_pointwise(spec) or data is None or not data.type.is_tensor or "float32" not in spec.dtypes:
        return
    for name, fill in FILLS.items():
        try:
            plain = _plain(spec, name, "float32")
        except Contradiction:
            continue
        if not _holds(plain.arguments[data.name], fill):
            continue
        if not names_a_dtype(plain):
            yield f"rows_{name}", plain, fill
            continue
        for dtype in (one for one in spec.dtypes if kind_of(one) == "float"):
            yield f"rows_{name}_{dtype}", _plain(spec, name, dtype), fill


def _plain(spec: OpSpec, name: str, dtype: str) -> MetaTuple:
    return wished_tuple(spec, f"rows_{name}", Plain(spec, dtype, sizes=(2, 3, 3, 5)))


def _holds(meta: MetaArgument, fill: float) -> bool:
    """Whether the argument is given and may hold the number."""
    return not meta.is_none and (meta.value is None or fill in meta.value)


def names_a_dtype(tuple_: MetaTuple) -> bool:
    """Whether an argument is a dtype, such as input_dtype of _softmax_backward_data, which goes with the tensors'."""
    return any(one.type.name == "ScalarType" and not one.is_none for one in tuple_.arguments.values())
