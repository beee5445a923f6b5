"""What a float32 matrix product's golden and bound cost, in float64 numpy products, and how much memory they take.

One BLAS thread for both sides. Memory is the peak that numpy allocates, over the bytes of what stays: the operands in
float64, the result, its real number and its magnitude. `python benchmarks/matmul.py`
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # read when numpy is imported

import time
import tracemalloc
from collections.abc import Callable

import numpy as np
from tabulate import tabulate

from conform.contracts.accumulation import allowance
from conform.contracts.arithmetic import IEEE
from conform.interp.evaluate import evaluate

SIZES = (64, 256, 512, 1024)
REPEATS = 25


def golden_with_bound(lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    golden = evaluate("aten::mm", [lhs, rhs], {}).goldens[0]
    return allowance(golden, golden.real, IEEE)


def seconds(function: Callable[[], object]) -> float:
    """CPU seconds, the best of several runs."""
    function()
    times = []
    for _ in range(REPEATS):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def peak_bytes(function: Callable[[], object]) -> int:
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def row(size: int) -> list[object]:
    rng = np.random.default_rng(0)
    lhs, rhs = (rng.random((size, size)).astype(np.float32) for _ in range(2))
    wide = lhs.astype(np.float64), rhs.astype(np.float64)
    plain, judged = seconds(lambda: wide[0] @ wide[1]), seconds(lambda: golden_with_bound(lhs, rhs))
    kept = (2 * 8 + 4 + 4 * 8) * size * size
    return [size, 1e3 * plain, 1e3 * judged, judged / plain, peak_bytes(lambda: golden_with_bound(lhs, rhs)) / kept]


def main() -> None:
    headers = ["n", "numpy float64 (ms)", "golden and bound (ms)", "ratio", "peak memory / (operands and results)"]
    print(tabulate([row(size) for size in SIZES], headers=headers, tablefmt="github", floatfmt=".3g"))


if __name__ == "__main__":
    main()
