"""Real functions by literal numbers: constants of mathematics, what C99 says of special values, and the budgets."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from conform.contracts.judge import judge
from conform.contracts.tables import NO_ROW, contract_table
from conform.errors import InvalidArguments
from conform.interp.evaluate import evaluate
from conform.numerics.formats import FORMATS
from conform.numerics.rounding import round_fraction
from tests.interp.ops.literal import (
    bf16,
    boolean,
    check,
    check_open,
    f16,
    f32,
    f64,
    goldens,
    i8,
    i32,
    i64,
    u8,
)

PI, LOG_2, EULER = 3.14159265358979323846, 0.69314718055994530942, 0.57721566490153286061

# ---- one number --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        ("aten::exp2", 0.5, 1.41421356237309504880),
        ("aten::expm1", 1.0, 1.71828182845904523536),
        ("aten::log", 2.0, LOG_2),
        ("aten::log2", 8.0, 3.0),
        ("aten::log10", 2.0, 0.30102999566398119521),
        ("aten::log1p", 1.0, LOG_2),
        ("aten::rsqrt", 2.0, 0.70710678118654752440),
        ("aten::cbrt", 2.0, 1.25992104989487316477),
        ("aten::reciprocal", 3.0, 1 / 3),
        ("aten::cos", 1.0, 0.54030230586813971740),
        ("aten::tan", 1.0, 1.55740772465490223051),
        ("aten::asin", 1.0, PI / 2),
        ("aten::acos", -1.0, PI),
        ("aten::atan", 1.0, PI / 4),
        ("aten::sinc", 0.5, 0.63661977236758134308),  # 2 / pi
        ("aten::sinh", 1.0, 1.17520119364380145688),
        ("aten::cosh", 1.0, 1.54308063481524377848),
        ("aten::tanh", 1.0, 0.76159415595576488812),
        ("aten::asinh", 1.0, 0.88137358701954302523),
        ("aten::acosh", 2.0, 1.31695789692481670863),
        ("aten::atanh", 0.5, 0.54930614433405484570),
        ("aten::sigmoid", 1.0, 0.73105857863000487926),
        ("aten::silu", 1.0, 0.73105857863000487926),
        ("aten::mish", 1.0, 0.86509838826731034612),
        ("aten::softplus", 0.0, LOG_2),
        ("aten::erf", 1.0, 0.84270079294971486934),
        ("aten::erfc", 1.0, 0.15729920705028513066),
        ("aten::erfinv", 0.5, 0.47693627620446987338),
        ("aten::special_ndtr", 1.0, 0.84134474606854294859),
        ("aten::special_ndtri", 0.25, -0.67448975019608174320),
        ("aten::lgamma", 0.5, 0.57236494292470008707),  # log sqrt(pi)
        ("aten::digamma", 1.0, -EULER),
        ("aten::i0", 1.0, 1.26606587775200833560),
        ("aten::special_i1", 1.0, 0.56515910399248502721),
    ],
)
def test_one_known_number_of_each_function(op: str, x: float, expected: float) -> None:
    check(op, f64([x]), gives=f64([expected]))


@pytest.mark.parametrize(
    ("op", "x", "expected"),
    [
        ("aten::exp2", [3.0, -1.0, -0.0, 128.0, -inf, inf, nan], [8.0, 0.5, 1.0, inf, 0.0, inf, nan]),
        ("aten::expm1", [-0.0, 0.0, -inf, inf, 89.0], [-0.0, 0.0, -1.0, inf, inf]),
        ("aten::log", [1.0, 0.0, -0.0, -1.0, inf, nan], [0.0, -inf, -inf, nan, inf, nan]),
        ("aten::log10", [1000.0, 1.0, -0.0, -inf], [3.0, 0.0, -inf, nan]),
        ("aten::log1p", [0.0, -0.0, -1.0, -2.0, inf, nan], [0.0, -0.0, -inf, nan, inf, nan]),
        ("aten::rsqrt", [4.0, 0.0, -0.0, -1.0, inf], [0.5, inf, -inf, nan, 0.0]),
        ("aten::cbrt", [-27.0, 0.0, -0.0, -inf, 2.0**-147, nan], [-3.0, 0.0, -0.0, -inf, 2.0**-49, nan]),
        ("aten::reciprocal", [-4.0, 0.0, -0.0, -inf, 2.0**-149], [-0.25, inf, -inf, -0.0, inf]),
        ("aten::cos", [0.0, -0.0, inf, nan], [1.0, 1.0, nan, nan]),
        ("aten::tan", [-0.0, -inf, 2.0**-149], [-0.0, nan, 2.0**-149]),
        ("aten::asin", [-0.0, 1.5], [-0.0, nan]),
        ("aten::acos", [1.0, -1.5], [0.0, nan]),
        ("aten::sinh", [-0.0, -inf, 90.0], [-0.0, -inf, inf]),
        ("aten::cosh", [-0.0, -inf, 90.0], [1.0, inf, inf]),
        ("aten::tanh", [-0.0, -inf, 40.0], [-0.0, -1.0, 1.0]),
        ("aten::acosh", [1.0, 0.5, inf], [0.0, nan, inf]),
        ("aten::atanh", [-0.0, -1.0, 1.0, 2.0], [-0.0, -inf, inf, nan]),
        ("aten::sigmoid", [0.0, -inf, inf, 40.0, nan], [0.5, 0.0, 1.0, 1.0, nan]),
        ("aten::silu", [-0.0, inf, -1000.0], [-0.0, inf, -0.0]),
        ("aten::mish", [-0.0, inf, -1000.0, nan], [-0.0, inf, -0.0, nan]),
        ("aten::erf", [-0.0, -inf, 5.0], [-0.0, -1.0, 1.0]),
        ("aten::erfc", [-0.0, -inf, inf], [1.0, 2.0, 0.0]),
        ("aten::erfinv", [-0.0, -1.0, 1.0, 1.5], [-0.0, -inf, inf, nan]),
        ("aten::special_ndtr", [-0.0, -inf, inf], [0.5, 0.0, 1.0]),
        ("aten::special_ndtri", [0.0, 0.5, 1.0, -0.5, 1.5], [-inf, 0.0, inf, nan, nan]),
        ("aten::lgamma", [1.0, 2.0, 0.0, -0.0, -3.0, -inf, inf], [0.0, 0.0, inf, inf, inf, inf, inf]),
        ("aten::digamma", [0.0, -0.0, -1.0, -inf, inf], [-inf, inf, nan, nan, inf]),
        ("aten::i0", [-0.0, -inf, 100.0], [1.0, inf, inf]),
        ("aten::special_i1", [-0.0, -inf, 100.0], [-0.0, -inf, inf]),
        ("aten::sinc", [0.0, -0.0, 0.5 * 2.0**-149], [1.0, 1.0, 1.0]),
    ],
)
def test_special_values(op: str, x: list[float], expected: list[float]) -> None:
    check(op, np.float32(x), gives=f32(expected))


def test_a_16_bit_result_is_the_real_value_rounded_once() -> None:
    # log 3 = 1.0986122886...: float16 has 1.0986328125 (2^-10 apart), bfloat16 1.1015625 (2^-7 apart).
    check("aten::log", f16([3.0]), gives=f16([1.0986328125]))
    check("aten::log", bf16([3.0]), gives=bf16([1.1015625]))


def test_integers_and_bools_become_float32_first() -> None:
    check("aten::log2", i64([8, 1, 0]), gives=f32([3.0, 0.0, -inf]))
    check("aten::reciprocal", i64([2**24 + 1]), gives=f32([2.0**-24]))
    check("aten::sigmoid", boolean([False]), gives=f32([0.5]))
    for op in ("aten::silu", "aten::mish", "aten::softplus"):
        with pytest.raises(InvalidArguments):
            goldens(op, i32([1]))


def test_what_the_policy_leaves_open() -> None:
    for op in ("aten::silu", "aten::mish"):
        check_open(op, f32([-inf, 0.0]), gives=f32([0.0, 0.0]), where_open=[True, False], rule="P49")
    check_open("aten::sinc", f32([inf, 0.0]), gives=f32([0.0, 1.0]), where_open=[True, False], rule="P49")
    (sinc,) = goldens("aten::sinc", f32([3.0, 0.5]))
    assert (sinc.value[0], sinc.zero_sign_free.tolist()) == (0.0, [True, False])  # P50


# ---- two numbers -------------------------------------------------------------------------------------------------


def test_pow() -> None:
    check("aten::pow", f64([2.0, 9.0, 2.0]), f64([10.0, 0.5, 0.5]), gives=f64([1024.0, 3.0, 1.41421356237309504880]))
    check("aten::pow", f32([1.0, nan, 0.0, -0.0, -0.0]), f32([nan, 0.0, -1.0, -1.0, -2.0]),
          gives=f32([1.0, 1.0, inf, -inf, inf]))  # fmt: skip
    check("aten::pow", f32([-8.0, -8.0, -inf, -1.0]), f32([3.0, 1 / 4, 0.5, inf]), gives=f32([-512.0, nan, inf, 1.0]))
    check("aten::pow", 2, f32([0.5, -1.0]), gives=f32([1.4142135381698608, 0.5]))
    check("aten::pow", f32([4.0]), -0.5, gives=f32([0.5]))


def test_pow_of_integers_wraps() -> None:
    check("aten::pow", i8([2, -2, 3, 0]), i8([7, 7, 5, 0]), gives=i8([-128, -128, -13, 1]))  # 243 - 256
    check("aten::pow", u8([3, 2]), 6, gives=u8([217, 64]))  # 729 - 2 * 256
    check("aten::pow", i64([2]), i64([64]), gives=i64([0]))
    check_open("aten::pow", i32([2, 2]), i32([-1, 3]), gives=i32([0, 8]), where_open=[True, False], rule="P46")
    for exponent in (-1, 300):
        with pytest.raises(InvalidArguments):
            goldens("aten::pow", i8([2]), exponent)
    with pytest.raises(InvalidArguments):
        goldens("aten::pow", boolean([True]), boolean([True]))


def test_hypot_and_atan2() -> None:
    check("aten::hypot", f32([[3.0], [inf]]), f32([4.0, nan]), gives=f32([[5.0, nan], [inf, inf]]))
    check("aten::hypot", f32([2.0**127]), f32([2.0**-149]), gives=f32([2.0**127]))
    check("aten::atan2", f64([1.0, 0.0, -0.0, inf]), f64([-1.0, -1.0, 1.0, -inf]),
          gives=f64([2.35619449019234492885, PI, -0.0, 2.35619449019234492885]))  # fmt: skip
    check("aten::atan2", i32([0]), i32([5]), gives=f32([0.0]))
    with pytest.raises(InvalidArguments):
        goldens("aten::hypot", i32([3]), i32([4]))


def test_logaddexp() -> None:
    check("aten::logaddexp", f64([0.0]), f64([0.0]), gives=f64([LOG_2]))
    check("aten::logaddexp", f32([1000.0, -inf, inf, -inf, nan]), f32([0.0, -inf, -inf, -0.0, inf]),
          gives=f32([1000.0, -inf, inf, 0.0, nan]))  # fmt: skip


def test_xlogy() -> None:
    check("aten::xlogy", f64([2.0, 3.0]), f64([2.0, 1.0]), gives=f64([2 * LOG_2, 0.0]))
    check("aten::xlogy", f32([0.0, 0.0, -0.0, 0.0, 1.0]), f32([0.0, nan, inf, -1.0, 0.0]),
          gives=f32([0.0, nan, 0.0, 0.0, -inf]))  # fmt: skip
    check("aten::special_xlogy", 2, f64([2.0]), gives=f64([2 * LOG_2]))
    check("aten::xlogy", i32([0]), 5, gives=f32([0.0]))


# ---- softplus ----------------------------------------------------------------------------------------------------


def test_softplus_with_beta_and_threshold() -> None:
    check("aten::softplus", f64([0.0]), 2, gives=f64([LOG_2 / 2]))
    check("aten::softplus", f64([-1.0]), -1, gives=f64([-1.31326168751822283404]))  # -log(1 + e)
    check("aten::softplus", f32([inf, -inf, -1000.0, nan, 25.0]), gives=f32([inf, 0.0, 0.0, nan, 25.0]))
    check("aten::softplus", f64([10.0]), 1, 5, gives=f64([10.0]))
    check("aten::softplus", f64([10.0]), 1, 10, gives=f64([10.00004539889921686]))  # 10 is not above 10
    check("aten::softplus", f32([1.0]), 0, gives=f32([inf]))
    with pytest.raises(InvalidArguments):
        goldens("aten::softplus", f32([1.0]), 1j)


def test_softplus_where_rounding_decides_the_branch_takes_either() -> None:
    # 1.5 * (1 + 2^-10) = 1.50146484375 is not above 1.5015, but rounds to 1.501953125 in float16, which is.
    x = 1 + 2.0**-10
    log_form = float(np.float16(math.log1p(math.exp(1.50146484375)) / 1.5))
    (golden,) = goldens("aten::softplus", f16([x]), 1.5, 1.5015)
    assert golden.value.tolist() == [log_form]
    assert {float(each.value[0]) for each in (golden, *golden.alternatives)} == {log_form, x}
    (golden,) = goldens("aten::softplus", f16([x]), 1.5, 1.25)
    assert {float(each.value[0]) for each in (golden, *golden.alternatives)} == {x}


# ---- budgets -----------------------------------------------------------------------------------------------------


def _f32(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def quiet(*operands: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return function(*operands).astype(np.float64)

    return quiet


ONE, PI32 = np.float32(1), np.float32(PI)
HONEST = {
    "aten::sigmoid": _f32(lambda x: ONE / (ONE + np.exp(-x))),
    "aten::silu": _f32(lambda x: x / (ONE + np.exp(-x))),
    "aten::mish": _f32(lambda x: x * np.tanh(np.log1p(np.exp(x)))),
    "aten::softplus": _f32(lambda x: np.where(x > 20, x, np.log1p(np.exp(x)))),
    "aten::sinc": _f32(lambda x: np.sin(x * np.float32(np.pi)) / (x * np.float32(np.pi))),
}
NAIVE_TAIL = {
    "aten::sigmoid": _f32(lambda x: (ONE + np.tanh(x / 2)) / 2),
    "aten::silu": _f32(lambda x: x * (ONE + np.tanh(x / 2)) / 2),
    "aten::mish": _f32(lambda x: x * np.tanh(np.log(ONE + np.exp(x)))),
    "aten::softplus": _f32(lambda x: np.log(ONE + np.exp(x))),
    "aten::sinc": _f32(lambda x: (np.sin(x * np.float32(3.1416)) / (x * np.float32(3.1416)))),
}


@pytest.mark.parametrize("op", HONEST)
def test_the_documented_formula_in_float32_is_within_the_budget_and_a_cancelling_one_is_not(op: str) -> None:
    x = np.concatenate([np.linspace(-110, 100, 4001), np.linspace(-1, 1, 800)]).astype(np.float32)
    (golden,) = goldens(op, x)
    for formulas, expected in ((HONEST, True), (NAIVE_TAIL, False)):
        assert judge(golden, formulas[op](x).astype(np.float32), NO_ROW).ok.all() == expected


def test_where_e_to_minus_x_overflows_there_is_the_small_number_or_zero_and_nothing_between() -> None:
    """P87: of -88.8 e^88.8 is beyond float32, of -88 it is not."""
    x = np.float32([-88.8, -88.8, -88.8, -88.8, -88.0])
    (golden,) = goldens("aten::sigmoid", x)
    told = judge(golden, np.float32([2.720499e-39, 0.0, -0.0, 1e-39, 0.0]), NO_ROW)
    assert told.ok.tolist() == [True, True, False, False, False]
    (golden,) = goldens("aten::silu", x)
    told = judge(golden, np.float32([-2.4158038e-37, -0.0, 0.0, -1e-37, -0.0]), NO_ROW)
    assert told.ok.tolist() == [True, True, False, False, False]
    assert not told.vacuous.any()


def _cephes_digamma(x: float, reduced: Callable[[float], float] = lambda x: x - np.rint(x)) -> np.float32:
    """psi.c in float32: digamma of a positive number by recurrence to 10 and the asymptotic series, else reflected."""
    one, x = np.float32(1), np.float32(x)
    if x <= 0:
        return _cephes_digamma(one - x) - np.float32(PI) / np.tan(np.float32(PI) * np.float32(reduced(x)))
    steps = np.float32(0)
    while x < 10:
        steps, x = steps + one / x, x + one
    z = one / (x * x)
    series = z * (one / 12 - z * (one / 120 - z * one / 252))
    return np.log(x) - np.float32(0.5) / x - series - steps


@pytest.mark.parametrize(("reduced", "holds"), [(lambda x: x - np.rint(x), True), (lambda x: x - np.trunc(x), False)])
def test_digamma_by_its_method_in_float32_is_within_the_bound(reduced: Callable, holds: bool) -> None:
    """With pi times the distance to the nearest integer; of what is behind the point the angle loses the digits."""
    x = np.concatenate([np.linspace(-7.93, 12, 701), [1.4616321, -0.504083, -2.0001, -2.9999, 1e-5, -1e-5, 1e4, 1e30]])
    x = np.concatenate([x, np.nextafter(np.float32([-1, -2, -5]), np.float32(0))]).astype(np.float32)
    x = x[x != np.rint(x)]
    (golden,) = goldens("aten::digamma", x)
    with np.errstate(all="ignore"):
        elements = judge(golden, np.float32([_cephes_digamma(one, reduced) for one in x]), NO_ROW)
    assert elements.ok.all() == holds
    assert not elements.vacuous.any()


def test_digamma_without_a_step_or_a_term_is_beyond_the_bound() -> None:
    x = np.linspace(0.3, 30, 500).astype(np.float32)
    (golden,) = goldens("aten::digamma", x)
    for missing in (1 / (x + 9), 1 / (12 * x * x)):
        elements = judge(golden, golden.value + missing.astype(np.float32), NO_ROW)
        assert not elements.ok.any()


@pytest.mark.parametrize(
    ("sine", "holds"), [(lambda x: np.sin(PI32 * (x - np.rint(x))), True), (lambda x: np.sin(PI32 * x), False)]
)
def test_lgamma_by_reflection_in_float32_is_within_the_bound(sine: Callable, holds: bool) -> None:
    """FDLIBM's way, with the distance to the nearest integer; the sine of pi x itself has no digits near integers."""
    x = np.float32([*np.linspace(-9.97, -2.27, 400), -2.457024, -2.7476826, -3.0000002, -2.9999998])
    row, of_size = contract_table("opencl").row("aten::lgamma", "float32"), goldens("aten::lgamma", -x)[0].value
    (golden,) = goldens("aten::lgamma", x)
    reflected = np.log(PI32 / np.abs(x * sine(x))) - of_size
    assert judge(golden, reflected, row, {"self": x}).ok.all() == holds
    assert not judge(golden, of_size, row, {"self": x}).ok.any()


