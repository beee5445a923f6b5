"""Writes run.json, junit.xml, report.md and report.html into a directory, each of them whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from conform.errors import UsageError
from conform.report import junit, markdown
from conform.report.record import Run, is_whole
from conform.report.run_json import to_json

JOURNAL = "journal.jsonl"  # the verdicts of a run that has not ended, as they came (`running/journal.py`)
PAGE = "report.html"
FILES = ("run.json", "junit.xml", "report.md", PAGE)


def paths(directory: Path) -> list[Path]:
    """Where the files of a run in `directory` are, and of the one before it."""
    own = [directory / name for name in (*FILES, JOURNAL)]
    return [*own, *map(_aside, own)]


def check_place(directory: Path, names: Iterable[str] = (*FILES, JOURNAL)) -> Path:
    """Make the directory before the run that writes files of these names, so that a long run does not end in a place
    that it cannot write to; what is there stays. Raises UsageError if the directory cannot be made or written, or holds
    something else under the name of a file."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise UsageError(f"--out {directory}: cannot write there: {error.strerror}") from error
    for name in names:
        if (directory / name).is_dir():
            raise UsageError(f"--out {directory}: {name} there is a directory; name another place, or move it away")
    return directory


def prepare(directory: Path, names: Sequence[str] = (*FILES, JOURNAL)) -> Path:
    """As `check_place`, when the run begins: the files of a run before get a `~` behind their names. Whatever becomes
    of this one, they are not taken for its own."""
    check_place(directory, names)
    for name in names:
        _set_aside(directory / name)
    return directory


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}~")


def _set_aside(path: Path) -> None:
    try:
        if path.exists():
            path.replace(_aside(path))
    except OSError as error:
        raise UsageError(f"--out: {path} is of an earlier run and cannot be renamed: {error.strerror}") from error


def write(run: Run, directory: Path, full_record: bool = False, keeps_journal: bool = False) -> list[Path]:
    """Write the four files; the paths, run.json first. UsageError if one cannot be written.

    The record says from now on where it lies. The journal, if there is one, stays where something is left to be run, or
    to be merged, or with `keeps_journal`. full_record: of every case all that is known stands in run.json, not only of
    those that did not pass.
    """
    run.record["environment"]["invocation"]["out"] = str(directory)
    run_json = to_json(run.record, full=full_record)
    renders = (
        lambda: run_json, partial(junit.render, run.record), partial(markdown.render, run.record),
        partial(_page, run_json),
    )  # fmt: skip
    written = [put(directory / name, render()) for name, render in zip(FILES, renders, strict=True)]
    if is_whole(run.record) and not keeps_journal:
        (directory / JOURNAL).unlink(missing_ok=True)
    return written


def _page(run_json: str) -> str:
    """What `conform report` would make of it."""
    from conform.report.html import page, records

    return page.render([records.of_text(run_json)])


def put(path: Path, text: str) -> Path:
    """Write the file, whole or not at all; UsageError if it cannot be written."""
    try:
        _write_and_rename(path, text)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}") from error
    return path


def _write_and_rename(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
