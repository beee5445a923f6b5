"""One element of each row of docs/torch-cpu.md: what is right, whatever this machine's torch returns.

Here what is rounded once: results of the small floats. The proofs use exact arithmetic (fractions, integers) alone.
"""

from __future__ import annotations

from fractions import Fraction

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


def test_gradients_of_half_convolutions_are_one_sum_rounded_once():
    """Samples of one place and channel: the gradient of the weight is the sum over all of them of x times 1."""
    numbers = np.array([256, 1, 1, 1], ml_dtypes.bfloat16).reshape(4, 1, 1)
    ones = np.ones((4, 1, 1), ml_dtypes.bfloat16)
    assert 256 + 1 + 1 + 1 == 259  # 258 and 260 are numbers of bfloat16, and 259 is a tie: to even
    steps = ([1], [1], [0], [1], False, [0], 1, [False, True, False])
    golden = conform.golden("aten::convolution_backward", ones, numbers, ones[:1], *steps)
    assert golden.value[1].tolist() == [[[260]]]


def test_xlogy_of_an_integer_beside_a_half_is_rounded_once():
    # -6 log 1.0703125, of whose Taylor series the rest behind the 16th term is below 2^-60.
    z = Fraction(9, 128)
    exact = -6 * sum((-1) ** (n + 1) * z**n / n for n in range(1, 17))
    other = np.array([1.0703125]).astype(ml_dtypes.bfloat16)
    golden = conform.golden("aten::xlogy", np.int8([-6]), other).value[0]
    assert float(golden) == -0.408203125
    assert abs(exact + Fraction(0.408203125)) < abs(exact + Fraction(0.40625))


def test_logit_of_a_half_is_rounded_once():
    # logit x = 2 artanh(2x - 1) = 2 (z + z^3/3 + ...), z = 2x - 1; torch takes 1/2, to even, for 1 - x.
    x = Fraction("0.498046875")
    z = 2 * x - 1
    exact = 2 * sum(z**n / n for n in range(1, 9, 2))
    golden = conform.golden("aten::logit", np.array([float(x)]).astype(ml_dtypes.bfloat16)).value[0]
    assert float(golden) == -(2.0**-7)
    assert abs(exact - Fraction(float(golden))) < abs(exact + Fraction(1, 2**8)) / 1000


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


def test_cross_products_of_halves_are_rounded_once():
    a, b = Fraction("1.0078125"), Fraction("1.015625")  # 1 + 2^-7 and 1 + 2^-6
    assert a * a - b * 1 == Fraction(1, 2**14)
    lhs, rhs = (np.array(row).astype(ml_dtypes.bfloat16) for row in ([0, float(a), float(b)], [0, 1, float(a)]))
    for op in ("aten::cross", "aten::linalg_cross"):
        assert conform.golden(op, lhs, rhs, dim=0).value.tolist() == [2.0**-14, 0, 0]


def test_an_interval_is_that_in_which_a_half_lies():
    x = Fraction("0.1796875")
    assert 17 * Fraction(1, 100) <= x < 18 * Fraction(1, 100)
    assert x * 100 == Fraction("17.96875")  # a number of bfloat16's compute type, far from 18
    golden = conform.golden("aten::histc", np.array([float(x)]).astype(ml_dtypes.bfloat16), 100, 0, 1)
    assert np.flatnonzero(golden.value).tolist() == [17]
    assert golden.verdict(np.roll(golden.value, 1)).status == "fail"


def test_products_of_halves_are_added_up_as_they_are():
    a = Fraction("1.0078125")
    assert a * a - Fraction("1.015625") == Fraction(1, 2**14)
    lhs, rhs = (np.array(row).astype(ml_dtypes.bfloat16) for row in ([[1.0078125, 1]], [[1.0078125, -1.015625]]))
    assert conform.golden("aten::linalg_vecdot", lhs, rhs).value.tolist() == [2.0**-14]
    assert conform.golden("aten::tensordot", lhs, rhs, [0, 1], [0, 1]).value == 2.0**-14


def test_numbers_of_a_window_of_halves_are_rounded_once():
    # of ten numbers torch's fourth of bartlett_window is 0.599609375, its first of hamming_window 0.080078125
    assert abs(Fraction(6, 10) - Fraction(0.60009765625)) < abs(Fraction(6, 10) - Fraction(0.599609375))
    assert conform.golden("aten::bartlett_window", 10, dtype="float16").value[3] == 0.60009765625
    least = Fraction(0.54) - Fraction(0.46)
    assert abs(least - Fraction(0.08001708984375)) < abs(least - Fraction(0.080078125))
    assert conform.golden("aten::hamming_window", 10, dtype="float16").value[0] == 0.08001708984375


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


def test_absolute_differences_of_halves_are_rounded_once():
    # Three times 1 + 2^-8 + 2^-15; torch adds up 1 + 2^-7, to which each is rounded, and says 3.03125.
    exact = 3 * (1 + Fraction(1, 2**8) + Fraction(1, 2**15))
    assert nearest_half(exact, 3.015625, 3.03125) == 3.015625
    ones, small = (np.full(3, v).astype(ml_dtypes.bfloat16) for v in (1.0, -(2.0**-8) - 2.0**-15))
    assert conform.golden("aten::l1_loss", ones, small, 2).value == 3.015625


def test_a_range_of_halves_is_start_plus_multiples_of_step_rounded_once():
    # 1 - 275 = -274 = -137 * 2 is a bfloat16; torch says -276: -272 (for -271) less 3, rounded again.
    assert conform.golden("aten::arange", 1, -299, -1, dtype="bfloat16").value[275] == 1 - 275
