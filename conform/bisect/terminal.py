"""What is shown of a bisection: a row an op, then what it comes to."""

from __future__ import annotations

from tabulate import tabulate

from conform.bisect.run import Bisection
from conform.bisect.walk import Step
from conform.foreign import escaped
from conform.judging.verdict import FAILURES, Verdict
from conform.report.numbers import ulps

HEADERS = ["", "op", "at", "result", "alone", "own", "error so far", "share"]
LEGEND = (
    "alone: on the golden's operands, own: on the backend's own; error / bound of the element nearest to its bound, in "
    "ulp of the exact result (equal: all must be). error so far: of the backend's own numbers beside the program's, by "
    "the root mean square. share: of the squared error of the results, what is gone where this op is exact."
)
FUSED = 10.0  # times the error of its ops: what a module as a whole loses on top is none of theirs


def render(found: Bisection, backend: str) -> str:
    """The report, for a terminal."""
    steps = found.walk.steps
    rows = [_row(step, found.shares.get(step.number)) for step in steps]
    head = f"{escaped(found.subject.name)} on {escaped(backend)}: {len(steps)} ops, of module {found.subject.module.op}"
    table = tabulate(rows, HEADERS, disable_numparse=True, colalign=("right",))
    return "\n".join([head, "", LEGEND, "", table, "", *_summary(found)])


def _row(step: Step, share: float | None) -> list[str]:
    values = [f"{one.dtype} {list(one.shape)}" for one in step.op.results if one is not None]
    return [
        str(step.number), step.own.op.removeprefix("aten::"), escaped(step.op.location), ", ".join(values),
        _cell(step.alone), _cell(step.own), "-" if step.error is None else f"{step.error:.2g}",
        "" if share is None else f"{share:.0%}",
    ]  # fmt: skip


def _cell(verdict: Verdict) -> str:
    if verdict.status not in ("pass", "fail"):
        return verdict.status
    word = "" if verdict.status == "pass" else "FAIL "
    if verdict.max_error_ulp is None:
        return f"{word}{'-' if verdict.compared == 0 else 'equal' if not word else 'unequal'}"
    bound = "equal" if verdict.bound_ulp is None else ulps(verdict.bound_ulp)
    return f"{word}{ulps(verdict.max_error_ulp)} / {bound}"


def _summary(found: Bisection) -> list[str]:
    first = next((step for step in found.walk.steps if step.has_failed), None)
    lines = [f"no op leaves its contract ({_counts(found)})"]
    if first is not None:
        verdict = first.alone if first.alone.status in FAILURES else first.own
        on = "the golden's operands" if verdict is first.alone else "the backend's own operands alone"
        lines = [f"first to leave its contract: {_named(first)}, on {on}: {escaped(_told(verdict))}"]
    if found.source is not None:
        step = found.walk.steps[found.source]
        lines.append(f"most of the error arises in: {_named(step)}, {found.shares[found.source]:.0%} of its square")
    whole = found.whole if isinstance(found.whole, str) else f"{found.whole:.2g}"
    lines.append(f"error of the results: {found.error:.2g} op by op, {escaped(whole)} as a whole")
    if first is None and _is_beyond_its_ops(found):
        lines.append("what is wrong is none of its ops by themselves: look where the backend compiles or fuses them")
    return lines


def _is_beyond_its_ops(found: Bisection) -> bool:
    return isinstance(found.whole, str) or found.whole > FUSED * found.error


def _named(step: Step) -> str:
    place = f" ({escaped(step.op.location)})" if step.op.location else ""
    return f"op {step.number}, {step.own.op}{place}"


def _told(verdict: Verdict) -> str:
    return f"{verdict.status}, {verdict.reason}" if verdict.reason else verdict.status


def _counts(found: Bisection) -> str:
    steps = found.walk.steps
    judged = sum(step.is_judged for step in steps)
    reasons = sorted({f"{step.own.op}: {step.own.reason}" for step in steps if not step.is_judged})
    told = f"{judged} of {len(steps)} are judged"
    return escaped("; ".join([told, *reasons]))
