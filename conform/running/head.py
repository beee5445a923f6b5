"""The head of a run: what was asked of which backend. The first line of its journal, and most of its record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from conform import time_limit
from conform.call.families import FAMILIES
from conform.errors import UsageError
from conform.findings.findings import findings_of
from conform.interp import semantics
from conform.judging.credit import credited
from conform.judging.ended import defect
from conform.judging.verdict import KIT_DEFECT, Verdict
from conform.manifest.claimed import told as told_of_claims
from conform.manifest.language import Manifest
from conform.report import record
from conform.report.record import Required, Run
from conform.running import waivers
from conform.running.breaker import Numbered, counted
from conform.running.waivers import Waivers
from conform.selftest import figure

SCHEMA = "conform.journal/1"


class Shard(BaseModel):
    """The `number`th of `count` parts of the same cases, from 1 on."""

    model_config = ConfigDict(strict=True, frozen=True)

    number: int = Field(ge=1)
    count: int = Field(ge=1)

    @classmethod
    def written_as(cls, text: str) -> Shard:
        """`2/3`. UsageError for anything else."""
        number, _, count = text.partition("/") if isinstance(text, str) else ("", "", "")
        if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
            raise UsageError(f"shard: expected I/N with 1 <= I <= N, got {text!r}")
        return cls(number=int(number), count=int(count))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"


class Head(BaseModel):
    """What a run is, apart from what came of it.

    Two parts of one run, shards or what was resumed, have equal heads but for `shard`, `asked_of` and where they ran.
    """

    model_config = ConfigDict(strict=True, frozen=True, populate_by_name=True)

    written_as: str = Field(SCHEMA, alias="schema")
    kit_digest: str
    suites: list[str]  # as the record names them
    suite_digest: str
    tests: list[str]  # their ids, in order
    contract: str
    contract_digest: str
    selection: dict[str, Any]  # the filters and axes, by the names of `Selection`
    full_record: bool = False  # all that is known stands with cases that passed, too
    is_by_coverage: bool  # the cases are in the order of `--budget`, not in the suite's
    timeout_s: float
    golden_timeout_s: float
    min_coverage: float
    of_judged_ops: bool
    checks: list[str]  # that count
    backend: dict[str, Any]  # its identity
    jail: str | None
    imports: list[str]
    waivers: Waivers | None = None
    manifest: Manifest | None = None
    truth: dict[str, Any] | None = None  # oracle, digest of interpreter and references, when I8 was last green for it
    shard: Shard | None
    asked_of: dict[str, int]  # the cases of each op in this part of the run
    numerics: dict[str, str | int | bool]  # where they differ, backends do
    invocation: dict[str, Any]

    @property
    def asked(self) -> int:
        """How many cases there are."""
        return sum(self.asked_of.values())

    def is_narrowed(self, *also: str) -> bool:
        """Whether cases of an op were left out: by a filter, a check class, a shard; or by these filters."""
        filters = ("dtypes", "ids", "exclude", "values", "layouts", *also)
        is_part = self.shard is not None or self.invocation["checks"] is not None
        return is_part or any(self.selection[name] for name in filters)

    def differs_from(self, other: Head) -> str | None:
        """`seed 1, and now 2`: the first thing in which another run is another one, not a part of this one."""
        own, others = (one.model_dump(exclude={"asked_of", "shard", "invocation"}) for one in (self, other))
        own, others = map(_flat, (own, others))
        for name in {**own, **others}:
            if own.get(name) != others.get(name):
                return f"{name} {own.get(name)!r}, and {others.get(name)!r} now"
        return None


def _flat(told: dict[str, Any]) -> dict[str, Any]:
    """With what stands in the nested parts of a head beside the rest."""
    nested = {key: value for part in ("selection", "backend", "numerics") for key, value in told.pop(part).items()}
    return nested | told


class End(BaseModel):
    """How a run, or a part of it that was resumed later, ended."""

    model_config = ConfigDict(strict=True, frozen=True)

    seconds: float
    left_running: list[str]
    kit_digest: str
    stopped: str | None

    @staticmethod
    def of_parts(ends: Sequence[End], stopped: str | None) -> End:
        """That of a run of which these were parts."""
        digests = [one.kit_digest for one in ends]
        return End(
            seconds=sum(one.seconds for one in ends),
            left_running=sorted({name for one in ends for name in one.left_running}),
            kit_digest=next((digest for digest in digests if digest != digests[0]), digests[0]),
            stopped=stopped,
        )


def record_of(head: Head, verdicts: Numbered, end: End) -> Run:
    """The record of a run, from its verdicts."""
    stand, given_up = counted(verdicts)
    told = credited(stand)
    waived = None
    if head.waivers is not None:
        is_part = head.is_narrowed() or end.stopped is not None or not head.waivers.are_shown_by(head.suites)
        told, entries = waivers.applied(head.waivers, told, head.numerics, not head.is_narrowed("ops"), is_part)
        waived = {"source": head.waivers.source, "digest": head.waivers.digest, "entries": entries}
    return record.build(
        told,
        findings=_findings(told),
        waived=waived,
        truth=head.truth,
        manifest=head.manifest and told_of_claims(head.manifest, told),
        asked=head.asked,
        suite={"names": head.suites, "digest": head.suite_digest},
        tests=head.tests,
        contract=head.contract,
        backend=head.backend,
        seed=head.selection["seed"],
        timings={
            "seconds": end.seconds, "cases_per_second": len(verdicts) / end.seconds,
            "answered_as_known": sum(verdict.was_known for verdict in stand),
        },
        selftest=figure.total(figure.shipped()),
        stopped=end.stopped,
        checks=head.checks,
        required=Required(head.min_coverage, of_judged_ops=head.of_judged_ops),
        numerics=head.numerics,
        families=_families({verdict.op for verdict in stand}),
        invocation={
            **head.invocation, "imports": head.imports, "golden_limit_enforced": time_limit.is_enforced(),
        },
        kit_digests=(head.kit_digest, end.kit_digest),
        left_running=end.left_running,
        jail=head.jail,
        given_up=_not_run(head, stand, given_up),
        shard=str(head.shard) if head.shard else None,
    )


def _families(ops: Iterable[str]) -> dict[str, str]:
    """The families of ops, in the order of the list of families."""
    found = {op: semantics.find(op) for op in ops}
    known = {op: one.family for op, one in found.items() if one}
    return dict(sorted(known.items(), key=lambda pair: (*FAMILIES, pair[1]).index(pair[1])))


def _findings(verdicts: Sequence[Verdict]) -> list[dict[str, Any]]:
    """What failures that count have in common; a defect in finding it must not lose the run, and is told as what it
    is."""
    try:
        return [asdict(one) for one in findings_of(one for one in verdicts if one.is_counted)]
    except Exception as error:
        return [{"kind": KIT_DEFECT, "op": "findings:", "dtypes": [], "text": str(defect(error))}]


def _not_run(head: Head, verdicts: Iterable[Any], ops: Sequence[str]) -> dict[str, int]:
    """Of each op that was given up, how many of its cases were not run."""
    told = dict.fromkeys(ops, 0)
    for verdict in verdicts:
        if verdict.op in told:
            told[verdict.op] += 1
    return {op: head.asked_of[op] - count for op, count in told.items()}
