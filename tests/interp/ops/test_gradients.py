"""Gradients of softmax, the norms and convolution: literal results, and those of the forward op by differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from conform.interp.evaluate import evaluate
from conform.interp.golden import Golden

WANTED = [True] * 3


def goldens(op: str, *args: object) -> tuple[Golden, ...]:
    return evaluate(f"aten::{op}", args, {}).goldens


def by_differences(function: Callable[[np.ndarray], np.ndarray], at: np.ndarray, grad: np.ndarray) -> np.ndarray:
    """The gradient of sum(grad * function(x)) by central differences of h = 2^-12: to 2^-20 for moderate functions."""
    gradient = np.zeros_like(at)
    for index in np.ndindex(*at.shape):
        step = np.zeros_like(at)
        step[index] = 2.0**-12
        gradient[index] = ((function(at + step) - function(at - step)) * grad).sum() * 2.0**11
    return gradient


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).normal(size=shape)


@pytest.mark.parametrize("name", ["_softmax", "_log_softmax"])
def test_gradients_of_softmax(name: str) -> None:
    x, grad = drawn(3, 4), drawn(3, 4) + 1
    forward = lambda x: goldens(name, x, 1, False)[0].value  # noqa: E731
    backward = goldens(f"{name}_backward_data", grad, forward(x), 1, "float64")[0].value
    assert np.allclose(backward, by_differences(forward, x, grad), atol=1e-6)


def test_gradients_of_softmax_of_special_numbers() -> None:
    output = np.array([[-np.inf, 0.0, -np.inf]], np.float32)
    grad = np.array([[2.0, 3.0, 4.0]], np.float32)
    assert goldens("_log_softmax_backward_data", grad, output, 1, "float32")[0].value.tolist() == [[2.0, -6.0, 4.0]]
    beside = goldens("_softmax_backward_data", np.array([np.inf, 1.0]), np.array([0.5, 0.5]), 0, "float64")[0]
    assert (beside.open_rule, beside.open.tolist()) == ("P132", [True, True])
    nan = goldens("_softmax_backward_data", np.array([np.nan, np.inf]), np.array([0.5, 0.5]), 0, "float64")[0]
    assert np.isnan(nan.value).all()
    assert nan.open is None


def test_gradients_of_layer_norm() -> None:
    x, grad, weight, bias = drawn(3, 5), drawn(3, 5) + 1, drawn(5), drawn(5) + 2
    forward = lambda x, weight, bias: goldens("native_layer_norm", x, [5], weight, bias, 0.5)  # noqa: E731
    _, mean, rstd = (golden.value for golden in forward(x, weight, bias))
    found = goldens("native_layer_norm_backward", grad, x, [5], mean, rstd, weight, bias, WANTED)
    expected = (
        by_differences(lambda x: forward(x, weight, bias)[0].value, x, grad),
        by_differences(lambda weight: forward(x, weight, bias)[0].value, weight, grad),
        by_differences(lambda bias: forward(x, weight, bias)[0].value, bias, grad),
    )
    for golden, gradient in zip(found, expected, strict=True):
        assert np.allclose(golden.value, gradient, atol=1e-6)


def test_gradients_of_group_and_batch_norm() -> None:
    x, grad, weight = drawn(2, 4, 3), drawn(2, 4, 3) + 1, drawn(4)
    by_group = lambda x: goldens("native_group_norm", x, weight, None, 2, 4, 3, 2, 0.5)  # noqa: E731
    _, mean, rstd = (golden.value for golden in by_group(x))
    found = goldens("native_group_norm_backward", grad, x, mean, rstd, weight, 2, 4, 3, 2, WANTED)
    assert np.allclose(found[0].value, by_differences(lambda x: by_group(x)[0].value, x, grad), atol=1e-6)
    assert np.allclose(found[2].value, grad.sum((0, 2)))
    of_batch = lambda x: goldens("_native_batch_norm_legit.no_stats", x, weight, None, True, 0.1, 0.5)  # noqa: E731
    _, mean, invstd = (golden.value for golden in of_batch(x))
    statistics = (None, None, mean, invstd)
    found = goldens("native_batch_norm_backward", grad, x, weight, *statistics, True, 0.5, WANTED)
    assert np.allclose(found[0].value, by_differences(lambda x: of_batch(x)[0].value, x, grad), atol=1e-6)
    constants = (np.zeros(4), np.full(4, 3.5), None, None)
    found = goldens("native_batch_norm_backward", grad, x, weight, *constants, False, 0.5, WANTED)
    assert np.allclose(found[0].value, grad * weight[:, None] / 2)
    assert np.allclose(found[1].value, (grad * x).sum((0, 2)) / 2)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("groups", [1, 2])
def test_gradients_of_convolution(transposed: bool, groups: int) -> None:
    x = drawn(2, 4, 6)
    weight = drawn(4, 2, 3) if transposed else drawn(4, 4 // groups, 3)
    options = ([2], [1], [1], transposed, [int(transposed)], groups)
    forward = lambda x, weight: goldens("convolution", x, weight, None, *options)[0].value  # noqa: E731
    grad = drawn(*forward(x, weight).shape) + 1
    found = goldens("convolution_backward", grad, x, weight, [grad.shape[1]], *options, WANTED)
    assert np.allclose(found[0].value, by_differences(lambda x: forward(x, weight), x, grad), atol=1e-6)
    assert np.allclose(found[1].value, by_differences(lambda weight: forward(x, weight), weight, grad), atol=1e-6)
    assert np.allclose(found[2].value, grad.sum((0, 2)))


def test_what_a_convolution_leaves_out_may_meet_a_zero() -> None:
    x = np.array([[[1.0, np.inf, 2.0]]])  # with a stride of 2 the infinity meets no element of grad_output
    grad, weight = np.array([[[3.0, 4.0]]]), np.array([[[1.0]]])
    _, by_weight, _ = goldens("convolution_backward", grad, x, weight, [1], [2], [0], [1], False, [0], 1, WANTED)
    assert by_weight.value.tolist() == [[[11.0]]]
    assert (by_weight.open.tolist(), by_weight.open_rule) == ([[[True]]], "P133")


def test_gradients_of_batch_norm_by_special_constants() -> None:
    """A NaN wherever it stands; open beside an infinity (P132) and over a variance that eps makes 0 (P63)."""
    variance = np.array([3.5, np.nan, np.inf, -0.5, -1.0, -0.5])
    grad, x, weight = np.ones((1, 6, 1)), np.full((1, 6, 1), 4.0), np.full(6, 6.0)
    grad[0, 5] = np.nan
    constants = (np.ones(6), variance, None, None)
    by_input, by_weight, _ = goldens("native_batch_norm_backward", grad, x, weight, *constants, False, 0.5, WANTED)
    for golden, finite in ((by_input, 3.0), (by_weight, 1.5)):
        value, is_open = golden.value.ravel(), golden.open.ravel()
        assert is_open.tolist() == [False, False, True, True, False, False]
        assert golden.open_rule == "P132, P63"
        np.testing.assert_array_equal(value[~is_open], [finite, np.nan, np.nan, np.nan])
