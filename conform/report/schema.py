"""run.json as a file: its form, which is the JSON Schema that `conform schema --run` prints, and reading one back.

Anybody can write a run.json. What is read of it has passed this form: texts are printable, as a record has them,
pointers lead somewhere, and what a field may not hold is told with its place. Fields that are not described are
ignored.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from conform.errors import UsageError
from conform.foreign import each_key_once, line
from conform.judging.histogram import NAMES
from conform.judging.verdict import STATUSES
from conform.report.forms import (
    CheckName,
    Count,
    Digest,
    Form,
    GivenPath,
    Printable,
    Shape,
    Share,
    Text,
    Told,
    Ulps,
)
from conform.report.record import SCHEMA, kit_version
from conform.report.run_json import CASES, POINTER, TEXTS
from conform.report.terms import Manifest, Truth, Waivers


class SelfTest(Form):
    """The kit's last full self-test: defects planted, caught, and survivors with a reason."""

    plants: Count
    caught: Count
    explained: Count


class Kit(Form):
    """The kit that ran; digests of its files at the start and at the end, where they were taken."""

    name: Printable
    version: Printable
    digest: Digest | None = None
    digest_at_end: Digest | None = None
    selftest: SelfTest


class SuiteNames(Form):
    """The suites that ran, and the digest of their files."""

    names: list[Printable]
    digest: Digest


class BackendNames(Form):
    """What the backend called itself and declared; source and digest of the file or object that it came from."""

    name: Printable
    version: Printable | None = None
    device: Printable | None = None
    compute: Printable | None = None
    flushes_subnormals: bool | None = None
    rounds_intermediates: list[Printable] = Field(default=[])
    accumulates_in_element_type: list[Printable] = Field(default=[])
    keeps_intermediates: bool = False
    source: Printable | None = None
    digest: Digest | None = None


MAX_THREADS = 4096  # that a record may ask a backend to start


class Invocation(Form):
    """What the command named, as it was given: names and paths, to be opened or shown, never to be run."""

    backend: GivenPath | None  # None: given as a Python object
    contract: GivenPath
    suites: list[GivenPath]
    manifest: GivenPath | None = None
    args: GivenPath | None = None  # what a StableHLO program got
    oracle: Literal["interp", "refs"] = "interp"
    checks: list[CheckName] | None = None  # None: those that count by default
    threads: int = Field(default=1, ge=1, le=MAX_THREADS)  # of torch, in each of the backend's processes
    out: GivenPath | None = None
    imports: list[Printable] = Field(default=[])  # modules that made the backend known to torch
    golden_limit_enforced: bool | None = None


class Timings(Form):
    """Seconds of the run, and of each case, in their order: from the verdict before to its own. How many answers were
    byte for byte those of another run, and not judged again."""

    seconds: float
    cases_per_second: float
    answered_as_known: Count = 0
    case_seconds: list[float] = Field(default=[])


class Environment(Form):
    """Where it ran. What a run does not repeat stands here and nowhere else."""

    python: Printable
    platform: Printable
    machine: Printable
    packages: dict[Printable, Printable | None]
    numerics: Annotated[
        dict[Printable, bool | int | Printable],
        Field(description="instruction sets, switches, threads, precisions: where they differ, backends do"),
    ]
    jail: Printable | None
    left_running: list[Printable]
    invocation: Invocation
    timings: Timings
    logs: Annotated[dict[Printable, list[Printable]], Field(description="what workers printed last, by case id")]


class Required(Form):
    """The coverage without which a run is partial, of what, and what was reached."""

    min_coverage: Share
    of: Printable
    asked: Count
    judged: Count
    coverage: Share


class Op(Form):
    """The family of an op, and the largest tensor of a call that was judged."""

    family: Printable
    largest: Shape | None


class Number(Form):
    """A number as the shortest decimal of its dtype and in hexadecimal."""

    decimal: Printable
    hex: Printable


class ComplexNumber(Form):
    """The two parts of a complex number."""

    real: Number
    imag: Number


