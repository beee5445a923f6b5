"""What the Merkle root binds: a leaf a case, of its record and its answer, in the order of the draws and their records.

`leaves.txt` has their hashes, a line each, so that a changed case can be named.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from conform.certify.merkle import leaf_hash
from conform.certify.outputs import Line
from conform.errors import UsageError

FILE = "leaves.txt"


def hashes(draw: str, cases: Sequence[Mapping[str, Any]], lines: Iterable[Line]) -> list[bytes]:
    """The leaves of one draw; the cases are those of an `expanded` record, the lines those of the same cases."""
    return [leaf_hash(_content(draw, case, answer.told())) for case, answer in zip(cases, lines, strict=True)]


def _content(draw: str, case: Mapping[str, Any], answer: Any) -> bytes:
    """One form for one content: sorted keys, no blanks."""
    told = {"draw": draw, "case": case, "replies": answer}
    return json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()


def write(folder: Path, leaves: Iterable[bytes]) -> None:
    (folder / FILE).write_text("".join(f"{leaf.hex()}\n" for leaf in leaves), encoding="ascii")


def read(folder: Path) -> list[bytes]:
    """The hashes that somebody else wrote. UsageError for what is none."""
    path = folder / FILE
    try:
        return [bytes.fromhex(text) for text in path.read_text(encoding="ascii").split()]
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
