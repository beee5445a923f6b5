"""Writes the shipped waivers for a device of torch: `python tools/torch_waivers.py cpu core DIR DIR +DIR`.

A directory holds the run.json of `conform check SUITE --backend DEVICE`; its `environment.numerics` tell the
arithmetic that entries are for (OF_DEVICE). The suite is core or writes. What failed there is waived there, for the
cause that docs/torch-DEVICE.md has of it, and with it what other draws would show: the op under its other names, in the
dtypes of the row, with NaN and infinities in each way in which the cause leads to them. A failure of which the page
has no row is an error (exit code 1), and nothing is written.

A run with + before it is one of another seed, or of other suites besides. What it shows joins the entry of its op and
cause, so that each of these is needed with seed 0; where there is none, the entry is for what fails sometimes. Where
all runs are such, they add to the waivers that are shipped.
"""

from __future__ import annotations

import glob
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from conform.call import schemas
from conform.call.aliases import aliases_of, canonical
from conform.call.foreach import for_each, foreach_ops
from conform.call.variants import plain_name
from conform.interp import semantics
from conform.judging.verdict import FAILURES
from conform.numerics.formats import FORMATS
from conform.report.schema import Record, read
from conform.running.waivers import DATA

DOCS = Path(__file__).parents[1] / "docs"
# Of a device: how it is called, and what of environment.numerics an entry holds for.
OF_DEVICE = {"cpu": ("the CPU", ("instructions",)), "cuda": ("CUDA", ("hardware", "torch"))}
HEAD = (
    "# What torch {version} on {device} is known to do otherwise than {suite} asks (seed 0), `sometimes` than other\n"
    "# seeds and suites do; the causes are those of docs/torch-{name}.md. Written by tools/torch_waivers.py.\n"
)
HALVES = ("float16", "bfloat16")  # in which numbers are off as those that are returned
OF_PROCESSORS = "without the instructions of "  # begins a cause that the set of instructions does not decide
BESIDES = ("wrote outside", "is not the tensor", "accepted invalid", "not resizable")  # what variants that write do
# What of a reason depends on sizes, draws and the machine: a waiver holds whatever stands in its place.
CHANCE = {
    r"^(AcceleratorError: ).*": r"\1*",  # by which error a kernel ends that reads memory that is not its own
    r"^(RuntimeError: ).*(can't allocate memory|Too much shared memory required).*": r"\1*\2*",
    r"^(root mean square of the errors) .*": r"\1 *",
    r"^(RuntimeError: output with shape) .* (doesn't match the broadcast shape) .*": r"\1 * \2 *",
    r"^(RuntimeError: input image) .* (smaller than kernel size) .*": r"\1 * \2 *",
    r"^(RuntimeError: cannot reshape tensor of 0 elements) .*": r"\1 *",
    r"^(output \d+: shape) \[\] (instead of) .*": r"\1 [[]] \2 *",  # of a result without dims
}
NOT_FINITE = {"NaN where a number is expected", "a number where NaN is expected", "wrong infinity"}
OF_DTYPES = {
    "integers": ("uint8", "int8", "int16", "int32", "int64"),
    "all floats": ("float16", "bfloat16", "float32", "float64"),
}
Row = tuple[str, str, str, str]  # op, of one that returns without overload, dtype, status, reason
Causes = Mapping[str, list[tuple[str, str, str]]]  # by op: dtypes, the calls and what torch returns, why


def failures(record: Record) -> Iterator[Row]:
    """Those of a run that count."""
    for case in record.cases:
        if case.status in FAILURES:
            reason = "*" if case.status == "crash" else _reason(record.text(case.reason) or "")
            op = case.op if plain_name(case.op) != case.op else case.op.partition(".")[0]
            yield op, case.dtype, case.status, reason


def _reason(told: str) -> str:
    """A glob for the reason."""
    for pattern, put in CHANCE.items():
        told, count = re.subn(pattern, put, told)
        if count:
            return told
    return glob.escape(told)


def causes_of(page: str) -> Causes:
    """The rows of the page's tables."""
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for ops, dtypes, what, why in re.findall(r"^\| (`.*?) \| (.*?) \| (.*?) \| (.*?) \|", page, re.MULTILINE):
        for op in re.findall(r"`([\w.:]+)`", ops):
            found[op if "::" in op else f"aten::{op}"].append((dtypes, f"{ops} {what}", why))
    return found


def cause_of(row: Row, causes: Causes) -> tuple[str, str] | None:
    """(dtypes, why) of the best fitting of the rows of the op, or of that of which it is another name."""
    op, dtype, status, reason = row
    own = causes.get(op, []) + causes.get(op.partition(".")[0], [])
    of_plain = plain_name(op).partition(".")[0]
    plain = causes.get(of_plain, []) + causes.get(op_of_one_tensor(of_plain), [])
    is_besides = any(word in reason for word in BESIDES)
    rows = own if is_besides and own else plain + own if dtype in HALVES else own + plain

    broken = set(re.findall("[a-z]{3,}", reason.partition("they break ")[2]))

    def fit(each: tuple[str, str, str]) -> tuple[bool, bool, int]:
        dtypes, what, _ = each
        names = named_in(dtypes)
        told = {
            "NaN": "NaN" in what, "infinity": "infinity" in what, "Error": "error" in what,
            "accepted": "accepted" in what, "sign of zero": re.search(r"[-+]0\b(?!\.)", what) is not None,
        }  # fmt: skip
        is_alike = all(holds for word, holds in told.items() if word in reason)
        dies = re.search("dies|death", what) is not None
        is_of_dtype = dtype in names or dtypes.startswith("all")
        return is_alike and (dies or status != "crash"), is_of_dtype, len(broken & {*re.findall("[a-z]{3,}", what)})

    best = max(rows, key=fit, default=None)
    return None if best is None else (best[0], re.sub(r"\s+", " ", best[2].replace("`", "")))