Element = Number | ComplexNumber | bool | int | Printable | None | list[Any]


class Operand(Form):
    """What one argument contributes to the worst element: `values` reach it, cut to a handful of `count`."""

    name: Printable
    dtype: Printable | None
    shape: Shape | None
    values: list[Element]
    count: Count


class Worst(Form):
    """The element furthest into its bound: where it is, what reaches it, expected and actual value."""

    output: Count
    index: list[Count]
    dtype: Printable
    inputs: list[Operand]
    expected: Element
    actual: Element
    error_ulp: Ulps | None
    bound_ulp: Ulps | None
    holder: Annotated[Printable | None, Field(description="the argument or buffer that the output is in")] = None


class Contract(Form):
    """The row that decided: its kind, its bound (ulps, or a formula) and the source of that."""

    kind: Text
    bound: Ulps | Text | None
    source: Text


class Pair(Form):
    """Of one side of a compare pair: the id of the pair, which side it is, and what stands there. Of side b, where both
    answered: the answers beside each other, and the largest errors of a and b beside their own goldens."""

    group: Printable
    side: Literal["a", "b"]
    impl: Printable | None
    elements: Count | None = None
    equal: Count | None = None
    apart_ulp: Ulps | None = None
    truths_apart_ulp: Ulps | None = None
    errors_ulp: list[Ulps] | None = None
    further: Literal["a", "b"] | None = None
    other_impl: Printable | None = None


class RecordedCase(Form):
    """How one case ended. Keys that are not required are left out where they say nothing, or in cases that passed."""

    id: Printable
    test: Text
    op: Printable
    dtype: Printable
    values: Printable
    layout: Printable
    status: Literal[STATUSES]  # type: ignore[valid-type]
    reason: Text | None
    rule: Text | None = None
    check: Annotated[CheckName, Field(description="the one that it failed, else the last that it was held to")]
    compared: Annotated[Count, Field(description="elements that were compared with an expectation")]
    checks: Annotated[Count, Field(description="checks of structure: outputs, shapes, dtypes")] = 0
    failed: Annotated[Count, Field(description="elements outside their bound")]
    open: Annotated[Count, Field(description="elements that are left open")] = 0
    vacuous: Annotated[Count, Field(description="elements that no bound holds, or one that says nothing")] = 0
    admitted: Annotated[Text | None, Field(description="what a pass needed of the arithmetic declared")] = None
    max_error_ulp: Ulps | None
    bound_ulp: Ulps | None
    contract: Contract | None
    worst: Worst | None = None
    location: Text | None = None
    gradient: Annotated[Text | None, Field(description="whose gradient is the worst; all that are asked for")] = None
    pair: Pair | None = None
    standing: Annotated[Count, Field(description="the place in standings")]


class Standing(Form):
    """What each shipped table of bounds says of a result, and the tightest of those that it passes."""

    tables: dict[Printable, Told]
    tightest: Printable | None


Bins = dict[Literal[NAMES], Count]  # type: ignore[valid-type]


class CheckCount(Form):
    """Cases that were judged in one check, and those of them that passed in it."""

    check: CheckName
    judged: Count
    passed: Count


class Checks(Form):
    """The checks that counted, and what came of each in which any case was judged."""

    selected: list[CheckName]
    counts: list[CheckCount]


class Finding(Form):
    """What failures of an op have in common, as a sentence whose subject is the op."""

    kind: Printable
    op: Printable
    dtypes: Annotated[list[Printable], Field(description="of which it is told; none: of the op")]
    text: Printable


