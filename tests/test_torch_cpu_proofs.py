"""One element of each row of docs/torch-cpu.md: what is right, whatever this machine's torch returns.

The proofs use exact arithmetic (fractions, integers) alone.
"""

from __future__ import annotations

from fractions import Fraction
from math import fmod, isqrt

import ml_dtypes
import numpy as np
import pytest

import conform


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


def test_gelu_of_infinity_is_infinite_and_that_of_a_finite_number_is_not():
    # x Phi(x) <= x for positive x, and Phi(x) = 1 to far more than float32's figures: 1 - Phi(x) < e^(-x^2 / 2).
    x = np.float32([np.inf, 3.3e38])
    assert conform.golden("aten::gelu", x).value.tolist() == x.tolist()


@pytest.mark.parametrize(
    ("x", "torch_says", "ulp_of_result", "ulp_of_erf"),
    [("0x1.fd573cp-10", "0x1.fe216ep-11", 2.0**-34, 2.0**-33), ("0x1.42aa88p-6", "0x1.47bc68p-7", 2.0**-30, 2.0**-29)],
)
def test_gelu_near_zero_is_half_x_plus_x_squared_over_root_two_pi(x, torch_says, ulp_of_result, ulp_of_erf):
    x, exact = np.float32(float.fromhex(x)), Fraction(float.fromhex(x))
    # x Phi(x) = x/2 + phi(0) (x^2 - x^4/6 + ...), phi(0) = 1/sqrt(2 pi) in [0.39894228040143, 0.39894228040144]
    phi = Fraction("0.398942280401432")
    value = exact / 2 + phi * (exact**2 - exact**4 / 6 + exact**6 / 40)
    # x/2 (1 + erf) in float32: erf 16 ulp and 2 from its operand, half an ulp of each, the sum and the product
    honest = exact / 2 * (Fraction(1, 2**24) + 18 * Fraction(ulp_of_erf)) + Fraction(ulp_of_result) / 2
    assert abs(value - Fraction(float.fromhex(torch_says))) > honest + Fraction(1, 2**50)
    golden = conform.golden("aten::gelu", np.array([x])).value[0]
    assert abs(value - Fraction(float(golden))) <= Fraction(ulp_of_result) / 2 + Fraction(1, 2**50)


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


@pytest.mark.parametrize(("lhs", "rhs", "exact"), [(np.inf, 2.0**-133, np.inf), (1.0, 2.0**-127, 2.0**-127)])
def test_subnormal_bfloat16_numbers_are_not_zero(lhs, rhs, exact):
    # IEEE 754, clause 6.1: infinity times any number but 0 is infinite. 2^-127 is 64 times the smallest bfloat16.
    x, y = (np.array([[number]]).astype(ml_dtypes.bfloat16) for number in (lhs, rhs))
    assert conform.golden("aten::mm", x, y).value.tolist() == [[exact]]
    assert conform.golden("aten::addmm", np.zeros_like(x), x, y).value.tolist() == [[exact]]
    inputs, weight = x[None], y[None]
    convolved = conform.golden("aten::convolution", inputs, weight, None, [1], [0], [1], False, [0], 1)
    assert convolved.value.tolist() == [[[exact]]]


@pytest.mark.parametrize("op", ["aten::sinh", "aten::cosh"])
@pytest.mark.parametrize(("dtype", "x"), [("float32", 89), ("float64", 710), ("int8", 89)])
def test_sinh_and_cosh_are_finite_to_the_edge_of_the_range(op, dtype, x):
    # sinh x < cosh x < (e^x + 1) / 2, and e < 2.718281829
    result = "float32" if dtype == "int8" else dtype
    assert (Fraction("2.718281829") ** x + 1) / 2 < Fraction(float(np.finfo(result).max))
    assert np.isfinite(conform.golden(op, np.array([x], dtype)).value).all()


def test_erf_of_a_small_number_is_more_than_the_number():
    # erf x = 2/sqrt(pi) (x - x^3/3 + ...) > x near 0, and x = 2^-66 is far above the smallest bfloat16.
    x = np.array([2.0**-66]).astype(ml_dtypes.bfloat16)
    assert (conform.golden("aten::erf", x).value >= x).all()


@pytest.mark.parametrize(("op", "x"), [("aten::i0", np.inf), ("aten::i0", -np.inf), ("aten::special_i1", np.inf)])
def test_bessel_functions_of_infinity_are_infinite(op, x):
    # I0(x) >= 1 + x^2/4 and I1(x) >= x/2 for positive x: the first terms of power series, whose terms are positive.
    assert conform.golden(op, np.float32([x])).value.tolist() == [np.inf]


