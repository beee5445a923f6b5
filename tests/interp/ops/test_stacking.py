"""Tensors that get dims and are joined, parts of tensors, and other names of an arrangement."""

from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import boolean, c64, check, f32, goldens, i8, i16, i32, i64, u8

ONE, TWO = i64([1, 2, 3]), i64([4, 5, 6])
ROW = i64([[1, 2, 3]])


@pytest.mark.parametrize(
    ("op", "of_number", "of_list", "of_matrix"),
    [
        ("aten::atleast_1d", (1,), (3,), (1, 3)),
        ("aten::atleast_2d", (1, 1), (1, 3), (1, 3)),
        ("aten::atleast_3d", (1, 1, 1), (1, 3, 1), (1, 3, 1)),
    ],
)
def test_dims_are_added(op: str, of_number: tuple, of_list: tuple, of_matrix: tuple) -> None:
    each = [(i64(7), of_number), (ONE, of_list), (ROW, of_matrix), (i64([[[[5]]]]), (1, 1, 1, 1))]
    for operand, shape in each:
        check(op, operand, gives=operand.reshape(shape))
    wanted = tuple(operand.reshape(shape) for operand, shape in each)
    check(f"{op}.Sequence", [operand for operand, _ in each], gives=wanted)


def test_broadcast_tensors_keeps_each_dtype() -> None:
    check("aten::broadcast_tensors", [i64([[0, 1, 2]]), i8([[3], [4]])],
          gives=(i64([[0, 1, 2], [0, 1, 2]]), i8([[3, 3, 3], [4, 4, 4]])))  # fmt: skip
    with pytest.raises(InvalidArguments):
        goldens("aten::broadcast_tensors", [ONE, i64([1, 2])])


