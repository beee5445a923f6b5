"""The verdict on a case that ended so, whatever it computed."""

from __future__ import annotations

import traceback
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from conform.errors import KitDefect, Unjudged
from conform.judging.checks import EVERY, OF_EVERY_ANSWER, Held, asked_by, held
from conform.judging.evidence import Asked
from conform.judging.standing import Standing, without_bounds
from conform.judging.verdict import KIT_DEFECT, Verdict
from conform.suites.cases import Case
from conform.suites.test import Test


def ended_as(case: Case, status: str, reason: str | None, stands: Standing | None = None, **rest: Any) -> Verdict:
    """The verdict on a case that ended so. `stands`: what the shipped tables say of the result; None where no bound
    decided."""
    stands = stands or without_bounds(status)
    return Verdict(
        case.id, case.draw.test.id, op=case.op, dtype=case.dtype, values=case.values, layout=case.layout,
        status=status, reason=reason, location=case.draw.test.recorded_at, tables=stands.tables,
        tightest=stands.tightest, pair=_pair(case.draw.test), **rest,
    )  # fmt: skip


def checked_by(verdict: Verdict, to_hold: Held, asked: Asked | None = None) -> Verdict:
    """The verdict, of the check that it failed or else of the last that the case was to be held to; `asked`: what the
    case was, of one that was judged."""
    check = verdict.check if verdict.check in OF_EVERY_ANSWER else to_hold.last
    return replace(verdict, check=check, is_counted=to_hold.is_counted, asked=asked)


def unasked(case: Case, verdict: Verdict, checks: Collection[str]) -> Verdict:
    """The verdict on a case that has no golden, or no answer: only its test says what it asks."""
    domain = case.draw.test.domain
    return checked_by(verdict, held(asked_by(case, bool(domain and domain.broken)), checks))


def _pair(test: Test) -> dict[str, str | None] | None:
    """Which side of which pair a test is."""
    return test.pair and {"group": test.pair.group, "side": test.pair.side, "impl": test.impl}


def defect(error: Exception) -> KitDefect:
    """What failed in the kit itself, as what it is."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{place.name}, line {place.lineno}"
    return KitDefect(f"defect of the kit, please report it: {type(error).__name__} in {where}: {error}")


def undecided(case: Case, reason: Unjudged, checks: Collection[str] = EVERY) -> Verdict:
    """The verdict on a case that the kit cannot judge."""
    rule = KIT_DEFECT if isinstance(reason, KitDefect) else "not decided by the kit"
    return unasked(case, ended_as(case, "unjudged", str(reason), rule=rule), checks)
