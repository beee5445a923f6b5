"""The op that left its contract, as a case of its own: made smaller, and written as a suite file."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

from conform.bisect.asking import Answer, Backend
from conform.call.arguments import Arguments
from conform.errors import Unjudged, UsageError
from conform.foreign import comment
from conform.repro.shrink import Candidate, shrink
from conform.repro.suite_file import as_node
from conform.suites.generated.yaml_text import lines_of
from conform.suites.test import Test

FILE = "repro.yaml"
TEST_ID = "repro"
DEFAULT_CONTRACT = "opencl"


def write(
    first: Answer, backend: Backend, name: str, contract: str, told: str, out: Path, on_try: Callable[[], None]
) -> Path:
    """Writes the call, as small as it still fails, to `out`/repro.yaml; the path. `name` is the backend's, `told` says
    where it was found. UsageError where the file cannot be written."""
    smallest, is_direct = _smallest(first, backend, on_try)
    lines = [
        comment(f"{smallest.case.op}: {smallest.verdict.reason}"), comment(told),
        comment(_command(name, contract)), "tests:", *_entry(smallest, is_direct),
    ]  # fmt: skip
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{out / FILE} cannot be written: {error.strerror}") from None
    return out / FILE


def _command(backend: str, contract: str) -> str:
    chosen = [] if contract == DEFAULT_CONTRACT else ["--contract", contract]
    return shlex.join(["conform", "check", FILE, "--backend", backend, *chosen])


def _smallest(first: Answer, backend: Backend, on_try: Callable[[], None]) -> tuple[Answer, bool]:
    """The smallest answer that fails as the first one does, and whether it is to an operator: one that fails only
    where a module holds it stays a module."""
    is_direct = _again(first, _candidate(first), backend, is_direct=True) is not None
    best = first
    if first.verdict.status == "timeout":  # each try would take as long
        return best, is_direct

    def still_fails(candidate: Candidate) -> tuple[int, ...] | None:
        nonlocal best
        on_try()
        answer = _again(first, candidate, backend, is_direct)
        if answer is None:
            return None
        best = answer
        return answer.verdict.worst.index if answer.verdict.worst else ()

    shrink(_candidate(first), still_fails)
    return best, is_direct


def _candidate(answer: Answer) -> Candidate:
    by_place = [one.name for one in answer.call.schema.arguments if not one.kwarg_only]
    given = dict(answer.call.arguments)
    args = [given.pop(name) for name in by_place]
    worst = answer.verdict.worst
    return Candidate(answer.case.op, Arguments(args, given), focus=worst.index if worst else ())


def _again(first: Answer, candidate: Candidate, backend: Backend, is_direct: bool) -> Answer | None:
    """The answer to a call that ends as the first one does; None for another end."""
    given = candidate.arguments
    try:
        answer = backend.judged(candidate.op, given.args, given.kwargs, is_direct)
    except (UsageError, Unjudged):  # a call that the op does not take
        return None
    alike = answer.verdict.status == first.verdict.status and answer.case.op == first.case.op
    return answer if alike and not isinstance(answer.outcome, Exception) else None


def _entry(answer: Answer, is_direct: bool) -> list[str]:
    """The lines of the test. UsageError for an argument that the test language cannot write."""
    given = _candidate(answer).arguments
    test = Test(
        TEST_ID, answer.case.op, tuple(as_node(value) for value in given.args),
        {name: as_node(value) for name, value in given.kwargs.items()}, device=None, cast_input0_to_complex=False,
        impl=None, pair=None, location="", arguments_at="", builtin=False, recorded_at="",
    )  # fmt: skip
    try:
        lines = list(lines_of(test))
    except ValueError as error:
        raise UsageError(f"{answer.case.op}: {error}") from None
    module = f'    op: {{type: module, path: conform.backends.one_op.OneOp, args: ["{answer.case.op}"]}}'
    return lines if is_direct else [module if line.startswith("    op: ") else line for line in lines]
