"""`conform repro CASE-ID --run DIR`: a failing case of a run, made as small as it goes, as a script."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from conform import kit, time_limit
from conform.backends import names
from conform.backends.client import BackendProcess
from conform.backends.exports import exported
from conform.backends.reply import Reply
from conform.call.bound import Bound, bound_call
from conform.contracts.arithmetic import Arithmetic, arithmetic_of
from conform.contracts.tables import Table
from conform.errors import InvalidArguments, Unjudged, UsageError, did_you_mean
from conform.explain.case import find_case
from conform.frontends.called import called
from conform.inputs.layouts import logical
from conform.interp.golden import Outcome
from conform.judging.case import verdict_of
from conform.judging.ended import undecided
from conform.judging.verdict import ALIASING, BY_ITSELF, DETERMINISM, GRADIENTS, MUTATION, Verdict
from conform.manifest.claimed import held
from conform.manifest.language import Manifest
from conform.manifest.language import read as manifest_of
from conform.report.schema import Record, RecordedCase, read
from conform.repro.program import is_run_of_programs, require_reducible, smallest_of, suite_of_run, written
from conform.repro.script import Finding, head, script
from conform.repro.shrink import MAX_TRIES, OF_MODULES, Candidate, shrink
from conform.repro.suite_file import suite_file
from conform.repro.written import BESIDE, Written
from conform.running.sent import call_of
from conform.running.truth import evaluated
from conform.straight_line import TIMEOUT_S, check_timeout, contract_of
from conform.suites import Suite, load
from conform.suites.cases import CONSTANTS, Case, beyond_the_kit

if TYPE_CHECKING:  # torch is imported for modules alone
    from conform.frontends.called import Called
    from conform.frontends.modules import ModuleCall

TRIES_OF_MODULES = 60  # calls, each of which torch.export looks at
FAILED = ("fail", "error", "crash", "timeout")


def repro(
    case_id: str, directory: Path, backend: str | None = None, on_try: Callable[[], None] | None = None,
    imports: Sequence[str] = (), golden_timeout_s: float = time_limit.GOLDEN_TIMEOUT_S, as_yaml: bool = False,
    out: Path | None = None,
) -> Written:  # fmt: skip
    """A Python script that shows the failure of a case of the run in `directory` in as small a call as was found; or a
    suite file with that call as its one test. Of a module it is a script that constructs it, with its parameters as
    data; many of them stand in a file beside `out`, where the script will be written.

    `backend` is what runs the calls: by default the run's, unless that is a file, which only its user may have run;
    `imports` are modules that make it known to torch. `on_try` is called before each call of the backend. A golden, and
    a judgement, may take `golden_timeout_s` seconds. Raises UsageError where there is no such run or case, the case did
    not fail or no longer does, or its suite has changed; Unjudged where the kit cannot judge it any more, or not in
    that time; BackendUnavailable where the backend does not start.
    """
    check_timeout("golden timeout", golden_timeout_s)
    record = read(directory)
    told = _told(record, case_id, directory)
    invocation = record.environment.invocation
    chosen = backend or _trusted(invocation.backend, directory)
    is_program = is_run_of_programs(invocation)
    suite = _suite(record, case_id, directory, is_program)
    case = find_case(case_id, suite, record.seed)
    if (reason := beyond_the_kit(case.draw.test)) is not None:
        raise UsageError(f"case {case_id!r} cannot be reduced: {reason}")
    if is_program:
        require_reducible(case, as_yaml)
    module = called(case.draw) if is_program else _module(case, told, as_yaml) if case.draw.test.is_module else None
    table, claims = contract_of(invocation.contract, suite), _claims(record, directory)
    kit.load()
    with BackendProcess(chosen, timeout_s=TIMEOUT_S, threads=invocation.threads, imports=imports) as process:
        described = claims.declared(process.describe()) if claims else process.describe()
        trial = _Trial(
            case, process, table, arithmetic_of(described), frozenset(record.checks.selected), on_try,
            golden_timeout_s, claims, module,
        )  # fmt: skip
        if is_program:
            return written(smallest_of(module, _first(trial, told), trial.finding_of), case, record, table)
        finding = _smallest(trial, told)
    if as_yaml:
        return Written(suite_file(finding, record, chosen, case.draw.test))
    if module is None:
        return Written(script(finding, record, chosen, imports))
    return _script_of(module, finding, trial.bound(finding.candidate), case, record, chosen, imports, out)


def _suite(record: Record, case_id: str, directory: Path, is_program: bool) -> Suite:
    """What the run was of, as far as it holds the case. UsageError where it is another one now."""
    invocation = record.environment.invocation
    suite = suite_of_run(invocation) if is_program else load(invocation.suites, seed=record.seed, ids=(case_id,))
    if suite.digest != record.suite.digest:
        raise UsageError(f"{' '.join(invocation.suites)} changed since {directory}: run `conform check` again")
    return suite


def _script_of(
    module: ModuleCall, finding: Finding, bound: Bound, case: Case, record: Record, backend: str,
    imports: Sequence[str], out: Path | None,
) -> Written:  # fmt: skip
    """The script of a module, with the file of its parameters that lies beside `out`."""
    from conform.repro.module_script import module_script

    first = head(finding, record, names.is_device(backend), imports)
    beside = None if out is None else out.with_suffix(BESIDE).name
    contract = record.environment.invocation.contract
    return module_script(finding, first, case.draw, module.module, bound, backend, contract, beside)


def _module(case: Case, told: RecordedCase, as_yaml: bool) -> ModuleCall:
    """The module of a case. UsageError for a finding that no script of the whole module shows."""
    bisected = f"conform bisect {case.id} --backend NAME --out DIR makes a test of the op that is wrong"
    if as_yaml:
        raise UsageError(f"case {case.id!r} cannot be written as YAML, which has no parameters of modules; {bisected}")
    if told.check in (MUTATION, ALIASING) or case.layout == CONSTANTS:
        what = "its module holds its inputs" if case.layout == CONSTANTS else f"its finding is one of {told.check}"
        raise UsageError(f"case {case.id!r} cannot be reduced: {what}; {bisected}")
    if (told.reason or "").endswith(BY_ITSELF):
        raise UsageError(f"case {case.id!r} cannot be reduced: an operator of its module is wrong; {bisected}")
    from conform.frontends.construction import module_of

    return module_of(case.draw)


def _claims(record: Record, directory: Path) -> Manifest | None:
    """The manifest of the run. UsageError where it is another one now."""
    if record.manifest is None or record.environment.invocation.manifest is None:
        return None
    claims = manifest_of(record.environment.invocation.manifest)
    if claims.digest != record.manifest.digest:
        raise UsageError(f"{claims.source} changed since {directory}: run `conform check` again")
    return claims


def _trusted(recorded: str | None, directory: Path) -> str:
    """The backend of a run, unless it is a file: a run.json, which anybody can write, must not choose what is run."""
    if recorded is None:
        raise UsageError(
            f"the run in {directory} was of a backend given as a Python object, which no command can name: write it to "
            "a file, and name that: --backend FILE.py::CLASS"
        )
    if not names.holds_kernels(recorded):
        return recorded
    raise UsageError(
        f"{directory} is a run of a backend in a file, which is run only if you name it: "
        f"--backend {shlex.quote(recorded)}"
    )


def _told(record: Record, case_id: str, directory: Path) -> RecordedCase:
    """What the run says of the case. UsageError where that is nothing that a smaller call could show."""
    by_id = {case.id: case for case in (*record.not_counted, *record.cases)}
    if case_id not in by_id:
        failed = [name for name, case in by_id.items() if case.status in FAILED]
        raise UsageError(f"the run in {directory} has no case {case_id!r}{did_you_mean(case_id, failed or by_id)}")
    told = by_id[case_id]
    told = told.model_copy(update={"reason": record.text(told.reason)})
    if told.status not in FAILED:
        raise UsageError(f"case {case_id!r} did not fail in {directory}: its status is {told.status}")
    if told.check == DETERMINISM:
        raise UsageError(f"case {case_id!r} cannot be reduced: its finding is about several equal calls")
    if told.gradient is not None or case_id.endswith(f"/{GRADIENTS}"):
        raise UsageError(f"case {case_id!r} cannot be reduced: it asks for gradients; conform explain {case_id} "
                         f"--seed {record.seed} has the call, the cotangents and what is expected")  # fmt: skip
    return told


class _Trial:
    """Judges candidates by the straight line: the golden from the interpreter, the answer from the backend."""

    def __init__(
        self, case: Case, process: BackendProcess, table: Table, arithmetic: Arithmetic,
        checks: frozenset[str], on_try: Callable[[], None] | None, golden_timeout_s: float,
        claims: Manifest | None = None, module: Called | None = None,
    ) -> None:  # fmt: skip
        self.claims, self.module = claims, module
        self.case, self.process, self.table, self.arithmetic = case, process, table, arithmetic
        self.checks = checks
        self.exports = process.describe()["exports"]
        self.on_try = on_try or (lambda: None)
        self.golden_timeout_s = golden_timeout_s

    def finding(self, candidate: Candidate) -> Finding:
        """What the backend answers to the call, and the verdict on it."""
        self.on_try()
        arguments, call = candidate.placed(), self.bound(candidate)
        outcome = evaluated(call, self.golden_timeout_s)
        sent = exported(arguments) if self.exports else arguments
        if self.module is not None:
            self.process.submit(self.module.sent(sent.args, sent.kwargs, sent.requires_grad))
        else:
            self.process.submit(call_of(self.case.op, sent))
        reply: Reply = self.process.receive()
        return Finding(candidate, outcome, reply, self._verdict(call, outcome, reply))

    def finding_of(self, module: Called, candidate: Candidate) -> Finding:
        """The same of a module or program in the place of the case's."""
        self.module = module
        return self.finding(candidate)

    def bound(self, candidate: Candidate) -> Bound:
        """The call with its arguments by name."""
        plain = logical(candidate.placed())
        if self.module is not None:
            return self.module.bound(plain.args, plain.kwargs)
        return bound_call(self.case.op, plain.args, plain.kwargs)

    def _verdict(self, call: Bound, outcome: Outcome | Exception, reply: Reply) -> Verdict:
        made = partial(
            verdict_of, self.case, call, outcome, reply, table=self.table, declared=self.arithmetic, checks=self.checks
        )
        try:
            verdict = time_limit.or_unjudged("the judgement", self.golden_timeout_s, made)
            return next(held(self.claims, [verdict]))
        except Unjudged as reason:
            return undecided(self.case, reason)


