"""A module on a backend that keeps every intermediate result: each operator judged by itself.

What the operators before it gave are an operator's operands, whatever they should have been, and they are exact. So its
bound is its own, not what has added up on the way, and a defect cannot hide behind the errors of others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from conform import time_limit
from conform.backends.protocol import Most, most_of_results
from conform.backends.reply import Output, Reply
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.tables import Table
from conform.errors import Unjudged
from conform.frontends.op_calls import as_call, meant
from conform.frontends.steps import steps_of
from conform.interp.golden import Golden, Outcome
from conform.interp.program.form import Op, Program
from conform.interp.program.scope import Scope
from conform.judging.case import verdict_of
from conform.judging.ended import ended_as, undecided
from conform.judging.verdict import BY_ITSELF, FAILURES, NOT_JUDGED, Verdict
from conform.one_call import case_of
from conform.suites.cases import Case

OF_OPERATORS = "its operators one by one"
BESIDE = ("compared", "checks", "open", "vacuous")  # the counts of a verdict that add up
NO_FAULT = ("unspecified",)  # of an operator, an end that leaves nothing to be judged

Evaluated = Callable[[Any], "Outcome | Exception"]


@dataclass(frozen=True)
class Judge:
    """What an operator is judged by; `evaluated`: the golden of a call, or why there is none."""

    table: Table
    declared: Arithmetic
    checks: Collection[str]
    golden_timeout_s: float
    evaluated: Evaluated


def most_of(program: Program) -> Most:
    """What the reply may take that has every result of the program."""
    sizes = [np.prod(one.shape, dtype=int) for op in steps_of(program) for one in op.results if one is not None]
    return most_of_results(len(sizes), int(sum(sizes)))


def joined(
    case: Case, whole: Verdict, answered: Reply, program: Program, inputs: Sequence[np.ndarray],
    held: Sequence[np.ndarray], reply: Reply, judge: Judge,
) -> Verdict:  # fmt: skip
    """The verdict on a case of which the module as it is was `answered`, which was found to be `whole`, and `reply` has
    the results of its operators. held: its buffers, to which the program does not write.

    An operator outside its bound is the case's failure. A module that cannot be judged as a whole passes where all of
    its operators do, and its results are those of the last ones, bit by bit.
    """
    if reply.status in ("unsupported", "fallback"):
        return whole
    if reply.status != "ok":
        return ended_as(case, reply.status, f"{reply.reason}, of {OF_OPERATORS}", log=reply.log, check=whole.check)
    scope = Scope(program, inputs)
    found = []
    for op, verdict in _verdicts(program, scope, reply, judge):
        if verdict.status in FAILURES:
            return _failed(whole, op, verdict)
        found.append(verdict)
    expected = [*(scope.values[name] for name in program.function.results), *held]
    if whole.status == "unjudged" and not _is_proven(found, answered, expected):
        return whole
    return _passed(whole, found)


def _verdicts(program: Program, scope: Scope, reply: Reply, judge: Judge) -> Iterator[tuple[Op, Verdict]]:
    """Of each operator on what the ones before it gave."""
    outputs = iter(reply.outputs)
    for op in steps_of(program):
        own = [None if value is None else next(outputs, None) for value in op.results]
        yield op, _verdict(op, [scope.held(one) for one in op.operands], own, judge)
        scope.take(op, [one.array if isinstance(one, Output) else None for one in own])


def _verdict(op: Op, operands: Sequence[Any], outputs: Sequence[Any], judge: Judge) -> Verdict:
    call = meant(*as_call(op, operands))
    outcome = judge.evaluated(call)
    case = case_of(call, outcome)
    if not isinstance(outcome, Outcome):
        return undecided(case, outcome if isinstance(outcome, Unjudged) else Unjudged(str(outcome)))
    pairs = zip(outcome.goldens, op.results, strict=True)
    wanted = [Golden.none() if value is None else golden for golden, value in pairs]
    made = partial(
        verdict_of, case, call, replace(outcome, goldens=tuple(wanted)), Reply("ok", result=list(outputs)),
        table=judge.table, declared=judge.declared, checks=judge.checks,
    )  # fmt: skip
    try:
        return time_limit.or_unjudged("the judgement", judge.golden_timeout_s, made)
    except Unjudged as reason:
        return undecided(case, reason)


def _failed(whole: Verdict, op: Op, verdict: Verdict) -> Verdict:
    """The case's verdict where `verdict` is that on one of its operators."""
    where = f"{verdict.op} ({op.location})" if op.location else verdict.op
    return replace(
        verdict, id=whole.id, test=whole.test, op=whole.op, dtype=whole.dtype, values=whole.values,
        layout=whole.layout, reason=f"{verdict.reason}, in {where}{BY_ITSELF}", location=whole.location,
        pair=whole.pair, check=whole.check, is_counted=whole.is_counted, asked=whole.asked, marks=None,
    )  # fmt: skip


def _is_proven(found: Sequence[Verdict], answered: Reply, expected: Sequence[np.ndarray]) -> bool:
    """Whether every operator was judged, or had nothing to judge, and the module gave what the last of them gave."""
    if any(one.status in NOT_JUDGED and one.status not in NO_FAULT for one in found):
        return False
    outputs = answered.outputs if answered.status == "ok" else ()
    return len(outputs) == len(expected) and all(
        isinstance(one, Output) and one.array.dtype == array.dtype and one.array.shape == array.shape
        and one.array.tobytes() == array.tobytes()
        for one, array in zip(outputs, expected, strict=True)
    )  # fmt: skip


def _passed(whole: Verdict, found: Sequence[Verdict]) -> Verdict:
    """The case's verdict where no operator is wrong: with all that was compared."""
    counts = {name: sum(getattr(one, name) for one in (whole, *found)) for name in BESIDE}
    tables = {name: _told([one.tables.get(name) for one in (whole, *found)]) for name in whole.tables or {}}
    tightest = whole.tightest if tables.get(whole.tightest) == "pass" else None
    return replace(whole, status="pass", reason=None, rule=None, tables=tables, tightest=tightest, **counts)


def _told(by_operator: Sequence[str | None]) -> str | None:
    """What a table says of all of them."""
    return "fail" if "fail" in by_operator else "pass" if "pass" in by_operator else None
