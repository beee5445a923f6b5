"""Index outputs whose choice among equal elements is free (`Ties`)."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Ties


def equal_rank(expected: np.ndarray, actual: np.ndarray, ties: Ties) -> np.ndarray:
    """Whether each actual index points at an element equal to the expected one's, and none is given twice along dim.

    `expected` and `actual` have the shape of the ranks, or are those elements flattened; so is the result.
    """
    shape, ranks = actual.shape, np.atleast_1d(ties.ranks)
    expected, actual = expected.reshape(ranks.shape), actual.reshape(ranks.shape)
    inside = (actual >= 0) & (actual < ranks.shape[ties.dim])
    places = np.where(inside, actual, 0)
    equal = np.take_along_axis(ranks, places, ties.dim) == np.take_along_axis(ranks, expected, ties.dim)
    return (inside & equal & ~_repeated(actual, ties.dim)).reshape(shape)


def _repeated(indices: np.ndarray, dim: int) -> np.ndarray:
    """Whether the same index stands earlier along dim."""
    order = np.argsort(indices, axis=dim, kind="stable")
    ordered = np.take_along_axis(indices, order, dim)
    again = np.zeros(indices.shape, bool)
    later, earlier = [slice(None)] * indices.ndim, [slice(None)] * indices.ndim
    later[dim], earlier[dim] = slice(1, None), slice(None, -1)
    again[tuple(later)] = ordered[tuple(later)] == ordered[tuple(earlier)]
    repeated = np.empty_like(again)
    np.put_along_axis(repeated, order, again, dim)
    return repeated
