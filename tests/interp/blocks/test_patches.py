"""What windows meet, by hand."""

from __future__ import annotations

import numpy as np
import pytest

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
