"""Rows of a table: embedding and its gradient."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from conform.interp.golden import Golden
from conform.interp.ops.indexing.advanced import elements_at
from conform.interp.ops.indexing.places import Places, Writes
from conform.interp.ops.indexing.scattering import with_terms
from conform.interp.ops.indexing.written import counts_of, reduced_rows, sums_of_writes
from conform.interp.ops.reduction.statistics import mean_of_rows
from conform.interp.semantics import semantics
from conform.numerics.formats import format_of


def _table(arguments: Mapping[str, Any]) -> int:
    return np.size(arguments["indices"]) * prod(np.shape(arguments["weight"])[1:])


@semantics("aten::embedding", selects=True, ignores=("padding_idx", "scale_grad_by_freq", "sparse"), elements=_table)
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
    counted = indices.reshape(-1) != padding_idx
    table = np.zeros((num_weights, rows.shape[1]), fmt.storage)
    writes = Writes(table.shape, [indices.reshape(-1)[counted]], rows[counted])
    if not scale_grad_by_freq:
        return sums_of_writes(table, fmt, writes)
    of_rows = lambda some: with_terms(mean_of_rows(fmt, some), some)  # noqa: E731
    return reduced_rows(table, writes, counts_of(writes, table.size), False, of_rows)
