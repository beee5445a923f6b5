"""Gradients of distances and angles of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.dims import wrap_dim
from conform.interp.gradients.kinks import kinked
from conform.interp.gradients.reduction.statistics import of_norm
from conform.interp.gradients.rules import gradient
from conform.interp.program.number import Number


@gradient("aten::pairwise_distance", of=("x1", "x2"))
def pairwise_distance(
    g: Number, x1: Number, x2: Number, p: float, eps: float, keepdim: bool, result: Number
) -> Any:
    """g sign(d) (|d| / result)^(p - 1), d = x1 - x2 + eps; of x2 its negative"""
    difference = x1 - x2 + eps
    of_first = of_norm(g, difference, float(p), -1, result)
    return of_first, -of_first


@gradient("aten::cosine_similarity", of=("x1", "x2"))
def cosine_similarity(g: Number, x1: Number, x2: Number, dim: int, eps: float) -> Any:
    """g (v - c u) / |x1|, u = x1 / |x1|, v = x2 / |x2|, c = u . v; and the other way round"""
    shape = np.broadcast_shapes(x1.shape, x2.shape)
    axis = wrap_dim(dim, len(shape))
    first, second = (one.moved(lambda part: np.broadcast_to(part, shape)) for one in (x1, x2))
    sizes = [(one * one).sum(axis, True).sqrt() for one in (first, second)]
    u, v = first / sizes[0], second / sizes[1]
    weight = g.moved(lambda part: np.expand_dims(part, axis))
    cosine = (u * v).sum(axis, True)
    small = (sizes[0].real.hi <= 2 * eps) | (sizes[1].real.hi <= 2 * eps)
    return (
        kinked(weight * (v - cosine * u) / sizes[0], small), kinked(weight * (u - cosine * v) / sizes[1], small),
    )  # fmt: skip