def bessel(order, x):
    """i0 or i1 of a positive fraction: more terms of the power series than count, so from below to 60 digits."""
    term, total = (x / 2) ** order, Fraction(0)
    for k in range(1, 400):
        total += term
        term *= (x / 2) ** 2 / (k * (k + order))
    return total


def test_bessel_functions_are_numbers_of_float32_to_91():
    for order, op in ((0, "aten::i0"), (1, "aten::special_i1")):
        for x in (89, 91):
            exact = bessel(order, Fraction(x))
            assert exact < Fraction(float(np.finfo(np.float32).max))
            value = conform.golden(op, np.int32([x])).value
            assert abs(Fraction(float(value[0])) - exact) <= Fraction(float(np.spacing(value[0]))) / 2


def test_i1_of_8_is_thirteen_ulps_from_what_torch_says():
    exact, ulp = bessel(1, Fraction(8)), Fraction(1, 2**15)
    assert 13 * ulp < abs(Fraction(float(np.float32(399.87354))) - exact) < 14 * ulp
    assert abs(Fraction(float(np.float32(399.87314))) - exact) < ulp / 2
    assert conform.golden("aten::special_i1", np.float32([8])).value.tolist() == [np.float32(399.87314)]


def test_i1_is_odd():
    value = conform.golden("aten::special_i1", np.float32([-0.0])).value
    assert (value[0], np.signbit(value[0])) == (0, True)


def test_digamma_beside_a_pole_is_minus_one_over_the_distance():
    """digamma(x) = digamma(x + 2) - 1 / (x + 1) - 1 / x, of which the others are less than 2."""
    x = np.nextafter(-1.0, 0.0)
    pole = -1 / (Fraction(x) + 1)
    assert pole == -(2**53)
    torch_says = Fraction(-5545090608933970)
    assert abs(torch_says - pole) > 10**15
    assert abs(Fraction(conform.golden("aten::digamma", np.array([x])).value[0]) - pole) <= 2


def test_lgamma_at_the_end_of_bfloat16_is_finite():
    """Stirling's formula: lgamma(x) < x (log(x) - 1) + 1, and log(2^121 (1 + t)) < 121 log(2) + t."""
    x = Fraction(ml_dtypes.bfloat16(4.05e36).item())
    log_2 = sum(Fraction(1, k * 2**k) for k in range(1, 41)) + Fraction(1, 2**40)  # from above
    log_x = 121 * log_2 + (x / 2**121 - 1)
    largest = Fraction(ml_dtypes.finfo(ml_dtypes.bfloat16).max.item())
    assert x * (log_x - 1) + 1 < largest
    value = conform.golden("aten::lgamma", np.array([4.05e36]).astype(ml_dtypes.bfloat16)).value
    assert np.isfinite(value.astype(float)).all()


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


def test_log_softmax_of_halves_is_rounded_once():
    # Of 0, 0, 0, 0, -2 the last is -2 - log 4 - log(1 + t), t = e^-2 / 4; log(1 + t) = t - t^2/2 + r, 0 < r < t^3/3.
    # It lies nearest to -3.421875. With the sum 4.135 and its logarithm rounded to bfloat16 it comes out as -3.40625.
    t = 1 / Fraction("2.718281828459") ** 2 / 4
    value, spacing = -2 - Fraction("1.386294361119891") - (t - t**2 / 2), Fraction(1, 64)
    x = np.array([[0, 0, 0, 0, -2]]).astype(ml_dtypes.bfloat16)
    golden = Fraction(float(conform.golden("aten::_log_softmax", x, 1, False).value[0, 4]))
    assert abs(value - golden) + t**3 / 3 < spacing / 2
    assert abs(value - Fraction("-3.40625")) - t**3 / 3 > Fraction(4, 5) * spacing


def test_log1p_of_the_smallest_complex_numbers_is_the_numbers_themselves():
    # |log(1 + z) - z| < |z|^2 for |z| < 1/2, less than half of the smallest subnormal.
    for dtype, smallest in ((np.complex64, 2.0**-149), (np.complex128, 2.0**-1074)):
        z = np.array([complex(smallest, smallest)], dtype)
        assert 2 * Fraction(smallest) ** 2 < Fraction(smallest) / 2
        assert conform.golden("aten::log1p", z).value.tolist() == z.tolist()


