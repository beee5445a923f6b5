"""Sorting."""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from conform.interp.blocks import blocks
from tests.interp.ops.literal import boolean, check, f32, goldens, i8, i64, shown


def test_stable_sort() -> None:
    """torch.sort's example, shortened."""
    check("aten::sort.stable", i64([0, 1] * 3), stable=True, gives=(i64([0, 0, 0, 1, 1, 1]), i64([0, 2, 4, 1, 3, 5])))
    check(
        "aten::sort.stable",
        i64([0, 1] * 3),
        stable=True,
        descending=True,
        gives=(i64([1, 1, 1, 0, 0, 0]), i64([1, 3, 5, 0, 2, 4])),
    )


def test_sort_along_a_dim() -> None:
    operand = i8([[3, -1], [1, 2]])
    check("aten::sort.stable", operand, stable=True, dim=0, gives=(i8([[1, -1], [3, 2]]), i64([[1, 0], [0, 1]])))
    check("aten::sort.stable", operand, stable=True, gives=(i8([[-1, 3], [1, 2]]), i64([[1, 0], [0, 1]])))
    check("aten::sort.stable", i8(5), stable=True, gives=(i8(5), i64(0)))
    check("aten::sort.stable", f32([[], []]), stable=True, gives=(f32([[], []]), i64([[], []])))


def test_nan_is_the_greatest_and_zeros_are_equal() -> None:
    operand = f32([nan, 0.0, -inf, -0.0, nan, inf])
    check(
        "aten::sort.stable",
        operand,
        stable=True,
        gives=(f32([-inf, 0.0, -0.0, inf, nan, nan]), i64([2, 1, 3, 5, 0, 4])),
    )
    check("aten::sort.stable", operand, stable=True, descending=True,
          gives=(f32([nan, nan, inf, 0.0, -0.0, -inf]), i64([0, 4, 5, 1, 3, 2])))  # fmt: skip
    check("aten::sort.stable", boolean([True, False]), stable=True, gives=(boolean([False, True]), i64([1, 0])))
    check("aten::sort.stable", i64([2**53 + 1, 2**53]), stable=True, gives=(i64([2**53, 2**53 + 1]), i64([1, 0])))


def test_without_stable_equal_elements_may_stand_in_any_order() -> None:
    values, indices = goldens("aten::sort", f32([2.0, 0.0, 2.0, -0.0]))
    assert shown(values.value) == shown(f32([0.0, -0.0, 2.0, 2.0]))
    assert values.zero_sign_free
    assert indices.ties.dim == 0
    assert indices.ties.ranks.tolist() == [1, 0, 1, 0]  # 2 and 2 share a rank, and so do the zeros


@pytest.mark.parametrize("block", [1, 3, 1 << 16])
@pytest.mark.parametrize("descending", [False, True])
def test_ranks_of_a_row_that_is_longer_than_a_block(
    descending: bool, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK", block)
    _, indices = goldens("aten::sort", f32([[2.0, nan, 0.0, 2.0, -0.0, 2.0, nan]]), descending=descending)
    assert indices.ties.ranks.tolist() == [[1, 2, 0, 1, 0, 1, 2]]
    assert indices.value.tolist() == [[1, 6, 0, 3, 5, 2, 4] if descending else [2, 4, 0, 3, 5, 1, 6]]


@pytest.mark.parametrize("block", [1, 7, 64])
@pytest.mark.parametrize("values", [3, 400])
def test_equal_elements_of_a_long_row_keep_their_order(
    values: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = np.random.default_rng(values).integers(0, values, 500).tolist()
    row = [nan if number == 2 else -0.0 if number == 1 else float(number) for number in numbers]
    monkeypatch.setattr(blocks, "BLOCK", block)
    _, indices = goldens("aten::sort.stable", f32(row), stable=True)
    assert indices.value.tolist() == sorted(range(500), key=lambda place: (isnan(row[place]), row[place]))


def test_sort_refuses() -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::sort", f32([1.0]), 1)
