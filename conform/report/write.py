"""Writes run.json, junit.xml and report.md into a directory, each of them whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from conform.errors import UsageError
from conform.report import junit, markdown
from conform.report.record import Run, to_json


def prepare(directory: Path) -> Path:
    """Make the directory before the run, so that a long run does not end in a place it cannot write to.

    Raises UsageError if it cannot be made or written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory):
            return directory
    except OSError as error:
        raise UsageError(f"--out {directory}: cannot write there: {error.strerror}") from error


def write(run: Run, directory: Path) -> list[Path]:
    """Write the three files; the paths, run.json first."""
    texts = {
        "run.json": to_json(run.record),
        "junit.xml": junit.render(run.record),
        "report.md": markdown.render(run.record),
    }
    return [_replace(directory / name, text) for name, text in texts.items()]


def _replace(path: Path, text: str) -> Path:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, 0o644)  # mkstemp makes it private
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return path
