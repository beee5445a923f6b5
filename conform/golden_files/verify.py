"""Verifying a set: its files, then every case made again and compared with what the set holds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from conform import kit
from conform.contracts.tables import contract_table
from conform.documents.limits import Limits
from conform.errors import UsageError
from conform.foreign import line
from conform.golden_files import drift, manifest
from conform.golden_files.container import Reader, digest_of
from conform.golden_files.drift import Finding
from conform.golden_files.encoding import decoded, encoded
from conform.golden_files.entries import Entry, entries_of
from conform.numerics.formats import format_of
from conform.suites import Suite, load
from conform.suites.builtin import NAMES
from conform.suites.cases import Case
from conform.suites.filters import matches_id, matches_op
from conform.suites.select import select

OnCase = Callable[[str, bool, int], None]  # (case id, whether it drifted, how many cases there are)


@dataclass(frozen=True)
class Narrowed:
    """The cases that are looked at: those that a pattern of each kind matches, less those that one of `exclude` does.
    """

    ops: Sequence[str] = ()
    dtypes: Sequence[str] = ()
    ids: Sequence[str] = ()
    exclude: Sequence[str] = ()

    @property
    def is_all(self) -> bool:
        return not (self.ops or self.dtypes or self.ids or self.exclude)

    def takes(self, case_id: str, op: str, dtype: str) -> bool:
        wanted = (
            not self.ops or any(matches_op(op, glob) for glob in self.ops),
            not self.dtypes or dtype in self.dtypes,
            not self.ids or any(matches_id(case_id, glob) for glob in self.ids),
        )
        return all(wanted) and not any(matches_op(op, glob) or matches_id(case_id, glob) for glob in self.exclude)


@dataclass
class Report:
    """What verifying found: of files, and of cases; and how many cases were compared, how many of which drifted."""

    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    compared: int = 0
    drifted: int = 0
    defects: dict[str, str] = field(default_factory=dict)

    @property
    def is_same(self) -> bool:
        return not self.findings


def verify(directory: Path, suites: Sequence[str], narrowed: Narrowed, on_case: OnCase) -> Report:
    """What a set holds that the kit would not write now, and the other way round.

    `suites` are those that it was written of; those that are built in need not be named. Files of suites are read only
    if they are named, for anybody can write a manifest. UsageError for a set, or arguments, that make no sense.
    """
    held = manifest.read(directory)
    if held.contract not in _shipped():
        raise UsageError(f"{directory / manifest.NAME}: contract: unknown table {line(repr(held.contract), 60)}")
    suite = _suite(held, suites)
    groups = select(suite, held.selected())
    groups = [[case for case in group if narrowed.takes(case.id, case.op, case.dtype)] for group in groups]
    stored = {key for key, case in held.cases.items() if narrowed.takes(key, case.op, case.dtype)}
    if not stored and not any(groups):
        raise UsageError(f"{directory}: no case of it is selected")
    report = Report(notes=_notes(held, suite))
    files = _Files(directory, held)
    try:
        report.findings += files.findings
        made = _Comparison(held, files, report, on_case).of([group for group in groups if group])
        report.findings += [Finding(key, "is no case of the suites now") for key in sorted(stored - made)]
        if narrowed.is_all:
            report.findings += files.unread()
    finally:
        files.close()
    return report


def _shipped() -> Sequence[str]:
    from conform.contracts.tables import SHIPPED

    return SHIPPED


def _suite(held: manifest.Manifest, given: Sequence[str]) -> Suite:
    """The suites that the set was written of."""
    recorded = held.suite.names
    written_of = line(" ".join(recorded))
    if not given and not set(recorded) <= set(NAMES):
        raise UsageError(f"the set was written of {written_of}; name these suites behind the directory")
    selected = held.selected()
    suite = load(given or recorded, seed=selected.seed, ops=selected.ops, ids=selected.ids)
    if suite.recorded_names != recorded:
        raise UsageError(f"the set was written of {written_of}, not of {' '.join(suite.recorded_names)}")
    return suite


def _notes(held: manifest.Manifest, suite: Suite) -> list[str]:
    notes = []
    if held.kit.digest != kit.digest():
        notes.append(f"written by another kit: {line(held.kit.version)}, {line(held.kit.digest)}")
    if held.suite.digest != suite.digest:
        notes.append(f"the suites have changed: {line(held.suite.digest)} then, {suite.digest} now")
    return notes


class _Files:
    """The files of a set; what can be read of them is."""

    def __init__(self, directory: Path, held: manifest.Manifest) -> None:
        self.findings: list[Finding] = []
        self.readers: dict[str, Reader] = {}
        self.read_keys: dict[str, set[str]] = {name: set() for name in held.files}
        present = set(os.listdir(directory)) - {manifest.NAME}
        for name in sorted(present - set(held.files)):
            self._find(name, "extra file: it is none of the set")
        for name in held.files:
            if name in present:
                self._open(directory / name, held.files[name])
            else:
                self._find(name, "missing file")

    def _find(self, name: str, what: str) -> None:
        self.findings.append(Finding(line(name), what))

    def _open(self, path: Path, written: manifest.Written) -> None:
        is_whole = manifest.told_of(digest_of(path)) == written
        if not is_whole:
            self._find(path.name, "corrupted file: its size or SHA-256 is not that of the manifest")
        try:
            self.readers[path.name] = Reader(path)
        except UsageError as error:
            if is_whole:  # somebody made it so
                raise
            self._find(path.name, f"cannot be read: {error}")

    def unread(self) -> list[Finding]:
        """Tensors that belong to no case."""
        return [
            Finding(name, f"extra tensor {line(repr(key))}")
            for name, reader in self.readers.items()
            for key in sorted(reader.places.keys() - self.read_keys[name])
        ]

    def close(self) -> None:
        for reader in self.readers.values():
            reader.close()


class _Comparison:
    """Cases as they are made now beside what the set holds of them."""

    def __init__(self, held: manifest.Manifest, files: _Files, report: Report, on_case: OnCase) -> None:
        self._held, self._files, self._report, self._on_case = held, files, report, on_case

    def of(self, groups: Sequence[Sequence[Case]]) -> set[str]:
        """Notes what drifted; the ids of the cases there are now."""
        table, limits = contract_table(self._held.contract), Limits.from_environment()
        asked, made = sum(map(len, groups)), set()
        for group in groups:
            for entry in entries_of(group, table, limits):
                findings = list(self._of_entry(entry))
                self._report.findings += findings
                self._report.compared += 1
                self._report.drifted += bool(findings)
                if entry.defect:
                    self._report.defects[entry.id] = str(entry.defect)
                made.add(entry.id)
                self._on_case(entry.id, bool(findings), asked)
        return made

    def _of_entry(self, entry: Entry) -> Iterator[Finding]:
        stored = self._held.cases.get(entry.id)
        if stored is None:
            yield Finding(entry.id, "is a case of the suites that the set does not have")
            return
        told = json.loads(json.dumps(entry.told))
        held = stored.model_dump(exclude={"file"})
        for place, change in drift.of_json(held, told):
            yield Finding(entry.id, f"{place}: {change}")
        if stored.file is None:
            if entry.tensors:
                yield Finding(entry.id, "has no file")
            return
        reader = self._files.readers.get(stored.file)
        if reader is None:
            yield Finding(entry.id, f"not compared: {stored.file} cannot be read")
            return
        for tensor in entry.tensors:
            self._files.read_keys[stored.file].add(tensor.key)
            if change := _of_tensor(reader, tensor):
                yield Finding(entry.id, f"{tensor.place}: {change}")


def _of_tensor(reader: Reader, tensor: Any) -> str | None:
    """How a tensor differs from that of a file; None if it does not."""
    place = reader.places.get(tensor.key)
    if place is None:
        return "not in the file"
    now = encoded(tensor.array)
    if (place.dtype, place.shape) != (now.dtype, now.shape):
        return f"{place.dtype} {list(place.shape)} in the file, {now.dtype} {list(now.shape)} now"
    data = reader.read(tensor.key)
    if data == now.data:
        return None
    held = decoded(format_of(tensor.array), np.shape(tensor.array), data)
    return drift.of_array(tensor, held)
