"""Engines that flush every step: documented formulas, each operation of which is rounded to float32 and flushed, pass
where that is declared, on numbers whose steps fall below the normal ones."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.judging.test_declared import FLUSHING, verdict

SMALLEST = np.float32(2.0**-126)  # the smallest normal number


class Flushed:
    """A float32 array of which every operation takes subnormal numbers for zeros, and gives none."""

    def __init__(self, array: Any) -> None:
        array = np.asarray(array, np.float32)
        self.array = np.where(np.abs(array) < SMALLEST, np.copysign(np.float32(0), array), array)

    def _with(self, other: Any, operation: Callable[..., np.ndarray]) -> Flushed:
        return Flushed(operation(self.array, Flushed(getattr(other, "array", other)).array))

    def __add__(self, other: Any) -> Flushed:
        return self._with(other, np.add)

    def __sub__(self, other: Any) -> Flushed:
        return self._with(other, np.subtract)

    def __mul__(self, other: Any) -> Flushed:
        return self._with(other, np.multiply)

    def __truediv__(self, other: Any) -> Flushed:
        return self._with(other, np.divide)

    def max(self, other: Any) -> Flushed:
        return self._with(other, np.maximum)

    def min(self, other: Any) -> Flushed:
        return self._with(other, np.minimum)

    def of(self, function: Callable[..., np.ndarray]) -> Flushed:
        """A function of it, correctly rounded but for double rounding."""
        return Flushed(function(self.array.astype(np.float64)))


def where(condition: np.ndarray, x: Flushed, y: Any) -> Flushed:
    return Flushed(np.where(condition, x.array, getattr(y, "array", y)))


def sigmoid(x: Flushed) -> Flushed:
    return Flushed(1.0) / ((x * -1).of(np.exp) + 1)


def entropy(x: Flushed, y: Flushed) -> Flushed:
    return x.max(0) - x * y + (x.of(np.abs) * -1).of(np.exp).of(np.log1p)


FORMULAS: list[tuple[str, dict[str, Any], Callable[..., Flushed]]] = [
    ("add", {"alpha": 0.3}, lambda x, y: x + y * 0.3),
    ("rsub", {"alpha": 0.3}, lambda x, y: y - x * 0.3),
    ("addcmul", {"value": 0.3}, lambda x, y, z: x + y * 0.3 * z),
    ("addcmul", {"value": 0.7}, lambda x, y, z: x + y * z * 0.7),
    ("addcdiv", {"value": 0.3}, lambda x, y, z: x + y / z * 0.3),
    ("lerp", {}, lambda x, y, z: x + z * (y - x)),
    ("square", {}, lambda x: x * x),
    ("abs", {}, lambda x: x.of(np.abs)),
    ("neg", {}, lambda x: x * -1),
    ("frac", {}, lambda x: x - x.of(np.trunc)),
    ("div", {"rounding_mode": "floor"}, lambda x, y: (x / y).of(np.floor)),
    ("sigmoid", {}, sigmoid),
    ("silu", {}, lambda x: x * sigmoid(x)),
    ("gelu", {}, lambda x: x * 0.5 * ((x * 0.5**0.5).of(np.vectorize(math.erf)) + 1)),
    ("gelu", {"approximate": "tanh"}, lambda x: x * 0.5 * (((x * x * x * 0.044715 + x) * 0.7978846).of(np.tanh) + 1)),
    ("mish", {}, lambda x: x * x.of(np.exp).of(np.log1p).of(np.tanh)),
    ("elu", {}, lambda x: where(x.array > 0, x, x.of(np.expm1))),
    ("hardswish", {}, lambda x: x * (x + 3).max(0).min(6) / 6),
    ("leaky_relu", {"negative_slope": 0.3}, lambda x: where(x.array >= 0, x, x * 0.3)),
    ("xlogy", {}, lambda x, y: where(x.array != 0, x * y.of(np.log), 0)),
    ("logaddexp", {}, lambda x, y: x.max(y) + ((x - y).of(np.abs) * -1).of(np.exp).of(np.log1p)),
    ("mse_loss", {"reduction": 0}, lambda x, y: (x - y) * (x - y)),
    ("huber_loss", {"reduction": 0, "delta": 0.5}, lambda x, y: where(
        (x - y).of(np.abs).array <= 0.5, (x - y) * (x - y) * 0.5, ((x - y).of(np.abs) - 0.25) * 0.5)),
    ("binary_cross_entropy_with_logits", {"reduction": 0}, entropy),
]  # fmt: skip


def draw(random: np.random.Generator) -> np.ndarray:
    """Numbers of either sign: subnormal, next to the smallest normal one, near its root, and ordinary ones."""
    exponents = np.stack([random.integers(*ends, 64) for ends in ((-149, -126), (-128, -120), (-70, -50), (-20, 6))])
    numbers = (1 + random.random(64)) * 2.0 ** exponents[random.integers(0, 4, 64), np.arange(64)]
    return np.float32(numbers * random.choice([-1, 1], 64))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("op", "options", "formula"), FORMULAS)
def test_a_formula_of_flushed_steps_passes(op: str, options: dict[str, Any], formula: Callable[..., Flushed]) -> None:
    random = np.random.default_rng(0)
    operands = [draw(random) for _ in range(formula.__code__.co_argcount)]
    if op == "xlogy":
        operands[1] = np.abs(operands[1])
    actual = formula(*map(Flushed, operands)).array
    told = verdict(f"aten::{op}", operands, actual, FLUSHING, **options)
    assert (told.status, told.reason) == ("pass", None)
