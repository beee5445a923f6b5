"""A run that is going on: what is run, which verdicts there are, and the record that they make at any moment."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from conform import kit
from conform.backends import names as backend_names
from conform.backends.base import Backend
from conform.backends.given import origin
from conform.backends.jail import Jail
from conform.contracts.arithmetic import OF_OPS
from conform.contracts.tables import Table
from conform.judging.verdict import FAILURES, Verdict
from conform.manifest.language import Manifest
from conform.report import write
from conform.report.record import Run, environment
from conform.running.breaker import Breaker
from conform.running.head import End, Head, Shard, record_of
from conform.running.journal import Journal, Part
from conform.running.order import Group
from conform.running.truth import INTERP
from conform.running.waivers import Waivers
from conform.selftest.green import last_green
from conform.suites import Suite
from conform.suites.cases import Selection

DECLARED = ("name", "version", "device", "compute", "flushes_subnormals")  # that identify a backend in a record


@dataclass(frozen=True)
class Asked:
    """What is run on which backend, as it was given."""

    suite: Suite
    table: Table
    contract: str
    selection: Selection
    backend: str | type[Backend] | Backend | Callable
    jail: Jail | None
    part: Shard | None
    is_by_coverage: bool
    timeout_s: float
    golden_timeout_s: float
    min_coverage: float
    imports: tuple[str, ...]
    of_kernels: bool
    checks: Collection[str]  # that count
    are_usual: bool  # that would count by default
    waivers: Waivers | None
    manifest: Manifest | None = None
    manifest_name: str | None = None  # as it was given
    oracle: str = INTERP
    full_record: bool = False
    arguments: Path | None = None  # those of a StableHLO program
    threads: int = 1  # of torch, in each of the backend's processes

    @property
    def name(self) -> str | None:
        """The backend's, if it was given by name."""
        return self.backend if isinstance(self.backend, str) else None

    def question(self) -> dict[str, Any]:
        """What decides, beside the backend, what is asked and how answers are judged, and what they are judged with."""
        packages = {name: value for name, value in environment().items() if name != "platform"}
        return {
            "kit": kit.digest(), **packages, "suite": [self.suite.recorded_names, self.suite.digest],
            "selection": asdict(self.selection), "contract": [self.table.name, _digest_of(Path(self.contract))],
            "checks": sorted(self.checks), "manifest": self.manifest and self.manifest.model_dump(mode="json"),
            "oracle": self.oracle, "full_record": self.full_record,
            "arguments": self.arguments and _digest_of(self.arguments),
        }  # fmt: skip


class Bench(Protocol):
    """Where the backend runs."""

    left_running: Sequence[str]


