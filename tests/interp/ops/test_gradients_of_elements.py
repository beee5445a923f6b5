"""Gradients of activations and losses: literal results, derivatives by mpmath over the whole range, special numbers."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from conform.numerics.formats import format_named
from conform.numerics.rounding import nearest_of
from tests.interp.ops.literal import boolean, check, check_open, f32, f64, goldens, i64, same, shown

inf, nan = np.inf, np.nan


def test_of_results() -> None:
    check("aten::sigmoid_backward", f32([2, 4]), f32([0.5, 0.25]), gives=f32([0.5, 0.75]))
    check("aten::tanh_backward", f32([2, 4]), f32([0.5, -0.25]), gives=f32([1.5, 3.75]))


def test_of_smooth_activations_at_0() -> None:
    check("aten::silu_backward", f32([3]), f32([0]), gives=f32([1.5]))
    check("aten::gelu_backward", f64([5e-324, 3]), f64([0, 0]), gives=f64([0, 1.5]))
    check("aten::gelu_backward", f32([3]), f32([-0.0]), gives=f32([1.5]), approximate="tanh")
    check("aten::infinitely_differentiable_gelu_backward", f32([3]), f32([0]), gives=f32([1.5]))
    check("aten::mish_backward", f64([5]), f64([0]), gives=f64([3]))
    check("aten::softplus_backward", f32([3, 3]), f32([0, 9]), 2, 16, gives=f32([1.5, 3]))


def test_of_smooth_activations_far_away() -> None:
    for name in ("silu", "gelu", "mish"):
        check(f"aten::{name}_backward", f64([3, 1e308]), f64([1e300, 5000]), gives=f64([3, 1e308]))
        check(f"aten::{name}_backward", f64([3]), f64([-1e300]), gives=f64([0]))


def test_of_logit() -> None:
    check("aten::logit_backward", f32([3, 3]), f32([0.5, 0.25]), gives=f32([12, 16]))
    check("aten::logit_backward", f32([3, 3]), f32([2, -1]), gives=f32([nan, nan]))
    check("aten::logit_backward", f32([3, 3]), f32([2, 0.125]), 0.25, gives=f32([0, 0]))
    at_poles = f32([3, 3]), f32([1, 0])
    check_open("aten::logit_backward", *at_poles, gives=f32([0, 0]), where_open=[True, True], rule="P233")


def test_of_elu() -> None:
    check("aten::elu_backward", f32([2, 2]), 3, 0.5, 4, False, f32([1, -1e9]), gives=f32([1, 0]))
    check("aten::elu_backward", f32([2, 2]), 3, 0.5, 4, True, f32([1, -1]), gives=f32([1, 4]))  # 2 * 4 * (-1 + 1.5)


def test_of_glu() -> None:
    check("aten::glu_backward", f32([[8], [4]]), f32([[2, 0], [3, 0]]), 1, gives=f32([[4, 4], [2, 3]]))


def test_of_pieces() -> None:
    grad, x = f32([2, 2, 2, 2, 2]), f32([-4, -1, 0.5, 2, 4])
    check("aten::threshold_backward", grad, x, 0.25, gives=f32([0, 0, 2, 2, 2]))
    check("aten::hardtanh_backward", grad, x, -3, 3, gives=f32([0, 2, 2, 2, 0]))
    check("aten::hardshrink_backward", grad, x, 0.75, gives=f32([2, 2, 0, 2, 2]))
    check("aten::softshrink_backward", grad, x, 1.5, gives=f32([2, 0, 0, 2, 2]))
    check("aten::leaky_relu_backward", grad, x, 0.5, False, gives=f32([1, 1, 2, 2, 2]))
    check("aten::hardswish_backward", f32([6, 6, 6]), f32([-4, 1.5, 4]), gives=f32([0, 6, 6]))
    check("aten::hardsigmoid_backward", f32([6, 6, 6]), f32([-4, 1.5, 4]), gives=f32([0, 1, 0]))
    check("aten::rrelu_with_noise_backward", grad, x, x, 0.25, 0.75, False, False, gives=f32([1, 1, 2, 2, 2]))
    check("aten::rrelu_with_noise_backward", grad, x, x, 0.25, 0.75, True, False, gives=f32([-8, -2, 1, 4, 8]))


def test_of_prelu() -> None:
    check("aten::_prelu_kernel", f32([-2, 3]), f32([0.25, 5]), gives=f32([-0.5, 3]))
    of_self, of_weight = f32([1, 4]), f32([-8, 0])
    check("aten::_prelu_kernel_backward", f32([4, 4]), f32([-2, 3]), f32([0.25, 5]), gives=(of_self, of_weight))


def test_of_fake_quantization() -> None:
    for each in ("tensor", "channel"):
        name = f"aten::fake_quantize_per_{each}_affine_cachemask_backward"
        check(name, f32([2, 3]), boolean([True, False]), gives=f32([2, 0]))


@pytest.mark.parametrize(
    ("op", "arguments", "first", "second"),
    [
        ("threshold_backward", (0.5,), [0], [2]),
        ("hardtanh_backward", (-0.5, 0.5), [0], [2]),
        ("hardshrink_backward", (0.5,), [0], [2]),
        ("softshrink_backward", (0.5,), [0], [2]),
    ],
)
def test_at_a_kink_either_side_is_right(op: str, arguments: tuple, first: list, second: list) -> None:
    (golden,) = goldens(f"aten::{op}", f32([2]), f32([0.5]), *arguments)
    same([shown(each.value) for each in (golden, *golden.alternatives)], [shown(f32(first)), shown(f32(second))])


def test_a_stopped_infinity_is_0_or_nan() -> None:
    (golden,) = goldens("aten::threshold_backward", f32([inf, nan, inf]), f32([-1, -1, 1]), 0)
    same(shown(golden.value), shown(f32([nan, nan, inf])))
    same([shown(each.value) for each in golden.alternatives], [shown(f32([0, 0, inf]))])


def test_of_special_numbers() -> None:
    """NaN beside a NaN, nothing beside an infinity; in pieces nothing of NaN."""
    grad, x = f32([nan, inf, 1, 1]), f32([1, 1, nan, inf])
    given = [False, True, False, True]
    check_open("aten::silu_backward", grad, x, gives=f32([nan, 0, nan, 0]), where_open=given, rule="P232")
    (golden,) = goldens("aten::leaky_relu_backward", f32([1]), f32([nan]), 0.5, False)
    assert (golden.open.tolist(), golden.open_rule) == ([True], "P232")


# --- Losses -----------------------------------------------------------------------------------------------------------


def test_of_differences() -> None:
    x, t = f32([3, -1]), f32([1, 0])
    check("aten::mse_loss_backward", f32([1, 2]), x, t, 0, gives=f32([4, -4]))
    check("aten::mse_loss_backward", f32(2), x, t, 1, gives=f32([4, -2]))
    check("aten::mse_loss_backward", f32(2), x, t, 2, gives=f32([8, -4]))
    check("aten::smooth_l1_loss_backward", f32(2), x, t, 2, 1.5, gives=f32([2, np.float32(-4 / 3)]))
    check("aten::huber_loss_backward", f32(2), x, t, 2, 1.5, gives=f32([3, -2]))
    check("aten::smooth_l1_loss_backward", f64([2]), f64([1e308]), f64([-1e308]), 0, 1.0, gives=f64([2]))


def test_of_two_classes() -> None:
    check("aten::soft_margin_loss_backward", f32(4), f32([0, 0]), f32([1, -1]), 1, gives=f32([-1, 1]))
    (golden,) = goldens("aten::soft_margin_loss_backward", f32(1), f32([8]), f32([1]), 2)
    assert 2.0**-24 < golden.budget[0] < 2.0**-21  # of sigmoid(8) - 1, where the gradient is 2^-11.5
    half, weight = f32([0.5, 0.25]), f32([2, 3])
    # (0.5 - 1) / 0.25 * 2, (0.25 - 0.4375) / 0.1875 * 3
    target = f32([1, 0.4375])
    check("aten::binary_cross_entropy_backward", f32(1), half, target, weight, 2, gives=f32([-4, -3]))
    op, given = "aten::binary_cross_entropy_backward", (f32(1), f32([0, 1]), f32([1, 1]), None, 2)
    check_open(op, *given, gives=f32([0, 0]), where_open=[True, True], rule="P234")


def test_of_many_classes() -> None:
    x, weight = f32([[7, 7, 7], [7, 7, 7]]), f32([2, 3, 4])
    rows = [[0, 0, -8], [0, 0, 0]]  # the second sample is ignored
    check("aten::nll_loss_backward", f32([2, 2]), x, i64([2, -1]), weight, 0, -1, f32(4), gives=f32(rows))
    check("aten::nll_loss_backward", f32(2), x, i64([2, -1]), weight, 1, -1, f32(4), gives=f32([[0, 0, -2], [0, 0, 0]]))
    check("aten::nll_loss_backward", f32(2), x[0], i64(1), None, 2, -1, f32(1), gives=f32([0, -2, 0]))
    image = np.zeros((1, 2, 1, 2), np.float32)
    image[0, 1, 0, 0] = image[0, 0, 0, 1] = -3
    check("aten::nll_loss2d_backward", f32(3), image, i64([[[1, 0]]]), None, 2, -1, f32(1), gives=image)


def test_beside_its_class_an_infinite_gradient_of_a_sample_is_0_or_nan() -> None:
    x = f32([[7, 7], [7, 7]])
    (golden,) = goldens("aten::nll_loss_backward", f32([1, inf]), x, i64([1, 0]), None, 0, -1, f32(1))
    columns = [shown(each.value[:, 1]) for each in (golden, *golden.alternatives)]
    same(columns, [shown(f32([-1, 0])), shown(f32([-1, nan]))])
    assert golden.open.tolist() == [[False, False], [True, False]]
    given = x[:1], i64([0]), f32([2, 4])
    for overflowing in ((f32(2.0**126), *given, 2, -1, f32(1)), (f32(2.0**125), *given, 1, -1, f32(0.5))):
        (golden,) = goldens("aten::nll_loss_backward", *overflowing)
        assert [np.isnan(each.value[0, 1]) for each in (golden, *golden.alternatives)] == [False, True]


def test_of_nothing() -> None:
    check("aten::silu_backward", f32([]), f32([]), gives=f32([]))
    check("aten::mse_loss_backward", f32(1), f32([]), f32([]), 1, gives=f32([]))


# --- Against mpmath ---------------------------------------------------------------------------------------------------

BITS = 6000  # e^-2000 beside 1, and more


def _sigmoid(x: mpmath.mpf) -> mpmath.mpf:
    return 1 / (1 + mpmath.exp(-x))


def _of_gelu(x: mpmath.mpf) -> mpmath.mpf:
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2 + x * mpmath.npdf(x)


def _of_silu(x: mpmath.mpf) -> mpmath.mpf:
    return _sigmoid(x) * (1 + x * (1 - _sigmoid(x)))


def _of_mish(x: mpmath.mpf) -> mpmath.mpf:
    tangent = mpmath.tanh(mpmath.log1p(mpmath.exp(x)))
    return tangent + x * _sigmoid(x) * (1 - tangent * tangent)


def _of_tanh_gelu(x: mpmath.mpf) -> mpmath.mpf:
    k, c = mpmath.sqrt(2 / mpmath.pi), mpmath.mpf(44715) / 1000000
    tangent = mpmath.tanh(k * (x + c * x**3))
    return (1 + tangent) / 2 + x / 2 * (1 - tangent**2) * k * (1 + 3 * c * x * x)


SMOOTH: list[tuple[str, tuple, dict, Callable, float]] = [  # beyond the last number the derivative is 0 or 1
    ("silu", (), {}, _of_silu, 4000),
    ("mish", (), {}, _of_mish, 4000),
    ("gelu", (), {}, _of_gelu, 70),
    ("gelu", (), {"approximate": "tanh"}, _of_tanh_gelu, 70),
    ("softplus", (0.5, 20), {}, lambda x: mpmath.mpf(1) if x > 40 else _sigmoid(x / 2), 8000),
]


def _operands(dtype: str, kind: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    fmt, draw = format_named(dtype), np.random.default_rng(len(dtype) + len(kind))

    def of_all_sizes() -> np.ndarray:
        exponents = draw.uniform(fmt.emin - fmt.mantissa_bits, fmt.emax + 0.99, count)
        return draw.choice([-1, 1], count) * np.exp2(exponents)

    near = np.exp2(draw.uniform(-50, 0, count)) * draw.normal(0, 1, count)
    x = {
        "of all sizes": of_all_sizes,
        "ordinary": lambda: draw.normal(0, 10, count),
        "where exponentials vanish": lambda: draw.uniform(-800, 800, count),
        "beside a zero": lambda: -1.2784645427610738 * (1 + near),  # of silu's derivative
    }[kind]()
    return of_all_sizes().astype(fmt.storage), x.astype(fmt.storage)


@pytest.mark.parametrize("kind", ["of all sizes", "ordinary", "where exponentials vanish", "beside a zero"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize(("name", "numbers", "words", "derivative", "far"), SMOOTH)
def test_rounds_the_derivative_of_mpmath(
    name: str, numbers: tuple, words: dict[str, Any], derivative: Callable, far: float, dtype: str, kind: str
) -> None:
    grad, x = _operands(dtype, kind, 6)
    (golden,) = goldens(f"aten::{name}_backward", grad, x, *numbers, **words)
    with mpmath.workprec(BITS):
        for g, a, value in zip(grad.tolist(), x.tolist(), golden.value.tolist(), strict=True):
            slope = derivative(mpmath.mpf(a)) if abs(a) < far else mpmath.mpf(a > 0)
            assert value == nearest_of(format_named(dtype), _fraction(g * slope)), (g, a)


def _fraction(x: mpmath.mpf) -> Fraction:
    return Fraction(int(x.man) * (-1 if x < 0 else 1)) * Fraction(2) ** int(x.exp)
