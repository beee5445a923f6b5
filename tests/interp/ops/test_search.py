"""Places in sorted sequences, distinct numbers, counts and intervals."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments, Unjudged
from conform.interp.evaluate import evaluate
from tests.interp.ops.literal import bf16, boolean, check, check_open, f16, f32, f64, goldens, i8, i32, i64, shown, u8


def test_searchsorted() -> None:
    """torch.searchsorted's examples."""
    rows, values = i64([[1, 3, 5, 7, 9], [2, 4, 6, 8, 10]]), i64([[3, 6, 9], [3, 6, 9]])
    check("aten::searchsorted.Tensor", rows, values, gives=i64([[1, 3, 4], [1, 2, 4]]))
    check("aten::searchsorted.Tensor", rows, values, side="right", gives=i64([[2, 3, 5], [1, 3, 4]]))
    check("aten::searchsorted.Tensor", rows, values, right=True, gives=i64([[2, 3, 5], [1, 3, 4]]))
    check("aten::searchsorted.Tensor", i64([1, 3, 5, 7, 9]), values, gives=i64([[1, 3, 4], [1, 3, 4]]))


def test_searchsorted_of_equal_numbers_infinities_and_zeros() -> None:
    row = f32([-inf, -0.0, 0.0, 0.0, 2.0, inf, inf])
    values = f32([-inf, 0.0, -0.0, 1.0, inf, -1.0])
    check("aten::searchsorted.Tensor", row, values, gives=i64([0, 1, 1, 4, 5, 1]))
    check("aten::searchsorted.Tensor", row, values, out_int32=True, right=True, gives=i32([1, 4, 4, 4, 7, 1]))
    check("aten::searchsorted.Tensor", f32([]), values[:2], gives=i64([0, 0]))
    check("aten::searchsorted.Tensor", u8([0, 255]), u8(255), side="right", gives=i64(2))
    check("aten::searchsorted.Tensor", i64([-(2**63), 2**53, 2**53 + 1]), i64([2**53 + 1]), gives=i64([2]))


def test_a_sorter_names_the_order() -> None:
    rows, order = bf16([[3.0, 1.0, 2.0], [1.0, 3.0, 2.0]]), i64([[1, 2, 0], [0, 2, 1]])
    check("aten::searchsorted.Tensor", rows, bf16([[2.5, 0.0], [2.0, 3.5]]), sorter=order, gives=i64([[2, 0], [1, 3]]))
    check_open("aten::searchsorted.Tensor", rows, bf16([[2.5], [2.0]]), sorter=i64([[0, 1, 2], [0, 2, 1]]),
               gives=i64([[0], [1]]), where_open=[[True], [False]], rule="P141")  # fmt: skip


@pytest.mark.parametrize("blocks", [None, 4])
def test_where_places_are_open(blocks: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """P141: sequences that do not ascend or have a NaN, and NaN; a lone element ascends."""
    if blocks:
        monkeypatch.setattr("conform.interp.blocks.blocks.BLOCK", blocks)
    rows = f32([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0], [1.0, 2.0, nan], [5.0, 5.0, 5.0], [nan, 1.0, 2.0]])
    check_open("aten::searchsorted.Tensor", rows, f32([[2.0, nan]] * 5), gives=i64([[1, 0], *[[0, 0]] * 4]),
               where_open=[[False, True], [True, True], [True, True], [False, True], [True, True]],
               rule="P141")  # fmt: skip
    check_open("aten::bucketize.Tensor", f32([nan, 0.5]), f32([nan]), gives=i64([0, 0]), where_open=[True, True],
               rule="P141")  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        {"right": True, "side": "left"},
        {"side": "middle"},
        {"sorter": np.array([0, 2])},
        {"sorter": np.array([0], np.int32)},
        {"sorter": np.array([0, 0, 3])},
    ],
)
def test_searchsorted_refuses(arguments: dict) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::searchsorted.Tensor", f32([1.0, 2.0, 3.0]), f32([1.0]), **arguments)


