"""Writes the shipped waivers for torch's CPU from runs of core and docs/torch-cpu.md:
`python tools/torch_cpu_waivers.py AVX2=DIR AVX512=DIR ...`.

A directory holds the run.json of `conform check core --backend cpu` on the kernels of that instruction set. What failed there is
waived there, for the cause that the page has of it; a failure of which the page has none is an error.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

import yaml

from conform.judging.verdict import FAILURES
from conform.report.schema import read
from conform.running.waivers import DATA

PAGE = Path(__file__).parents[1] / "docs" / "torch-cpu.md"
FILE = DATA / "torch-cpu.yaml"
INTEGERS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
Row = tuple[str, str, str, str]  # op without overload, dtype, status, reason


def main(*runs: str) -> int:
    sets = dict(run.split("=", 1) for run in runs)
    seen: dict[Row, set[str]] = defaultdict(set)
    for name, directory in sets.items():
        for row in failures(Path(directory)):
            seen[row].add(name)
    causes = causes_of(PAGE.read_text(encoding="utf-8"))
    if lacking := sorted({(op, dtype) for op, dtype, _, _ in seen if cause_of(op, dtype, causes) is None}):
        print(*(f"{PAGE.name} has no cause for {op} {dtype}" for op, dtype in lacking), sep="\n")
        return 1
    entries: dict[tuple, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for (op, dtype, status, reason), where in sorted(seen.items()):
        key = (tuple(sorted(where)), cause_of(op, dtype, causes), status, dtype)
        entries[key][op].add(reason)
    FILE.write_text(HEAD + yaml.safe_dump({"waivers": list(listed(entries))}, sort_keys=False, width=120), "utf-8")
    return 0
