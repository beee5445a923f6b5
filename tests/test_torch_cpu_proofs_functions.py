"""One element of each row of docs/torch-cpu.md: what is right, whatever this machine's torch returns.

Here the real functions. The proofs use exact arithmetic (fractions, integers) alone, or where they say so mpmath.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial, fmod, isqrt, prod

import ml_dtypes
import mpmath
import numpy as np
import pytest

import conform


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


def test_a_real_part_that_is_subnormal_is_that_of_the_exact_quotient():
    # -65504 / (c + di) has the real part -65504 c / (c^2 + d^2); here c^2 is nothing beside d^2 = 2.25.
    exact = -65504 * Fraction(1, 2**149) / Fraction(9, 4)
    golden = conform.golden("aten::div", np.float32([-65504.0]), np.complex64([complex(2.0**-149, -1.5)])).value[0]
    assert abs(Fraction(float(golden.real)) - exact) <= Fraction(1, 2**149)


def test_a_part_of_a_complex128_quotient_is_normal_where_the_quotient_of_the_parts_is_subnormal():
    # x / (c + di) has the imaginary part -x d / (c^2 + d^2); here d^2 is nothing beside c^2 = 2.25.
    x, d = Fraction(2**1024 - 2**971), Fraction(1, 2**1074)
    exact = -x * d / Fraction(9, 4)
    golden = conform.golden("aten::div", np.complex128([float(x)]), np.complex128([complex(-1.5, float(d))])).value[0]
    assert abs(Fraction(float(golden.imag)) - exact) <= abs(exact) / 2**52
    # Of an integer beside complex64 likewise: 2147483647 is 2^31 in float32.
    exact = Fraction(2**31) * Fraction(1, 2**149) / Fraction(9, 4)
    golden = conform.golden("aten::div", np.int32([2147483647]), np.complex64([complex(2.0**-149, -1.5)])).value[0]
    assert abs(Fraction(float(golden.real)) - exact) <= abs(exact) / 2**23


def test_entr_of_halves_is_rounded_once():
    # 1.359375 log 1.359375, log x = 2 artanh(z), z = (x - 1) / (x + 1)
    x = Fraction("1.359375")
    z = (x - 1) / (x + 1)
    exact = -2 * x * sum(z**n / n for n in range(1, 40, 2))
    golden = conform.golden("aten::special_entr", np.array([float(x)]).astype(ml_dtypes.bfloat16)).value[0]
    assert float(golden) == -0.41796875
    assert abs(exact - Fraction(float(golden))) < abs(exact + Fraction("0.416015625"))


def test_xlog1py_of_halves_is_rounded_once():
    y = Fraction("-0.251953125")
    exact = 18 * sum(-((-y) ** n) / n for n in range(1, 60))
    other = np.array([float(y)]).astype(ml_dtypes.bfloat16)
    golden = conform.golden("aten::special_xlog1py", np.uint8([18]), other).value[0]
    assert float(golden) == -5.21875
    assert abs(exact + Fraction("5.21875")) < abs(exact + Fraction("5.25"))


def test_i0e_of_a_half_is_rounded_once():
    x = np.float16(0.7114)
    z = Fraction(float(x))
    of_i0 = sum((z / 2) ** (2 * k) / factorial(k) ** 2 for k in range(20))
    exact = of_i0 * sum((-z) ** n / factorial(n) for n in range(40))
    golden = conform.golden("aten::special_i0e", np.array([x])).value[0]
    assert abs(exact - Fraction(float(golden))) < Fraction(1, 2**12)
    assert abs(exact - Fraction(float(np.nextafter(golden, np.float16(1))))) > Fraction(1, 2**12)


def test_i1e_is_odd():
    assert np.signbit(conform.golden("aten::special_i1e", np.float32([-0.0])).value).tolist() == [True]


def test_erfcx_of_a_small_number():
    # e^(x^2) erfc x = sum x^2k / k! - 2 / sqrt(pi) sum 2^k x^(2k + 1) / (2k + 1)!!, of which 20 terms are left
    x = np.float32(0.11986327)
    z, root = Fraction(float(x)), Fraction("1.7724538509055160273")
    odd = sum(2**k * z ** (2 * k + 1) / prod(range(1, 2 * k + 2, 2)) for k in range(20))
    exact = sum(z ** (2 * k) / factorial(k) for k in range(20)) - 2 / root * odd
    golden = conform.golden("aten::special_erfcx", np.array([x])).value[0]
    ulp = Fraction(1, 2**24)
    assert abs(exact - Fraction(float(golden))) < ulp / 2
    assert abs(exact - Fraction(float(np.float32(0.8779164)))) > 5 * ulp


@pytest.mark.parametrize("order", [0, 1])
def test_bessel_functions_of_the_first_kind_vanish_at_infinity(order):
    golden = conform.golden(f"aten::special_bessel_j{order}", np.array([np.inf, -np.inf]))
    assert golden.value.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("order", "x", "torch_says", "least"),
    [(0, np.float64(1.879928263928757), 0.29348768645770784, 60), (1, np.float32(7), np.float32(-0.0046828003), 45)],
)
def test_bessel_functions_of_the_first_kind(order, x, torch_says, least):
    # sum of (-1)^k (x / 2)^(2k + n) / (k! (k + n)!), of which 40 terms are left
    z = Fraction(float(x)) / 2
    terms = ((-1) ** k * z ** (2 * k + order) / (factorial(k) * factorial(k + order)) for k in range(40))
    exact = sum(terms)
    golden = conform.golden(f"aten::special_bessel_j{order}", np.array([x])).value[0]
    ulp = Fraction(float(np.spacing(np.abs(golden))))
    assert abs(exact - Fraction(float(golden))) <= ulp / 2
    assert abs(exact - Fraction(float(torch_says))) > least * ulp


def test_bessel_j0_far_out():
    # sqrt(2 / (pi x)) cos(x - pi/4), of which less than 10^-14 is missing
    two_pi = Fraction("6.283185307179586476925286766559005768394338798750")
    rest = Fraction(10**9) - two_pi / 8
    rest -= int(rest / two_pi) * two_pi
    cosine = sum((-1) ** k * rest ** (2 * k) / factorial(2 * k) for k in range(40))
    golden = conform.golden("aten::special_bessel_j0", np.float32([1e9])).value[0]
    assert abs(float(cosine) * (2 / (np.pi * 1e9)) ** 0.5 - float(golden)) < 1e-12
    assert abs(float(golden) - 2.1141004253877327e-05) > 3e-6


def test_modified_bessel_functions_of_the_first_kind():
    infinities = np.array([np.inf, -np.inf])
    assert conform.golden("aten::special_modified_bessel_i0", infinities).value.tolist() == [np.inf, np.inf]
    assert conform.golden("aten::special_modified_bessel_i1", infinities).value.tolist() == [np.inf, -np.inf]
    assert np.signbit(conform.golden("aten::special_modified_bessel_i1", np.float32([-0.0])).value).tolist() == [True]
    (of_89,) = conform.golden("aten::special_modified_bessel_i0", np.int16([-89])).value
    assert abs(float(of_89) / 1.9012419e37 - 1) < 1e-7
    assert conform.golden("aten::special_modified_bessel_i1", np.int32([8])).value.tolist() == [np.float32(399.87314)]


@pytest.mark.parametrize("op", ["special_modified_bessel_k0", "special_scaled_modified_bessel_k0"])
def test_k0_of_the_smallest_number(op):
    # -log(x / 2) - gamma, of which less than x is missing: 1075 log 2 - gamma
    golden = conform.golden(f"aten::{op}", np.array([5e-324])).value[0]
    assert abs(float(golden) - (1075 * 0.6931471805599453 - 0.5772156649015329)) < 1e-12


@pytest.mark.parametrize("op", ["special_modified_bessel_k1", "special_scaled_modified_bessel_k1"])
def test_k1_of_the_smallest_number_is_beyond_float64(op):
    assert Fraction(2) ** 1074 > Fraction(1.7976931348623157e308)  # 1/x, of which less than x log x is missing
    assert conform.golden(f"aten::{op}", np.array([5e-324])).value.tolist() == [np.inf]


def test_igamma_beside_its_shape():
    # x^a e^-x (1/a + x/(a (a + 1)) + ...) / Gamma(a), by mpmath to 40 digits; its terms fall from the first on
    a, x = 20.573858270388065, 14.907501795137296
    with mpmath.workdps(40):
        shape, point = mpmath.mpf(a), mpmath.mpf(x)
        term, total = 1 / shape, mpmath.mpf(0)
        for k in range(1, 300):
            total += term
            term *= point / (shape + k)
        exact = point**shape * mpmath.exp(-point) / mpmath.gamma(shape) * total
        (golden,) = conform.golden("aten::igamma", np.array([a]), np.array([x])).value
        assert abs(exact - float(golden)) <= np.spacing(golden) / 2
        assert abs(exact - 0.09485839553448039) > 10_000_000 * np.spacing(golden)


@pytest.mark.parametrize(
    ("op", "operands"),
    [
        ("aten::igamma", [np.nan, 0.0]),
        ("aten::igammac", [np.nan, 0.0]),
        ("aten::special_zeta", [1.0, np.nan]),
        ("aten::special_zeta", [np.nan, -3.0]),
        ("aten::special_legendre_polynomial_p", [np.nan, 2.0]),
        ("aten::special_chebyshev_polynomial_u", [np.nan, 12.0]),
        ("aten::special_shifted_chebyshev_polynomial_v", [np.nan, 7.0]),
    ],
)
def test_functions_of_nan_are_nan(op, operands):
    # IEEE 754-2019, clause 6.2.3: from an operand that is NaN an operation delivers one.
    golden = conform.golden(op, *(np.float32([operand]) for operand in operands)).value
    assert np.isnan(golden).tolist() == [True]


def of_trigamma(x: Fraction) -> Fraction:
    """1/x^2 + 1/(x + 1)^2 + ...: 100 terms, and Euler's and Maclaurin's of the others to less than 1/(30 y^9)."""
    y = x + 100
    corrections = 1 / (2 * y**2) + 1 / (6 * y**3) - 1 / (30 * y**5) + 1 / (42 * y**7)
    return sum(1 / (x + k) ** 2 for k in range(100)) + 1 / y + corrections


def test_trigamma_of_typical_numbers():
    x, torch_says = 1.1602072461373947, Fraction(1.3288732478771192)
    exact = of_trigamma(Fraction(x))
    golden = conform.golden("aten::polygamma", 1, np.array([x])).value[0]
    assert abs(exact - Fraction(float(golden))) <= Fraction(float(np.spacing(golden))) * 51 / 100
    y = Fraction(x) + 6  # where torch's series ends with 1/(42 y^7); the next correction is missing, and less is
    assert Fraction(9, 10) / (30 * y**9) < torch_says - exact < 1 / (30 * y**9)


@pytest.mark.parametrize("x", [-3.4e38, -256.0])
def test_trigamma_of_a_pole_is_infinite(x):
    assert x == int(x)  # one term of 1/x^2 + 1/(x + 1)^2 + ... is 1/0, and none is negative
    assert conform.golden("aten::polygamma", 1, np.float32([x])).value.tolist() == [np.inf]


def test_polygamma_of_halves_is_rounded_once():
    # 6 (1/x^4 + 1/(x + 1)^4 + ...), of which from x + 1000 on the integrals of 1/y^4 are bounds
    x = Fraction(171, 16)
    sum_ = sum(1 / (x + k) ** 4 for k in range(1000))
    low, high = (6 * (sum_ + 1 / (3 * (x + k) ** 3)) for k in (1000, 999))
    golden = conform.golden("aten::polygamma", 3, np.array([float(x)]).astype(ml_dtypes.bfloat16)).value[0]
    ulp = Fraction(1, 2**17)
    assert Fraction(float(golden)) - ulp / 2 < low < high < Fraction(float(golden)) + ulp / 2
    assert Fraction(0.00189208984375) - high > ulp


def test_polygamma_far_below_zero():
    # 6 (1/h^4 + ...) of all halves h, 2 (1 - 2^-4) 2^4 zeta(4) = pi^4 / 3, but of those beyond 2^52, which are nothing
    golden = conform.golden("aten::polygamma", 3, np.array([-4503599627370495.5])).value[0]
    assert abs(float(golden) - 2 * np.pi**4) < 1e-12


def test_mvlgamma_of_halves_is_rounded_once():
    # log Gamma(n) + log Gamma(n - 1/2) + log(pi)/2 = log(pi (2n - 2)! / 4^(n - 1)) (DLMF 5.5.5), by mpmath
    with mpmath.workdps(40):
        exact = mpmath.log(mpmath.pi * factorial(210) / mpmath.mpf(4) ** 105)
        golden = conform.golden("aten::mvlgamma", np.array([106.0]).astype(ml_dtypes.bfloat16), 2).value[0]
        assert float(golden) == 772
        assert abs(exact - 772) < 1 < 4 < exact - 768  # torch's is a spacing and more away


@pytest.mark.parametrize("order", [0, 1])
def test_bessel_functions_of_the_second_kind_vanish_at_infinity(order):
    assert conform.golden(f"aten::special_bessel_y{order}", np.array([np.inf])).value.tolist() == [0]


def bessel_y(order: int, x: float) -> mpmath.mpf:
    """Y0 or Y1 of a number below 6 (DLMF 10.8.1), by mpmath to 40 digits: 60 terms are more than count."""
    with mpmath.workdps(40):
        half = mpmath.mpf(x) / 2
        total, of_k = -order / half, -mpmath.euler  # digamma(k + 1)
        for k in range(60):
            of_both = 2 * mpmath.log(half) - of_k - (of_k + mpmath.mpf(order) / (k + 1))
            total += of_both * (-1) ** k * half ** (2 * k + order) / (factorial(k) * factorial(k + order))
            of_k += mpmath.mpf(1) / (k + 1)
        return total / mpmath.pi


@pytest.mark.parametrize(
    ("order", "x", "torch_says", "least"),
    [(0, 3.9927251, -0.014043000526726246, 180), (1, 5.8439455, -0.13212968409061432, 11)],
)
def test_bessel_functions_of_the_second_kind(order, x, torch_says, least):
    golden = conform.golden(f"aten::special_bessel_y{order}", np.float32([x])).value[0]
    exact, ulp = bessel_y(order, float(np.float32(x))), float(np.spacing(np.abs(golden)))
    assert abs(exact - float(golden)) <= ulp / 2
    assert abs(exact - torch_says) > least * ulp