def test_searchsorted_takes_one_dtype_and_rows_that_fit() -> None:
    with pytest.raises(Unjudged, match="promotes"):
        goldens("aten::searchsorted.Tensor", f32([1.0, 2.0]), f64([1.0]))
    with pytest.raises(InvalidArguments):
        goldens("aten::searchsorted.Tensor", f32([[1.0, 2.0]]), f32([[1.0], [2.0]]))


def test_bucketize() -> None:
    """torch.bucketize's examples."""
    values, boundaries = i64([[3, 6, 9], [3, 6, 9]]), i64([1, 3, 5, 7, 9])
    check("aten::bucketize.Tensor", values, boundaries, gives=i64([[1, 3, 4], [1, 3, 4]]))
    check("aten::bucketize.Tensor", values, boundaries, right=True, gives=i64([[2, 3, 5], [2, 3, 5]]))
    check("aten::bucketize.Tensor", f16([[], []]), f16([1.0]), out_int32=True, gives=i32([[], []]))


def unique(*args: object) -> list[str | None]:
    return [None if golden.is_none else shown(golden.value) for golden in goldens("aten::_unique2", *args)]


def test_unique() -> None:
    """torch.unique's example: 1, 3, 2, 3."""
    three = "int64[3] "
    assert unique(i64([1, 3, 2, 3]), True, True, True) == [
        three + "[1, 2, 3]", "int64[4] [0, 2, 1, 2]", three + "[1, 1, 2]"
    ]  # fmt: skip
    assert unique(i64([[1, 3], [2, 3]]), True, True) == [
        three + "[1, 2, 3]", "int64[2, 2] [[0, 2], [1, 2]]", None
    ]  # fmt: skip
    assert unique(u8([255, 0, 255])) == ["uint8[2] [0, 255]", None, None]
    assert unique(boolean([True, True]), True, False, True) == ["bool[1] [True]", None, "int64[1] [2]"]
    assert unique(i8(7), True, True, True) == ["int8[1] [7]", "int64[] 0", "int64[1] [1]"]
    assert unique(f32([]), True, True, True) == ["float32[0] []", "int64[0] []", "int64[0] []"]


def test_each_nan_is_an_element_of_its_own_behind_the_numbers() -> None:
    values, inverse, counts = goldens("aten::_unique2", f32([nan, inf, -0.0, nan, 0.0, inf]), True, True, True)
    assert shown(values.value) in ("float32[4] [-0.0, inf, nan, nan]", "float32[4] [0.0, inf, nan, nan]")
    assert values.zero_sign_free
    assert inverse.value[[1, 2, 4, 5]].tolist() == [1, 0, 0, 1]
    assert (inverse.open.tolist(), inverse.open_rule) == ([True, False, False, True, False, False], "P142")
    assert counts.value.tolist() == [2, 2, 1, 1]


def test_without_sorted_the_order_is_open() -> None:
    values, inverse, _ = goldens("aten::_unique2", f32([2.0, 1.0]), False, True)
    assert values.open.all()
    assert inverse.open.all()
    assert goldens("aten::_unique2", f32([2.0, 2.0]), False)[0].open is None


def test_bincount() -> None:
    """torch.bincount's examples, with the weights 0, 1/4 .. 1."""
    numbers = i64([4, 3, 6, 3, 4])
    check("aten::bincount", numbers, gives=i64([0, 0, 0, 2, 2, 0, 1]))
    check("aten::bincount", numbers, f32([0.0, 0.25, 0.5, 0.75, 1.0]), gives=f32([0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.5]))
    check("aten::bincount", u8([1, 255]), None, 3, gives=i64([0, 1, *[0] * 253, 1]))
    check("aten::bincount", i8([1]), f64([nan]), 3, gives=f64([0.0, nan, 0.0]))
    check("aten::bincount", i32([]), gives=i64([]))
    check("aten::bincount", i32([]), None, 2, gives=i64([0, 0]))


