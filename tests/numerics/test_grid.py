"""Grids: which sums have no rounding errors, whatever their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conform.numerics.formats import FORMATS
from conform.numerics.grid import common_grid, finest, is_exact, is_held

F16, F32, F64 = (FORMATS[name] for name in ("float16", "float32", "float64"))
INF, NAN = np.inf, np.nan


def test_the_largest_power_of_two_that_divides_a_number() -> None:
    x = np.array([1.0, -12.0, 0.75, 2.0**-1074, 3 * 2.0**-1074, 2.0**1023, 1 + 2.0**-52, 0.0, -0.0, INF, NAN])
    assert finest(x).tolist() == [
        1.0, 4.0, 0.25, 2.0**-1074, 2.0**-1074, 2.0**1023, 2.0**-52, INF, INF, INF, INF,
    ]  # fmt: skip


def test_the_grid_of_rows_in_pieces() -> None:
    rows = np.array([[4.0, -6.0, 0.0, 1.5], [8.0, 16.0, NAN, 24.0], [0.0, 0.0, 0.0, 0.0]])
    assert common_grid(F32, [rows[:, :2], rows[:, 2:]]).tolist() == [0.5, 8.0, INF]
    assert common_grid(F32, [rows.T], axis=0).tolist() == [0.5, 8.0, INF]
    assert common_grid(F32, [np.empty((2, 0))]).tolist() == [INF, INF]


def test_numbers_with_all_their_digits_and_of_many_sizes_have_none() -> None:
    drawn = np.random.default_rng(0).standard_normal((3, 100)).astype(np.float32)
    assert common_grid(F32, [drawn]) is None
    assert common_grid(F32, [np.array([[1.5, 2.0**-24]])]) is None  # 1.5 takes the place of 2^-23
    assert common_grid(F32, [np.array([[1.0, 2.0**-23]])]).tolist() == [2.0**-23]


@pytest.mark.parametrize(
    ("total", "magnitude", "least", "exact"),
    [
        (2.0**24, 2.0**24, 2.0**-149, True),  # the last number up to which float32 has all integers
        (2.0**24 + 1, 2.0**24 + 1, 2.0**-149, False),
        (0.0, 2.0**25, 2.0**-149, True),  # half of either sign
        (2.0, 2.0**25, 2.0**-149, False),
        (1.0, 1.0, 2.0, False),  # 1 is flushed
        (0.0, 0.0, 2.0, True),
        (NAN, 8.0, 2.0**-149, False),
    ],
)
def test_integers_in_float32(total: float, magnitude: float, least: float, exact: bool) -> None:
    assert bool(is_exact(F32, np.float64(1.0), np.float64(total), np.float64(magnitude), least)) == exact


def test_numbers_that_a_format_has() -> None:
    x = np.array([1.0, 2049.0, 2050.0, 65504.0, 65536.0, 2.0**-14, 2.0**-15, 0.0, INF, NAN])
    assert is_held(F16, x).tolist() == [True, False, True, True, False, True, False, True, False, False]


INTEGERS = st.lists(st.integers(-(2**14), 2**14), min_size=1, max_size=60)


@given(INTEGERS, st.integers(-140, 90), st.randoms(use_true_random=False))
def test_every_order_of_an_exact_sum_gives_the_sum(integers: list[int], exponent: int, random: object) -> None:
    """Two parts at random are added, again and again."""
    terms = np.array(integers, np.float64) * 2.0**exponent
    grid, total, magnitude = common_grid(F32, [terms], axis=0), terms.sum(), np.abs(terms).sum()
    if grid is None or not is_exact(F32, grid, total, magnitude, F32.min_subnormal):
        return
    parts = [np.float32(term) for term in terms]
    while len(parts) > 1:
        random.shuffle(parts)
        parts.append(parts.pop() + parts.pop())
    assert float(parts[0]) == total
