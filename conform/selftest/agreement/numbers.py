"""Python numbers at which ops go wrong, in place of those that a meta tuple has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy

import numpy as np

from conform.domains.engine.attribute import OWN
from conform.domains.engine.meta_argument import MetaArgument
from conform.domains.engine.meta_tuple import MetaTuple, violations
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.variables import WHOLE, VariableType
from conform.numerics.draws import Stream

NUMBERS: Mapping[str, tuple[complex, ...]] = {
    "bool": (False, True),
    "int": (0, 1, -1, 2, 3, -7, 10, 100, 200, -200, 2**24 + 1, 2**31, 2**40, -(2**40), 2**53 + 1, -(2**63), 2**63 - 1),
    "float": (
        0.0, -0.0, 1.0, 0.5, -0.5, 2.0, 3.0, -2.5, 0.1, 0.3, -0.75, 1.5, 20.0, 1e-3, 1e-12, 1e5, 1e300, 5e-324,
        math.inf, -math.inf, math.nan,
    ),
    "complex": (0j, 1j, 2 - 0.1j, 1.5 - 2j, complex(-0.0, -0.0), complex(math.inf, 1.0)),
}  # fmt: skip
_TRIES = 3  # numbers that are looked at before the tuple's own stays


def with_interesting_numbers(spec: OpSpec, tuple_: MetaTuple, stream: Stream) -> MetaTuple:
    """The tuple with one of NUMBERS for about every second Python number, wherever all constraints hold and the spec
    does not give the numbers itself."""
    for name, meta in tuple_.arguments.items():
        kind = _kind(meta)
        is_fixed = name in tuple_.omitted or spec.engines[name].values.is_given
        if kind is None or is_fixed or stream.integers(0, 1, 1)[0]:
            continue
        for place in stream.integers(0, len(NUMBERS[kind]) - 1, _TRIES).tolist():
            changed = _with(tuple_, name, NUMBERS[kind][place])
            if _holds(spec, changed, name):
                tuple_ = changed
                break
    return tuple_


def _kind(meta: MetaArgument) -> str | None:
    """What kind of number the argument is; None if it is none, or counts something."""
    if meta.is_none:
        return None
    return meta.dtype if meta.is_number else "float" if meta.type.name == "Float" else None


def _with(tuple_: MetaTuple, name: str, number: complex) -> MetaTuple:
    meta = copy(tuple_.arguments[name])
    if meta.is_number:
        meta.value = number
    else:
        meta.structure = number
    return MetaTuple(tuple_.op, tuple_.number, {**tuple_.arguments, name: meta}, tuple_.omitted, tuple_.broken)


def _holds(spec: OpSpec, tuple_: MetaTuple, name: str) -> bool:
    """Whether the tuple, with a new number as its argument `name`, breaks nothing.

    Infinities and NaN are in no interval: they hold where every number does, and no constraint of others needs one.
    """
    number = tuple_.arguments[name].value if tuple_.arguments[name].is_number else tuple_.arguments[name].structure
    if not np.isfinite(number):
        scope = {other: meta.view for other, meta in tuple_.arguments.items()}
        scope[OWN] = tuple_.arguments[name]
        whole = WHOLE[VariableType.COMPLEX if isinstance(number, complex) else VariableType.FLOAT]
        if spec.engines[name].values.space(whole, scope) != whole:
            return False
    try:
        return not violations(spec, tuple_.arguments)
    except ValueError:  # nothing is more than NaN
        return False