def test_the_naive_logaddexp_overflows_and_the_documented_one_is_within_the_budget() -> None:
    x, y = np.linspace(-90, 95, 700).astype(np.float32), np.linspace(95, -80, 700).astype(np.float32)
    (golden,) = goldens("aten::logaddexp", x, y)
    honest = _f32(lambda x, y: np.maximum(x, y) + np.log1p(np.exp(-np.abs(x - y))))(x, y)
    naive = _f32(lambda x, y: np.log(np.exp(x) + np.exp(y)))(x, y)
    assert (np.abs((honest - golden.real.hi) - golden.real.lo) <= golden.budget).all()
    assert not (np.abs((naive - golden.real.hi) - golden.real.lo) <= golden.budget).all()


def test_a_logarithm_rounded_to_float16_is_outside_the_budget_of_xlogy() -> None:
    x, y = np.linspace(1, 40, 500).astype(np.float16), np.linspace(1.5, 9, 500).astype(np.float16)
    (golden,) = goldens("aten::xlogy", x, y)
    honest = x.astype(np.float32) * np.log(y.astype(np.float32))
    half = x * np.log(y.astype(np.float32)).astype(np.float16)
    spacing = np.spacing(golden.value).astype(np.float64)
    assert (np.abs(honest - golden.real.hi) <= golden.budget).all()
    assert (np.abs(half - golden.real.hi) > golden.budget + spacing / 2).any()


