"""Sums, extremes and running sums."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import bf16, boolean, check, check_open, f16, f32, f64, goldens, i8, i32, i64, u8


def test_sum() -> None:
    """torch.sum's example."""
    operand = np.arange(4 * 5 * 6, dtype=np.float32).reshape(4, 5, 6)
    check("aten::sum", operand, [2, 1], gives=f32([435.0, 1335.0, 2235.0, 3135.0]))


def test_sum_over_dims() -> None:
    operand = i64([[1, 2, 3], [4, 5, 6]])
    check("aten::sum", operand, [0], gives=i64([5, 7, 9]))
    check("aten::sum", operand, [-1], keepdim=True, gives=i64([[6], [15]]))
    check("aten::sum.dim_IntList", operand, None, gives=i64(21))
    check("aten::sum.dim_IntList", operand, [], keepdim=True, gives=i64([[21]]))
    check("aten::sum", i64(5), [0], gives=i64(5))
    check("aten::sum", f32([[], []]), [1], gives=f32([0.0, 0.0]))
    check("aten::sum", f32([]), gives=f32(0.0))


def test_sum_dtypes() -> None:
    check("aten::sum", i8([100, 100]), gives=i64(200))
    check("aten::sum", boolean([True, True, False]), gives=i64(2))
    check("aten::sum", i8([100, 100]), dtype="int8", gives=i8(-56))
    check("aten::sum", u8([255, 255]), dtype="float16", gives=f16(510.0))
    check("aten::sum", boolean([False, True]), dtype="bool", gives=boolean(True))
    check("aten::sum", f64([1.0, 2.0**-30]), dtype="float32", gives=f32(1.0))  # converted, then summed
    check_open("aten::sum", np.float32([[1.9, nan], [2.9, 1.0]]), [0], dtype="int32",
               gives=i32([3, 0]), where_open=[False, True], rule="P13")  # fmt: skip


def test_sum_is_the_real_sum_rounded_once() -> None:
    check("aten::sum", f32([2.0**24, 1.0, 1.0, -(2.0**24)]), gives=f32(2.0))
    check("aten::sum", f16([2048.0] + [1.0] * 4), gives=f16(2052.0))
    check("aten::sum", f64([1e300, 1.0, -1e300, 2.0**-60]), gives=f64(1.0))
    check("aten::sum", bf16([256.0, 1.0, 2.0**-20]), gives=bf16(258.0))  # just above a tie


def test_sum_of_infinities_and_its_free_zero() -> None:
    check("aten::sum", f32([inf, 1.0]), gives=f32(inf))
    check("aten::sum", f32([inf, -inf]), gives=f32(nan))
    check("aten::sum", f32([nan, inf]), gives=f32(nan))
    (golden,) = goldens("aten::sum", f32([-0.0, -0.0]))
    assert golden.value == 0
    assert golden.zero_sign_free  # P3


def test_a_sum_that_overflows_in_some_order_is_open() -> None:
    (golden,) = goldens("aten::sum", np.float32([3e38, 3e38, -3e38]))
    assert golden.open.tolist() is True
    assert golden.open_rule == "P35"


@pytest.mark.parametrize("dim", [[2], [-3], [0, 0], [1, -1]])
def test_sum_refuses(dim: list[int]) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::sum", i64([[1, 2]]), dim)


def test_amax() -> None:
    operand = f32([[1.0, nan, -inf], [3.0, 2.0, -inf]])
    check("aten::amax", operand, [0], gives=f32([3.0, nan, -inf]))
    check("aten::amax", operand, [1], keepdim=True, gives=f32([[nan], [3.0]]))
    check("aten::amax", i8([[-5, -7], [-6, -3]]), gives=i8(-3))
    check("aten::amax", boolean([[True, False]]), [0], gives=boolean([True, False]))
    check("aten::amax", f32([[], []]), [0], gives=f32([]))
    assert goldens("aten::amax", f32([0.0, -0.0]))[0].zero_sign_free  # P4
    for operand, dim in ((f32([[], []]), [1]), (f32([]), []), (f32([1.0]), [1]), (f32([[1.0]]), [0, 0])):
        with pytest.raises(InvalidArguments):
            goldens("aten::amax", operand, dim)


