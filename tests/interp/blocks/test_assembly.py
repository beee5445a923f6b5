"""Goldens put together of parts."""

from __future__ import annotations

import numpy as np
import pytest

from conform.interp.blocks import blocks
from conform.interp.blocks.assembly import Assembly
from conform.interp.blocks.tiles import by_tiles
from conform.interp.golden import Golden
from conform.numerics.formats import FORMATS


def golden(*numbers: int) -> Golden:
    return Golden(FORMATS["int64"], np.array(numbers))


def test_parts_beside_alternatives_stand_for_them() -> None:
    whole = Assembly(4)
    whole.fill(slice(0, 1), golden(1).opened(np.array([True]), "P1"))
    whole.fill(slice(1, 3), golden(2, 3).or_else(golden(20, 30)))
    whole.fill(slice(3, 4), golden(4))
    found = whole.golden()
    assert (found.value.tolist(), found.open.tolist()) == ([1, 2, 3, 4], [True, False, False, False])
    (other,) = found.alternatives
    assert (other.value.tolist(), other.open.tolist(), other.open_rule) == ([1, 20, 30, 4], found.open.tolist(), "P1")


def test_alternatives_keep_their_format() -> None:
    whole, half = Assembly(2), FORMATS["float16"]
    for place in range(2):
        whole.fill(slice(place, place + 1), golden(place).or_else(Golden(half, np.array([place + 0.5], np.float16))))
    found = whole.golden()
    (other,) = found.alternatives
    assert (found.format.name, found.value.tolist()) == ("int64", [0, 1])
    assert (other.format.name, other.value.dtype, other.value.tolist()) == ("float16", np.float16, [0.5, 1.5])


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 40), (40, 1), (7, 9)])
@pytest.mark.parametrize("width", [1, 3, 100])
def test_tiles_cover_a_matrix(shape: tuple[int, int], width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK", 8)
    numbers = np.arange(shape[0] * shape[1]).reshape(shape)
    sizes = []

    def tile(rows: slice, columns: slice) -> Golden:
        sizes.append(numbers[rows, columns].size)
        return Golden(FORMATS["int64"], numbers[rows, columns])

    np.testing.assert_array_equal(by_tiles(tile, shape, width).value, numbers)
    assert max(sizes) <= 8