def test_the_lower_tail_of_ndtr_needs_the_complement() -> None:
    x = np.linspace(-12, 5, 300).astype(np.float32)
    (golden,) = goldens("aten::special_ndtr", x)
    root = np.float32(math.sqrt(0.5))
    honest = np.array([math.erfc(float(-each * root)) / 2 for each in x])
    cancelling = np.array([0.5 + float(np.float32(math.erf(float(each * root)))) / 2 for each in x])
    assert (np.abs(honest - golden.real.hi) <= golden.budget).all()
    assert not (np.abs(cancelling - golden.real.hi) <= golden.budget).all()


def test_the_budget_of_sinc_holds_for_a_pi_of_float64() -> None:
    """At integers sinc is 0, and sin(pi x) / (pi x) by float64's pi is all error: that of the product and of pi."""
    x = np.arange(1.0, 5000.0)
    (golden,) = goldens("aten::sinc", x)
    errors = np.abs(np.sin(np.pi * x) / (np.pi * x))
    assert golden.value.tolist() == [0.0] * x.size
    assert np.all(errors <= golden.budget)
    assert errors.max() > 2.0**-53  # more than the product's


def _digamma_in_float32(x: np.ndarray) -> np.ndarray:
    """By the recurrence up to 10 and, below zero, the reflection; of the series beyond what float32 can show of it."""
    y, steps = np.where(x < 0, ONE - x, x), np.zeros_like(x)
    while (y < 10).any():
        steps, y = np.where(y < 10, steps + ONE / y, steps), np.where(y < 10, y + ONE, y)
    value = np.log(y) - ONE / (2 * y) - ONE / (12 * y * y) - steps
    return np.where(x < 0, value - PI32 / np.tan(PI32 * x), value)


