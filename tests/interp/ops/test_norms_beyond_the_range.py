"""Norms in which something leaves float64's range beside what is no number: nothing is asked of fractions there."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.interp.evaluate import evaluate


def test_a_single_number_has_no_variance_to_move_by_whatever_the_momentum_is() -> None:
    """0 / 0, beside (1 - 1e300) * 3e38."""
    x, running = np.zeros((1, 1), np.float32), np.array([3e38], np.float32)
    args = [x, None, None, running, running, True, 1e300, 0.0]
    mean, variance = evaluate("aten::_native_batch_norm_legit_functional", args, {}).goldens[-2:]
    assert mean.value.tolist() == [-inf]
    assert variance.open.all()


@pytest.mark.parametrize(("variance", "eps"), [(nan, 1e-5), (nan, nan), (1.0, nan), (-2.0, 0.0), (1.0, -inf)])
def test_a_deviation_that_is_nan_makes_nan_of_a_number_beyond_the_range(variance: float, eps: float) -> None:
    """1.7e308 - -1e308"""
    x, mean = np.array([[1.7e308]]), np.array([-1e308])
    args = [x, None, None, mean, np.array([variance]), False, 0.1, eps]
    assert np.isnan(evaluate("aten::native_batch_norm", args, {}).goldens[0].value).all()


@pytest.mark.parametrize(("variance", "eps", "expected"), [
    (1.0, nan, nan), (1.0, -inf, nan), (-2.0, 0.0, nan), (1.0, inf, 0.0), (1.0, 0.0, inf),
])  # fmt: skip
def test_a_gradient_beyond_the_range_over_a_deviation(variance: float, eps: float, expected: float) -> None:
    """1e308 * 1e308, and the sum of 1e308 * (1e308 - 0) for the weight."""
    x, mean = np.array([[1e308]]), np.zeros(1)
    args = [x, x, x[0], mean, np.array([variance]), None, None, False, eps, [True] * 3]
    of_input, of_weight, _ = evaluate("aten::native_batch_norm_backward", args, {}).goldens
    assert np.array_equal([of_input.value.item(), of_weight.value.item()], [expected] * 2, equal_nan=True)
