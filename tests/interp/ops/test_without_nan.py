"""Sums and means of what is not NaN, and spreads beside means."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from tests.interp.ops.literal import bf16, boolean, check, check_open, f16, f32, f64, goldens, i8, i32, i64, shown


def test_nansum() -> None:
    """torch.nansum's examples: 1, 2, NaN, 4 are 7; over dims of [[1, 2], [3, NaN]]."""
    check("aten::nansum", f32([1.0, 2.0, nan, 4.0]), gives=f32(7.0))
    square = f32([[1.0, 2.0], [3.0, nan]])
    check("aten::nansum", square, gives=f32(6.0))
    check("aten::nansum", square, [0], gives=f32([4.0, 2.0]))
    check("aten::nansum", square, [-1], True, gives=f32([[3.0], [3.0]]))


def test_nansum_of_nothing_infinities_and_other_dtypes() -> None:
    check("aten::nansum", f32([nan, nan]), gives=f32(0.0))
    check("aten::nansum", f32([]), [], gives=f32(0.0))
    check("aten::nansum", f64([inf, nan, 1.0]), gives=f64(inf))
    check("aten::nansum", f64([inf, nan, -inf]), gives=f64(nan))
    check("aten::nansum", i8([100, 100]), gives=i64(200))
    check("aten::nansum", boolean([True, True]), gives=i64(2))
    check("aten::nansum", f32(nan), gives=f32(0.0))
    check("aten::nansum", bf16([256.0, 1.0, nan, 1.0, 1.0]), gives=bf16(260.0))  # 259, a tie, to even
    check_open("aten::nansum", np.float32([[1.5, nan], [2.5, 1.0]]), [0], dtype="int32",
               gives=i32([3, 0]), where_open=[False, True], rule="P13")  # fmt: skip


def test_a_sum_beside_nan_that_some_order_overflows_is_open() -> None:
    check_open("aten::nansum", f32([[2.0**127, nan, 2.0**127, -(2.0**127)], [1.0, nan, 2.0, 3.0]]), [1],
               gives=f32([0.0, 6.0]), where_open=[True, False], rule="P35")  # fmt: skip


def test_nanmean() -> None:
    """torch.nanmean's example: [[NaN, 1, 2], [1, 2, 3]]."""
    rows = f32([[nan, 1.0, 2.0], [1.0, 2.0, 3.0]])
    check("aten::nanmean", rows, [1], gives=f32([1.5, 2.0]))
    check("aten::nanmean", rows, [0], gives=f32([1.0, 1.5, 2.5]))
    check("aten::nanmean", rows, gives=f32(np.float32(1.8)))  # 9 / 5
    check("aten::nanmean", rows, [0, -1], True, gives=f32([[np.float32(1.8)]]))


def test_nanmean_of_nothing_infinities_and_other_dtypes() -> None:
    check("aten::nanmean", f32([[nan, nan], [inf, nan], [inf, -inf]]), [1], gives=f32([nan, inf, nan]))
    check("aten::nanmean", f32([]), gives=f32(nan))
    check("aten::nanmean", f16([60000.0, nan, 60000.0]), gives=f16(60000.0))  # the sum is held in float32
    check("aten::nanmean", f16([1.0, 2.0, nan]), dtype="float64", gives=f64(1.5))
    with pytest.raises(InvalidArguments, match=r"dtype\(self\)"):
        goldens("aten::nanmean", i64([1, 2]))
    with pytest.raises(Unjudged):
        goldens("aten::nanmean", np.complex64([1.0]))


def test_a_nanmean_is_exact_where_its_sum_is_on_a_grid() -> None:
    """As a mean's: the terms are multiples of 1/2, the sum of their magnitudes is small."""
    (golden,) = goldens("aten::nanmean", f32([0.5, nan, 1.0, 1.5]))
    assert (golden.grid.tolist(), golden.divided) == (0.5 / 3, True)
    assert golden.magnitude.tolist() == pytest.approx(1.0)


def test_var_mean_and_std_mean() -> None:
    """Of 1, 2, 3, 4 the mean is 5/2 and the variance 5/3, or 5/4 without a correction."""
    row = f64([1.0, 2.0, 3.0, 4.0])
    check("aten::var_mean.correction", row, gives=(f64(5 / 3), f64(2.5)))
    check("aten::var_mean.correction", row, correction=0, gives=(f64(1.25), f64(2.5)))
    check("aten::std_mean.correction", f64([[1.0, 3.0], [5.0, 5.0]]), [1], correction=0, keepdim=True,
          gives=(f64([[1.0], [0.0]]), f64([[2.0], [5.0]])))  # fmt: skip
    check("aten::std_mean.correction", f16([60000.0, 60000.0]), gives=(f16(0.0), f16(60000.0)))


def test_spread_and_mean_of_nothing_and_of_one() -> None:
    check("aten::var_mean.correction", f32([]), gives=(f32(nan), f32(nan)))
    check("aten::var_mean.correction", f32([[2.0]]), [1], gives=(f32([nan]), f32([2.0])))
    check("aten::std_mean.correction", f32([nan, 1.0]), gives=(f32(nan), f32(nan)))


def test_a_mean_beside_a_spread_may_be_that_of_updates() -> None:
    """Mean + (x - mean) / n gives NaN behind an infinity (P40); a wrong number stays wrong."""
    _, mean = goldens("aten::var_mean.correction", f32([[inf, 1.0], [2.0, 4.0], [inf, -inf]]), [1])
    assert shown(mean.value) == "float32[3] [inf, 3.0, nan]"
    (other,) = mean.alternatives
    assert shown(other.value) == "float32[3] [nan, 3.0, nan]"
    assert mean.budget[1] > 0
    assert mean.terms is None  # updates divide on the way, so no grid makes them exact
