"""Cases of suites on one backend after another: inputs, goldens and the answers of torch itself are made once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.reply import Output, Reply
from conform.call.arguments import Arguments, is_tensor
from conform.call.bound import Bound, bound_call
from conform.contracts.arithmetic import arithmetic_of
from conform.contracts.tables import contract_table
from conform.errors import UsageError
from conform.inputs.layouts import logical
from conform.interp.golden import Outcome
from conform.judging.case import verdict_of
from conform.judging.checks import EVERY
from conform.judging.verdict import Verdict
from conform.running.sent import updates_of
from conform.running.truth import evaluated
from conform.suites import load
from conform.suites.cases import Case, Selection
from conform.suites.select import select

IN_FLIGHT = 16


@dataclass
class Prepared:
    """A case with its inputs, and its golden outcome once somebody asks for it."""

    case: Case
    arguments: Arguments

    @cached_property
    def call(self) -> Call:
        op, given = self.case.op, self.arguments
        return Call(op, given.args, given.kwargs, given.requires_grad, updates=updates_of(op, given))

    @cached_property
    def bound(self) -> dict[str, Any]:
        """The arguments by name, every sequence as a list; empty where they do not fit the schema."""
        try:
            bound = bound_call(self.case.op, self.arguments.args, self.arguments.kwargs, is_tensor).arguments
        except UsageError:
            return {}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in bound.items()}

    @cached_property
    def expected(self) -> tuple[Bound, Outcome | Exception]:
        """The call of plain arrays, and its golden outcome or why there is none."""
        plain = logical(self.arguments)
        call = bound_call(self.case.op, plain.args, plain.kwargs)
        return call, evaluated(call)


class Trial:
    """Suites as `conform check --backend NAME` runs them: contract `opencl`, seed 0.

    cases: those of each overload, the plainest first: contiguous before other layouts, typical before special values,
    then the shortest id.
    """

    def __init__(self, suites: Sequence[str] = ("core",), selection: Selection | None = None) -> None:
        self.cases: dict[str, list[Case]] = {}
        chosen = selection or Selection()
        suite = load(suites, seed=chosen.seed, ops=chosen.ops, ids=chosen.ids)
        for group in select(suite, chosen):
            for case in group:
                self.cases.setdefault(case.op, []).append(case)
        for cases in self.cases.values():
            cases.sort(key=_plainness)
        self._table = contract_table("opencl")

    def verdict(
        self, prepared: Prepared, reply: Reply, described: dict[str, Any], checks: Collection[str] = EVERY
    ) -> Verdict:
        """What `conform check --checks ...` would say of the reply of a backend that describes itself so."""
        call, outcome = prepared.expected
        declared = arithmetic_of(described)
        return verdict_of(prepared.case, call, outcome, reply, table=self._table, declared=declared, checks=checks)

    def verdicts(self, backend: BackendProcess, cases: Iterable[Case]) -> Iterator[Verdict]:
        """The cases' verdicts, in their order."""
        every = [prepare(case) for case in cases]
        for prepared, reply in zip(every, replies(backend, [one.call for one in every]), strict=True):
            yield self.verdict(prepared, reply, backend.describe())


def prepare(case: Case) -> Prepared:
    """The case with its inputs."""
    return Prepared(case, case.arguments(case.draw.arguments()))


def replies(backend: BackendProcess, calls: Sequence[Call]) -> Iterator[Reply]:
    """What a backend answers, call by call; some are sent ahead."""
    for number, call in enumerate(calls):
        backend.submit(call)
        if number >= IN_FLIGHT:
            yield backend.receive()
    while backend.in_flight:
        yield backend.receive()


def planted_as(call: Call, keyword: str, defect: str) -> Call:
    """The call, for the host of all plants to answer with this defect."""
    return replace(call, kwargs={**call.kwargs, keyword: defect})


def same_reply(one: Reply, other: Reply) -> bool:
    """Whether no judge can tell two replies apart: equal bit for bit, and of the same strides."""
    if (one.status, one.mutated, one.overrun) != (other.status, other.mutated, other.overrun):
        return False
    ours, theirs = one.outputs, other.outputs
    return len(ours) == len(theirs) and all(map(_same_output, ours, theirs))


def _same_output(one: object, other: object) -> bool:
    if not isinstance(one, Output) or not isinstance(other, Output):
        return type(one) is type(other) and repr(one) == repr(other)  # -0.0 is another number than 0.0
    mine, its = one.array, other.array
    is_of_structure = (mine.dtype, mine.shape, one.strides) == (its.dtype, its.shape, other.strides)
    return is_of_structure and np.array_equal(_bits(mine), _bits(its))


def _bits(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


def _plainness(case: Case) -> tuple:
    return case.layout != "contiguous", case.values != "typical", len(case.id), case.id