def test_the_budget_of_digamma_beside_zero_is_a_few_roundings_of_the_pole_and_meets_at_the_seam() -> None:
    size = np.ldexp(1 + np.arange(4096) / 4096, -20 - np.arange(4096) % 100).astype(np.float32)
    x = np.concatenate([-size, size])
    (golden,) = goldens("aten::digamma", x)
    errors = np.abs(_f32(_digamma_in_float32)(x) - golden.real.hi)
    assert (errors <= golden.budget).all()
    assert (golden.budget <= 24 * 2.0**-24 / np.abs(x)).all()
    seam, below = 2.0**-30, 2.0**-30 * (1 - 2.0**-52)
    (seam,) = goldens("aten::digamma", f64([-seam, -below, seam, below]))
    assert seam.budget[::2] == pytest.approx(seam.budget[1::2], rel=2.0**-19)


def test_selu_is_within_its_radius_of_what_float64_and_more_digits_say() -> None:
    """The first rung of a narrower format beside the numbers of float64, which take another way."""
    x = np.concatenate([np.linspace(-120, 90, 5001), np.ldexp(-1.0, -np.arange(150)), [0.0, -inf]]).astype(np.float32)
    (narrow,), (wide,) = goldens("aten::selu", x), goldens("aten::selu", x.astype(np.float64))
    apart = np.abs((narrow.real.hi - wide.real.hi) - wide.real.lo)
    assert (apart <= narrow.real.radius + wide.real.radius).all()
    assert (narrow.real.radius <= 2.0**-40 * np.abs(narrow.real.hi)).all()


