"""Cross products and traces."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from tests.interp.ops.literal import bf16, check, check_open, f16, f32, f64, goldens, i8, i32, i64, u8


def test_cross() -> None:
    """(1, 2, 3) x (4, 5, 6) = (2 6 - 3 5, 3 4 - 1 6, 1 5 - 2 4)."""
    for op in ("aten::cross", "aten::linalg_cross"):
        check(op, i64([1, 2, 3]), i64([4, 5, 6]), gives=i64([-3, 6, -3]))
        check(op, f32([[1.0], [0.0], [0.0]]), f32([[0.0], [1.0], [0.0]]), dim=0, gives=f32([[0.0], [0.0], [1.0]]))
        check(op, f64([[1.0, 2.0, 3.0]]), f64([[4.0, 5.0, 6.0], [1.0, 2.0, 3.0]]), dim=-1,
              gives=f64([[-3.0, 6.0, -3.0], [0.0, 0.0, 0.0]]))  # fmt: skip


def test_the_default_dim_is_the_first_of_size_3_or_the_last() -> None:
    square, unit = i64([[1, 2, 3], [4, 5, 6], [7, 8, 9]]), i64([[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    # (1, 4, 7) x (1, 0, 0) = (0, 7, -4), and so for each column
    check("aten::cross", square, unit, gives=i64([[0, -8, 6], [7, 0, -3], [-4, 2, 0]]))
    check("aten::linalg_cross", square, unit, gives=i64([[0, 3, -2], [-6, 0, 4], [8, -7, 0]]))


def test_cross_products_wrap_and_are_rounded_once() -> None:
    check("aten::cross", u8([16, 0, 1]), u8([0, 16, 255]), gives=u8([240, 16, 0]))
    check("aten::cross", i8([100, 100, 0]), i8([100, -100, 0]), gives=i8([0, 0, -32]))
    a = 1 + 2.0**-12
    check("aten::cross", f32([a, 1.0, 0.0]), f32([1.0, a, 0.0]), gives=f32([0.0, 0.0, 2.0**-11 + 2.0**-24]))
    check("aten::cross", bf16([0.0, 1.0078125, 1.015625]), bf16([0.0, 1.0, 1.0078125]), gives=bf16([2.0**-14, 0, 0]))


def test_cross_products_of_infinities() -> None:
    check("aten::cross", f16([inf, 1.0, 2.0]), f16([1.0, 0.0, 1.0]), gives=f16([1.0, -inf, nan]))


def test_a_product_that_overflows_leaves_the_difference_open() -> None:
    check_open("aten::cross", f32([2.0**100, 2.0**100, 0.0]), f32([2.0**100, 2.0**100, 1.0]),
               gives=f32([2.0**100, -(2.0**100), 0.0]), where_open=[False, False, True], rule="P35")  # fmt: skip


@pytest.mark.parametrize(
    ("lhs", "rhs", "arguments"),
    [
        (f32([1.0, 2.0]), f32([1.0, 2.0]), {}),
        (f32([1.0, 2.0, 3.0]), f32([[1.0, 2.0, 3.0]]), {}),
        (f32([1.0, 2.0, 3.0]), f64([1.0, 2.0, 3.0]), {}),
        (f32([[1.0, 2.0, 3.0]]), f32([[1.0, 2.0, 3.0]]), {"dim": 0}),
        (f32([[1.0, 2.0, 3.0]]), f32([[1.0]]), {}),
        (np.array([True] * 3), np.array([True] * 3), {}),
    ],
)
def test_cross_refuses(lhs: np.ndarray, rhs: np.ndarray, arguments: dict) -> None:
    for op in ("aten::cross", "aten::linalg_cross"):
        with pytest.raises(InvalidArguments):
            goldens(op, lhs, rhs, **arguments)


def test_trace() -> None:
    """torch.trace's example: 1 to 9, of which the diagonal is 1, 5, 9."""
    check("aten::trace", np.arange(1, 10, dtype=np.float32).reshape(3, 3), gives=f32(15.0))
    check("aten::trace", i8([[100, 1, 1], [1, 100, 1]]), gives=i64(200))
    check("aten::trace", i32([[2**31 - 1], [7]]), gives=i64(2**31 - 1))
    check("aten::trace", np.empty((0, 3), np.float16), gives=f16(0.0))
    check("aten::trace", bf16([[256.0, 0, 0, 0], [0, 1.0, 0, 0], [0, 0, 1.0, 0], [0, 0, 0, 1.0]]), gives=bf16(260.0))
    check("aten::trace", f64([[inf, nan], [nan, -1.0]]), gives=f64(inf))


def test_trace_refuses() -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::trace", f32([1.0]))
    with pytest.raises(Unjudged):
        goldens("aten::trace", np.complex64([[1.0]]))
