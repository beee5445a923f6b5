"""What a manifest makes of a run: cases that are not asked, claims that are not kept, and how many were tested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from conform.foreign import line
from conform.judging.ended import ended_as, unasked
from conform.judging.standing import without_bounds
from conform.judging.verdict import JUDGED, NOT_CLAIMED, REFUSAL, Verdict
from conform.manifest.language import Claim, Manifest, Shapes
from conform.suites.cases import Case

MISSING = {"unsupported": "the backend says it is unsupported", "fallback": "it did not run there"}


def not_asked(manifest: Manifest, case: Case, shapes: Shapes, checks: Sequence[str]) -> Verdict | None:
    """The verdict on a case that the manifest does not claim; None of one that it does."""
    reason = manifest.unclaimed(case.op, case.dtype, case.layout, shapes)
    return reason and unasked(case, ended_as(case, "unsupported", reason, rule=NOT_CLAIMED), checks)


def held(manifest: Manifest | None, verdicts: Iterable[Verdict]) -> Iterator[Verdict]:
    """The verdicts, of which those that a claim is missing are failures. A call that must be refused asks for nothing
    that could be missing, and a case for another device (which has a rule) was not asked."""
    for verdict in verdicts:
        is_missing = verdict.status in MISSING and verdict.rule is None and verdict.check != REFUSAL
        yield _broken(manifest, verdict) if manifest and is_missing else verdict


def _broken(manifest: Manifest, verdict: Verdict) -> Verdict:
    claim = manifest.claim_of(verdict.op, verdict.dtype, verdict.layout)
    reason = f"claimed by {manifest.source}:{claim.line}, and {MISSING[verdict.status]}: {verdict.reason}"
    stands = without_bounds("fail")
    return replace(verdict, status="fail", reason=reason, tables=stands.tables, tightest=stands.tightest)


def place_of(claim: Claim) -> dict[str, Any]:
    """Which claim it is: its line, and what it is for."""
    return {"line": claim.line, "for": [line(name, 200) for name in (*claim.op, *(claim.dtype or ()))]}


def told(manifest: Manifest, verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """What the record has of it: source, digest, and of each claim its line, what it is for, and how many cases of such
    ops, dtypes and layouts there were, and were judged."""
    asked = [verdict for verdict in verdicts if verdict.rule != NOT_CLAIMED]
    claims = []
    for claim in manifest.claims:
        own = [one for one in asked if claim.covers(one.op, one.dtype, one.layout)]
        judged = sum(one.status in JUDGED for one in own)
        claims.append({**place_of(claim), "cases": len(own), "judged": judged})
    return {"source": manifest.source, "digest": manifest.digest, "claims": claims}
