"""Error budgets of composite ops: honest implementations stay inside, the usual wrong ones fall outside.

The implementations are the documented formulas, step by step in numpy's float32 or float64. numpy has no erf: math.erf
is exact to an ulp of float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from conform.contracts.judge import Elements, judge
from conform.contracts.tables import Row
from conform.interp.evaluate import evaluate
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS
from conform.numerics.rounding_errors import (
    accumulator_of,
    gamma,
    held_format,
    joined_along,
    root_sum_of_squares,
    rounded_intermediates,
    underflow,
)

DERIVED = Row("derived", None, "running error", "test")
FLOATS = [np.float32, np.float64]
F32 = FORMATS["float32"]
U, ETA = 2.0**-24, 2.0**-150  # unit roundoff, half the smallest subnormal of float32
EPS = 1e-5

erf = np.vectorize(math.erf, otypes=[np.float64])
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # implementations overflow, and may


def judged(op: str, *args: object, actual: np.ndarray, output: int = 0) -> Elements:
    return judge(evaluate(op, args, {}).goldens[output], actual, DERIVED)


# --- The arithmetic of balls ------------------------------------------------------------------------------------------


def ball(mid: float, rad: float) -> Ball:
    return Ball(np.float64(mid), np.float64(rad), F32)


def test_an_operation_passes_on_its_operands_errors_and_adds_its_own_rounding() -> None:
    total = ball(3.0, 0.5) + ball(1.0, 0.25)
    assert total.mid == 4.0
    assert total.rad == 0.75 + U * 4.75 + ETA
    product = ball(3.0, 0.5) * ball(-2.0, 0.25)
    assert product.mid == -6.0
    assert product.rad == (3 * 0.25 + 2 * 0.5 + 0.5 * 0.25) + U * (6 + 1.875) + ETA
    quotient = ball(6.0, 0.5) / ball(3.0, 1.0)  # at most 6.5 / 2 = 3.25; a division may spend 2.5 ulps
    assert quotient.mid == 2.0
    assert quotient.rad == (0.5 + 2 * 1.0) / 2 + 5 * (U * 3.25 + ETA)


def test_a_function_takes_the_image_of_the_ball() -> None:
    assert ball(0.0, 1.0).exp().rad >= math.e - 1
    assert ball(4.0, 4.0).sqrt().rad >= 2.0  # the slope at 0 is infinite, the image is not
    assert ball(100.0, 1.0).tanh().rad < 1e-6
    assert 2.0 <= ball(0.0, 1e9).tanh().rad < 2.001
    assert ball(0.0, 0.1).erf(erf).rad >= math.erf(0.1)


def test_a_sum_in_any_order_loses_gamma_times_the_magnitudes() -> None:
    total = Ball(np.array([1e8, -1e8, 1.0]), np.array([0.0, 0.0, 0.5]), F32).sum(-1)
    assert total.mid.tolist() == [1.0]
    assert total.rad.tolist() == [0.5 + float(gamma(2, U)) * (2e8 + 1.5)]
    assert gamma(3, 0.25) == 3.0
    assert gamma(4, 0.25) == np.inf
    assert underflow(F32) == ETA


def test_what_can_overflow_is_unknown_unless_an_infinite_or_nan_operand_determines_it() -> None:
    assert (ball(2e38, 0.0) + ball(2e38, 0.0)).rad == np.inf
    assert (ball(np.inf, 0.0) + ball(1.0, 0.5)).rad == 0.0
    assert (ball(np.nan, 0.0) * ball(1.0, np.inf)).rad == 0.0
    assert (ball(np.inf, 0.0) + ball(1.0, np.inf)).rad == np.inf
    assert (ball(1.0, 0.0) / ball(0.5, 0.5)).rad == np.inf  # the divisor may be zero


def test_an_angle_that_may_have_overflowed_has_no_sine_and_another_one_between_minus_one_and_one() -> None:
    """IEEE 754 clause 9.2: the sine and the cosine of an infinity are NaN."""
    overflowed, turned = ball(2e38, 0.0) * ball(2.0, 0.0), ball(3e9, 1e9)
    assert (overflowed.sin().rad, overflowed.cos().rad) == (np.inf, np.inf)
    assert 2 < turned.sin().rad < 2.001
    assert 2 < turned.cos().rad < 2.001


def test_what_is_not_rounded_has_no_radius() -> None:
    squares = Ball.exact(np.array([3.0, 4097.0, 0.0, 2.0**-100, np.inf]), F32).square()
    assert (squares.rad == 0).tolist() == [True, False, True, False, True]  # 4097^2 takes 25 bits, 2^-200 underflows
    assert Ball(np.array([3.0]), np.array([1e-9]), F32).square().rad > 0
    one = Ball.exact(np.array([3.0]), F32)
    assert ((one - one).rad, (one - one).exp().rad) == (0, 0)
    assert (one + one).rad > 0
    assert Ball.exact(np.full(100, 3.0), F32).sum(-1).rad == 0
    assert Ball.total([Ball.exact(np.full(100, 3.0), F32)], in_terms=False).rad > 0


def test_independent_errors_join_by_the_root_of_the_sum_of_their_squares() -> None:
    with root_sum_of_squares():
        assert (ball(1e-30, 3.0) + ball(-1e-30, 4.0)).rad == pytest.approx(5.0)
        assert (ball(2.0, 3e-9) * ball(1.0, 2e-9)).rad == pytest.approx(math.hypot(3e-9, 4e-9, U * 2))
        tenths = Ball.exact(np.full(101, np.float32(0.1)), F32)
        assert tenths.sum(-1).rad == pytest.approx(10 * U * 10.1)
        uncertain = Ball(tenths.mid, np.full(101, 1e-3), F32)
        assert uncertain.sum(-1).rad == pytest.approx(1e-3 * math.sqrt(101), rel=1e-4)
        errors = np.array([[3e200, 4e200], [0.0, 0.0], [np.inf, 1.0]])  # whose squares float64 does not hold
        assert joined_along(errors, 1).tolist() == [pytest.approx(5e200), 0.0, np.inf]
    assert tenths.sum(-1).rad.item() == pytest.approx(float(gamma(100, U)) * 10.1)


def test_the_scale_of_a_ball_is_the_magnitude_of_the_terms_that_may_have_cancelled() -> None:
    three, two = ball(3.0, 0.0), ball(-2.0, 0.0)
    assert (three.scale, (three * two).scale, (three / two).scale) == (3.0, 6.0, 1.5)
    assert ((three + two).scale, (three - two).scale) == (5.0, 5.0)
    assert ((three + two) * two).scale == 10.0
    assert (two / (three + two)).scale == 2.0  # by 1, not by 5: a smaller divisor makes a larger quotient
    assert (three + two).exp().scale == math.e  # a function forgets its operand's terms
    assert (three + two).sqrt().scale == math.sqrt(5.0)
    assert Ball.exact(np.array([3.0, -2.0, 0.5]), F32).sum(-1).scale.tolist() == [5.5]
    assert ball(1.5, 1e-8).log().scale == math.log(1.5) + 1.0  # a - 1, of an argument that was rounded
    assert ball(1.5, 0.0).log().scale == math.log(1.5)
    assert (ball(100.0, 1e-5).sin().scale, ball(1e-3, 1e-10).sin().scale) == (1.0, 1e-3)


def test_exact_zeros_and_ones_lose_nothing() -> None:
    zero, some = ball(0.0, 0.0), ball(3.0, 0.5)
    assert ((zero * some).rad, (zero / some).rad, zero.sqrt().rad, ball(1.0, 0.0).log().rad) == (0, 0, 0, 0)
    assert (zero * ball(1.0, np.inf)).rad == np.inf
    assert (zero / ball(1.0, 1.5)).rad == np.inf


def test_results_on_the_way_may_be_rounded_to_the_element_type() -> None:
    bfloat16, u, u_half = FORMATS["bfloat16"], 2.0**-24, 2.0**-8
    assert (held_format(bfloat16).name, held_format(F32).name) == ("float32", "float32")
    with rounded_intermediates(partial_sums=False):
        assert held_format(bfloat16) == bfloat16
        assert accumulator_of(bfloat16).name == "float32"
        product = Ball.exact(np.float64(3.0), bfloat16) * Ball.exact(np.float64(5.0), bfloat16)
        assert product.rad == pytest.approx(15 * (u_half + u), rel=1e-6)
        power = Ball.exact(np.float64(1.0), bfloat16).exp()  # 3 ulp of float32, then a rounding
        assert power.rad == pytest.approx(math.e * (u_half + 6 * u), rel=1e-6)
        total = Ball(np.full(101, 0.1), np.zeros(101), bfloat16).sum(-1)
        assert total.rad.item() == pytest.approx(10.1 * (u_half + 100 * u), rel=1e-3)
    with rounded_intermediates(partial_sums=True):
        total = Ball(np.full(101, 0.1), np.zeros(101), bfloat16).sum(-1)
        assert total.rad.item() == pytest.approx(10.1 * float(gamma(100, u_half)), rel=1e-3)
        assert np.isinf(Ball.exact(np.float64(300.0), FORMATS["float16"]).square().rad)  # it overflows


# --- gelu -------------------------------------------------------------------------------------------------------------


def gelu_erf(x: np.ndarray) -> np.ndarray:
    t = x.dtype.type
    return x * t(0.5) * (t(1) + erf(x * t(math.sqrt(0.5))).astype(t))


def gelu_tanh(x: np.ndarray) -> np.ndarray:
    t = x.dtype.type
    inner = t(math.sqrt(2 / math.pi)) * (x + t(0.044715) * x * x * x)
    return t(0.5) * x * (t(1) + np.tanh(inner))


GELU = {"none": gelu_erf, "tanh": gelu_tanh}
GELU_INPUTS = np.concatenate(
    [np.linspace(-9, 9, 181), [-1e30, -1e13, -20.0, -1e-30, 0.0, 1e-42, 1e-7, 20.0, 1e13, 1e30]]
)


def judged_gelu(actual: Callable[[np.ndarray], np.ndarray], approximate: str, dtype: type) -> Elements:
    x = GELU_INPUTS.astype(dtype)
    golden = evaluate("aten::gelu", [x], {"approximate": approximate}).goldens[0]
    return judge(golden, actual(x).astype(dtype), DERIVED)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("approximate", GELU)
def test_gelu_by_its_formula_is_inside(approximate: str, dtype: type) -> None:
    elements = judged_gelu(GELU[approximate], approximate, dtype)
    assert elements.ok.all()
    assert not elements.vacuous.any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_other_gelu_is_outside(dtype: type) -> None:
    assert not judged_gelu(gelu_tanh, "none", dtype).ok.all()
    assert not judged_gelu(gelu_erf, "tanh", dtype).ok.all()
    assert not judged_gelu(lambda x: x / (1 + np.exp(-1.702 * x)), "none", dtype).ok.all()


# --- softmax ----------------------------------------------------------------------------------------------------------


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softmax_with_reciprocal(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e * (x.dtype.type(1) / e.sum(-1, keepdims=True))


def softmax_without_maximum(x: np.ndarray) -> np.ndarray:
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)


LOGITS = {
    "easy": np.random.default_rng(0).normal(0, 1, (8, 33)),
    "large": np.random.default_rng(1).normal(800, 300, (8, 33)),
    "equal": np.full((2, 30), 0.1),
    "one": np.full((3, 1), -5.0),
    "masked": np.where(np.arange(16) % 3 == 0, -np.inf, np.linspace(-4, 4, 16))[None],
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("logits", LOGITS)
@pytest.mark.parametrize("implementation", [softmax, softmax_with_reciprocal])
def test_softmax_by_its_formula_is_inside(implementation: Callable, logits: str, dtype: type) -> None:
    x = LOGITS[logits].astype(dtype)
    elements = judged("aten::_softmax", x, -1, False, actual=implementation(x))
    assert elements.ok.all()
    assert not elements.vacuous.any()


@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax_without_subtracting_the_maximum_is_outside(dtype: type) -> None:
    x = LOGITS["large"].astype(dtype)
    assert not judged("aten::_softmax", x, -1, False, actual=softmax_without_maximum(x)).ok.all()


def test_softmax_of_halves_summed_in_halves_is_outside_and_in_float32_inside() -> None:
    x = LOGITS["easy"].astype(np.float16)
    e = np.exp(x - x.max(-1, keepdims=True))
    total = np.add.accumulate(e, -1, dtype=np.float16)[:, -1:]
    assert not judged("aten::_softmax", x, -1, False, actual=e / total).ok.all()
    assert judged("aten::_softmax", x, -1, False, actual=softmax(x.astype(np.float32)).astype(np.float16)).ok.all()


# --- Layer normalization ----------------------------------------------------------------------------------------------


def two_pass(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and biased variance."""
    n = x.dtype.type(x.shape[-1])
    mean = x.sum(-1, keepdims=True) / n
    return mean, ((x - mean) ** 2).sum(-1, keepdims=True) / n


