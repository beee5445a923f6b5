"""Writes the shipped waivers for torch's CPU: `python tools/torch_cpu_waivers.py core AVX2=DIR AVX512=DIR +AVX2=DIR`.

A directory holds the run.json of `conform check SUITE --backend cpu` on the kernels of that instruction set, as the run
tells it under `environment.numerics.instructions`; the suite is core or writes. What failed there is waived there, for
the cause that docs/torch-cpu.md has of it, and with it what other draws would show: the op under its other names, in
the dtypes of the row, with NaN and infinities in each way in which the cause leads to them. A failure of which the page
has no row is an error (exit code 1), and nothing is written.

A run with + before it is one of another seed. What it shows joins an entry of the op, so that each entry is needed with
seed 0; an op of which nothing fails there has none, and is told.
"""

from __future__ import annotations

import glob
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import yaml

from conform.call.aliases import aliases_of, canonical
from conform.call.variants import plain_name
from conform.interp import semantics
from conform.judging.verdict import FAILURES
from conform.numerics.formats import FORMATS
from conform.report.schema import read
from conform.running.waivers import DATA

PAGE = Path(__file__).parents[1] / "docs" / "torch-cpu.md"
FILES = {"core": DATA / "torch-cpu.yaml", "writes": DATA / "torch-cpu-writes.yaml"}
HEAD = (
    "# What torch 2.13 on the CPU is known to do otherwise than {suite} asks (seed 0), by instruction set; the causes\n"
    "# are those of docs/torch-cpu.md. Written by tools/torch_cpu_waivers.py.\n"
)
HALVES = ("float16", "bfloat16")  # in which numbers are off as those that are returned
OF_PROCESSORS = "without the instructions of "  # begins a cause that the set of instructions does not decide
BESIDES = ("wrote outside", "is not the tensor", "accepted invalid", "not resizable")  # what variants that write do
NOT_FINITE = {"NaN where a number is expected", "a number where NaN is expected", "wrong infinity"}
OF_DTYPES = {
    "integers": ("uint8", "int8", "int16", "int32", "int64"),
    "all floats": ("float16", "bfloat16", "float32", "float64"),
}
Row = tuple[str, str, str, str]  # op, of one that returns without overload, dtype, status, reason
Causes = Mapping[str, list[tuple[str, str, str]]]  # by op: dtypes, what torch returns, why


def failures(directory: Path) -> Iterator[Row]:
    """Those of a run that count."""
    record = read(directory)
    for case in record.cases:
        if case.status in FAILURES:
            reason = "*" if case.status == "crash" else glob.escape(record.text(case.reason) or "")
            op = case.op if plain_name(case.op) != case.op else case.op.partition(".")[0]
            yield op, case.dtype, case.status, reason


def causes_of(page: str) -> Causes:
    """The rows of the page's tables."""
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for ops, dtypes, what, why in re.findall(r"^\| (`.*?) \| (.*?) \| (.*?) \| (.*?) \|", page, re.MULTILINE):
        for op in re.findall(r"`([\w.:]+)`", ops):
            found[op if "::" in op else f"aten::{op}"].append((dtypes, what, why))
    return found


def cause_of(row: Row, causes: Causes) -> tuple[str, str] | None:
    """(dtypes, why) of the best fitting of the rows of the op, or of that of which it is another name."""
    op, dtype, status, reason = row
    own = causes.get(op, []) + causes.get(op.partition(".")[0], [])
    of_plain = plain_name(op).partition(".")[0]
    plain = causes.get(of_plain) or causes.get(canonical(of_plain), [])
    is_besides = any(word in reason for word in BESIDES)
    rows = own if is_besides and own else plain + own if dtype in HALVES else own + plain

    def fit(each: tuple[str, str, str]) -> tuple[bool, bool]:
        dtypes, what, _ = each
        names = named_in(dtypes)
        told = {"NaN": "NaN" in what, "infinity": "infinity" in what, "Error": "error" in what}
        is_alike = all(holds for word, holds in told.items() if word in reason)
        dies = re.search("dies|death", what) is not None
        return is_alike and (dies or status != "crash"), dtype in names or dtypes.startswith("all")

    best = max(rows, key=fit, default=None)
    return None if best is None else (best[0], re.sub(r"\s+", " ", best[2].replace("`", "")))


