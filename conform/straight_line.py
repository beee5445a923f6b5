"""The straight line: suite -> cases -> inputs -> golden and actual -> contract -> verdict -> run record."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from conform import kit, time_limit
from conform.backends import names as backend_names
from conform.backends.base import Backend
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.exports import exported
from conform.backends.given import given, origin
from conform.backends.jail import Jail, jail_for
from conform.backends.protocol import Most, most_of_results
from conform.backends.reply import Reply
from conform.call.arguments import Arguments
from conform.call.bound import Bound, bound_call
from conform.contracts.arithmetic import Arithmetic, arithmetic_of
from conform.contracts.tables import Table, contract_table
from conform.documents.limits import Limits
from conform.errors import ConformError, InvalidArguments, Scarcity, Unjudged, UsageError
from conform.inputs.layouts import logical
from conform.interp import semantics
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Outcome
from conform.judging.case import cannot_run, defect, undecided, verdict_of
from conform.judging.credit import credited
from conform.judging.verdict import FAILURES, Verdict
from conform.operators import op_globs
from conform.report import record
from conform.report.record import Required, Run
from conform.report.write import paths
from conform.selftest import figure
from conform.suites import Suite, load
from conform.suites.cases import Case, Selection, select, too_large

IN_FLIGHT = 8
TIMEOUT_S = 30.0  # for one call of the backend
MAX_TIMEOUT_S = 86400.0  # a day; poll(2) takes milliseconds as an int, so it could wait no longer than 24
MIN_COVERAGE = 0.5
HUGE_ELEMENTS = 2**32


def check(
    suites: Sequence[str] = ("core",),
    backend: str | type[Backend] | Backend | Callable = "cpu",
    *,
    ops: str | Callable | Sequence[str | Callable] = (),
    dtypes: Sequence[str] = (),
    ids: Sequence[str] = (),
    seed: int = 0,
    samples: int = 1,
    values: str | None = None,
    layouts: str | None = None,
    contract: str = "opencl",
    timeout_s: float = TIMEOUT_S,
    golden_timeout_s: float = time_limit.GOLDEN_TIMEOUT_S,
    min_coverage: float = MIN_COVERAGE,
    jail: bool = False,
    out: Path | None = None,
    fail_fast: bool = False,
    on_verdict: Callable[[Verdict, int], None] | None = None,
    on_end: Callable[[], None] | None = None,
) -> Run:
    """Run suites on a backend and judge every case; the arguments are the command's options.

    The backend is a name, a subclass of Backend (which the worker creates), an instance of one, or a function
    run(op, args, kwargs); what is no name is pickled, and runs in a process of its own all the same. `ops` are globs,
    names of operators as torch writes them (`exp`, `torch.exp`), or functions of torch. With `jail` the backend is
    confined, and sees nothing of `out`, where the caller will write the record. `on_verdict` is called with each
    verdict and the number of cases asked, for a case twice if its worker dies of it after it answered; `on_end` before
    the record is made, unless Ctrl-C is why that is done.

    Raises UsageError for bad input, BackendUnavailable where the backend does not start, JailUnavailable where it
    cannot be confined. What ends a run that has begun is raised as record.Interrupted (Ctrl-C) or record.Stopped, with
    the run of the cases before.
    """
    started = time.perf_counter()
    kit.load()
    _check_timeout("timeout", timeout_s)
    _check_timeout("golden timeout", golden_timeout_s)
    _check_fraction("min_coverage", min_coverage)
    selection = Selection(op_globs(ops), dtypes, ids=ids, seed=seed, samples=samples, values=values, layouts=layouts)
    suite = load([suites] if isinstance(suites, str) else suites, seed=seed, ops=selection.ops, ids=selection.ids)
    table, groups = contract_table(contract), select(suite, selection)
    semantics.names()  # loads them all, before a time limit could interrupt that
    tested = backend if isinstance(backend, str) else given(backend)
    jailed = jail_for(backend if tested is backend else "", _hidden(suite, contract, out)) if jail else None
    process = BackendProcess(tested, timeout_s=timeout_s, jail=jailed)
    underway = _Underway(
        suite, contract, table, seed=seed, asked=sum(map(len, groups)), backend=backend, min_coverage=min_coverage,
        process=process, jail=jailed, started=started,
    )  # fmt: skip
    try:
        with process:
            underway.described = process.describe()
            limits = _limits(suite.names)
            for verdict in verdicts_of(groups, process, underway.described, table, golden_timeout_s, limits=limits):
                underway.take(verdict, on_verdict)
                if fail_fast and verdict.status in FAILURES:
                    break
            if on_end:
                on_end()
    except KeyboardInterrupt as interruption:
        if not underway.described:
            raise
        raise record.Interrupted(underway.ended("interrupted"), interruption) from None
    except Exception as error:
        if on_end:
            on_end()
        if not underway.described:
            raise
        reason = error if isinstance(error, ConformError) else Scarcity.of(error) or defect(error)
        raise record.Stopped(underway.ended(str(reason)), reason) from error
    return underway.ended()


@dataclass
class _Underway:
    """A run that has begun: what is run on which backend, and what came of it so far."""

    suite: Suite
    contract: str
    table: Table
    seed: int
    asked: int
    backend: str | type[Backend] | Backend | Callable
    min_coverage: float
    process: BackendProcess
    jail: Jail | None
    started: float
    kit_digest: str = field(default_factory=kit.digest)
    described: Mapping[str, Any] = field(default_factory=dict)  # empty until the backend has started
    verdicts: dict[str, Verdict] = field(default_factory=dict)  # by case id: a later one takes the place of the first

    def __post_init__(self) -> None:
        """Where the backend comes from, read before it runs."""
        self.name = self.backend if isinstance(self.backend, str) else None
        self.source = backend_names.source(self.name) if self.name is not None else origin(self.backend)

    def take(self, verdict: Verdict, on_verdict: Callable[[Verdict, int], None] | None) -> None:
        self.verdicts[verdict.id] = verdict
        if on_verdict:
            on_verdict(verdict, self.asked)

    def ended(self, stopped: str | None = None) -> Run:
        """The run as it is now; `stopped` says why it is not whole."""
        seconds = time.perf_counter() - self.started
        is_of_file = self.name is None or backend_names.is_file(self.name)
        return record.build(
            credited(self.verdicts.values()), asked=self.asked,
            suite={"names": self.suite.recorded_names, "digest": self.suite.digest},
            tests=[test.id for test in self.suite.tests], contract=self.table.name,
            backend=identity(self.described, self.source), seed=self.seed,
            timings={"seconds": seconds, "cases_per_second": len(self.verdicts) / seconds},
            selftest=figure.total(figure.shipped()), stopped=stopped,
            required=Required(self.min_coverage, of_judged_ops=is_of_file),
            invocation={"backend": self.name, "contract": self.contract, "suites": self.suite.names,
                        "hardware": self.described.get("hardware"),
                        "golden_limit_enforced": time_limit.is_enforced()},
            kit_digests=(self.kit_digest, kit.digest()), left_running=self.process.left_running,
            jail=self.jail.made_by if self.jail else None,
        )  # fmt: skip


def _limits(suites: Sequence[str]) -> Limits:
    """Those of the environment; for who asks for huge calls, they are none."""
    limits = Limits.from_environment()
    return replace(limits, max_result_elements=HUGE_ELEMENTS) if "huge" in suites else limits


def _hidden(suite: Suite, contract: str, out: Path | None) -> Iterator[Path]:
    """The files of a run that no backend may read: they tell its inputs, or how far it may be off."""
    yield from (Path(name) for name in suite.names)
    yield from {Path(test.location.rpartition(":")[0]) for test in suite.tests if not test.builtin}  # included ones
    yield Path(contract)
    if out is not None:
        yield from (out, *paths(out))  # where it holds the backend as well, what was written there


def _check_timeout(name: str, timeout_s: object) -> None:
    if type(timeout_s) not in (int, float) or not 0 < timeout_s <= MAX_TIMEOUT_S:  # refuses NaN
        raise UsageError(f"{name}: expected seconds > 0 and <= {MAX_TIMEOUT_S:g}, got {timeout_s!r}")


def _check_fraction(name: str, fraction: object) -> None:
    if type(fraction) not in (int, float) or not 0 <= fraction <= 1:
        raise UsageError(f"{name}: expected a fraction from 0 to 1, got {fraction!r}")


def identity(described: Mapping[str, Any], source: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What identifies a backend in a record, with where it came from (`names.source`), and what it declares; the
    hardware and threads that it ran on belong to the environment."""
    told = {key: described.get(key) for key in ("name", "version", "device", "compute", "flushes_subnormals")}
    return {**told, **(source or {})}


