"""Cases of the core suite on one backend after another; inputs and goldens are made once for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch

from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.call.bound import Bound, bound_call
from conform.contracts.arithmetic import arithmetic_of
from conform.contracts.tables import contract_table
from conform.inputs.layouts import logical
from conform.interp.golden import Outcome
from conform.judging.case import verdict_of
from conform.judging.verdict import Verdict
from conform.straight_line import evaluated
from conform.suites import load
from conform.suites.cases import Case, Selection, select

_IN_FLIGHT = 8


class Trial:
    """The core suite as `conform check --backend NAME` runs it: contract `opencl`, seed 0, all values and layouts.

    cases: every case by its id, in the suite's order.
    """

    def __init__(self) -> None:
        self.cases = {case.id: case for group in select(load(["core"]), Selection()) for case in group}
        self._table = contract_table("opencl")
        self._truths: dict[str, tuple[Bound, Outcome | Exception]] = {}

    def ops(self) -> list[str]:
        """Every overload that the suite calls and torch has."""
        return sorted({case.op for case in self.cases.values() if hasattr(torch.ops.aten, _name(case.op))})

    def verdicts(self, backend: BackendProcess, cases: Iterable[Case]) -> Iterator[Verdict]:
        """The cases' verdicts, in their order; some calls are sent ahead."""
        waiting: list[Case] = []
        for case in cases:
            backend.submit(_call(case))
            waiting.append(case)
            if len(waiting) == _IN_FLIGHT:
                yield self._verdict(backend, waiting.pop(0))
        while waiting:
            yield self._verdict(backend, waiting.pop(0))

    def verdict_after_others(self, backend: BackendProcess, case: Case) -> Verdict:
        """The verdict of a case, run behind the twelve of its op, in any overload, that come before it in the suite."""
        of_op = [other for other in self.cases.values() if other.op.partition(".")[0] == case.op.partition(".")[0]]
        place = of_op.index(case)
        for other in of_op[max(0, place - 12) : place]:
            backend.submit(_call(other))
            backend.receive()
        return next(self.verdicts(backend, [case]))

    def _verdict(self, backend: BackendProcess, case: Case) -> Verdict:
        call, outcome = self._truth(case)
        declared = arithmetic_of(backend.describe())
        return verdict_of(case, call, outcome, backend.receive(), self._table, declared)

    def _truth(self, case: Case) -> tuple[Bound, Outcome | Exception]:
        if case.id not in self._truths:
            arguments = logical(case.arguments(case.draw.arguments()))
            call = bound_call(case.op, arguments.args, arguments.kwargs)
            self._truths[case.id] = call, evaluated(call)
        return self._truths[case.id]


def _name(op: str) -> str:
    """`add` of `aten::add.Tensor`."""
    return op.partition(".")[0].removeprefix("aten::")


def _call(case: Case) -> Call:
    placed = case.arguments(case.draw.arguments())
    return Call(case.op, placed.args, placed.kwargs, placed.requires_grad)
