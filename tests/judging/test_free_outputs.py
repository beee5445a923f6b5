"""Outputs of which several are right: statistics that were used or nothing, and tensors of which nothing is documented.
"""

from __future__ import annotations

import numpy as np
import pytest

from conform.backends.reply import Output, Reply
from tests.interp.ops.literal import bf16
from tests.judging.test_case import F32, ended, returned, verdict


def test_batch_norm_by_running_statistics_may_give_back_those_that_it_used() -> None:
    """(1 - 0.5) / sqrt(0.25) = 1; running_mean and 1 / sqrt(running_var) for the two nothings (P63)."""
    args = [F32([[1.0]]), None, None, F32([0.5]), F32([0.25]), 0.1, 0.0]
    op, result, nothing = "aten::_native_batch_norm_legit_no_training", F32([[1.0]]), F32([])
    used = verdict(op, args, returned(result, F32([0.5]), F32([2.0])))
    assert (used.status, used.compared) == ("pass", 3)
    assert verdict(op, args, returned(result, nothing, nothing)).status == "pass"
    neighbour = np.nextafter(F32([0.5]), F32(1))
    assert ended(verdict(op, args, returned(result, neighbour, F32([2.0])))) == ("fail", "error above the bound")
    assert ended(verdict(op, args, returned(result, F32([0.5]), F32([0.25])))) == ("fail", "error above the bound")
    assert ended(verdict(op, args, returned(result, F32([0.5, 0.5]), nothing))) == (
        "fail", "output 1: shape [2] instead of [0]",
    )  # fmt: skip


def test_statistics_of_half_inputs_that_were_used_are_of_either_dtype() -> None:
    x, mean, variance = bf16([[1.0]]), F32([1.00390625]), F32([0.25])  # 1 + 2^-8, of which bfloat16 has no digit
    args, result = [x, None, None, mean, variance, 0.1, 0.0], bf16([[-0.0078125]])
    op = "aten::_native_batch_norm_legit_no_training"
    assert verdict(op, args, returned(result, mean, F32([2.0]))).status == "pass"
    assert verdict(op, args, returned(result, bf16([1.0]), bf16([2.0]))).status == "pass"
    assert verdict(op, args, returned(result, F32([1.0]), F32([2.0]))).status == "fail"


def test_of_an_undocumented_output_none_is_right() -> None:
    x, indices, rows = F32([[1.0], [2.0]]), np.array([0, 1, 1]), F32([[1.0], [4.0]])
    args = ["aten::_embedding_bag", [x, indices, np.array([0, 1])]]
    absent = Reply("ok", result=(Output(rows, ()), None, None, None))
    assert verdict(*args, absent).status == "pass"
    wanted = Reply("ok", result=(None, *absent.result[1:]))
    assert ended(verdict(*args, wanted)) == ("fail", "output 0: None instead of a tensor")
    assert ended(verdict(*args, Reply("ok", result=(Output(rows, ()), 1.0, None, None)))) == (
        "fail", "output 1: float instead of a tensor",
    )  # fmt: skip


THREE = F32([[3.0]])


def batch_gradients(result: Reply, *saved: np.ndarray | None, x: np.ndarray = THREE) -> tuple[str, str | None]:
    """Of gradients 1 of a weight 1 by running statistics 1 and 4, with these saved ones: 1/2, and (3 - 1)/2 = 1."""
    one = np.ones(1, x.dtype)
    args = [np.ones((1, 1), x.dtype), x, one, one, one + 3, *saved, False, 0.0, [True, True, True]]
    return ended(verdict("aten::native_batch_norm_backward", args, result))


