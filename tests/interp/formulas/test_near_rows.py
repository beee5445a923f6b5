"""Rows of numbers that are nearly equal: statistics and normalizations beside fractions, which need no second look."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import pytest

from conform.interp.blocks.rows import Rows
from conform.interp.evaluate import evaluate
from conform.interp.formulas import moments, standardized
from conform.interp.golden import Golden
from conform.numerics.real import Real
from conform.numerics.rounding import nearest_of

STEP = 2.0**-52


def _rows(*rows: list[float]) -> Rows:
    return Rows.over(np.array(rows, np.float64), (1,))


def test_what_all_numbers_of_a_row_share_is_taken_off() -> None:
    near = moments.Near(_rows([1, 1 + STEP, 2], [-3.0, -1.5, -2], [1, 2 + 2 * STEP, 1], [-1, 1, 1], [0, 0, 0]))
    assert near.shift.tolist() == [[1], [-1.5], [0], [0], [0]]
    assert next(iter(near.pieces)).tolist() == [
        [0, STEP, 1], [-1.5, 0, -0.5], [1, 2 + 2 * STEP, 1], [-1, 1, 1], [0, 0, 0]
    ]  # fmt: skip
    assert moments.Near(_rows([1, 3], [np.inf, np.inf], [np.nan, 1])).shift is None
    assert moments.Near(_rows([2.0**1023, 1.7e308])).shift.tolist() == [[2.0**1023]]
    assert moments.Near(_rows([5e-324, 1e-323])).shift.tolist() == [[5e-324]]


def test_a_variance_of_steps_is_known_to_all_its_digits() -> None:
    """1, 1 + 2^-52 and 1 + 3 2^-52: the mean is 1 + 4/3 steps, the variance 14/9 steps squared."""
    mean, variance = moments.of_reals(_rows([1, 1 + STEP, 1 + 3 * STEP]), Real.exact(np.float64(3)))
    for found, true in ((mean, 1 + Fraction(4, 3 * 2**52)), (variance, Fraction(14, 9 * 2**104))):
        hi, lo, radius = (Fraction(float(part[0, 0])) for part in (found.hi, found.lo, found.radius))
        assert abs(hi + lo - true) <= radius <= abs(true) / 2**95


@pytest.mark.parametrize("size", [1e-320, 2.0**-600, 1.0, 3e15, 2.0**700, 2.0**1023])
def test_statistics_are_those_of_fractions(size: float) -> None:
    random = np.random.default_rng(5)
    numbers = size + random.integers(0, 4, (20, 6)) * np.spacing(size)
    numbers = numbers * random.choice([-1.0, 1.0], (20, 1))
    var, mean = evaluate("aten::var_mean.correction", (numbers, [1]), {"correction": 0}).goldens
    for row, found, middle in zip(numbers.tolist(), var.value.tolist(), mean.value.tolist(), strict=True):
        exact = sum(map(Fraction, row)) / 6
        assert middle == nearest_of(mean.format, exact)
        assert found == nearest_of(var.format, sum((Fraction(x) - exact) ** 2 for x in row) / 6)


def _root(number: Fraction) -> Fraction:
    """To 2^-2500 of it: 1 + the square of the smallest number decides a tie."""
    shift = 5000 + 2 * max(number.denominator.bit_length() - number.numerator.bit_length(), 0)
    return Fraction(isqrt((number.numerator << shift) // number.denominator), 1 << (shift // 2))


def _is_held(golden: Golden, row: int, column: int, true: Fraction) -> None:
    assert golden.value[row, column] == nearest_of(golden.format, true)
    hi, lo, radius = (float(part[row, column]) for part in (golden.real.hi, golden.real.lo, golden.real.radius))
    if np.isfinite(radius):
        assert abs(Fraction(hi) + Fraction(lo) - true) <= Fraction(radius) + abs(true) / 2**300


@pytest.mark.parametrize("eps", [5e-324, 1e-5, 1.0])
@pytest.mark.parametrize("size", [1e-310, 1.0, 2.25e15, 1e300])
@pytest.mark.parametrize(
    ("weight", "bias"), [(1.0, 0.0), (3e-320, 0.0), (0.7, 1e-300), (1e300, -1.0), (1e-318, 5e-324)]
)
def test_normed_rows_are_those_of_fractions(size: float, eps: float, weight: float, bias: float) -> None:
    """Equal numbers, one that differs, and steps; with parameters that take results to the ends of the range."""
    step = np.spacing(size)
    rows = np.array([[size] * 4, [size, size, size + 4 * step, size], [-size, -size - step, -size, -size - 2 * step]])
    weights, biases = (np.array([number, number, 0.5 * number, number]) for number in (weight, bias))
    golden = evaluate("aten::native_layer_norm", (rows, [4], weights, biases, eps), {}).goldens[0]
    for i, row in enumerate(rows.tolist()):
        mean = sum(map(Fraction, row)) / 4
        deviation = _root(sum((Fraction(x) - mean) ** 2 for x in row) / 4 + Fraction(eps))
        for j, x in enumerate(row):
            true = (Fraction(x) - mean) / deviation * Fraction(weights[j]) + Fraction(biases[j])
            _is_held(golden, i, j, true)


@pytest.mark.parametrize(("size", "weight"), [(1e-200, 1e-250), (1e-75, 1e-321), (1e300, 1e-315), (1.0, 5e-324)])
def test_subnormal_results_need_no_numbers_of_any_precision(
    size: float, weight: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(3)
    rows, weights = size * random.uniform(-2, 2, (8, 6)), weight * random.uniform(1, 2, 6)
    patched = standardized._Piece.of_numbers
    asked: list[int] = []
    monkeypatch.setattr(standardized._Piece, "of_numbers", lambda self, some: asked.append(1) or patched(self, some))
    evaluate("aten::native_layer_norm", (rows, [6], weights, None, 1e-5), {})
    assert not asked
