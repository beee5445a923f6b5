"""Sorting. NaN is greater than every number (P22); zeros of both signs are equal (P24)."""

from __future__ import annotations

import numpy as np

from conform.errors import InvalidArguments
from conform.interp.blocks import flat, spans
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden, Ties
from conform.interp.numerics.formats import FORMATS, format_of
from conform.interp.ops.elementwise import exact
from conform.interp.registry import semantics


@semantics("aten::sort")
def sort(self: np.ndarray, dim: int = -1, descending: bool = False) -> tuple[Golden, Golden]:
    """The elements in order along dim, and where each was; the order of equal ones is free (P23)"""
    return stable_sort(self, False, dim, descending)


@semantics("aten::sort.stable")
def stable_sort(
    self: np.ndarray, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Golden, Golden]:
    """The elements in order along dim, and where each was; with stable=True equal ones keep their order"""
    fmt, axis = format_of(self), wrap_dim(dim, self.ndim)
    if fmt.is_complex:
        raise InvalidArguments(f"sort is not defined for {fmt.name}")
    operand = self.reshape(1) if self.ndim == 0 else self
    last = operand.ndim - 1
    rows = operand.transpose([*range(axis), *range(axis + 1, last + 1), axis])
    back = [*range(axis), last, *range(axis, last)]
    sorted_rows = _sorted(rows, descending, with_ranks=not stable)
    results = [array.reshape(rows.shape).transpose(back).reshape(self.shape) for array in sorted_rows]
    if stable:
        values, indices = results
        return exact(values, fmt), exact(indices, FORMATS["int64"])
    values, indices, ranks = results
    free = exact(values, fmt, zero_sign_free=fmt.is_float)
    return free, exact(indices, FORMATS["int64"], ties=Ties(axis, ranks))


def _sorted(rows: np.ndarray, descending: bool, with_ranks: bool) -> list[np.ndarray]:
    """The elements of rows [..., n] in order, where each was, and their ranks if wanted; all of shape [rows, n]."""
    n = rows.shape[-1]
    count = rows.size // n if n else 0
    results: list[np.ndarray] = []
    for place in spans(count, n):
        elements = flat(rows, slice(place.start * n, place.stop * n)).reshape(place.stop - place.start, n)
        parts = _sorted_block(elements, descending, with_ranks)
        if len(elements) == count:
            return parts
        results = results or [np.empty((count, n), part.dtype) for part in parts]
        for result, part in zip(results, parts, strict=True):
            result[place] = part
    return results


def _sorted_block(rows: np.ndarray, descending: bool, with_ranks: bool) -> list[np.ndarray]:
    """`_sorted` of rows [k, n]. A row longer than a block is sorted at once: of floats of 16 bits or less, of a strided
    row and for a descending order that takes a copy."""
    order, ordered = _order(rows, descending), np.empty(rows.shape, rows.dtype)
    for columns in spans(rows.shape[1], len(rows)):
        ordered[:, columns] = np.take_along_axis(rows, order[:, columns], 1)
    if not with_ranks:
        return [ordered, order]
    return [ordered, order, _ranks(*(part[:, ::-1] if descending else part for part in (ordered, order)))]


def _order(rows: np.ndarray, descending: bool) -> np.ndarray:
    """Where the elements of rows [k, n] in order are, equal ones in the order in which they stand."""
    fmt = format_of(rows)
    keys = rows.astype(np.float32) if fmt.is_float and fmt.bits <= 16 else rows  # numpy sorts its own NaN last
    if not descending:
        return np.argsort(keys, axis=1, kind="stable")
    backwards = np.argsort(keys[:, ::-1], axis=1, kind="stable")[:, ::-1]  # the last of equal ones comes first
    return np.subtract(rows.shape[1] - 1, backwards, out=backwards)


def _ranks(ordered: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Each element's place among the distinct values of its row: equal elements share one, NaN has the highest.

    ordered: the elements in ascending order; order: where they are
    """
    ranks, reached = np.empty(order.shape, np.int64), np.zeros((len(order), 1), np.int64)
    for columns in spans(order.shape[1], len(order)):
        here = ordered[:, columns]
        before = ordered[:, np.maximum(np.arange(columns.start, columns.stop) - 1, 0)]
        rises = (here != before) & ~((here != here) & (before != before))
        steps = reached + np.cumsum(rises, axis=1)
        np.put_along_axis(ranks, order[:, columns], steps, 1)
        reached = steps[:, -1:]
    return ranks
