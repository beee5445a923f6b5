"""The largest errors of a backend on every input of a 16-bit format, for every function of one operand.

    python benchmarks/sweeps.py --dtype bfloat16
    ATEN_CPU_CAPABILITY=avx2 python benchmarks/sweeps.py --dtype float16 --backend cpu

`conform sweep OP` does the same for one op and keeps a record; here one process does all, since most of the time of so
small a sweep is that of the start.
"""

from __future__ import annotations

import argparse
import math
import time

from conform.backends.launcher import Template
from conform.report.numbers import percent
from conform.selftest.agreement.exhaustion import exhausted_ops
from conform.sweep.record import Writer
from conform.sweep.space import Codes
from conform.sweep.subject import Subject, subject_of
from conform.sweep.tally import Tally
from conform.sweep.worker import Plan, worker

HEAD = ("op", "largest error (ulp)", "at", "correctly rounded", "wrong classes", "tables failed")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--dtype", default="bfloat16")
    asked = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n{'|---' * len(HEAD)}|")
    started = time.process_time()
    with Template() as template:
        for op, keywords in ((op, each) for op, calls in exhausted_ops().items() for each in calls):
            subject = subject_of(op, asked.dtype, keywords)
            if _rounds(subject):
                with worker(Plan(subject, asked.backend, "opencl", 60.0), template) as one:
                    print(_row(subject, one.tally(subject.space.codes)), flush=True)
    print(f"\n{time.process_time() - started:.0f} s of CPU in the kit's own process")


def _rounds(subject: Subject) -> bool:
    """Whether it is a function whose results are rounded, and no conversion."""
    golden = subject.outcome(subject.call(Codes(1, 1))).goldens[0]
    return golden.real is not None and "dtype" not in subject.keywords


def _row(subject: Subject, tally: Tally) -> str:
    op = " ".join([subject.op, *(f"{name}={value}" for name, value in subject.keywords.items())])
    if tally.lost:
        return f"| {op} | {tally.lost[0].status}: {tally.lost[0].reason} | | | | |"
    worst = Writer(subject).example(tally.worst)
    at = worst["inputs"]["self"]["hex"] if worst else ""
    failed = ", ".join(name for name, each in tally.tables.items() if each.failed.count) or "-"
    wrong = ", ".join(f"{name} ({each.count})" for name, each in tally.wrong_classes.items()) or "-"
    error = tally.worst.error_ulp if tally.worst else math.nan
    told = f"{error:.4f}" if error < 1e6 else f"{error:.2e}"
    return f"| {op} | {told} | {at} | {percent(tally.right, tally.inputs)} | {wrong} | {failed} |"


if __name__ == "__main__":
    main()
