"""All 65,536 inputs of the ops of one operand in the 16-bit formats, and every cast that ends at a midpoint of one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from conform.domains.engine.arguments import Argument
from conform.domains.engine.dtypes import FLOATS
from conform.domains.engine.membership import first_violation
from conform.domains.engine.op_spec import OpSpec
from conform.domains.engine.spaces import Discrete
from conform.domains.engine.variables import WHOLE
from conform.domains.specs import specs
from conform.interp import semantics
from conform.numerics.formats import FORMATS
from conform.selftest.agreement.agreement import Agreement, agree_on
from conform.selftest.agreement.calls import Call, Witness
from conform.selftest.agreement.patterns import TARGETS, every_code, with_neighbours

HALVES = ("float16", "bfloat16")


@cache
def exhausted_ops() -> dict[str, tuple[Call, ...]]:
    """Every op that works element by element on one tensor of floats, under its first name, with the keywords with
    which it sees every input: those whose values the spec enumerates take each of them, others their default."""
    found = {spec.name: _keywords(spec) for spec in specs() if _is_of_one_float(spec)}
    return {name: keywords for name, keywords in found.items() if keywords}


def _is_of_one_float(spec: OpSpec) -> bool:
    definition = semantics.find(spec.name)
    assert definition is not None, f"{spec.name} has no semantics"
    tensors = [one for one in spec.arguments if one.type.is_tensor]
    is_alone = len(tensors) == 1 and definition.traits.pointwise and definition.names[0] == spec.name
    return is_alone and not set(FLOATS).isdisjoint(spec.dtypes)


def _keywords(spec: OpSpec) -> tuple[Call, ...]:
    """Every valid combination of values of the arguments beside the tensor; none where one has neither values nor
    default."""
    (tensor,) = (one.name for one in spec.arguments if one.type.is_tensor)
    others = [one for one in spec.arguments if not one.type.is_tensor]
    values = [_values(spec, one) for one in others]
    calls = (dict(zip([one.name for one in others], each, strict=True)) for each in itertools.product(*values))
    return tuple(call for call in calls if first_violation(spec, {tensor: np.float16([1]), **call}) is None)


def _values(spec: OpSpec, one: Argument) -> list[Any]:
    kind = one.type.variable_type("Value")
    space = spec.engines[one.name].values.constant_space(WHOLE[kind]) if kind else None
    if isinstance(space, Discrete):
        return [*space.members, *([None] if one.may_be_none else [])]
    (declared,) = [argument for argument in spec.schema.arguments if argument.name == one.name]
    return [declared.default] if declared.has_default else []


def agree_on_all_inputs(op: str, dtype: str) -> Agreement:
    """The 65,536 codes of the 16-bit `dtype` with each of the op's keywords."""
    codes = every_code(dtype)
    return agree_on(Agreement(op, dtype), (Witness({"self": codes, **each}) for each in exhausted_ops()[op]))


def agree_on_all_codes(source: str) -> Agreement:
    """Casts of all codes of a format of 8 or 16 bits to every dtype."""
    calls = (Witness({"self": every_code(source), "dtype": target}) for target in TARGETS)
    return agree_on(Agreement("aten::_to_copy", source), calls)


def agree_on_all_midpoints(source: str) -> Agreement:
    """Casts from the float `source` to each 16-bit format: of every midpoint, and the numbers of `source` beside it."""
    return agree_on(Agreement("aten::_to_copy", source), _midpoints(source))


def _midpoints(source: str) -> Iterator[Witness]:
    for target in HALVES:
        with np.errstate(invalid="ignore"):  # signalling NaNs
            every = every_code(target).astype(FORMATS[source].storage)
        values = np.unique(every[np.isfinite(every)])
        yield Witness({"self": with_neighbours(values[:-1] / 2 + values[1:] / 2), "dtype": target})
