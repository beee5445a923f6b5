"""Failures that are known and borne: by --waivers they are waived, each for a reason, and what is new fails alone.

A file lists entries; each names cases by globs, and what it expects of them. A case that fails as an entry expects has
the status `waived`. An entry that expects too much fails the run as a failure does: one of which every case passes, one
that is for no case that was asked, one that has expired.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timezone
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from conform.call.schemas import unknown_operator
from conform.documents.form import Place, Text, Texts, listed, read_form
from conform.errors import UsageError, did_you_mean
from conform.foreign import line
from conform.judging.verdict import FAILURES, JUDGED, Verdict
from conform.numerics.formats import FORMATS
from conform.suites import builtin
from conform.suites.filters import matches_id, matches_op, names_an_operator

DATA = Path(__file__).parent / "data"
USED, PASSING, UNUSED, EXPIRED, ELSEWHERE, NOT_ASKED = (
    "used", "passing", "unused", "expired", "elsewhere", "not asked",
)  # fmt: skip


def _a_date(text: str) -> str:
    try:
        date.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expected a day as 2027-01-31, found {text!r}") from None
    return text


def _a_suite(name: str) -> str:
    if name not in builtin.NAMES and not name.endswith(".yaml"):
        known = f"expected one of {', '.join(builtin.NAMES)} or the name of a YAML file"
        raise ValueError(f"unknown suite {name!r}: {known}{did_you_mean(name, builtin.NAMES)}")
    return name


Failure = Literal[FAILURES]  # type: ignore[valid-type]


class Waiver(BaseModel):
    """One entry. A case is one of its own if op, id and dtype match; its failure is expected if the rest does.

    op, id          globs; at least one of them;  dtype: names
    status          of the failures that it is for; by default any
    failure         globs over a failure's reason, as the report tells it
    max_error_ulp   errors beyond that are news
    numerics        where it holds: by name of what the backend tells of its arithmetic (`environment.numerics`), values
    sometimes       not every machine, seed or suite shows it, though its numerics are these
    reason, link    why it is borne, and where that is told
    until           the last day on which it holds, in UTC: 2027-01-31
    line, number    where it stands in its file, and among its entries: lines may hold several
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    op: Texts | None = None
    id: Texts | None = None
    dtype: Texts | None = None
    status: Annotated[list[Failure], BeforeValidator(listed)] | None = None
    failure: Texts | None = None
    max_error_ulp: Annotated[float, Field(ge=0, strict=False)] | None = None
    numerics: dict[str, Annotated[list[str | int | bool], BeforeValidator(listed)]] = {}
    sometimes: bool = False
    reason: Text
    link: Text | None = None
    until: Annotated[str, AfterValidator(_a_date)] | None = None
    line: Place = 0
    number: Place = 0

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Waiver:
        if self.op is None and self.id is None:
            raise ValueError("`op` or `id` says which cases it is for; found neither")
        for glob in self.op or ():
            if glob.startswith("aten::") and not names_an_operator(glob):
                raise ValueError(str(unknown_operator(glob)))
        for name in self.dtype or ():
            if name not in FORMATS:
                raise ValueError(f"unknown dtype {name!r}{did_you_mean(name, FORMATS)}")
        return self

    def is_of(self, op: str, dtype: str) -> bool:
        """Whether it is about cases of an op and dtype."""
        return dtype in (self.dtype or [dtype]) and any(matches_op(op, glob) for glob in self.op or ["*"])

    def is_for(self, verdict: Verdict) -> bool:
        """Whether it is about the case."""
        return self.is_of(verdict.op, verdict.dtype) and any(
            matches_id(verdict.id, glob) for glob in self.id or [verdict.id]
        )

    def expects(self, verdict: Verdict) -> bool:
        """Whether the case fails as it says."""
        return (
            verdict.status in (self.status or FAILURES)
            and any(fnmatchcase(verdict.reason or "", glob) for glob in self.failure or ["*"])
            and (self.max_error_ulp is None or (verdict.max_error_ulp or 0.0) <= self.max_error_ulp)
        )

    def holds_for(self, numerics: Mapping[str, Any]) -> bool:
        """Whether it is about a backend of this arithmetic."""
        return all(numerics.get(name) in values for name, values in self.numerics.items())

    @property
    def if_passing(self) -> str:
        """Its state where every case that it is for passes."""
        return ELSEWHERE if self.sometimes else PASSING

    @property
    def if_without_a_case(self) -> str:
        """Its state where it is for no case that was asked."""
        return NOT_ASKED if self.sometimes else UNUSED

    def has_expired(self, on: date | None = None) -> bool:
        """Whether it holds no more on a day, by default today, in UTC."""
        return self.until is not None and date.fromisoformat(self.until) < (on or datetime.now(timezone.utc).date())


