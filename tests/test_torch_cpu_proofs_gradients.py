"""One element of each row of docs/torch-cpu.md that is about gradients and norms by the names that programs call."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

import conform
from conform import InvalidArguments

BF16 = ml_dtypes.bfloat16
WANTED = [True, True, True]


def of_layer_norm(rows: int, columns: int, dtype: type, mean: np.ndarray, rstd: np.ndarray) -> tuple[np.ndarray, ...]:
    ones, weight = np.ones((rows, columns), dtype), np.ones(columns, dtype)
    return conform.golden(
        "aten::native_layer_norm_backward", ones, ones, [columns], mean, rstd, weight, weight, WANTED
    ).value


def test_the_gradient_of_layer_norms_weight_is_the_sum_of_all_rows():
    """1024 times 1 * (1 - 0) * 1; added up in bfloat16 it stays at 256, which has no odd successor."""
    assert float(BF16(256) + BF16(1)) == 256
    zeros, ones = np.zeros((1024, 1), BF16), np.ones((1024, 1), BF16)
    _, by_weight, by_bias = of_layer_norm(1024, 2, BF16, zeros, ones)
    assert by_weight.astype(float).tolist() == by_bias.astype(float).tolist() == [1024.0, 1024.0]


def test_layer_norms_statistics_are_their_elements_wherever_those_lie():
    """sum of 1 * (1 - mean) * rstd over the rows: with means 0 and 2, and rstds 1 and 4, 1 - 4."""
    beside = np.array([[0, 7], [2, 7]], np.float32), np.array([[1, 7], [4, 7]], np.float32)
    means, rstds = (each[:, :1] for each in beside)
    assert not means.flags.c_contiguous
    _, by_weight, _ = of_layer_norm(2, 3, np.float32, means, rstds)
    assert by_weight.tolist() == [-3.0] * 3


def test_batch_norms_weight_is_its_elements_wherever_those_lie():
    """Without train grad * weight / sqrt(variance + eps): 1 * 2 / sqrt(3 + 1) and 1 * 8 / sqrt(3 + 1)."""
    weight = np.array([[2, 7], [8, 7]], np.float32)[:, 0]
    assert not weight.flags.c_contiguous
    ones, zeros, threes = np.ones((1, 2), np.float32), np.zeros(2, np.float32), np.full(2, 3, np.float32)
    arguments = (ones, ones, weight, zeros, threes, None, None, False, 1.0, WANTED)
    by_input = conform.golden("aten::native_batch_norm_backward", *arguments).value[0]
    assert by_input.tolist() == [[1.0, 4.0]]


@pytest.mark.parametrize("eps", [0.0, 2.0**-20])
def test_instance_norm_subtracts_the_mean_that_is_not_rounded(eps: float):
    """Of 100, 101, 102, 100 the mean is 100.75, which bfloat16 has not: its neighbours there are 100.5 and 101."""
    assert Fraction(100 + 101 + 102 + 100, 4) == Fraction(403, 4)
    assert float(BF16(100.75)) == 101
    x = np.array([100, 101, 102, 100], BF16).reshape(1, 1, 4)
    value = conform.golden("aten::instance_norm", x, None, None, None, None, True, 0.1, eps, False).value
    assert float(value[0, 0, 1]) == float(BF16(0.25 / 0.6875**0.5))


def test_instance_norm_of_float16_subtracts_the_mean_that_is_not_rounded():
    # Of 2048, 2050, 2052 and 2048 the mean is 2049.5 and the variance 2.75, so that of 2050 is 1/2 / sqrt(2.75).
    x = np.float16([[[2048, 2050, 2052, 2048]]])
    value = conform.golden("aten::instance_norm", x, None, None, None, None, True, 0.1, 0.0, False).value[0, 0, 1]
    assert abs(Fraction(float(value)) ** 2 * Fraction(11, 4) - Fraction(1, 4)) < Fraction(1, 2**11)


def test_groups_divide_the_channels():
    x, statistics = np.ones((1, 7), np.float32), np.ones((1, 3), np.float32)
    assert 7 % 3
    with pytest.raises(InvalidArguments, match="expected group in divisors of C"):
        conform.golden("aten::native_group_norm_backward", x, x, statistics, statistics, None, 1, 7, 1, 3, [True] * 3)
