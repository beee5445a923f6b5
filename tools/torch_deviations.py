"""What torch is known to do otherwise than the kit asks, op by op: the rows of docs/torch-cpu.md and
docs/torch-cuda.md, and the failures of core that the shipped waivers of these names expect."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

from conform.call.aliases import canonical
from conform.running.waivers import Waiver, read
from tools.torch_waivers import DOCS, OF_DEVICE

NAMES = tuple(f"torch-{device}" for device in OF_DEVICE)  # of the pages, and of the waivers
Cells = tuple[str, ...]


@dataclass(frozen=True)
class Told:
    """A row of a page, without markup: `cells` are op, dtypes, what torch does, cause and, where the row has them,
    instruction sets; `heading` is that of its section."""

    page: str
    heading: str
    cells: Cells

    def plain(self) -> Told:
        return replace(self, cells=tuple(cell.replace("`", "") for cell in self.cells))


@dataclass(frozen=True)
class Waived:
    """Failures of core that are expected: of these dtypes, on these instruction sets, or this hardware."""

    dtypes: Cells
    kernels: Cells
    ends: Cells


def told(op: str) -> list[Told]:
    """Of an op without overload, `aten::sqrt`, or of that of which it is another name."""
    return _rows().get(op) or _rows().get(canonical(op)) or []


def waived(op: str) -> list[Waived]:
    """Of an op without overload; another name of an op has entries of its own."""
    return [_waived(one) for one in _entries().get(op, [])]


def _waived(one: Waiver) -> Waived:
    kernels = tuple(str(name) for key in ("instructions", "hardware") for name in one.numerics.get(key, []))
    statuses = " or ".join(one.status or ["a failure"])
    ends = [statuses if glob == "*" else f"{statuses}: {_unglobbed(glob)}" for glob in one.failure or ["*"]]
    return Waived(tuple(one.dtype or []), kernels, tuple(ends))


def _unglobbed(glob: str) -> str:
    """The text that a glob without a wild card is for."""
    return re.sub(r"\[(.)\]", r"\1", glob)


@cache
def _entries() -> Mapping[str, list[Waiver]]:
    by_op: dict[str, list[Waiver]] = defaultdict(list)
    for one in (one for name in NAMES for one in read(name).entries):
        for op in one.op or []:
            by_op[op].append(one)
    return by_op


@cache
def _rows() -> Mapping[str, list[Told]]:
    """By every op that a row names, of the tables that tell what torch does."""
    found: dict[str, list[Told]] = defaultdict(list)
    for page in NAMES:
        for told in _rows_of(page):
            for op in re.findall(r"`([\w:]+)[`.]", told.cells[0]):
                found[op if "::" in op else f"aten::{op}"].append(told.plain())
    return found


def _rows_of(page: str) -> Iterator[Told]:
    heading = ""
    for block in re.split(r"\n(?=## )|\n\n", (DOCS / f"{page}.md").read_text(encoding="utf-8")):
        heading = block.partition("\n")[0].removeprefix("## ") if block.startswith("## ") else heading
        lines = [line for line in block.splitlines() if line.startswith("|")]
        if lines and lines[0].startswith("| op | dtypes | what torch"):
            yield from (Told(page, heading, tuple(line.strip("| ").split(" | "))) for line in lines[2:])
