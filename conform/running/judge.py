"""One backend process asked and judged: each case's call sent, its golden computed meanwhile, the reply judged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import compress
from typing import TYPE_CHECKING

from conform import time_limit
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.protocol import MOST, Most, most_of_results
from conform.backends.reply import Reply
from conform.call.arguments import Arguments, tensors
from conform.call.bound import Bound, bound_call
from conform.contracts.arithmetic import Arithmetic
from conform.contracts.tables import Table
from conform.errors import Unjudged
from conform.inputs.layouts import logical
from conform.interp.golden import Outcome
from conform.interp.gradients.evaluation import GradientCall
from conform.judging.case import Answers, declined, verdict_of
from conform.judging.checks import EVERY, LAYOUT, question
from conform.judging.ended import undecided
from conform.judging.repeated import verdict_on
from conform.judging.verdict import Verdict
from conform.manifest.claimed import not_asked
from conform.manifest.language import Manifest
from conform.running import gradients
from conform.running.answers import Keeper
from conform.running.breaker import Breaker
from conform.running.equal_calls import EqualCalls
from conform.running.known import Known
from conform.running.sent import attempt, prepared
from conform.running.sides import Sides
from conform.running.truth import INTERP, REFS, as_unjudged, evaluated, too_long
from conform.suites.cases import Case

if TYPE_CHECKING:  # torch is imported for modules alone
    from conform.frontends.called import Called
    from conform.interp.program.form import Program

# A call, its golden outcome or why it has none, and the verdicts on the answers to it.
Expected = tuple[Bound, Outcome | Exception, Answers]


@dataclass
class _Asked:
    """A case whose call is with the backend; `expected` computes its golden meanwhile. `refusal`: why a module itself
    does not take its tensors as they lie in memory, None where it does."""

    case: Case
    expected: Callable[[], Expected]
    refusal: Callable[[], str | None] = lambda: None


def _of_somebody_else(reply: Reply) -> Reply:
    """What is told of the call on which it was noticed, where that to blame has its verdict already."""
    return replace(reply, calls_before=1, reason=f"{reply.reason}, of a call before this one")


@dataclass
class Judge:
    """Asks the backend and judges its replies; it keeps the cases that were judged last, which the next reply may
    revise."""

    process: BackendProcess
    table: Table
    arithmetic: Arithmetic
    golden_timeout_s: float
    checks: Collection[str] = EVERY
    device: str = "cpu"
    manifest: Manifest | None = None
    keeper: Keeper | None = None
    known: Known | None = None
    oracle: str = INTERP
    full: bool = True
    waiting: deque[_Asked] = field(default_factory=deque)  # what the backend has, the oldest first
    breaker: Breaker = field(default_factory=Breaker)
    sides: Sides = field(default_factory=Sides)
    _past: deque[_Asked] = field(default_factory=deque)  # what was answered, of which the next reply may take one back
    _answered: Reply | None = None  # what the last one was judged by
    _lacking: set[str] = field(default_factory=set)  # the ops of which the backend did not have what was asked last
    _equal_calls: EqualCalls = field(init=False)

    def __post_init__(self) -> None:
        self._equal_calls = EqualCalls(self.process)

    def unclaimed(
        self, case: Case, typical: Arguments | Exception, known: dict[tuple[str, str], Expected],
        module: Called | None,
    ) -> Verdict | None:  # fmt: skip
        """The verdict on a case that the manifest does not claim: of what goes in, and, if that is not too large, of
        what should come out."""

        def shapes() -> Iterator[tuple[int, ...]]:
            arguments = typical if isinstance(typical, Exception) else attempt(partial(case.arguments, typical))
            if isinstance(arguments, Exception):
                return
            yield from (tensor.shape for tensor in tensors(arguments))
            expected = attempt(self._expected(case, arguments, known, module))
            if isinstance(expected, tuple) and isinstance(expected[1], Outcome):
                yield from (golden.value.shape for golden in expected[1].goldens)

        return self.manifest and not_asked(self.manifest, case, shapes, self.checks)

    def ask(
        self,
        case: Case,
        typical: Arguments | Exception,
        known: dict[tuple[str, str], Expected],
        exports: bool,
        module: Called | None = None,
    ) -> Verdict | None:
        """Sends the call of a case, or says why there is none."""
        made = attempt(partial(prepared, case, typical, exports, module))
        if isinstance(made, Exception):
            return self._undecided(case, made)
        arguments, call = made
        expected = self._expected(case, arguments, known, module)
        if case.of_gradients:
            of_gradients = attempt(partial(self._differentiated, case, expected, call))
            if isinstance(of_gradients, Exception):
                return self._undecided(case, of_gradients)
            expected, call = of_gradients
        self.process.submit(call)
        placed = module is not None and question(case.values, case.layout, False) == LAYOUT
        refusal = partial(module.refusal, arguments.args, arguments.kwargs) if placed else lambda: None
        self.waiting.append(_Asked(case, expected, refusal))
        return None

    def _differentiated(
        self, case: Case, expected: Callable[[], Expected], call: Call
    ) -> tuple[Callable[[], Expected], Call]:
        """The call for the gradients of a case's call and its outcome, in the places of those of the op. Unjudged where
        there is nothing to ask for."""
        if self.oracle == REFS:
            raise Unjudged("the references have no gradients")
        bound, outcome, _ = expected()
        of_gradients, sent = gradients.asked(case, bound, outcome, call)
        return cache(lambda: (of_gradients, evaluated(of_gradients, self.golden_timeout_s), {})), sent

    def _expected(
        self, case: Case, arguments: Arguments, known: dict[tuple[str, str], Expected], module: Called | None
    ) -> Callable[[], Expected]:
        """The case's call and its outcome, bound and computed once for all layouts that hold the same values."""
        key = (case.values, case.layout if case.layout.startswith("expanded") else "")

        def expected() -> Expected:
            if key not in known:
                plain = logical(arguments)
                bind = partial(bound_call, case.op) if module is None else module.bound
                call = bind(plain.args, plain.kwargs)
                known[key] = call, evaluated(call, self.golden_timeout_s, self.oracle), {}
            return known[key]

        return expected

    def judged(self) -> Iterator[Verdict]:
        """The verdict on the oldest call that the backend has, and a second one on a call before if that did harm."""
        asked = self.waiting.popleft()
        known = self.known and self.known.on(asked.case)
        is_lacking = asked.case.op in self._lacking
        expected = None if known or is_lacking else attempt(asked.expected)
        reply = self.process.receive(known.most if known else MOST if is_lacking else _most(expected))
        if reply.before is not None and (late := self._late(reply.before)) is not None:
            yield late
        elif reply.before is not None:
            reply = _of_somebody_else(reply.before)
        verdict = (self._as_before(asked, reply) if known else None) or self._declined(asked.case, reply)
        verdict = verdict or self._anew(asked, expected or attempt(asked.expected), reply)
        self._answered = reply
        self._is_past(asked)
        yield self._noted(verdict)

    def _noted(self, verdict: Verdict) -> Verdict:
        """The verdict, by which its op may be given up."""
        if self.breaker.note(verdict):
            self._take_back(verdict.op)
        return verdict

    def _as_before(self, asked: _Asked, reply: Reply) -> Verdict | None:
        """The verdict that an earlier run came to on this answer, if one did."""
        verdict = self.known.verdict(asked.case, reply)
        if verdict is not None and self.keeper is not None:
            self.keeper.keep(asked.case.id, [reply])
        return verdict

    def _declined(self, case: Case, reply: Reply) -> Verdict | None:
        """The verdict where the backend says that it lacks what is asked. The next call of the op is judged after its
        answer, so that no golden is made for nothing."""
        verdict = declined(case, reply, self.checks)
        self._lacking -= {case.op}
        if verdict is None or case.of_gradients or case.draw.test.pair is not None:
            return None
        self._lacking |= {case.op}
        if self.keeper is not None:
            self.keeper.keep(case.id, [reply])
        return verdict

    def _anew(self, asked: _Asked, expected: Expected | Exception, reply: Reply) -> Verdict:
        """The verdict, which is known from now on."""
        verdict = self._verdict(asked, expected, reply)
        if self.known is not None and isinstance(expected, tuple):
            self.known.add(asked.case, reply, expected[1], verdict)
        return verdict

    def op_by_op(
        self, case: Case, typical: Arguments | Exception, known: dict[tuple[str, str], Expected], exports: bool,
        module: Called,
    ) -> Iterator[Verdict]:  # fmt: skip
        """The verdict on a module of a backend that keeps every intermediate: as it is, and, where that is not wrong,
        on each of its operators; behind those on all calls that the backend has."""
        while self.waiting:
            yield from self.judged()
        asked = self.ask(case, typical, known, exports, module)
        if asked is not None:
            yield asked
            return
        *before, whole = self.judged()
        yield from before
        if whole.status in ("pass", "unjudged"):
            yield from self._by_operators(case, typical, module, whole)
        else:
            yield whole

    def _by_operators(self, case: Case, typical: Arguments, module: Called, whole: Verdict) -> Iterator[Verdict]:
        from conform.frontends.torch_export import arrays_of  # with torch, as the module is
        from conform.running import op_by_op

        made = attempt(partial(self._steps, case, typical, module))
        if isinstance(made, Exception):
            yield whole if isinstance(made, Unjudged) else self._undecided(case, made)
            return
        plain, program, call = made
        answered = self._answered
        self.process.submit(call)
        reply = self.process.receive(op_by_op.most_of(program))
        late = None if reply.before is None else self._late(reply.before)
        self._is_past(self._past[-1])  # this call is of the same case
        if late is not None:
            yield late
            if late.id == case.id:
                return
        judge = op_by_op.Judge(
            self.table, self.arithmetic, self.checks, self.golden_timeout_s,
            lambda call: evaluated(call, self.golden_timeout_s, self.oracle),
        )  # fmt: skip

        def joined() -> Verdict:
            inputs = arrays_of(plain.args, plain.kwargs)
            return op_by_op.joined(case, whole, answered, program, inputs, module.held(), reply, judge)

        yield self._noted(self._guarded(case, joined))

    def _steps(self, case: Case, typical: Arguments, module: Called) -> tuple[Arguments, Program, Call]:
        """The inputs of a module, its program, and the call that asks for what every operator of that gives. Unjudged
        where it has none."""
        from conform.frontends import steps

        arguments = case.arguments(typical)
        plain = logical(arguments)
        program = module.program(plain.args, plain.kwargs, of_kernels=True)
        if program is None:
            raise Unjudged("the module has no program of kernels")
        return plain, program, steps.sent(program, case.op, arguments.args, arguments.kwargs)

    def repeated(
        self, case: Case, typical: Arguments | Exception, exports: bool, module: Called | None
    ) -> Iterator[Verdict]:
        """The verdict on a case of several equal calls; behind those on all calls that the backend has."""
        while self.waiting:
            yield from self.judged()
        made = attempt(partial(prepared, case, typical, exports, module))
        if isinstance(made, Exception):
            yield self._undecided(case, made)
            return
        before = self.process.submitted
        replies = self._equal_calls.replies(made[1], case.times)
        if replies[0].before is not None and (late := self._late(replies[0].before)) is not None:
            yield late
        expected = self._expected(case, made[0], {}, module)
        for _ in range(before, self.process.submitted):
            self._is_past(_Asked(case, expected))
        if self.keeper is not None:
            self.keeper.keep(case.id, replies)
        outcome = partial(attempt, lambda: expected()[1])
        yield self._guarded(case, lambda: verdict_on(case, replies, self.device, self.checks, outcome))

    def close(self) -> None:
        """Ends the other process, and what is kept of answers."""
        self._equal_calls.close()
        if self.keeper is not None:
            self.keeper.close()
        if self.known is not None:
            self.known.close()

    def _take_back(self, op: str) -> None:
        """Nothing that was sent ahead for this op is run."""
        is_kept = [asked.case.op != op for asked in self.waiting]
        self.process.take_back([place for place, kept in enumerate(is_kept) if not kept])
        self.waiting = deque(compress(self.waiting, is_kept))

    def settled(self) -> Iterator[Verdict]:
        """A second verdict on one of the last cases, where that did harm."""
        if self._past and (reply := self.process.settle()) is not None:
            yield self._late(reply) or self._late(_of_somebody_else(reply))

    def _late(self, reply: Reply) -> Verdict | None:
        """The verdict on a call that was answered before, of which the worker died after all; None if it is not known.
        """
        if reply.calls_before > len(self._past):
            return None
        asked = self._past[-reply.calls_before]
        return self._verdict(asked, attempt(asked.expected), reply)

    def _is_past(self, asked: _Asked) -> None:
        self._past.append(asked)
        while len(self._past) > max(self.process.suspected, 1):
            self._past.popleft()

    def _verdict(self, asked: _Asked, expected: Expected | Exception, reply: Reply) -> Verdict:
        if self.keeper is not None:
            self.keeper.keep(asked.case.id, [reply])
        if isinstance(expected, Exception):
            return self._undecided(asked.case, expected)
        call, outcome, answers = expected
        if self.oracle == REFS and isinstance(outcome, Unjudged) and reply.status in ("ok", "error"):
            return self._undecided(asked.case, outcome)  # though the spec may know that the call is to be refused

        def made() -> Verdict:
            return verdict_of(
                asked.case, call, outcome, reply, table=self.table, declared=self.arithmetic, checks=self.checks,
                answers=answers, full=self.full,
            )  # fmt: skip

        def judged() -> Verdict:
            try:
                verdict = time_limit.limited(self.golden_timeout_s, made)
            except time_limit.TookTooLong:
                raise too_long("the judgement", self.golden_timeout_s) from None
            if verdict.status == "error" and (reason := asked.refusal()) is not None:
                raise Unjudged(f"the module itself does not take this layout: {reason}")
            if isinstance(call, GradientCall):
                return gradients.told(verdict, call)
            return self.sides.compared(asked.case, outcome, reply, verdict)

        return self._guarded(asked.case, judged)

    def _guarded(self, case: Case, make: Callable[[], Verdict]) -> Verdict:
        """The verdict that it makes; of what fails here that it is a defect of the kit."""
        try:
            return make()
        except Exception as error:
            return self._undecided(case, error)

    def _undecided(self, case: Case, error: Exception) -> Verdict:
        return undecided(case, as_unjudged(error), self.checks)


def _most(expected: Expected | Exception) -> Most:
    """What a reply may take: some more than what is expected, or what any may where that is not known."""
    if isinstance(expected, tuple) and isinstance(expected[1], Unjudged):
        return MOST
    goldens = expected[1].goldens if isinstance(expected, tuple) and isinstance(expected[1], Outcome) else ()
    return most_of_results(len(goldens), sum(golden.value.size for golden in goldens))
