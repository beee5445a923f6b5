"""What a float32 matrix product's golden and bound cost, in float64 numpy products, and how much memory they take; and
what a float64 sum costs that double-double numbers leave undecided.

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


def seconds(function: Callable[[], object], repeats: int = REPEATS) -> float:
    """CPU seconds, the best of several runs."""
    function()
    times = []
    for _ in range(repeats):
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


def undecided(name: str, lhs: np.ndarray, rhs: np.ndarray) -> list[object]:
    """What an element of a float64 product costs, in microseconds."""
    cost = seconds(lambda: evaluate("aten::mm", [lhs, rhs], {}), 3)
    return [name, lhs.shape[1], 1e6 * cost / (lhs.shape[0] * rhs.shape[1])]


def sums() -> list[list[object]]:
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((256, 256))
    lhs, rhs = np.array(normal), rng.standard_normal((256, 256))
    lhs[:, :3], rhs[:3] = [1 + 2.0**-30, 2.0**-53, 2.0**-200], 1.0
    lhs[:, 129:255], rhs[129:255], lhs[:, 255] = lhs[:, 3:129], -rhs[3:129], 0.0  # cancel
    scattered = [np.ldexp(normal, rng.integers(-1000, top, normal.shape)) for top in (1000, 20)]
    return [
        undecided("normal numbers", normal, normal),
        undecided("beside midpoints", lhs, rhs),
        undecided("exponents from -1000 to 1000", *scattered),
        undecided("the same, of two terms", scattered[0][:, :2], scattered[1][:2]),
    ]


def main() -> None:
    headers = ["n", "numpy float64 (ms)", "golden and bound (ms)", "ratio", "peak memory / (operands and results)"]
    print(tabulate([row(size) for size in SIZES], headers=headers, tablefmt="github", floatfmt=".3g"))
    headers = ["256 * 256 sums of float64", "terms", "CPU time (us each)"]
    print(tabulate(sums(), headers=headers, tablefmt="github", floatfmt=".3g"))


if __name__ == "__main__":
    main()
