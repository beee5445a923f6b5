"""The errors of weights: against the corners of what scores may be, and against softmax of scores that are off."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from conform.interp.program.indexing.written import scatter
from conform.interp.program.normalization import softmax
from conform.interp.program.number import Number
from conform.interp.program.reduction.order import topk
from conform.numerics.formats import FORMATS
from conform.numerics.real import Real
from conform.numerics.rounding_errors import FACTOR, root_sum_of_squares

F32 = FORMATS["float32"]


def scores(middle: Any, rad: Any) -> Number:
    middle = np.asarray(middle, np.float64)
    return Number(F32, Real.exact(middle), np.broadcast_to(np.asarray(rad, np.float64), middle.shape))


def weights(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def furthest(middle: np.ndarray, rad: np.ndarray) -> np.ndarray:
    """How far the weights of one row move at the corners of what the scores may be."""
    corners = np.array([middle + rad * signs for signs in product((-1.0, 1.0), repeat=len(middle))])
    return np.abs(weights(corners) - weights(middle)).max(0)


ROWS: list[tuple[list[float], list[float]]] = [
    ([0.0, 0.0], [0.01, 0.01]),  # p (1 - p) 0.02: 0.005
    ([0.0, 8.0], [0.05, 0.05]),  # of 0.9997 next to nothing
    ([1.0, -2.0, 0.5, 3.0], [0.1, 0.0, 0.3, 0.2]),
    ([0.0, -100.0, -800.0], [0.5, 0.5, 0.5]),
    ([2.0, 2.0, 2.0, -np.inf], [1e-3, 1e-3, 1e-3, 0.0]),
    ([5.0], [0.1]),
]


def test_two_equal_scores_that_are_off_by_a_hundredth() -> None:
    """e^0.02 / (1 + e^0.02) = 0.504999833"""
    assert softmax(scores([0.0, 0.0], 0.01), 0, False).rad == pytest.approx([0.004999833] * 2, rel=1e-3)


@pytest.mark.parametrize(("middle", "rad"), ROWS)
def test_the_bound_is_that_of_the_corners_and_of_the_quotient_itself(middle: list, rad: list) -> None:
    found = softmax(scores(middle, rad), 0, False).rad
    itself = softmax(scores(middle, np.where(np.isfinite(middle), 1e-300, 0.0)), 0, False).rad
    corners = furthest(np.array(middle), np.array(rad))
    assert (found >= corners).all()
    assert (found <= corners + 40 * itself + 1e-30).all()


@pytest.mark.parametrize("likely", [False, True])
def test_softmax_in_float32_of_scores_that_are_off_stays_within(likely: bool) -> None:
    """Random errors within the radii, in float32 from there on; FACTOR times what is likely."""
    draws = np.random.default_rng(5)
    for scale, size in ((1.0, 0.05), (6.0, 0.2), (40.0, 1e-3), (0.1, 1e-6)):
        middle, rad = scale * draws.standard_normal((64, 9)), size * draws.random((64, 9))
        exact = scores(middle, rad)
        if likely:
            with root_sum_of_squares():
                reach = FACTOR * softmax(exact, 1, False).rad
        else:
            reach = softmax(exact, 1, False).rad
        for _ in range(20):
            off = (middle + rad * draws.uniform(-1, 1, rad.shape)).astype(np.float32)
            rounding = np.abs(middle) * 2.0**-24 * weights(middle)  # that of the scores themselves, not in the radii
            assert (np.abs(weights(off) - weights(middle)) <= reach + 4 * rounding.max(1, keepdims=True)).all()


def test_of_a_score_that_may_be_anything_nothing_is_said() -> None:
    assert np.isinf(softmax(scores([0.0, 1.0], [0.0, np.inf]), 0, False).rad).all()
    assert (softmax(scores([0.0, 1.0], [2.0, 2.0]), 0, False).rad > 0.4).all()  # beyond SMALL: the quotient's own


# --- Orders -----------------------------------------------------------------------------------------------------------


def spread(middle: list[float], rad: list[float], count: int) -> Number:
    values, places = topk(scores([middle], [rad]), count)
    return scatter(scores(np.zeros((1, len(middle))), 0.0), 1, places, values)


def test_two_in_either_order_stand_where_they_stand() -> None:
    """Both are among the first two in either order, so each place has one of two numbers, as near as their errors."""
    found = spread([0.49, 0.51, 0.001], [0.02, 0.02, 1e-4], 2)
    assert found.real.hi.tolist() == [[0.49, 0.51, 0.0]]
    assert found.rad[0] == pytest.approx([0.04, 0.04, 0.0])


def test_of_two_of_which_one_is_left_out_nothing_is_said() -> None:
    found = spread([0.51, 0.49, 0.9], [0.02, 0.02, 0.01], 2)
    assert np.isinf(found.rad).tolist() == [[True, True, False]]


def test_five_in_any_order_are_too_many() -> None:
    assert np.isinf(spread([0.5] * 5 + [0.1], [0.1] * 5 + [0.0], 5).rad).all()


@pytest.mark.parametrize("count", [2, 3, 4])
def test_every_order_is_covered(count: int) -> None:
    """Scores in every order that the radii allow: what is scattered lies within the bound."""
    draws = np.random.default_rng(count)
    middle, rad = [0.5, 0.52, 0.54, 0.2], [0.03, 0.03, 0.03, 1e-3]
    found = spread(middle, rad, count)
    for _ in range(200):
        off = np.array(middle) + np.array(rad) * draws.uniform(-1, 1, 4)
        actual = np.zeros(4)
        first = np.argsort(-off)[:count]
        actual[first] = off[first]
        assert (np.abs(actual - found.real.hi[0]) <= found.rad[0] * (1 + 1e-12)).all()
