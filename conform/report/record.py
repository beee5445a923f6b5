"""The run record: verdicts in, one dict of JSON values out, always in the same order (`run_json.py` writes it)."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from math import prod

import click

from conform.errors import ConformError, KitDefect
from conform.foreign import line
from conform.judging.checks import EVERY, OF_VALUES, counts
from conform.judging.histogram import added
from conform.judging.verdict import (
    CHECKS,
    JUDGED,
    KIT_DEFECT,
    NOT_CLAIMED,
    STATUSES,
    Contract,
    Operand,
    Verdict,
    Worst,
)
from conform.report import waivers
from conform.report.numbers import element_json, json_value

SCHEMA = "conform.run/2"
NO_FAMILY = "other"  # of ops that the kit has no semantics of
PACKAGES = ("numpy", "mpmath", "gmpy2", "ml_dtypes", "torch")


@dataclass(frozen=True)
class Required:
    """The share of the cases that must be judged for a backend to be called conformant: of those that its manifest
    claims; without one of all that were asked, or, of kernels in a file, of those of the ops of which any was judged.
    """

    min_coverage: float = 0.5
    of_judged_ops: bool = False


@dataclass(frozen=True, repr=False)
class Run:
    """A finished run: `record` is all that is known of it, every field of every case; run.json is its short form. As
    text it is what `conform check` prints."""

    record: dict

    def __str__(self) -> str:
        from conform.report.terminal import render  # which needs what stands here

        return click.unstyle(render(self.record))

    def __repr__(self) -> str:
        from conform.report.terminal import quiet_line

        return f"<Run: {quiet_line(self.record)}>"

    @property
    def summary(self) -> dict:
        """Counts of every status, coverage and conformance."""
        return self.record["summary"]

    @property
    def cases(self) -> list[dict]:
        """One dict a case, in the order of the suite."""
        return self.record["cases"]

    @property
    def exit_code(self) -> int:
        """0 conformant, 1 not or in part, 3 nothing was judged or compared, or the kit's files changed meanwhile; 70
        the kit itself failed on some cases."""
        is_defect = any(one["kind"] == KIT_DEFECT for one in self.record["findings"])
        if is_defect or any(case["rule"] == KIT_DEFECT for case in (*self.cases, *self.record["not_counted"])):
            return KitDefect.exit_code
        return EXIT_CODES[word(self.record)]


NO_VERDICT, NOTHING_JUDGED, NOTHING_COMPARED = "no verdict", "nothing judged", "nothing compared"
CONFORMANT, PARTIAL, NOT_CONFORMANT = "conformant", "partial", "not conformant"
EXIT_CODES = {
    CONFORMANT: 0, PARTIAL: 1, NOT_CONFORMANT: 1, NO_VERDICT: 3, NOTHING_JUDGED: 3, NOTHING_COMPARED: 3,
}  # fmt: skip


def word(record: Mapping) -> str:
    """The verdict on a run in a word: NO_VERDICT (the kit's files changed meanwhile), NOTHING_JUDGED, NOTHING_COMPARED
    (nothing failed, either), NOT_CONFORMANT, PARTIAL (it ended early, or too small a share was judged), CONFORMANT."""
    summary, required = record["summary"], record["required"]
    if kit_changed(record):
        return NO_VERDICT
    if summary["judged"] == 0:
        return NOTHING_JUDGED
    if summary["pass"] < summary["judged"] or not waivers.are_right(record):
        return NOT_CONFORMANT
    if not OF_VALUES.isdisjoint(record["checks"]["selected"]) and not any(case["compared"] for case in record["cases"]):
        return NOTHING_COMPARED
    return PARTIAL if record["stopped"] or required["coverage"] < required["min_coverage"] else CONFORMANT


def kit_changed(record: Mapping) -> bool:
    """Whether the kit's files are others at the end of a run than at its start: who wrote them may have written the
    verdicts as well."""
    kit = record["kit"]
    return kit.get("digest") != kit.get("digest_at_end")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C or a signal that ends the process during a run; `run` holds the record of the cases that ended before it,
    `reason` is the exception that came."""

    def __init__(self, run: Run, reason: KeyboardInterrupt | None = None) -> None:
        super().__init__("interrupted")
        self.run = run
        self.reason = reason or KeyboardInterrupt()


class Stopped(ConformError):
    """What ended a run that had begun; `run` holds the record of the cases that ended before it.

    The exit code is the reason's, but for 3 (the backend cannot be started again, perhaps): whether anything was judged
    is for the run to say.
    """

    def __init__(self, run: Run, reason: ConformError) -> None:
        super().__init__(str(reason))
        self.run = run
        self.exit_code = run.exit_code if reason.exit_code == EXIT_CODES[NOTHING_JUDGED] else reason.exit_code


def build(
    verdicts: Iterable[Verdict],
    *,
    asked: int,
    suite: Mapping[str, object],
    tests: Sequence[str],
    contract: str,
    backend: Mapping[str, object],
    seed: int,
    timings: Mapping[str, object],
    numerics: Mapping[str, object] | None = None,
    families: Mapping[str, str] | None = None,
    selftest: Mapping[str, int],
    checks: Collection[str] = EVERY,
    invocation: Mapping[str, object] | None = None,
    required: Required | None = None,
    stopped: str | None = None,
    kit_digests: tuple[str, str] | None = None,
    left_running: Sequence[str] = (),
    jail: str | None = None,
    given_up: Mapping[str, int] | None = None,
    shard: str | None = None,
    findings: Sequence[Mapping[str, object]] = (),
    waived: Mapping[str, object] | None = None,
    manifest: Mapping[str, object] | None = None,
    truth: Mapping[str, object] | None = None,
) -> Run:
    """The record of a run.

    asked    cases that were selected, those among them that do not count; those without a verdict (interrupted,
             --fail-fast) are counted as `not_run`, beside the summary: that is no status
    suite    {"names": [...], "digest": "sha256:..."};  tests: the ids of its tests in order
    backend  {"name", "version", "device", ...};  timings: with the cases' seconds the only figures that may differ
             between two equal runs;  numerics: what else decides its results, as `Backend.numerics` tells
    families of the ops, in the order in which they are to be told
    selftest {"plants", "caught", "explained"}: the kit's last full self-test
    required     the coverage without which the run is partial;  stopped: what ended it before its last case
    checks       those that count; verdicts that do not count stand in `not_counted`, and nowhere else
    invocation   {"backend": ..., "contract": ..., "suites": [...]} as the command named them (paths, perhaps): to
             repeat a case, and so the only text that stands in the record as it was given
    kit_digests  of the kit's files before the backend was started and after it ended, where they were taken
    jail         what confined the backend; None where nothing did
    left_running names of the programs that outlived the backend's process, and were killed
    given_up     of each op on which the backend hung too often, how many of its cases were therefore not run
    shard        "2/3": these are the second third of the cases
    findings     {"kind", "op", "dtypes", "text"}: what the failures of an op have in common, in a sentence each
    waived       {"source", "digest", "entries"}: by which failures were waived; None where there are none
    manifest     {"source", "digest", "claims"}: what the backend claims to do; None where it claims nothing
    truth        {"oracle", "digest", "i8"}: whose results are the truth, the digest of interpreter and references, and
                 of which ops I8 is known to hold; None where a record is of nothing but given verdicts
    """
    position = {test: number for number, test in enumerate(tests)}
    every = sorted(verdicts, key=lambda verdict: (position[verdict.test], _natural(verdict.id)))
    ordered = [verdict for verdict in every if verdict.is_counted]
    not_run = asked - len(every)
    asked = len(ordered) + not_run
    record = {
        "schema": SCHEMA,
        "kit": {"name": "conform", "version": kit_version(), **_digests(kit_digests), "selftest": dict(selftest)},
        "suite": dict(suite),
        "truth": truth,
        "contract": contract,
        "backend": dict(backend),
        "environment": {
            **environment(), "numerics": dict(numerics or {}), "jail": jail, "left_running": list(left_running),
            "invocation": {},
            "timings": {**timings, "case_seconds": [round(verdict.seconds, 6) for verdict in ordered]},
            "logs": {verdict.id: verdict.log.splitlines() for verdict in every if verdict.log},
        },
        "seed": seed,
        "summary": summarize([verdict.status for verdict in ordered], asked),
        "required": required_json(required or Required(), ordered, asked, manifest),
        "checks": {
            "selected": [check for check in CHECKS if check in checks],
            "counts": [vars(count) for count in counts(ordered, checks)],
        },
        "not_run": not_run,
        "stopped": stopped and line(stopped, None),
        "given_up": dict(sorted((given_up or {}).items())),
        "shard": shard,
        "findings": [{**one, "text": line(str(one["text"]), None)} for one in findings],
        "waivers": waived,
        "manifest": manifest,
        "ops": _ops(every, families or {}),
        "histograms": _histograms(ordered),
        "not_counted": [case_json(verdict) for verdict in every if not verdict.is_counted],
        "cases": [case_json(verdict) for verdict in ordered],
    }  # fmt: skip
    written: dict = json_value(record)  # type: ignore[assignment]
    written["environment"]["invocation"] = dict(invocation or {})
    return Run(written)


def required_json(
    required: Required, verdicts: Sequence[Verdict], asked: int, manifest: Mapping[str, object] | None
) -> dict[str, object]:
    """What the record says of the coverage, of verdicts that count, or of the cases that tell of them."""
    judged = [verdict for verdict in verdicts if verdict.status in JUDGED]
    of = "all cases asked"
    if manifest is not None:
        asked -= sum(verdict.rule == NOT_CLAIMED for verdict in verdicts)
        of = f"the cases that {manifest['source']} claims"
    elif required.of_judged_ops:
        ops = {verdict.op for verdict in judged}
        asked = sum(verdict.op in ops for verdict in verdicts)
        of = "the cases of the ops of which any was judged"
    return {
        "min_coverage": required.min_coverage,
        "of": of,
        "asked": asked,
        "judged": len(judged),
        "coverage": len(judged) / asked if asked else 0.0,
    }


def is_whole(record: Mapping) -> bool:
    """Whether nothing is left to be run: it ended, and it is no shard of a run."""
    not_asked = sum(record["given_up"].values())
    return record["stopped"] is None and record["shard"] is None and record["not_run"] == not_asked


def _ops(verdicts: Sequence[Verdict], families: Mapping[str, str]) -> dict[str, dict]:
    """Of each op its family, and the shape of the largest tensor of a call whose results were judged."""
    largest: dict[str, tuple[int, ...]] = {}
    for verdict in verdicts:
        shapes = [largest.get(verdict.op), verdict.largest if verdict.compared else None]
        largest[verdict.op] = max((shape for shape in shapes if shape is not None), key=prod, default=None)
    order = list(dict.fromkeys(families.values()))
    place = {op: (order.index(families[op]) if op in families else len(order), op) for op in largest}
    return {
        op: {"family": families.get(op, NO_FAMILY), "largest": largest[op]} for op in sorted(largest, key=place.get)
    }


def _histograms(verdicts: Sequence[Verdict]) -> dict[str, dict]:
    """By op and dtype, how many compared elements have an error of which size (`judging/histogram.py`)."""
    found: dict[str, dict[str, list]] = {}
    for verdict in verdicts:
        if verdict.errors:
            found.setdefault(verdict.op, {}).setdefault(verdict.dtype, []).append(verdict.errors)
    return {op: {dtype: added(each) for dtype, each in sorted(found[op].items())} for op in sorted(found)}


def _natural(case_id: str) -> list[tuple[int, int, str]]:
    """Sort key under which `/2` comes before `/10`."""
    parts = re.split(r"(\d+)", case_id)
    return [(1, int(part), part) if part.isdecimal() else (0, 0, part) for part in parts]


def _digests(taken: tuple[str, str] | None) -> dict[str, str]:
    return {} if taken is None else {"digest": taken[0], "digest_at_end": taken[1]}


@cache
def kit_version() -> str:
    """The version of the kit that is installed."""
    return metadata.version("conform")


@cache
def environment() -> dict[str, object]:
    """What the kit itself ran on: Python, platform and package versions."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "machine": platform.machine(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def summarize(statuses: Sequence[str], asked: int) -> dict[str, object]:
    """Counts by status; coverage = judged / asked, conformance = pass / judged (null of nothing)."""
    counts = Counter(statuses)
    judged = sum(counts[status] for status in JUDGED)
    return {
        "asked": asked,
        "judged": judged,
        **{status: counts[status] for status in STATUSES},
        "coverage": judged / asked if asked else None,
        "conformance": counts["pass"] / judged if judged else None,
    }


def case_json(verdict: Verdict) -> dict[str, object]:
    """One entry of `cases`."""
    return {
        "id": verdict.id,
        "test": verdict.test,
        "op": verdict.op,
        "dtype": verdict.dtype,
        "values": verdict.values,
        "layout": verdict.layout,
        "status": verdict.status,
        "reason": None if verdict.reason is None else line(verdict.reason, None),
        "rule": verdict.rule,
        "check": verdict.check,
        "compared": verdict.compared,
        "checks": verdict.checks,
        "failed": verdict.failed,
        "open": verdict.open,
        "vacuous": verdict.vacuous,
        "admitted": verdict.admitted,
        "max_error_ulp": verdict.max_error_ulp,
        "bound_ulp": verdict.bound_ulp,
        "contract": _contract_json(verdict.contract),
        "worst": _worst_json(verdict.worst),
        "tightest": verdict.tightest,
        "tables": dict(verdict.tables),
        "location": verdict.location,
        **({"gradient": verdict.gradient} if verdict.gradient else {}),
        **({"pair": dict(verdict.pair)} if verdict.pair else {}),
    }


def _operand_value(value: object, dtype: str | None) -> object:
    """An element of a tensor in decimal and hex; a Python integer, a dim perhaps, is itself."""
    return value if dtype is None and isinstance(value, int) else element_json(value, dtype)


def _contract_json(contract: Contract | None) -> dict[str, object] | None:
    if contract is None:
        return None
    return {"kind": contract.kind, "bound": contract.bound, "source": contract.source}


def _worst_json(worst: Worst | None) -> dict[str, object] | None:
    if worst is None:
        return None
    return {
        "output": worst.output,
        "index": list(worst.index),
        "dtype": worst.dtype,
        "inputs": [_operand_json(operand) for operand in worst.inputs],
        "expected": element_json(worst.expected, worst.dtype),
        "actual": element_json(worst.actual, worst.dtype),
        "error_ulp": worst.error_ulp,
        "bound_ulp": worst.bound_ulp,
        **({} if worst.holder is None else {"holder": worst.holder}),
    }


def _operand_json(operand: Operand) -> dict[str, object]:
    return {
        "name": operand.name,
        "dtype": operand.dtype,
        "shape": None if operand.shape is None else list(operand.shape),
        "values": [_operand_value(value, operand.dtype) for value in operand.values],
        "count": len(operand.values) if operand.count is None else operand.count,
    }
