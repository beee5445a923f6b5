"""Judging kept answers again: the case made anew from its seed, its golden computed, the verdict compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.exports import exported
from conform.backends.reply import Output, Reply
from conform.call.bound import bound_call
from conform.certify.outputs import Bytes, Line
from conform.contracts.arithmetic import arithmetic_of
from conform.contracts.tables import contract_table
from conform.frontends.called import called
from conform.inputs.layouts import logical
from conform.interp.golden import Outcome
from conform.judging.case import verdict_of
from conform.judging.checks import OF_VALUES
from conform.report.numbers import json_value
from conform.report.record import case_json
from conform.report.run_json import DIGITS
from conform.running.answers import DIGEST_BYTES
from conform.running.verdicts import evaluated
from conform.suites.cases import Case

# What a verdict on values says, of what the values decide.
SAID = ("status", "reason", "compared", "failed", "open", "vacuous", "max_error_ulp", "bound_ulp")


class NotByValues(Exception):
    """More than the values of an answer decided on it: where they lie in memory."""


def can_be_judged(case: Mapping[str, Any], answer: Line) -> bool:
    """Whether values alone decided how a case of a record ended: not memory, not a refusal, not several calls."""
    return answer.is_kept and case["check"] in OF_VALUES and case["status"] in ("pass", "fail", "waived")


def difference(case: Case, told: Mapping[str, Any], answer: Line, data: Bytes, record: Mapping[str, Any]) -> str | None:
    """How the verdict on a kept answer, made again, differs from the one that the record tells; None: not at all.

    Raises ValueError where the bytes are not what the index says, NotByValues.
    """
    arguments = logical(case.arguments(case.draw.arguments()))
    module = called(case.draw) if case.draw.test.is_module else None
    bind = partial(bound_call, case.op) if module is None else module.bound
    call = bind(arguments.args, arguments.kwargs)
    outcome = evaluated(call)
    if isinstance(outcome, Outcome) and any(golden.strides is not None for golden in outcome.goldens):
        raise NotByValues
    found = [Output(array, _strides(array)) for array in map(data.array, answer.outputs)]
    reply = Reply("ok", result=found[0] if len(found) == 1 else tuple(found))
    verdict = verdict_of(
        case, call, outcome, reply, table=contract_table(record["contract"]),
        declared=arithmetic_of(record["backend"]), checks=frozenset(record["checks"]["selected"]),
    )  # fmt: skip
    made = json_value(case_json(verdict))
    was = {name: told[name] for name in SAID}
    if told["status"] == "waived":  # `fail: error above the bound`
        was["status"], _, was["reason"] = told["reason"].partition(": ")
    for name in SAID:
        if not _same(was[name], made[name]):
            return f"{name} {made[name]!r} now, {was[name]!r} in the record"
    return None


def _same(one: Any, other: Any) -> bool:
    """Equal, figures to the digits that records have of cases that passed."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return float(f"{one:.{DIGITS}g}") == float(f"{other:.{DIGITS}g}")
    return one == other


def _strides(array: Any) -> tuple[int, ...]:
    return tuple(stride // max(array.itemsize, 1) for stride in array.strides)


def answers_again(backend: str, cases: Sequence[Case], timeout_s: float) -> Iterator[Reply]:
    """What a backend answers to these cases now."""
    with BackendProcess(backend, timeout_s=timeout_s) as process:
        is_exporting = bool(process.describe()["exports"])
        for case in cases:
            given = case.arguments(case.draw.arguments())
            sent = exported(given) if is_exporting else given
            if case.draw.test.is_module:
                process.submit(called(case.draw).sent(sent.args, sent.kwargs, sent.requires_grad))
            else:
                process.submit(Call(case.op, sent.args, sent.kwargs, sent.requires_grad))
            yield process.receive()


def is_same(answer: Line, reply: Reply) -> bool:
    """Whether a reply has the outputs that a certificate tells of, byte for byte."""
    if answer.outputs is None or reply.status != "ok":
        return answer.outputs is None and reply.status != "ok"
    return [_told(one) for one in reply.outputs] == answer.told()


def _told(output: Any) -> Any:
    if not isinstance(output, Output):
        return repr(output)
    array = np.ascontiguousarray(output.array)
    digest = blake2b(array.tobytes(), digest_size=DIGEST_BYTES).hexdigest()
    return {"dtype": array.dtype.name, "shape": list(output.array.shape), "digest": digest}
