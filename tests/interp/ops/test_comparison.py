"""Comparisons and selection."""

from __future__ import annotations

from math import inf, nan

import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import boolean, check, f32, f64, goldens, i8, i64, tensor, u8


def test_eq() -> None:
    """torch.eq's example."""
    check("aten::eq", i64([[1, 2], [3, 4]]), i64([[1, 1], [4, 4]]), gives=boolean([[True, False], [False, True]]))


def test_eq_of_special_values() -> None:
    lhs, rhs = f32([nan, 0.0, inf, inf]), f32([nan, -0.0, inf, -inf])
    check("aten::eq", lhs, rhs, gives=boolean([False, True, True, False]))


def test_eq_compares_in_the_common_dtype() -> None:
    check("aten::eq", i64([2**24 + 1]), f32([2.0**24]), gives=boolean([True]))  # the integer rounds to float32
    check("aten::eq", u8([255]), i8([-1]), gives=boolean([False]))
    check("aten::eq", f32([0.10000000149011612]), 0.1, gives=boolean([False]))  # the scalar is the double (P30)
    check("aten::eq", boolean([True, False]), 1, gives=boolean([True, False]))


def test_where() -> None:
    condition = boolean([[True, False], [False, True]])
    check("aten::where", condition, f32([1.0, 2.0]), f32([[-1.0], [-2.0]]), gives=f32([[1.0, -1.0], [-2.0, 2.0]]))
    check("aten::where", boolean([True, False]), f32([-0.0, 1.0]), nan, gives=f32([-0.0, nan]))
    check("aten::where", boolean([True, False]), 1, 2.5, gives=f32([1.0, 2.5]))
    check("aten::where", boolean([True, False]), 1, 2, gives=i64([1, 2]))
    check("aten::where", boolean([True, False]), i64([1, 2]), f64([0.5, 0.5]), gives=f64([1.0, 0.5]))
    check("aten::where", u8([2, 0]), 1, 2, gives=i64([1, 2]))


def test_where_refuses() -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::where", f32([1.0]), f32([1.0]), f32([2.0]))
    with pytest.raises(InvalidArguments):
        goldens("aten::where", boolean([True, False, True]), tensor("int8", [1, 2]), 0)
