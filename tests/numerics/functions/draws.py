"""Operands for the functions: every scale, both signs, near 1, and within each function's domain."""

from __future__ import annotations

import numpy as np

from conform.numerics.formats import Format
from conform.numerics.functions.table import FUNCTIONS
from conform.numerics.rounding import round_to
from tests.numerics.functions.arb_formulas import FORMULAS

from flint import arb  # isort: skip

BINARY = tuple(name for name, one in FUNCTIONS.items() if len(one.sentinels[0]) == 2)
SCALE = {"float16": 14, "bfloat16": 120, "float32": 120, "float64": 960}


def operands(name: str, fmt: Format, count: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """About `count` operands of the function, as float64 arrays of elements of `fmt`, without its exact cases."""
    rng = np.random.default_rng([seed, *name.encode()])
    if name not in BINARY:
        x = _elements(fmt, _unary(name, SCALE[fmt.name], count, rng))
        return (x[x != np.rint(x)] if name == "sinc" else x,)
    x, y = (_elements(fmt, _spread(SCALE[fmt.name], count, rng)) for _ in range(2))
    x, y = x[: min(x.size, y.size)], y[: min(x.size, y.size)]
    if name == "pow":
        x = np.abs(x)
        kept = (np.abs(y * np.log(x)) < 2000) & (np.abs(y * np.log(x)) > 1e-4) & (y != np.rint(2 * y) / 2)
        return x[kept], y[kept]
    if name in ("logaddexp", "logaddexp2"):
        kept = (np.abs(x) < 1000) & (np.abs(y) < 1000)
        return x[kept], y[kept]
    return (x, np.abs(y) + (y == 1)) if name in ("xlogy", "xlog1py") else (x, y)


def is_defined(name: str, x: float) -> bool:
    """Whether a function of one operand is a number there, by Arb."""
    return FORMULAS[name](arb(x)).is_finite()


def _signed(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return x * rng.choice([-1.0, 1.0], x.shape)


def _spread(scale: int, count: int, rng: np.random.Generator) -> np.ndarray:
    n = count // 4
    wide = _signed(2.0 ** rng.uniform(-scale, scale, n), rng)
    middle = _signed(2.0 ** rng.uniform(-10, 8, n), rng)
    near_one = 1 + _signed(2.0 ** rng.uniform(-20, -1, n), rng)
    return rng.permutation(np.concatenate([wide, middle, rng.uniform(-3, 3, n), near_one]))


def _unary(name: str, scale: int, count: int, rng: np.random.Generator) -> np.ndarray:
    n = count // 3
    if not is_defined(name, 1.5):
        ends = 1 - 2.0 ** rng.uniform(-30, -1, n)
        x = np.concatenate([rng.uniform(0, 1, n), 2.0 ** rng.uniform(-scale, -1, n), ends])
        return _signed(x, rng) if is_defined(name, -0.5) else x
    x = _spread(scale, count, rng)
    if name in ("acosh", "log1p"):
        return np.abs(x) + (name == "acosh")
    if name in ("lgamma", "digamma"):
        return np.where(x < -1000, -x, x)
    return x if is_defined(name, -0.5) else np.abs(x)


def _elements(fmt: Format, x: np.ndarray) -> np.ndarray:
    """Rounded to `fmt`, without what is exact for some function: integers, powers of two and halves."""
    x = round_to(fmt, x).astype(np.float64)
    return x[
        np.isfinite(x) & (x != 0) & (np.rint(2 * x) != 2 * x) & (np.abs(np.frexp(x)[0]) != 0.5) | (np.abs(x) > 2.0**53)
    ]
