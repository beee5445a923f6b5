"""manifest.json: what a set was made of, its files, and every case. Anybody can write one, so what is read is checked.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from conform.errors import UsageError
from conform.foreign import each_key_once, line
from conform.golden_files.container import Digest, open_regular
from conform.report.schema import first_problem
from conform.suites.cases import Selection

NAME = "manifest.json"
SCHEMA = "conform.golden/1"
MAX_BYTES = 1 << 28
_FILE = r"^[a-z_]{1,40}(-[1-9][0-9]{0,5})?\.safetensors$"
_SHA256 = r"^[0-9a-f]{64}$"


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Kit(_Closed):
    """The kit that wrote a set."""

    version: str
    digest: str


class Suites(_Closed):
    """The suites of a set, as a run record has them: files without their directories."""

    names: Annotated[list[str], Field(min_length=1)]
    digest: str


class Filters(_Closed):
    """What of the suites was selected (`Selection`), but for the seed."""

    ops: list[str]
    dtypes: list[str]
    ids: list[str]
    exclude: list[str]
    samples: Annotated[int, Field(ge=1)]
    values: str | None
    layouts: str | None


class Written(_Closed):
    """A file of the set."""

    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=_SHA256)]


class Head(_Closed):
    """All but the cases."""

    form: Annotated[Literal["conform.golden/1"], Field(alias="schema")] = SCHEMA
    kit: Kit
    suite: Suites
    contract: str
    seed: int
    selection: Filters
    files: dict[Annotated[str, Field(pattern=_FILE)], Written]

    def selected(self) -> Selection:
        """The selection, by which the cases are made again."""
        return Selection(seed=self.seed, **self.selection.model_dump())


class Case(BaseModel):
    """What verifying needs to know of a case before it is made again; the rest is compared with that."""

    model_config = ConfigDict(extra="allow", strict=True)
    op: str
    dtype: str
    file: str | None = None


class Manifest(Head):
    """A manifest as it was read."""

    cases: dict[str, Case]


def filters_of(selection: Selection) -> Filters:
    """How a manifest tells a selection."""
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(selection).items()}
    return Filters(**{name: told[name] for name in Filters.model_fields})


class Lines:
    """The cases of a manifest in the making, a line each, in a nameless file: memory does not grow with them."""

    def __init__(self, directory: Path) -> None:
        self._file = tempfile.TemporaryFile("w+", dir=directory, encoding="utf-8", newline="\n")  # noqa: SIM115
        self._characters = 0

    def add(self, case_id: str, told: Mapping[str, Any]) -> None:
        """UsageError where the manifest would be larger than one that is read."""
        text = f"{',' if self._characters else ''}\n{json.dumps(case_id)}: {json.dumps(told, allow_nan=False)}"
        self._characters += self._file.write(text)
        if self._characters > MAX_BYTES - (1 << 20):
            raise UsageError(f"more cases than {NAME} can hold in {MAX_BYTES} bytes; write several sets (--op, --id)")

    def discard(self) -> None:
        self._file.close()

    def finish(self, directory: Path, head: Head) -> None:
        """Writes the manifest, whole or not at all."""
        opening = json.dumps(head.model_dump(by_alias=True), indent=1).removesuffix("\n}")
        handle, temporary = tempfile.mkstemp(dir=directory, prefix=f".{NAME}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(f'{opening},\n "cases": {{')
                self._file.seek(0)
                file.writelines(self._file)
                file.write("\n }\n}\n")
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)  # mkstemp makes it private
            os.replace(temporary, directory / NAME)
        except BaseException:
            os.unlink(temporary)
            raise
        self.discard()


def read(directory: Path) -> Manifest:
    """The manifest of a set. UsageError, with what is wrong, where there is none that conform may have written."""
    path = directory / NAME
    if directory.is_dir() and not os.path.lexists(path):
        raise UsageError(f"{directory}: no {NAME}, so no golden files, or not all: it is written last")
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size  # to read so much allocates it at once
        if size > MAX_BYTES:
            raise UsageError(f"{path}: more than {MAX_BYTES} bytes")
        text = file.read(size)
    try:
        found = Manifest.model_validate(json.loads(text, object_pairs_hook=each_key_once))
        _check(found)
        return found
    except ValidationError as error:
        problem = first_problem(error)
    except (ValueError, RecursionError) as error:
        problem = str(error)
    raise UsageError(f"{path}: {line(problem)}; it is not as conform wrote it")


def _check(found: Manifest) -> None:
    """ValueError where parts contradict each other."""
    for case_id, case in found.cases.items():
        if case.file is not None and case.file not in found.files:
            raise ValueError(f"case {case_id!r}: no file {case.file!r} among the files")
    if found.selection.samples > max(len(found.cases), 1):  # each has a case: a larger number only costs time
        raise ValueError(f"{found.selection.samples} samples, and {len(found.cases)} cases")


def told_of(digest: Digest) -> Written:
    """How a manifest tells what identifies a file."""
    return Written(bytes=digest.bytes, sha256=digest.sha256)