@pytest.mark.parametrize(
    ("alpha", "scale", "rate"), [(1e-300, -3.0, -2.0), (1.5, 1e4, 1e-200), (3.0, 1e-12, 1e4), (0.1, 0.7, 5e-324)]
)
def test_elu_of_products_that_are_almost_0(alpha: float, scale: float, rate: float) -> None:
    """scale alpha (e^y - 1) lies between that times y and times y + y^2 / 2; both round alike beside no tie."""
    draws = np.random.default_rng(17)
    largest = min(2.0**-111 / abs(rate), 1e300)
    x = -largest * draws.uniform(0.5, 1, 40) * np.ldexp(1.0, -draws.integers(0, 60, 40))
    (golden,) = goldens("aten::elu", x, alpha, scale, rate)
    factor = Fraction(alpha) * Fraction(scale)
    for i, number in enumerate(x.tolist()):
        y = Fraction(rate) * Fraction(number)
        ends = [factor * (y + part * y * y) for part in (Fraction(0), Fraction(1, 2))]
        expected = {round_fraction(FORMATS["float64"], end) for end in ends}
        assert golden.value[i] in expected
        assert len(expected) == 1
        off = abs(ends[1] - Fraction(golden.real.hi[i]) - Fraction(golden.real.lo[i]))
        assert off <= Fraction(golden.real.radius[i]) + Fraction(1, 2**1100)


@pytest.mark.parametrize(
    ("alpha", "expected"),
    [
        (1 + 2.0**-24, -1.0),  # between -1 and -1 - 2^-23, and less than that
        (1 + 3 * 2.0**-24, -1 - 2.0**-23),  # not the even one, -1 - 2^-22
        (0.0, 0.0),
    ],
)
def test_elu_of_far_arguments_is_a_little_less_than_alpha(alpha: float, expected: float) -> None:
    (golden,) = evaluate("aten::elu", [np.float32([-1e30, -300.0])], {"alpha": alpha}).goldens
    assert golden.value.tolist() == [expected, expected]


def test_elu_of_a_negative_rate_grows_beyond_every_number() -> None:
    arguments = {"alpha": 5e-324, "input_scale": -1.0}
    (golden,) = evaluate("aten::elu", [np.array([-1e300, -1e4, -744.0])], arguments).goldens
    assert golden.value.tolist() == [np.inf, np.inf, 0.6439901027598127]  # 2^-1074 e^744
