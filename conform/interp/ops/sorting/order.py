"""Sorting. NaN is greater than every number (P22); zeros of both signs are equal (P24)."""

from __future__ import annotations

from functools import cache

import numpy as np

from conform.interp.blocks.blocks import fits, spans
from conform.interp.blocks.rows import Rows
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden, Ties
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.semantics import semantics
from conform.numerics.formats import FORMATS, Format, format_of


@semantics("aten::sort", along="dim", compares=True, selects=True)
def sort(self: np.ndarray, dim: int = -1, descending: bool = False) -> tuple[Golden, Golden]:
    """The elements in order along dim, and where each was; the order of equal ones is free (P23)"""
    return stable_sort(self, False, dim, descending)


@semantics("aten::sort.stable", along="dim", compares=True, selects=True)
def stable_sort(
    self: np.ndarray, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Golden, Golden]:
    """The elements in order along dim, and where each was; with stable=True equal ones keep their order"""
    fmt, axis = format_of(self), wrap_dim(dim, self.ndim)
    operand = self.reshape(1) if self.ndim == 0 else self
    rows = Rows.over(operand, (axis,), lambda some: some)
    shape = np.moveaxis(operand, axis, -1).shape
    in_order = sorted_rows(rows, descending, with_ranks=not stable)
    results = [np.moveaxis(array.reshape(shape), -1, axis).reshape(self.shape) for array in in_order]
    if stable:
        values, indices = results
        return exact(values, fmt), exact(indices, FORMATS["int64"])
    values, indices, ranks = results
    free = exact(values, fmt, zero_sign_free=fmt.is_float)
    return free, exact(indices, FORMATS["int64"], ties=Ties(axis, ranks))


@semantics("aten::argsort", along="dim", compares=True)
def argsort(self: np.ndarray, dim: int = -1, descending: bool = False) -> Golden:
    """Where the elements were that sort puts in order along dim; the order of equal ones is free (P23)"""
    return stable_sort(self, False, dim, descending)[1]


@semantics("aten::argsort.stable", along="dim", compares=True)
def stable_argsort(self: np.ndarray, stable: bool, dim: int = -1, descending: bool = False) -> Golden:
    """Where the elements were that sort puts in order along dim; with stable=True equal ones keep their order"""
    return stable_sort(self, stable, dim, descending)[1]


@semantics("aten::msort", compares=True, selects=True)
def msort(self: np.ndarray) -> Golden:
    """The elements in order along dim 0"""
    return sort(self, 0)[0]


def sorted_rows(rows: Rows, descending: bool, with_ranks: bool) -> list[np.ndarray]:
    """The elements of the rows in order, where each was, and their ranks if wanted; all [rows, n]."""
    results: list[np.ndarray] = []
    for place, some in rows.blocks():
        parts = _sorted_block(some, descending, with_ranks)
        if some.count == rows.count:
            return parts
        results = results or [np.empty((rows.count, rows.terms), part.dtype) for part in parts]
        for result, part in zip(results, parts, strict=True):
            result[place] = part
    return results


def _sorted_block(rows: Rows, descending: bool, with_ranks: bool) -> list[np.ndarray]:
    """`sorted_rows` of some rows. One that is longer than a block is sorted at once: only its outputs are made."""
    ordered = np.empty((rows.count, rows.terms), rows.source.dtype)
    order = _order(rows, descending, scratch=ordered)
    for columns in rows.columns:
        ordered[:, columns] = rows.at(order[:, columns])
    if not with_ranks:
        return [ordered, order]
    return [ordered, order, _ranks(*(part[:, ::-1] if descending else part for part in (ordered, order)))]


def _order(rows: Rows, descending: bool, scratch: np.ndarray) -> np.ndarray:
    """Where the elements of the rows in order are, equal ones in the order in which they stand. In a descending order
    the rows are sorted backwards, so that the last of equal ones comes first; numpy sorts its own NaN last."""
    fmt = format_of(scratch)
    has_table = fmt.is_float and fmt.bits <= 16
    keys = scratch.view(fmt.code_storage) if has_table else scratch
    for columns, piece in zip(rows.columns, rows.pieces, strict=True):
        part = _ranks_of_codes(fmt)[piece.view(fmt.code_storage)] if has_table else piece
        if descending:
            keys[:, rows.terms - columns.stop : rows.terms - columns.start] = part[:, ::-1]
        else:
            keys[:, columns] = part
    order = _stable_order(keys)
    if not descending:
        return order
    backwards = order[:, ::-1]
    return np.subtract(rows.terms - 1, backwards, out=backwards)


def _stable_order(keys: np.ndarray) -> np.ndarray:
    """argsort of each row, equal elements in the order in which they stand. Numpy's stable sort takes memory for half
    of its result: a row longer than a block is sorted by the other one, and then the places of equal elements."""
    if fits(keys.shape[1]):
        return np.argsort(keys, axis=1, kind="stable")
    order = np.argsort(keys, axis=1)
    for row, places in zip(keys, order, strict=True):
        start = 0  # of the elements that are equal to the last one
        for columns in spans(places.size):
            before = np.maximum(np.arange(columns.start, columns.stop) - 1, 0)
            rises = columns.start + np.flatnonzero(_rises(row[places[columns]], row[places[before]]))
            if rises.size:
                places[start : rises[0]].sort()
                start = rises[-1]
                _sort_groups(places[rises[0] : start], rises[:-1] - rises[0], places.size)
        places[start:].sort()
    return order


def _rises(here: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Whether elements are greater than those before them, not smaller; NaN is the greatest."""
    return (here != before) & ~((here != here) & (before != before))


def _sort_groups(places: np.ndarray, starts: np.ndarray, count: int) -> None:
    """Sorts the places, below `count`, of each group of equal elements, of which the next begins at each start."""
    groups = np.zeros(places.size, np.int64)
    groups[starts] = count
    numbers = np.cumsum(groups) + places
    numbers.sort()
    places[:] = numbers % count


@cache
def _ranks_of_codes(fmt: Format) -> np.ndarray:
    """The place of every code among the distinct numbers of the format, NaN last, in as many bits as a code."""
    codes = np.arange(2**fmt.bits, dtype=fmt.code_storage)
    numbers = codes.view(fmt.storage).astype(np.float64)
    return np.unique(numbers, return_inverse=True)[1].astype(fmt.code_storage)


def _ranks(ordered: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Each element's place among the distinct values of its row: equal elements share one, NaN has the highest.

    ordered: the elements in ascending order; order: where they are
    """
    ranks, reached = np.empty(order.shape, np.int64), np.zeros((len(order), 1), np.int64)
    for columns in spans(order.shape[1], len(order)):
        here = ordered[:, columns]
        before = ordered[:, np.maximum(np.arange(columns.start, columns.stop) - 1, 0)]
        steps = reached + np.cumsum(_rises(here, before), axis=1)
        np.put_along_axis(ranks, order[:, columns], steps, 1)
        reached = steps[:, -1:]
    return ranks
