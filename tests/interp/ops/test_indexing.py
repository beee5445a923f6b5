"""Reading and writing at indices."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.blocks import blocks
from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import boolean, check, check_open, f16, f32, goldens, i8, i32, i64, u8


def test_gather() -> None:
    """torch.gather's example."""
    check("aten::gather", i64([[1, 2], [3, 4]]), 1, i64([[0, 0], [1, 0]]), gives=i64([[1, 1], [4, 3]]))
    check("aten::gather", f32([[nan, -0.0], [inf, 1.0]]), -2, i64([[1, 0]]), gives=f32([[inf, -0.0]]))
    check("aten::gather", i8(5), 0, i64([0, 0]), gives=i8([5, 5]))
    check("aten::gather", i8([[1, 2]]), 0, i64([[], []]), gives=i8([[], []]))


@pytest.mark.parametrize(("dim", "index"), [(1, [[2]]), (1, [[-1]]), (0, [0]), (2, [[0]]), (0, [[0, 0, 0]])])
def test_gather_refuses(dim: int, index: list) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::gather", i64([[1, 2], [3, 4]]), dim, i64(index))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.uint8, np.bool_, np.float32])
def test_an_index_of_another_dtype_is_refused(dtype: type) -> None:
    with pytest.raises(InvalidArguments, match=r"\(index\) in {int64, int32}$"):
        goldens("aten::gather", i64([[1, 2], [3, 4]]), 1, np.ones((1, 1), dtype))
    if dtype not in (np.uint8, np.bool_):  # masks
        with pytest.raises(InvalidArguments, match=r"\(indices\[i\]\) in {int64, int32, bool, uint8}$"):
            goldens("aten::index_put", i64([1, 2]), [np.ones(1, dtype)], i64([3]))


def test_index_put() -> None:
    zeros = i64([[0, 0, 0], [0, 0, 0]])
    check("aten::index_put", zeros, [i64([0, 1]), i64([2, -3])], i64([5, 6]), gives=i64([[0, 0, 5], [6, 0, 0]]))
    check("aten::index_put", zeros, [i64([1])], i64([1, 2, 3]), gives=i64([[0, 0, 0], [1, 2, 3]]))
    check("aten::index_put", zeros, [None, i32([0])], i64(7), gives=i64([[7, 0, 0], [7, 0, 0]]))
    check(
        "aten::index_put",
        zeros,
        [i64([[0], [1]]), i64([0, 2])],
        i64([[1, 2], [3, 4]]),
        gives=i64([[1, 0, 2], [3, 0, 4]]),
    )


def test_index_put_at_masks() -> None:
    mask = boolean([[True, False, True], [False, True, False]])
    check("aten::index_put", i8([[0, 0, 0], [0, 0, 0]]), [mask], i8([1, 2, 3]), gives=i8([[1, 0, 2], [0, 3, 0]]))
    check("aten::index_put", i8([[0, 0], [0, 0]]), [u8([0, 1])], i8([1, 2]), gives=i8([[0, 0], [1, 2]]))


def test_index_put_puts_broadcast_dims_first_where_the_indices_are_apart() -> None:
    values = i64([[1, 2], [3, 4]])  # [indices, the dim between]
    check(
        "aten::index_put",
        i64([[[0, 0], [0, 0]]]),
        [i64([0, 0]), None, i64([0, 1])],
        values,
        gives=i64([[[1, 3], [2, 4]]]),
    )


def test_index_put_of_repeated_indices() -> None:
    check_open("aten::index_put", i8([0, 9, 0]), [i64([0, 0, 2])], i8([1, 2, 3]), gives=i8([0, 9, 3]),
               where_open=[True, False, False], rule="P25")  # fmt: skip
    check("aten::index_put", i8([100, 9]), [i64([0, 0, 0])], i8([20, 20, 20]), accumulate=True, gives=i8([-96, 9]))
    check(
        "aten::index_put",
        boolean([False, True]),
        [i64([0, 1])],
        boolean([True, False]),
        accumulate=True,
        gives=boolean([True, True]),
    )


def test_index_put_accumulates_the_real_sum() -> None:
    # 2048 + 1 + 1 in float16: rounded after each addition it would stay 2048.
    check(
        "aten::index_put",
        f16([2048.0, inf]),
        [i64([0, 0, 1])],
        f16([1.0, 1.0, -inf]),
        accumulate=True,
        gives=f16([2050.0, nan]),
    )


@pytest.mark.parametrize("block", [1, 2, 1 << 16])
def test_many_writes_to_one_element(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By blocks of elements: those with few writes, and one with more than are looked up at once."""
    monkeypatch.setattr(blocks, "BLOCK", block)
    places, values = i64([3] * 20 + [0, -1] + [3] * 20), f32([1.0] * 20 + [2.0, -4.0] + [0.25] * 20)
    (golden,) = goldens("aten::index_put", f32([1.0, 5.0, 0.0, inf, 7.0]), [places], values, accumulate=True)
    assert golden.value.tolist() == [3.0, 5.0, 0.0, inf, 3.0]
    assert golden.terms.tolist() == [1, 0, 0, 40, 1]
    (golden,) = goldens("aten::index_put", f32([0.0] * 5), [places], values, accumulate=True)
    assert golden.value.tolist() == [2.0, 0.0, 0.0, 25.0, -4.0]
    check_open("aten::index_put", f32([0.0] * 5), [places], values, gives=f32([2.0, 0.0, 0.0, 0.25, -4.0]),
               where_open=[False, False, False, True, False], rule="P25")  # fmt: skip


def test_index_put_refuses() -> None:
    operand = i64([[1, 2], [3, 4]])
    for indices, values in (
        ([i64([2])], i64(0)),
        ([i64([-3])], i64(0)),
        ([i64([0]), i64([0]), i64([0])], i64(0)),
        ([i64([0, 1]), i64([0, 1, 0])], i64(0)),
        ([boolean([True])], i64(0)),
        ([i64([0])], i64([1, 2, 3])),
        ([i64([0])], f32(0.0)),
    ):
        with pytest.raises(InvalidArguments):
            goldens("aten::index_put", operand, indices, values)


def test_index_put_with_a_0d_mask_is_not_judged() -> None:
    with pytest.raises(Unjudged, match="0-d mask"):
        evaluate("aten::index_put", [np.float32([1, 2]), [np.array(True)], np.float32([3])], {})