def test_a_complex_power_with_exponent_zero_is_one():
    # As of every other base, e^(0 log z) = e^0; torch agrees where the exponent is the Python number 0.
    zero = np.complex64([0])
    assert conform.golden("aten::pow", zero, zero).value.tolist() == [1]
    assert conform.golden("aten::pow", zero, 0).value.tolist() == [1]


def nearest_half(number, low, high):
    """Which of two neighbouring numbers of a half type the exact number is nearer to."""
    return low if number - Fraction(low) < Fraction(high) - number else high


def exp_fraction(x):
    """e^x for |x| < 6 to 2^-100."""
    term = total = Fraction(1)
    for k in range(1, 120):
        term = term * x / k
        total += term
    return total


def test_logsumexp_of_halves_is_rounded_once():
    # log(2 + e^-5): torch says 0.69140625
    middle = (Fraction(0.69140625) + Fraction(0.6953125)) / 2
    assert exp_fraction(middle) < 2 + exp_fraction(Fraction(-5))  # so the logarithm is nearer to the upper one
    x = np.array([0.0, 0.0, -5.0]).astype(ml_dtypes.bfloat16)
    assert conform.golden("aten::logsumexp", x, [0]).value == 0.6953125


def test_cross_entropy_of_halves_is_rounded_once():
    # log(1 + e^-2 + e^-3): torch says 0.171875
    middle = (Fraction(0.169921875) + Fraction(0.1708984375)) / 2
    assert exp_fraction(middle) > 1 + exp_fraction(Fraction(-2)) + exp_fraction(Fraction(-3))
    x = np.array([[1.0, 2.0, 4.0]]).astype(ml_dtypes.bfloat16)
    assert conform.golden("aten::cross_entropy_loss", x, np.array([2])).value == 0.169921875


@pytest.mark.parametrize(
    ("op", "dtype", "small", "factor", "keywords", "low", "high"),
    [
        ("aten::mse_loss", "bfloat16", -(2.0**-8) - 2.0**-15, 1, {}, 1.0078125, 1.015625),
        ("aten::huber_loss", "bfloat16", -(2.0**-8) - 2.0**-15, Fraction(1, 2), {"delta": 3.0}, 0.50390625, 0.5078125),
        ("aten::smooth_l1_loss", "float16", -(2.0**-11) - 2.0**-20, Fraction(1, 6), {"beta": 3.0},
         0.1668701171875, 0.1669921875),
    ],
)  # fmt: skip
def test_squared_differences_of_halves_are_rounded_once(op, dtype, small, factor, keywords, low, high):
    # The difference rounds up to the next half, which torch squares: it says `high`.
    expected = factor * (1 - Fraction(small)) ** 2
    assert nearest_half(expected, low, high) == low
    x, t = (np.array([v]).astype(getattr(ml_dtypes, dtype, dtype)) for v in (1.0, small))
    assert conform.golden(op, x, t, 0, **keywords).value.tolist() == [low]


def test_binary_cross_entropy_and_divergence_of_halves_are_rounded_once():
    # -log(1/2): torch says 0.6953125 for target 0.2, of two logarithms rounded to -0.69140625 and added up
    assert exp_fraction((Fraction(0.69140625) + Fraction(0.6953125)) / 2) > 2
    half, target = (np.array([v]).astype(ml_dtypes.bfloat16) for v in (0.5, 0.2))
    assert conform.golden("aten::binary_cross_entropy", half, target, None, 0).value.tolist() == [0.69140625]
    # (log(1/2) + 3/4) / 2: torch says 0.029296875
    middle = (Fraction(0.0284423828125) + Fraction(0.028564453125)) / 2
    assert exp_fraction(Fraction(3, 4) - 2 * middle) > 2 - Fraction(1, 2**6)
    assert exp_fraction(Fraction(3, 4) - 2 * Fraction(0.029296875)) < 2 - Fraction(1, 2**9)
    x = np.array([-0.75]).astype(ml_dtypes.bfloat16)
    assert conform.golden("aten::kl_div", x, half, 0).value.tolist() == [0.0284423828125]