def test_gradients_by_constants_may_take_those_that_the_forward_op_saved() -> None:
    by_running, by_saved = F32([[0.5]]), F32([[0.25]])
    saved = F32([-1.0]), F32([0.25])
    assert batch_gradients(returned(by_running, F32([1.0]), F32([1.0])), *saved)[0] == "pass"
    assert batch_gradients(returned(by_saved, F32([1.0]), F32([1.0])), *saved)[0] == "pass"  # (3 + 1) / 4 = 1, too
    assert batch_gradients(returned(by_saved, F32([0.5]), F32([1.0])), *saved)[0] == "fail"
    for absent in ((None, None), (saved[0], None), (None, saved[1])):
        assert batch_gradients(returned(by_running, F32([1.0]), F32([1.0])), *absent)[0] == "pass"
        assert batch_gradients(returned(by_saved, F32([1.0]), F32([1.0])), *absent)[0] == "fail"


def test_gradients_by_statistics_that_a_forward_op_need_not_give_may_be_refused() -> None:
    refused = Reply("error", reason="expected another dtype")
    half = np.float16([[3.0]])
    may = ("unspecified", "the backend may refuse here, and did")
    assert batch_gradients(refused, F32([1.0]), None) == may
    assert batch_gradients(refused, F32([1.0]), F32([0.5])) == ("error", "expected another dtype")
    assert batch_gradients(refused, np.float16([1.0]), np.float16([0.5]), x=half) == may
    assert batch_gradients(refused, F32([1.0]), F32([0.5]), x=half) == may
    result = returned(np.float16([[0.5]]), np.float16([1.0]), np.float16([1.0]))
    assert batch_gradients(result, F32([1.0]), F32([0.5]), x=half)[0] == "pass"


@pytest.mark.parametrize(
    ("op", "rest"), [("aten::layer_norm", [[2]]), ("aten::native_layer_norm", [[2]]), ("aten::group_norm", [1])]
)
def test_parameters_of_another_dtype_than_the_input_may_be_refused(op: str, rest: list) -> None:
    x, refused = bf16([[1.0, 2.0]]), Reply("error", reason="expected one dtype")
    weight, bias = F32([1.0, 1.0]), F32([0.0, 0.0])
    may = ("unspecified", "the backend may refuse here, and did")
    assert ended(verdict(op, [x, *rest, weight, bias, 0.5], refused)) == may
    assert ended(verdict(op, [x, *rest, weight, None, 0.5], refused)) == may
    same = [x, *rest, weight.astype(x.dtype), bias.astype(x.dtype), 0.5]
    assert ended(verdict(op, same, refused)) == ("error", "expected one dtype")


def test_statistics_of_half_inputs_need_not_be_written_into_tensors_of_either_dtype() -> None:
    """torch on CUDA has them in float32 alone (P36); in float32 there is one dtype."""
    refused = Reply("error", reason="expected out of another dtype")
    for x, status in ((bf16([[1.0, 2.0]]), "unspecified"), (F32([[1.0, 2.0]]), "error")):
        args = [x, [2], None, None, 0.5]
        into = {"out0": np.zeros_like(x), "out1": np.zeros((1, 1), x.dtype), "out2": np.zeros((1, 1), x.dtype)}
        assert verdict("aten::native_layer_norm.out", args, refused, **into).status == status
        assert verdict("aten::native_layer_norm", args, refused).status == "error"


def test_a_kernel_of_attention_may_refuse_and_not_break_the_device() -> None:
    """Softmax of one score is 1, and the result the value."""
    row = np.float16([[[[1.0] * 8]]])
    op, args = "aten::_scaled_dot_product_flash_attention", [row, row, row]
    refused = Reply("error", reason="last dimension must be contiguous")
    assert verdict(op, args, refused).status == "unspecified"
    assert ended(verdict(op, args, Reply("error", reason="misaligned address", device_lost=True))) == (
        "error", "misaligned address",
    )  # fmt: skip
    nothing = [None] * 8
    assert verdict(op, args, Reply("ok", result=(Output(row, ()), *nothing))).status == "pass"
    assert verdict(op, args, Reply("ok", result=(Output(row + 1, ()), *nothing))).status == "fail"
    cpu = "aten::_scaled_dot_product_flash_attention_for_cpu"
    assert verdict(cpu, args, refused).status == "error"
