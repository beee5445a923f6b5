"""How much wider the derived bounds are than the errors of an existing implementation, and why: measured figures.

`benchmarks/slack.py --write` measures them and writes slack.csv; `conform explain OP` and docs/performance.md tell
them.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

FILE = Path(__file__).parent / "slack.csv"
MEASURED_ON = "torch 2.13.0, float32 on the CPU, under opencl"
NEEDS_A_REASON = 50.0  # median slack above which a bound needs one

REASONS = {
    "order": "n terms in any order, gamma_(n-1); torch adds in blocks, whose errors are few and cancel",
    "updates": "n u kappa more for Welford's updates, which two passes do not lose",
    "powers": "16 ulps for each power (OpenCL), of which a libm uses less than one",
    "exponent": "lgamma's ulps (CUDA) in the exponent a log x - x - lgamma(a), where they are relative in the result",
    "recurrence": "the roundings of all steps, each magnified by the later ones, of which most cancel",
    "scores": "sum |q k| is about sqrt(E) times a score, and e^score makes its error relative in every weight",
    "erf": "16 ulps of erf or 5 of tanh (OpenCL) in 1 + erf and 1 + tanh, which cancel for negative x",
    "erfc": "16 ulps of erfc (OpenCL), of which a libm uses less than one",
}


@dataclass(frozen=True)
class Slack:
    """How wide the bound of one output of `op` (without overload) is on one input: medians over the elements.

    median, smallest  bound / error, over the elements that have an error
    reasons           keys of REASONS, where the median is above NEEDS_A_REASON
    """

    op: str
    output: str
    input: str
    elements: int
    outside: int
    error_ulp: float
    bound_ulp: float
    root_sum_of_squares_ulp: float
    median: float
    smallest: float
    reasons: tuple[str, ...]


COLUMNS = tuple(field.name for field in fields(Slack))


@cache
def figures() -> tuple[Slack, ...]:
    """Every figure, in the order of measurement."""
    with FILE.open(encoding="utf-8", newline="") as file:
        return tuple(_slack(row) for row in csv.DictReader(file))


def _slack(row: dict[str, str]) -> Slack:
    texts = {name: row[name] for name in ("op", "output", "input")}
    counts = {name: int(row[name]) for name in ("elements", "outside")}
    rest = {name: float(row[name]) for name in COLUMNS if name.endswith("_ulp") or name in ("median", "smallest")}
    return Slack(**texts, **counts, **rest, reasons=tuple(row["reasons"].split()))


def shown(figure: float) -> str:
    """The figure to three digits."""
    return f"{figure:.3g}"


def write(measured: list[Slack]) -> None:
    """Replace the figures of FILE."""
    with FILE.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for one in measured:
            cells = [getattr(one, name) for name in COLUMNS[:-1]]
            writer.writerow(
                [*(shown(cell) if isinstance(cell, float) else cell for cell in cells), " ".join(one.reasons)]
            )
