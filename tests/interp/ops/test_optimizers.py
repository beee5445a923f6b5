"""Steps of optimizers: literal numbers of the documented algorithms, and the kernels that are none of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import torch

import conform
from conform.interp.evaluate import evaluate

F32 = np.float32
ADAM = {"lr": 0.5, "beta1": 0.5, "beta2": 0.75, "weight_decay": 0.0, "eps": 0.0, "amsgrad": False, "maximize": False}
SGD = {"weight_decay": 0.0, "momentum": 0.0, "lr": 0.5, "dampening": 0.0, "nesterov": False, "maximize": False,
       "is_first_step": False}  # fmt: skip
ADAGRAD = {"lr": 0.5, "lr_decay": 0.0, "weight_decay": 0.0, "eps": 0.0, "maximize": False}


def _step(op: str, *lists: list[list[float]], dtype: type = F32, steps: list[float] | None = None, **numbers: object):
    """What is left of each list, of its first tensor."""
    tensors = [[np.array(one, dtype) for one in each] for each in lists]
    tensors += [[np.array(step, F32) for step in steps]] if steps else []
    goldens = evaluate(op, tensors, numbers).goldens
    return [golden.value.astype(np.float64).tolist() for golden in goldens]


# --- Lines of the algorithms ------------------------------------------------------------------------------------------


def test_the_first_step_of_adam_is_as_long_as_the_learning_rate() -> None:
    """m = 4/2, v = 16/4, and both corrected are 4 and 16: 1 - 0.5 * 4 / 4."""
    parameter, _, m, v = _step("aten::_fused_adam", [[1.0]], [[4.0]], [[0.0]], [[0.0]], [], steps=[1.0], **ADAM)
    assert (parameter, m, v) == ([0.5], [2.0], [4.0])


def test_the_second_step_is_corrected_by_the_squares_of_the_betas() -> None:
    """m = 1 + 1 and v = 3 + 1, over 3/4 and 7/16: 0 - 1/2 * 8/3 / sqrt(64/7)."""
    parameter, *_ = _step("aten::_fused_adam", [[0.0]], [[2.0]], [[2.0]], [[4.0]], [], steps=[2.0], **ADAM)
    assert parameter == [float(F32(-4 / 3 / math.sqrt(64 / 7)))]


def test_weight_decay_is_part_of_adams_gradient_and_apart_in_adamw() -> None:
    """Adam: g = 2 + 0.5 * 4; AdamW: 4 - 0.5 * 0.5 * 4 - 0.5."""
    numbers = ADAM | {"weight_decay": 0.5}
    coupled = _step("aten::_fused_adam", [[4.0]], [[2.0]], [[0.0]], [[0.0]], [], steps=[1.0], **numbers)
    apart = _step("aten::_fused_adamw", [[4.0]], [[2.0]], [[0.0]], [[0.0]], [], steps=[1.0], **numbers)
    assert (coupled[2], apart[2]) == ([2.0], [1.0])
    assert (coupled[0], apart[0]) == ([3.5], [2.5])


def test_amsgrad_takes_the_larger_of_what_was_and_what_has_moved() -> None:
    """v = 4/4 = 1 beside 4 and 1/4: sqrt(4 / 0.25) = 4, sqrt(1 / 0.25) = 2; m over its correction is 2."""
    largest = [[4.0, 0.25]]
    left = _step("aten::_fused_adam", [[0.0, 0.0]], [[2.0, 2.0]], [[0.0, 0.0]], [[0.0, 0.0]], largest, steps=[1.0],
                 **ADAM | {"amsgrad": True})  # fmt: skip
    assert (left[4], left[0]) == ([4.0, 1.0], [-0.25, -0.5])


def test_eps_is_added_to_the_root() -> None:
    numbers = ADAM | {"eps": 4.0}
    left = _step("aten::_fused_adam", [[0.0]], [[4.0]], [[0.0]], [[0.0]], [], steps=[1.0], **numbers)
    assert left[0] == [-0.25]


def test_a_scaled_gradient_is_written_back_and_not_negated() -> None:
    given = ADAM | {"maximize": True, "grad_scale": np.array(2.0, F32)}
    parameter, gradient, m, _ = _step("aten::_fused_adam", [[1.0]], [[8.0]], [[0.0]], [[0.0]], [], steps=[1.0], **given)
    assert (parameter, gradient, m) == ([1.5], [4.0], [-2.0])


def test_what_was_found_leaves_everything() -> None:
    given = ADAM | {"found_inf": np.array(1.0, F32), "grad_scale": np.array(2.0, F32)}
    lists = [[[1.0]], [[math.inf]], [[3.0]], [[4.0]], []]
    assert _step("aten::_fused_adam", *lists, steps=[1.0], **given) == [[1.0], [math.inf], [3.0], [4.0]]


def test_momentum_dampening_and_nesterov() -> None:
    """b = 2 * 3 + (1 - 1/4) * 4 = 9; the gradient is 9, or 4 + 2 * 9; on the first step b = 4, whatever was there."""
    numbers = SGD | {"momentum": 2.0, "dampening": 0.25}
    lists = [[[0.0]], [[4.0]], [[3.0]]]
    assert _step("aten::_fused_sgd", *lists, **numbers) == [[-4.5], [4.0], [9.0]]
    assert _step("aten::_fused_sgd", *lists, **numbers | {"nesterov": True})[0] == [-11.0]
    first = [[[0.0]], [[4.0]], [[math.nan]]]
    assert _step("aten::_fused_sgd", *first, **numbers | {"is_first_step": True}) == [[-2.0], [4.0], [4.0]]


def test_the_rate_of_adagrad_decays_by_the_steps_before() -> None:
    """0.5 / (1 + 2 * 0.5) = 1/4, and 3 / sqrt(16 + 9)."""
    left = _step("aten::_fused_adagrad", [[1.0]], [[3.0]], [[16.0]], steps=[3.0], **ADAGRAD | {"lr_decay": 0.5})
    assert left == [[float(F32(1 - 0.25 * 3 / 5))], [3.0], [25.0], 3.0]


@pytest.mark.parametrize("op", ["aten::_fused_adam", "aten::_fused_adamw"])
def test_nothing_over_nothing_is_nan_and_an_infinite_gradient_too(op: str) -> None:
    left = _step(op, [[1.0, 1.0]], [[0.0, math.inf]], [[0.0, 1.0]], [[0.0, 1.0]], [], steps=[1.0], **ADAM)
    assert np.isnan(left[0]).all()


# --- Precision --------------------------------------------------------------------------------------------------------


def test_a_correction_after_a_million_steps_is_that_of_the_double() -> None:
    """0.9999^65536 is 0.00142: a correction in which the step is one off is 1.4e-7 away, and float32 shows it."""
    golden = evaluate("aten::_fused_adam", [[np.zeros(1)], [np.ones(1)], [np.zeros(1)], [np.zeros(1)], [],
                                            [np.array(65536.0, F32)]], ADAM | {"beta1": 0.9999, "lr": 1.0})  # fmt: skip
    moment, power = 1 - Fraction(0.9999), math.exp(65536 * math.log(0.9999))
    exact = -float(moment) / (1 - power) / math.sqrt(0.25)
    assert golden.goldens[0].value[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(("theta", "expected"), [(1.0 + 2.0**-10, 1.0), (1.0 + 3 * 2.0**-10, 1.0 + 2 * 2.0**-10)])
def test_ties_go_to_even(theta: float, expected: float) -> None:
    """theta - 2^-11 lies midway between two numbers of float16: the update is the learning rate."""
    left = _step("aten::_fused_adam", [[theta]], [[1.0]], [[0.0]], [[0.0]], [], dtype=np.float16, steps=[1.0],
                 **ADAM | {"lr": 2.0**-11})  # fmt: skip
    assert left[0] == [expected]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_bound_is_narrow_where_nothing_cancels(dtype: type) -> None:
    numbers = ADAM | {"beta1": 0.9, "beta2": 0.99, "eps": 1e-8}
    tensors = [[np.full(3, value, dtype)] for value in (1.0, 0.5, 0.25, 2.0)]
    left = evaluate("aten::_fused_adam", [*tensors, [], [np.array(10.0, F32)]], numbers).goldens
    unit = max(np.finfo(dtype).eps, np.finfo(F32).eps) if dtype == np.float16 else np.finfo(dtype).eps
    assert all((golden.budget < 64 * unit).all() for golden in (left[0], left[2], left[3]))


# --- Kernels ----------------------------------------------------------------------------------------------------------


def _adamw(*, eps_inside: bool = False, corrected: bool = True, coupled: bool = False, sign: float = 1.0,
           step_off: float = 0.0, early_maximum: bool = False, tensors: int = 9) -> Callable[..., None]:  # fmt: skip
    """A kernel of torch.optim's AdamW in float32, perhaps with a defect."""

    def kernel(self, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *, lr, beta1, beta2, weight_decay, eps,
               amsgrad, maximize, grad_scale=None, found_inf=None) -> None:  # fmt: skip
        for n, (p, g, m, v, t) in enumerate(zip(self, grads, exp_avgs, exp_avg_sqs, state_steps, strict=True)):
            if n >= tensors:
                return
            g, t = g * (-sign if maximize else sign), t.item() + step_off
            g = g + weight_decay * p if coupled else g
            p.mul_(1 - (0 if coupled else lr * weight_decay))
            used = v.clone()
            m.mul_(beta1).add_(g * (1 - beta1))
            v.mul_(beta2).add_(g * g * (1 - beta2))
            if amsgrad:
                torch.maximum(max_exp_avg_sqs[n], used if early_maximum else v, out=max_exp_avg_sqs[n])
            used = max_exp_avg_sqs[n] if amsgrad else v
            c1, c2 = (1 - beta1**t, 1 - beta2**t) if corrected else (1, 1)
            root = (used / c2 + eps).sqrt() if eps_inside else (used / c2).sqrt() + eps
            p.sub_(lr / c1 * m / root)

    return kernel


