"""How a program writes its steps: what Python's operators and indices mean is numpy's to say, of methods torch's."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

import conform
from conform import ops
from conform.errors import ConformError
from conform.own_ops import op

pytestmark = pytest.mark.usefixtures("own_ops")

F32, I32 = np.float32, np.int32
MATRIX = np.arange(12, dtype=F32).reshape(3, 4)
INTEGERS = I32([6, -3, 0, 5])


def value_of(program: Callable, *args: np.ndarray) -> np.ndarray:
    return conform.golden(op("test::program", reference=program), *args).value


@pytest.mark.parametrize(
    "program",
    [
        lambda x: abs(x - 5),
        lambda x: x // 5 + x % 5,
        lambda x: x @ x[0] - x.T.T @ x[1],
        lambda x: 2.0 ** (x[:, :2] - 1),
        lambda x: 7 % (x + 1),
        lambda x: MATRIX.T @ x,
        lambda x: MATRIX < x + 1,  # noqa: SIM300 (an array on the left)
        lambda x: x == MATRIX,
        lambda x: x != 3,
        lambda x: (x > 2) & (x * 2 <= 14) | ~(x >= 1) ^ (x < 3),
        lambda x: x[1],
        lambda x: x[-1, 2:],
        lambda x: x[..., None, 1],
        lambda x: x[None, ..., -1],
        lambda x: x[::2, 1:-1],
        lambda x: x[np.int64(1)],
        lambda x: x[[2, 0]],
        lambda x: x[:, np.array([3, 3, 0])],
        lambda x: x[np.array([2, 1]), np.array([0, 3])],
        lambda x: x[..., [1, 0], None],
        lambda x: sum(row * float(len(x)) for row in x),
        lambda x: x.T + x.ndim + x.shape[1] * float(x[0].shape[0]),
    ],
)
def test_operators_and_indices_mean_what_numpy_makes_of_them(program: Callable) -> None:
    expected, found = program(MATRIX), value_of(program, MATRIX)
    assert (found.dtype == bool) == (expected.dtype == bool)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("program", [lambda i: (i & 3) | (1 ^ i), lambda i: ~i, lambda i: 2 | i, lambda i: i % 4])
def test_bits_and_remainders_of_integers(program: Callable) -> None:
    np.testing.assert_array_equal(value_of(program, INTEGERS), program(INTEGERS))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (lambda x: x.reshape(2, -1), MATRIX.reshape(2, 6)),
        (lambda x: x.reshape([2, -1]), MATRIX.reshape(2, 6)),
        (lambda x: x.permute(1, 0), MATRIX.T),
        (lambda x: x.mT, MATRIX.T),
        (lambda x: x[:1].expand(2, 4), MATRIX[[0, 0]]),
        (lambda x: x[:1].squeeze(0), MATRIX[0]),
        (lambda x: x[:1, :1].squeeze(0, 1), MATRIX[0, 0]),
        (lambda x: x.flip(0), MATRIX[::-1]),
        (lambda x: x.sum(0), MATRIX.sum(0)),
        (lambda x: x.view(x.numel()), MATRIX.reshape(-1)),
        (lambda x: x / x.size(0) * x.dim(), MATRIX / 3 * 2),
        (lambda x: (x + 0.5).int(), MATRIX.astype(I32)),
        (lambda x: +x.to(torch.float64), MATRIX.astype(np.float64)),
        (lambda x: x.double().type_as(x), MATRIX),
    ],
)
def test_methods_are_torch_s(program: Callable, expected: np.ndarray) -> None:
    found = value_of(program, MATRIX)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=2**-23)


def test_a_tensor_of_indices_chooses_behind_what_integers_select() -> None:
    """torch's order: the integer selects first, so the dim of the chosen stays where its tensor stands."""
    cube = np.arange(24, dtype=F32).reshape(2, 3, 4)
    found = value_of(lambda x: x[0, :, np.array([3, 0])], cube)
    assert found.tolist() == [[3.0, 0.0], [7.0, 4.0], [11.0, 8.0]]  # numpy: the dim of the chosen comes first


@pytest.mark.parametrize("absent", [None, "mean"])
def test_a_tensor_equals_nothing_that_has_no_elements(absent: object) -> None:
    assert value_of(lambda x: x if x == absent else x * 2, F32([1.0])).tolist() == [2.0]
    assert value_of(lambda x: x * 2 if x != absent else x, F32([1.0])).tolist() == [2.0]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda x: x if x > 0 else -x, "a program is straight"),
        (lambda x: x if x == 0 else -x, "a program is straight"),
        (lambda x: x if 1.0 in x else -x, "a program is straight"),
        (lambda x: x * float(x[0]), "a program is straight"),
        (lambda x: x["a"], "found the index 'a'; expected integers, slices, None, ... and tensors"),
        (lambda x: x[True], "found the index True"),
        (lambda x: x[..., 0, ...], "an index has one ... at most"),
        (lambda x: x[x > 1], "aten::index.Tensor with a mask: its elements decide the result's shape"),
        (lambda x: x[0, 0], r"aten::select.int: argument self: found float32\[\], expected 1 <= rank"),
        (lambda x: x[2], "aten::select.int: argument index: found 2"),
        (lambda x: x[::-1], "aten::slice.Tensor: argument step: found -1"),
        (lambda x: x.sum() * len(x.sum()), "a tensor of no dimension has no length"),
        (lambda x: np.asarray(x), "is not handed to numpy"),
        (lambda x: x.add_(1.0), "a program cannot use aten::add_.Scalar, which writes into its arguments"),
        (lambda x: (x * 2.0).relu_(), "a program cannot use aten::relu_, which writes into its arguments"),
        (lambda x: ops.add(x, x, out=x * 1.0), "a program cannot use aten::add.out, which writes into its arguments"),
        (lambda x: x > "a", "no overload takes"),
        (lambda x: torch.relu(x), "torch's relu takes no number of a program: write it with conform.ops"),
        (lambda x: torch.ones(2) * x, "torch's mul takes no number of a program"),
        (lambda x: ops.exp(~x), "aten::bitwise_not: argument self: found float32"),
    ],
)
def test_what_cannot_be_written_is_refused(program: Callable, message: str) -> None:
    with pytest.raises(ConformError, match=f"reference of test::program: .*{message}"):
        value_of(program, F32([1.0, 2.0]))
