"""Differences of neighbours, once and again."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import c64, check, f16, f32, f64, goldens, i8, i64, u8


def test_the_documentations_examples() -> None:
    check("aten::diff", i64([1, 3, 2]), gives=i64([2, -1]))
    check("aten::diff", i64([1, 3, 2]), append=i64([4, 5]), gives=i64([2, -1, 2, 1]))
    matrix = i64([[1, 2, 3], [3, 4, 5]])
    check("aten::diff", matrix, dim=0, gives=i64([[2, 2, 2]]))
    check("aten::diff", matrix, dim=1, gives=i64([[1, 1], [1, 1]]))


def test_what_stands_before_and_behind() -> None:
    check("aten::diff", f32([2.0, 5.0]), prepend=f32([1.0]), append=f32([-1.0]), gives=f32([1.0, 3.0, -6.0]))
    check("aten::diff", f32([[1.0], [4.0]]), 1, 1, f32([[0.5], [1.0]]), gives=f32([[0.5], [3.0]]))


def test_differences_of_differences() -> None:
    check("aten::diff", i64([1, 4, 9, 16]), 2, gives=i64([2, 2]))
    check("aten::diff", f64([1.0, 4.0, 9.0, 16.0, 25.0]), 3, gives=f64([0.0, 0.0]))
    check("aten::diff", u8([0, 1, 0]), 2, gives=u8([254]))
    check("aten::diff", i8([-128, 127, -128]), 2, gives=i8([2]))


def test_they_are_rounded_once() -> None:
    """1 - 2 * 2^-12 + 2^-24 in float16: the partial difference 1 - 2^-12 would be 1."""
    check("aten::diff", f16([1.0, 2**-12, 2**-24]), 2, gives=f16([1 - 2**-11]))


def test_none_and_more_than_there_are() -> None:
    check("aten::diff", f32([1.0, -0.0, nan]), 0, gives=f32([1.0, -0.0, nan]))
    for count in (3, 5):
        check("aten::diff", f32([1.0, 2.0, 4.0]), count, gives=f32([]))
    check("aten::diff", np.zeros((2, 0), np.float32), gives=np.zeros((2, 0), np.float32))


def test_zeros_infinities_and_nan() -> None:
    check("aten::diff", f32([0.0, -0.0, -0.0, 0.0]), gives=f32([-0.0, 0.0, 0.0]))
    check("aten::diff", f32([inf, inf, -inf, 1.0, nan]), gives=f32([nan, -inf, inf, nan]))
    check("aten::diff", f32([1.0, inf, 2.0, 3.0]), 2, gives=f32([-inf, inf]))
    check("aten::diff", f32([2.0**127, -(2.0**127)]), gives=f32([-inf]))
    check("aten::diff", c64([1 + 2j, 4 - 1j]), gives=c64([3 - 3j]))


def test_a_partial_difference_beyond_the_largest_number_leaves_the_result_open() -> None:
    big = float(np.finfo(np.float32).max)
    (golden,) = goldens("aten::diff", f32([big, -big, -big, -big, -(2.0**126)]), 2)
    assert (golden.open.tolist(), golden.open_rule) == ([True, False, False], "P35")


@pytest.mark.parametrize(
    ("arguments", "constraint"),
    [
        ({"self": f32(1.0)}, "rank"),
        ({"self": f32([1.0]), "n": -1}, "0 <= n"),
        ({"self": f32([1.0]), "dim": 1}, "dim"),
        ({"self": f32([1.0]), "prepend": f32(1.0)}, "rank"),
        ({"self": f32([[1.0]]), "append": f32([[1.0, 2.0]]), "dim": 0}, "size"),
    ],
)
def test_what_is_refused(arguments: dict[str, object], constraint: str) -> None:
    with pytest.raises(InvalidArguments, match=constraint):
        goldens("aten::diff", **arguments)