def _first(trial: _Trial, told: RecordedCase) -> Finding:
    """The case itself, which fails as it did in the run."""
    typical = trial.case.draw.arguments()
    with_values = replace(trial.case, layout="contiguous").arguments(typical)
    first = trial.finding(Candidate(trial.case.op, with_values, trial.case.layout))
    if first.verdict.status == "unjudged":
        raise Unjudged(f"case {trial.case.id!r} gave {told.status} in the run, and is not judged now: "
                       f"{first.verdict.reason}")  # fmt: skip
    if not _fails_alike(first, told, _refusal(first)):
        raise UsageError(f"case {trial.case.id!r} gave {told.status} in the run, and {first.verdict.status} now")
    return first


def _smallest(trial: _Trial, told: RecordedCase) -> Finding:
    """The smallest call that fails with the status and reason of the case."""
    first = _first(trial, told)
    refusal = _refusal(first)
    smallest = first

    def still_fails(candidate: Candidate) -> tuple[int, ...] | None:
        nonlocal smallest
        finding = trial.finding(candidate)
        if not _fails_alike(finding, told, refusal):
            return None
        smallest = finding
        return finding.focus

    tries, moves = (MAX_TRIES, None) if trial.module is None else (TRIES_OF_MODULES, OF_MODULES)
    shrink(replace(first.candidate, focus=first.focus), still_fails, tries, moves)
    return smallest


def _fails_alike(finding: Finding, told: RecordedCase, refusal: str) -> bool:
    """A failure must be one of the same kind; what an exception or a crash says may name sizes, which change. A valid
    call stays one, and what must be refused stays so for the same reason."""
    verdict: Verdict = finding.verdict
    if verdict.status != told.status:
        return False
    return _refusal(finding) == refusal and (told.status != "fail" or _kind(verdict.reason) == _kind(told.reason))


def _refusal(finding: Finding) -> str:
    """Why the call must be refused, without numbers; empty for a valid call."""
    outcome = finding.outcome
    return re.sub(r"[-\d.,\[\] ]+", " ", str(outcome)) if isinstance(outcome, InvalidArguments) else ""


def _kind(reason: str | None) -> str:
    """The reason without what follows a colon or parenthesis, which tells of this call alone."""
    return (reason or "").partition(":")[0].partition(" (")[0].partition(",")[0]
