"""Suites from text: `loaded(text)` gives the tests, `errors(text)` the lines of the error, without the file's name.

`node`, `value` and `problem` are those of a test with one input.
"""

from __future__ import annotations

import functools
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from conform.errors import UsageError
from conform.numerics.draws import Stream
from conform.suites import Test, load, sample, variants


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


@pytest.fixture
def node(loaded: Callable) -> Callable:
    """The node of the only input of a test."""
    return lambda text, head="dims: {N: 3}": loaded(f"{head}\ntests:\n- {{op: aten::relu, in: [{text}]}}")[0].inputs[0]


@pytest.fixture
def value(loaded: Callable) -> Callable:
    """The drawn value of the only input of a test; `number` is the sample."""

    def draw(text: str, number: int = 0) -> object:
        (test,) = loaded(f"dims: {{N: 3}}\ntests:\n- {{op: aten::relu, in: [{text}]}}")
        return sample(test, variants(test, None)[0], functools.partial(Stream, 0), number).args[0]

    return draw


@pytest.fixture
def problem(errors: Callable) -> Callable[..., list[str]]:
    """The messages for a test with this input, without place and test: "in[0].shape: ..."."""

    def find(text: str, head: str = "dims: {N: 3}") -> list[str]:
        lines = errors(f"{head}\ntests:\n- {{id: t, op: aten::relu, in: [{text}]}}")
        return [line.partition(" test 't' (aten::relu), ")[2] for line in lines]

    return find


def _write(directory: Path, text: str, files: dict[str, str]) -> Path:
    files = {"suite": text} if text else files
    for name, content in files.items():
        (directory / f"{name}.yaml").write_text(textwrap.dedent(content), encoding="utf-8")
    return directory / f"{next(iter(files))}.yaml"
