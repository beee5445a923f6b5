"""Suites from text: `loaded(text)` gives the tests, `errors(text)` the lines of the error, without the file's name."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from conform.errors import UsageError
from conform.suites import Test, load


@pytest.fixture
def loaded(tmp_path: Path) -> Callable[..., tuple[Test, ...]]:
    """The tests of a file with this text, or of `files` by name, of which the first is loaded."""

    def read(text: str = "", **files: str) -> tuple[Test, ...]:
        return load([_write(tmp_path, text, files)]).tests

    return read


@pytest.fixture
def errors(tmp_path: Path) -> Callable[..., list[str]]:
    """The error lines of a file, "LINE:COLUMN: message"; those of an included file keep its name."""

    def read(text: str = "", **files: str) -> list[str]:
        path = _write(tmp_path, text, files)
        with pytest.raises(UsageError) as error:
            load([path])
        lines = str(error.value).splitlines()
        return [line.replace(f"{path}:", "", 1).replace(f"{tmp_path}/", "") for line in lines]

    return read


def _write(directory: Path, text: str, files: dict[str, str]) -> Path:
    files = {"suite": text} if text else files
    for name, content in files.items():
        (directory / f"{name}.yaml").write_text(textwrap.dedent(content), encoding="utf-8")
    return directory / f"{next(iter(files))}.yaml"