class Underway:
    """A run from before its backend starts."""

    def __init__(
        self, asked: Asked, groups: Sequence[Group], bench: Bench, on_verdict: Callable[[Verdict, int], None] | None
    ) -> None:
        self._asked, self._bench = asked, bench
        self._on_verdict = on_verdict or (lambda verdict, asked: None)
        self._number = {case.id: number for group in groups for number, case in group}
        self._asked_of = Counter(case.op for group in groups for _, case in group)
        self._started = time.monotonic()
        self._kit_digest, self._truth_digest, self._i8 = kit.digest(), kit.truth_digest(), last_green()
        # Where the backend comes from, read before it runs.
        self._source = backend_names.source(asked.name) if asked.name is not None else origin(asked.backend)
        self._breaker = Breaker()
        self._verdicts: dict[str, tuple[int, Verdict]] = {}  # by case id: a later one takes the place of the first
        self._head: Head | None = None
        self._journal: Journal | None = None
        self._waivers: Waivers | None = None
        self._ends: list[End] = []
        self._stopped: str | None = None

    @property
    def has_begun(self) -> bool:
        """Whether the backend has started."""
        return self._head is not None

    def begin(self, described: Mapping[str, Any], out: Path | None, known: Part | None) -> None:
        """The backend has started, and told what it is. UsageError where `known` is of another run."""
        head = self._head_of(described)
        if known is not None:
            self._journal = known.continued(head)
            self._ends = known.ends
        elif out is not None:
            write.prepare(out)
            self._journal = Journal.begun(out, head)
        self._head = head
        self._waivers = head.waivers and head.waivers.for_backend(head.numerics)
        for number, verdict in known.verdicts.values() if known else ():
            self._count(number, verdict)

    def numbers(self, groups: Sequence[Group], budget_s: float | None) -> Iterator[int]:
        """Which of `groups` are run: all but those of ops that are given up, until the budget is spent."""
        for number, group in enumerate(groups):
            if budget_s is not None and time.monotonic() - self._started > budget_s:
                self._stopped = f"the budget of {budget_s:g} s is spent; what ran was chosen for coverage"
                return
            if not self._breaker.has_given_up(group[0][1].op):
                yield number

    def take(self, verdict: Verdict) -> None:
        """One more case has ended, or one that had is judged anew."""
        number = self._number[verdict.id]
        if self._journal:
            self._journal.append(number, verdict)
        self._count(number, verdict)

    def _count(self, number: int, verdict: Verdict) -> None:
        self._verdicts[verdict.id] = number, verdict
        self._breaker.note(verdict)
        self._on_verdict(self._told(verdict), len(self._number))

    def _told(self, verdict: Verdict) -> Verdict:
        """As the record will have it."""
        return self._waivers.told(verdict) if self._waivers else verdict

    def is_failure(self, verdict: Verdict) -> bool:
        """Whether the run fails by it."""
        return verdict.is_counted and self._told(verdict).status in FAILURES

    def ended(self, stopped: str | None = None) -> Run:
        """The run as it is now; `stopped` says why it is not whole."""
        end = End(
            seconds=time.monotonic() - self._started,
            left_running=list(self._bench.left_running),
            kit_digest=kit.digest(),
            stopped=stopped or self._stopped,
        )
        if self._journal:
            self._journal.end(end)
        return record_of(self._head, self._verdicts, End.of_parts([*self._ends, end], end.stopped))

    def _head_of(self, described: Mapping[str, Any]) -> Head:
        asked = self._asked
        described = asked.manifest.declared(described) if asked.manifest else described
        return Head(
            kit_digest=self._kit_digest,
            suites=list(asked.suite.recorded_names),
            suite_digest=asked.suite.digest,
            tests=[test.id for test in asked.suite.tests],
            contract=asked.table.name,
            contract_digest=_digest_of(Path(asked.contract)),
            full_record=asked.full_record,
            selection=json.loads(json.dumps(asdict(asked.selection))),
            is_by_coverage=asked.is_by_coverage,
            timeout_s=float(asked.timeout_s),
            golden_timeout_s=float(asked.golden_timeout_s),
            min_coverage=float(asked.min_coverage),
            of_judged_ops=asked.of_kernels,
            checks=sorted(asked.checks),
            backend=identity(described, self._source),
            jail=asked.jail.made_by if asked.jail else None,
            shard=asked.part,
            asked_of=dict(self._asked_of),
            imports=list(asked.imports),
            waivers=asked.waivers,
            manifest=asked.manifest,
            truth={"oracle": asked.oracle, "digest": self._truth_digest, "i8": self._i8},
            numerics=described["numerics"],
            invocation={
                "backend": asked.name,
                "contract": asked.contract,
                "manifest": asked.manifest_name,
                "suites": list(asked.suite.names),
                "oracle": asked.oracle,
                "args": None if asked.arguments is None else str(asked.arguments),
                "checks": None if asked.are_usual else sorted(asked.checks),
                "threads": asked.threads,
            },
        )


def _digest_of(path: Path) -> str:
    """That of a file; of a table or a folder that comes with the kit, none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def identity(described: Mapping[str, Any], source: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What identifies a backend in a record, with where it came from (`names.source`), and what it declares; its
    numerics belong to the environment."""
    further = {key: described[key] for key in (*OF_OPS, "keeps_intermediates") if described.get(key)}
    return {**{key: described.get(key) for key in DECLARED}, **further, **(source or {})}
