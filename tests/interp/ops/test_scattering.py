"""Writes where an index names the place along one dimension, and what is chosen by indices, masks and being true."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.call.bound import bound_call
from conform.contracts.judge import judge
from conform.contracts.tables import contract_table
from conform.errors import InvalidArguments, Unjudged
from conform.interp.blocks import blocks
from conform.interp.evaluate import evaluate_call
from tests.interp.ops.literal import boolean, check, check_open, f32, goldens, i8, i64

INDEX = i64([[0, 1], [2, 0]])
X, SRC = f32([[1, 2, 3], [4, 5, 6]]), f32([[10, 20, 99], [30, 40, 99]])


def test_index_takes_masks_and_indices_that_are_apart() -> None:
    x = i64([[1, 2], [3, 4]])
    check("aten::index.Tensor", x, [i64([1, -1]), i64([0, 1])], gives=i64([3, 4]))
    check("aten::index.Tensor", x, [boolean([[True, False], [False, True]])], gives=i64([1, 4]))
    cube = i64(np.arange(8).reshape(2, 2, 2))
    check("aten::index.Tensor", cube, [i64([0, 1]), None, i64([1])], gives=i64([[1, 3], [5, 7]]))


def test_selected_along_a_dim_and_in_the_whole() -> None:
    check("aten::index_select", X, -1, i64([2, 0]), gives=f32([[3, 1], [6, 4]]))
    check("aten::index_select", i8(7), 0, i64([0]), gives=i8(7))
    check("aten::take", X, i64([[5, -6]]), gives=f32([[6, 1]]))
    check("aten::embedding", X, i64([[1], [0]]), 0, gives=f32([[[4, 5, 6]], [[1, 2, 3]]]))


def test_scattered_elements_and_numbers() -> None:
    check("aten::scatter.src", X, 1, INDEX, SRC, gives=f32([[10, 20, 3], [40, 5, 30]]))
    check("aten::scatter.value", X, -1, i64([[0, 0], [1, 1]]), 7, gives=f32([[7, 2, 3], [4, 7, 6]]))
    check_open("aten::scatter.src", X, 1, i64([[1, 1]]), SRC, gives=X, rule="P25",
               where_open=[[False, True, False], [False] * 3])  # fmt: skip


@pytest.mark.parametrize(
    ("reduce", "with_self", "expected"),
    [
        ("sum", True, [11, 52, 3]), ("sum", False, [10, 50, 3]), ("prod", True, [10, 1200, 3]),
        ("prod", False, [10, 600, 3]), ("mean", True, [5.5, np.float32(52 / 3), 3]), ("mean", False, [10, 25, 3]),
        ("amax", True, [10, 30, 3]), ("amin", True, [1, 2, 3]), ("amin", False, [10, 20, 3]),
    ],
)  # fmt: skip
def test_scatter_reduce(reduce: str, with_self: bool, expected: list[float]) -> None:
    check("aten::scatter_reduce.two", f32([1, 2, 3]), 0, i64([0, 1, 1]), f32([10, 20, 30]), reduce,
          include_self=with_self, gives=f32(expected))  # fmt: skip


def test_reductions_of_special_numbers_and_integers() -> None:
    check("aten::scatter_reduce.two", f32([1, nan]), 0, i64([0, 1]), f32([nan, 1]), "amax", gives=f32([nan, nan]))
    check("aten::scatter_reduce.two", f32([0, -0.0]), 0, i64([0, 0]), f32([inf, -inf]), "sum", gives=f32([nan, -0.0]))
    check("aten::scatter_add", i8([100]), 0, i64([0, 0]), i8([100, 100]), gives=i8([44]))
    check("aten::scatter.reduce", i8([3, 2]), 0, i64([0, 0]), i8([10, 10]), reduce="multiply", gives=i8([44, 2]))
    check("aten::scatter.value_reduce", f32([1, 2]), 0, i64([1, 1]), 0.5, reduce="multiply", gives=f32([1, 0.5]))
    check("aten::scatter_reduce.two", i8([1, 4]), 0, i64([0, 0]), i8([3, 5]), "mean", gives=i8([3, 4]))
    check_open("aten::scatter_reduce.two", i64([2**62, 1, 5]), 0, i64([0, 1]), i64([2**62, 2]), "mean",
               gives=i64([0, 0, 5]), rule="P110", where_open=[True, True, False])  # fmt: skip


def test_a_sum_is_rounded_once_and_what_is_not_written_to_stays() -> None:
    subnormal = 2.0**-149
    (golden,) = goldens("aten::scatter.reduce", f32([2.0**24, subnormal]), 0, i64([0, 0]), f32([1, 1]), reduce="add")
    np.testing.assert_array_equal(golden.value, f32([2.0**24 + 2, subnormal]))
    check("aten::scatter.reduce", f32([2, subnormal]), 0, i64([0]), f32([3]), reduce="multiply",
          gives=f32([6, subnormal]))  # fmt: skip


def test_terms_may_be_multiplied_by_the_inverse_of_their_number() -> None:
    """As torch.nn.Embedding words scale_grad_by_freq; each product is rounded, and so is the inverse of 3."""
    grads = np.random.default_rng(0).standard_normal((200, 3, 4)).astype(np.float32)
    for grad in grads:
        call = bound_call("aten::embedding_dense_backward", [grad, i64([0, 0, 0]), 1, -1, True], {})
        golden = evaluate_call(call).goldens[0]
        scaled = grad * (np.float32(1) / np.float32(3))
        actual = ((scaled[0] + scaled[1]) + scaled[2])[None]
        row = contract_table("opencl").row_of(call.op, golden)
        assert judge(golden, actual, row, call.arguments).ok.all()


def test_along_one_dim() -> None:
    check("aten::index_add", X, 1, i64([0, 0]), f32([[1, 2], [3, 4]]), alpha=10, gives=f32([[31, 2, 3], [74, 5, 6]]))
    check("aten::index_copy", X, 0, i64([1]), f32([[7, 8, 9]]), gives=f32([[1, 2, 3], [7, 8, 9]]))
    check("aten::index_fill.int_Scalar", X, -1, i64([2, 2]), -1, gives=f32([[1, 2, -1], [4, 5, -1]]))
    grad = f32([[1, 2], [3, 4], [5, 6]])
    check("aten::embedding_dense_backward", grad, i64([2, 0, 2]), 3, 0, False, gives=f32([[0, 0], [0, 0], [6, 8]]))
    check("aten::embedding_dense_backward", grad, i64([2, 0, 2]), 3, -1, True, gives=f32([[3, 4], [0, 0], [3, 4]]))


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, [[5, 7, 9], [0, 0, 0], [4, 5, 6]]), ({"padding_idx": 1}, [[1, 2, 3], [0, 0, 0], [0, 0, 0]]),
        ({"mode": 1}, [[2.5, 3.5, 4.5], [0, 0, 0], [4, 5, 6]]), ({"mode": 2}, [[4, 5, 6], [0, 0, 0], [4, 5, 6]]),
        ({"per_sample_weights": f32([2, -1, 0.5])}, [[-2, -1, 0], [0, 0, 0], [2, 2.5, 3]]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("block", [blocks.BLOCK, 2])
def test_bags(more: dict, expected: list, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    result, *others = goldens("aten::_embedding_bag", X, i64([0, 1, 1]), i64([0, 2, 2]), **more)
    np.testing.assert_array_equal(result.value, f32(expected))
    assert [(other.undocumented, other.open_rule) for other in others] == [(True, "P111")] * 3


def test_bags_with_the_end_of_the_last_and_bags_of_which_nothing_is_judged() -> None:
    result, *_ = goldens("aten::_embedding_bag", X, i64([0, 1]), i64([0, 2]), include_last_offset=True)
    np.testing.assert_array_equal(result.value, f32([[5, 7, 9]]))
    with pytest.raises(Unjudged, match="P111"):
        goldens("aten::_embedding_bag", X, i64([0, 1]), i64([0, 1]), include_last_offset=True)


def test_by_a_mask_and_by_being_true() -> None:
    mask = boolean([[True], [False]])
    check("aten::masked_select", X, mask, gives=f32([1, 2, 3]))
    check("aten::masked_scatter", X, mask, f32([7, 8, 9, 10]), gives=f32([[7, 8, 9], [4, 5, 6]]))
    check("aten::nonzero", f32([[0, -0.0, nan], [1, 0, 0]]), gives=i64([[0, 2], [1, 0]]))
    check("aten::nonzero", f32(2), gives=np.zeros((1, 0), np.int64))


@pytest.mark.parametrize("op", ["aten::scatter.reduce", "aten::scatter_reduce.two", "aten::nonzero", "aten::index_add"])
def test_blocks_change_nothing(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = np.random.default_rng(0)
    x, index, src = stream.random(50, np.float32), stream.integers(0, 50, 90), stream.random(90, np.float32)
    arguments = {
        "aten::scatter.reduce": ((x, 0, index, src), {"reduce": "multiply"}),
        "aten::scatter_reduce.two": ((x, 0, index, src, "mean"), {}),
        "aten::index_add": ((x, 0, index, src), {"alpha": 0.3}),
        "aten::nonzero": ((x > 0.5,), {}),
    }
    args, kwargs = arguments[op]
    (whole,) = goldens(op, *args, **kwargs)
    monkeypatch.setattr(blocks, "BLOCK", 8)
    (parts,) = goldens(op, *args, **kwargs)
    np.testing.assert_array_equal(whole.value, parts.value)


@pytest.mark.parametrize("index", [[3], [-1]])
def test_refused(index: list[int]) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::scatter.src", f32([1, 2, 3]), 0, i64(index), f32([1]))


def test_put_counts_from_both_ends() -> None:
    check("aten::put", X, i64([0, -1]), f32([9, 8]), gives=f32([[9, 2, 3], [4, 5, 8]]))
    check("aten::put", X, i64([[1, 1]]), f32([[1, 2]]), True, gives=f32([[1, 5, 3], [4, 5, 6]]))
    check("aten::put", i8([100]), i64([0, 0]), i8([100, 100]), True, gives=i8([44]))
    check_open(
        "aten::put", i64([1, 2]), i64([0, -2]), i64([7, 8]), gives=i64([0, 2]), where_open=[True, False], rule="P25"
    )
    with pytest.raises(InvalidArguments):
        goldens("aten::put", X, i64([6]), f32([1]))


@pytest.mark.parametrize(
    ("reduce", "include_self", "expected"),
    [("prod", True, [[8, 30], [3, 4]]), ("mean", False, [[3, 4], [3, 4]]), ("amax", True, [[4, 5], [3, 4]]),
     ("amin", False, [[2, 3], [3, 4]])],
)  # fmt: skip
def test_index_reduce(reduce: str, include_self: bool, expected: list) -> None:
    own, source = f32([[1, 2], [3, 4]]), f32([[4, 5], [2, 3]])
    check("aten::index_reduce", own, 0, i64([0, 0]), source, reduce, include_self=include_self, gives=f32(expected))


def test_index_reduce_of_what_is_no_integer_or_no_number() -> None:
    own, index = i64([1, 5]), i64([0])
    check_open(
        "aten::index_reduce", own, 0, index, i64([2]), "mean", gives=i64([0, 5]), where_open=[True, False], rule="P110"
    )
    check("aten::index_reduce", f32([inf, 1]), 0, index, f32([nan]), "amax", gives=f32([nan, 1]))
    with pytest.raises(InvalidArguments):
        goldens("aten::index_reduce", own, 0, index, i64([2]), "sum")


def test_nonzero_static() -> None:
    mask = i64([[0, 3], [5, 0]])
    check("aten::nonzero_static", mask, size=1, gives=i64([[0, 1]]))
    check("aten::nonzero_static", mask, size=3, fill_value=-7, gives=i64([[0, 1], [1, 0], [-7, -7]]))
    check("aten::nonzero_static", f32([nan, -0.0]), size=2, gives=i64([[0], [-1]]))
