"""Rows of a table: embedding, its gradient, and bags of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.blocks.assembly import Assembly
from conform.interp.blocks.blocks import everywhere, spans
from conform.interp.blocks.rows import Rows
from conform.interp.golden import Golden
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.indexing.advanced import elements_at
from conform.interp.ops.indexing.places import Places, Writes
from conform.interp.ops.indexing.scattering import with_terms
from conform.interp.ops.indexing.written import reduced_rows, sums_of_writes
from conform.interp.ops.reduction.statistics import mean_of_rows
from conform.interp.ops.reduction.sums import sum_of_rows, sums_of
from conform.interp.semantics import semantics
from conform.numerics import accumulate
from conform.numerics.digits import Digits, decide_digits, dots
from conform.numerics.formats import Format, format_of

SUM, MEAN, MAX = range(3)
ABOUT_THE_GRADIENT = ("scale_grad_by_freq", "sparse")


def _table(arguments: Mapping[str, Any]) -> int:
    return np.size(arguments["indices"]) * prod(np.shape(arguments["weight"])[1:])


@semantics("aten::embedding", selects=True, ignores=("padding_idx", *ABOUT_THE_GRADIENT), elements=_table)
def embedding(weight: np.ndarray, indices: np.ndarray) -> Golden:
    """The rows weight[indices] (P26); the other arguments are about the gradient"""
    return elements_at(weight, Places(weight.shape, [indices]))


def _gradient(arguments: Mapping[str, Any]) -> int:
    return arguments["num_weights"] * (np.shape(arguments["grad_output"]) or (1,))[-1]


@semantics("aten::embedding_dense_backward", elements=_gradient)
def embedding_dense_backward(
    grad_output: np.ndarray, indices: np.ndarray, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Golden:
    """Row i is the sum of the rows of grad_output whose index is i, over their number if scale_grad_by_freq; the row
    padding_idx is 0 (P3, P26)"""
    fmt, rows = format_of(grad_output), grad_output.reshape(indices.size, grad_output.shape[-1])
    table = np.broadcast_to(fmt.storage.type(0), (num_weights, rows.shape[1]))
    writes = Writes(table.shape, *_counted(indices.reshape(-1), rows, padding_idx))
    if not scale_grad_by_freq:
        return sums_of_writes(table, fmt, writes)

    def of_rows(some: Rows) -> Golden:
        mean = mean_of_rows(fmt, some)  # a kernel may multiply every term by the inverse, which no grid survives
        return with_terms(replace(mean, grid=None), some)

    return reduced_rows(table, writes, False, of_rows)


def _counted(indices: np.ndarray, rows: np.ndarray, padding_idx: int) -> tuple[list[np.ndarray], np.ndarray]:
    """([the indices], the rows) of those that are not padding; a copy only where some are."""
    if everywhere(lambda some: some != padding_idx, indices):
        return [indices], rows
    counted = indices != padding_idx
    return [indices[counted]], rows[counted]


# Bags


def _bags(arguments: Mapping[str, Any]) -> int:
    return np.size(arguments["offsets"]) * prod(np.shape(arguments["weight"])[1:])


@semantics("aten::_embedding_bag", ignores=ABOUT_THE_GRADIENT, elements=_bags)
def embedding_bag(
    weight: np.ndarray,
    indices: np.ndarray,
    offsets: np.ndarray,
    mode: int = SUM,
    per_sample_weights: np.ndarray | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Golden, ...]:
    """The sum (mode 0), mean (1) or largest elements (2) of the rows weight[indices[offsets[b]:offsets[b + 1]]] of each
    bag b, without those of index padding_idx, 0 of an empty bag; a sum is weighed by per_sample_weights. Of the other
    results nothing is documented (P3, P4, P5, P26, P111)"""
    ends = np.append(offsets, [indices.size] * (not include_last_offset)).astype(np.int64)
    if np.any(ends[1:] < ends[:-1]) or (ends.size > 1 and ends[0] != 0) or ends[-1] != indices.size:
        raise Unjudged("offsets that do not rise from 0 to the number of indices (P111)")
    counted = np.flatnonzero(indices != padding_idx)
    firsts = np.searchsorted(counted, ends)  # of each bag, among those that count
    fmt, count, width = format_of(weight), ends.size - 1, weight.shape[1]
    whole = Assembly(count, width)
    for bags, length, columns in _of_one_length(np.diff(firsts), width):
        used = counted[firsts[bags][:, None] + np.arange(length)]
        factors = None if per_sample_weights is None else per_sample_weights[used]
        part = _of_bags(fmt, weight[:, columns][indices[used]], mode, factors)
        whole.fill((bags, columns), part)
    result = whole.golden() if count * width else exact(np.zeros((count, width)), fmt)
    return result, *[Golden.of_nothing_documented("P111")] * 3


@semantics("aten::embedding_bag", ignores=ABOUT_THE_GRADIENT, elements=_bags)
def embedding_bag_of_all(
    weight: np.ndarray,
    indices: np.ndarray,
    offsets: np.ndarray,
    mode: int = SUM,
    per_sample_weights: np.ndarray | None = None,
    include_last_offset: bool = False,
) -> tuple[Golden, ...]:
    """As _embedding_bag, of which every index counts (P111)"""
    return embedding_bag(weight, indices, offsets, mode, per_sample_weights, include_last_offset)


@semantics("aten::embedding_bag.padding_idx", ignores=ABOUT_THE_GRADIENT, elements=_bags)
def embedding_bag_with_padding(
    weight: np.ndarray,
    indices: np.ndarray,
    offsets: np.ndarray,
    mode: int,
    per_sample_weights: np.ndarray | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> tuple[Golden, ...]:
    """As embedding_bag, without the rows of index padding_idx, counted from the end where it is negative (P111)"""
    padding = -1 if padding_idx is None else padding_idx % len(weight)
    return embedding_bag(weight, indices, offsets, mode, per_sample_weights, include_last_offset, padding)


def _of_one_length(lengths: np.ndarray, width: int) -> Iterator[tuple[np.ndarray, int, slice]]:
    """(some bags, of how many rows each is, some columns of them), that fit a block as far as the bags do."""
    for length in np.unique(lengths):
        bags = np.flatnonzero(lengths == length)
        for columns in spans(width, max(int(length), 1)):
            for some in spans(bags.size, max(int(length), 1) * (columns.stop - columns.start)):
                yield bags[some], int(length), columns


def _of_bags(fmt: Format, elements: np.ndarray, mode: int, factors: np.ndarray | None) -> Golden:
    """The golden [bags, width] of bags of the rows `elements` [bags, rows, width], of which each has its factor."""
    bags, length, width = elements.shape
    if length == 0:
        elements, factors = np.zeros((bags, 1, width)), None
    of_bags = np.ascontiguousarray(elements.transpose(0, 2, 1))
    rows = Rows(of_bags, bags * width, max(length, 1))
    if mode == MAX:
        golden = exact(rows.largest()[:, 0].astype(fmt.storage), fmt, zero_sign_free=True)
    elif factors is not None:
        golden = _weighed_sums(fmt, rows, np.repeat(factors.astype(np.float64), width, axis=0))
    else:
        golden = (mean_of_rows if mode == MEAN else sum_of_rows)(fmt, rows)
    return with_terms(golden, rows).rearranged(lambda part: part.reshape(bags, width))


def _weighed_sums(fmt: Format, rows: Rows, factors: np.ndarray) -> Golden:
    """The sums of the products of each row's elements and its factors [rows, terms], rounded once."""

    def exactly(index: Sequence[np.ndarray]) -> Digits:
        (some,) = index
        return dots((piece[some].T, its[some].T) for piece, its in pairs)

    pairs = rows.pieces.map(lambda piece, its: (piece, its), rows.beside(lambda _, columns: factors[:, columns]))
    total = accumulate.dot_of(pairs)
    return sums_of(fmt, total, *decide_digits(fmt, total.real, total.terms, exactly))
