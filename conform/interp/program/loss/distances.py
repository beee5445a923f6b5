"""What distances, cosines and losses of them are composed of."""

from __future__ import annotations

import numpy as np

from conform.interp.program.forms import either_form
from conform.interp.program.loss.elements import REDUCTIONS
from conform.interp.program.number import Number
from conform.interp.program.reduction.sums import vector_norm
from conform.interp.program.rules import composition, unbounded_where


@composition("aten::cosine_similarity")
def cosine_similarity(x1: Number, x2: Number, dim: int = 1, eps: float = 1e-8) -> Number:
    """x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim, divided at the end, or each line before"""
    lengths = [one.square().sum([dim]).sqrt().clamp(eps) for one in (x1, x2)]
    at_end = (x1 * x2).sum([dim]) / (lengths[0] * lengths[1])
    cosine = either_form(at_end, ((x1 / lengths[0].unsqueeze(dim)) * (x2 / lengths[1].unsqueeze(dim))).sum([dim]))
    infinite = np.isinf(x1.real.hi) | np.isinf(x2.real.hi)
    return unbounded_where(infinite.any(dim), cosine)  # P148


@composition("aten::pairwise_distance")
def pairwise_distance(x1: Number, x2: Number, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Number:
    return vector_norm(x1 - x2 + eps, p, [-1], keepdim)


@composition("aten::triplet_margin_loss")
def triplet_margin_loss(
    anchor: Number, positive: Number, negative: Number, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6,
    swap: bool = False, reduction: int = 1,
) -> Number:  # fmt: skip
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0), with swap the lesser of the distances of negative"""
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return REDUCTIONS[reduction]((pairwise_distance(anchor, positive, p, eps) - far + margin).clamp(0))
