"""Rules of losses that torch would write out otherwise than they are defined."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.elementwise.arithmetic import add, clamp, div, sub
from conform.interp.program.loss.elements import REDUCTIONS
from conform.interp.program.number import Number
from conform.interp.program.reduction.sums import sum_over
from conform.interp.program.rules import rule
from conform.numerics.real import Real, where


@rule("aten::multilabel_margin_loss_forward")
def multilabel_margin_loss(self: Number, target: Number, reduction: int = 1) -> Any:
    """(the sum of max(0, 1 - (x[y] - x[i])) / classes over the labels y of a row and all classes i that are none,
    1 for each class that is a label); labels end before the first -1 (torch.nn.MultiLabelMarginLoss).

    torch's own decomposition takes class 0 for every place behind that end.
    """
    if target.array is None or not self.format.is_float:
        raise NoGolden("a program cannot use aten::multilabel_margin_loss_forward with computed labels, or of integers")
    if self.ndim < 2 and REDUCTIONS[reduction] is REDUCTIONS[0]:
        raise NoGolden("a program cannot use aten::multilabel_margin_loss_forward of one row without a reduction: "
                       "torch's kernel gives a number, its shape function a row of one")  # fmt: skip
    x, labels = (one.moved(np.atleast_2d) for one in (self, target))
    classes = x.shape[1]
    places, is_label, pairs = _labels(labels.array, classes)
    at_labels = x.moved(lambda part: np.take_along_axis(part, places, 1)[:, :, None])
    margins = clamp(add(sub(1, at_labels), x.moved(lambda part: part[:, None, :])), min=0)
    losses = sum_over(_where(pairs, div(margins, classes)), [1, 2])
    told = Number.exact(is_label.reshape(self.shape).astype(self.format.storage))
    return REDUCTIONS[reduction](losses), told


@rule("aten::multilabel_margin_loss")
def multilabel_margin_loss_alone(self: Number, target: Number, reduction: int = 1) -> Any:
    return multilabel_margin_loss(self, target, reduction)[0]


def _labels(target: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(the label at each place, 0 behind the end; which classes are labels; which pairs of place and class count)."""
    ended = np.logical_or.accumulate(target == -1, axis=1)
    places = np.where(ended, 0, target)
    outside = (places < 0) | (places >= classes)
    if outside.any():
        raise NoGolden(f"aten::multilabel_margin_loss_forward: found label {places[outside].flat[0]}, expected -1 or a "
                       f"class < {classes}")  # fmt: skip
    is_label = ((places[:, :, None] == np.arange(classes)) & ~ended[:, :, None]).any(1)
    return places, is_label, ~ended[:, :, None] & ~is_label[:, None, :]


def _where(kept: np.ndarray, number: Number) -> Number:
    """The elements that are `kept`, and zeros."""
    return Number(number.format, where(kept, number.real, Real.exact(np.float64(0))), np.where(kept, number.rad, 0.0))
