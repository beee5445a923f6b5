"""A run.json read back: what a file of that name says, once it is shown to be one.

Anybody can write a run.json. What is read of it goes through these forms, which hold the fields that the kit reads and
no others: texts are printable, as a record has them, and what a field may not hold is told with its place.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from conform.errors import UsageError
from conform.foreign import line
from conform.judging.verdict import CHECKS, STATUSES
from conform.report.record import SCHEMA


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("a line break, or a character that is not printable")
    return text


Printable = Annotated[str, AfterValidator(_printable)]
GivenPath = Annotated[str, Field(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]


class _Form(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True)


class Kit(_Form):
    """The kit that ran."""

    name: Printable
    version: Printable


class SuiteNames(_Form):
    """The suites that ran, and the digest of their files."""

    names: list[Printable]
    digest: Annotated[str, Field(pattern=r"^sha256:[0-9a-f]+$")]


class BackendNames(_Form):
    """What the backend called itself."""

    name: Printable
    version: Printable | None


class Invocation(_Form):
    """What the command named, as it was given: names and paths, to be opened or shown, never to be run."""

    backend: GivenPath | None  # None: given as a Python object
    contract: GivenPath
    suites: list[GivenPath]


class Environment(_Form):
    """Where it ran; of all that a record holds, how to run it again."""

    invocation: Invocation


class RecordedCase(_Form):
    """How one case ended."""

    id: Printable
    status: Literal[STATUSES]  # type: ignore[valid-type]
    reason: Printable | None


class SelectedChecks(_Form):
    """The checks that counted."""

    selected: list[Literal[CHECKS]]  # type: ignore[valid-type]


class Record(_Form):
    """A run."""

    written_as: Annotated[Literal[SCHEMA], Field(alias="schema")]  # type: ignore[valid-type]
    kit: Kit
    suite: SuiteNames
    contract: Printable
    backend: BackendNames
    environment: Environment
    seed: int
    checks: SelectedChecks
    not_counted: list[RecordedCase]
    cases: list[RecordedCase]


def read(directory: Path) -> Record:
    """The record that `conform check --out directory` wrote. UsageError, with the place, where there is none."""
    path = directory / "run.json"
    if path.exists() and not path.is_file():
        raise UsageError(f"{path}: not a regular file")
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; name a directory that `conform check --out` wrote") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise UsageError(f"{path}: expected the schema {SCHEMA}, that of a run of this version of conform")
    try:
        return Record.model_validate(found)
    except ValidationError as error:
        problem = first_problem(error)
    raise UsageError(f"{path}: {problem}; it is not as conform wrote it: run `conform check` again")


def first_problem(error: ValidationError) -> str:
    """The first thing wrong, with its place: `cases[3].status: ..., found 'passed'`."""
    one = error.errors(include_url=False, include_context=False)[0]
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in one["loc"]).removeprefix(".")
    found = "" if one["type"] == "missing" else f", found {line(repr(one['input']), 60)}"
    return f"{place}: {one['msg']}{found}"
