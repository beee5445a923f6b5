"""Special functions: literal operands and results of their definitions."""

from __future__ import annotations

from fractions import Fraction
from math import inf, log, nan, nextafter

import numpy as np
import pytest

from tests.interp.ops.literal import bf16, check, f16, f32, f64, goldens, i32

# ---- logit and logaddexp2 ----------------------------------------------------------------------------------------


def test_logit() -> None:
    check("aten::logit", f64([0.25, 0.5, 0.75, 0.0, 1.0]), gives=f64([-log(3), 0.0, log(3), -inf, inf]))
    check("aten::logit", f32([-1.0, 2.0, nan, inf, -0.0]), gives=f32([nan, nan, nan, nan, -inf]))
    check("aten::logit", i32([0, 1, 2]), gives=f32([-inf, inf, nan]))
    check("aten::special_logit", f64([nextafter(0.5, 1)]), gives=f64([2.0**-51]))


def test_logit_between_eps_and_one_minus_eps() -> None:
    check("aten::logit", f64([0.0, 0.1, 0.25, 1.0, -5.0, inf, nan]), 0.25,
          gives=f64([-log(3), -log(3), -log(3), log(3), -log(3), log(3), nan]))  # fmt: skip
    check("aten::logit", f32([0.0, 1.0]), 0.5, gives=f32([0.0, 0.0]))
    (golden,) = goldens("aten::logit", f32([1.0]), 1e-6)
    of_doubles, of_floats = np.float32(log(999999)), np.float32(log(2**24 / 17 - 1))  # float32 holds 1 - 17 * 2^-24
    assert golden.value.tolist() == [of_doubles]
    assert {alternative.value.item() for alternative in golden.alternatives} == {of_doubles, of_floats}


@pytest.mark.parametrize("eps", [0.25, 1e-6])
def test_logit_of_a_number_without_dims(eps: float) -> None:
    (golden,) = goldens("aten::logit", f32(1.0), eps)
    assert golden.value.shape == golden.budget.shape == ()


def test_logaddexp2() -> None:
    check("aten::logaddexp2", f64([0.0, -1.0, 3.0, 1.0]), f64([0.0, -1.0, 3.0, 1.0]), gives=f64([1.0, 0.0, 4.0, 2.0]))
    check("aten::logaddexp2", f32([1000.0, -inf, inf, -inf, nan]), f32([0.0, -inf, -inf, -0.0, inf]),
          gives=f32([1000.0, -inf, inf, 0.0, nan]))  # fmt: skip
    check("aten::logaddexp2", f16([10.0]), f16([0.0]), gives=f16([10.0]))
    check("aten::logaddexp2", f64([2.0]), f64([-2.0]), gives=f64([2.0874628412503394]))  # log2 4.25


def test_far_smaller_operands_decide_ties() -> None:
    """26304 is the midpoint of bfloat16's 26240 and 26368, whose even one is 26240."""
    for op in ("aten::logaddexp", "aten::logaddexp2"):
        (golden,) = goldens(op, np.array(26304.0), bf16([-0.5]))
        assert golden.value.tolist() == [26368.0]


# ---- scaled functions --------------------------------------------------------------------------------------------


def test_erfcx() -> None:
    check("aten::special_erfcx", f64([0.0, 1.0, -1.0, 50.0]), gives=f64(
        [1.0, 0.42758357615580700441, 5.00898008076228346631, 0.01128153626532377257]))  # fmt: skip
    check("aten::special_erfcx", f32([inf, -inf, nan, -20.0]), gives=f32([0.0, inf, nan, inf]))
    check("aten::special_erfcx", i32([0]), gives=f32([1.0]))
    (golden,) = goldens("aten::special_erfcx", f64([1.7e308]))
    assert golden.value.tolist() == [0.56418958354775628695 / 1.7e308]


def test_scaled_bessel_functions() -> None:
    of_order_0, of_order_1 = 0.46575960759364043651, 0.20791041534970844887
    check("aten::special_i0e", f64([0.0, 1.0, -1.0]), gives=f64([1.0, of_order_0, of_order_0]))
    check("aten::special_i1e", f64([-0.0, 1.0, -1.0]), gives=f64([-0.0, of_order_1, -of_order_1]))
    check("aten::special_i0e", f32([inf, -inf, nan]), gives=f32([0.0, 0.0, nan]))
    check("aten::special_i1e", f32([inf, -inf, nan]), gives=f32([0.0, -0.0, nan]))
    (golden,) = goldens("aten::special_i0e", f64([2.0**1022]))
    assert golden.value.tolist() == [0.3989422804014327 * 2.0**-511]


