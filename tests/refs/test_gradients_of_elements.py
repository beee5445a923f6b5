"""References of gradients of activations and losses: literal numbers, special ones, and what they refuse."""

from __future__ import annotations

from math import inf, nan

import pytest

from conform.refs import UNSPECIFIED
from tests.refs.helpers import call, same, tensor


def of_two(op: str, grad: list, x: list, **more: object) -> object:
    return call(op, grad_output=tensor("float32", grad), self=tensor("float32", x), **more)


def test_of_activations() -> None:
    same(of_two("silu_backward", [3.0, 3.0], [0.0, 1e30]), "float32", [1.5, 3.0])
    same(of_two("mish_backward", [5.0], [0.0]), "float32", [3.0])
    same(of_two("gelu_backward", [3.0], [0.0], approximate="tanh"), "float32", [1.5])
    same(of_two("softplus_backward", [3.0, 3.0], [0.0, 11.0], beta=2, threshold=20), "float32", [1.5, 3.0])
    same(of_two("logit_backward", [3.0, 3.0], [0.5, 0.25]), "float32", [12.0, 16.0])
    same(of_two("hardswish_backward", [6.0, 6.0], [-4.0, 1.5]), "float32", [0.0, 6.0])
    given = {"grad_output": tensor("float32", [2.0]), "output": tensor("float32", [0.25])}
    same(call("sigmoid_backward", **given), "float32", [0.375])
    same(call("tanh_backward", **given), "float32", [1.875])
    halves = call("glu_backward", grad_output=tensor("float32", [8.0]), self=tensor("float32", [2.0, 0.0]), dim=0)
    same(halves, "float32", [4.0, 4.0])


def test_of_elu() -> None:
    given = {"grad_output": tensor("float32", [2.0, 2.0]), "alpha": 3, "scale": 0.5, "input_scale": 4}
    same(call("elu_backward", **given, is_result=True, self_or_result=tensor("float32", [1.0, -1.0])), "float32",
         [1.0, 4.0])  # fmt: skip
    with pytest.raises(ValueError, match="alpha >= 0"):
        call("elu_backward", **{**given, "alpha": -1}, is_result=True, self_or_result=tensor("float32", [1.0, 1.0]))


def test_of_losses() -> None:
    each = {"target": tensor("float32", [1.0, 0.0])}
    of_all = {"grad_output": tensor("float32", 2.0), "self": tensor("float32", [3.0, -1.0]), "reduction": 1}
    mean = call("mse_loss_backward", **of_all, **each)
    same(mean, "float32", [4.0, -2.0])
    same(of_two("huber_loss_backward", [1.0, 1.0], [3.0, -1.0], reduction=0, delta=1.5, **each), "float32", [1.5, -1.0])
    same(of_two("smooth_l1_loss_backward", [1.0, 1.0], [3.0, -1.0], reduction=0, beta=2.0, **each), "float32",
         [1.0, -0.5])  # fmt: skip
    same(of_two("soft_margin_loss_backward", [4.0, 4.0], [0.0, 9.0], reduction=0, **each), "float32", [-2.0, 0.0])
    same(of_two("binary_cross_entropy_backward", [1.0, 1.0], [0.5, 0.25], reduction=0, **each), "float32",
         [-2.0, 1.3333333730697632])  # fmt: skip
    lost = call("nll_loss_backward", grad_output=tensor("float32", 2.0), self=tensor("float32", [[7.0, 7.0]]),
                target=tensor("int64", [1]), weight=tensor("float32", [2.0, 3.0]), reduction=1, ignore_index=-1,
                total_weight=tensor("float32", 4.0))  # fmt: skip
    same(lost, "float32", [[0.0, -1.5]])


def test_of_special_numbers() -> None:
    assert repr(of_two("silu_backward", [nan, inf, 1.0], [1.0, 1.0, inf]).data) == repr([nan, UNSPECIFIED, UNSPECIFIED])
    assert of_two("threshold_backward", [2.0, 2.0], [0.5, nan], threshold=0.5).data == [0.0, UNSPECIFIED]


def test_refuses_what_is_no_float_and_leaves_what_differs() -> None:
    with pytest.raises(ValueError, match="takes floats"):
        call("silu_backward", grad_output=tensor("int64", [1]), self=tensor("int64", [1]))
    with pytest.raises(NotImplementedError, match="tensors alike"):
        call("silu_backward", grad_output=tensor("float32", [1.0]), self=tensor("float64", [1.0]))
