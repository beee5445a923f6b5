"""The journal of a sweep, `blocks.jsonl`: a line that says what is swept, then one for each block that is done.

Each line is written at once and is on the disk before the next block is taken for done, so whatever ends a sweep costs
the blocks that were under way, and no more. A last line without its end was being written; it is cut off.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conform.errors import UsageError
from conform.sweep.space import Codes, Space
from conform.sweep.tally import Tally, from_json, to_json

FILE = "blocks.jsonl"
SCHEMA = "conform.sweep.blocks/1"
MALFORMED = (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True)
class Journaled:
    """What a journal holds: its header, the tallies of blocks, and how many bytes of it are whole lines."""

    path: Path
    header: dict[str, Any]
    tallies: dict[Codes, Tally]
    whole_bytes: int


def read(directory: Path, space: Space, option: str = "--resume") -> Journaled:
    """The journal in `directory`, of a sweep over `space`. UsageError where there is none, or one of another form."""
    path = directory / FILE
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise UsageError(f"{option} {directory}: no sweep's journal there: {path}: {error.strerror}") from None
    header: dict[str, Any] = {}
    tallies: dict[Codes, Tally] = {}
    for number, text in enumerate(lines, 1):
        try:
            found = json.loads(text)
            if number > 1:
                tallies[Codes(*found["codes"])] = from_json(space, found["tally"])
                continue
            header = _header(found)
            if (header["dtype"], len(header["operands"])) != (space.fmt.name, space.count):
                break  # whoever compares the headers says so
        except MALFORMED as error:
            problem = f"{type(error).__name__}: {error}"
            raise UsageError(f"{path}:{number}: not a line of a sweep's journal: {problem}") from None
    if not header:
        raise UsageError(f"{path}: no line of it is whole; start the sweep anew with --out")
    return Journaled(path, header, tallies, sum(map(len, lines)) + len(lines))


def _header(found: dict[str, Any]) -> dict[str, Any]:
    if found["schema"] != SCHEMA:
        raise ValueError(f"its schema is {found['schema']!r}, not {SCHEMA!r}")
    return found


class Journal:
    """A journal that is written; nobody else may write to it meanwhile. A context manager."""

    def __init__(self, directory: Path, header: Mapping[str, Any], before: Journaled | None = None) -> None:
        """Goes on with `before`, the journal that is there, or begins a new one. UsageError if it is in use."""
        self._path = directory / FILE
        try:
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise UsageError(f"{self._path} cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise UsageError(f"{self._path}: another sweep is writing there") from None
        os.ftruncate(self._descriptor, before.whole_bytes if before else 0)
        if before is None:
            self._append({"schema": SCHEMA, **header})

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def add(self, block: Codes, tally: Tally) -> None:
        """The tally of a block that is done. UsageError if it cannot be written."""
        self._append({"codes": [block.first, block.last], "tally": to_json(tally)})

    def _append(self, line: Mapping[str, Any]) -> None:
        text = memoryview(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        try:
            while text:
                text = text[os.write(self._descriptor, text) :]
            os.fsync(self._descriptor)
        except OSError as error:
            raise UsageError(f"{self._path} cannot be written: {error.strerror}") from error
