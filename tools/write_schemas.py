"""Writes `conform/call/data/aten_schemas.txt`: every `aten::` schema of the installed torch, one a line.

Lines are sorted by operator name; overloads of one name keep torch's own order, in which torch tries them.
Run it after a change of the pinned torch: `python tools/write_schemas.py`.
"""

from __future__ import annotations

from pathlib import Path

import torch

TARGET = Path(__file__).parent.parent / "conform" / "data" / "aten_schemas.txt"


def aten_schemas() -> list[str]:
    """The text of each `aten::` schema that torch has registered, sorted by name (stable within a name)."""
    schemas = [schema for schema in torch._C._jit_get_all_schemas() if schema.name.startswith("aten::")]
    return [str(schema) for schema in sorted(schemas, key=lambda schema: schema.name)]


if __name__ == "__main__":
    lines = aten_schemas()
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(lines)} schemas of torch {torch.__version__}")
