"""Gradients of attention: softmax(scale query key^T + mask) value."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.gradients.contraction.matrices import transposed
from conform.interp.gradients.normalization.softmax import softmax
from conform.interp.gradients.rules import gradient
from conform.interp.program.apply import apply
from conform.interp.program.number import Number


@gradient("aten::scaled_dot_product_attention", of=("query", "key", "value"))
def attention(
    g: Number, query: Number, key: Number, value: Number, attn_mask: Number | None, dropout_p: float, is_causal: bool,
    scale: float | None, enable_gqa: bool,
) -> Any:  # fmt: skip
    """s d key, s d^T query, and p^T g: p = softmax(s query key^T + mask), d its gradient for g value^T, s the scale"""
    if dropout_p or enable_gqa:
        raise Unjudged("no gradient of attention with dropout, or with shared heads")
    batch = np.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2])
    q, k, v, weight = (_in_one_batch(one, batch) for one in (query, key, value, g))
    factor = 1 / sqrt(query.shape[-1]) if scale is None else scale
    scores = q.bmm(transposed(k)) * factor
    masked, allowed = _masked(scores, batch, attn_mask, is_causal)
    if not allowed.any(axis=-1).all():
        raise Unjudged("no gradient of attention of a query that sees no key")
    shares = apply("aten::_softmax", masked, -1, False)
    of_scores = softmax(weight.bmm(transposed(v)), -1, shares)
    zero = Number.exact(np.zeros((), scores.format.storage))
    of_scores = apply("aten::where.self", allowed, of_scores, zero) * factor
    found = of_scores.bmm(k), transposed(of_scores).bmm(q), transposed(shares).bmm(weight)
    return tuple(one.moved(lambda part: part.reshape(*batch, *part.shape[-2:])) for one in found)


def _in_one_batch(x: Number, batch: tuple[int, ...]) -> Number:
    wide = x.moved(lambda part: np.broadcast_to(part, (*batch, *part.shape[-2:])))
    return wide.moved(lambda part: part.reshape(prod(batch), *part.shape[-2:]))


def _masked(scores: Number, batch: tuple[int, ...], mask: Number | None, is_causal: bool) -> tuple[Number, np.ndarray]:
    """The scores, -inf where a query does not see a key, and where it does."""
    allowed = np.ones(scores.shape, bool)
    if is_causal:
        allowed = allowed & np.tril(np.ones(scores.shape[-2:], bool))
    if mask is not None:
        wide = mask.moved(lambda part: np.broadcast_to(part, (*batch, *scores.shape[-2:])).reshape(scores.shape))
        if mask.format.is_float:
            allowed = allowed & (wide.real.hi != -np.inf)
            finite = apply("aten::where.self", allowed, wide, Number.exact(np.zeros((), wide.format.storage)))
            scores = scores + finite
        else:
            allowed = allowed & wide.array
    least = Number.exact(np.asarray(-np.inf, scores.format.storage))
    return apply("aten::where.self", allowed, scores, least), allowed


@gradient("aten::_scaled_dot_product_attention_math", of=("query", "key", "value"), outputs=(0,))
def attention_by_math(
    g: Number, query: Number, key: Number, value: Number, attn_mask: Number | None, dropout_p: float, is_causal: bool,
    dropout_mask: Number | None, scale: float | None, enable_gqa: bool,
) -> Any:  # fmt: skip
    """as of scaled_dot_product_attention"""
    dropped = dropout_p if dropout_mask is None else 1.0
    return attention(g, query, key, value, attn_mask, dropped, is_causal, scale, enable_gqa)


@gradient("aten::_scaled_dot_product_flash_attention_for_cpu", of=("query", "key", "value"), outputs=(0,))
def flash_attention(
    g: Number, query: Number, key: Number, value: Number, dropout_p: float, is_causal: bool, attn_mask: Number | None,
    scale: float | None,
) -> Any:  # fmt: skip
    """as of scaled_dot_product_attention"""
    return attention(g, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa=False)
