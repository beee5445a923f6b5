"""Norms of high orders, hardly above the largest difference: beside a tie they are above it, and so rounded."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from conform.interp.ops.reduction import distances
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real

FLOAT64 = FORMATS["float64"]


def _pdist(numbers: np.ndarray, p: float) -> np.ndarray:
    return evaluate("aten::_pdist_forward", (numbers, p), {}).goldens[0].value


def test_a_tie_is_rounded_up() -> None:
    """1 + 2^-53 is in the middle of two numbers, and a norm that a second difference makes larger is above that."""
    one, other = np.array([1.0, 0.25]), np.array([-(2.0**-53), 0.0])
    assert _pdist(np.stack([one, other]), 700.0).tolist() == [1 + 2.0**-52]
    assert _pdist(np.stack([one * [1, 0], other]), 700.0).tolist() == [1.0]
    assert _pdist(np.stack([one, -other]), 700.0).tolist() == [1 - 2.0**-53]


def _norm(x: list[float], y: list[float], p: float) -> float:
    """Of some thousand bits; what a sum of powers lacks takes it below a tie no more than what it is raised by."""
    sizes = [abs(mpmath.mpf(a) - mpmath.mpf(b)) for a, b in zip(x, y, strict=True) if a != b]
    if len(sizes) < 2 or p == 1:
        return float(mpmath.fsum(sizes))
    norm = max(sizes) * mpmath.fsum((size / max(sizes)) ** p for size in sizes) ** (1 / mpmath.mpf(p))
    return float(norm * (1 + mpmath.mpf(2) ** -3900))


@pytest.mark.parametrize("p", [1.0, 3.0, 80.0, 700.0])
@pytest.mark.parametrize("size", [-1070, -890, 0, 860, 990, 1019])
def test_norms_are_those_of_hundreds_of_digits(p: float, size: int) -> None:
    """Of differences that need two doubles, ties among them, and of largest numbers that are nearly equal."""
    random = np.random.default_rng([int(p), size + 2000])
    numbers = random.integers(-8, 9, (12, 4)) * 2.0**size * random.choice([1.0, 2.0**-53, 2.0**-54, 0.125], (12, 4))
    values = iter(_pdist(numbers, p).tolist())
    with mpmath.workprec(4000):
        for i, row in enumerate(numbers.tolist()):
            for other in numbers[i + 1 :].tolist():
                assert next(values) == _norm(row, other, p)


def test_what_is_known_is_only_what_the_largest_number_decides() -> None:
    """Not where two are the largest, where the second is near, of one number alone, and of a next lo of one digit."""
    rows = np.array([[1.0, 0.5], [1.0, 1.0], [1.0, 0.95], [1.0, 0.0], [2.0**-950, 2.0**-960]])
    _, real, found = distances._above_largest(FLOAT64, 700.0, Real.exact(rows))
    assert found[:, 0].tolist() == [True, False, False, False, False]
    assert real.hi[0, 0] == 1.0
    assert real.radius[0, 0] == 2.0**-105
    largest = Real(np.array([[1.0, 0.1]]), np.array([[2.0**-53 - 2.0**-106, 0.0]]), np.zeros((1, 2)))
    assert not distances._above_largest(FLOAT64, 700.0, largest)[2].any()
    assert not distances._above_largest(FLOAT64, 0.5, Real.exact(rows))[2].any()
