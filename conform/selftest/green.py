"""When I8 last held for all of the interpreter: `i8.json`, which ships with the kit (`python tools/i8_figure.py`).

What it says is of one digest, that of the interpreter, the references and what compares them (`kit.truth_digest`). Of
another digest nothing is known, however small the change was.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("i8.json")


@cache
def shipped() -> dict[str, Any] | None:
    """{"digest", "on": the day in UTC, "pairs": of an op and a dtype, "elements": that were equal bit for bit}; None
    where no full run was written down."""
    return json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else None


def last_green(digest: str) -> dict[str, Any] | None:
    """What is known of the interpreter and the references of this digest: the day, the pairs, the elements."""
    found = shipped()
    if found is None or found["digest"] != digest:
        return None
    return {key: value for key, value in found.items() if key != "digest"}