def test_argmax() -> None:
    """torch.argmax's example."""
    operand = np.float32([[1.3398, 0.2663, -0.2686, 0.2450], [-0.7401, -0.8805, -0.3402, -1.1936],
                          [0.4907, -1.3948, -1.0691, -0.3132], [-1.6092, 0.5419, -0.2993, 0.3195]])  # fmt: skip
    check("aten::argmax", operand, gives=i64(0))
    check("aten::argmax", operand, 1, gives=i64([0, 2, 0, 1]))
    check("aten::argmax", operand, 0, keepdim=True, gives=i64([[0, 3, 0, 3]]))


def test_argmax_of_ties_and_nan_is_the_first() -> None:
    check("aten::argmax", i8([1, 7, 7]), gives=i64(1))
    check("aten::argmax", f32([-0.0, 0.0]), gives=i64(0))
    check("aten::argmax", f32([inf, 1.0, nan, nan]), gives=i64(2))
    check("aten::argmax", f32(5.0), gives=i64(0))
    check("aten::argmax", i64([2**53, 2**53 + 1]), gives=i64(1))  # float64 does not tell them apart
    for operand, dim in ((f32([]), None), (f32([[], []]), 1), (f32([1.0]), 1)):
        with pytest.raises(InvalidArguments):
            goldens("aten::argmax", operand, dim)


def test_cumsum() -> None:
    check("aten::cumsum", i64([[1, 2, 3], [4, 5, 6]]), 1, gives=i64([[1, 3, 6], [4, 9, 15]]))
    check("aten::cumsum", i64([[1, 2], [4, 5]]), -2, gives=i64([[1, 2], [5, 7]]))
    check("aten::cumsum", boolean([True, True]), 0, gives=i64([1, 2]))
    check("aten::cumsum", i8([100, 100]), 0, dtype="int8", gives=i8([100, -56]))
    check(
        "aten::cumsum", f16([2048.0, 1.0, 1.0, 1.0]), 0, gives=f16([2048.0, 2048.0, 2050.0, 2052.0])
    )  # 2049, 2051 are ties
    check("aten::cumsum", f32([1.0, inf, -inf, 1.0]), 0, gives=f32([1.0, inf, nan, nan]))
    check("aten::cumsum", f32(3.0), 0, gives=f32(3.0))
    check_open(
        "aten::cumsum",
        f64([1.5, nan, 1.0]),
        0,
        dtype="int8",
        gives=i8([1, 0, 0]),
        where_open=[False, True, True],
        rule="P13",
    )
    for dim, dtype in ((1, None), (0, "bool")):
        with pytest.raises(InvalidArguments):
            goldens("aten::cumsum", f32([1.0]), dim, dtype=dtype)


def test_norm_of_a_broken_order_on_a_midpoint() -> None:
    """(sqrt 2 + sqrt 512)^2 = 2 (1 + 16)^2 = 578, halfway between 576 and 580."""
    check("aten::linalg_vector_norm", bf16([2.0, -512.0, 0.0]), 0.5, gives=bf16(576.0))
    check("aten::linalg_vector_norm", bf16([2.0, 512.0, 0.0]), -0.5, gives=bf16(0.0))


def test_frobenius_norm() -> None:
    check("aten::frobenius_norm.dim", f32([[3.0, 0.0], [0.0, 4.0]]), [0, 1], gives=f32(5.0))
    check("aten::frobenius_norm.dim", f32([[3.0, 4.0], [5.0, 12.0]]), [1], True, gives=f32([[5.0], [13.0]]))
    check("aten::frobenius_norm.dim", f64([3e300, 4e300]), [], gives=f64(5e300))
    with pytest.raises(InvalidArguments):
        goldens("aten::frobenius_norm.dim", f32([[[1.0]]]), [0, 1, 2])
