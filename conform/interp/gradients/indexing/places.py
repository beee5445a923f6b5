"""Gradients of ops that read and write at places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conform.interp.gradients.kinks import zeros
from conform.interp.gradients.rules import gradient, moved
from conform.interp.program.apply import apply
from conform.interp.program.number import Number

moved(
    "aten::gather", "aten::index_select", "aten::index.Tensor", "aten::take", "aten::take_along_dim",
    "aten::masked_select", "aten::scatter.value", "aten::index_fill.int_Scalar", of=("self",),
)  # fmt: skip
moved("aten::scatter.src", of=("self", "src"))
moved("aten::index_copy", "aten::masked_scatter", of=("self", "source"))


@gradient("aten::scatter_add", of=("self", "src"))
def scatter_add(g: Number, dim: int, index: Number, src: Number) -> Any:
    """g, and of src g at the places index"""
    beyond = [(0, size - read) for size, read in zip(src.shape, index.shape, strict=True)]
    gathered = g.gather(dim, index)
    return g, gathered.moved(lambda part: np.pad(part, beyond)) if beyond else gathered


@gradient("aten::index_add", of=("self", "source"))
def index_add(g: Number, self: Number, dim: int, index: Number, source: Number, alpha: float) -> Any:
    """g, and of source g alpha at the places index"""
    whole = g if g.ndim else g.moved(lambda part: part.reshape(1))
    chosen = whole.index_select(dim, index.moved(lambda part: part.reshape(-1)))
    chosen = chosen if alpha == 1 else chosen * alpha
    return g, chosen.moved(lambda part: part.reshape(source.shape))


@gradient("aten::embedding", of=("weight",))
def embedding(g: Number, weight: Number, indices: Number, padding_idx: int, scale_grad_by_freq: bool) -> Number:
    """of a row the sum of g where it is named, of padding_idx 0; with scale_grad_by_freq over how often it is"""
    return apply("aten::embedding_dense_backward", g, indices, weight.shape[0], padding_idx, scale_grad_by_freq)


@gradient("aten::index_put", of=("self", "values"))
def index_put(g: Number, indices: Any, values: Number, accumulate: bool, self: Number) -> Any:
    """of values g where they are put; of self g, but 0 where they are, unless they are added"""
    at = _without_masks(indices)
    of_values = apply("aten::index.Tensor", g, at)
    if accumulate:
        return g, of_values
    kept = apply("aten::index_put", np.ones(self.shape, bool), at, np.zeros((), bool))
    return apply("aten::where.self", kept.array, g, zeros(g)), of_values


def _without_masks(indices: Sequence[Number | None]) -> list[np.ndarray | None]:
    """Index tensors, with the places of its True elements for a mask."""
    found: list[np.ndarray | None] = []
    for one in indices:
        is_mask = one is not None and one.array.dtype in (np.bool_, np.uint8)
        found += [*np.nonzero(one.array)] if is_mask else [None if one is None else one.array]
    return found
