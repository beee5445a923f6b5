"""What appears most often."""

from __future__ import annotations

from math import nan

import numpy as np
import pytest

from conform.contracts.indices import equal_rank
from conform.errors import InvalidArguments
from tests.interp.ops.literal import boolean, c64, f32, goldens, i8, i64, shown

MATRIX = [
    [0, 0, 0, 2, 0, 0, 2],
    [0, 3, 0, 0, 2, 0, 1],
    [2, 2, 2, 0, 0, 0, 3],
    [2, 2, 3, 0, 1, 1, 0],
    [1, 1, 0, 0, 2, 0, 2],
]


def is_right(index: int, row: np.ndarray) -> bool:
    (_, golden) = goldens("aten::mode", row)
    return bool(equal_rank(golden.value, np.array(index), golden.ties))


def test_the_documentations_example() -> None:
    """Its answer, of which the first and fifth value are one of two that stand in the column twice."""
    values, indices = goldens("aten::mode", i64(MATRIX), 0)
    assert values.value[[1, 2, 3, 5, 6]].tolist() == [2, 0, 0, 0, 2]
    assert (values.open.tolist(), values.open_rule) == ([True, False, False, False, True, False, False], "P150")
    assert indices.open is None
    assert equal_rank(indices.value, np.array([1, 3, 4, 4, 2, 4, 4]), indices.ties).all()


@pytest.mark.parametrize(
    ("row", "value", "right"),
    [
        (f32([1.0, 2.0, 2.0]), "float32[] 2.0", [1, 2]),
        (f32([nan, 2.0, 1.0, 2.0]), "float32[] 2.0", [1, 3]),
        (f32([nan, nan]), "float32[] nan", [0, 1]),
        (f32([5.0]), "float32[] 5.0", [0]),
        (i8([-128, 127, -128]), "int8[] -128", [0, 2]),
        (boolean([True, False, True]), "bool[] True", [0, 2]),
    ],
)
def test_rows_with_one_answer(row: np.ndarray, value: str, right: list[int]) -> None:
    values, indices = goldens("aten::mode", row)
    assert (shown(values.value), values.open, indices.open) == (value, None, None)
    assert [index for index in range(len(row)) if is_right(index, row)] == right
    assert not is_right(-1, row)
    assert not is_right(len(row), row)


def test_a_value_as_frequent_as_another_is_open_and_its_index_is_judged() -> None:
    row = f32([3.0, 0.0, 3.0, 7.0, -0.0])
    values, indices = goldens("aten::mode", row)
    assert (bool(values.open), values.open_rule, indices.open) == (True, "P150", None)
    assert [index for index in range(5) if is_right(index, row)] == [0, 1, 2, 4]


def test_as_many_nans_as_of_the_most_frequent_number_leave_both_open() -> None:
    for row in ([nan, 1.0], [nan, nan, 2.0, 2.0, 1.0]):
        assert [bool(golden.open) for golden in goldens("aten::mode", f32(row))] == [True, True]


def test_shapes() -> None:
    matrix = i64([[1, 1, 2], [3, 3, 3]])
    assert shown(goldens("aten::mode", matrix, 1, True)[0].value) == "int64[2, 1] [[1], [3]]"
    assert shown(goldens("aten::mode", matrix, -1)[0].value) == "int64[2] [1, 3]"
    assert [golden.value.shape for golden in goldens("aten::mode", f32(4.0))] == [(), ()]
    assert [golden.value.shape for golden in goldens("aten::mode", np.zeros((0, 3), np.float32), 1)] == [(0,), (0,)]


@pytest.mark.parametrize("operand", [c64([1j, 1j]), np.zeros((3, 0), np.float32)], ids=["complex", "no element"])
def test_what_is_refused(operand: np.ndarray) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::mode", operand)
