"""Products of several matrices and powers: literal numbers, one rounding, and what special ones leave open."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import inf, nan

import numpy as np
import pytest

import conform
from conform.errors import InvalidArguments
from tests.interp.ops.literal import bf16, check, check_open, f32, f64, goldens, i8, i64

A, B, C = [[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 0], [1, 1]]
ABC = [[41, 22], [93, 50]]


def test_products_in_the_order_of_the_list() -> None:
    check("aten::linalg_multi_dot", [f32(A), f32(B), f32(C)], gives=f32(ABC))
    check("aten::chain_matmul", [i64(A), i64(B), i64(C)], gives=i64(ABC))
    check("aten::chain_matmul", [f32([[nan, inf]])], gives=f32([[nan, inf]]))
    check("aten::chain_matmul", [i8([[100]]), i8([[2]]), i8([[3]])], gives=i8([[88]]))  # 600 - 512


def test_vectors_at_both_ends_lose_their_dims() -> None:
    check("aten::linalg_multi_dot", [f32([1, 1]), f32(A), f32([1, 10])], gives=f32(64))
    check("aten::linalg_multi_dot", [f32([1, 1]), f32(A)], gives=f32([4, 6]))
    check("aten::linalg_multi_dot", [f32(A), f32(B), f32([1, 10])], gives=f32([239, 543]))


def test_the_product_is_rounded_once() -> None:
    """(1 + 2^-12)^3 in float32, where rounding on the way loses 2^-24 and 2^-36; 2^-1000 in float64 beside 2^500."""
    x = 1 + 2.0**-12
    check("aten::chain_matmul", [f32([[x]])] * 3, gives=f32([[1 + 3 * 2.0**-12 + 2.0**-22]]))
    numbers = [f64([[2.0**500, 2.0**-500, -(2.0**500)]]), f64(np.eye(3)), f64([[1]] * 3), f64([[2.0**-500]])]
    check("aten::linalg_multi_dot", numbers, gives=f64([[2.0**-1000]]))
    tie = [bf16([[1, 2.0**-8]]), bf16(np.eye(2)), bf16([[1], [1]])]
    check("aten::linalg_multi_dot", tie, gives=bf16([[1]]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_over_the_range_are_those_of_fractions(dtype: type) -> None:
    draws = np.random.default_rng(3)
    least = -1074 if dtype == np.float64 else -149
    for highest in (0, 60, least // 2, least + 20):
        exponents = [draws.integers(least // 3 if highest >= 0 else least, highest + 1, (4, 4)) for _ in range(3)]
        factors = [np.ldexp(np.round(64 * draws.standard_normal((4, 4))), each).astype(dtype) for each in exponents]
        exactly = reduce(np.matmul, (np.vectorize(Fraction, otypes=[object])(np.float64(one)) for one in factors))
        value = conform.golden("chain_matmul", factors).value
        for found, number in zip(value.reshape(-1).tolist(), exactly.reshape(-1), strict=True):
            if np.isfinite(found):
                assert abs(Fraction(found) - number) <= Fraction(float(np.spacing(dtype(abs(found))))) / 2


def test_infinities_are_open_and_nan_is_not() -> None:
    numbers = [f32([[1, inf], [1, 1]]), f32(A), f32(B)]
    check_open("aten::chain_matmul", numbers, gives=f32([[0, 0], [62, 72]]),
               where_open=[[True, True], [False, False]], rule="P242")  # fmt: skip
    check("aten::chain_matmul", [f32(A), f32([[nan, 1], [1, inf]]), f32(B)], gives=f32([[nan, nan], [nan, nan]]))
    check_open("aten::chain_matmul", [f32(np.empty((1, 0))), f32(np.empty((0, 1))), f32([[nan]])], gives=f32([[0]]),
               where_open=[[True]], rule="P242")  # fmt: skip


def test_a_partial_product_may_overflow() -> None:
    """1e30 * 1e30 * 1e-30 in float32: the first two alone are infinite."""
    numbers = [f32([[2.0**100], [1]]), f32([[2.0**100]]), f32([[2.0**-100]])]
    check_open("aten::chain_matmul", numbers, gives=f32([[0], [1]]), where_open=[[True], [False]], rule="P35")


def test_the_bound_is_that_of_any_order() -> None:
    (golden,) = goldens("aten::chain_matmul", [f32(A), -f32(B), f32(C)])
    assert (golden.terms, golden.magnitude.tolist()) == (2 + 2 + 3, ABC)


def test_powers() -> None:
    power = [[37, 54], [81, 118]]
    check("aten::linalg_matrix_power", f32(A), 3, gives=f32(power))
    check("aten::matrix_power", f64([A, C]), 0, gives=f64([np.eye(2), np.eye(2)]))
    check("aten::matrix_power", f32([[nan, inf], [0, 1]]), 1, gives=f32([[nan, inf], [0, 1]]))
    check("aten::matrix_power", f64([[2, 0], [0, 4]]), -2, gives=f64([[0.25, 0], [0, 0.0625]]))
    check("aten::matrix_power", f64([[1, 2], [0, 1]]), -2, gives=f64([[1, -4], [0, 1]]))


def test_powers_of_what_has_none() -> None:
    check_open("aten::matrix_power", f32([[1, 1], [1, 1]]), -1, gives=f32(A), where_open=[[True] * 2] * 2, rule="P218")
    check("aten::matrix_power", f32([[nan, 0], [0, 1]]), 3, gives=f32([[nan, nan], [nan, nan]]))
    check_open("aten::matrix_power", f32([[inf, 0], [0, 1]]), 2, gives=f32([[0, 0], [0, 1]]),
               where_open=[[True, True], [True, False]], rule="P242")  # fmt: skip


def test_vandermonde_matrices() -> None:
    check("aten::linalg_vander", f32([2, -3]), N=4, gives=f32([[1, 2, 4, 8], [1, -3, 9, -27]]))
    check("aten::linalg_vander", i8([[2, 10]]), gives=i64([[[1, 2], [1, 10]]]))
    check("aten::linalg_vander", f64([nan, 0]), N=2, gives=f64([[1, nan], [1, 0]]))
    (golden,) = goldens("aten::linalg_vander", f32([3]), N=4)
    assert golden.budget[0, :2].tolist() == [0, 0]
    assert 0 < golden.budget[0, 2] < golden.budget[0, 3]


def test_sums_above_zero() -> None:
    ones = f32([[1, 1]])
    check("aten::_addmm_activation", f32(0.5), ones, f32([[1, -2], [2, nan]]), gives=f32([[3.5, nan]]))
    check("aten::_addmm_activation", f32(0.5), ones, f32([[1], [-2]]), beta=3, alpha=2, gives=f32([[0]]))
    check("aten::_add_relu.Tensor", i8([100, -5]), i8([100, 3]), gives=i8([0, 0]))
    check("aten::_add_relu.Scalar", f32([1, -5, nan, inf]), 2.0, 2, gives=f32([5, 0, nan, inf]))


def test_convolution_of_sequences() -> None:
    """Times 1, 2, 3 with the weights 10 and 1, and a pad of one time: 1, 10 + 2, 20 + 3, 30; and the bias."""
    x, w = f32([[[1]], [[2]], [[3]]]), f32([[[10]], [[1]]])
    check("aten::conv_tbc", x, w, f32([0.5]), 1, gives=f32([[[1.5]], [[12.5]], [[23.5]], [[30.5]]]))
    check("aten::conv_tbc", x, w, f32([0]), gives=f32([[[12]], [[23]]]))
    with pytest.raises(InvalidArguments, match="bias"):
        goldens("aten::conv_tbc", x, w, f32([0, 0]))
