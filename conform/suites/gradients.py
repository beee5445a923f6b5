"""Cases that ask for gradients: one for each plain call of floats of an op that has any, or should have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from conform.call.variants import plain_name
from conform.domains.specs import spec_of
from conform.interp.gradients import rules
from conform.interp.semantics import traits_of
from conform.numerics.formats import FORMATS

if TYPE_CHECKING:
    from conform.suites.cases import Case

DTYPES = frozenset({"float16", "bfloat16", "float32", "float64"})  # of which autograd has leaves


def with_gradients(groups: Sequence[Sequence[Case]]) -> list[list[Case]]:
    """The groups, each plain call of an op that has a gradient followed by a case that asks for it."""
    return [[one for case in group for one in (case, *_differentiated(case))] for group in groups]


def _differentiated(case: Case) -> list[Case]:
    if not _is_plain(case) or not is_differentiable(case.op):
        return []
    return [replace(case, id=f"{case.id}/gradients", of_gradients=True)]


def _is_plain(case: Case) -> bool:
    """Whether it is a valid call of an operator on plain numbers in plain memory, whose result is determined."""
    test = case.draw.test
    is_usual = (case.values, case.layout) == ("typical", "contiguous") and case.dtype in DTYPES and case.times == 1
    has_floats = any(one.kind == "float" or one.dtype in DTYPES for one in test.tensors)
    is_valid = has_floats and (test.domain is None or not test.domain.broken and not test.domain.lenience)
    return (
        is_usual and is_valid and not test.is_module and not test.takes_objects and not traits_of(case.op).undetermined
    )


@cache
def is_differentiable(op: str) -> bool:
    """Whether results of the op are floats that depend on floats: it has a gradient, or the kit lacks it. A variant
    that writes into its arguments takes no tensors with gradients."""
    if rules.is_independent(op) or plain_name(op) != op:
        return False
    spec = spec_of(op)
    return rules.find(op) is not None or spec is None or any(map(_may_be_float, spec.results))


def _may_be_float(result: object) -> bool:
    """Whether no constraint says that the result is of a dtype that is no float."""
    fixed = [one.value for one in result.constraints if (one.attribute, one.suffix) == ("Dtype", "Eq")]
    return not any(isinstance(name, str) and not FORMATS[name].is_float for name in fixed)
