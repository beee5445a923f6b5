"""The three factors of what LU factors in one matrix hold: only moved."""

from __future__ import annotations

from math import prod

import numpy as np

from conform.interp.golden import Golden
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of


def elements_of_factors(shape: tuple[int, ...]) -> int:
    """Those of P, L and U."""
    if len(shape) < 2:
        return 0
    rows, columns = shape[-2:]
    return prod(shape[:-2]) * (rows * rows + min(rows, columns) * (rows + columns))


@semantics("aten::lu_unpack", elements=lambda arguments: elements_of_factors(np.shape(arguments["LU_data"])))
def lu_unpack(
    LU_data: np.ndarray, LU_pivots: np.ndarray, unpack_data: bool, unpack_pivots: bool
) -> tuple[Golden, Golden, Golden]:
    """P, the transpose of an identity of which row i was exchanged with that of place LU_pivots[i], counted from 1, one
    i after the other; L, what is below the diagonal of LU_data, and 1 on it; U, the others. Without unpack_pivots P is
    empty, without unpack_data L and U are."""
    fmt = format_of(LU_data)
    nothing = Golden(fmt, np.empty(0, LU_data.dtype))
    lower, upper = _factors(LU_data) if unpack_data else (nothing, nothing)
    return Golden(fmt, _permutations(LU_data, LU_pivots)) if unpack_pivots else nothing, lower, upper


def _factors(both: np.ndarray) -> tuple[Golden, Golden]:
    steps, fmt = min(both.shape[-2:]), format_of(both)
    ones = np.eye(both.shape[-2], steps, dtype=both.dtype)
    lower = np.where(np.tri(*ones.shape, -1, dtype=bool), both[..., :steps], ones)
    is_upper = ~np.tri(steps, both.shape[-1], -1, dtype=bool)
    return Golden(fmt, lower), Golden(fmt, np.where(is_upper, both[..., :steps, :], np.zeros((), both.dtype)))


def _permutations(both: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    """1 at the row of the matrix that stands in each place of the factors, which is the column."""
    rows = both.shape[-2]
    order = np.broadcast_to(np.arange(rows), (*pivots.shape[:-1], rows)).copy()
    for step in range(pivots.shape[-1]):
        place = pivots[..., step : step + 1].astype(np.int64) - 1
        other = np.take_along_axis(order, place, -1)
        np.put_along_axis(order, place, order[..., step : step + 1].copy(), -1)
        order[..., step : step + 1] = other
    return (order[..., None, :] == np.arange(rows)[:, None]).astype(both.dtype)
