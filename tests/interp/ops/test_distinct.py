"""Distinct slices: of a tensor, and those that differ from the one before."""

from __future__ import annotations

from math import nan

import pytest

from conform.errors import InvalidArguments
from conform.interp.golden import Golden
from tests.interp.ops.literal import boolean, f32, goldens, i64, shown


def results(op: str, *args: object) -> list[str]:
    return [_result(golden) for golden in goldens(op, *args)]


def _result(golden: Golden) -> str | None:
    return None if golden.is_none else "anything" if golden.undocumented else shown(golden.value)


def test_unique_dim() -> None:
    """Slices in lexicographic order."""
    x = i64([[2, 1], [1, 9], [2, 1], [1, 3]])
    assert results("aten::unique_dim", x, 0, True, True, True) == [
        "int64[3, 2] [[1, 3], [1, 9], [2, 1]]", "int64[4] [2, 1, 2, 0]", "int64[3] [1, 1, 2]"
    ]  # fmt: skip
    assert results("aten::unique_dim", x, -1)[1:] == [None, None]
    assert results("aten::unique_dim", boolean([[True, True]]), 1, True, True) == [
        "bool[1, 1] [[True]]", "int64[2] [0, 0]", None
    ]  # fmt: skip


def test_zeros_are_equal_nan_has_no_place_and_the_order_is_open_without_sorted() -> None:
    values, inverse, _ = goldens("aten::unique_dim", f32([[0.0], [-0.0]]), 0, True, True)
    assert (values.value.shape, values.zero_sign_free, inverse.value.tolist()) == ((1, 1), True, [0, 0])
    assert results("aten::unique_dim", f32([[nan], [1.0]]), 0, True, True, True) == ["anything"] * 3
    assert results("aten::unique_dim", f32([[nan], [1.0]]), 0) == ["anything", None, None]
    assert all(golden.open.all() for golden in goldens("aten::unique_dim", i64([[2], [1]]), 0, False, True, True))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_no_slices(shape: tuple[int, int]) -> None:
    empty = i64([[1] * 3] * 3)[: shape[0], : shape[1]]
    dim = shape.index(0)
    assert results("aten::unique_dim", empty, dim, True, True, True)[1:] == ["int64[0] []", "int64[0] []"]
    with pytest.raises(InvalidArguments, match="slices have no elements"):
        goldens("aten::unique_dim", empty, 1 - dim)


def test_consecutive() -> None:
    """torch.unique_consecutive's example; NaN differs from itself."""
    x = i64([1, 1, 2, 2, 3, 1, 1, 2])
    assert results("aten::unique_consecutive", x, True, True) == [
        "int64[5] [1, 2, 3, 1, 2]", "int64[8] [0, 0, 1, 1, 2, 3, 3, 4]", "int64[5] [2, 2, 1, 2, 1]"
    ]  # fmt: skip
    assert results("aten::unique_consecutive", f32([[nan, nan], [1.0, 1.0]]), True)[:2] == [
        "float32[3] [nan, nan, 1.0]", "int64[2, 2] [[0, 1], [2, 2]]"
    ]  # fmt: skip
    rows = i64([[1, 2], [1, 2], [1, 3]])
    expected = ["int64[2, 2] [[1, 2], [1, 3]]", "int64[3] [0, 0, 1]", "int64[2] [2, 1]"]
    assert results("aten::unique_consecutive", rows, True, True, 0) == expected
    assert results("aten::unique_dim_consecutive", rows, -2, True, True) == expected
