"""One test file with all that it includes: dims and presets merged, tests in order."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from conform.documents.limits import Limits
from conform.documents.source import Map, SourceError, parse_yaml, read_text, real_path
from conform.errors import UsageError
from conform.suites.fields import describe
from conform.suites.messages import Problems, SourceFile
from conform.suites.remains import header_without_mistakes, test_without_mistakes
from conform.suites.scope import Presets
from conform.suites.written import Document, Header, TestForm

_TEST = TypeAdapter(TestForm)


@dataclass(frozen=True, slots=True)
class WrittenTest:
    """One entry of `tests`, without its mistakes, and where it stands; the form's `op` is None if it is one."""

    file: SourceFile
    directory: Path
    index: int
    form: TestForm
    is_as_written: bool  # it had no mistakes


@dataclass(slots=True)
class Merged:
    """A file and its includes. `is_complete` is False where names may be missing, because a header is wrong;
    `is_as_written` where some may not stand for what was meant."""

    dims: dict[str, int] = field(default_factory=dict)
    presets: Presets = field(default_factory=Presets)
    tests: list[WrittenTest] = field(default_factory=list)
    files: dict[Path, str] = field(default_factory=dict)  # resolved path -> name in messages
    digest: Any = field(default_factory=hashlib.sha256)  # of the files' contents, in the order they were read
    is_complete: bool = True
    is_as_written: bool = True


def read_document(path: Path, name: str, recorded: str, limits: Limits, problems: Problems) -> Merged:
    """The file at `path` (called `name` in messages, `recorded` in run records) and what it includes, included files
    first."""
    merged = Merged()
    try:
        text = read_text(path, limits)
    except OSError as error:
        raise UsageError(f"{name}: cannot be read: {error.strerror or error}") from None
    except SourceError as error:
        problems.add_at(name, error.position, error.message)
        return merged
    _Reader(merged, limits, problems).read(path.resolve(), name, recorded, text)
    return merged


class _Reader:
    """Follows includes. `trail` is the chain of files from the outermost to the one being read."""

    def __init__(self, merged: Merged, limits: Limits, problems: Problems) -> None:
        self.merged = merged
        self.limits = limits
        self.problems = problems
        self.trail: list[Path] = []
        self.defined_at: dict[tuple[str, str], str] = {}  # ("dims", "N") -> "a.yaml:3"

    def read(self, path: Path, name: str, recorded: str, text: str) -> None:
        self.merged.files[path] = name
        self.merged.digest.update(f"{len(text)}:".encode() + text.encode())
        try:
            tree = parse_yaml(text, self.limits)
        except SourceError as error:
            self.problems.add_at(name, error.position, error.message)
            self.merged.is_complete = False
            return
        file = SourceFile(name, recorded, tree)
        if not isinstance(tree, Map):
            self.problems.add(file, (), "expected a mapping with the key 'tests'")
            self.merged.is_complete = False
            return
        self.trail.append(path)
        self._header(file, path)
        self._tests(file, path)
        self.trail.pop()

    def _header(self, file: SourceFile, path: Path) -> None:
        written = {key: value for key, value in file.tree.items() if key != "tests"}
        try:
            header = Header.model_validate(written)
        except ValidationError as error:
            self.problems.add_invalid(file, (), Document, error)
            header, is_complete = header_without_mistakes(written, error)
            self.merged.is_complete = self.merged.is_complete and is_complete
            self.merged.is_as_written = False
        names = [header.include] if isinstance(header.include, str) else header.include or []
        for at, name in enumerate(names):
            self._include(file, path, str(name), ("include",) if isinstance(header.include, str) else ("include", at))
        for key, value in header.dims.items():
            if self._define(file, "dims", key):
                self.merged.dims[key] = value
        for key, node in header.presets.items():
            if self._define(file, "presets", key):
                self.merged.presets.written[key] = (file, path.parent, node)

    def _define(self, file: SourceFile, section: str, key: str) -> bool:
        first = self.defined_at.get((section, key))
        if first:
            what = "dimension" if section == "dims" else "preset"
            self.problems.add(file, (section, key), f"the {what} {key!r} is already defined at {first}", key=True)
            return False
        self.defined_at[section, key] = f"{file.name}:{file.tree[section].keys_at[key].line}"
        return True

    def _include(self, file: SourceFile, path: Path, name: str, place: tuple[str | int, ...]) -> None:
        try:
            target = real_path(path.parent / name)
        except OSError as error:
            return self._refuse(file, place, f"{describe(name)} cannot be read: {error.strerror}")
        shown = str(Path(file.name).parent / name)
        if target in self.trail:
            chain = [self.merged.files[one] for one in self.trail[self.trail.index(target) :]] + [shown]
            return self._refuse(file, place, f"files include each other in a circle: {' -> '.join(chain)}")
        if target in self.merged.files:
            return None
        if len(self.trail) >= self.limits.max_depth:
            return self._refuse(file, place, self.limits.exceeded("max_depth", f"includes {len(self.trail)} deep"))
        if len(self.merged.files) >= self.limits.max_files:
            return self._refuse(file, place, self.limits.exceeded("max_files", "too many included files"))
        try:
            text = read_text(target, self.limits)
        except OSError as error:
            return self._refuse(file, place, f"{describe(name)} cannot be read: {error.strerror or error}")
        except SourceError as error:
            self.merged.is_complete = False
            return self.problems.add_at(shown, error.position, error.message)
        return self.read(target, shown, str(Path(file.recorded).parent / name), text)

    def _refuse(self, file: SourceFile, place: tuple[str | int, ...], message: str) -> None:
        self.merged.is_complete = False
        self.problems.add(file, place, message)

    def _tests(self, file: SourceFile, path: Path) -> None:
        if "tests" not in file.tree:
            self.problems.add(file, (), "the key 'tests' is missing (a file without tests has 'tests: []')")
            return
        tests = file.tree["tests"]
        if not isinstance(tests, list):
            self.problems.add(file, ("tests",), "expected a list of tests")
            return
        for index, written in enumerate(tests):
            is_as_written = True
            try:
                form = _TEST.validate_python(written)
            except ValidationError as error:
                self.problems.add_invalid(file, ("tests", index), TestForm, error)
                form, is_as_written = test_without_mistakes(written, error), False
            if form is not None:
                self.merged.tests.append(WrittenTest(file, path.parent, index, form, is_as_written))
