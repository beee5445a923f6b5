"""The core suite on torch's CPU fails for the reasons that docs/torch-cpu.md lists and no others, and each is torch's.

The proofs use exact arithmetic (fractions, integers) alone; they say what is right, whatever this machine's torch
returns.
"""

from __future__ import annotations

from fractions import Fraction
from math import fmod, isqrt

import ml_dtypes
import numpy as np
import pytest

import conform

FLOATS = ("float16", "bfloat16", "float32", "float64")

# (op without overload, dtype, reason): as a run says it.
KNOWN = {
    *(
        ("aten::_to_copy", "float64", reason)
        for reason in ("not the correctly rounded result", "NaN where a number is expected")
    ),
    *(("aten::sqrt", "float64", "not the correctly rounded result"),),
    *(
        ("aten::remainder", dtype, "NaN where a number is expected")  # int32: of an int32 and a float32 tensor
        for dtype in ("bfloat16", "float32", "float64", "int32")
    ),
    *(("aten::gelu", "float32", reason) for reason in ("wrong sign of zero", "error above the bound")),
    *(("aten::_softmax", dtype, "error above the bound") for dtype in ("float16", "bfloat16")),
    *(("aten::index_put", dtype, "error above the bound") for dtype in ("float16", "bfloat16")),
    *(("aten::convolution", dtype, "error above the bound") for dtype in ("float16", "bfloat16")),
    *(("aten::convolution", dtype, "NaN where a number is expected") for dtype in ("float16", "bfloat16", "float32")),
    *(
        (op, dtype, "error above the bound")
        for op in ("aten::sinh", "aten::cosh")
        for dtype in ("bfloat16", "float32", "float64")
    ),
    *((op, "bfloat16", "error above the bound") for op in ("aten::erf", "aten::special_erf")),
    *(
        (op, dtype, "NaN where a number is expected")
        for op in ("aten::i0", "aten::special_i0", "aten::special_i1")
        for dtype in FLOATS
    ),
    *(
        ("aten::pow", dtype, reason)
        for dtype in ("bfloat16", "float32", "float64")
        for reason in ("NaN where a number is expected", "wrong sign of zero")
    ),
    *(("aten::rsqrt", dtype, "error above the bound") for dtype in ("float16", "bfloat16")),
    *(
        ("aten::special_ndtr", dtype, "error above the bound")
        for dtype in (*FLOATS, "int8", "int16", "int32", "int64")
    ),
    *(("aten::xlogy", dtype, "error above the bound") for dtype in ("float16", "bfloat16")),
}
# No table states a bound for these: only NaN and infinities are judged.
WITHOUT_BOUND = {
    *("lgamma", "digamma", "special_digamma", "erfinv", "special_erfinv"),
    *("special_ndtri", "i0", "special_i0", "special_i1"),
}


def test_torch_cpu_fails_for_known_reasons_only():
    run = conform.check("core", backend="cpu")
    unbounded = [case for case in run.cases if case["rule"] == "no contract with a source"]
    assert {case["op"].removeprefix("aten::") for case in unbounded} == WITHOUT_BOUND
    failed = [case for case in run.cases if case["status"] not in ("pass", "unspecified") and case not in unbounded]
    assert {(case["op"].partition(".")[0], case["dtype"], case["reason"]) for case in failed} <= KNOWN
    assert run.summary["judged"] > 0.99 * (run.summary["asked"] - len(unbounded))
    assert run.summary["conformance"] > 0.98


def test_float64_to_bfloat16_rounds_up_just_above_a_midpoint():
    x = 1 + 2.0**-8 + 2.0**-52
    low, high = Fraction(1), 1 + Fraction(1, 2**7)
    assert Fraction(x) - low > high - Fraction(x)
    assert conform.golden("aten::_to_copy", np.array([x]), dtype="bfloat16").value.tolist() == [float(high)]


def test_float64_to_float16_rounds_up_just_above_a_midpoint():
    x = 1 + 2.0**-11 + 2.0**-52
    low, high = Fraction(1), 1 + Fraction(1, 2**10)
    assert Fraction(x) - low > high - Fraction(x)
    assert conform.golden("aten::_to_copy", np.array([x]), dtype="float16").value.tolist() == [float(high)]


