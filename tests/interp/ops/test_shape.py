"""Data movement."""

from __future__ import annotations

from math import inf, nan

import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import boolean, c64, check, check_open, f16, f32, goldens, i8, i64


def test_permute() -> None:
    check("aten::permute", i64([[[1, 2, 3]], [[4, 5, 6]]]), [2, 0, 1], gives=i64([[[1], [4]], [[2], [5]], [[3], [6]]]))
    check("aten::permute", i64([[1, 2]]), [-1, 0], gives=i64([[1], [2]]))
    check("aten::permute", f32(-0.0), [], gives=f32(-0.0))


@pytest.mark.parametrize("dims", [[0], [0, 0], [0, 2], [0, -2]])
def test_permute_refuses(dims: list[int]) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::permute", i64([[1, 2]]), dims)


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"start": 1, "end": 4}, [1, 2, 3]),
        ({"start": 1, "end": 4, "step": 2}, [1, 3]),
        ({"start": -2}, [3, 4]),
        ({"start": -100, "end": 100, "step": 4}, [0, 4]),
        ({"start": 3, "end": 1}, []),
        ({"end": -1, "step": 3}, [0, 3]),
    ],
)
def test_slice(keywords: dict, expected: list[int]) -> None:
    check("aten::slice.Tensor", i64([0, 1, 2, 3, 4]), **keywords, gives=i64(expected))


def test_slice_of_a_later_dim() -> None:
    check("aten::slice.Tensor", i64([[1, 2], [3, 4]]), dim=-1, start=1, gives=i64([[2], [4]]))


def test_slice_refuses() -> None:
    for operand, keywords in ((i64([1]), {"step": 0}), (i64([1]), {"step": -1}), (i64([1]), {"dim": 1}), (i64(1), {})):
        with pytest.raises(InvalidArguments):
            goldens("aten::slice.Tensor", operand, **keywords)


def test_narrow() -> None:
    line = i64([0, 1, 2, 3, 4])
    check("aten::narrow", line, 0, 1, 2, gives=i64([1, 2]))
    check("aten::narrow", line, -1, -2, 2, gives=i64([3, 4]))
    check("aten::narrow", line, 0, 5, 0, gives=i64([]))
    check("aten::narrow", i64([[1, 2, 3], [4, 5, 6]]), 1, -3, 1, gives=i64([[1], [4]]))
    with pytest.raises(InvalidArguments):
        goldens("aten::narrow", line, 0, 4, 2)
    with pytest.raises(InvalidArguments):
        goldens("aten::narrow", line, 0, -1, 2)


def test_copies_of_views_are_what_the_views_are() -> None:
    check("aten::permute_copy", i64([[1, 2]]), [1, 0], gives=i64([[1], [2]]))
    check("aten::narrow_copy", i64([0, 1, 2]), 0, -1, 1, gives=i64([2]))
    check("aten::split_copy.Tensor", i64([1, 2, 3]), 2, gives=(i64([1, 2]), i64([3])))
    check("aten::view_as_real_copy", c64([1 - 2j]), gives=f32([[1.0, -2.0]]))
    check("aten::detach_copy", f32(-0.0), gives=f32(-0.0))


def test_channel_shuffle() -> None:
    channels = i64([[[0], [1], [2], [3], [4], [5]]])
    check("aten::channel_shuffle", channels, 2, gives=i64([[[0], [3], [1], [4], [2], [5]]]))
    check("aten::native_channel_shuffle", channels, 3, gives=i64([[[0], [2], [4], [1], [3], [5]]]))
    with pytest.raises(InvalidArguments):
        goldens("aten::channel_shuffle", channels, 4)


def test_block_diag() -> None:
    blocks = [i64([[1, 2], [3, 4]]), i64([5, 6]), i64(7)]
    check("aten::block_diag", blocks, gives=i64([
        [1, 2, 0, 0, 0], [3, 4, 0, 0, 0], [0, 0, 5, 6, 0], [0, 0, 0, 0, 7],
    ]))  # fmt: skip
    check("aten::block_diag", [f32([]), i64([[1]])], gives=f32([[0.0], [1.0]]))


def test_chunk_cat() -> None:
    tensors = [i64([[1, 2], [3, 4], [5, 6]]), i64([7, 8])]
    check("aten::_chunk_cat", tensors, 0, 2, gives=i64([[1, 2, 3, 4, 7], [5, 6, 0, 0, 8]]))
    check("aten::_chunk_cat", [i64([[1, 2, 3]])], -1, 2, gives=i64([[[1, 2], [3, 0]]]))


def test_scatters_into_diagonals_and_strides() -> None:
    square = i64([[1, 2], [3, 4]])
    check("aten::diagonal_scatter", square, i64([9]), 1, gives=i64([[1, 9], [3, 4]]))
    check("aten::as_strided_scatter", square, i64([8, 9]), [2], [2], 1, gives=i64([[1, 8], [3, 9]]))
    check_open(
        "aten::as_strided_scatter", i64([1, 2, 3]), i64([[7, 8], [8, 9]]), [2, 2], [1, 1],
        gives=i64([7, 0, 9]), where_open=[False, True, False], rule="P25",
    )  # fmt: skip


def test_unsafe_splits_are_splits() -> None:
    check("aten::unsafe_split.Tensor", i64([1, 2, 3]), 2, gives=(i64([1, 2]), i64([3])))
    check("aten::unsafe_chunk", i64([1, 2, 3]), 2, gives=(i64([1, 2]), i64([3])))
    check("aten::unsafe_split_with_sizes", i64([1, 2]), [0, 2], gives=(i64([]), i64([1, 2])))


def test_cat() -> None:
    check("aten::cat", [i64([[1, 2]]), i64([[3, 4], [5, 6]])], gives=i64([[1, 2], [3, 4], [5, 6]]))
    check("aten::cat", [i64([[1], [2]]), i64([[3, 4], [5, 6]])], dim=-1, gives=i64([[1, 3, 4], [2, 5, 6]]))


def test_cat_promotes() -> None:
    check("aten::cat", [i8([1]), f16([-0.0, nan, inf]), boolean([True])], gives=f16([1.0, -0.0, nan, inf, 1.0]))


def test_cat_skips_1d_tensors_without_elements() -> None:
    check("aten::cat", [f32([]), f32([[1.0, 2.0]])], dim=1, gives=f32([[1.0, 2.0]]))
    check("aten::cat", [f32([]), f32([])], gives=f32([]))
    check("aten::cat", [f32([]), i8([1])], gives=f32([1.0]))  # but they count for the dtype


def test_cat_refuses() -> None:
    for tensors, dim in (
        ([i8([1]), i8(1)], 0),
        ([i8([[1, 2]]), i8([[1]])], 0),
        ([i8([1]), i8([[1]])], 0),
        ([i8([1])], 1),
        ([], 0),
    ):
        with pytest.raises(InvalidArguments):
            goldens("aten::cat", tensors, dim)