def welford(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean, squares = np.zeros_like(x[:, :1]), np.zeros_like(x[:, :1])
    for k in range(x.shape[-1]):
        delta = x[:, k : k + 1] - mean
        mean = mean + delta / x.dtype.type(k + 1)
        squares = squares + delta * (x[:, k : k + 1] - mean)
    return mean, squares / x.dtype.type(x.shape[-1])


def difference_of_squares(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    n = x.dtype.type(x.shape[-1])
    mean = x.sum(-1, keepdims=True) / n
    return mean, np.maximum((x * x).sum(-1, keepdims=True) / n - mean * mean, 0)


def unbiased(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean, variance = two_pass(x)
    return mean, variance * x.dtype.type(x.shape[-1] / (x.shape[-1] - 1))


def in_halves(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean = np.add.accumulate(x.astype(np.float16), -1, dtype=np.float16)[:, -1:] / np.float16(x.shape[-1])
    return mean.astype(x.dtype), two_pass(x)[1]


def centred(x: np.ndarray, mean: np.ndarray, rstd: np.ndarray) -> np.ndarray:
    return (x - mean) * rstd


def scaled_and_shifted(x: np.ndarray, mean: np.ndarray, rstd: np.ndarray) -> np.ndarray:
    return x * rstd + -mean * rstd


def layer_norm(
    x: np.ndarray, statistics: Callable = two_pass, normalized: Callable = centred, affine: tuple = (None, None)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    t = x.dtype.type
    mean, variance = statistics(x)
    rstd = t(1) / np.sqrt(variance + t(EPS))
    weight, bias = affine
    output = normalized(x, mean, rstd)
    return (output if weight is None else output * weight + bias), mean, rstd


def rejected(x: np.ndarray, outputs: tuple[np.ndarray, ...], affine: tuple = (None, None)) -> list[int]:
    """How many elements of each output are outside their bounds."""
    goldens = evaluate("aten::native_layer_norm", [x, [x.shape[-1]], *affine, EPS], {}).goldens
    elements = [judge(golden, actual, DERIVED) for golden, actual in zip(goldens, outputs, strict=True)]
    assert not any(each.vacuous.any() for each in elements)
    return [int((~each.ok).sum()) for each in elements]


def rows(seed: int, offset: float, deviation: float, n: int = 48) -> np.ndarray:
    return np.random.default_rng(seed).normal(offset, deviation, (12, n))


ROWS = {
    "easy": rows(2, 0.0, 1.0),
    "offset": rows(3, 1e3, 1.0),
    "constant": np.full((3, 40), 0.1),
    "nearly constant": 0.1 + 1e-6 * rows(4, 0.0, 1.0),
    "small": rows(5, 0.0, 1e-3),
    "two": rows(6, 5.0, 1.0, 2),
    "one": rows(7, 5.0, 1.0, 1),
    "one large first": np.where(np.arange(64) == 0, 1e6, rows(8, 0.0, 1.0, 64)),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("statistics", [two_pass, welford])
@pytest.mark.parametrize("normalized", [centred, scaled_and_shifted])
def test_layer_norm_by_its_formula_is_inside(
    statistics: Callable, normalized: Callable, kind: str, dtype: type
) -> None:
    x = ROWS[kind].astype(dtype)
    assert rejected(x, layer_norm(x, statistics, normalized)) == [0, 0, 0]
    affine = np.linspace(-2, 3, x.shape[-1]).astype(dtype), np.linspace(100, -1, x.shape[-1]).astype(dtype)
    assert rejected(x, layer_norm(x, statistics, normalized, affine), affine) == [0, 0, 0]


def test_the_variance_as_a_difference_of_squares_is_outside_far_from_zero() -> None:
    x = ROWS["offset"].astype(np.float32)
    output, _, rstd = rejected(x, layer_norm(x, difference_of_squares))
    assert output > 0
    assert rstd > 0


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("kind", ["easy", "offset"])
def test_the_unbiased_variance_is_outside(kind: str, dtype: type) -> None:
    x = ROWS[kind].astype(dtype)
    outside = rejected(x, layer_norm(x, unbiased))
    assert outside[0] > x.size / 2
    assert outside[1:] == [0, len(x)]


@pytest.mark.parametrize("dtype", FLOATS)
def test_eps_outside_the_root_is_outside(dtype: type) -> None:
    x = ROWS["small"].astype(dtype)
    mean, variance = two_pass(x)
    rstd = 1 / (np.sqrt(variance) + dtype(EPS))
    outside = rejected(x, ((x - mean) * rstd, mean, rstd))
    assert outside[0] > x.size / 2
    assert outside[1:] == [0, len(x)]


def test_a_mean_accumulated_in_float16_is_outside() -> None:
    x = ROWS["easy"].astype(np.float16).astype(np.float32)
    outside = rejected(x, layer_norm(x, in_halves))
    assert min(outside[:2]) > 0


def test_an_infinity_beside_a_number_of_either_sign_has_no_class() -> None:
    """inf * [-1, 3] is inf, -inf or NaN; inf * [1, 3] is inf. Quotients likewise."""
    infinite, open_sign, positive = ball(np.inf, 0.0), ball(1.0, 2.0), ball(2.0, 1.0)
    for unknown in (infinite * open_sign, open_sign * infinite, infinite / open_sign):
        assert np.isinf(unknown.rad)
    for known in (infinite * positive, infinite / positive, open_sign / infinite):
        assert known.rad == 0
