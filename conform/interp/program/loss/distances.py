"""What distances, cosines and losses of them are composed of."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.ops.loss.distances import GUARD
from conform.interp.program.apply import apply, steps_stored
from conform.interp.program.forms import either_form
from conform.interp.program.loss.elements import REDUCTIONS
from conform.interp.program.number import Number
from conform.interp.program.reduction.sums import vector_norm
from conform.interp.program.rules import composition, rule, unbounded_where


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


@rule("aten::cosine_embedding_loss", refuses=True)
def cosine_embedding_loss(
    input1: Number, input2: Number, target: Number, margin: float = 0.0, reduction: int = 1
) -> Any:
    """1 - cos where target is 1, max(0, cos - margin) where it is -1, in steps that may be stored (P154).

    torch's own decomposition has the guard against zeros in the formula.
    """
    if target.array is None or not np.isin(target.array, (1, -1)).all():
        raise NoGolden("a program cannot use aten::cosine_embedding_loss with computed targets, or others than 1, -1")
    with steps_stored():
        cosine = _cosine(input1, input2)
        is_similar = np.broadcast_to(target.array == 1, cosine.shape)
        losses = apply("aten::where.self", is_similar, 1 - cosine, (cosine - margin).clamp(min=0))
        return losses if reduction == 0 else losses.mean() if reduction == 1 else losses.sum()


def _cosine(x: Number, y: Number) -> Number:
    """Of the angle between the lines, whose squared lengths may have been enlarged by GUARD. Of lines of zeros, and
    with an infinity, nothing is known."""
    dot, *squares = ((one * other).sum([-1]) for one, other in ((x, y), (x, x), (y, y)))
    cosine = dot / (squares[0].sqrt() * squares[1].sqrt())
    with np.errstate(all="ignore"):
        guard = np.abs(cosine.real.hi) * GUARD / np.minimum(*(one.real.hi for one in squares))
    unknown = np.logical_or.reduce([(one.real.hi == 0) | np.isinf(one.real.hi) for one in squares])
    return replace(cosine, rad=np.where(unknown, np.inf, cosine.rad + np.where(np.isnan(guard), 0.0, guard)))
