"""Gradients of ops that read and write at places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from conform.interp.gradients.kinks import kinked, zeros
from conform.interp.gradients.rules import gradient, moved
from conform.interp.program.apply import apply
from conform.interp.program.number import Number

moved(
    "aten::gather", "aten::index_select", "aten::index.Tensor", "aten::take", "aten::take_along_dim",
    "aten::masked_select", "aten::scatter.value", "aten::index_fill.int_Scalar", of=("self",),
)  # fmt: skip
moved("aten::masked_scatter", of=("self", "source"))


def _line(x: Number) -> Number:
    """A 0-d tensor as one of one dimension."""
    return x if x.ndim else x.moved(lambda part: part.reshape(1))


@gradient("aten::scatter_add", of=("self", "src"))
def scatter_add(g: Number, dim: int, index: Number, src: Number) -> Any:
    """g, and of src g at the places index"""
    return g, _of_src(g, dim, index, src)


@gradient("aten::scatter.src", of=("self", "src"))
def scatter(g: Number, self: Number, dim: int, index: Number, src: Number) -> Any:
    """of src g at the places index, open where two name one place; of self g, but 0 at these places"""
    times = apply("aten::scatter_add", _none(self), dim, index, np.ones(src.shape, np.int64))
    kept, written = _of_replaced(g, times)
    return kept, _of_src(written, dim, index, src)


def _of_src(g: Number, dim: int, index: Number, src: Number) -> Number:
    """g at the places index, and 0 of what src has beyond these."""
    whole, at, read = (_line(one) for one in (g, index, src))
    beyond = [(0, size - used) for size, used in zip(read.shape, at.shape, strict=True)]
    of_src = whole.gather(dim, at).moved(lambda part: np.pad(part, beyond))
    return of_src.moved(lambda part: part.reshape(src.shape))


def _none(self: Number) -> np.ndarray:
    """How often elements are written to that nothing is."""
    return np.zeros(self.shape, np.int64)


def _of_replaced(g: Number, times: Number) -> tuple[Number, Number]:
    """Of elements that are written to so many times (that of self, that of what is written). Whichever of several
    stays (P25), nothing of self does; the gradient of each is g or 0."""
    kept = apply("aten::where.self", times.array == 0, g, zeros(g))
    return kept, kinked(g, times.array > 1)


@gradient("aten::index_add", of=("self", "source"))
def index_add(g: Number, self: Number, dim: int, index: Number, source: Number, alpha: float) -> Any:
    """g, and of source g alpha at the places index"""
    of_source = _of_source(g, dim, index, source)
    return g, of_source if alpha == 1 else of_source * alpha


@gradient("aten::index_copy", of=("self", "source"))
def index_copy(g: Number, self: Number, dim: int, index: Number, source: Number) -> Any:
    """of source g at the places index, open where two name one place; of self g, but 0 at these places"""
    times = apply("aten::index_add", _none(self), dim, index, np.ones(source.shape, np.int64))
    kept, written = _of_replaced(g, times)
    return kept, _of_source(written, dim, index, source)


def _of_source(g: Number, dim: int, index: Number, source: Number) -> Number:
    """g at the places index."""
    chosen = _line(g).index_select(dim, _line(index))
    return chosen.moved(lambda part: part.reshape(source.shape))


@gradient("aten::embedding", of=("weight",))
def embedding(g: Number, weight: Number, indices: Number, padding_idx: int, scale_grad_by_freq: bool) -> Number:
    """of a row the sum of g where it is named, of padding_idx 0; with scale_grad_by_freq over how often it is"""
    return apply("aten::embedding_dense_backward", g, indices, weight.shape[0], padding_idx, scale_grad_by_freq)


@gradient("aten::index_put", of=("self", "values"))
def index_put(g: Number, indices: Any, values: Number, accumulate: bool, self: Number) -> Any:
    """of values g where they are put; of self g; where they are not added, 0 of self there, and of values open where
    two are put at one place"""
    at = _without_masks(indices)
    if accumulate:
        return g, apply("aten::index.Tensor", g, at)
    times = apply("aten::index_put", _none(self), at, np.ones((), np.int64), accumulate=True)
    kept, written = _of_replaced(g, times)
    return kept, apply("aten::index.Tensor", written, at)


def _without_masks(indices: Sequence[Number | None]) -> list[np.ndarray | None]:
    """Index tensors, with the places of its True elements for a mask."""
    found: list[np.ndarray | None] = []
    for one in indices:
        is_mask = one is not None and one.array.dtype in (np.bool_, np.uint8)
        found += [*np.nonzero(one.array)] if is_mask else [None if one is None else one.array]
    return found
