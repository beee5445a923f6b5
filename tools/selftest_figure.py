"""Runs the full self-test and writes `conform/selftest/figure.json`: `python tools/selftest_figure.py [PROCESSES]`.

On the kernels of torch that `conform selftest` meets. Exits with 1, and writes nothing, if the self-test fails.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Iterator
from functools import cache

from tqdm import tqdm

from conform.selftest.instruction_sets import PINS, usual

os.environ.update(PINS[usual()])  # before torch is imported

from conform.backends.launcher import Template
from conform.selftest import figure
from conform.selftest.hunt import Catch, Hunt
from conform.selftest.plants.catalogue import plants, torch_ops
from conform.selftest.run import problems_of
from conform.selftest.trial import Trial
from conform.suites.cases import Selection

Ended = tuple[str, str | None, int]  # a defect, the case that caught it, and `shown`


@cache
def template() -> Template:
    """The one of this process, which ends with it."""
    return Template().__enter__()


def of_op(op: str) -> list[Ended]:
    """What becomes of every plant of an op."""
    with Hunt(Trial(selection=Selection(ops=[op])), template()) as hunt:
        ends = [(defect, hunt.catch(plant)) for defect, plant in plants(op).items()]
    return [(defect, catch.case_id, catch.shown) for defect, catch in ends]


def catches(processes: int) -> Iterator[Catch]:
    """Those of every op, in order."""
    ops = torch_ops()
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        for op, ends in zip(ops, tqdm(pool.imap(of_op, ops), total=len(ops), unit="op"), strict=True):
            every = plants(op)
            yield from (Catch(every[defect], case_id, shown) for defect, case_id, shown in ends)


def main(processes: int) -> int:
    found = list(catches(processes))
    if problems := problems_of(found, is_full=True):
        print("\n".join(problems))
        return 1
    figure.FILE.write_text(figure.text(figure.figure_of(found)), encoding="utf-8")
    print(figure.total(figure.figure_of(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else multiprocessing.cpu_count()))
