"""The straight line: suite -> cases -> inputs -> golden and actual -> contract -> verdict -> run record."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from conform import kit
from conform.backends.base import Backend
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.exports import exported
from conform.backends.given import given
from conform.backends.jail import jail_for
from conform.backends.reply import Reply
from conform.call.arguments import Arguments
from conform.call.bound import Bound, bound_call
from conform.contracts.arithmetic import Arithmetic, arithmetic_of
from conform.contracts.tables import Table, contract_table
from conform.errors import InvalidArguments, KitDefect, Unjudged, UsageError
from conform.inputs.layouts import logical
from conform.interp.evaluate import evaluate_call
from conform.interp.golden import Outcome
from conform.judging.case import cannot_run, verdict_of
from conform.judging.verdict import Verdict
from conform.operators import op_globs
from conform.report import record
from conform.report.record import Run
from conform.report.write import FILES
from conform.selftest import figure
from conform.suites import Suite, load
from conform.suites.cases import Case, Selection, select

IN_FLIGHT = 8
TIMEOUT_S = 30.0  # for one call of the backend
MAX_TIMEOUT_S = 86400.0  # a day; poll(2) takes milliseconds as an int, so it could wait no longer than 24


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
    jail: bool = False,
    out: Path | None = None,
    fail_fast: bool = False,
    on_verdict: Callable[[Verdict, int], None] | None = None,
) -> Run:
    """Run suites on a backend and judge every case; the arguments are the command's options.

    The backend is a name, a subclass of Backend (which the worker creates), an instance of one, or a function
    run(op, args, kwargs); what is no name is pickled, and runs in a process of its own all the same. `ops` are globs,
    names of operators as torch writes them (`exp`, `torch.exp`), or functions of torch. With `jail` the backend is
    confined, and sees nothing of `out`, where the caller will write the record. `on_verdict` is called with each
    verdict and the number of cases asked. Raises UsageError for bad input, BackendUnavailable where the backend does
    not start, JailUnavailable where it cannot be confined, record.Interrupted (with what ran) on Ctrl-C.
    """
    started = time.perf_counter()
    kit.load()
    digest = kit.digest()
    _check_timeout(timeout_s)
    selection = Selection(op_globs(ops), dtypes, ids=ids, seed=seed, samples=samples, values=values, layouts=layouts)
    names = [suites] if isinstance(suites, str) else suites
    suite = load(names, seed=seed, ops=selection.ops, ids=selection.ids)
    table = contract_table(contract)
    name = backend if isinstance(backend, str) else None
    sent = backend if isinstance(backend, str) else given(backend)
    groups = select(suite, selection)
    asked = sum(map(len, groups))
    verdicts: list[Verdict] = []

    def finished(described: dict) -> Run:
        process.retire()  # before the record is made: what it left running is in it, and ends
        seconds = time.perf_counter() - started
        return record.build(
            verdicts, asked=asked, suite={"names": suite.recorded_names, "digest": suite.digest},
            tests=[test.id for test in suite.tests], contract=table.name, backend=identity(described), seed=seed,
            timings={"seconds": seconds, "cases_per_second": len(verdicts) / seconds},
            selftest=figure.total(figure.shipped()),
            invocation={"backend": name, "contract": contract, "suites": suite.names,
                        "hardware": described.get("hardware")},
            kit_digests=(digest, kit.digest()), left_running=process.left_running,
            jail=confinement.made_by if confinement else None,
        )  # fmt: skip

    confinement = jail_for(name or "", _hidden(suite, contract, out)) if jail else None
    with BackendProcess(sent, timeout_s=timeout_s, jail=confinement) as process:
        described = process.describe()
        try:
            for verdict in verdicts_of(groups, process, described, table):
                verdicts.append(verdict)
                if on_verdict:
                    on_verdict(verdict, asked)
                if fail_fast and verdict.status in ("fail", "error", "crash", "timeout"):
                    break
        except KeyboardInterrupt:
            raise record.Interrupted(finished(described)) from None
        return finished(described)


def _hidden(suite: Suite, contract: str, out: Path | None) -> Iterator[Path]:
    """The files of a run that no backend may read: they tell its inputs, or how far it may be off."""
    yield from (Path(name) for name in suite.names)
    yield from {Path(test.location.rpartition(":")[0]) for test in suite.tests if not test.builtin}  # included ones
    yield Path(contract)
    if out is not None:
        yield from (out, *(out / name for name in FILES))  # where it holds the backend as well, what was written there


def _check_timeout(timeout_s: object) -> None:
    if type(timeout_s) not in (int, float) or not 0 < timeout_s <= MAX_TIMEOUT_S:  # refuses NaN
        raise UsageError(f"timeout: expected seconds > 0 and <= {MAX_TIMEOUT_S:g}, got {timeout_s!r}")


def identity(described: dict) -> dict:
    """What identifies the backend in a record, and what it declares; the hardware and threads it ran on belong to the
    environment."""
    return {key: described.get(key) for key in ("name", "version", "device", "compute", "flushes_subnormals")}


Expected = tuple[Bound, Outcome | Exception]  # a call, and its golden outcome or why it has none


@dataclass
class _Asked:
    """A case whose call is with the backend; `expected` computes its golden meanwhile."""

    case: Case
    expected: Callable[[], Expected]


def verdicts_of(
    groups: Sequence[Sequence[Case]], process: BackendProcess, described: dict, table: Table
) -> Iterator[Verdict]:
    """The verdict of every case of `groups` (one a draw), in order; `described` is what `process` tells of itself.

    Calls are sent a few ahead, so that the backend computes while goldens and verdicts are made here.
    """
    arithmetic = arithmetic_of(described)
    waiting: deque[_Asked] = deque()
    for group in groups:
        typical = group[0].draw.arguments()
        known: dict[tuple[str, str], Expected] = {}
        for case in group:
            refused = cannot_run(case, described)
            if refused:
                yield refused
                continue
            arguments = case.arguments(typical)
            sent = exported(arguments) if described["exports"] else arguments
            process.submit(Call(case.op, sent.args, sent.kwargs, sent.requires_grad))
            waiting.append(_Asked(case, _expected(case, arguments, known)))
            if len(waiting) >= IN_FLIGHT:
                yield _judged(waiting.popleft(), process, table, arithmetic)
    while waiting:
        yield _judged(waiting.popleft(), process, table, arithmetic)


def _expected(case: Case, arguments: Arguments, known: dict[tuple[str, str], Expected]) -> Callable[[], Expected]:
    """The case's call and its outcome, bound and computed once for all layouts that hold the same values."""
    key = (case.values, case.layout if case.layout.startswith("expanded") else "")

    def expected() -> Expected:
        if key not in known:
            plain = logical(arguments)
            call = bound_call(case.op, plain.args, plain.kwargs)
            known[key] = call, evaluated(call)
        return known[key]

    return expected


def evaluated(call: Bound) -> Outcome | Exception:
    """The golden outcome of a call, or why there is none: Unjudged, InvalidArguments, a defect of the kit."""
    try:
        return evaluate_call(call)
    except (Unjudged, InvalidArguments) as reason:
        return reason
    except Exception as defect:  # a defect of the kit in one case must not lose the others; it is told as what it is
        place = traceback.extract_tb(defect.__traceback__)[-1]
        where = f"{place.name}, line {place.lineno}"
        return KitDefect(f"defect of the kit, please report it: {type(defect).__name__} in {where}: {defect}")


def _judged(asked: _Asked, process: BackendProcess, table: Table, arithmetic: Arithmetic) -> Verdict:
    call, outcome = asked.expected()
    reply: Reply = process.receive()
    return verdict_of(asked.case, call, outcome=outcome, reply=reply, table=table, declared=arithmetic)