Expected = tuple[Bound, Outcome | Exception]  # a call, and its golden outcome or why it has none


@dataclass
class _Asked:
    """A case whose call is with the backend; `expected` computes its golden meanwhile."""

    case: Case
    expected: Callable[[], Expected]


def verdicts_of(
    groups: Sequence[Sequence[Case]],
    process: BackendProcess,
    described: Mapping[str, Any],
    table: Table,
    golden_timeout_s: float = time_limit.GOLDEN_TIMEOUT_S,
    is_end: bool = True,
    limits: Limits | None = None,
) -> Iterator[Verdict]:
    """The verdict of every case of `groups` (one a draw), in order; `described` is what `process` tells of itself.

    Calls are sent a few ahead, so that the backend computes while goldens and verdicts are made here. Whatever fails
    here is a defect of the kit in that case, and its verdict says so. A case whose worker died of it after it had
    answered gets a second verdict; the last one, too, where nothing comes behind it (`is_end`).
    """
    judge = _Judge(process, table, arithmetic_of(described), golden_timeout_s)
    limits = limits or Limits.from_environment()
    waiting: deque[_Asked] = deque()
    for group in groups:
        typical = _attempt(partial(_typical, group[0], limits))
        known: dict[tuple[str, str], Expected] = {}
        for case in group:
            asked = cannot_run(case, described) or judge.ask(case, typical, known, bool(described["exports"]))
            if isinstance(asked, Verdict):
                yield asked
                continue
            waiting.append(asked)
            if len(waiting) >= IN_FLIGHT:
                yield from judge.judged(waiting.popleft())
    while waiting:
        yield from judge.judged(waiting.popleft())
    if is_end:
        yield from judge.settled()


