"""What windows meet, by hand, and that leaving out taps that meet nothing changes no result."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import conform
from conform.interp.blocks.patches import Patches, Windows

TAPS, PLACES = np.arange(2), np.arange(4)


@pytest.mark.parametrize(
    ("windows", "expected"),
    [
        (Windows(5, stride=1, padding=0), [[0, 1, 2, 3], [1, 2, 3, 4]]),
        (Windows(5, stride=2, padding=1), [[None, 1, 3, None], [0, 2, 4, None]]),
        (Windows(5, stride=1, padding=1, dilation=3), [[None, 0, 1, 2], [2, 3, 4, None]]),
        (Windows(2, stride=2, padding=0, transposed=True), [[0, None, 1, None], [None, 0, None, 1]]),
        (Windows(2, stride=1, padding=1, transposed=True), [[1, None, None, None], [0, 1, None, None]]),
        (Windows(2, stride=2, padding=1, dilation=2, transposed=True), [[None, 1, None, None], [None, 0, None, 1]]),
    ],
)
def test_the_coordinates_that_taps_meet(windows: Windows, expected: list[list[int | None]]) -> None:
    coordinates, there = windows.met(TAPS, PLACES)
    assert [[c if t else None for c, t in zip(*row, strict=True)] for row in zip(coordinates, there, strict=True)] == (
        expected
    )
    assert not coordinates[~there].any()  # any index of the input will do


def patches(groups: int, transposed: bool) -> Patches:
    input_, weight = np.arange(8).reshape(1, 4, 2), np.arange(16).reshape(4, 4 // groups, groups)
    return Patches(input_, weight, [Windows(2, 1, 0, 1, transposed)], [3 if transposed else 1], groups)


def test_the_terms_of_a_group() -> None:
    (pair,) = patches(2, transposed=False).at(slice(0, 1)).pairs(slice(3, 4))
    assert pair.weights.tolist() == [[12, 13, 14, 15]]
    assert pair.inputs.tolist() == [[4], [5], [6], [7]]
    (pair,) = patches(2, transposed=True).at(slice(0, 2)).pairs(slice(2, 4))
    assert pair.weights.tolist() == [[8, 9, 12, 13], [10, 11, 14, 15]]
    assert pair.inputs.tolist() == [[4, 5], [0, 4], [6, 7], [0, 6]]
    assert pair.gaps.tolist() == [[False, False], [True, False]] * 2


def test_outputs_by_group() -> None:
    assert list(patches(2, transposed=False).by_group(slice(1, 4))) == [slice(1, 2), slice(2, 4)]
    assert list(patches(1, transposed=False).by_group(slice(1, 4))) == [slice(1, 4)]


@pytest.mark.parametrize("transposed", [False, True])
def test_taps_from_the_first_to_the_last_that_meets_an_element_are_reached(transposed: bool) -> None:
    for size, stride, padding, dilation, kernel in product((1, 4), (1, 3), (0, 2, 7), (1, 2), (1, 3, 8)):
        windows = Windows(size, stride, padding, dilation, transposed)
        for first, last in ((0, 0), (0, 6), (3, 9), (12, 12)):
            places = np.arange(first, last + 1)
            meeting = np.flatnonzero(windows.met(np.arange(kernel), places)[1].any(1))
            reached = windows.reached(kernel, places)
            assert len(reached) >= 1
            assert set(meeting) <= set(reached) <= set(range(kernel))


def test_a_kernel_that_is_far_longer_than_the_input() -> None:
    """Each element spreads the kernel: result[x] = sum of input[i] * weight[x - i]."""
    x, weight = np.arange(1, 4).astype(np.float32), np.arange(5000).astype(np.float32)
    result = conform.golden("aten::conv_transpose1d", x[None], weight[None, None]).value[0]
    assert result.tolist() == np.convolve(x.astype(int), weight.astype(int)).tolist()
    result = conform.golden("aten::conv1d", x[None], weight[None, None], None, [1], [4999]).value[0]
    assert result.tolist() == np.convolve(x.astype(int), weight[::-1].astype(int)).tolist()


def test_an_infinite_weight_counts_where_it_meets_nothing() -> None:
    """P39: 0 * inf is NaN to those who add zeros around the input, at all places but those of the last two elements."""
    weight = np.ones(300, np.float32)
    weight[0] = np.inf
    golden = conform.golden("aten::conv1d", np.ones((1, 2), np.float32), weight[None, None], None, [1], [299])
    assert golden.outcome.goldens[0].open[0].tolist() == [True] * 299 + [False] * 2
    assert golden.value[0, -3:].tolist() == [2.0, np.inf, np.inf]
