"""Implementations of a documented formula or a known algorithm pass, and the nearest wrong ones fail."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from conform.backends.reply import Reply
from conform.call.bound import bound_call
from conform.interp.evaluate import evaluate_call
from conform.judging.case import verdict_of
from conform.judging.verdict import Verdict
from tests.judging.test_case import OPENCL, case, returned

F32 = np.float32
INF, NAN = np.inf, np.nan


def status(op: str, args: list[Any], reply: Any, **keywords: Any) -> str:
    return verdict(op, args, reply if isinstance(reply, Reply) else returned(*reply), **keywords).status


def verdict(op: str, args: list[Any], reply: Reply, **keywords: Any) -> Verdict:
    call = bound_call(op, args, keywords)
    return verdict_of(case(call.op), call, evaluate_call(call), reply, OPENCL)


# --- The remainder as the documentation's formula ---------------------------------------------------------------------


def test_the_remainder_by_its_documented_formula_passes() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(0, 100, 1000).astype(F32), generator.normal(0, 1, 1000).astype(F32)
    by_floor, by_trunc = a - np.floor(a / b) * b, a - np.trunc(a / b) * b
    assert not np.array_equal(by_floor, np.remainder(a, b))
    fused = (a.astype(np.float64) - np.floor(a / b).astype(np.float64) * b).astype(F32)
    for result, expected in ((by_floor, "pass"), (fused, "pass"), (by_trunc, "fail"), (np.fmod(a, b), "fail")):
        assert status("aten::remainder", [a, b], [result]) == expected


def test_a_reciprocal_loses_exact_quotients() -> None:
    b = np.arange(1, 200, dtype=F32)
    by_reciprocal = 3 * b - np.floor(3 * b * (1 / b)) * b
    assert by_reciprocal.any()
    assert status("aten::remainder", [3 * b, b], [by_reciprocal]) == "fail"


@pytest.mark.parametrize(("a", "b", "by_formula", "remainder"), [
    (1.0, INF, NAN, 1.0), (-1.0, 2.0**-149, INF, 0.0), (1e30, 3.7, 0.0, 3.0102395582221393),
])  # fmt: skip
def test_where_the_quotient_is_no_integer_of_the_type_the_formula_is_no_remainder(
    a: float, b: float, by_formula: float, remainder: float
) -> None:
    assert status("aten::remainder", [F32([a]), F32([b])], [F32([by_formula])]) == "fail"
    assert status("aten::remainder", [F32([a]), F32([b])], [F32([remainder])]) == "pass"


# --- log_softmax as x - logsumexp(x) ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("result", "expected"),
    [([-INF, NAN, -INF], "pass"), ([NAN, NAN, NAN], "pass"), ([-INF, 0.0, -INF], "fail"), ([0.0, NAN, -INF], "fail")],
)
def test_log_softmax_beside_infinity(result: list[float], expected: str) -> None:
    assert status("aten::_log_softmax", [F32([[1.0, INF, -INF]]), 1, False], [F32([result])]) == expected


def test_log_softmax_may_lose_no_finite_number_to_the_maximum() -> None:
    x = F32([[1e8, 1e8]])
    assert status("aten::_log_softmax", [x, 1, False], [F32([[-np.log(2)] * 2])]) == "pass"
    by_logsumexp = x - (x.max() + np.log(F32(2)))
    assert status("aten::_log_softmax", [x, 1, False], [by_logsumexp]) == "fail"  # 0: the logarithm is lost in 1e8


# --- Convolutions -----------------------------------------------------------------------------------------------------

B_T = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], F32)
G = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], F32)
A_T = np.array([[1, 1, 1, 0], [0, 1, -1, -1]], F32)


def winograd(image: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """F(2 x 2, 3 x 3) of an image of even sizes, in float32."""
    transformed, result = G @ weight @ G.T, np.zeros(np.subtract(image.shape, 2), F32)
    with np.errstate(all="ignore"):
        for y in range(0, result.shape[0], 2):
            for x in range(0, result.shape[1], 2):
                tile = image[y : y + 4, x : x + 4]
                result[y : y + 2, x : x + 2] = A_T @ (transformed * (B_T @ tile @ B_T.T)) @ A_T.T
    return result


def convolved(image: np.ndarray, weight: np.ndarray, result: np.ndarray) -> str:
    args = [image[None, None], weight[None, None], None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1]
    return status("aten::convolution", args, [result[None, None]])


@pytest.mark.parametrize("special", [INF, -INF, NAN, 3e38])
@pytest.mark.parametrize("place", [(0, 0), (4, 5), (9, 9)])
def test_winograd_may_make_nan_of_a_tile(special: float, place: tuple[int, int]) -> None:
    generator = np.random.default_rng(0)
    image, weight = generator.normal(size=(10, 10)).astype(F32), generator.normal(size=(3, 3)).astype(F32)
    assert convolved(image, weight, winograd(image, weight)) == "pass"
    image[place] = special
    result = winograd(image, weight)
    result[np.isinf(result)] = NAN  # as a tile of fused multiplications and additions has it
    if np.isfinite(special):
        result = np.where(np.abs(result) > 1e30, NAN, result)
    assert convolved(image, weight, result) == "pass"
    far = result.copy()
    far[(0, 0) if place[0] > 3 else (7, 7)] = NAN
    assert convolved(image, weight, far) == "fail"
    assert convolved(image, weight, np.where(np.isnan(result), F32(1), result)) == "fail"


def test_zero_insertion_makes_nan_where_a_transposed_window_meets_no_input() -> None:
    weight = F32([[[INF, 1.0]]])
    args = [F32([[[1.0, 2.0]]]), weight, None, [2], [0], [1], True, [0], 1]
    assert status("aten::convolution", args, [F32([[[INF, NAN, INF, NAN]]])]) == "pass"
    assert status("aten::convolution", args, [F32([[[INF, 1.0, INF, 2.0]]])]) == "pass"
    assert status("aten::convolution", args, [F32([[[NAN, 1.0, INF, 2.0]]])]) == "fail"


# --- Others -----------------------------------------------------------------------------------------------------------


def test_batch_norm_folded_into_one_product_may_lose_an_infinite_weight() -> None:
    x, mean, variance = F32([[[1.0, 3.0]]]), F32([2.0]), F32([1.0])
    folded = [F32([[[NAN, NAN]]]), np.empty(0, F32), np.empty(0, F32)]  # x * inf - mean * inf
    for weight, expected in ((INF, "unjudged"), (2.0, "fail")):
        args = [x, F32([weight]), F32([0.0]), mean, variance, 0.1, 0.0]
        assert status("aten::_native_batch_norm_legit_no_training", args, folded) == expected


def test_scores_of_scale_0_may_be_infinity_times_0() -> None:
    args = [F32([[2.0**100]]), F32([[2.0**100]]), F32([[1.0]])]
    assert status("aten::scaled_dot_product_attention", args, [F32([[NAN]])], scale=0.0) == "unjudged"
    small = [F32([[1.0]]), F32([[1.0]]), F32([[1.0]])]
    assert status("aten::scaled_dot_product_attention", small, [F32([[NAN]])], scale=0.0) == "fail"


def test_a_negative_integer_exponent_may_be_refused() -> None:
    refused = Reply("error", reason="RuntimeError: Integers to negative integer powers are not allowed.")
    assert status("aten::pow", [np.int32([2]), np.int32([-1])], refused) == "unspecified"
    assert status("aten::pow", [np.int32([2]), np.int32([1])], refused) == "error"


def test_a_sum_before_its_elements_are_rounded_to_a_half_type_passes() -> None:
    x = F32([1 + 2.0**-8, -1.0])
    for result, expected in ((2.0**-8, "pass"), (0.0, "pass"), (2.0**-9, "fail")):
        assert status("aten::sum", [x], [np.array(result, ml_dtypes.bfloat16)], dtype="bfloat16") == expected