def _typical(case: Case, limits: Limits) -> Arguments:
    """The typical inputs of a case's draw; Unjudged where the results would be too large."""
    arguments = case.draw.arguments()
    if problem := too_large(case.draw.test, case.op, arguments, limits):
        raise Unjudged(problem)
    return arguments


def _attempt(function: Callable[[], Any]) -> Any:
    """What it returns, or what it raises, but for what is the user's mistake or his backend's, which ends the run."""
    try:
        return function()
    except Exception as error:
        if isinstance(error, ConformError) and not isinstance(error, Unjudged):
            raise
        return error


@dataclass
class _Judge:
    """Asks the backend and judges its replies; it keeps the case that was judged last, which the next reply may revise.
    """

    process: BackendProcess
    table: Table
    arithmetic: Arithmetic
    golden_timeout_s: float
    _last: _Asked | None = None

    def ask(
        self, case: Case, typical: Arguments | Exception, known: dict[tuple[str, str], Expected], exports: bool
    ) -> _Asked | Verdict:
        """Sends the call of a case, or says why there is none."""

        def prepared() -> tuple[Arguments, Call]:
            if isinstance(typical, Exception):
                raise typical
            arguments = case.arguments(typical)
            sent = exported(arguments) if exports else arguments
            return arguments, Call(case.op, sent.args, sent.kwargs, sent.requires_grad)

        made = _attempt(prepared)
        if isinstance(made, Exception):
            return undecided(case, _undecided(made))
        arguments, call = made
        self.process.submit(call)
        return _Asked(case, self._expected(case, arguments, known))

    def _expected(
        self, case: Case, arguments: Arguments, known: dict[tuple[str, str], Expected]
    ) -> Callable[[], Expected]:
        """The case's call and its outcome, bound and computed once for all layouts that hold the same values."""
        key = (case.values, case.layout if case.layout.startswith("expanded") else "")

        def expected() -> Expected:
            if key not in known:
                plain = logical(arguments)
                call = bound_call(case.op, plain.args, plain.kwargs)
                known[key] = call, evaluated(call, self.golden_timeout_s)
            return known[key]

        return expected

    def judged(self, asked: _Asked) -> Iterator[Verdict]:
        """The verdict on the oldest call that the backend has, and a second one on the call before if that did harm."""
        expected = _attempt(asked.expected)
        reply = self.process.receive(_most(expected))
        if reply.before is not None and self._last is None:  # it was somebody else's call, who has its verdict already
            reply = replace(reply.before, reason=f"{reply.before.reason}, of the call before this one")
        elif reply.before is not None:
            yield self._verdict(self._last, _attempt(self._last.expected), reply.before)
        yield self._verdict(asked, expected, reply)
        self._last = asked

    def settled(self) -> Iterator[Verdict]:
        """A second verdict on the last case, where that did harm."""
        if self._last is not None and (reply := self.process.settle()) is not None:
            yield self._verdict(self._last, _attempt(self._last.expected), reply)

    def _verdict(self, asked: _Asked, expected: Expected | Exception, reply: Reply) -> Verdict:
        if isinstance(expected, Exception):
            return undecided(asked.case, _undecided(expected))
        call, outcome = expected

        def made() -> Verdict:
            return verdict_of(asked.case, call, outcome, reply, table=self.table, declared=self.arithmetic)

        try:
            return time_limit.limited(self.golden_timeout_s, made)
        except time_limit.TookTooLong:
            return undecided(asked.case, _too_long("the judgement", self.golden_timeout_s))
        except Exception as error:
            return undecided(asked.case, _undecided(error))


def _most(expected: Expected | Exception) -> Most:
    """What a reply may take."""
    goldens = expected[1].goldens if isinstance(expected, tuple) and isinstance(expected[1], Outcome) else ()
    return most_of_results(len(goldens), sum(golden.value.size for golden in goldens))


def evaluated(call: Bound, timeout_s: float = time_limit.GOLDEN_TIMEOUT_S) -> Outcome | Exception:
    """The golden outcome of a call, or why there is none: Unjudged, InvalidArguments, a defect of the kit."""
    try:
        return time_limit.limited(timeout_s, lambda: evaluate_call(call))
    except InvalidArguments as reason:
        return reason
    except time_limit.TookTooLong:
        return _too_long("the golden", timeout_s)
    except Exception as error:  # a defect of the kit in one case must not lose the others; it is told as what it is
        return _undecided(error)


def _too_long(what: str, limit_s: float) -> Unjudged:
    return Unjudged(f"{what} took longer than {limit_s:g} s")


def _undecided(error: Exception) -> Unjudged:
    if isinstance(error, Unjudged):
        return error
    return Unjudged("there is not enough memory for it") if isinstance(error, MemoryError) else defect(error)
