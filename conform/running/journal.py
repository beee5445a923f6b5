"""The journal of a run: its head, then every verdict as it comes, a line each, so that nothing judged is ever lost.

Each line is one write to the operating system: what a killed process leaves is whole but for its last line. Anybody can
write a journal, so what is read of one is checked.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from conform.errors import UsageError
from conform.judging.verdict import Verdict
from conform.report.schema import first_problem
from conform.report.write import JOURNAL as NAME
from conform.running.head import End, Head

_COMPLEX = "__complex__"
_VERDICT: TypeAdapter[Verdict] = TypeAdapter(Verdict)


class Journal:
    """A journal that is being written."""

    def __init__(self, path: Path, length: int) -> None:
        """One of which `length` bytes are there. UsageError where it cannot be written."""
        self._path = path
        try:
            self._file = path.open("r+b" if length else "wb", buffering=0)
            self._file.truncate(length)
            self._file.seek(length)
        except OSError as error:
            raise self._unwritable(error) from None

    @classmethod
    def begun(cls, directory: Path, head: Head) -> Journal:
        """A new one, in the directory of a run."""
        journal = cls(directory / NAME, 0)
        journal._write(json.dumps(head.model_dump(by_alias=True)))  # pydantic's own takes no path that is not UTF-8
        return journal

    def append(self, number: int, verdict: Verdict) -> None:
        """Notes the verdict on case `number` of the suite."""
        self._write(_ENCODER.encode({"number": number, "verdict": verdict}))

    def end(self, end: End) -> None:
        """Notes how it ended, and closes it."""
        self._write(end.model_dump_json())
        self.close()

    def close(self) -> None:
        """Nothing more is written."""
        self._file.close()

    def _write(self, line: str) -> None:
        try:
            self._file.write(line.encode() + b"\n")
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> UsageError:
        return UsageError(f"{self._path}: cannot be written: {error.strerror}")


@dataclass
class Part:
    """What a journal holds: the verdicts by case id, with the numbers of their cases in the suite."""

    path: Path
    head: Head
    verdicts: dict[str, tuple[int, Verdict]] = field(default_factory=dict)
    ends: list[End] = field(default_factory=list)
    has_ended: bool = False  # nothing came after the last end
    length: int = 0  # of the whole lines, in bytes

    def continued(self, head: Head) -> Journal:
        """The journal, to be written on behind its last whole line. UsageError where it is that of another run."""
        if (difference := self.head.differs_from(head)) or self.head.shard != head.shard:
            difference = difference or f"shard {self.head.shard}, and {head.shard} now"
            raise UsageError(f"{self.path}: that run had {difference}; resume it as it was begun, or begin another")
        return Journal(self.path, self.length)


def read(directory: Path) -> Part:
    """What the journal of a run in `directory` holds. UsageError, with the line, where it is none."""
    path = directory / NAME
    try:
        with path.open("rb") as file:
            first = file.readline()
            part = Part(path, _checked(_head, first, f"{path}:1"), length=len(first))
            for number, line in enumerate(file, 2):
                if not line.endswith(b"\n"):
                    break
                _checked(partial(_note, part), line, f"{path}:{number}")
                part.length += len(line)
            return part
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; there is one where a run ended early, or was a shard") from None


def told_of(verdict: Verdict) -> str:
    """A verdict as JSON."""
    return _ENCODER.encode(verdict)


def verdict_of(text: str) -> Verdict:
    """The verdict that is told so. ValueError for what tells none."""
    try:
        return _VERDICT.validate_python(json.loads(text, object_hook=_typed))
    except ValidationError as error:
        raise ValueError(first_problem(error)) from None


def _head(line: bytes) -> Head:
    return Head.model_validate(json.loads(line))


def _note(part: Part, line: bytes) -> None:
    found = json.loads(line, object_hook=_typed)
    if isinstance(found, dict) and "verdict" not in found:
        part.ends.append(End.model_validate_json(line))
        part.has_ended = True
        return
    if not isinstance(found, dict) or type(found.get("number")) is not int:
        raise ValueError("no number of a case")
    verdict = _VERDICT.validate_python(found["verdict"])
    part.verdicts[verdict.id] = found["number"], verdict
    part.has_ended = False


def _checked(read_as: Any, line: bytes, place: str) -> Any:
    try:
        return read_as(line)
    except ValidationError as error:
        problem = first_problem(error)
    except (ValueError, RecursionError) as error:
        problem = str(error)
    raise UsageError(f"{place}: {problem}; it is not as conform wrote it")


def _plain(value: object) -> object:
    """What JSON has for it."""
    if names := _field_names(type(value)):
        return {name: getattr(value, name) for name in names}
    if isinstance(value, complex):
        return {_COMPLEX: [value.real, value.imag]}
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} in a verdict")


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    """Those of a dataclass; none of any other type."""
    return tuple(field.name for field in dataclasses.fields(kind)) if dataclasses.is_dataclass(kind) else ()


_ENCODER = json.JSONEncoder(default=_plain)


def _typed(found: dict[str, Any]) -> object:
    return complex(*found[_COMPLEX]) if found.keys() == {_COMPLEX} else found