# ---- logarithms --------------------------------------------------------------------------------------------------


def test_log_ndtr() -> None:
    check("aten::special_log_ndtr", f64([0.0, -3.0, 3.0, -1e10]), gives=f64(
        [-log(2), -6.6077262215103495433, -0.00135080996474819379884, -5.0000000000000000024e19]))  # fmt: skip
    check("aten::special_log_ndtr", f32([inf, -inf, nan]), gives=f32([0.0, -inf, nan]))


def test_entr() -> None:
    check("aten::special_entr", f64([2.0, 0.5, 0.0, -0.0]), gives=f64([-2 * log(2), log(2) / 2, 0.0, 0.0]))
    check("aten::special_entr", f32([1.0, inf, nan, -1.0, -inf]), gives=f32([-0.0, -inf, nan, -inf, -inf]))


def test_xlog1py() -> None:
    check("aten::special_xlog1py", f64([2.0, 3.0]), f64([1.0, 0.0]), gives=f64([2 * log(2), 0.0]))
    check("aten::special_xlog1py", f32([0.0, 0.0, -0.0, 0.0, 1.0]), f32([-1.0, nan, inf, -2.0, -1.0]),
          gives=f32([0.0, nan, 0.0, 0.0, -inf]))  # fmt: skip
    check("aten::special_xlog1py", 2, f64([1.0]), gives=f64([2 * log(2)]))
    check("aten::special_xlog1py", i32([0]), 5, gives=f32([0.0]))


# ---- Bessel functions --------------------------------------------------------------------------------------------


def test_bessel_functions_of_the_first_kind() -> None:
    check("aten::special_bessel_j0", f64([0.0, 1.0, -1.0, 10.0]), gives=f64(
        [1.0, 0.76519768655796655145, 0.76519768655796655145, -0.24593576445134833520]))  # fmt: skip
    check("aten::special_bessel_j1", f64([-0.0, 1.0, -1.0, 10.0]), gives=f64(
        [-0.0, 0.44005058574493351596, -0.44005058574493351596, 0.043472746168861436670]))  # fmt: skip
    check("aten::special_bessel_j0", f32([inf, -inf, nan]), gives=f32([0.0, 0.0, nan]))
    check("aten::special_spherical_bessel_j0", f64([0.0, 1.0, -2.0]), gives=f64(
        [1.0, 0.84147098480789650665, 0.45464871341284084770]))  # fmt: skip
    check("aten::special_spherical_bessel_j0", f32([inf, -inf, nan]), gives=f32([0.0, 0.0, nan]))


def test_bessel_function_beside_its_zero() -> None:
    """The double next to the first zero of J0, which is 2.404825557695772768621631879326 (DLMF, table 10.21.1)."""
    x = 2.404825557695773
    zero, slope = Fraction("2.404825557695772768621631879326"), -0.5191474972894669  # -J1 there
    (golden,) = goldens("aten::special_bessel_j0", f64([x]))
    assert golden.value.item() == pytest.approx(float(Fraction(x) - zero) * slope, rel=1e-9)


def test_modified_bessel_functions() -> None:
    check("aten::special_modified_bessel_i0", f64([1.0]), gives=f64([1.26606587775200833560]))
    check("aten::special_modified_bessel_i1", f64([-1.0, -0.0]), gives=f64([-0.56515910399248502721, -0.0]))
    check("aten::special_modified_bessel_k0", f64([1.0, 2.0]), gives=f64(
        [0.42102443824070833334, 0.11389387274953343566]))  # fmt: skip
    check("aten::special_modified_bessel_k1", f64([1.0, 2.0]), gives=f64(
        [0.60190723019723457474, 0.13986588181652242728]))  # fmt: skip
    for order in (0, 1):
        for op in (f"aten::special_modified_bessel_k{order}", f"aten::special_scaled_modified_bessel_k{order}"):
            check(op, f32([0.0, -0.0, inf, -1.0, -inf, nan]), gives=f32([inf, inf, 0.0, nan, nan, nan]))
    check("aten::special_scaled_modified_bessel_k0", f64([1.0]), gives=f64([1.144463079806895014699]))
    check("aten::special_scaled_modified_bessel_k1", f64([1.0]), gives=f64([1.636153486263258246513]))
    check("aten::special_modified_bessel_k1", f64([2.0**-1000]), gives=f64([2.0**1000]))
