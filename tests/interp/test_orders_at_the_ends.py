"""Honest orders of the same factors, whose results on the way underflow or overflow, stay inside.

Numbers have exponents over the whole range of the compute type, so that nearly every product is at one of its ends. In
each test the last form, which drops what it must not, falls outside.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from tests.interp.honest import judged, total

COUNT = 400
ENDS = {np.float32: (-149, 127), np.float64: (-1074, 1023)}
dtypes = pytest.mark.parametrize("dtype", list(ENDS), ids=lambda dtype: dtype.__name__)


def wide(dtype: type, *shape: int, seed: int) -> np.ndarray:
    """Numbers of both signs with any exponent."""
    draw = np.random.default_rng(seed)
    significands = draw.uniform(1, 2, shape) * draw.choice([-1, 1], shape)
    with np.errstate(all="ignore"):
        return np.ldexp(significands, draw.integers(*ENDS[dtype], shape)).astype(dtype)


def outside(op: str, args: list, actual: np.ndarray, **keywords: object) -> np.ndarray:
    """[2]: how many elements are, and how many were compared."""
    elements = judged(op, args, actual, **keywords)
    return np.array([(~elements.ok).sum(), elements.compared.sum()])


def test_products_that_underflow_before_alpha_enlarges_them() -> None:
    lhs, rhs = np.array([[-1.0842022e-19]], np.float32), np.array([[-1e-20]], np.float32)  # 1.08e-39, subnormal
    zero = np.zeros((1, 1), np.float32)
    actual = np.float32(1000) * (lhs * rhs)
    elements = judged("aten::addmm", [zero, lhs, rhs], actual, alpha=1000)
    assert (elements.error_ulp.item(), elements.ok.item()) == (7.8125, True)
    # 2^30 is a power of two, and yet what the product has lost is lost.
    assert judged("aten::addmm", [zero, lhs, rhs], np.float32(2**30) * (lhs * rhs), alpha=2**30).ok.all()
    # Without alpha nothing enlarges it.
    assert not judged("aten::addmm", [zero, lhs, rhs], lhs * rhs * np.float32(1.00001)).ok.any()


@dtypes
@pytest.mark.parametrize("op", ["aten::addmm", "aten::addr", "aten::addmv", "aten::baddbmm"])
def test_alpha_in_any_place(dtype: type, op: str) -> None:
    honest, wrong = np.zeros(2, int), np.zeros(2, int)
    for seed in range(8):
        lhs, rhs, alpha = (wide(dtype, *shape, seed=3 * seed + k) for k, shape in enumerate([(COUNT, 1), (1, 1), ()]))
        column, row = {
            "aten::addmm": (lhs, rhs), "aten::addr": (lhs[:, 0], rhs[0]), "aten::addmv": (lhs, rhs[0]),
            "aten::baddbmm": (lhs[None], rhs[None]),
        }[op]  # fmt: skip
        shape = {"aten::addmm": (COUNT, 1), "aten::addr": (COUNT, 1), "aten::baddbmm": (1, COUNT, 1)}.get(op, (COUNT,))
        ask = partial(outside, op, [np.zeros(shape, dtype), column, row], alpha=float(alpha), beta=0)
        with np.errstate(all="ignore"):
            forms = [alpha * (lhs * rhs), (alpha * lhs) * rhs, lhs * (alpha * rhs)]
            honest += sum(ask(form.reshape(shape)) for form in forms)
            wrong += ask((forms[0] * dtype(1.001)).reshape(shape))
    assert honest[0] == 0
    assert min(honest[1], wrong[0]) > COUNT


@dtypes
def test_batch_norm_of_constants_folded_or_not(dtype: type) -> None:
    x, weight, bias, mean, variance = (
        wide(dtype, *shape, seed=seed) for seed, shape in enumerate([(3, COUNT), *[(COUNT,)] * 4])
    )
    args = [x, weight, bias, mean, np.abs(variance), 0.1, 1e-5]
    with np.errstate(all="ignore"):
        rstd = 1 / np.sqrt(np.abs(variance) + dtype(1e-5))
        forms = [
            (x - mean) * rstd * weight + bias, (x - mean) * (rstd * weight) + bias, (x - mean) * weight * rstd + bias,
            x * (rstd * weight) + (bias - mean * (rstd * weight)), x * (rstd * weight),
        ]  # fmt: skip
    *honest, last = (outside("aten::_native_batch_norm_legit_no_training", args, form) for form in forms)
    assert [wrong for wrong, _ in honest] == [0, 0, 0, 0]
    assert min(honest[0][1], last[0]) > COUNT / 10


@pytest.mark.parametrize(
    ("x", "weight", "variance", "actual", "compared"),
    [
        (1.7e38, 2.5, 4.0, np.inf, False),  # 4.25e38 before it is halved
        (1.7e38, -2.5, 4.0, -np.inf, False),
        (1.7e38, 2.5, np.inf, np.nan, False),  # and infinity times 0
        (1.7e38, 1.5, 4.0, np.inf, True),  # 2.55e38
        (1.7e38, 1.5, 4.0, 1.275e38, True),
        (np.inf, 2.5, 4.0, np.inf, True),
    ],
)
def test_a_difference_times_a_weight_that_overflows_bounds_nothing(
    x: float, weight: float, variance: float, actual: float, compared: bool
) -> None:
    operands = [np.array(one, np.float32) for one in ([[x]], [weight], [0.0], [0.0], [variance])]
    elements = judged("aten::_native_batch_norm_legit_no_training", [*operands, 0.1, 0.0], np.float32([[actual]]))
    is_right = not compared or actual == 1.275e38 or np.isinf(x)
    assert (elements.ok.item(), elements.compared.item()) == (is_right, compared)


def test_a_difference_that_overflows_bounds_nothing_and_one_that_does_not_is_bounded() -> None:
    x, shift, variance = (np.array(one, np.float32) for one in ([[-3.4e38, 3.3e38]], [3.4e38] * 2, [22.0] * 2))
    args = [x, None, None, shift, variance, 0.1, 1e-5]
    rstd = np.float32(1 / np.sqrt(22.00001))
    actual = np.array([[-np.inf, (x[0, 1] - shift[1]) * rstd]], np.float32)
    elements = judged("aten::_native_batch_norm_legit_no_training", args, actual)
    assert (elements.ok.tolist(), elements.compared.tolist()) == ([[True, True]], [[False, True]])
    # float64 itself does not hold that difference.
    x, shift, variance = np.array([[-1.7e308, 8e307]]), np.array([1.7e308, 8.1e307]), np.full(2, 22.0)
    actual = np.array([[-np.inf, (8e307 - 8.1e307) / np.sqrt(22.00001)]])
    elements = judged("aten::_native_batch_norm_legit_no_training", [x, None, None, shift, variance, 0.1, 1e-5], actual)
    assert (elements.ok.tolist(), elements.compared.tolist()) == ([[True, True]], [[False, True]])


def test_group_norm_backward_with_the_weight_multiplied_to_rstd() -> None:
    grad, x, mean = np.array([[1.1754944e-38, 1.0]], np.float32), np.ones((1, 2), np.float32), np.ones(1, np.float32)
    rstd, weight = np.array([[3.0]], np.float32), np.array([1.6e38, 1.0], np.float32)
    args = [grad, x, mean[:, None], rstd, weight, 1, 2, 1, 1, [True, False, False]]
    elements = judged("aten::native_group_norm_backward", args, np.array([[np.inf, -2.3]], np.float32))
    assert (elements.ok.tolist(), elements.compared.tolist()) == ([[True, False]], [[False, True]])


@dtypes
def test_layer_norm_backward_with_the_number_of_terms_in_or_out_of_the_brackets(dtype: type) -> None:
    n, honest, wrong = 4, np.zeros(2, int), np.zeros(2, int)
    grad, x, weight, mean, rstd = (
        wide(dtype, *shape, seed=seed) for seed, shape in enumerate([(COUNT, n), (COUNT, n), (n,), *[(COUNT, 1)] * 2])
    )
    for scale in (1.0, float(np.finfo(dtype).max) / 4):  # wide numbers, and gradients of which four overflow
        if scale != 1.0:
            grad = (dtype(scale) * np.random.default_rng(9).uniform(1, 2, grad.shape)).astype(dtype)
            x, weight, mean, rstd = np.ones_like(x), np.ones_like(weight), np.ones_like(mean), np.ones_like(rstd)
        args = [grad, x, [n], mean, rstd, weight, None, [True, False, False]]
        with np.errstate(all="ignore"):
            g, z = grad * weight, (x - mean) * rstd
            sums, of_z = total(g)[:, None], total(g * z)[:, None]
            forms = [
                rstd * (g - sums / dtype(n) - z * (of_z / dtype(n))),
                rstd / dtype(n) * (dtype(n) * g - sums - z * of_z),
            ]
            wrong += outside("aten::native_layer_norm_backward", args, rstd * (g - sums / dtype(n)) * dtype(1.1))
            honest += sum(outside("aten::native_layer_norm_backward", args, form) for form in forms)
    assert honest[0] == 0
    assert min(honest[1], wrong[0]) > COUNT / 10


def test_an_infinite_term_decides_a_sum_unless_the_finite_ones_may_overflow_before_they_meet_it() -> None:
    """-inf + 3.4e38 + 3.4e38 is NaN where the finite numbers are added first (P35 says so of sums; here of losses)."""
    logs, targets = np.zeros((3, 3), np.float32), np.array([0, 1, 2])

    def of_weights(*weights: float) -> tuple[bool, bool]:
        args = [logs, targets, np.array(weights, np.float32), 1, -100]
        answers = (np.array(one, np.float32) for one in (np.nan, -np.inf))
        return tuple(bool(judged("aten::nll_loss_forward", args, one, output=1).ok) for one in answers)

    assert of_weights(3.4e38, 3.4e38, -np.inf) == (True, True)
    assert of_weights(1.0, 2.0, -np.inf) == (False, True)
    assert of_weights(np.inf, 3.4e38, -np.inf) == (True, False)
