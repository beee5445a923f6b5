"""Bilinear maps and sums of products of three tensors: literal numbers, and what their special ones leave open."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import bf16, check, check_open, f32, f64, goldens

X, Y = f32([[1, 2]]), f32([[3, 4]])
A = f32([[[1, 0], [0, 1]], [[0, 1], [2, 0]]])


def test_the_sum_over_both_rows() -> None:
    """1 * 3 + 2 * 4; 1 * 4 + 2 * 2 * 3"""
    check("aten::bilinear", X, Y, A, gives=f32([[11, 16]]))
    check("aten::bilinear", X, Y, A, f32([0.5, inf]), gives=f32([[11.5, inf]]))
    check("aten::bilinear", X[0], Y[0], A, f32([nan, -16]), gives=f32([nan, 0]))


def test_it_is_rounded_once() -> None:
    """2^24 + 1 - 2^24, and in float64 a sum of products that are beyond each other by 2^-1000; 1 + 2^-9 is a tie."""
    one = f32([[1, 1, 1]])
    check("aten::bilinear", one, one[:, :1], f32([[[2**24], [1], [-(2**24)]]]), gives=f32([[1]]))
    x, w = f64([[2.0**500, 2.0**-500, -(2.0**500)]]), f64([[[1], [1], [1]]])
    check("aten::bilinear", x, f64([[2.0**-500]]), w, gives=f64([[2.0**-1000]]))
    tie = bf16([[[1], [2.0**-8]]])
    check("aten::bilinear", bf16([[1, 1]]), bf16([[1]]), tie, gives=bf16([[1]]))
    check("aten::bilinear", bf16([[1, 1]]), bf16([[1]]), tie, bf16([2.0**-30]), gives=bf16([[1 + 2.0**-7]]))


def test_infinities_are_open_and_nan_is_not() -> None:
    check_open("aten::bilinear", f32([[1, inf]]), Y, A, gives=f32([[0, 0]]), where_open=[[True, True]], rule="P242")
    infinite = np.where(A == 2, np.float32(inf), A)
    check_open("aten::bilinear", X, Y, infinite, gives=f32([[11, 0]]), where_open=[[False, True]], rule="P242")
    check("aten::bilinear", f32([[nan, inf]]), Y, A, gives=f32([[nan, nan]]))
    huge = f32([[2.0**100]])
    check_open(
        "aten::bilinear", huge, huge, f32([[[2.0**-149]]]), gives=f32([[0]]), where_open=[[True]], rule="P35"
    )


def test_without_rows_there_is_nothing() -> None:
    check("aten::bilinear", X[:0], Y[:0], A, gives=f32(np.empty((0, 2))))
    with pytest.raises(InvalidArguments, match="input2"):
        goldens("aten::bilinear", X, f32([[3, 4], [5, 6]]), A)


def test_the_bound_is_that_of_any_order() -> None:
    """Four terms and three roundings more, of the sum of their magnitudes."""
    (golden,) = goldens("aten::bilinear", X, -Y, A)
    assert (golden.terms, golden.magnitude.tolist()) == (7, [[11, 16]])


def test_trilinear_is_a_product_with_dims_that_repeat() -> None:
    """The bilinear map above; and the sum over j of x_ij y_j z_k."""
    check("aten::_trilinear", X, A, Y, [1, 3], [0], [1, 2], [2, 3], gives=f32([[11, 16]]))
    z = f32([1, 10])
    check("aten::_trilinear", f32([[1, 2], [3, 4]]), f32([5, 6]), z, [2], [0, 2], [0, 1], [1], 0,
          gives=f32([[17, 170], [39, 390]]))  # fmt: skip
