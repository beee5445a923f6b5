"""Writing a set: the cases of suites, one after the other, into a file a family; the manifest last."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from conform import kit
from conform.contracts.tables import contract_table
from conform.documents.limits import Limits
from conform.errors import UsageError
from conform.golden_files import manifest
from conform.golden_files.container import Writer, digest_of
from conform.golden_files.encoding import encoded
from conform.golden_files.entries import Entry, entries_of
from conform.report.record import kit_version
from conform.suites import Suite, load
from conform.suites.cases import Selection
from conform.suites.select import select

CONTRACT = "opencl"
PART_BYTES = 1 << 28  # of tensors, after which the next draw's begin a new file
PART_TENSORS = 200_000  # likewise; their header stays far below what readers take

OnCase = Callable[[str, bool, int], None]  # (case id, whether something is wrong with it, how many cases there are)


@dataclass
class Summary:
    """What was written: cases by status, files in order, the defects of the kit by case."""

    statuses: Counter[str] = field(default_factory=Counter)
    files: list[Path] = field(default_factory=list)
    defects: dict[str, str] = field(default_factory=dict)


def write(directory: Path, suites: Sequence[str], selection: Selection, on_case: OnCase, on_end: Callable) -> Summary:
    """Write the inputs, goldens and bounds of the selected cases of suites into a directory that is new or empty.

    `on_end` is called before the manifest is written, which makes a set of the files. What ends the writing early
    leaves nothing of it. Raises UsageError for bad input, and where the directory cannot be written.
    """
    suite = load(suites, seed=selection.seed, ops=selection.ops, ids=selection.ids)
    groups = select(suite, selection)
    try:
        _prepare(directory)
        files = _Files(directory)
        try:
            return _written(files, suite, selection, groups, on_case, on_end)
        except BaseException:
            files.remove()
            raise
    except OSError as error:
        raise UsageError(f"{error.filename or directory}: cannot be written: {error.strerror or error}") from error


def _prepare(directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    if found := sorted(os.listdir(directory)):
        raise UsageError(f"{directory}: holds {found[0]!r} already; golden files go into a new or empty directory")


def _written(
    files: _Files, suite: Suite, selection: Selection, groups: Sequence[Sequence], on_case: OnCase, on_end: Callable
) -> Summary:
    table, limits, summary = contract_table(CONTRACT), Limits.from_environment(), Summary()
    asked = sum(map(len, groups))
    for group in groups:
        files.begin_draw()
        for entry in entries_of(group, table, limits):
            files.add(entry)
            summary.statuses[entry.told["status"]] += 1
            if entry.defect:
                summary.defects[entry.id] = str(entry.defect)
            on_case(entry.id, entry.defect is not None, asked)
    files.close()
    on_end()
    head = manifest.Head(
        kit=manifest.Kit(version=kit_version(), digest=kit.digest()),
        suite=manifest.Suites(names=suite.recorded_names, digest=suite.digest),
        contract=CONTRACT, seed=selection.seed, selection=manifest.filters_of(selection),
        files={path.name: manifest.told_of(digest_of(path)) for path in files.paths},
    )  # fmt: skip
    files.cases.finish(files.directory, head)
    summary.files = [files.directory / manifest.NAME, *files.paths]
    return summary


class _Files:
    """The files of a set in the making. Those of all families are written side by side, as the cases come."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.paths: list[Path] = []  # that are whole
        self.cases = manifest.Lines(directory)
        self._open: dict[str, Writer] = {}
        self._parts: Counter[str] = Counter()

    def begin_draw(self) -> None:
        """The cases of the next draw come; those of one draw share tensors, and so a file."""
        for family, writer in list(self._open.items()):
            if writer.data_bytes >= PART_BYTES or len(writer.keys) >= PART_TENSORS:
                self._close(family)

    def add(self, entry: Entry) -> None:
        if entry.family is None or "arguments" not in entry.told:
            self.cases.add(entry.id, entry.told)
            return
        writer = self._open.get(entry.family) or self._begin(entry.family)
        for tensor in entry.tensors:
            writer.add(tensor.key, encoded(tensor.array))
        self.cases.add(entry.id, {"file": writer.path.name, **entry.told})

    def close(self) -> None:
        for family in sorted(self._open):
            self._close(family)

    def remove(self) -> None:
        """Takes back everything."""
        for writer in self._open.values():
            writer.discard()
            self.paths.append(writer.path)
        self.cases.discard()
        for path in (*self.paths, self.directory / manifest.NAME):
            with suppress(OSError):
                path.unlink()

    def _begin(self, family: str) -> Writer:
        self._parts[family] += 1
        part = self._parts[family]
        path = self.directory / (f"{family}.safetensors" if part == 1 else f"{family}-{part}.safetensors")
        writer = self._open[family] = Writer(path)
        return writer

    def _close(self, family: str) -> None:
        writer = self._open[family]
        writer.close({"format": manifest.SCHEMA})
        self.paths.append(writer.path)
        del self._open[family]
