"""One element of each row of docs/torch-cpu.md: what is right, whatever this machine's torch returns.

Here products, sums and normalizations. The proofs use exact arithmetic (fractions, integers) alone.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import ml_dtypes
import numpy as np
import pytest

import conform


@pytest.mark.parametrize(("lhs", "rhs", "exact"), [(np.inf, 2.0**-133, np.inf), (1.0, 2.0**-127, 2.0**-127)])
def test_subnormal_bfloat16_numbers_are_not_zero(lhs, rhs, exact):
    # IEEE 754, clause 6.1: infinity times any number but 0 is infinite. 2^-127 is 64 times the smallest bfloat16.
    x, y = (np.array([[number]]).astype(ml_dtypes.bfloat16) for number in (lhs, rhs))
    assert conform.golden("aten::mm", x, y).value.tolist() == [[exact]]
    assert conform.golden("aten::addmm", np.zeros_like(x), x, y).value.tolist() == [[exact]]
    inputs, weight = x[None], y[None]
    convolved = conform.golden("aten::convolution", inputs, weight, None, [1], [0], [1], False, [0], 1)
    assert convolved.value.tolist() == [[[exact]]]


def test_batch_norm_of_halves_does_not_round_the_mean():
    x = np.array([[100.0], [101.0], [102.0], [100.0]])  # torch rounds the mean to 101 and says 0 for 101
    assert sum(map(Fraction, x.ravel().tolist())) / 4 == Fraction(403, 4)
    name = "aten::_native_batch_norm_legit.no_stats"
    output, _, _ = conform.golden(name, x.astype(ml_dtypes.bfloat16), None, None, True, 0.1, 1e-5).value
    assert output.astype(float)[1, 0] > 0.25  # 0.25 / sqrt(0.6875)


def test_batch_norm_of_large_numbers_and_a_tiny_weight_keeps_its_digits():
    # Torch folds weight and deviation into one factor, 316 * 2^-149, and says 0x1.3bfb12p-126.
    x, tiny, one = np.float32([[32767.0]]), np.float32([2.0**-149]), np.float32([1.0])
    unit, expected = Fraction(1, 2**149), Fraction(float.fromhex("0x1.3c356p-126"))
    deviation = Fraction(isqrt(int(Fraction(1e-5) * 10**120)), 10**60)
    assert abs(32766 / deviation * unit + unit - expected) < unit / 2
    name = "aten::_native_batch_norm_legit_no_training"
    output, _, _ = conform.golden(name, x, tiny, tiny, one, np.float32([-0.0]), 0.1, 1e-5).value
    assert output.tolist() == [[float(expected)]]


def test_group_norm_takes_each_channel_s_own_weight_of_a_strided_tensor():
    # Torch takes 9, which lies between 1 and 2 in memory.
    weight = np.array([1.0, 9.0, 2.0, 9.0], np.float32)[::2]
    x = np.array([[[-1.0, 1.0], [-1.0, 1.0]]], np.float32)  # mean 0, variance 1
    output, _, _ = conform.golden("aten::native_group_norm", x, weight, None, 1, 2, 2, 1, 0.0).value
    assert output.tolist() == [[[-1.0, 1.0], [-2.0, 2.0]]]


def test_zero_times_nan_is_nan_whatever_it_is_added_to():
    # IEEE 754 6.2: an operation on a quiet NaN gives one. torch.addmm documents an exception for beta=0 alone.
    nan, one = np.float32([[np.nan]]), np.float32([[1.0]])
    assert np.isnan(conform.golden("aten::addmm", one, nan, one, alpha=0).value).all()


def test_alpha_scales_the_product_and_rounds_no_factor():
    # 1.5 * 2^-149 lies between subnormals; the product with 10^10 is a normal number.
    exact = Fraction(3, 2) * Fraction(1, 2**149) * 10**10
    factors = np.float32([[2.0**-149, 0.0]]), np.float32([[-(10.0**10)], [1.0]])
    value = conform.golden("aten::addmm", np.float32([[0.0]]), *factors, alpha=-1.5).value
    assert abs(Fraction(float(value[0, 0])) - exact) < exact / 2**23


def test_a_difference_from_the_mean_times_an_infinite_weight_is_infinite():
    # The first element lies below the mean of 0, 1 and 5, so minus infinity times it is infinity.
    weight = np.float32([-np.inf, 1.0, 1.0])
    output, _, _ = conform.golden("aten::native_layer_norm", np.float32([0, 1, 5]), [3], weight, None, 0.0).value
    assert output[0] == np.inf


def test_a_nansum_over_two_dims_is_one_sum_rounded_once():
    x = np.zeros((3, 2, 2))
    x[0, :, 0], x[1, :, 0], x[2, :, 1] = 1, 2.0**-8, 2.0**-8
    exact = 1 + 2 * Fraction(1, 2**8)  # a number of bfloat16; 1 + 2^-8 alone is a tie, to even
    (value,) = {*conform.golden("aten::nansum", x.astype(ml_dtypes.bfloat16), [0, 2]).value.tolist()}
    assert value == exact == Fraction("1.0078125")


def test_a_nanmean_of_halves_divides_the_sum_before_it_is_rounded():
    exact = Fraction(2048 + 1 + 0, 3)
    assert conform.golden("aten::nanmean", np.float16([2048, 1, 0])).value.tolist() == exact == 683


def test_a_mask_of_bools_leaves_keys_out() -> None:
    """exp(-inf) = 0 for the first key, so that the one that is left has the share 1, and its value is 0."""
    query, key, value = (np.array(rows, np.float32) for rows in ([[1, 1]], [[1, 1], [1, 1]], [[1], [0]]))
    mask = np.array([[False, True]])
    golden = conform.golden("aten::_scaled_dot_product_attention_math", query, key, value, mask)
    assert golden.value[0].tolist() == [[0.0]]
