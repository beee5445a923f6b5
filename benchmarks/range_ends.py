"""What goldens cost at the ends of float64's range: CPU microseconds an element, the best of three runs after one more.

    python benchmarks/range_ends.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from tabulate import tabulate

from conform.interp.evaluate import evaluate

NUMBERS, ROWS, KEYS = 1000, 100, 50
RANDOM = np.random.default_rng(0)


def uniform(low: float, high: float) -> Callable[[], np.ndarray]:
    return lambda: RANDOM.uniform(low, high, NUMBERS)


def rows(exponent: int) -> np.ndarray:
    return np.ldexp(RANDOM.uniform(1, 2, (ROWS, 8)), exponent) * RANDOM.choice([-1, 1], (ROWS, 8))


def heads(scale: float) -> np.ndarray:
    return RANDOM.normal(0, scale, (1, 2, KEYS, 8))


def angles() -> np.ndarray:
    return np.ldexp(RANDOM.uniform(1, 2, NUMBERS), RANDOM.integers(20, 1023, NUMBERS))


INPUTS: dict[str, tuple[str, Callable[[], list]]] = {
    "exp of -745 to -624": ("exp", lambda: [uniform(-745, -624)()]),
    "exp of 693 to 720": ("exp", lambda: [uniform(693, 720)()]),
    "softplus of -745 to -624": ("softplus", lambda: [uniform(-745, -624)()]),
    "sin of 2^20 to 2^1023": ("sin", lambda: [angles()]),
    "special_i1 of 1e-310": ("special_i1", lambda: [uniform(1e-310, 2e-310)()]),
    "atan2, quotients of 1e-310": ("atan2", lambda: [uniform(1e-200, 2e-200)(), uniform(1e110, 2e110)()]),
    "gelu of -39 to -36": ("gelu", lambda: [uniform(-39, -36)()]),
    "special_ndtri of 1e-300": ("special_ndtri", lambda: [uniform(1e-300, 2e-300)()]),
    "mul, subnormal results": ("mul.Tensor", lambda: [uniform(1e-160, 2e-160)(), uniform(1e-152, 2e-152)()]),
    "exp of complex128, real parts of -745 to -700": (
        "exp", lambda: [uniform(-745, -700)() + 1j * uniform(-9, 9)()]),
    "linalg_vector_norm, ord 2, of 1e200": ("linalg_vector_norm", lambda: [rows(664), 2, [1]]),
    "linalg_vector_norm, ord 1e5, of 1 to 2": ("linalg_vector_norm", lambda: [rows(0), 1e5, [1]]),
    "_log_softmax of 2^1000": ("_log_softmax", lambda: [rows(1000), 1, False]),
    "scaled_dot_product_attention of 50 keys, scores of 1e30": (
        "scaled_dot_product_attention", lambda: [heads(1e15), heads(1e15), heads(1.0)]),
    "upsample_bicubic2d of 1e-306": (
        "upsample_bicubic2d", lambda: [np.ldexp(RANDOM.uniform(1, 2, (12, 18, 1, 5)), -1015), [5, 1], False, None, .2]),
    "native_layer_norm of 1e200": ("native_layer_norm", lambda: [rows(664), [8], None, None, 1e-5]),
}  # fmt: skip


def cpu_us(op: str, arguments: list) -> float:
    """Of a golden, an element of its first argument."""
    times = []
    for _ in range(4):
        start = time.process_time()
        evaluate(f"aten::{op}", arguments, {})
        times.append(time.process_time() - start)
    return 1e6 * min(times[1:]) / arguments[0].size


if __name__ == "__main__":
    table = [(name, cpu_us(op, make())) for name, (op, make) in INPUTS.items()]
    print(tabulate(table, headers=["input", "us an element"], tablefmt="github", floatfmt=".2g"))