class Record(Form):
    """A run of conform: what was run on which backend, and how every case ended (docs/run.md)."""

    written_as: Annotated[Literal[SCHEMA], Field(alias="schema")]  # type: ignore[valid-type]
    kit: Kit
    suite: SuiteNames
    truth: Truth | None = None
    contract: Printable
    backend: BackendNames
    environment: Environment
    seed: int
    summary: dict[Literal[("asked", "judged", *STATUSES, "coverage", "conformance")], Count | Share | None]  # type: ignore[valid-type]
    required: Required
    checks: Checks
    not_run: Count
    stopped: Printable | None
    given_up: Annotated[dict[Printable, Count], Field(description="cases not run of ops on which the backend hung")]
    shard: Annotated[str, Field(pattern=r"^\d+/\d+$")] | None
    findings: list[Finding]
    waivers: Annotated[Waivers | None, Field(description="by which failures were waived")] = None
    manifest: Annotated[Manifest | None, Field(description="what the backend claims to do")] = None
    ops: dict[Printable, Op]
    histograms: Annotated[
        dict[Printable, dict[Printable, Bins]],
        Field(description="compared elements by op, dtype and size of the error: k counts 2^k <= error_ulp < 2^(k+1)"),
    ]
    texts: list[Printable]
    standings: list[Standing]
    not_counted: Annotated[list[RecordedCase], Field(description="cases whose check does not count")]
    cases: list[RecordedCase]

    @model_validator(mode="after")
    def _pointers_lead_somewhere(self) -> Record:
        for place, case in ((f"{name}[{n}]", case) for name in CASES for n, case in enumerate(getattr(self, name))):
            told = chain((getattr(case, key) for key in TEXTS), vars(case.contract).values() if case.contract else ())
            if case.standing >= len(self.standings):
                raise ValueError(f"{place} has the standing {case.standing}, of {len(self.standings)}")
            for text in told:
                if isinstance(text, str) and text.startswith(POINTER) and not _leads_somewhere(text, len(self.texts)):
                    raise ValueError(f"{place} has the pointer {line(text, 60)}, which leads nowhere")
        return self

    def text(self, said: str | None) -> str | None:
        """A text of a case, looked up if it is a pointer."""
        is_pointer = said is not None and said.startswith(POINTER)
        return self.texts[int(said.rpartition("/")[2])] if is_pointer else said


def _leads_somewhere(pointer: str, texts: int) -> bool:
    table, _, place = pointer.removeprefix(POINTER).partition("/")
    return table == "texts" and place.isascii() and place.isdecimal() and len(place) < 10 and int(place) < texts


def run_schema() -> dict[str, Any]:
    """The JSON Schema of run.json."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Record.model_json_schema()}


def read(directory: Path) -> Record:
    """The record that `conform check --out directory` wrote. UsageError, with the place, where there is none."""
    return _checked(directory)[1]


def read_dict(directory: Path) -> dict[str, Any]:
    """The same as it stands in the file: it has passed the form."""
    return _checked(directory)[0]


def _checked(directory: Path) -> tuple[dict[str, Any], Record]:
    path = directory / "run.json"
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: not a regular file")
    try:
        found = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=each_key_once)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; name a directory that `conform check --out` wrote") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise UsageError(f"{path}: {_of_another_schema(found)}")
    try:
        return found, Record.model_validate(found)
    except ValidationError as error:
        problem = first_problem(error)
    raise UsageError(f"{path}: {problem}; it is not as conform wrote it: run `conform check` again")


def _of_another_schema(found: Any) -> str:
    """What wrote a file of another schema, if it says so."""
    told = found if isinstance(found, dict) else {}
    kit = told.get("kit") if isinstance(told.get("kit"), dict) else {}
    written = line(repr(told.get("schema")), 60)
    by = f" by conform {line(kit['version'], 40)}" if "version" in kit else ""
    return (
        f"written{by} in the schema {written}; conform {kit_version()} reads {SCHEMA}: run `conform check` again, or "
        "read it with the version that wrote it"
    )


def first_problem(error: ValidationError) -> str:
    """The first thing wrong, with its place: `cases[3].status: ..., found 'passed'`."""
    one = error.errors(include_url=False, include_context=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{line(part)}" for part in one["loc"]).removeprefix(".")
    found = "" if one["type"] == "missing" or not place else f", found {line(repr(one['input']), 60)}"
    return f"{place}: {one['msg']}{found}".removeprefix(": ")
