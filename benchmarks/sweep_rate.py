"""How fast a sweep of float32 is: CPU time an input, of the kit's process and of the backend's, function by function.

    python benchmarks/sweep_rate.py [--backend cpu] [OP ...]

A sample of 32 calls of 2^18 inputs, one at some place of each 2^27 of all 2^32; a sweep with two workers on two cores,
which do nothing else, takes half of the sum an input. Linux: the backend's CPU time is read from /proc.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from conform.backends.launcher import Template
from conform.selftest.agreement.exhaustion import exhausted_ops
from conform.sweep.space import CALL, Codes
from conform.sweep.subject import Subject, subject_of
from conform.sweep.worker import Plan, Worker, worker

CALLS = 32
GOLDEN_RATIO = (1 + 5**0.5) / 2  # its multiples lie evenly between integers
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("ops", nargs="*")
    parser.add_argument("--backend", default="cpu")
    asked = parser.parse_args()
    print("| op | kit (ns) | backend (ns) | on two cores (M inputs/s) | all 2^32 (min) |\n|---|---|---|---|---|")
    with Template() as template:
        for op, keywords in ((op, each) for op, calls in exhausted_ops().items() for each in calls):
            if "dtype" in keywords or (asked.ops and op.removeprefix("aten::") not in asked.ops):
                continue
            subject = subject_of(op, "float32", keywords)
            with worker(Plan(subject, asked.backend, "opencl", 60.0), template) as one:
                print(_row(subject, one), flush=True)


def _row(subject: Subject, one: Worker) -> str:
    name = " ".join([subject.op, *(f"{key}={value}" for key, value in subject.keywords.items())])
    one.tally(Codes(0, CALL - 1))  # what is loaded and checked once
    kit, backend = time.process_time(), _backend_seconds(one)
    for number in range(CALLS):
        start = int((number + (number + 1) * GOLDEN_RATIO % 1) * ((1 << 32) // CALLS)) // CALL * CALL
        one.tally(Codes(start, start + CALL - 1))
    kit, backend = time.process_time() - kit, _backend_seconds(one) - backend
    kit_ns, backend_ns = (seconds / (CALLS * CALL) * 1e9 for seconds in (kit, backend))
    rate = 2e3 / (kit_ns + backend_ns)
    return f"| {name} | {kit_ns:.0f} | {backend_ns:.0f} | {rate:.1f} | {2**32 / rate / 6e7:.1f} |"


def _backend_seconds(one: Worker) -> float:
    fields = Path(f"/proc/{one.process._pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


if __name__ == "__main__":
    main()
