"""The first manifest of a backend, made of a run's record: what passed is claimed, and the rest stands in comments."""

from __future__ import annotations

import json
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from conform.documents.limits import Limits
from conform.documents.source import parse_yaml
from conform.errors import UsageError
from conform.foreign import line
from conform.interp.semantics import names as known_ops
from conform.judging.checks import OF_EVERY_ANSWER
from conform.judging.verdict import FAILURES, REFUSAL
from conform.manifest.language import DEFAULTS, ManifestFile
from conform.report.schema import Record, RecordedCase, read
from conform.report.tally import in_order

WIDTH = 120
_PLAIN = re.compile(r"[A-Za-z_][\w.:]*[\w]")
_LEFT_OUT = ("unsupported", "fallback")


@dataclass
class _Pair:
    """What a run found of the valid calls of one op and dtype: how many by status, the first reason for each status,
    and whether any of them was compared."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: dict[str, str] = field(default_factory=dict)
    is_compared: bool = False

    def note(self, case: RecordedCase, reason: str | None) -> None:
        self.counts[case.status] += 1
        self.reasons.setdefault(case.status, line(reason or "", 200))
        self.is_compared |= case.status == "pass" and (case.compared > 0 or case.check in OF_EVERY_ANSWER)

    @property
    def is_claimed(self) -> bool:
        """Whether calls passed, and none failed or was left out."""
        return self.is_compared and not any(self.counts[one] for one in (*FAILURES, *_LEFT_OUT, "waived"))

    @property
    def why_not(self) -> str:
        """`fail in 3 of 20 cases: error above the bound`: the worst of what became of the others."""
        order = (*FAILURES, "waived", *_LEFT_OUT, "unjudged", "unspecified", "pass")
        status = next(one for one in order if self.counts[one])
        if status == "pass":
            return "passes, of which no element was compared"
        share = f" in {self.counts[status]} of {self.counts.total()} cases" if len(self.counts) > 1 else ""
        return f"{status}{share}: {self.reasons[status]}"


def draft(directory: Path) -> str:
    """The text of a manifest, by the record that `conform check --out` wrote there. UsageError where there is none, or
    nothing passed."""
    record = read(directory)
    pairs = _pairs(record)
    claimed = [key for key, pair in pairs.items() if pair.is_claimed]
    if not claimed:
        raise UsageError(f"{directory}: of no op and dtype every valid call passed, so there is nothing to claim")
    known = {*known_ops(), *(op for op, _ in pairs)}
    parts = [
        *_head(record),
        "claims:",
        *(text for ops, dtypes in _grouped(claimed) for text in _claim(_compact(ops, known), dtypes)),
        *_arithmetic(record.backend.model_dump()),
        *_not_claimed({key: pair for key, pair in pairs.items() if not pair.is_claimed}),
    ]
    text = "\n".join(parts) + "\n"
    ManifestFile.model_validate(parse_yaml(text, Limits.from_environment()))
    return text


def _pairs(record: Record) -> dict[tuple[str, str], _Pair]:
    """By op and dtype what became of the valid calls."""
    pairs: dict[tuple[str, str], _Pair] = defaultdict(_Pair)
    for case in record.cases:
        if case.check != REFUSAL:
            pairs[case.op, case.dtype].note(case, record.text(case.reason))
    return pairs


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[list[str], list[str]]]:
    """Ops of equal dtypes together, those of most ops first."""
    dtypes_of: dict[str, list[str]] = defaultdict(list)
    for op, dtype in pairs:
        dtypes_of[op].append(dtype)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for op, dtypes in dtypes_of.items():
        groups[tuple(in_order(dtypes))].append(op)
    ordered = sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
    return [(sorted(ops), list(dtypes)) for dtypes, ops in ordered]


def _compact(ops: Sequence[str], known: Iterable[str]) -> list[str]:
    """The ops, with `aten::add` for all overloads that there are, where all of them are named."""
    overloads: dict[str, set[str]] = defaultdict(set)
    for op in known:
        overloads[op.partition(".")[0]].add(op)
    packets = {op.partition(".")[0] if op.startswith("aten::") else op for op in ops}
    whole = {packet for packet in packets if overloads[packet] <= {*ops}}
    return sorted({packet if (packet := op.partition(".")[0]) in whole else op for op in ops})


def _head(record: Record) -> Iterator[str]:
    """What it was made of."""
    backend, kit = record.backend, record.kit
    version = f" {backend.version}" if backend.version else ""
    told = f"What passed of suite {' '.join(record.suite.names)} (seed {record.seed}, contract {record.contract}) on "
    yield from _comment(f"{told}{backend.name}{version}, by conform {kit.version}. docs/manifest.md has the keys.")
    if record.stopped or record.shard or record.not_run:
        yield from _comment(f"That run is not whole: {record.not_run} cases were not run, nor those of other shards.")


def _claim(ops: Sequence[str], dtypes: Sequence[str]) -> Iterator[str]:
    yield from _list("- op: ", ops)
    yield from _list("  dtype: ", dtypes)


def _arithmetic(backend: Mapping[str, object]) -> Iterator[str]:
    """What the backend declares beyond IEEE 754, so that the manifest is all of it."""
    declared = {name: backend[name] for name, default in DEFAULTS.items() if backend[name] not in (None, default)}
    if declared:
        yield "arithmetic:"
    for name, value in declared.items():
        if isinstance(value, list):
            yield from _list(f"  {name}: ", value)
        else:
            yield f"  {name}: {json.dumps(value)}"


def _not_claimed(pairs: Mapping[tuple[str, str], _Pair]) -> Iterator[str]:
    """What is left, by the reason."""
    by_reason: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for key, pair in pairs.items():
        by_reason[pair.why_not].append(key)
    if by_reason:
        yield from _comment("Not claimed:")
    for reason, keys in by_reason.items():
        for ops, dtypes in _grouped(keys):
            yield from _comment(f"{', '.join(map(line, ops))} of {', '.join(map(line, dtypes))}: {reason}", "#   ")


def _list(key: str, names: Sequence[str]) -> list[str]:
    """`key[one, two]`, over as many lines as it takes."""
    shown = ", ".join(name if _PLAIN.fullmatch(name) else json.dumps(name) for name in names)
    return _wrapped(f"[{shown}]", key, " " * len(key))


def _comment(text: str, start: str = "# ") -> list[str]:
    return _wrapped(line(text, None), start, f"#{' ' * (len(start) + 1)}")


def _wrapped(text: str, first: str, others: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