@pytest.mark.parametrize(
    ("op", "tensors", "expected"),
    [
        ("hstack", [ONE, TWO], [1, 2, 3, 4, 5, 6]),
        ("hstack", [i64([[1], [2]]), i64([[3], [4]])], [[1, 3], [2, 4]]),
        ("hstack", [i64(1), TWO], [1, 4, 5, 6]),
        ("vstack", [ONE, TWO], [[1, 2, 3], [4, 5, 6]]),
        ("vstack", [ONE, i64([[4, 5, 6], [7, 8, 9]])], [[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        ("row_stack", [i64(1), i64([[2], [3]])], [[1], [2], [3]]),
        ("dstack", [ONE, TWO], [[[1, 4], [2, 5], [3, 6]]]),
        ("dstack", [i64([[1], [2]]), i64([[[3]], [[4]]])], [[[1, 3]], [[2, 4]]]),
        ("column_stack", [ONE, TWO], [[1, 4], [2, 5], [3, 6]]),
        ("column_stack", [ONE, i64([[4, 7], [5, 8], [6, 9]])], [[1, 4, 7], [2, 5, 8], [3, 6, 9]]),
    ],
)
def test_side_by_side(op: str, tensors: list[np.ndarray], expected: Any) -> None:
    check(f"aten::{op}", tensors, gives=i64(expected))


@pytest.mark.parametrize(
    ("op", "tensors"),
    [
        ("hstack", [ONE, ROW]),
        ("vstack", [ONE, i64([1])]),
        ("dstack", [ONE, i64([[1], [2]])]),
        ("column_stack", [ONE, i64([1])]),
        ("hstack", []),
    ],
)
def test_side_by_side_refuses(op: str, tensors: list[np.ndarray]) -> None:
    with pytest.raises(InvalidArguments):
        goldens(f"aten::{op}", tensors)


def test_a_number_that_became_a_tensor_of_dims_counts_as_one() -> None:
    check("aten::dstack", [u8(200), i8([[[-1]]])], gives=i16([[[200, -1]]]))


def test_pad_sequence() -> None:
    steps = [f32([[1, 2]]), f32([[3, 4], [5, 6]])]
    check("aten::pad_sequence", steps, gives=f32([[[1, 2], [3, 4]], [[0, 0], [5, 6]]]))
    check("aten::pad_sequence", steps, True, 5.0, "left", gives=f32([[[5, 5], [1, 2]], [[3, 4], [5, 6]]]))


def test_choices() -> None:
    check("aten::cartesian_prod", [i64([1, 2]), i64([4, 5])], gives=i64([[1, 4], [1, 5], [2, 4], [2, 5]]))
    check("aten::cartesian_prod", [ONE], gives=ONE)
    check("aten::combinations", ONE, gives=i64([[1, 2], [1, 3], [2, 3]]))
    check("aten::combinations", ONE, 3, gives=i64([[1, 2, 3]]))
    pairs = [[1, 1], [1, 2], [1, 3], [2, 2], [2, 3], [3, 3]]
    check("aten::combinations", ONE, 2, True, gives=i64(pairs))
    check("aten::combinations", ONE, 0, gives=i64([]))
    check("aten::combinations", i64([1]), 2, gives=np.empty((0, 2), np.int64))


def test_views_of_another_shape() -> None:
    square = i64([[1, 2], [3, 4]])
    check("aten::broadcast_to", ONE, [2, 3], gives=i64([[1, 2, 3], [1, 2, 3]]))
    check("aten::expand_as", i64([[1], [2]]), i8([[0, 0], [0, 0]]), gives=i64([[1, 1], [2, 2]]))
    for op in ("aten::view_as", "aten::reshape_as"):
        check(op, square, f32([0, 0, 0, 0]), gives=i64([1, 2, 3, 4]))
    check("aten::_unsafe_view", square, [-1], gives=i64([1, 2, 3, 4]))
    check("aten::ravel", i64(5), gives=i64([5]))
    check("aten::numpy_T", i64([[[1, 2, 3]]]), gives=i64([[[1]], [[2]], [[3]]]))
    check("aten::mT", i64([[[1, 2, 3]]]), gives=i64([[[1], [2], [3]]]))
    for op in ("aten::adjoint", "aten::mH", "aten::matrix_H"):
        check(op, c64([[1 + 2j, 3 + 1j], [2 + 1j, 4 - 5j]]), gives=c64([[1 - 2j, 2 - 1j], [3 - 1j, 4 + 5j]]))
        with pytest.raises(InvalidArguments):
            goldens(op, ONE)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (3, [[0, 1, 2], [3, 4], [5, 6]]),
        (8, [[0], [1], [2], [3], [4], [5], [6], []]),
        ([2, 5], [[0, 1], [2, 3, 4], [5, 6]]),
        ([-2, 3, 9], [[0, 1, 2, 3, 4], [], [3, 4, 5, 6], []]),
        ([], [[0, 1, 2, 3, 4, 5, 6]]),
    ],
)
def test_tensor_split(given: int | list[int], expected: list[list[int]]) -> None:
    op = "aten::tensor_split.sections" if isinstance(given, int) else "aten::tensor_split.indices"
    check(op, i64(range(7)), given, gives=tuple(map(i64, expected)))


def test_splits_along_a_dim_of_their_own() -> None:
    square = i64([[1, 2], [3, 4]])
    check("aten::hsplit.int", square, 2, gives=(i64([[1], [3]]), i64([[2], [4]])))
    check("aten::hsplit.array", ONE, [1], gives=(i64([1]), i64([2, 3])))
    check("aten::vsplit.int", square, 2, gives=(i64([[1, 2]]), i64([[3, 4]])))
    check("aten::vsplit.array", square, [2], gives=(square, np.empty((0, 2), np.int64)))
    check("aten::dsplit.int", i64([[[1, 2]]]), 2, gives=(i64([[[1]]]), i64([[[2]]])))
    check("aten::dsplit.array", i64([[[1, 2]]]), [1], gives=(i64([[[1]]]), i64([[[2]]])))
    for op, operand in (("hsplit.int", ONE), ("vsplit.int", ROW), ("dsplit.int", ROW)):
        with pytest.raises(InvalidArguments):
            goldens(f"aten::{op}", operand, 2)


def test_flips_of_one_dim() -> None:
    square = i64([[1, 2], [3, 4]])
    check("aten::fliplr", square, gives=i64([[2, 1], [4, 3]]))
    check("aten::flipud", square, gives=i64([[3, 4], [1, 2]]))


def test_repeat_interleave() -> None:
    square = i64([[1, 2], [3, 4]])
    check("aten::repeat_interleave.self_int", ONE, 2, gives=i64([1, 1, 2, 2, 3, 3]))
    check("aten::repeat_interleave.self_int", square, 2, gives=i64([1, 1, 2, 2, 3, 3, 4, 4]))
    check("aten::repeat_interleave.self_int", square, 3, 1, gives=i64([[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]]))
    check("aten::repeat_interleave.self_Tensor", square, i64([1, 2]), 0, gives=i64([[1, 2], [3, 4], [3, 4]]))
    check("aten::repeat_interleave.self_Tensor", square, i32([2]), -1, gives=i64([[1, 1, 2, 2], [3, 3, 4, 4]]))
    check("aten::repeat_interleave.Tensor", i32([1, 0, 2]), gives=i32([0, 2, 2]))
    check("aten::repeat_interleave.Tensor", i64([]), gives=i64([]))


def test_diagonals() -> None:
    check("aten::diag", i64([1, 2]), gives=i64([[1, 0], [0, 2]]))
    check("aten::diag", i64([1]), -1, gives=i64([[0, 0], [1, 0]]))
    check("aten::diag", i64([[1, 2, 3], [4, 5, 6]]), 1, gives=i64([2, 6]))
    check("aten::diagflat", i64([[1, 2]]), 1, gives=i64([[0, 1, 0], [0, 0, 2], [0, 0, 0]]))


def test_sorting_by_other_names() -> None:
    check("aten::argsort", f32([2, nan, 1]), gives=i64([2, 0, 1]))
    check("aten::argsort.stable", boolean([[True, False, True]]), stable=True, descending=True, gives=i64([[0, 2, 1]]))
    check("aten::msort", i64([[3, 1], [2, 5]]), gives=i64([[2, 1], [3, 5]]))
    check("aten::argwhere", i64([[0, 2], [3, 0]]), gives=i64([[0, 1], [1, 0]]))
