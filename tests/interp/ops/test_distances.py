"""Distances of vectors over the whole range, where quotients and products of what is subnormal lose digits."""

from __future__ import annotations

from collections.abc import Callable

import mpmath
import numpy as np
import pytest

import conform
from conform.interp.evaluate import evaluate

LEAST = 5e-324  # the smallest float64
SCALES = (-1074, -1060, -1022, -1021, -1010, -500, 0, 960)  # binary exponents


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.5, [289, 37]), (1.0, [17, 13]), (3.0, [3, 7])],  # (17 sqrt(u))^2 = 289 u; (343 + 64 + 8)^(1/3) u = 7.46 u
)
def test_of_the_smallest_numbers(p: float, expected: list[int]) -> None:
    ones, zeros = np.zeros((1, 40)), np.zeros((1, 40))
    ones[0, :17] = LEAST
    lhs, rhs = np.array([[-4.0, 0, 8, 3]]) * LEAST, np.array([[-4.0, -7, 4, 1]]) * LEAST
    rhs[0, 1:] = lhs[0, 1:] - np.array([7, 4, 2]) * LEAST
    found = [conform.golden("_cdist_forward", *pair, p, None).value.item() for pair in ((ones, zeros), (lhs, rhs))]
    assert [one / LEAST for one in found] == expected


@pytest.mark.parametrize("p", [0.25, 0.5, 1.5, 3.0, 50.0])
def test_they_are_correctly_rounded_at_every_scale(p: float) -> None:
    draws = np.random.default_rng(7)
    for scale in SCALES:
        for exponents in (np.full((12, 6), scale), draws.integers(-1074, scale + 1, (12, 6))):
            lhs, rhs = (np.ldexp(np.round(8 * draws.standard_normal((12, 6))), exponents) for _ in range(2))
            lhs, rhs = (np.where(np.isfinite(one), one, 1.0) for one in (lhs, rhs))
            values = conform.golden("_cdist_forward", lhs[:, None], rhs[:, None], p, None).value[:, 0, 0]
            for value, distance in zip(values.tolist(), map(norm_of(p), lhs, rhs), strict=True):
                assert abs(value - distance) <= mpmath.mpf(np.spacing(value)) / 2, (scale, value)


def norm_of(p: float) -> Callable[[np.ndarray, np.ndarray], mpmath.mpf]:
    def norm(lhs: np.ndarray, rhs: np.ndarray) -> mpmath.mpf:
        with mpmath.workprec(3000):
            sizes = [abs(mpmath.mpf(x) - mpmath.mpf(y)) for x, y in zip(lhs.tolist(), rhs.tolist(), strict=True)]
            return mpmath.fsum(size**p for size in sizes if size) ** (1 / mpmath.mpf(p))

    return norm


def test_norms_of_huge_orders_are_beside_the_largest_number() -> None:
    """The differences are 1 + 2^-53, in the middle of two numbers, and 1/2: the norm is more than the larger one by
    2^-p / p of it, and of an infinite order nothing."""
    lhs, rhs = np.array([[1.0, 0.5]]), np.array([[-(2.0**-53), 0.0]])
    for order, expected in ((np.inf, 1.0), (1e300, 1 + 2.0**-52), (1e5, 1 + 2.0**-52), (4001.0, 1 + 2.0**-52)):
        assert conform.golden("_cdist_forward", lhs, rhs, order, None).value.item() == expected, order
    alone = np.array([[1.0, 0.0]])
    assert conform.golden("_cdist_forward", alone, rhs, 1e300, None).value.item() == 1.0
    both = np.array([[1.0, 1.0]]), np.array([[-(2.0**-53), -(2.0**-53)]])  # 2^(1/p) times the number
    assert conform.golden("_cdist_forward", *both, 1e300, None).value.item() == 1 + 2.0**-52


@pytest.mark.parametrize(("p", "expected"), [(0, 2.0), (1, 7.0), (2, 5.0), (np.inf, 4.0), (0.5, 13.928203230275509)])
def test_dist_is_the_norm_of_the_difference_of_what_broadcasts(p: float, expected: float) -> None:
    """(sqrt 3 + sqrt 4)^2 = 7 + 4 sqrt 3"""
    lhs, rhs = np.array([[4.0], [5.0]]), np.array([1.0])
    assert conform.golden("dist", lhs, rhs, p).value == (7 + 4 * 3**0.5 if p == 0.5 else expected)


def test_dist_of_halves_may_round_the_differences() -> None:
    """2048 + 1 is 2048 in float16; the norm of the exact difference is 2049, which is a tie."""
    lhs, rhs = np.array([2048.0], np.float16), np.array([-1.0], np.float16)
    (golden,) = evaluate("aten::dist", (lhs, rhs), {}).goldens
    assert golden.real.hi == 2049.0
    assert golden.budget >= 1.0


def test_dist_of_infinities() -> None:
    for lhs, rhs, expected in ((np.inf, 1.0, np.inf), (np.inf, np.inf, np.nan), (np.nan, 1.0, np.nan)):
        found = conform.golden("dist", np.array([lhs, 0.0]), np.array([rhs, 0.0])).value
        np.testing.assert_array_equal(found, expected)
    (golden,) = evaluate("aten::dist", (np.array([np.nan]), np.array([1.0]), 0), {}).goldens
    assert golden.open.all()
