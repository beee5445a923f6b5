"""The straight line: suite -> cases -> inputs -> golden and actual -> contract -> verdict -> run record."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.reply import Reply
from conform.cases import Case, Selection, select
from conform.contracts.tables import Table, contract_table
from conform.errors import InvalidArguments, KitDefect, Unjudged
from conform.inputs.arguments import Arguments
from conform.inputs.layouts import logical
from conform.interp.evaluate import evaluate
from conform.interp.golden import Outcome
from conform.report import record
from conform.report.record import Run
from conform.report.verdict import Verdict
from conform.suites import load
from conform.verdicts import cannot_run, verdict_of

IN_FLIGHT = 8
TIMEOUT_S = 30.0  # for one call of the backend


def check(
    suites: Sequence[str] = ("core",),
    backend: str = "cpu",
    *,
    ops: Sequence[str] = (),
    dtypes: Sequence[str] = (),
    ids: Sequence[str] = (),
    seed: int = 0,
    samples: int = 1,
    values: str | None = None,
    layouts: str | None = None,
    contract: str = "opencl",
    timeout_s: float = TIMEOUT_S,
    fail_fast: bool = False,
    on_verdict: Callable[[Verdict, int], None] | None = None,
) -> Run:
    """Run suites on a backend and judge every case; the arguments are the command's options.

    `on_verdict` is called with each verdict and the number of cases asked. Raises UsageError for bad input,
    BackendUnavailable where the backend does not start, record.Interrupted (with what ran) on Ctrl-C.
    """
    started = time.perf_counter()
    suite = load([suites] if isinstance(suites, str) else suites)
    table = contract_table(contract)
    groups = select(suite, Selection(ops, dtypes, ids, seed, samples, values, layouts))
    asked = sum(map(len, groups))
    verdicts: list[Verdict] = []

    def finished(described: dict) -> Run:
        seconds = time.perf_counter() - started
        return record.build(
            verdicts, asked=asked, suite={"names": suite.names, "digest": suite.digest}, tests=[t.id for t in
            suite.tests], contract=table.name, backend=identity(described), seed=seed,
            timings={"seconds": seconds, "cases_per_second": len(verdicts) / seconds},
            invocation={"backend": backend, "contract": contract, "hardware": described.get("hardware")},
        )  # fmt: skip

    with BackendProcess(backend, timeout_s=timeout_s) as process:
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


def identity(described: dict) -> dict:
    """What identifies the backend in a record; the hardware and threads it ran on belong to the environment."""
    return {key: described.get(key) for key in ("name", "version", "device")}


@dataclass
class _Asked:
    """A case whose call is with the backend; `golden` computes its truth meanwhile."""

    case: Case
    arguments: Arguments
    golden: Callable[[], Outcome | Exception]


def verdicts_of(
    groups: Sequence[Sequence[Case]], process: BackendProcess, described: dict, table: Table
) -> Iterator[Verdict]:
    """The verdict of every case of `groups` (one a draw), in order; `described` is what `process` tells of itself.

    Calls are sent a few ahead, so that the backend computes while goldens and verdicts are made here.
    """
    waiting: deque[_Asked] = deque()
    for group in groups:
        typical = group[0].draw.arguments()
        goldens: dict[tuple[str, str], Outcome | Exception] = {}
        for case in group:
            refused = cannot_run(case, described)
            if refused:
                yield refused
                continue
            arguments = case.arguments(typical)
            process.submit(Call(case.op, arguments.args, arguments.kwargs, arguments.requires_grad))
            waiting.append(_Asked(case, arguments, _golden(case, arguments, goldens)))
            if len(waiting) >= IN_FLIGHT:
                yield _judged(waiting.popleft(), process, table)
    while waiting:
        yield _judged(waiting.popleft(), process, table)


def _golden(case: Case, arguments: Arguments, known: dict) -> Callable[[], Outcome | Exception]:
    """The case's outcome, computed once for all layouts that hold the same values."""
    key = (case.values, case.layout if case.layout.startswith("expanded") else "")

    def outcome() -> Outcome | Exception:
        if key not in known:
            known[key] = _evaluated(case.op, logical(arguments))
        return known[key]

    return outcome


def _evaluated(op: str, arguments: Arguments) -> Outcome | Exception:
    try:
        return evaluate(op, arguments.args, arguments.kwargs)
    except (Unjudged, InvalidArguments) as reason:
        return reason
    except Exception as defect:  # a defect of the kit in one case must not lose the others; it is told as what it is
        place = traceback.extract_tb(defect.__traceback__)[-1]
        where = f"{place.name}, line {place.lineno}"
        return KitDefect(f"defect of the kit, please report it: {type(defect).__name__} in {where}: {defect}")


def _judged(asked: _Asked, process: BackendProcess, table: Table) -> Verdict:
    outcome = asked.golden()
    reply: Reply = process.receive()
    return verdict_of(asked.case, logical(asked.arguments), outcome, reply, table)
