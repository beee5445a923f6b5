"""Gradients by torch's autograd: of what is asked for, and told apart where there are none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from conform.backends.autograd import gradients_of
from conform.errors import Unsupported


def leaf(*numbers: float) -> torch.Tensor:
    return torch.tensor(numbers)


def test_the_gradients_of_the_sum_of_cotangents_times_outputs() -> None:
    """d/dx (1 * 2 x + 10 * x y) = 2 + 10 y, d/dy = 10 x."""
    x, y = leaf(3.0), leaf(5.0)
    found = gradients_of(lambda: (2 * x, x * y), [x, y], [leaf(1.0), leaf(10.0)])
    assert [one.tolist() for one in found] == [[52.0], [30.0]]


def test_outputs_without_a_cotangent_and_tensors_without_a_part_in_them() -> None:
    x, y = leaf(3.0), leaf(5.0)
    found = gradients_of(lambda: (2 * x, x * y), [x, y], [leaf(1.0), None])
    assert [one.tolist() for one in found] == [[2.0], [0.0]]


@pytest.mark.parametrize("cotangents", [[], [leaf(1.0)] * 2])
def test_there_is_a_cotangent_for_each_output(cotangents: list[torch.Tensor]) -> None:
    x = leaf(3.0)
    with pytest.raises(ValueError, match=f"1 outputs, expected {len(cotangents)}: one for each cotangent"):
        gradients_of(lambda: 2 * x, [x], cotangents)


@pytest.mark.parametrize("run", [lambda x: x.detach(), lambda x: x.to(torch.int64)])
def test_what_carries_no_graph_is_unsupported(run: Callable[[torch.Tensor], Any]) -> None:
    x = leaf(3.0)
    with pytest.raises(Unsupported, match="no output carries a graph of autograd"):
        gradients_of(lambda: run(x), [x], [leaf(1.0)])
