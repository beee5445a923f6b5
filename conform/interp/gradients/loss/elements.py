"""Gradients of losses of pairs of numbers, none, their mean or their sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.gradients.kinks import by_side, chosen_by, distance, kinked, zeros
from conform.interp.gradients.rules import gradient
from conform.interp.program.forms import either_form
from conform.interp.program.number import Number

MEAN = 1  # of `reduction`: 0 none, 1 the mean, 2 the sum


def of_each(g: Number, reduction: int, *operands: Number) -> Number:
    """The cotangent of each loss, before these are reduced."""
    shape = np.broadcast_shapes(*(one.shape for one in operands))
    wide = g.moved(lambda part: np.broadcast_to(part, shape))
    return wide / int(np.prod(shape)) if reduction == MEAN else wide


def both(of_self: Number) -> Any:
    """The gradients where the loss depends on a difference."""
    return of_self, -of_self


@gradient("aten::mse_loss", of=("self", "target"))
def mse_loss(g: Number, self: Number, target: Number, reduction: int) -> Any:
    """g 2 (self - target), / n of a mean; of the target its negative"""
    return both(of_each(g, reduction, self, target) * ((self - target) * 2))


@gradient("aten::l1_loss", of=("self", "target"))
def l1_loss(g: Number, self: Number, target: Number, reduction: int) -> Any:
    """g sign(self - target), / n of a mean; of the target its negative"""
    each = of_each(g, reduction, self, target)
    return both(by_side(self, target, each, -each, each))


@gradient("aten::smooth_l1_loss", of=("self", "target"))
def smooth_l1_loss(g: Number, self: Number, target: Number, reduction: int, beta: float) -> Any:
    """g d / beta where |d| < beta, g sign(d) beyond, d = self - target, / n of a mean; of the target its negative"""
    if beta == 0:
        return l1_loss(g, self, target, reduction)
    return both(_bent(of_each(g, reduction, self, target), self - target, float(beta), 1.0 / beta, 1.0))


@gradient("aten::huber_loss", of=("self", "target"))
def huber_loss(g: Number, self: Number, target: Number, reduction: int, delta: float) -> Any:
    """g d where |d| < delta, g delta sign(d) beyond, d = self - target, / n of a mean; of the target its negative"""
    return both(_bent(of_each(g, reduction, self, target), self - target, float(delta), 1.0, float(delta)))


def _bent(g: Number, d: Number, knee: float, slope: float, level: float) -> Number:
    """g slope d where |d| < knee, g level sign(d) beyond."""
    inner = g * d if slope == 1 else g * (d * slope)
    beyond = g if level == 1 else g * level
    straight = by_side(d, 0.0, beyond, -beyond, g)
    return chosen_by(*distance(d.abs(), knee), above=straight, below=inner, like=g)


@gradient("aten::binary_cross_entropy", of=("self", "target"))
def binary_cross_entropy(g: Number, self: Number, target: Number, weight: Number | None, reduction: int) -> Any:
    """g (self - target) / (self (1 - self)), and g (log(1 - self) - log(self)), times weight, / n of a mean"""
    each = of_each(g, reduction, self, target)
    each = each if weight is None else each * weight
    inside = (self.real.hi > 0) & (self.real.hi < 1)
    of_self = each * (self - target) / ((1 - self) * self)
    of_target = each * ((1 - self).log() - self.log())
    return kinked(of_self, ~inside), kinked(of_target, ~inside)


@gradient("aten::binary_cross_entropy_with_logits", of=("self", "target"))
def binary_cross_entropy_with_logits(
    g: Number, self: Number, target: Number, weight: Number | None, pos_weight: Number | None, reduction: int
) -> Any:
    """g (s (1 + (p - 1) t) - p t), and of the target g (log(1 - s) - p log(s)), s = sigmoid(self), t = target, p =
    pos_weight, times weight, / n of a mean"""
    each = of_each(g, reduction, self, target)
    each = each if weight is None else each * weight
    share = self.sigmoid()
    log_right, log_wrong = share.log(), (-self).sigmoid().log()
    if pos_weight is None:
        return each * (share - target), each * (log_wrong - log_right)
    of_self = share * (1 + (pos_weight - 1) * target) - pos_weight * target
    return each * of_self, each * (log_wrong - pos_weight * log_right)


@gradient("aten::kl_div", of=("self", "target"))
def kl_div(g: Number, self: Number, target: Number, reduction: int, log_target: bool) -> Any:
    """-g t, and of the target g (log(target) + 1 - self), with log_target g t (target + 1 - self); t = target, or with
    log_target e^target; / n of a mean"""
    each = of_each(g, reduction, self, target)
    if log_target:
        likely = target.exp()
        # As of the product e^target (target - self) it is a sum of two terms, which may cancel.
        summed = each * (target - self) * likely + each * likely
        return -(each * likely), either_form(each * (likely * (target + 1 - self)), summed)
    of_log = target.log()
    # As of target log(target) - target self, whose second factor has the gradient target / target.
    summed = each * of_log + each * target / target - each * self
    return -(each * target), kinked(either_form(each * (of_log + 1 - self), summed), target.real.hi <= 0)


@gradient("aten::soft_margin_loss", of=("self", "target"))
def soft_margin_loss(g: Number, self: Number, target: Number, reduction: int) -> Any:
    """-g target s, and -g self s, s = sigmoid(-self target), / n of a mean"""
    each = of_each(g, reduction, self, target)
    share = (-(self * target)).sigmoid()
    return -(each * target * share), -(each * self * share)


@gradient("aten::poisson_nll_loss", of=("input",))
def poisson_nll_loss(g: Number, input: Number, target: Number, log_input: bool, eps: float, reduction: int) -> Number:
    """g (e^input - target), or without log_input g (1 - target / (input + eps)), / n of a mean"""
    each = of_each(g, reduction, input, target)
    if log_input:
        return each * (input.exp() - target)
    return each * (1 - target / (input + eps))


@gradient("aten::margin_ranking_loss", of=("input1", "input2"))
def margin_ranking_loss(
    g: Number, input1: Number, input2: Number, target: Number, margin: float, reduction: int
) -> Any:
    """-g target where margin > target (input1 - input2), 0 where it is less, / n of a mean; of input2 its negative"""
    each = of_each(g, reduction, input1, input2, target)
    reached = target * (input1 - input2)
    return both(by_side(reached, float(margin), zeros(each), -(each * target), each))


@gradient("aten::hinge_embedding_loss")
def hinge_embedding_loss(g: Number, self: Number, target: Number, margin: float, reduction: int) -> Number:
    """g where target is 1; where it is -1, -g below the margin and 0 above; / n of a mean"""
    each = of_each(g, reduction, self, target)
    of_others = by_side(self, float(margin), zeros(each), -each, each)
    return chosen_by(target.real.hi, np.zeros(target.shape, bool), each, of_others, each)
