"""Bounds of long lines: what honest implementations may lose is inside, what the number of terms would hide is not."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.interp.evaluate import evaluate
from tests.interp.honest import is_inside, judged

F32 = np.float32
KEYS = 4096


# --- Attention to few of many keys ------------------------------------------------------------------------------------


def few_keys(hot: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query, keys and values of one row, in which only the keys `hot` have a weight."""
    generator = np.random.default_rng(0)
    query, key = np.zeros((1, 4), F32), np.zeros((KEYS, 4), F32)
    query[0, 0], key[:, 0] = 1.0, -2048.0
    key[hot, 0] = -np.arange(len(hot)) * 0.7
    return query, key, generator.standard_normal((KEYS, 3)).astype(F32)


def at_once(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    scores = query @ key.T / F32(2)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True, dtype=F32)) @ value


def in_blocks(query: np.ndarray, key: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Sixteen keys at a time, rescaling what came before."""
    largest, total, result = F32(-np.inf), F32(0), np.zeros((1, value.shape[1]), F32)
    for start in range(0, KEYS, 16):
        scores = query @ key[start : start + 16].T / F32(2)
        larger = max(largest, scores.max())
        factor, e = np.exp(largest - larger), np.exp(scores - larger)
        total = total * factor + e.sum(dtype=F32)
        result = result * factor + e @ value[start : start + 16]
        largest = larger
    return result / total


@pytest.mark.parametrize("hot", [(0,), (4095,), (7, 2000, 4095), tuple(range(0, 4096, 200))], ids=len)
def test_honest_attention_to_few_keys_is_inside(hot: tuple[int, ...]) -> None:
    args = few_keys(hot)
    for attention in (at_once, in_blocks):
        assert is_inside("aten::scaled_dot_product_attention", list(args), attention(*args))


def test_weights_in_bfloat16_are_outside() -> None:
    query, key, value = few_keys((7, 2000, 4095))
    scores = (query @ key.T / F32(2)).astype(np.float64)
    weights = np.exp(scores) / np.exp(scores).sum()
    short = weights.astype(ml_dtypes.bfloat16).astype(F32) @ value
    assert not is_inside("aten::scaled_dot_product_attention", [query, key, value], short)


# --- Exponentials of 0, norms of integers -----------------------------------------------------------------------------


def test_equal_numbers_have_equal_shares() -> None:
    x = np.full((2, KEYS), 3.0, F32)
    assert is_inside("aten::_softmax", [x, 1, False], np.full((2, KEYS), F32(1 / KEYS)))
    assert not is_inside("aten::_softmax", [x, 1, False], np.full((2, KEYS), F32(1 / (KEYS - 1))))


def test_the_norm_of_many_integers() -> None:
    x = np.random.default_rng(0).integers(1, 4, (2, 65537)).astype(F32)
    norm, less = (np.sqrt((one.astype(np.float64) ** 2).sum(1)).astype(F32) for one in (x, x[:, :-1]))
    assert is_inside("aten::linalg_vector_norm", [x, 2, [1]], norm)
    assert not is_inside("aten::linalg_vector_norm", [x, 2, [1]], less)


# --- Variances that may overflow --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e19, 1.2e19])
def test_a_variance_whose_shifted_squares_overflow_is_not_judged(size: float) -> None:
    """2e38 and 2.9e38, which float32 has; the squared difference of the two numbers it has not."""
    x = np.array([[size, -size]], F32)
    with np.errstate(over="ignore"):
        merged = (x[:, 1] - x[:, 0]) ** 2 * F32(0.5)  # Chan's formula for two parts of one number
    assert np.isinf(merged).all()
    for actual in (merged, np.array([2 * size**2], F32)):
        assert judged("aten::var.correction", [x, [1]], actual).vacuous.all()


def test_smaller_ones_are() -> None:
    x = np.array([[1e18, -1e18]], F32)
    assert is_inside("aten::var.correction", [x, [1]], np.array([2e36], F32))
    assert not is_inside("aten::var.correction", [x, [1]], np.array([2.001e36], F32))


# --- Convolutions -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("taps", "is_exact"), [(1, True), (3, False)])
def test_integers_have_an_exact_convolution_where_windows_are_one_place(taps: int, is_exact: bool) -> None:
    """Winograd's method adds up other numbers in larger windows."""
    image, weight = np.ones((1, 64, 9), F32), np.ones((2, 64, taps), F32)
    args = [image, weight, None, [1], [0], [1], False, [0], 1]
    golden = evaluate("aten::convolution", args, {}).goldens[0]
    elements = judge(golden, golden.value, contract_table("opencl").row("aten::convolution", "float32"))
    assert (elements.bound_ulp == 0).all() == is_exact
