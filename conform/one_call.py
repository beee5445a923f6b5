"""The verdict on the result of one call of the user's own, of no suite."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.backends.leaves import leaves
from conform.backends.reply import Output, Reply
from conform.call.bound import Bound
from conform.contracts.tables import Table
from conform.errors import InvalidArguments
from conform.findings.findings import with_cause
from conform.interp.evaluate import is_array
from conform.interp.golden import Outcome
from conform.judging.case import verdict_of
from conform.judging.verdict import Verdict
from conform.numerics.formats import format_of
from conform.operators import in_terms_of_the_kit
from conform.suites.cases import GIVEN, Case, Draw
from conform.suites.test import Test


def reply_of(call: Bound, actual: Any) -> Reply:
    """The reply of a backend that returns `actual`, arrays or torch tensors, from the call."""
    of_module = call.meaning is not None
    result = _with_outputs(in_terms_of_the_kit(actual, "actual"), actual)
    return Reply("ok", result=tuple(leaves(result)) if of_module else result)


def judged(call: Bound, outcome: Outcome | InvalidArguments, reply: Reply, table: Table) -> Verdict:
    """How a case with this call and golden outcome ends if that is the backend's reply."""
    return with_cause(verdict_of(case_of(call, outcome), call, outcome=outcome, reply=reply, table=table))


def _with_outputs(actual: Any, given: Any) -> Any:
    """`actual` as a worker's reply has it, with the strides of the tensors or arrays that were `given`."""
    if isinstance(actual, list | tuple):
        return tuple(map(_with_outputs, actual, given))
    if isinstance(actual, dict):
        return {key: _with_outputs(item, given[key]) for key, item in actual.items()}
    if not is_array(actual):
        return actual
    array = np.asarray(actual)
    format_of(array)
    return Output(array, _strides(given))


def _strides(given: Any) -> tuple[int, ...]:
    """In elements."""
    if is_array(given):
        return tuple(step // given.itemsize for step in given.strides)
    return tuple(given.stride())


def case_of(call: Bound, outcome: Outcome | Exception) -> Case:
    """A case of no suite: its call is the user's."""
    test = Test(
        call.op, call.op, inputs=(), kwargs={}, device=None, cast_input0_to_complex=False, impl=None, pair=None,
        location="", arguments_at="", builtin=False, recorded_at="",
    )  # fmt: skip
    first = next(call.tensors(), None)
    formats = [each.format.name for each in outcome.goldens[:1]] if isinstance(outcome, Outcome) else []
    dtype = format_of(np.asarray(first)).name if first is not None else next(iter(formats), "none")
    return Case(f"{call.op}/{dtype}/{GIVEN}", Draw(test, {}, 0, 0), call.op, dtype, values=GIVEN, layout=GIVEN)
