"""One op asked of a backend and judged by itself: as a case is, but for its arguments, which a program has made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from conform import time_limit
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.one_op import OneOp
from conform.backends.protocol import most_of_results
from conform.backends.reply import Output, Reply
from conform.call.bound import Bound
from conform.contracts.arithmetic import arithmetic_of
from conform.contracts.tables import Table
from conform.errors import Unjudged
from conform.frontends.modules import ModuleCall
from conform.frontends.op_calls import as_call, meant
from conform.interp.golden import Outcome
from conform.interp.program.form import Op, Value
from conform.judging.case import verdict_of
from conform.judging.ended import ended_as, undecided
from conform.judging.verdict import FAILURES, Verdict
from conform.one_call import case_of
from conform.running.truth import evaluated
from conform.suites.cases import Case


@dataclass(frozen=True)
class Answer:
    """A call of one op, what it means, what the backend answered, and the verdict on that alone.

    `before`: what the call before this one deserves instead of its answer, None mostly; the worker that it left died.
    """

    case: Case
    call: Bound
    outcome: Outcome | Exception
    reply: Reply
    verdict: Verdict

    @property
    def has_failed(self) -> bool:
        return self.verdict.status in FAILURES

    @property
    def before(self) -> Reply | None:
        return self.reply.before

    def arrays(self, stated: Sequence[Value | None]) -> list[np.ndarray | None] | None:
        """The tensors that came back, if they are those that the program states."""
        return arrays_of(self.reply, stated)

    def ended_by(self, reply: Reply) -> Answer:
        """The answer as it is after all: the backend died of it."""
        verdict = ended_as(self.case, reply.status, reply.reason, log=reply.log)
        return replace(self, reply=reply, verdict=verdict)


def arrays_of(reply: Reply, stated: Sequence[Value | None]) -> list[np.ndarray | None] | None:
    """The tensors of a reply, None for one that nobody uses; None for a reply of other tensors than are `stated`."""
    outputs = reply.outputs if reply.status == "ok" else ()
    if len(outputs) != len(stated):
        return None
    for output, value in zip(outputs, stated, strict=True):
        if value is not None and not (isinstance(output, Output) and _is(output.array, value)):
            return None
    return [None if value is None else output.array for output, value in zip(outputs, stated, strict=True)]


def _is(array: np.ndarray, value: Value) -> bool:
    return array.dtype.name == value.dtype and array.shape == value.shape


class Backend:
    """A backend in its process, asked for one op after the other."""

    def __init__(self, process: BackendProcess, table: Table, golden_timeout_s: float) -> None:
        self.process, self.table, self.golden_timeout_s = process, table, golden_timeout_s
        self.arithmetic = arithmetic_of(process.describe())

    def answered(self, op: Op, operands: Sequence[Any]) -> Answer:
        """The answer to an op of a program on arrays."""
        return self.judged(*as_call(op, operands))

    def judged(self, op: str, args: Sequence[Any], kwargs: Mapping[str, Any], is_direct: bool = False) -> Answer:
        """The answer to a call; is_direct: asked as an operator, and not as modules are."""
        call = meant(op, args, kwargs)
        self.process.submit(_sent(call.op, args, kwargs, is_direct))
        outcome = evaluated(call, self.golden_timeout_s)
        reply, case = self._received(outcome), case_of(call, outcome)
        return Answer(case, call, outcome, reply, self._verdict(case, call, outcome, reply))

    def arrays(self, op: Op, operands: Sequence[Any]) -> list[np.ndarray | None] | None:
        """What the backend answers to an op on arrays, unjudged."""
        name, args, kwargs = as_call(op, operands)
        return arrays_of(self._asked(_sent(name, args, kwargs, is_direct=False)), op.results)

    def whole(self, module: ModuleCall, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Reply:
        """What the backend answers to the module as a whole."""
        return self._asked(Call(module.op, list(args), dict(kwargs), module=module.pickled))

    def _asked(self, call: Call) -> Reply:
        self.process.submit(call)
        return self._received(None)

    def _received(self, outcome: object) -> Reply:
        goldens = outcome.goldens if isinstance(outcome, Outcome) else ()
        sizes = most_of_results(len(goldens), sum(golden.value.size for golden in goldens))
        return self.process.receive(sizes) if goldens else self.process.receive()

    def _verdict(self, case: Case, call: Bound, outcome: Outcome | Exception, reply: Reply) -> Verdict:
        made = partial(verdict_of, case, call, outcome, reply, table=self.table, declared=self.arithmetic)
        try:
            return time_limit.or_unjudged("the judgement", self.golden_timeout_s, made)
        except Unjudged as reason:
            return undecided(case, reason)


def _sent(op: str, args: Sequence[Any], kwargs: Mapping[str, Any], is_direct: bool) -> Call:
    if is_direct:
        return Call(op, list(args), dict(kwargs))
    return Call("", list(args), dict(kwargs), module=_pickled(op))


@cache
def _pickled(op: str) -> bytes:
    return ModuleCall.of(OneOp(op)).pickled
