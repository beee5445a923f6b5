"""Orthogonal polynomials: literal operands and results."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from conform.interp.formulas.recurrences import POLYNOMIALS
from tests.interp.ops.literal import check, f32, f64, goldens, i32

OF_DEGREES_0_TO_3_AT_2 = {
    "chebyshev_polynomial_t": [1, 2, 7, 26], "chebyshev_polynomial_u": [1, 4, 15, 56],
    "chebyshev_polynomial_v": [1, 3, 11, 41], "chebyshev_polynomial_w": [1, 5, 19, 71],
    "shifted_chebyshev_polynomial_t": [1, 3, 17, 99], "shifted_chebyshev_polynomial_u": [1, 6, 35, 204],
    "shifted_chebyshev_polynomial_v": [1, 5, 29, 169], "shifted_chebyshev_polynomial_w": [1, 7, 41, 239],
    "hermite_polynomial_h": [1, 4, 14, 40], "hermite_polynomial_he": [1, 2, 3, 2],
    "laguerre_polynomial_l": [1, -1, -1, float(np.float32(-1 / 3))], "legendre_polynomial_p": [1, 2, 5.5, 17],
}  # fmt: skip


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_the_first_degrees_at_2(name: str) -> None:
    gives = f32(OF_DEGREES_0_TO_3_AT_2[name])
    check(f"aten::special_{name}", f32([2.0]), i32([0, 1, 2, 3]), gives=gives)
    check(f"aten::special_{name}.x_scalar", 2, f32([0.0, 1.0, 2.0, 3.0]), gives=gives)
    check(f"aten::special_{name}.n_scalar", f32([2.0]), 3, gives=gives[3:])


def test_what_the_degree_leaves_open() -> None:
    n = f64([-1.0, -0.5, 1.5, 33.0, nan, inf, 32.0, 0.0])
    (golden,) = goldens("aten::special_chebyshev_polynomial_t", f64([0.5]), n)
    assert golden.open.tolist() == [True, True, False, True, True, True, False, False]


def test_what_is_no_number() -> None:
    """1 of degree 0, whatever x is; of infinities the limits of degree 1, and open from there on."""
    x, n = f64([nan, nan, inf, -inf, inf]), f64([0.0, 1.0, 0.0, 1.0, 2.0])
    (golden,) = goldens("aten::special_laguerre_polynomial_l", x, n)
    assert np.array_equal(golden.value[:4], [1.0, nan, 1.0, inf], equal_nan=True)
    assert golden.open.tolist() == [False] * 4 + [True]


def test_overflow() -> None:
    (golden,) = goldens("aten::special_hermite_polynomial_h", f64([1e200, -1e200, -1e200]), f64([2.0, 3.0, 2.0]))
    assert golden.value.tolist() == [inf, -inf, inf]


def test_a_value_that_nearly_cancels_is_rounded_once() -> None:
    """P_2(x) = (3 x^2 - 1)/2 beside its root 1/sqrt 3."""
    x = 0.5773502691896257
    exact = (3 * Fraction(x) ** 2 - 1) / 2
    check("aten::special_legendre_polynomial_p", f64([x]), i32([2]), gives=f64([float(exact)]))
