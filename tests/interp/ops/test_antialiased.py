"""Antialiased interpolation, the nearest element by centres, and adaptive maxima: weights that a hand can compute."""

from __future__ import annotations

from math import inf, nan

import numpy as np
import pytest

from conform.errors import Unjudged
from tests.interp.ops.literal import check, check_open, f32, f64, goldens, i64

LINEAR, CUBIC = "aten::_upsample_bilinear2d_aa", "aten::_upsample_bicubic2d_aa"


def test_a_filter_is_as_wide_as_the_step() -> None:
    """The centre of the first half is at 1, two wide: weights 3, 3 and 1 of 7. Keys' cubic at 1/4, 3/4 and 5/4 is 111,
    29 and -9 of 128."""
    check(LINEAR, f32([[[[7.0, 14.0, 21.0, 28.0]]]]), [1, 2], False, gives=f32([[[[12.0, 23.0]]]]))
    check(CUBIC, f32([[[[121.0, 0.0, 0.0, 0.0]]]]), [1, 2], False, gives=f32([[[[55.5, -4.5]]]]))
    square = np.outer([121.0, 0.0, 0.0, 0.0], [121.0, 0.0, 0.0, 0.0])
    check(CUBIC, f64([[square]]), [2, 2], False, gives=f64([[np.outer([55.5, -4.5], [55.5, -4.5])]]))


def test_where_it_enlarges_it_is_one_wide() -> None:
    row = f32([[[[0.0, 8.0]]]])
    check(LINEAR, row, [1, 4], False, gives=f32([[[[0.0, 2.0, 6.0, 8.0]]]]))
    check(LINEAR + ".vec", row, None, False, [1.5, 2.0], gives=f32([[[[0.0, 2.0, 6.0, 8.0]]]]))
    check(LINEAR, row, [3, 2], False, gives=f32([[[[0.0, 8.0]] * 3]]))


@pytest.mark.parametrize("op", [LINEAR, CUBIC])
def test_equal_elements_stay(op: str) -> None:
    for shape, size in (((1, 2, 7, 3), [3, 5]), ((1, 1, 1, 65_539), [1, 3]), ((0, 1, 2, 2), [3, 3])):
        check(op, np.full(shape, 0.7, np.float32), size, False, gives=np.full((*shape[:2], *size), 0.7, np.float32))


def test_an_infinity_at_the_end_of_the_support_is_open() -> None:
    """Three wide, the centre of the first of two in six is at 3/2: its support ends at 9/2, the middle of element 4."""
    row = f32([[[[1.0, 1.0, 1.0, 1.0, inf, 1.0]]]])
    check_open(LINEAR, row, [1, 2], False, gives=f32([[[[0.0, inf]]]]), where_open=[[[[True, False]]]], rule="P145")
    check(LINEAR, f32([[[[1.0, nan, 1.0, 1.0, 1.0, 1.0]]]]), [1, 3], False, gives=f32([[[[nan, nan, 1.0]]]]))
    check_open(LINEAR, f32([[[[1.0, 1.0, 1.0, inf]]]]), [1, 4], False, gives=f32([[[[1.0, 1.0, 0.0, inf]]]]),
               where_open=[[[[False, False, True, False]]]], rule="P145")  # fmt: skip


def test_what_rounding_loses_is_within_the_bound() -> None:
    """The separable form in float32, rounded after every step, as kernels have it."""
    draw = np.random.default_rng(0)
    image = draw.normal(size=(2, 3, 29, 41)).astype(np.float32)
    (golden,) = goldens(LINEAR, image, [7, 11], False)
    rows = _weights(29, 7) @ image.astype(np.float32)
    found = (rows @ _weights(41, 11).T).astype(np.float32)
    error = np.abs(found.astype(np.float64) - golden.value)
    assert (error <= golden.budget + np.spacing(np.abs(golden.value))).all()
    assert golden.budget.max() < 2e-4
    missed = (_weights(29, 7) @ image @ np.roll(_weights(41, 11), 1, axis=1).T).astype(np.float64)
    assert (np.abs(missed - golden.value) > golden.budget).mean() > 0.9


def _weights(size: int, count: int) -> np.ndarray:
    step = np.float32(size) / np.float32(count)
    centres = (np.arange(count, dtype=np.float32) + np.float32(0.5)) * step
    distances = np.abs(np.arange(size, dtype=np.float32) + np.float32(0.5) - centres[:, None]) / step
    weights = np.maximum(np.float32(1) - distances, np.float32(0))
    return weights / weights.sum(axis=1, keepdims=True)


def test_aligned_corners_are_not_judged() -> None:
    with pytest.raises(Unjudged, match="aligned corners are defined for no filter"):
        goldens(LINEAR, f32([[[[1.0, 2.0]]]]), [1, 1], True)


def test_the_nearest_element_by_centres() -> None:
    """The centres of two thirds are at 3/4 and 9/4; mode "nearest" takes 0 and 3/2."""
    row = f32([[[1.0, 2.0, 3.0]]])
    check("aten::_upsample_nearest_exact1d", row, [2], gives=f32([[[1.0, 3.0]]]))
    check("aten::upsample_nearest1d", row, [2], gives=f32([[[1.0, 2.0]]]))
    check("aten::_upsample_nearest_exact1d.vec", row, None, [1.5], gives=f32([[[1.0, 2.0, 2.0, 3.0]]]))
    check("aten::_upsample_nearest_exact2d", f32([[[[1.0, 2.0, 3.0]]]]), [2, 2], gives=f32([[[[1.0, 3.0]] * 2]]))


def test_adaptive_maxima() -> None:
    row = f32([[1.0, 4.0, 3.0, 2.0, nan]])
    check("aten::adaptive_max_pool1d", row, [2], gives=(f32([[4.0, nan]]), i64([[1, 4]])))
    cube = f64(np.arange(8.0).reshape(1, 2, 2, 2))
    check("aten::adaptive_max_pool3d", cube, [1, 1, 2], gives=(f64([[[[6.0, 7.0]]]]), i64([[[[6, 7]]]])))
    check("aten::adaptive_avg_pool3d", cube, [1, 1, 2], gives=f64([[[[3.0, 4.0]]]]))


def test_means_of_the_smallest_numbers_are_rounded_once() -> None:
    """Halves: 3/2 and 5/2 of the smallest number are ties. Of 3, 3 and 1 sevenths, 4 and 3/7 of it, and 4."""
    least = 5e-324
    check(LINEAR, f64([[[[least, 2 * least], [least, 2 * least]]]]), [1, 1], False, gives=f64([[[[2 * least]]]]))
    check(LINEAR, f64([[[[least, 4 * least], [least, 4 * least]]]]), [1, 1], False, gives=f64([[[[2 * least]]]]))
    row = f64([[[[least, 9 * least, least, 5 * least]]]])
    check(LINEAR, row, [1, 2], False, gives=f64([[[[4 * least, 4 * least]]]]))
    equal = np.full((1, 1, 4, 4), 3 * least)
    check(CUBIC, equal, [3, 3], False, gives=np.full((1, 1, 3, 3), 3 * least))
