"""What a sum loses where its terms underflow beside the largest stands in its radius, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from conform.numerics.accumulate import Accumulated, dot, running, running_of, total, total_at

Sum = Callable[[np.ndarray], Accumulated]

SUMS: dict[str, Sum] = {
    "total": lambda terms: total(terms, -1),
    "running": running,
    "total_at": lambda terms: total_at([(np.zeros(terms.size, np.int64), terms)], 1),
    "dot": lambda terms: dot(terms, np.ones(terms.size), -1),
}
LARGE = 2.0**1000  # scaled by 2^-1001, so that terms below 2^-20 come below 2^-1021


def last(accumulated: Accumulated) -> tuple[Fraction, float, float]:
    """(hi + lo, radius, magnitude) of the whole sum."""
    parts = (accumulated.real.hi, accumulated.real.lo, accumulated.real.radius, accumulated.magnitude)
    hi, lo, radius, magnitude = (float(np.ravel(part)[-1]) for part in parts)
    return Fraction(hi) + Fraction(lo), radius, magnitude


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("tiny", [2.0**-1074, 3 * 2.0**-1074, 2.0**-1022, 2.0**-75 + 2.0**-127])
@pytest.mark.parametrize("count", [1, 5])
def test_terms_that_vanish_beside_the_largest_are_within_the_radius(
    name: str, tiny: float, count: int, sign: int
) -> None:
    terms = sign * np.array([LARGE, *[tiny] * count])
    number, radius, magnitude = last(SUMS[name](terms))
    exact = sign * (Fraction(LARGE) + count * Fraction(tiny))
    assert abs(number - exact) <= Fraction(radius)
    assert 0 < radius < 1e-10
    assert abs(exact) <= Fraction(magnitude)


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("terms", [
    [LARGE, 2.0**60], [LARGE, 0.0], [LARGE, -0.0, -LARGE], [2.0**-1074, 2.0**-1073], [1.0, 2.0**-200], [0.0], [],
])  # fmt: skip
def test_where_nothing_vanishes_the_sum_is_exact(name: str, terms: list[float]) -> None:
    if name == "running" and not terms:
        return
    number, radius, _ = last(SUMS[name](np.array(terms)))
    assert (number, radius) == (sum(map(Fraction, terms), Fraction(0)), 0.0)


@pytest.mark.parametrize("name", ["total", "running", "total_at"])
def test_the_smallest_term_that_is_known_not_to_vanish(name: str) -> None:
    """2^-20, which is scaled to 2^-1021; products have room for their errors below them."""
    assert last(SUMS[name](np.array([LARGE, 2.0**-20])))[1] == 0.0
    assert last(SUMS[name](np.array([LARGE, np.nextafter(2.0**-20, 0.0)])))[1] > 0.0


def test_the_loss_is_that_of_the_sums_it_happens_in() -> None:
    """In the other lines, at the other places and in the pieces before it nothing is lost."""
    lines = np.array([[LARGE, 2.0**-1074], [1.0, 2.0**-100]])
    assert (total(lines, -1).real.radius > 0).tolist() == [True, False]
    assert (dot(lines, np.ones((2, 2)), -1).real.radius > 0).tolist() == [True, False]
    pieces = running_of([np.array(piece) for piece in ([LARGE, 1.0], [2.0**-1074], [1.0])])
    assert [bool((piece.real.radius > 0).all()) for piece in pieces] == [False, True, True]
    placed = total_at([(np.array([0, 1, 0, 1]), lines.T.reshape(-1))], 2)
    assert (placed.real.radius > 0).tolist() == [True, False]


@pytest.mark.parametrize("sign", [1, -1])
def test_products_that_vanish_are_within_the_radius(sign: int) -> None:
    lhs, rhs = np.array([2.0**500, sign * 2.0**-1000]), np.array([2.0**500, 2.0**-70])
    number, radius, _ = last(dot(lhs, rhs, -1))
    assert abs(number - (Fraction(LARGE) + sign * Fraction(2.0**-1070))) <= Fraction(radius)
    assert 0 < radius < 1e-10
    assert last(dot(lhs, np.array([2.0**500, 0.0]), -1))[1] == 0.0
