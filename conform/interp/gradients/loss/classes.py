"""Gradients of losses of classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.errors import Unjudged
from conform.interp.gradients.normalization.softmax import log_softmax
from conform.interp.gradients.rules import gradient
from conform.interp.program.apply import apply
from conform.interp.program.number import Number

MEAN = 1


def _of_logarithms(
    g: Number, x: Number, target: Number, weight: Number | None, reduction: int, ignore_index: int
) -> Number:
    """-g w at the target's class of each sample, 0 elsewhere, divided by the sum of all w for a mean; w is 0 of what is
    ignored."""
    axis = min(1, x.ndim - 1)
    classes = np.arange(x.shape[axis]).reshape([-1 if at == axis else 1 for at in range(x.ndim)])
    labels = np.expand_dims(target.array, axis)
    is_class = (classes == labels) & (labels != ignore_index)
    spread = g.moved(lambda part: np.broadcast_to(np.expand_dims(part, axis) if reduction == 0 else part, x.shape))
    weighed = -spread
    if weight is not None:
        beside = weight.moved(lambda part: np.broadcast_to(part.reshape(classes.shape), x.shape))
        weighed = weighed * beside
    if reduction == MEAN:
        weighed = weighed / _total(x, weight, is_class)
    return apply("aten::where.self", is_class, weighed, Number.exact(np.zeros((), x.format.storage)))


def _total(x: Number, weight: Number | None, is_class: np.ndarray) -> Any:
    """The sum of the weights of all targets."""
    if weight is None:
        return int(is_class.sum())
    axis = min(1, x.ndim - 1)
    chosen = np.nonzero(is_class)[axis]
    return apply("aten::index_select", weight, 0, chosen).sum()


@gradient("aten::nll_loss", "aten::nll_loss2d", "aten::nll_loss_nd")
def nll_loss(
    g: Number, self: Number, target: Number, weight: Number | None, reduction: int, ignore_index: int
) -> Number:
    """-g weight at the class of the target, over the sum of the targets' weights of a mean; 0 elsewhere"""
    return _of_logarithms(g, self, target, weight, reduction, ignore_index)


@gradient("aten::nll_loss_forward", "aten::nll_loss2d_forward", outputs=(0,))
def nll_loss_forward(
    g: Number, self: Number, target: Number, weight: Number | None, reduction: int, ignore_index: int
) -> Number:
    """-g weight at the class of the target, over the sum of the targets' weights of a mean; 0 elsewhere"""
    return _of_logarithms(g, self, target, weight, reduction, ignore_index)


@gradient("aten::cross_entropy_loss")
def cross_entropy_loss(
    g: Number, self: Number, target: Number, weight: Number | None, reduction: int, ignore_index: int,
    label_smoothing: float,
) -> Number:  # fmt: skip
    """that of nll_loss, and through log_softmax"""
    if label_smoothing or target.format.is_float:
        raise Unjudged("no gradient of aten::cross_entropy_loss with probabilities or smoothed labels")
    axis = min(1, self.ndim - 1)
    logarithms = self.log_softmax(axis)
    return log_softmax(_of_logarithms(g, self, target, weight, reduction, ignore_index), axis, logarithms)
