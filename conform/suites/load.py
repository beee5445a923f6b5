"""Loading: names and paths in, tests out; and the functions behind `conform validate`, `list` and `schema`."""

from __future__ import annotations

import hashlib
import os.path
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conform.errors import UsageError
from conform.suites import builtin
from conform.suites.document import read_document
from conform.suites.expand import expand
from conform.suites.fields import describe
from conform.suites.fit import misfit
from conform.suites.limits import Limits
from conform.suites.messages import Problems, TooManyProblems, suggest
from conform.suites.test import Suite, Test
from conform.suites.written import Document


def load(names_or_paths: Sequence[str | Path], limits: Limits | None = None) -> Suite:
    """The tests of built-in suites (by name) and YAML files (by path), in the order given. Imports nothing they name.

    Raises UsageError with every error of a file at once, for an unknown name, and for an id that two files give.
    """
    limits = limits or Limits.from_environment()
    names = [str(name) for name in names_or_paths]
    tests: list[Test] = []
    digest = hashlib.sha256()
    for path, shown, is_builtin in _files(names):
        file_tests, file_digest = _load_file(path, shown, is_builtin, limits)
        tests += file_tests
        digest.update(file_digest)
    _refuse_duplicates(tests)
    return Suite(names, tuple(tests), f"sha256:{digest.hexdigest()}")


def validate(names_or_paths: Sequence[str | Path]) -> list[str]:
    """A line for each file that is valid ("FILE: 12 tests"). Raises UsageError with the errors of every other file.

    Beyond what `load` refuses, arguments that no overload of the test's operator takes are errors.
    """
    limits = Limits.from_environment()
    lines, errors, tests = [], [], []
    for path, shown, is_builtin in _files([str(name) for name in names_or_paths]):
        try:
            found, _ = _load_file(path, shown, is_builtin, limits)
        except UsageError as error:
            errors.append(str(error))
            continue
        misfits = [f"{test.arguments_at}: {problem}" for test in found if (problem := misfit(test))]
        errors += misfits[: limits.max_errors]
        if not misfits:
            tests += found
            lines.append(f"{shown}: {len(found)} test{'' if len(found) == 1 else 's'}")
    if errors:
        raise UsageError("\n".join(errors))
    _refuse_duplicates(tests)
    return lines


def list_ids(names_or_paths: Sequence[str | Path]) -> list[str]:
    """The id of each test, after expansion, in order."""
    return [test.id for test in load(names_or_paths).tests]


def json_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a test file, for editors that complete and check."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Document.model_json_schema(by_alias=True)}


def _files(names: list[str]) -> list[tuple[Path, str, bool]]:
    """For each file: its path, its name in messages, whether it is built in. Each file once."""
    found: dict[Path, tuple[Path, str, bool]] = {}
    for name in names:
        if name in builtin.NAMES:
            for path in builtin.files(name):
                found.setdefault(path, (path, builtin.shown(path), True))
        elif os.path.isfile(name):
            found.setdefault(Path(name).resolve(), (Path(name), name, False))
        else:
            hint = f"{suggest(name, builtin.NAMES)}; expected {' or '.join(builtin.NAMES)}, or the path of a YAML file"
            raise UsageError(f"no suite {describe(name)}{hint}")
    return list(found.values())


def _load_file(path: Path, shown: str, is_builtin: bool, limits: Limits) -> tuple[list[Test], bytes]:
    problems = Problems(limits)
    tests: list[Test] = []
    try:
        merged = read_document(path, shown, limits, problems)
        if merged.is_complete:
            tests = expand(merged, limits, problems, builtin=is_builtin)
    except TooManyProblems:
        pass  # enough to report
    problems.raise_if_any()
    return tests, merged.digest.digest()


def _refuse_duplicates(tests: list[Test]) -> None:
    first: dict[str, Test] = {}
    for test in tests:
        other = first.setdefault(test.id, test)
        if other is not test:
            raise UsageError(f"{test.location}: the id {test.id!r} is already that of the test at {other.location}")