def test_negative_log_likelihoods_of_halves_are_one_sum_rounded_once():
    x = np.array([2.375, 2.453125, 2.71875, 0.609375, 1.734375, 2.5, 1.125, 0.609375, 1.5])  # torch says 15.6875
    assert nearest_half(sum(map(Fraction, x.tolist())), 15.625, 15.6875) == 15.625
    rows, targets = -x.astype(ml_dtypes.bfloat16).reshape(9, 1), np.zeros(9, np.int64)
    assert conform.golden("aten::nll_loss", rows, targets, None, 2).value == 15.625


def test_products_of_halves_are_rounded_once():
    x = [1.296875, 1.015625, 1.046875]  # torch says 1.3828125
    assert nearest_half(Fraction(x[0]) * Fraction(x[1]) * Fraction(x[2]), 1.375, 1.3828125) == 1.375
    assert conform.golden("aten::prod", np.array(x).astype(ml_dtypes.bfloat16)).value == 1.375
    # 3 * 129 * 3 = 1161: torch rounds 387 to 388, and says 1168
    whole = conform.golden("aten::prod.dim_int", np.array([3, 129, 3]), 0, dtype="bfloat16").value
    assert nearest_half(Fraction(1161), 1160.0, 1168.0) == whole == 1160.0


def test_a_product_that_leaves_the_half_type_on_the_way_is_no_nan():
    x = [512.5, 3.5, -32770.0, -6.1e-05, -0.0]  # torch: 512.5 * 3.5 * -32770 is -inf in float16, and that times 0 NaN
    assert abs(Fraction(x[0]) * Fraction(x[1]) * Fraction(x[2])) > 65520
    value = conform.golden("aten::prod", np.array(x).astype(np.float16)).value
    assert value == 0
    assert np.signbit(value)


def test_batch_norm_of_halves_does_not_round_the_mean():
    x = np.array([[100.0], [101.0], [102.0], [100.0]])  # torch rounds the mean to 101 and says 0 for 101
    assert sum(map(Fraction, x.ravel().tolist())) / 4 == Fraction(403, 4)
    name = "aten::_native_batch_norm_legit.no_stats"
    output, _, _ = conform.golden(name, x.astype(ml_dtypes.bfloat16), None, None, True, 0.1, 1e-5).value
    assert output.astype(float)[1, 0] > 0.25  # 0.25 / sqrt(0.6875)


def test_batch_norm_subtracts_an_infinite_mean_from_a_finite_number():
    x, mean, variance = np.float32([[3.4e38]]), np.float32([np.inf]), np.float32([0.5])
    name = "aten::_native_batch_norm_legit_no_training"
    output, _, _ = conform.golden(name, x, None, None, mean, variance, 0.1, 1e-5).value
    assert output.tolist() == [[-np.inf]]  # (x - infinity) times a positive number


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


def test_absolute_differences_of_halves_are_rounded_once():
    # Three times 1 + 2^-8 + 2^-15; torch adds up 1 + 2^-7, to which each is rounded, and says 3.03125.
    exact = 3 * (1 + Fraction(1, 2**8) + Fraction(1, 2**15))
    assert nearest_half(exact, 3.015625, 3.03125) == 3.015625
    ones, small = (np.full(3, v).astype(ml_dtypes.bfloat16) for v in (1.0, -(2.0**-8) - 2.0**-15))
    assert conform.golden("aten::l1_loss", ones, small, 2).value == 3.015625


def test_a_range_of_halves_is_start_plus_multiples_of_step_rounded_once():
    # 1 - 275 = -274 = -137 * 2 is a bfloat16; torch says -276: -272 (for -271) less 3, rounded again.
    assert conform.golden("aten::arange", 1, -299, -1, dtype="bfloat16").value[275] == 1 - 275


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


def test_a_real_part_that_is_subnormal_is_that_of_the_exact_quotient():
    # -65504 / (c + di) has the real part -65504 c / (c^2 + d^2); here c^2 is nothing beside d^2 = 2.25.
    exact = -65504 * Fraction(1, 2**149) / Fraction(9, 4)
    golden = conform.golden("aten::div", np.float32([-65504.0]), np.complex64([complex(2.0**-149, -1.5)])).value[0]
    assert abs(Fraction(float(golden.real)) - exact) <= Fraction(1, 2**149)


def test_a_difference_from_the_mean_times_an_infinite_weight_is_infinite():
    # The first element lies below the mean of 0, 1 and 5, so minus infinity times it is infinity.
    weight = np.float32([-np.inf, 1.0, 1.0])
    output, _, _ = conform.golden("aten::native_layer_norm", np.float32([0, 1, 5]), [3], weight, None, 0.0).value
    assert output[0] == np.inf
