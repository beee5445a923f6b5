"""Witness calls of reading and writing at indices."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conform.selftest.agreement.draw import Draw
from conform.selftest.agreement.witnesses import Call, witness


@witness("aten::gather")
def gather(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for shape, dim, places in (
        ((6, 30), 0, (20, 30)), ((6, 30), 1, (5, 50)), ((6, 30), -1, (6, 7)), ((3, 4, 5), 1, (2, 60, 5)),
        ((3, 4, 5), -3, (50, 4, 2)), ((9,), 0, (200,)), ((3, 4), 0, (0, 4)), ((3, 0), 0, (2, 0)),
    ):  # fmt: skip
        last = max(shape[dim] - 1, 0)
        yield {"self": draw.wild(dtype, *shape), "dim": dim, "index": draw.integers(0, last, *places)}
    yield {"self": draw.wild(dtype), "dim": 0, "index": draw.integers(0, 0, 3)}
    yield {"self": draw.wild(dtype), "dim": -1, "index": draw.integers(0, 0)}
    yield {"self": draw.wild(dtype, 5, 4), "dim": 0, "index": draw.integers(0, 4, 2, 4), "sparse_grad": True}
    for index, dim in (([[4]], 0), ([[-1]], 0), ([0], 0), ([[0]], 2), (np.zeros((1, 6), np.int64), 0)):
        yield {"self": draw.wild(dtype, 4, 5), "dim": dim, "index": np.array(index)}


@witness("aten::index_put")
def index_put(_op: str, dtype: str, draw: Draw) -> Iterator[Call]:
    for accumulate in (False, True):
        for call in _index_put(dtype, draw):
            yield {**call, "accumulate": accumulate}
    yield {"self": draw.wild(dtype, 4, 5), "indices": [draw.integers(0, 3, 2), draw.integers(0, 4, 3)],
           "values": draw.wild(dtype)}  # fmt: skip


def _index_put(dtype: str, draw: Draw) -> Iterator[Call]:
    """Rows, single elements, a later dim, indices that broadcast and that are apart, masks, repeats, wrapped values."""

    def call(shape: tuple[int, ...], indices: list, values: tuple[int, ...]) -> Call:
        return {"self": draw.sparse(dtype, *shape), "indices": indices, "values": draw.sparse(dtype, *values)}

    yield call((20, 9), [draw.permutation(20)[:7]], (7, 9))
    yield call((20, 9), [draw.integers(-20, 19, 30)], (30, 9))
    yield call((20, 9), [draw.integers(0, 19, 5, 1), draw.integers(-9, 8, 6)], (5, 6))
    yield call((20, 9), [None, draw.integers(0, 8, 4)], (20, 4))
    yield call((5, 6, 7), [draw.integers(0, 4, 8), None, draw.integers(0, 6, 8)], (8, 6))
    yield call((5, 6, 7), [None, draw.integers(0, 5, 2, 1), draw.integers(0, 6, 1, 3)], (5, 2, 3))
    yield call((5, 6, 7), [draw.integers(0, 4, 3, dtype="int32")], ())
    yield call((12,), [draw.integers(0, 11, 40)], (1,))
    yield call((4, 5), [draw.integers(0, 3, 0)], (0, 5))
    yield call((4, 5), [draw.integers(0, 3)], (5,))
    mask = draw.mask(9, 8)
    yield call((9, 8), [mask], (int(mask.sum()),))
    yield call((9, 8, 3), [mask], (3,))
    yield call((7, 9, 8), [None, mask], ())
    yield call((9, 8), [draw.mask(9), draw.integers(0, 7)], ())
    yield call((9, 8), [draw.mask(9, dtype="uint8")], ())
    yield call((4, 5), [np.array([4])], (5,))
    yield call((4, 5), [np.array([-5])], (5,))
    yield call((4, 5), [np.array([0, 1])], (3, 5))
    yield call((4, 5), [np.array([0])] * 3, ())
    yield call((4, 5), [draw.mask(5)], ())
    yield {**call((4, 5), [np.array([0])], ()), "values": draw.tame("int16" if dtype != "int16" else "int32", 5)}
