"""Losses of two parts at the border between them: values by fractions, and budgets that hold what either part gives."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from conform.contracts.judge import judge
from conform.contracts.tables import Row
from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden

F32 = np.float32
DERIVED = Row("derived", None, None, "test")
BORDERS = [0.25, 0.3, 1.0, 3.0, 1e-3]
ZERO = F32([0.0])


def loss(op: str, difference: np.ndarray, border: float) -> Golden:
    return evaluate(op, [difference, np.zeros_like(difference), 0, border], {}).goldens[0]


def exact(op: str, difference: float, border: float) -> Fraction:
    size, limit = abs(Fraction(difference)), Fraction(border)
    if op == "aten::huber_loss":
        return size**2 / 2 if size <= limit else limit * (size - limit / 2)
    return size**2 / (2 * limit) if size < limit else size - limit / 2


def around(border: float) -> np.ndarray:
    """Differences at the border, beside it and far from it, with their mirror images."""
    at = F32(border)
    sizes = F32([at, np.nextafter(at, F32(0)), np.nextafter(at, F32(9)), at / 2, at * 2, at * F32(1.001), 0.0])
    return np.concatenate([sizes, -sizes])


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("op", ["aten::huber_loss", "aten::smooth_l1_loss"])
def test_values_at_the_border_and_beside_it(op: str, border: float) -> None:
    differences = around(border)
    golden = loss(op, differences, border)
    for number, difference in enumerate(differences.tolist()):
        wanted = exact(op, difference, border)
        hi, lo, radius = (Fraction(float(part[number])) for part in
                          (golden.real.hi, golden.real.lo, golden.real.radius))  # fmt: skip
        assert abs(hi + lo - wanted) <= radius + wanted / 2**90, difference
        assert abs(Fraction(float(golden.value[number])) - wanted) <= wanted / 2**24, difference


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("part", ["below", "above"])
@pytest.mark.parametrize("op", ["aten::huber_loss", "aten::smooth_l1_loss"])
def test_at_the_border_either_part_is_within_the_budget(op: str, part: str, border: float) -> None:
    """Which one an implementation takes turns on how it rounds the border and the difference."""
    differences = around(border)[[0, 1, 2, 7, 8, 9]]
    d, limit, half = np.abs(differences), F32(border), F32(0.5)
    of_huber = {"below": half * d * d, "above": limit * (d - half * limit)}
    of_smooth = {"below": half * d * d / limit, "above": d - half * limit}
    computed = (of_huber if op == "aten::huber_loss" else of_smooth)[part]
    elements = judge(loss(op, differences, border), computed, DERIVED)
    assert elements.ok.all(), elements.error_ulp / elements.bound_ulp
    assert not elements.vacuous.any()


@pytest.mark.parametrize("op", ["aten::huber_loss", "aten::smooth_l1_loss"])
def test_the_other_part_away_from_the_border_is_not(op: str) -> None:
    below, above = F32([0.25, -0.25]), F32([4.0, -4.0])
    as_above = below * 0 + F32(0.25 - 0.5) if op == "aten::smooth_l1_loss" else F32([-0.25, -0.25])
    assert not judge(loss(op, below, 1.0), as_above, DERIVED).ok.any()
    assert not judge(loss(op, above, 1.0), F32([8.0, 8.0]), DERIVED).ok.any()
