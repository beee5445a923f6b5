"""One element of each row of docs/torch-cpu.md on optimizers and lists: what is right, whatever torch returns.

The proofs are sums and products of small integers, which every format holds.
"""

from __future__ import annotations

import numpy as np
import pytest

import conform
from conform.errors import InvalidArguments

HALF = "float16"
SGD = {"weight_decay": 0.0, "nesterov": False, "maximize": False, "is_first_step": False, "dampening": 0.0}


def test_a_transposed_parameter_moves_by_the_gradients_in_its_places() -> None:
    """torch's CPU takes 0, 2, 4 from the first row: the gradients in the order of the memory."""
    parameter, gradient = np.zeros((3, 2), np.float32).T, np.arange(6, dtype=np.float32).reshape(2, 3)
    moved, _ = _golden("aten::_fused_sgd", [parameter], [gradient], [], **SGD, momentum=0.0, lr=1.0)
    assert moved == [[0, -1, -2], [-3, -4, -5]]


def test_a_buffer_of_a_half_type_moves_as_a_short_one_does() -> None:
    """1 * 2 + 1 = 3, and 0 - 1/2 * 3: torch's CPU has 3.0039 and 0 of 64 elements."""
    for count in (8, 64):
        parameter, gradient, buffer = (np.full(count, value, HALF) for value in (0.0, 1.0, 2.0))
        moved, _, held = _golden("aten::_fused_sgd", [parameter], [gradient], [buffer], **SGD, momentum=1.0, lr=0.5)
        assert (set(moved), set(held)) == ({-1.5}, {3.0})


def test_nothing_over_eps_is_nothing_in_a_half_type() -> None:
    """0 / (sqrt(0) + 1e-8) = 0: torch's CPU has NaN of 64 elements, for 1e-8 is 0 in float16."""
    zeros = [np.zeros(64, HALF)]
    numbers = {"lr": 0.5, "lr_decay": 0.0, "weight_decay": 0.0, "eps": 1e-8, "maximize": False}
    moved, *_ = _golden("aten::_fused_adagrad", zeros, zeros, zeros, [np.array(1.0, np.float32)], **numbers)
    assert set(moved) == {0.0}


def test_numbers_lie_as_their_tensor_says() -> None:
    """torch's CPU refuses a tensor of numbers with strides: 1 + 2 * 3 * 3 and 1 + 5 * 3 * 3."""
    numbers = np.array([2.0, 9.0, 5.0], np.float32)[::2]
    ones, threes = np.ones(1, np.float32), np.full(1, 3, np.float32)
    found = _golden("aten::_foreach_addcmul.Tensor", [ones] * 2, [threes] * 2, [threes] * 2, numbers)
    assert found == [[19.0], [46.0]]


def test_lists_of_unlike_lengths_are_no_lists_of_places() -> None:
    """torch's CPU copies as many as src has, from behind the tensors of self if these are fewer."""
    with pytest.raises(InvalidArguments, match="length"):
        conform.golden("aten::_foreach_copy", [np.zeros(2, np.float32)] * 2, [np.ones(2, np.float32)])


def _golden(op: str, *lists: list[np.ndarray], **numbers: float) -> list[list]:
    return [one.tolist() for one in conform.golden(op, *lists, **numbers).value]