def _hold(kernel: Callable[..., None], maximize: bool = False) -> None:
    """Hold the kernel to a call of two parameters, of which only the first is small."""
    generator = torch.Generator().manual_seed(1)
    scales = (1.0, 1.0, 1.0, 1e-3, 1e-3)  # eps is large beside the roots of the last
    lists = [[torch.rand(size, generator=generator) * scale for size in (5, 40)] for scale in scales]
    steps = [torch.tensor(2.0), torch.tensor(1000.0)]
    numbers = {"lr": 0.1, "beta1": 0.9, "beta2": 0.99, "weight_decay": 0.1, "eps": 0.01, "amsgrad": True,
               "maximize": maximize}  # fmt: skip
    held = [[one.clone() for one in each] for each in lists]
    kernel(*held, steps, **numbers)
    conform.assert_close("aten::_fused_adamw_", held, *lists, steps, **numbers)


@pytest.mark.parametrize("maximize", [False, True])
def test_an_honest_kernel_passes(maximize: bool) -> None:
    _hold(_adamw(), maximize)


@pytest.mark.parametrize(("defect", "held"), [
    ({"eps_inside": True}, "self"), ({"corrected": False}, "self"), ({"coupled": True}, "max_exp_avg_sqs"),
    ({"sign": -1.0}, "exp_avgs"), ({"step_off": -0.5}, "self"), ({"early_maximum": True}, "self"),
    ({"tensors": 1}, "exp_avg"), ({"tensors": 0}, "exp_avg"),
])  # fmt: skip
def test_a_wrong_kernel_fails_with_the_name_of_what_it_left(defect: dict[str, object], held: str) -> None:
    with pytest.raises(AssertionError, match=rf"{held}\w*\[[01]\] after the call"):
        _hold(_adamw(**defect))


def test_a_nesterov_step_without_dampening_is_another() -> None:
    """g + 2 * b with b = 2 * 3 + 4, where the buffer is damped to 9."""
    numbers = SGD | {"momentum": 2.0, "dampening": 0.25, "nesterov": True}
    lists = [[np.array([value], F32)] for value in (0.0, 4.0, 3.0)]
    with pytest.raises(AssertionError, match="error above the bound"):
        conform.assert_close("aten::_fused_sgd", [[np.array([-12.0], F32)], lists[1], [np.array([10.0], F32)]], *lists,
                             **numbers)  # fmt: skip