@pytest.mark.parametrize(
    ("dtype", "x", "low", "high", "nearest"),
    [
        ("float8_e4m3fn", 1.0625 + 2.0**-52, 1.0, 1.125, 1.125),
        ("float8_e5m2", 1.125 + 2.0**-52, 1.0, 1.25, 1.25),
        ("float8_e4m3fnuz", 248 - 2.0**-45, 240, 256, 240),  # 256 overflows: NaN
    ],
)
def test_float64_to_float8_rounds_once_beside_a_midpoint(dtype, x, low, high, nearest):
    other = low + high - nearest
    assert abs(Fraction(x) - Fraction(nearest)) < abs(Fraction(x) - Fraction(other))
    assert conform.golden("aten::_to_copy", np.array([x]), dtype=dtype).value.astype(float).tolist() == [nearest]


def test_the_square_root_of_float64_is_the_nearest_number():
    x = 8.933612171538005
    root = Fraction(
        isqrt(Fraction(x).numerator * 4**200 // Fraction(x).denominator), 2**200
    )  # within 2^-200 of the root
    torch_says, nearest = 2.988914881949301, 2.9889148819493014
    assert abs(root - Fraction(nearest)) < abs(root - Fraction(torch_says))
    assert conform.golden("aten::sqrt", np.array([x])).value.tolist() == [nearest]


@pytest.mark.parametrize(("dividend", "divisor"), [(-1.0, 2.0**-149), (10.0, 2.0**-126)])
def test_a_huge_quotient_has_a_remainder(dividend, divisor):
    assert fmod(dividend, divisor) == 0
    assert Fraction(dividend) % Fraction(divisor) == 0
    value = conform.golden("aten::remainder", np.float32([dividend]), np.float32([divisor])).value
    assert value.tolist() == [0.0]


def test_gelu_of_minus_zero_is_minus_zero():
    # 0.5 * -0 * (1 + erf(-0)) = -0 * 1: the documented formula in IEEE 754 arithmetic.
    assert np.signbit(conform.golden("aten::gelu", np.float32([-0.0])).value).tolist() == [True]


def test_gelu_near_zero_is_half_x_plus_x_squared_over_root_two_pi():
    x = np.float32(0.0019429808)
    exact = Fraction(float(x))
    # x Phi(x) = x/2 + phi(0) (x^2 - x^4/6 + ...), phi(0) = 1/sqrt(2 pi) in [0.39894228040143, 0.39894228040144]
    phi = Fraction("0.398942280401432")
    value = exact / 2 + phi * (exact**2 - exact**4 / 6 + exact**6 / 40)
    torch_says, spacing = Fraction(float.fromhex("0x1.fe216ep-11")), Fraction(1, 2**34)
    assert abs(value - torch_says) > Fraction(5) * spacing
    golden = conform.golden("aten::gelu", np.array([x])).value[0]
    assert abs(value - Fraction(float(golden))) <= spacing / 2 + Fraction(1, 2**60)


def test_accumulated_halves_are_one_sum_rounded_once():
    self = np.float16([1.0])
    values = np.float16([2.0**-11] * 4)  # each addition alone would be lost to the tie; together they are 2^-9
    golden = conform.golden("aten::index_put", self, [np.zeros(4, np.int64)], values, True)
    assert golden.value.tolist() == [1 + 2.0**-9]
    assert golden.error_ulp(np.float16([1.0])).tolist() == [2.0]


def test_half_convolutions_are_one_sum_rounded_once():
    weight = np.array([[[1.0, 3 * 2.0**-9, 3 * 2.0**-9]]]).astype(ml_dtypes.bfloat16)
    ones = np.ones((1, 1, 3), ml_dtypes.bfloat16)
    # Transposed with stride 1, output 2 is w0 + w1 + w2 = 1 + 3 * 2^-8, between 1 + 2^-7 and 1 + 2^-6: a tie, to even.
    exact = sum(Fraction(float(w)) for w in weight.ravel())
    assert exact == 1 + 3 * Fraction(1, 2**8)
    golden = conform.golden("aten::convolution", ones, weight, None, [1], [0], [1], True, [0], 1)
    assert golden.value[0, 0, 2] == 1 + 2.0**-6


def test_an_output_that_no_input_reaches_is_zero_beside_infinite_weights():
    # Transposed with stride 3 and kernel 1: outputs 1 and 2 lie between the inputs, 4 in the output padding.
    weight = np.float32([[[np.inf]]])
    golden = conform.golden("aten::convolution", np.float32([[[1.0, 2.0]]]), weight, None, [3], [0], [1], True, [1], 1)
    assert golden.value.tolist() == [[[np.inf, 0.0, 0.0, np.inf, 0.0]]]


@pytest.mark.parametrize("op", ["aten::sinh", "aten::cosh"])
@pytest.mark.parametrize(("dtype", "x"), [("float32", 89), ("float64", 710)])
def test_sinh_and_cosh_are_finite_to_the_edge_of_the_range(op, dtype, x):
    # sinh x < cosh x < (e^x + 1) / 2, and e < 2.718281829
    assert (Fraction("2.718281829") ** x + 1) / 2 < Fraction(float(np.finfo(dtype).max))
    assert np.isfinite(conform.golden(op, np.array([x], dtype)).value).all()


def test_erf_of_a_small_number_is_more_than_the_number():
    # erf x = 2/sqrt(pi) (x - x^3/3 + ...) > x near 0, and x = 2^-66 is far above the smallest bfloat16.
    x = np.array([2.0**-66]).astype(ml_dtypes.bfloat16)
    assert (conform.golden("aten::erf", x).value >= x).all()


@pytest.mark.parametrize(("op", "x"), [("aten::i0", np.inf), ("aten::i0", -np.inf), ("aten::special_i1", np.inf)])
def test_bessel_functions_of_infinity_are_infinite(op, x):
    # I0(x) >= 1 + x^2/4 and I1(x) >= x/2 for positive x: the first terms of power series, whose terms are positive.
    assert conform.golden(op, np.float32([x])).value.tolist() == [np.inf]


def test_pow_one_half_is_not_the_square_root_of_minus_zero_and_minus_infinity():
    # C99 F.9.4.4: pow(+-0, y) is +0 for y > 0 and not an odd integer; pow(-inf, y) is +inf for such a y.
    value = conform.golden("aten::pow", np.float32([-0.0, -np.inf]), 0.5).value
    assert value.tolist() == [0.0, np.inf]
    assert not np.signbit(value[0])


def test_rsqrt_of_a_half_is_the_nearest_number():
    # 326 is a bfloat16; 1/sqrt(326) = y where 326 y^2 = 1. torch's y is off by more than a spacing of 2^-12.
    x, torch_says, spacing = 326, Fraction(float.fromhex("0x1.c8p-5")), Fraction(1, 2**12)
    assert x * (torch_says - spacing) ** 2 > 1
    value = Fraction(float(conform.golden("aten::rsqrt", np.array([x]).astype(ml_dtypes.bfloat16)).value[0]))
    assert x * (value - spacing / 2) ** 2 < 1 < x * (value + spacing / 2) ** 2


def test_the_lower_tail_of_the_normal_distribution_is_positive():
    # Phi(-x) > x / (1 + x^2) phi(x) (Gordon 1941); e^-21.125 > 2.718281829^-22, 1/sqrt(2 pi) > 0.3989.
    x = Fraction(13, 2)
    below = x / (1 + x**2) * Fraction("0.3989") / Fraction("2.718281829") ** 22
    assert below > Fraction(1, 2**40)
    assert Fraction(float(conform.golden("aten::special_ndtr", np.float32([-6.5])).value[0])) > below


def test_xlogy_of_halves_is_rounded_once():
    # 7 log 3 = 7.6903 lies nearest to 7.6875; 7 times the bfloat16 nearest to log 3 rounds to 7.71875.
    value = 7 * Fraction("1.09861228866811")
    golden = conform.golden("aten::xlogy", *(np.array([n]).astype(ml_dtypes.bfloat16) for n in (7, 3))).value[0]
    torch_says, spacing = Fraction("7.71875"), Fraction(1, 32)
    assert abs(value - Fraction(float(golden))) < spacing / 2
    assert abs(value - torch_says) > Fraction(9, 10) * spacing
