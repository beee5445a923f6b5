"""A certificate that is being made: with what it was begun, and what its folder holds until the certificate is there,
so that one that was ended goes on (`--resume`).
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from conform.errors import UsageError
from conform.report import write
from conform.report.schema import first_problem

FILE = "begun.json"
ANSWERS = "answers"  # in the folder of a run, which no jail shows: every answer
OTHER = ".other"  # of a draw: the folder of the second backend's run


class Begun(BaseModel):
    """The day, and what the draws' seeds are made of; all else that a run is begun with stands in its journal."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    date: str
    nonce: str
    nonce_is: Literal["given", "the date"]


def begin(out: Path, nonce: str | None, draws: Sequence[str]) -> Begun:
    """Makes an empty folder with folders of the draws: of an older certificate nothing may remain. UsageError where
    there is something, or where it cannot be written."""
    today = datetime.now(timezone.utc).date().isoformat()
    begun = Begun(date=today, nonce=today, nonce_is="the date")
    if nonce is not None:
        begun = Begun(date=today, nonce=nonce, nonce_is="given")
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()):
            more = f", or go on with what was begun there: --resume {out}" if (out / FILE).exists() else ""
            raise UsageError(f"--out {out}: there are files already; name an empty folder{more}")
        for draw in draws:
            (out / draw).mkdir()
    except OSError as error:
        raise UsageError(f"--out {out}: cannot write there: {error.strerror}") from None
    write.put(out / FILE, begun.model_dump_json())
    return begun


def resumed(out: Path, nonce: str | None) -> Begun:
    """With what the certificate in the folder was begun. UsageError where none was, or with another nonce."""
    path = out / FILE
    try:
        begun = Begun.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; there is one where a certificate was begun and not made") from None
    except ValidationError as error:
        raise UsageError(f"{path}: {first_problem(error)}; it is not as conform wrote it") from None
    if nonce not in (None, begun.nonce):
        raise UsageError(f"--nonce {nonce}: that certificate was begun with {begun.nonce!r} ({begun.nonce_is})")
    return begun


def folder_of(out: Path, draw: str, is_other: bool) -> Path:
    """Where the run of a draw goes, on the backend that is certified or on the other one."""
    folder = out / f"{draw}{OTHER}" if is_other else out / draw
    folder.mkdir(exist_ok=True)
    return folder


def answers_of(run: Path) -> Path:
    """Where the answers of the run in that folder are kept."""
    folder = run / ANSWERS
    folder.mkdir(exist_ok=True)
    return folder


def has_journal(run: Path) -> bool:
    """Whether the run in that folder was begun before."""
    return (run / write.JOURNAL).exists()


def take_back(out: Path) -> None:
    """Empties the folder again, where no run has begun: nothing could be gone on with."""
    if any(out.rglob(write.JOURNAL)):
        return
    for path in out.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def clear(out: Path) -> None:
    """Leaves nothing but the certificate's own files."""
    for path in [*out.glob(f"*/{ANSWERS}"), *out.glob(f"*{OTHER}")]:
        shutil.rmtree(path)
    for path in [out / FILE, *out.rglob(write.JOURNAL), *out.rglob("*~")]:
        path.unlink(missing_ok=True)
