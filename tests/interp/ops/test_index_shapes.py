"""Where the dimensions of indices stand among those that are taken whole; numpy's own indexing is the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from conform.interp.evaluate import evaluate

SHAPE = (2, 3, 4, 5)
INDICES = {
    "1-d": lambda size: np.arange(2) % size,
    "column": lambda size: np.arange(2)[:, None] % size,
    "0-d": lambda size: np.array(-1),
}


def patterns() -> list[tuple[str | None, ...]]:
    """Every way to give up to four dimensions an index or None, the kinds of index in turn."""
    found = []
    for length in range(1, 5):
        for given in itertools.product((True, False), repeat=length):
            kinds = itertools.cycle(INDICES)
            found.append(tuple(next(kinds) if is_given else None for is_given in given))
    return [one for one in found if any(one)]


@pytest.mark.parametrize("pattern", patterns(), ids=lambda one: "-".join(map(str, one)))
def test_every_pattern_of_indices_and_none(pattern: tuple[str | None, ...]) -> None:
    """Adjacent indices leave their dimensions in place, those with None between them put theirs first."""
    indices = [None if kind is None else INDICES[kind](size) for kind, size in zip(pattern, SHAPE, strict=False)]
    place = tuple(slice(None) if index is None else index for index in indices)
    expected = np.zeros(SHAPE, np.int64)
    values = 1 + np.arange(expected[place].size).reshape(expected[place].shape)
    expected[place] = values
    (golden,) = evaluate("aten::index_put", [np.zeros(SHAPE, np.int64), indices, values], {}).goldens
    assert golden.value.tolist() == expected.tolist()
    assert golden.open is None
