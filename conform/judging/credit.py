"""What refusals are worth: a backend that refuses everything is right about every invalid call, and does nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from conform.judging.checks import OF_EVERY_ANSWER
from conform.judging.standing import without_bounds
from conform.judging.verdict import REFUSAL, Verdict

NOT_CREDITED = "refusal not credited"  # the rule of a refusal that tells nothing
_REASON = "a refusal tells nothing, where no valid call of its op and dtype passed (core and generated have some)"


class Ended(Protocol):
    """What of a verdict decides about credit; so a case of a record has it, too."""

    op: str
    dtype: str
    check: str
    status: str
    compared: int


def credited(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts of a run, where the refusals that passed and tell nothing are `unjudged`."""
    every = list(verdicts)
    tells = credit(every)
    return [one if tells(one) or not _is_refusal(one) else uncredited(one) for one in every]


def credit(every: Iterable[Ended]) -> Callable[[Ended], bool]:
    """Whether a refusal tells something, among all cases of a run.

    It does where a valid call of its op and dtype passed, of which elements were compared, if they were to be. Where no
    valid call of the op has the dtype, which may be what is to be refused, or has elements, one of another dtype will
    do.
    """
    valid = [one for one in every if one.check != REFUSAL]
    passed = {(one.op, one.dtype) for one in valid if one.status == "pass" and _says_something(one)}
    asked = {(one.op, one.dtype) for one in valid if one.status != "pass" or _says_something(one)}
    ops = {op for op, _ in passed}

    def tells(one: Ended) -> bool:
        key = (one.op, one.dtype)
        return key in passed or (key not in asked and one.op in ops)

    return tells


def _says_something(passed: Ended) -> bool:
    """Not so a call without elements; all that it was held to, where values do not count."""
    return passed.compared > 0 or passed.check in OF_EVERY_ANSWER


def _is_refusal(verdict: Verdict) -> bool:
    return verdict.check == REFUSAL and verdict.status == "pass"


def uncredited(verdict: Verdict) -> Verdict:
    """The verdict on a refusal that tells nothing."""
    stands = without_bounds("unjudged")
    return replace(
        verdict, status="unjudged", reason=_REASON, rule=NOT_CREDITED, tables=stands.tables, tightest=stands.tightest
    )
