"""What variants that write give: the results of the overload that returns them, in a tensor that can hold them."""

from __future__ import annotations

import numpy as np
import pytest

import conform
from conform.errors import InvalidArguments, Unjudged

ONE_TWO = np.float32([1, 2])
SAME_SHAPE, OTHER_SHAPE, EMPTY = np.zeros(2, np.float32), np.zeros(3, np.float32), np.zeros(0, np.float32)


@pytest.mark.parametrize(("op", "arguments", "expected"), [
    ("aten::add_.Tensor", (ONE_TWO, np.float32([10, 20])), [11, 22]),
    ("aten::add_.Tensor", (ONE_TWO, np.float16([10, 20])), [11, 22]),  # the common dtype is that of self
    ("aten::mul_.Scalar", (ONE_TWO, 3), [3, 6]),
    ("aten::cumsum_", (ONE_TWO, 0), [1, 3]),
    ("aten::masked_fill_.Scalar", (ONE_TWO, np.array([True, False]), -1.0), [-1, 2]),
    ("aten::eq_.Tensor", (np.array([True, False]), np.float32([1, 1])), [True, False]),
])  # fmt: skip
def test_in_place(op: str, arguments: tuple, expected: list) -> None:
    found = conform.golden(op, *arguments).value
    assert found.tolist() == expected
    assert found.dtype == arguments[0].dtype


@pytest.mark.parametrize("out", [SAME_SHAPE, EMPTY, np.full(2, np.nan, np.float32)])
def test_out(out: np.ndarray) -> None:
    """What stands in it is not read; one of no elements gets the shape."""
    assert conform.golden("aten::add", ONE_TWO, ONE_TWO, out=out).value.tolist() == [2, 4]


def test_several_results() -> None:
    values, indices = conform.golden(
        "aten::sort.values", np.float32([3, 1]), values=np.float32([0, 0]), indices=np.int64([0, 0])
    ).value
    assert (values.tolist(), indices.tolist()) == ([1, 3], [1, 0])


@pytest.mark.parametrize(("op", "arguments", "said"), [
    ("aten::add_.Tensor", (np.int64([1]), ONE_TWO[:1]), r"argument self: found .*int64\[1\].*, expected dtype\(self\)"),
    ("aten::add_.Tensor", (np.float32([1]), np.complex64([1])), r"expected dtype\(self\)"),
    ("aten::div_.Tensor", (np.int64([4]), np.int64([2])), r"expected dtype\(self\)"),  # 2.0 is no integer
    ("aten::add_.Tensor", (np.float32([1]), ONE_TWO), r"expected size\(self, d\)"),
    ("aten::add_.Tensor", (np.float32(1), ONE_TWO), r"expected rank\(self\)"),
    ("aten::add_.Tensor", (ONE_TWO, OTHER_SHAPE), "aten::add.Tensor"),  # what no overload takes
])  # fmt: skip
def test_what_cannot_hold_the_result_is_refused(op: str, arguments: tuple, said: str) -> None:
    with pytest.raises(InvalidArguments, match=said):
        conform.golden(op, *arguments)


def test_a_number_is_no_place_for_a_result() -> None:
    with pytest.raises(InvalidArguments, match="self: found a Python number"):
        conform.golden("aten::add_.Tensor", 2.0, ONE_TWO)


def test_an_integer_is_no_place_for_floats() -> None:
    with pytest.raises(InvalidArguments, match=r"argument out: .* expected dtype\(out\)"):
        conform.golden("aten::exp", ONE_TWO, out=np.int64([0, 0]))


@pytest.mark.parametrize("out", [OTHER_SHAPE, np.zeros(2, np.float64)])
def test_what_is_converted_or_resized_is_not_judged(out: np.ndarray) -> None:
    with pytest.raises(Unjudged, match=r"\(torch (converts|resizes)"):
        conform.golden("aten::exp.out", ONE_TWO, out=out)


def test_a_half_tensor_does_not_hold_what_is_promoted() -> None:
    with pytest.raises(Unjudged, match="converts"):
        conform.golden("aten::add_.Tensor", np.float16([1]), np.float32([1]))

