"""Extremes and where they are, truth, counts; the k largest, medians; distances: literal results."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from tests.interp.ops.literal import boolean, check, check_open, f32, goldens, i64, u8

X = f32([[3, nan, -1], [2, 2, 0]])


def test_extremes() -> None:
    check("aten::amin", X, [1], gives=f32([nan, 0]))
    check("aten::aminmax", f32([2, -inf, 3]), gives=(f32(-inf), f32(3)))
    check("aten::max.dim", X, 1, True, gives=(f32([[nan], [2]]), i64([[1], [0]])))
    check("aten::min.dim", X, 0, gives=(f32([2, nan, -1]), i64([1, 0, 0])))
    check("aten::argmin", u8([[5, 0], [0, 7]]), gives=i64(1))
    check("aten::max", i64([-3, -2**63]), gives=i64(-3))
    check("aten::min", u8([200, 3]), gives=u8(3))


def test_truth_and_counts() -> None:
    check("aten::any.dim", f32([[0, -0.0], [nan, 0]]), 1, gives=boolean([False, True]))
    check("aten::all", f32(np.empty((0,))), gives=boolean(True))
    check("aten::all.dims", u8([[1, 0], [2, 3]]), [1], True, gives=u8([[0], [1]]))
    check("aten::count_nonzero.dim_IntList", f32([[0, nan], [1, 2]]), [0], gives=i64([1, 2]))
    check("aten::count_nonzero", np.array([1j, 0]), gives=i64(1))


def test_topk_and_its_freedom() -> None:
    values, indices = goldens("aten::topk", f32([[5, nan, 5, 1]]), 3)
    np.testing.assert_array_equal(values.value, f32([[nan, 5, 5]]))
    assert indices.value[0, 0] == 1
    assert set(indices.value[0, 1:]) == {0, 2}
    assert (indices.ties.count, indices.ties.repeated) == (3, False)
    check("aten::topk", f32([3, 1, 2]), 2, 0, False, gives=(f32([1, 2]), i64([1, 2])))
    (values, _) = goldens("aten::topk", f32([3, 1, 2]), 2, sorted=False)
    assert values.open.all()


def test_places_in_the_order() -> None:
    check("aten::kthvalue", f32([[4, nan, 2]]), 3, gives=(f32([nan]), i64([1])))
    check("aten::median.dim", f32([[4, 1, 3, 2]]), 1, gives=(f32([2]), i64([3])))
    check("aten::median", f32([1, nan, 2]), gives=f32(nan))
    check("aten::nanmedian", f32([1, nan, 2]), gives=f32(1))
    check("aten::nanmedian.dim", f32([[nan, nan]]), 1, gives=(f32([nan]), i64([0])))


@pytest.mark.parametrize(("p", "expected"), [(0.0, 2), (1.0, 7), (2.0, 5), (inf, 4), (0.5, np.float32(7 + 4 * 3**0.5))])
def test_distances(p: float, expected: float) -> None:
    x = f32([[1, 2, 9], [4, -2, 9]])
    check("aten::_pdist_forward", x, p, gives=f32([expected]))
    check("aten::_cdist_forward", x, x[:1], p, None, gives=f32([[0], [expected]]))


def test_distances_of_special_numbers() -> None:
    x = f32([[inf, 0], [1, nan], [inf, 1], [2, 3]])
    check("aten::_pdist_forward", x, 2.0, gives=f32([nan, nan, inf, nan, nan, inf]))
    check_open("aten::_pdist_forward", x, 0.0, gives=f32([0, 0, 2, 0, 0, 2]), rule="P115",
               where_open=[True, True, False, True, True, False])  # fmt: skip
    check("aten::_pdist_forward", f32([[1, 2]]), 2.0, gives=f32([]))
    check("aten::_cdist_forward", f32(np.empty((2, 0))), f32(np.empty((1, 0))), 2.0, None, gives=f32([[0], [0]]))


def test_a_product_may_cancel_and_overflow_where_a_difference_does_not() -> None:
    x, y = np.array([[1e20, 1.0]], np.float32), np.array([[1e20, 0.0]], np.float32)
    (difference,) = goldens("aten::_cdist_forward", x, y, 2.0, 2)
    (product,) = goldens("aten::_cdist_forward", x, y, 2.0, 1)
    assert difference.value == product.value == 1
    assert difference.budget < 1e-6
    assert product.open.all()
    (product,) = goldens("aten::_cdist_forward", x / np.float32(1e10), y / np.float32(1e10), 2.0, 1)
    assert product.budget > 1e5