def named_in(dtypes: str) -> set[str]:
    """The words of a cell of dtypes, and the names that words for several stand for."""
    return {*re.findall(r"\w+", dtypes)}.union(*(some for key, some in OF_DTYPES.items() if key in dtypes))


def dtypes_of(cell: str) -> set[str]:
    """The dtypes of operands that a cell names, before it says of what else."""
    return named_in(re.split(r" (?:to|with|into|as) |;|\(", cell)[0]) & FORMATS.keys()


def names_of(op: str) -> list[str]:
    """An op under all of its names, and as one of lists."""
    known = set(semantics.names())
    pairs = [*aliases_of(known), *((each.lists.name, each.member.name) for each in foreach_ops(known))]
    own = op_of_one_tensor(op)
    found = {other.partition(".")[0] for other, name in pairs if op_of_one_tensor(name.partition(".")[0]) == own}
    return sorted({op, own, *found}) if "." not in op else [op]


def op_of_one_tensor(packet: str) -> str:
    """The op of which the packet is another name, or which it means of each tensor of lists."""
    of_lists = filter(None, (for_each(one.name) for one in schemas.every_overload(packet)))
    return canonical(next((each.member.packet for each in of_lists), packet))


def entries(
    seen: Mapping[Row, Iterable[tuple[str, ...]]], causes: Causes, keys: Sequence[str]
) -> Iterator[dict[str, object]]:
    """Of one cause, one way to fail and one arithmetic, which the keys of numerics tell: an entry for each op."""
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
            "numerics": {key: sorted(set(told)) for key, told in zip(keys, zip(*sets, strict=True), strict=True)},
            **({"sometimes": True} if cause.startswith(OF_PROCESSORS) else {}), "reason": cause,
        }  # fmt: skip


def join(
    listed: list[dict[str, Any]], row: Row, sets: Iterable[tuple[str, ...]], causes: Causes, keys: Sequence[str]
) -> bool:
    """Adds a failure of another seed, and its arithmetic, to the entry of its op and cause; False if there is none."""
    op, dtype, status, reason = row
    _, cause = cause_of(row, causes)
    told = {key: {*each} for key, each in zip(keys, zip(*sets, strict=True), strict=True)}

    def is_alike(one: dict[str, Any]) -> bool:
        """Whether it is of op and cause, and of the arithmetic or for what fails sometimes: of any."""
        ops = [one["op"]] if isinstance(one["op"], str) else one["op"]
        is_of_cause = op in ops and (one["status"], one["reason"]) == (status, cause)
        return is_of_cause and ("sometimes" in one or all(told[key] <= {*one["numerics"][key]} for key in keys))

    entry = next(filter(is_alike, listed), None)
    if entry is None:
        return False
    for key, more in (("dtype", {dtype}), ("failure", {reason})):
        if key in entry:  # otherwise it is for all
            entry[key] = sorted({*entry[key], *more})
    entry["numerics"] |= {key: sorted({*entry["numerics"][key], *told[key]}) for key in keys}
    return True


def main(device: str, suite: str, *runs: str) -> int:
    called, keys = OF_DEVICE[device]
    page = DOCS / f"torch-{device}.md"
    seen: dict[Row, set[tuple[str, ...]]] = defaultdict(set)
    others: dict[Row, set[tuple[str, ...]]] = defaultdict(set)
    version = ""
    for run in runs:
        record = read(Path(run.removeprefix("+")))
        version = record.backend.version
        told = tuple(str(record.environment.numerics[key]) for key in keys)
        for row in failures(record):
            (others if run.startswith("+") else seen)[row].add(told)
    causes = causes_of(page.read_text(encoding="utf-8"))
    if lacking := sorted({row[0] for row in {*seen, *others} if cause_of(row, causes) is None}):
        print(f"{page.name} has no row for {', '.join(lacking)}", file=sys.stderr)
        return 1
    path = DATA / f"torch-{device}{'' if suite == 'core' else f'-{suite}'}.yaml"
    listed = list(entries(seen, causes, keys)) if seen else yaml.safe_load(path.read_text(encoding="utf-8"))["waivers"]
    alone = {row: sets for row, sets in sorted(others.items()) if not join(listed, row, sets, causes, keys)}
    listed += [{**entry, "sometimes": True} for entry in entries(alone, causes, keys)]
    written = yaml.safe_dump(
        {"suites": [suite], "waivers": listed}, sort_keys=False, width=110, allow_unicode=True, default_flow_style=None
    )
    head = HEAD.format(version=version.partition("+")[0], device=called, suite=suite, name=device)
    path.write_text(head + written, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
