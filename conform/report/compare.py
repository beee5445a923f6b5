"""Two runs beside each other: what fails now that passed, what passes that failed, and where errors grew or shrank."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from conform.judging.verdict import FAILURES
from conform.report.numbers import percent
from conform.report.schema import Record, RecordedCase

CORRECT_ULP = 0.5  # what correct rounding is off: smaller errors are no better
WORTH_TELLING = 1.1  # a factor between two errors
SHOWN = 20
IDENTITY = ("name", "version", "device", "compute", "flushes_subnormals", "digest")  # of a backend


@dataclass(frozen=True)
class Change:
    """One case in both runs, by status and reason."""

    id: str
    op: str
    before: str
    after: str


@dataclass(frozen=True)
class Accuracy:
    """The largest error in ulps over the cases of an op and dtype that pass in both runs."""

    op: str
    dtype: str
    before_ulp: float
    after_ulp: float

    @property
    def factor(self) -> float:
        """How many times as large the error is now."""
        return max(self.after_ulp, CORRECT_ULP) / max(self.before_ulp, CORRECT_ULP)


@dataclass(frozen=True)
class Comparison:
    """What two runs have in common and what not.

    regressions   cases that passed, and fail now, or are not judged any more, unless they are waived
    fixes         cases that failed, and pass now
    changes       cases that fail in both, in another way
    new, missing  cases of the second run alone, of the first alone: their ids
    worse, better the largest errors of passing cases that changed by more than a tenth, the largest change first
    both          how many cases are in both
    apart         what else is not the same: kit, suite, seed, backend, arithmetic
    """

    regressions: tuple[Change, ...]
    fixes: tuple[Change, ...]
    changes: tuple[Change, ...]
    new: tuple[str, ...]
    missing: tuple[str, ...]
    worse: tuple[Accuracy, ...]
    better: tuple[Accuracy, ...]
    both: int
    apart: tuple[str, ...]


def compared(before: Record, after: Record) -> Comparison:
    """The second run, beside the first."""
    first, second = ({case.id: case for case in one.cases} for one in (before, after))
    pairs = [(case, second[name]) for name, case in first.items() if name in second]
    accuracy = sorted(_accuracy(pairs), key=lambda one: -abs(math.log(one.factor)))
    return Comparison(
        regressions=tuple(_changes(pairs, before, after, _is_regression)),
        fixes=tuple(_changes(pairs, before, after, lambda a, b: a in FAILURES and b == "pass")),
        changes=tuple(_changes(pairs, before, after, lambda a, b: a in FAILURES and b in FAILURES)),
        new=tuple(name for name in second if name not in first),
        missing=tuple(name for name in first if name not in second),
        worse=tuple(one for one in accuracy if one.factor > WORTH_TELLING),
        better=tuple(one for one in accuracy if one.factor < 1 / WORTH_TELLING),
        both=len(pairs),
        apart=tuple(_apart(before, after)),
    )


def _is_regression(before: str, after: str) -> bool:
    return before == "pass" and after not in ("pass", "waived")


def _changes(
    pairs: Iterable[tuple[RecordedCase, RecordedCase]],
    before: Record,
    after: Record,
    is_told: Callable[[str, str], bool],
) -> Iterator[Change]:
    for one, other in pairs:
        told = [_told(case, record) for case, record in ((one, before), (other, after))]
        if is_told(one.status, other.status) and told[0] != told[1]:
            yield Change(one.id, one.op, *told)


def _told(case: RecordedCase, record: Record) -> str:
    """`fail: error above the bound`."""
    return ": ".join(said for said in (case.status, record.text(case.reason)) if said)


def _accuracy(pairs: Sequence[tuple[RecordedCase, RecordedCase]]) -> Iterator[Accuracy]:
    largest: dict[tuple[str, str], list[float]] = {}
    for one, other in pairs:
        errors = [case.max_error_ulp for case in (one, other)]
        if one.status == other.status == "pass" and all(isinstance(error, float) for error in errors):
            known = largest.setdefault((one.op, one.dtype), [0.0, 0.0])
            known[:] = [max(pair) for pair in zip(known, errors, strict=True)]
    return (Accuracy(op, dtype, *errors) for (op, dtype), errors in largest.items())


def _apart(before: Record, after: Record) -> Iterator[str]:
    facts = [
        {
            "kit": f"{one.kit.version}, {one.kit.digest}", "suite": one.suite.digest, "seed": one.seed,
            "contract": one.contract, **{f"backend {name}": getattr(one.backend, name) for name in IDENTITY},
            **dict(one.environment.numerics),
        }
        for one in (before, after)
    ]  # fmt: skip
    for name in {**facts[0], **facts[1]}:
        if facts[0].get(name) != facts[1].get(name):
            yield f"{name}: {facts[0].get(name)} before, {facts[1].get(name)} now"


# --- In words ---------------------------------------------------------------------------------------------------------


def render(found: Comparison, summaries: Sequence[Mapping[str, int]]) -> str:
    """What a person reads. summaries: those of the two runs."""
    parts = [
        _section("not the same in both", found.apart),
        _section("regressions: passed before", _lines(found.regressions)),
        _section("fixed: failed before", _lines(found.fixes)),
        _section("fails otherwise", _lines(found.changes)),
        _section("larger errors, of cases that pass in both", map(_error, found.worse)),
        _section("smaller errors, of cases that pass in both", map(_error, found.better)),
        _section("new cases", found.new),
        _section("missing cases", found.missing),
        "\n".join([_summary(found), *(_passed(*pair) for pair in zip(("before", "now"), summaries, strict=True))]),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(title: str, lines: Iterable[str]) -> str:
    listed = list(lines)
    more = [f"... and {len(listed) - SHOWN} more"] if len(listed) > SHOWN else []
    return "\n".join([f"{title} ({len(listed)}):", *(f"  {one}" for one in [*listed[:SHOWN], *more])]) if listed else ""


def _lines(changes: Sequence[Change]) -> list[str]:
    """The cases of an op that changed alike are one line."""
    alike: dict[tuple[str, str, str], list[str]] = {}
    for one in changes:
        alike.setdefault((one.op, one.before, one.after), []).append(one.id)
    return [
        f"{op}: {before} -> {after}: {ids[0]}" + (f" and {len(ids) - 1} more" if len(ids) > 1 else "")
        for (op, before, after), ids in alike.items()
    ]


def _error(one: Accuracy) -> str:
    return f"{one.op} {one.dtype}: {one.before_ulp:.3g} ulp -> {one.after_ulp:.3g} ulp"


def _summary(found: Comparison) -> str:
    counts = {
        "regression": len(found.regressions), "fix": len(found.fixes), "other failure": len(found.changes),
        "larger error": len(found.worse), "smaller error": len(found.better),
    }  # fmt: skip
    told = ", ".join(f"{count} {_plural(name, count)}" for name, count in counts.items())
    return f"{found.both} cases in both, {len(found.new)} new, {len(found.missing)} missing: {told}"


def _plural(name: str, count: int) -> str:
    return name if count == 1 else f"{name}es" if name.endswith("x") else f"{name}s"


def _passed(when: str, summary: Mapping[str, int]) -> str:
    return f"{when}: {percent(summary['pass'], summary['judged'])} of {summary['judged']} judged cases pass"
