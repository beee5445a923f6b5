"""How fast elementwise goldens are: over a loop of mpmath's low-level functions, and of every 16-bit input.

The loop takes mpmath's cheapest way to the same number: its function at the format's own precision, to nearest, between
Python floats, with gmpy2. CPU seconds, the best of several runs. `python benchmarks/goldens.py`
"""

from __future__ import annotations

import time
from collections.abc import Callable

import mpmath
import numpy as np
from mpmath import libmp
from tabulate import tabulate

from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate
from conform.numerics.formats import FORMATS
from conform.selftest.agreement.exhaustion import KEYWORDS

FUNCTIONS = {"exp": libmp.mpf_exp, "sin": libmp.mpf_sin, "tanh": libmp.mpf_tanh}
DTYPES = ("float16", "float32", "float64")
ELEMENTS = 1 << 16
REPEATS = 25


def seconds(function: Callable[[], object], repeats: int = REPEATS) -> float:
    times = []
    for _ in range(repeats):
        started = time.process_time()
        function()
        times.append(time.process_time() - started)
    return min(times)


def numbers(dtype: str) -> np.ndarray:
    """Every finite float16, or as many normal draws of spread 8."""
    if dtype == "float16":
        codes = np.arange(ELEMENTS, dtype=np.uint16).view(np.float16)
        return codes[np.isfinite(codes)]
    return (8 * np.random.default_rng(0).standard_normal(ELEMENTS)).astype(dtype)


def loop(name: str, dtype: str, x: list[float]) -> list[float]:
    function, precision = FUNCTIONS[name], FORMATS[dtype].mantissa_bits + 1
    return [libmp.to_float(function(libmp.from_float(v), precision, "n")) for v in x]


def row(name: str, dtype: str) -> list[object]:
    x = numbers(dtype)
    as_floats = x.astype(float).tolist()
    mine = seconds(lambda: evaluate(f"aten::{name}", [x], {}))
    theirs = seconds(lambda: loop(name, dtype, as_floats), 1)
    return [name, dtype, 1e9 * theirs / len(x), 1e9 * mine / len(x), theirs / mine]


def every_input(dtype: str) -> tuple[int, float, float]:
    """(functions, seconds of their goldens of all inputs, seconds of judging those)."""
    x, table, golden_s, judge_s = np.arange(ELEMENTS, dtype=np.uint16).view(dtype), contract_table("opencl"), 0.0, 0.0
    calls = [(op, keywords) for op, several in KEYWORDS.items() for keywords in several if op != "aten::_to_copy"]
    for op, keywords in calls:
        started = time.process_time()
        goldens = evaluate(op, [x], dict(keywords)).goldens
        made = time.process_time()
        for golden in goldens:
            judge(golden, golden.value, table.row(op, dtype))
        golden_s, judge_s = golden_s + made - started, judge_s + time.process_time() - made
    return len(calls), golden_s, judge_s


def main() -> None:
    print(f"mpmath's backend: {mpmath.libmp.BACKEND}")
    headers = ["function", "dtype", "mpmath (ns an element)", "golden (ns an element)", "ratio"]
    table = [row(name, dtype) for name in FUNCTIONS for dtype in DTYPES]
    print(tabulate(table, headers=headers, tablefmt="github", floatfmt=".3g"))
    count, golden_s, judge_s = every_input("float16")
    print(f"all 65,536 float16 inputs of {count} functions: goldens {golden_s:.1f} s, judged {judge_s:.1f} s")


if __name__ == "__main__":
    main()
