"""Pooling beyond avg_pool2d, its gradients, and columns, by hand."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import InvalidArguments
from tests.interp.ops.literal import check, f32, goldens, i64

IMAGE = [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]


def test_averages_of_other_ranks() -> None:
    check("aten::avg_pool1d", f32([[1.0, 3.0, 8.0]]), [2], [1], gives=f32([[2.0, 5.5]]))
    check("aten::avg_pool3d", f32([[[[1.0, 3.0]], [[5.0, 7.0]]]]), [2, 1, 2], gives=f32([[[[4.0]]]]))


def test_adaptive_windows_overlap() -> None:
    """Of 3 elements in 2 windows: the first two and the last two."""
    check("aten::adaptive_avg_pool1d", f32([[1.0, 3.0, 8.0]]), [2], gives=f32([[2.0, 5.5]]))
    check("aten::_adaptive_avg_pool2d", f32(IMAGE), [2, 1], gives=f32([[[3.5], [6.5]]]))
    check("aten::_adaptive_avg_pool3d", f32([IMAGE]), [1, 1, 3], gives=f32([[[[4.0, 5.0, 6.0]]]]))


def test_gradients_of_averages() -> None:
    grad = f32([[[4.0, 8.0], [0.0, 0.0]]])
    check("aten::avg_pool2d_backward", grad, f32(IMAGE), [2, 2], [1, 1], [0, 0], False, True, None,
          gives=f32([[[1.0, 3.0, 2.0], [1.0, 3.0, 2.0], [0.0, 0.0, 0.0]]]))  # fmt: skip
    check("aten::_adaptive_avg_pool2d_backward", f32([[[6.0], [12.0]]]), f32(IMAGE),
          gives=f32([[[1.0] * 3, [3.0] * 3, [2.0] * 3]]))  # fmt: skip


def test_maxima_and_where_they_stand() -> None:
    values, places = goldens("aten::max_pool2d_with_indices", f32(IMAGE), [2, 2], [1, 1])
    assert values.value.tolist() == [[[5.0, 6.0], [8.0, 9.0]]]
    assert places.value.tolist() == [[[4, 5], [7, 8]]]
    check("aten::max_pool1d", f32([[-1.0, -2.0, nan]]), [2], [1], gives=f32([[-1.0, nan]]))
    check("aten::max_pool3d", f32([[[[-1.0, -2.0]]]]), [1, 1, 2], padding=[0, 0, 1], gives=f32([[[[-1.0, -2.0]]]]))
    values, places = goldens("aten::adaptive_max_pool2d", f32(IMAGE), [1, 2])
    assert (values.value.tolist(), places.value.tolist()) == ([[[8.0, 9.0]]], [[[7, 8]]])


def test_of_equal_maxima_the_place_is_open() -> None:
    _, places = goldens("aten::max_pool2d_with_indices", f32([[[0.0, -0.0, nan, 1.0, nan, nan]]]), [1, 2])
    assert places.open.tolist() == [[[True, False, True]]]
    assert places.value[0, 0, 1] == 2


def test_a_window_in_the_padding() -> None:
    """Taps at -1 and 2 of two elements."""
    values, places = goldens("aten::max_pool2d_with_indices", f32([[[1.0, 2.0]]]), [1, 2], [1, 1], [0, 1], [1, 3])
    assert (values.value.tolist(), places.open.tolist()) == ([[[-inf]]], [[[True]]])
    values, _ = goldens("aten::max_pool2d_with_indices", i64([[[1, 2]]]), [1, 2], [1, 1], [0, 1], [1, 3])
    assert values.open.all()


def test_gradient_of_maxima_adds_up_what_has_the_index() -> None:
    grad, places = f32([[[1.0, 2.0], [4.0, 8.0]]]), i64([[[4, 4], [4, 8]]])
    check("aten::max_pool2d_with_indices_backward", grad, f32(IMAGE), [2, 2], [1, 1], [0, 0], [1, 1], False, places,
          gives=f32([[[0.0, 0.0, 0.0], [0.0, 7.0, 0.0], [0.0, 0.0, 8.0]]]))  # fmt: skip


def test_gradient_of_maxima_is_open_at_an_index_that_its_window_has_not() -> None:
    """Windows of elements 0 and 2, and of 2 (4 is in the padding), of four images of one line."""
    places = i64([[[0, 2]], [[2, 2]], [[1, 2]], [[0, 0]]])
    found = goldens("aten::max_pool2d_with_indices_backward", np.ones((4, 1, 2), np.float32), np.zeros((4, 1, 4), "f4"),
                    [1, 2], [1, 2], [0, 0], [1, 2], True, places)[0]  # fmt: skip
    assert found.open[:, 0].tolist() == [[False] * 4, [False] * 4, [False, True, False, False], [True] + [False] * 3]
    assert found.open_rule == "P125"
    assert found.value[:2, 0].tolist() == [[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 2.0, 0.0]]


def test_columns_and_back() -> None:
    options = {"kernel_size": [2, 2], "dilation": [1, 1], "padding": [0, 0], "stride": [1, 1]}
    columns = [[1.0, 2.0, 4.0, 5.0], [2.0, 3.0, 5.0, 6.0], [4.0, 5.0, 7.0, 8.0], [5.0, 6.0, 8.0, 9.0]]
    check("aten::im2col", f32(IMAGE), **options, gives=f32(columns))
    check("aten::col2im", f32(columns), [3, 3], **options,
          gives=f32([[[1.0, 4.0, 3.0], [8.0, 20.0, 12.0], [7.0, 16.0, 9.0]]]))  # fmt: skip
    many = np.tile(f32(columns), (100, 1))  # the four taps of each of 100 channels
    assert goldens("aten::col2im", many, [3, 3], **options)[0].value.shape == (100, 3, 3)
    padded = {**options, "padding": [1, 0], "dilation": [2, 1]}
    found = goldens("aten::im2col", f32(IMAGE), **padded)[0].value
    assert found.shape == (4, 6)
    assert np.count_nonzero(found[:2, :2]) == 0


def test_unpooling() -> None:
    maxima, places = f32([[[1, -2], [inf, nan]]]), i64([[[0, 3], [5, 8]]])
    check("aten::max_unpool2d", maxima, places, [3, 3], gives=f32([[[1, 0, 0], [-2, 0, inf], [0, 0, nan]]]))
    volume = f32([[[[1, 2]]], [[[3, 4]]]])
    numbers = i64([[[[1, 0]]], [[[2, 1]]]])
    found = f32([[[[2, 1, 0]]], [[[0, 4, 3]]]])
    check("aten::max_unpool3d", volume, numbers, [1, 1, 3], [1, 1, 1], [0, 0, 0], gives=found)
    (golden,) = goldens("aten::max_unpool2d", f32([[[1, 2]]]), i64([[[1, 1]]]), [1, 2])
    assert (golden.open.tolist(), golden.open_rule) == ([[[False, True]]], "P25")
    with pytest.raises(InvalidArguments):
        goldens("aten::max_unpool2d", maxima, places, [2, 2])
