"""Cases a second of `conform check core --backend cpu`, and what its parts take alone, in one run.

CPU seconds are this process's own: on a busy machine they are steadier than the wall clock. The backend computes in
another process. Usage: `python benchmarks/check_rate.py [SUITE]`
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import conform
from conform.backends.call import Call
from conform.backends.client import BackendProcess
from conform.backends.reply import Reply
from conform.call.arguments import Arguments
from conform.call.bound import bound_call
from conform.contracts.tables import contract_table
from conform.errors import InvalidArguments, Unjudged
from conform.inputs.layouts import logical
from conform.interp.evaluate import evaluate
from conform.interp.golden import Outcome
from conform.judging.case import cannot_run, verdict_of
from conform.suites import load
from conform.suites.cases import Case, Selection
from conform.suites.select import select

BACKEND = "cpu"
IN_FLIGHT = 8
SLOWEST_SHOWN = 8

Inputs = list[tuple[Case, Arguments]]


@contextmanager
def timed(name: str, into: dict[str, tuple[float, float]]) -> Iterator[None]:
    """Wall and CPU seconds of the block."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    into[name] = time.perf_counter() - wall, time.process_time() - cpu


def inputs_of(groups: list[list[Case]]) -> Inputs:
    """The arguments of every case that the kit can run."""
    found = []
    for group in groups:
        typical = group[0].draw.arguments()
        found += [(case, case.arguments(typical)) for case in group if cannot_run(case, {}) is None]
    return found


def outcomes_of(inputs: Inputs, seconds: Counter[str]) -> list[Outcome | Exception]:
    """The golden outcome of every case, computed once for each set of values, as in a check; seconds by op."""
    known: dict[tuple, Outcome | Exception] = {}
    outcomes = []
    for case, arguments in inputs:
        expanded = case.layout if case.layout.startswith("expanded") else ""
        key = (case.draw.test.id, *case.draw.variant.items(), case.draw.sample, case.values, expanded)
        if key not in known:
            started = time.perf_counter()
            known[key] = _outcome(case.op, logical(arguments))
            seconds[case.op] += time.perf_counter() - started
        outcomes.append(known[key])
    return outcomes


def _outcome(op: str, arguments: Arguments) -> Outcome | Exception:
    try:
        return evaluate(op, arguments.args, arguments.kwargs)
    except (Unjudged, InvalidArguments) as reason:
        return reason


def replies_of(process: BackendProcess, inputs: Inputs) -> list[Reply]:
    """Every case sent to the backend, a few ahead, and its reply."""
    replies = []
    for case, arguments in inputs:
        process.submit(Call(case.op, arguments.args, arguments.kwargs, arguments.requires_grad))
        if process.in_flight >= IN_FLIGHT:
            replies.append(process.receive())
    replies += [process.receive() for _ in range(process.in_flight)]
    return replies


def main() -> None:
    suite = sys.argv[1] if len(sys.argv) > 1 else "core"
    table = contract_table("opencl")
    parts: dict[str, tuple[float, float]] = {}
    by_op: Counter[str] = Counter()
    with timed("suite and cases", parts):
        groups = select(load([suite]), Selection())
    with timed("inputs", parts):
        inputs = inputs_of(groups)
    with timed("goldens", parts):
        outcomes = outcomes_of(inputs, by_op)
    with BackendProcess(BACKEND) as process:
        with timed("start of the backend", parts):
            process.describe()
        with timed("backend", parts):
            replies = replies_of(process, inputs)
    with timed("verdicts", parts):
        for (case, arguments), outcome, reply in zip(inputs, outcomes, replies, strict=True):
            plain = logical(arguments)
            verdict_of(case, bound_call(case.op, plain.args, plain.kwargs), outcome, reply, table)
    with timed("check, all of it", parts):
        run = conform.check([suite], backend=BACKEND)
    _print(suite, len(run.cases), parts, by_op)


def _print(suite: str, cases: int, parts: dict[str, tuple[float, float]], by_op: Counter[str]) -> None:
    whole = parts["check, all of it"][1]
    print(f"{suite}: {cases} cases on {BACKEND}")
    for name, (wall, cpu) in parts.items():
        rate = f"{cases / wall:7.0f} cases/s"
        print(f"{name:22}{wall:7.2f} s wall {cpu:7.2f} s CPU {rate} {cpu / whole:6.0%} of the check's CPU")
    print("goldens by op: " + ", ".join(f"{op} {seconds:.1f} s" for op, seconds in by_op.most_common(SLOWEST_SHOWN)))


if __name__ == "__main__":
    main()
