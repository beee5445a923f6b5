"""Attention: which masks there are of scores that values broadcast further."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from conform.errors import InvalidArguments
from conform.interp.evaluate import evaluate


def attend(mask: np.ndarray) -> np.ndarray:
    """Of one query and two keys, with two batches of values: scores of shape [1, 2]."""
    query, key = np.zeros((1, 1), np.float32), np.zeros((2, 1), np.float32)
    values = np.array([[[1], [2]], [[4], [8]]], np.float32)
    (golden,) = evaluate("aten::scaled_dot_product_attention", [query, key, values, mask], {}).goldens
    return golden.value


def test_a_mask_of_the_scores_serves_every_batch_of_values() -> None:
    assert attend(np.array([[True, False]])).tolist() == [[[1]], [[4]]]
    assert attend(np.array([[True, True]])).tolist() == [[[1.5]], [[6]]]


def test_keys_and_values_have_heads_of_their_own_to_repeat() -> None:
    query, key = np.zeros((4, 1, 1), np.float32), np.zeros((2, 2, 1), np.float32)
    value = np.array([[[1], [3]]], np.float32)
    mask = np.array([[[True, False]], [[True, True]], [[False, True]], [[True, True]]])
    (golden,) = evaluate("aten::scaled_dot_product_attention", [query, key, value, mask], {"enable_gqa": True}).goldens
    assert golden.value.tolist() == [[[1]], [[2]], [[3]], [[2]]]


def test_errors_of_scores_without_bound_bound_nothing() -> None:
    """The values are equal, so that no error of the weights moves their mean: infinity times 0."""
    query, key = np.float32([[3e38, 3e38]]), np.float32([[1, -1], [1, -1]])
    (golden,) = evaluate("aten::scaled_dot_product_attention", [query, key, np.ones((2, 1), np.float32)], {}).goldens
    assert (golden.value.tolist(), golden.budget.tolist()) == ([[1]], [[np.inf]])


def test_a_mask_does_not_extend_the_scores() -> None:
    """It is added to them in place (torch.nn.functional.scaled_dot_product_attention: broadcastable to [..., L, S])."""
    with pytest.raises(InvalidArguments, match=r"found bool\[2, 1, 2\], expected rank\(attn_mask\) <= max\("):
        attend(np.ones((2, 1, 2), bool))


def test_an_infinite_scale_asks_for_the_sign_of_a_product_beyond_float64() -> None:
    query, key = np.array([[2.0**1000, 2.0**1000]]), np.array([[-(2.0**1000), -1.0], [-(2.0**999), 2.0**998]])
    (golden,) = evaluate("aten::scaled_dot_product_attention", [query, key, np.ones((2, 1))], {"scale": np.inf}).goldens
    assert golden.open.all()
    assert golden.open_rule == "P69"
    key = np.array([[2.0**1000, -(2.0**1000)], [1.0, 1.0]])  # 0 * inf is NaN
    (golden,) = evaluate("aten::scaled_dot_product_attention", [query, key, np.ones((2, 1))], {"scale": np.inf}).goldens
    assert np.isnan(golden.value).all()
    assert golden.open is None


def test_a_product_that_overflows_bounds_nothing_whatever_the_scale() -> None:
    """In float32 query @ key^T is infinite, and times 0 or 2^-100 NaN or infinite."""
    query, key, value = np.float32([[2.0**100]]), np.float32([[2.0**100], [1]]), np.float32([[1], [2]])
    for scale in (0.0, 2.0**-100):
        (golden,) = evaluate("aten::scaled_dot_product_attention", [query, key, value], {"scale": scale}).goldens
        assert golden.budget.tolist() == [[np.inf]]
    small = [query / 2**80, key / 2**80, value]
    (golden,) = evaluate("aten::scaled_dot_product_attention", small, {"scale": 0.0}).goldens
    assert golden.value.tolist() == [[1.5]]
    assert golden.budget.max() < 1e-5


def mean(query: list, key: list, value: list, **kwargs: object) -> float:
    """Of one query; of values of one number."""
    operands = [np.array([query]), np.array(key), np.array(value)[:, None]]
    (golden,) = evaluate("aten::scaled_dot_product_attention", operands, kwargs).goldens
    return golden.value.item()


def test_the_largest_of_scores_beyond_float64_has_all_the_weight() -> None:
    """2^1990 + 2^1989 is less than 2^1991, and what is taken from it decides only beside equal numbers."""
    query, key = [2.0**1000, 2.0**989], [[2.0**990, 2.0**1000], [2.0**991, 0.0], [0.0, -1.0]]
    assert mean(query, key, [0.1, 0.2, 5e-324]) == 0.2
    assert mean(query, key, [0.1, 0.2, 5e-324], scale=-1.0) == 5e-324
    assert mean(query, key, [0.1, 0.2, 0.3], attn_mask=np.array([[True, False, True]])) == 0.1
    beside = [[2.0**991, -(2.0**-1000)], [2.0**991, 0.0], [2.0**991, -(2.0**1000)]]
    with mpmath.workprec(200):
        expected = float(1 + 2 / (1 + mpmath.exp(-1)))  # the first score is the second one less 1
    assert mean([2.0**1000, 2.0**1000], beside, [1.0, 3.0, 5.0], scale=1.0) == expected


def test_means_of_the_smallest_values_are_rounded_once() -> None:
    """Weights 1/2 and 1/2, and 1/3 and 2/3, of units of 2^-1074."""
    assert mean([0.0], [[0.0], [0.0]], [5e-324, 4 * 5e-324]) == 2 * 5e-324
    third = float(np.log(2.0))
    assert mean([1.0], [[0.0], [third]], [0.0, 7 * 5e-324], scale=1.0) == 5 * 5e-324
    assert mean([1.0], [[0.0], [third]], [0.0, 4 * 5e-324], scale=1.0) == 3 * 5e-324
    with mpmath.workprec(200):
        expected = float(2.0**1000 / (1 + mpmath.exp(third)))
    assert mean([1.0], [[0.0], [third]], [2.0**1000, 7 * 5e-324], scale=1.0) == expected


def test_values_that_cancel_beside_far_scores_leave_nothing() -> None:
    """(v - v + e^-10^18 v) / 2, of which no precision shows the last."""
    query, key, value = np.array([[1e12]]), np.array([[1e6], [1e6], [-1e6]]), np.array([[3.0], [-3.0], [-3.0]])
    (golden,) = evaluate("aten::scaled_dot_product_attention", [query, key, value], {}).goldens
    assert golden.value.tolist() == [[0.0]]
    assert 0 < golden.real.radius[0, 0] <= 2.0**-1074
