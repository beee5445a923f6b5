"""Check classes: what a case asks of a backend, what every answer is held to, and which of these a run counts.

A case asks one question: for a refusal, or, of a valid call, how far off the result is: for special values, in a memory
layout, or for plain numbers in plain memory (accuracy). Whatever a valid call asks, its answer is held to more before:
no input changed, no memory shared that is not to be, the right dtypes and shapes. A case that fails in one check was
not judged in those behind it. docs/checks.md has it in full.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from conform.errors import UsageError, did_you_mean
from conform.judging.verdict import (
    ACCURACY,
    ALIASING,
    CHECKS,
    DETERMINISM,
    EQUIVALENCE,
    JUDGED,
    LAYOUT,
    MUTATION,
    REFUSAL,
    RESULT,
    SPECIAL,
    Verdict,
)

if TYPE_CHECKING:
    from conform.suites.cases import Case

OF_EVERY_ANSWER = (MUTATION, ALIASING, RESULT)  # to a valid call, in this order, before its question
OF_VALUES = frozenset({ACCURACY, SPECIAL, LAYOUT})  # the questions whose answer is compared with a golden
EVERY = frozenset(CHECKS)
OF_KERNELS = EVERY - {REFUSAL}  # torch's dispatcher refuses for a kernel what it is never asked


def chosen(names: str | Collection[str] | None, of_kernels: bool) -> frozenset[str]:
    """The checks that count: those of `names` (a str: with commas between them), by default every one, but for kernels
    not the refusals. UsageError for a name that is none, and for no name."""
    if names is None:
        return OF_KERNELS if of_kernels else EVERY
    given = names.split(",") if isinstance(names, str) else names
    if not isinstance(given, Collection) or not all(isinstance(name, str) for name in given):
        raise UsageError(f"checks: expected a str or a list of them, got {names!r}")
    found = [name.strip() for name in given]
    if EQUIVALENCE in found:
        raise UsageError(f"--checks {EQUIVALENCE}: it compares backends, so name several (--backend A --backend B)")
    for name in found:
        if name not in EVERY:
            raise UsageError(f"--checks: unknown check {name!r}{did_you_mean(name, CHECKS)}; there are {_told(CHECKS)}")
    if not found:
        raise UsageError(f"--checks: no check is named; there are {_told(CHECKS)}")
    return frozenset(found)


def question(values: str, layout: str, is_invalid: bool) -> str:
    """What a case asks, by its value class, its layout, and whether its call must be refused: the same for every
    backend. Another layout than contiguous is asked for, whatever the values in it: it comes with the plainest."""
    if is_invalid:
        return REFUSAL
    if layout not in ("contiguous", "given"):
        return LAYOUT
    return SPECIAL if values.startswith("special") else ACCURACY


def asked_by(case: Case, is_invalid: bool) -> str:
    """What a case asks: `question`, or of several equal calls whether they have equal answers."""
    return DETERMINISM if case.times > 1 else question(case.values, case.layout, is_invalid)


@dataclass(frozen=True)
class Held:
    """The checks that a case is held to, in order; `is_counted` is False where none of its checks is one of those that
    count: then it is held to all of them, and shown."""

    checks: tuple[str, ...]
    is_counted: bool

    @property
    def last(self) -> str:
        return self.checks[-1]


def held(asked: str, checks: Collection[str] = EVERY) -> Held:
    """What a case that asks this question is held to, if these checks count."""
    every = _applying(asked)
    counted = tuple(check for check in every if check in checks)
    return Held(counted or every, bool(counted))


def _applying(asked: str) -> tuple[str, ...]:
    return (asked,) if asked in (REFUSAL, DETERMINISM) else (*OF_EVERY_ANSWER, asked)


def selected(groups: Iterable[Sequence[Case]], checks: Collection[str]) -> list[list[Case]]:
    """The cases of which something may count, and plain valid calls where refusals do: those tell what a refusal is
    worth (`credit.py`). UsageError where there is none."""
    wanted = {*checks, ACCURACY} if REFUSAL in checks else set(checks)
    kept = [[case for case in group if _may_be_asked(case) & wanted] for group in groups]
    if not any(kept):
        raise UsageError(f"--checks {','.join(sorted(checks))}: no case that is selected asks for that")
    return [group for group in kept if group]


def _may_be_asked(case: Case) -> set[str]:
    """Every check that the case may be held to; whether a call that is no spec's must be refused, its golden tells."""
    domain = case.draw.test.domain
    if domain and domain.broken:
        return {REFUSAL}
    if case.times > 1:
        return {DETERMINISM}
    checks = set(_applying(question(case.values, case.layout, is_invalid=False)))
    return checks if domain and not domain.lenience else checks | {REFUSAL}


@dataclass(frozen=True)
class Count:
    """Cases that were judged in one check, and those of them that passed in it."""

    check: str
    judged: int
    passed: int


def counts(verdicts: Iterable[Verdict], checks: Collection[str] = EVERY) -> list[Count]:
    """One of each check that counts, and in which any case was judged.

    A case that failed in a check passed those before it that it was held to; one without an answer (an exception, a
    crash, a hang) was judged in its last alone.
    """
    judged: Counter[str] = Counter()
    passed: Counter[str] = Counter()
    for verdict in verdicts:
        before = _passed_before(verdict, checks)
        judged.update([*before, verdict.check] if verdict.status in JUDGED else [])
        passed.update([*before, verdict.check] if verdict.status == "pass" else before)
    return [Count(check, judged[check], passed[check]) for check in CHECKS if judged[check]]


def _passed_before(verdict: Verdict, checks: Collection[str]) -> list[str]:
    """The checks that a case passed before the one in which it ended."""
    if verdict.check in (REFUSAL, DETERMINISM) or verdict.status not in ("pass", "fail"):
        return []
    earlier = itertools.takewhile(lambda check: check != verdict.check, OF_EVERY_ANSWER)
    return [check for check in earlier if check in checks]


def _told(names: Sequence[str]) -> str:
    return ", ".join(names)
