"""The rule of scaled dot product attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any

import numpy as np

from conform.interp.program.blocks import in_slices
from conform.interp.program.choice import for_each_possible
from conform.interp.program.contraction.matrices import bmm
from conform.interp.program.elementwise.arithmetic import add, mul
from conform.interp.program.normalization import softmax
from conform.interp.program.number import Number
from conform.interp.program.rules import rule, unbounded_where
from conform.interp.program.storage import stored
from conform.numerics.formats import compute_format
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import joined

SCALING = 6  # roundings of a score besides those of its sum: scale or its root, multiplied into query and key


@rule("aten::scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: Number,
    key: Number,
    value: Number,
    attn_mask: Number | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """softmax(query @ key^T * scale + mask) @ value; the weights may be rounded to the element type, which the second
    product takes. Of a row of which nothing is kept nothing is said, as by the op's own semantics: it is 0 / 0 or 0."""
    if all(one.array is not None for one in (query, key, value)):
        return NotImplemented
    heads = query.shape[-3] if query.ndim > 2 else 1
    key, value = (_repeated(one, heads) if enable_gqa else one for one in (key, value))
    batch = np.broadcast_shapes(*(one.shape[:-2] for one in (query, key, value)))
    rows = [_batched(one, batch) for one in (query, key, value)]
    shape = (*batch, query.shape[-2], key.shape[-2])
    masks = [] if attn_mask is None else [_beside_scores(attn_mask, batch)]
    if is_causal:
        masks.append(Number.exact(np.tri(*shape[-2:], dtype=bool)))
    attend = partial(_attended, _inverse_root(query) if scale is None else float(scale))
    result = in_slices(partial(_in_rows, attend), [*rows, *masks], (prod(batch), *shape[-2:]), [-3])
    return result.moved(lambda part: part.reshape(*shape[:-1], value.shape[-1]))


def _in_rows(attend: Callable[..., Number], query: Number, key: Number, value: Number, *masks: Number) -> Number:
    """Of a few batches some queries at a time."""
    work = (query.shape[0], query.shape[1], key.shape[1])
    return in_slices(lambda some, *beside: attend(some, key, value, *beside), [query, *masks], work, [-2])


def _attended(scale: Number | float, query: Number, key: Number, value: Number, *masks: Number) -> Number:
    """[batches, queries, elements of a value]"""
    scores = _scores(query, key, scale)
    for mask in masks:
        scores = _masked(scores, mask)
    result = bmm(stored(softmax(scores, -1, False)), value)
    return unbounded_where((scores.real.hi == -np.inf).all(-1, keepdims=True), result)


def _beside_scores(mask: Number, batch: tuple[int, ...]) -> Number:
    """[queries, keys] of a mask that is the same for all batches, else [batches, queries, keys]; any may be 1."""
    tail = (1, 1, *mask.shape)[-2:]
    if prod(mask.shape[:-2]) == 1:
        return mask.moved(lambda part: part.reshape(tail))
    return _batched(mask, batch)


def _repeated(one: Number, heads: int) -> Number:
    return one.moved(lambda part: np.repeat(part, heads // part.shape[-3], axis=-3))


def _batched(one: Number, batch: tuple[int, ...]) -> Number:
    """[batches, rows, columns]"""
    tail = one.shape[-2:]
    return one.moved(lambda part: np.broadcast_to(part, (*batch, *tail)).reshape(prod(batch), *tail))


def _inverse_root(query: Number) -> Number:
    """1/sqrt(E), which no format may hold."""
    real = Real.exact(np.float64(1)) / Real.exact(np.float64(query.shape[-1])).sqrt()
    return Number(query.format, real, np.abs(real.hi) * 2 * compute_format(query.format).unit_roundoff)


def _scores(query: Number, key: Number, scale: Number | float) -> Number:
    """query @ key^T * scale, scaled before or after: each term has the roundings of the scaling as well."""
    turned = key.moved(lambda part: part.swapaxes(1, 2))
    scores = mul(bmm(query, turned), scale)
    with np.errstate(all="ignore"):
        sizes = [np.where(np.isfinite(one.real.hi), np.abs(one.real.hi) + one.rad, 0.0) for one in (query, turned)]
        factor = scale.real.hi if isinstance(scale, Number) else np.float64(scale)
        terms = np.abs(factor) * (sizes[0] @ sizes[1])
        rad = joined(scores.rad, SCALING * compute_format(query.format).unit_roundoff * terms)
    return replace(scores, rad=np.where(np.isfinite(scores.real.hi), rad, scores.rad))


def _masked(scores: Number, mask: Number) -> Number:
    """Scores with a mask added, or -inf where one of bools is false."""
    if mask.format.kind != "bool":
        return add(scores, mask)
    if mask.array is None:
        return for_each_possible("aten::scaled_dot_product_attention", mask, lambda one: _masked(scores, one))
    kept = np.broadcast_to(mask.array, scores.shape)
    real = where(kept, scores.real, Real.exact(np.float64(-np.inf)))
    return replace(scores, real=real, rad=np.where(kept, scores.rad, 0.0))