def named_in(dtypes: str) -> set[str]:
    """The words of a cell of dtypes, and the names that words for several stand for."""
    return {*re.findall(r"\w+", dtypes)}.union(*(some for key, some in OF_DTYPES.items() if key in dtypes))


def dtypes_of(cell: str) -> set[str]:
    """The dtypes of operands that a cell names, before it says of what else."""
    return named_in(re.split(r" (?:to|with|into|as) |;|\(", cell)[0]) & FORMATS.keys()


def names_of(op: str) -> list[str]:
    """An op under all of its names."""
    found = {alias.partition(".")[0] for alias, name in aliases_of(set(semantics.names()))
             if name.partition(".")[0] == canonical(op)}  # fmt: skip
    return sorted({op, canonical(op), *found}) if "." not in op else [op]


def entries(seen: Mapping[Row, Iterable[str]], causes: Causes) -> Iterator[dict[str, object]]:
    """Of one cause, one way to fail and one reach: an entry for each op."""
    grouped: dict[tuple, set[str]] = defaultdict(set)
    ways: dict[tuple, set[str]] = defaultdict(set)
    for row, sets in seen.items():
        op, dtype, status, reason = row
        cell, cause = cause_of(row, causes)
        ops, like = tuple(names_of(op)), (status, tuple(sorted(sets)), cause)
        grouped[(ops, like)] |= {dtype, *dtypes_of(cell)}
        ways[like if reason in NOT_FINITE else (ops, like)].add(reason)
    for (ops, like), dtypes in sorted(grouped.items()):
        status, sets, cause = like
        yield {
            "op": ops[0] if len(ops) == 1 else list(ops), "dtype": sorted(dtypes), "status": status,
            "failure": sorted(ways[like] | ways[(ops, like)]),
            "numerics": {"instructions": list(sets)},
            **({"sometimes": True} if cause.startswith(OF_PROCESSORS) else {}), "reason": cause,
        }  # fmt: skip


def join(listed: list[dict[str, object]], row: Row, causes: Causes) -> bool:
    """Adds a failure of another seed to an entry of its op, that of its cause if there is one; False if there is none.
    """
    op, dtype, status, reason = row
    _, cause = cause_of(row, causes)
    own = [one for one in listed if one["status"] == status and (op == one["op"] or op in [*one["op"]])]
    if not own:
        return False
    entry = next((one for one in own if cause in one["reason"]), own[0])
    entry["dtype"], entry["failure"] = sorted({*entry["dtype"], dtype}), sorted({*entry["failure"], reason})
    if cause not in entry["reason"]:
        entry["reason"] = f"{entry['reason']}; or {cause}"
    return True


def main(suite: str, *runs: str) -> int:
    seen: dict[Row, set[str]] = defaultdict(set)
    others: set[Row] = set()
    for name, directory in (run.split("=", 1) for run in runs):
        for row in failures(Path(directory)):
            if name.startswith("+"):
                others.add(row)
            else:
                seen[row].add(name)
    causes = causes_of(PAGE.read_text(encoding="utf-8"))
    if lacking := sorted({row[0] for row in {*seen, *others} if cause_of(row, causes) is None}):
        print(f"{PAGE.name} has no row for {', '.join(lacking)}", file=sys.stderr)
        return 1
    listed = {"waivers": list(entries(seen, causes))}
    alone = sorted(row for row in others if not join(listed["waivers"], row, causes))
    print(*(f"fails with other seeds alone: {' '.join(row)}" for row in alone), sep="\n", file=sys.stderr)
    written = yaml.safe_dump(listed, sort_keys=False, width=110, allow_unicode=True, default_flow_style=None)
    FILES[suite].write_text(HEAD.format(suite=suite) + written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