def test_weights_are_added_up_exactly() -> None:
    check("aten::bincount", i64([0] * 4), f32([1.0, 2.0**-24, 2.0**-24, -1.0]), gives=f32([2.0**-23]))
    check_open("aten::bincount", i64([0, 0, 1]), f32([2.0**127, 2.0**127, 1.0]),
               gives=f32([0.0, 1.0]), where_open=[True, False], rule="P35")  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "arguments"), [(i64([-1]), {}), (i64([[1]]), {}), (f32([1.0]), {}), (i64([1]), {"minlength": -1})]
)
def test_bincount_refuses(numbers: np.ndarray, arguments: dict) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::bincount", numbers, **arguments)


def test_histc() -> None:
    """torch.histc's example: 1, 2, 1 in 4 intervals from 0 to 3."""
    check("aten::histc", f32([1.0, 2.0, 1.0]), 4, 0, 3, gives=f32([0.0, 2.0, 1.0, 0.0]))
    check("aten::histc", f32([[1.0, 2.0], [1.0, 4.0]]), 3, gives=f32([2.0, 1.0, 1.0]))  # from 1 to 4, its end included
    check("aten::histc", f64([-1.0, 0.0, 3.0, 3.5, nan, inf, -inf]), 3, 0, 3, gives=f64([1.0, 0.0, 1.0]))
    check("aten::histc", f32([]), 2, gives=f32([0.0, 0.0]))
    check("aten::histc", bf16([0.5] * 259), 1, 0, 1, gives=bf16([260.0]))  # 259 is a tie, to even


def test_ends_of_intervals_that_rounding_cannot_move_are_sharp() -> None:
    """Of ten intervals between 0 and 10 every end is a number; of those between 0 and 1 none but 0, 1/2 and 1."""
    (golden,) = goldens("aten::histc", f32([0.0, 1.0, 3.0, 9.0, 10.0]), 10, 0, 10)
    assert golden.value.tolist() == [1, 1, 0, 1, 0, 0, 0, 0, 0, 2]
    assert not golden.budget.any()
    (golden,) = goldens("aten::histc", np.float32([0.3, 0.25]), 10, 0.0, 1.0)  # 0.3 of float32 is 0.30000001
    assert golden.value.tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0, 0]
    assert golden.budget.tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0, 0]


def test_every_number_is_counted_where_exact_arithmetic_has_it() -> None:
    random = np.random.default_rng(0)
    x = np.concatenate([random.uniform(-3, 3, 500), np.float64(np.float32(np.linspace(-2, 1, 31)))]).astype(np.float32)
    low, high, bins = Fraction(-2), Fraction(1), 30
    exact = [0] * bins
    for number in map(Fraction, x.tolist()):
        if low <= number <= high:
            exact[min(int((number - low) * bins / (high - low)), bins - 1)] += 1
    (golden,) = goldens("aten::histc", x, bins, -2, 1)
    assert golden.value.tolist() == exact
    steps = (x - np.float32(-2)) * np.float32(bins) / np.float32(3)  # one honest way
    found = np.bincount(np.minimum(steps[(x >= -2) & (x <= 1)].astype(int), bins - 1), minlength=bins)
    ends = np.linspace(-2, 1, bins + 1, dtype=np.float32)  # and another
    other = np.bincount(np.minimum(np.searchsorted(ends, x[(x >= -2) & (x <= 1)], "right") - 1, bins - 1), minlength=30)
    for counts in (found, other):
        assert (np.abs(counts - golden.value) <= golden.budget).all()


@pytest.mark.parametrize("data", [[1.0, 1.0], [nan, 1.0], [inf, 1.0], [0.0, -0.0]])
def test_data_without_a_range_leave_the_counts_open(data: list[float]) -> None:
    outcome = evaluate("aten::histc", [f32(data), 2], {})
    assert (outcome.refusal, outcome.goldens[0].open_rule) == ("P144", "P144")
    assert outcome.goldens[0].open.all()


@pytest.mark.parametrize("arguments", [{"bins": 0}, {"min": 2, "max": 1}, {"min": 1}, {"min": -inf, "max": 1}])
def test_histc_refuses(arguments: dict) -> None:
    with pytest.raises((InvalidArguments, Unjudged)):
        goldens("aten::histc", f32([1.0, 2.0]), **arguments)


