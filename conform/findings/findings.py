"""All findings of a run: a cause an op and dtype, a division an op, where there is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from conform.findings.causes import Cause, cause_of
from conform.findings.divides import divisions
from conform.judging.verdict import FAILURES, Verdict

CAUSE, DIVISION = "cause", "division"


@dataclass(frozen=True)
class Finding:
    """kind: CAUSE or DIVISION; dtypes: of which it is told, none where it is told of the op; text: what follows the
    names of the op and the dtypes."""

    kind: str
    op: str
    dtypes: tuple[str, ...]
    text: str


def findings_of(verdicts: Iterable[Verdict]) -> list[Finding]:
    """By op, in the order of their names: what divides its cases, then the causes of its failures. The order of the
    verdicts makes no difference."""
    by_op: dict[str, list[Verdict]] = {}
    for one in sorted(verdicts, key=lambda verdict: verdict.id):
        by_op.setdefault(one.op, []).append(one)
    failed = {op: every for op, every in by_op.items() if any(one.status in FAILURES for one in every)}
    return [finding for op in sorted(failed) for finding in _of_op(op, failed[op])]


def _of_op(op: str, verdicts: Sequence[Verdict]) -> Iterator[Finding]:
    yield from (Finding(DIVISION, op, (), one.sentence) for one in divisions(verdicts))
    by_words: dict[str, dict[str, Cause]] = {}
    for dtype in dict.fromkeys(one.dtype for one in verdicts if one.status in FAILURES):
        if cause := cause_of(one for one in verdicts if one.dtype == dtype):
            by_words.setdefault(cause.words, {})[dtype] = cause
    for causes in by_words.values():
        yield Finding(CAUSE, op, tuple(causes), Cause.joined(causes.values()).told())


def with_cause(verdict: Verdict) -> Verdict:
    """The verdict on a call of which no others are known, its cause behind the reason."""
    cause = cause_of([verdict])
    return verdict if cause is None else replace(verdict, reason=f"{verdict.reason}, {cause.words}")
