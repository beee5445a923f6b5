"""Writes `conform/call/data/aten_schemas.txt`: every `aten::` schema of the installed torch, one a line, and those of
the libraries that `conform/backends/libraries.py` names.

Lines are sorted by operator name; overloads of one name keep torch's own order, in which torch tries them.
Run it after a change of the pinned torch: `python tools/write_schemas.py`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from conform.backends.libraries import LIBRARIES

TARGET = Path(__file__).parents[1] / "conform" / "call" / "data" / "aten_schemas.txt"


def written_schemas() -> list[str]:
    """The text of each schema that torch has registered in these namespaces, sorted by name (stable within a name)."""
    for module in LIBRARIES.values():
        importlib.import_module(module)
    namespaces = {"aten", *LIBRARIES}
    schemas = [schema for schema in torch._C._jit_get_all_schemas() if schema.name.partition("::")[0] in namespaces]
    return [str(schema) for schema in sorted(schemas, key=lambda schema: schema.name)]


if __name__ == "__main__":
    lines = written_schemas()
    TARGET.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{TARGET.name}: {len(lines)} schemas of torch {torch.__version__}")