def test_one_hot() -> None:
    """torch.nn.functional.one_hot's examples."""
    check("aten::one_hot", i64([0, 1, 2, 0, 1]),
          gives=i64([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0]]))  # fmt: skip
    check("aten::one_hot", i64([0, 1, 2, 0]), 5,
          gives=i64([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [1, 0, 0, 0, 0]]))  # fmt: skip
    check("aten::one_hot", i64([[0, 1], [2, 0], [1, 2]]),
          gives=i64([[[1, 0, 0], [0, 1, 0]], [[0, 0, 1], [1, 0, 0]], [[0, 1, 0], [0, 0, 1]]]))  # fmt: skip
    check("aten::one_hot", i64(1), gives=i64([0, 1]))
    check("aten::one_hot", np.empty((0, 2), np.int64), 3, gives=np.empty((0, 2, 3), np.int64))


@pytest.mark.parametrize(
    ("classes", "count"), [(i64([3]), 3), (i64([0]), 0), (i64([-1]), -1), (i64([]), -1), (i64([]), 0), (i32([1]), 2),
     (np.uint8([1]), -1)],
)
def test_one_hot_refuses(classes: np.ndarray, count: int) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::one_hot", classes, count)


def test_take_along_dim() -> None:
    """torch.take_along_dim's examples."""
    t = i64([[10, 30, 20], [60, 40, 50]])
    check("aten::take_along_dim", t, i64([[1]]), gives=i64([30]))
    check("aten::take_along_dim", t, i64(3), gives=i64([60]))
    check("aten::take_along_dim", t, i64([[0, 2, 1], [1, 2, 0]]), 1, gives=i64([[10, 20, 30], [40, 50, 60]]))


def test_take_along_dim_broadcasts_the_other_dims() -> None:
    t = f32([[1.0, -0.0, nan], [4.0, 5.0, inf]])
    check("aten::take_along_dim", t, i64([[2, 0]]), -1, gives=f32([[nan, 1.0], [inf, 4.0]]))
    check("aten::take_along_dim", t[:1], i64([[0, 1], [2, 2]]), 1, gives=f32([[1.0, -0.0], [nan, nan]]))
    check("aten::take_along_dim", t, i64([[1], [0], [1]]), 0,
          gives=f32([[4.0, 5.0, inf], [1.0, -0.0, nan], [4.0, 5.0, inf]]))  # fmt: skip
    check("aten::take_along_dim", f32(3.0), i64([0, 0]), gives=f32([3.0, 3.0]))


@pytest.mark.parametrize(("indices", "dim"), [([[2]], 0), ([0], 0), ([[0, 0]], 0), ([6], None), ([[0]], 2)])
def test_take_along_dim_refuses(indices: list, dim: int | None) -> None:
    with pytest.raises(InvalidArguments):
        goldens("aten::take_along_dim", i64([[10, 30, 20], [60, 40, 50]]), np.array(indices), dim)


def test_isin() -> None:
    check("aten::isin.Tensor_Tensor", i64([[1, 2], [3, 4]]), i64([4, 1]), gives=boolean([[True, False], [False, True]]))
    check("aten::isin.Tensor_Tensor", f32([nan, -0.0, 1]), f32([nan, 0.0]), gives=boolean([False, True, False]))
    check("aten::isin.Tensor_Tensor", f32([1]), f32([]), invert=True, gives=boolean([True]))
    check("aten::isin.Tensor_Tensor", i64([16777217, 2]), f32([16777216]), gives=boolean([True, False]))
    check("aten::isin.Tensor_Scalar", i8([1, 2]), 2, gives=boolean([False, True]))
    check("aten::isin.Tensor_Scalar", i8([1, 2]), 1.5, invert=True, gives=boolean([True, True]))
    check("aten::isin.Scalar_Tensor", 2.5, f16([2.5, 1]), gives=boolean(True))