class Waivers(BaseModel):
    """The entries of a file.

    source      its name, without the folder;  digest: of its text
    suites      all of them show together what the entries expect; by default any suite does
    is_shared   the run is one of several, of which the others may show what an entry expects
    """

    model_config = ConfigDict(strict=True, frozen=True)

    source: str
    digest: str
    entries: list[Waiver]
    suites: list[str] = []
    is_shared: bool = False

    def are_shown_by(self, suites: Collection[str]) -> bool:
        """Whether these suites show all that the entries expect."""
        return set(self.suites) <= set(suites)

    def for_backend(self, numerics: Mapping[str, Any], on: date | None = None) -> Waivers:
        """Those of the entries that hold on a day, by default today, for a backend that tells this of its arithmetic.
        """
        held = [one for one in self.entries if one.holds_for(numerics) and not one.has_expired(on)]
        return self.model_copy(update={"entries": held})

    def told(self, verdict: Verdict) -> Verdict:
        """The verdict, waived if it is a failure that an entry expects."""
        if verdict.status not in FAILURES:
            return verdict
        waiver = next((one for one in self.entries if one.is_for(verdict) and one.expects(verdict)), None)
        if waiver is None:
            return verdict
        reason = f"{verdict.status}: {verdict.reason}"
        return replace(verdict, status="waived", reason=reason, rule=f"waiver at {self.source}:{waiver.line}")


class _File(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")

    suites: Annotated[list[Annotated[str, AfterValidator(_a_suite)]], BeforeValidator(listed)] = []
    waivers: list[Waiver]


def shipped() -> list[str]:
    """The names of the files that come with the kit."""
    return sorted(path.stem for path in DATA.glob("*.yaml"))


def path_of(name: str) -> Path:
    """The shipped file of that name, or the one of that path."""
    return DATA / f"{name}.yaml" if name in shipped() else Path(name)


def read(name: str) -> Waivers:
    """The shipped file of that name, or the file of that path. UsageError, with the line, for any mistake in it."""
    path = path_of(name)
    if not path.is_file():
        known = f"expected one of {', '.join(shipped())} or a YAML file{did_you_mean(name, shipped())}"
        raise UsageError(f"no waivers {line(repr(name), 200)}: {known}")
    form = read_form(path, _File)
    entries = [
        entry.model_copy(update={"line": form.line("waivers", number), "number": number})
        for number, entry in enumerate(form.content.waivers)
    ]
    return Waivers(source=line(path.name, 200), digest=form.digest, entries=entries, suites=form.content.suites)


def applied(
    waivers: Waivers, verdicts: Sequence[Verdict], numerics: Mapping[str, Any], is_whole: bool, is_narrowed: bool
) -> tuple[list[Verdict], list[dict[str, Any]]]:
    """The verdicts, of which expected failures are waived, and of each entry its state and how many it expected.

    numerics: as the backend told them. is_whole: the run asked for every case; is_narrowed: within an op it left some
    out, or suites that show what is expected, or it ended early, so that an entry may be for those.
    """
    standing = waivers.for_backend(numerics)
    judged, expected = ({one.number: 0 for one in standing.entries} for _ in range(2))

    @cache
    def entries_of(op: str, dtype: str) -> list[Waiver]:
        return [one for one in standing.entries if one.is_of(op, dtype)]

    for verdict in verdicts:
        for one in entries_of(verdict.op, verdict.dtype) if verdict.status in JUDGED else ():
            if one.is_for(verdict):
                judged[one.number] += 1
                expected[one.number] += one.expects(verdict)

    def state(one: Waiver) -> str:
        if one.number not in judged:
            return EXPIRED if one.has_expired() else ELSEWHERE
        if expected[one.number]:
            return USED
        if waivers.is_shared or is_narrowed or not (is_whole or judged[one.number]):
            return NOT_ASKED
        return one.if_passing if judged[one.number] else one.if_without_a_case

    entries = [entry(one, state(one), expected.get(one.number, 0)) for one in waivers.entries]
    return list(map(standing.told, verdicts)), entries


def entry(one: Waiver, state: str, cases: int) -> dict[str, Any]:
    """What a record says of a waiver."""
    return {
        "line": one.line, "for": [line(name, 200) for names in (one.op, one.id, one.dtype) for name in names or ()],
        "reason": line(one.reason, 1000), "link": one.link and line(one.link, 1000), "until": one.until,
        "state": state, "cases": cases,
    }  # fmt: skip
