"""What losses of elements are composed of."""

from __future__ import annotations

from conform.interp.ops.loss.elements import LEAST_LOGARITHM
from conform.interp.program.elementwise.combinations import where
from conform.interp.program.functions.activations import log_sigmoid, xlogy
from conform.interp.program.number import Number
from conform.interp.program.reduction.sums import mean_over, sum_over
from conform.interp.program.rules import composition, open_beside_infinities

REDUCTIONS = (lambda loss: loss, mean_over, sum_over)  # none, mean, sum


@composition("aten::l1_loss")
def l1_loss(self: Number, target: Number, reduction: int = 1) -> Number:
    return REDUCTIONS[reduction](abs(self - target))


@composition("aten::mse_loss")
def mse_loss(self: Number, target: Number, reduction: int = 1) -> Number:
    return REDUCTIONS[reduction]((self - target).square())


@composition("aten::smooth_l1_loss")
def smooth_l1_loss(self: Number, target: Number, reduction: int = 1, beta: float = 1.0) -> Number:
    """d^2 / (2 beta) where d = |self - target| < beta, else d - beta / 2"""
    if beta == 0:
        return l1_loss(self, target, reduction)
    d = abs(self - target)
    return REDUCTIONS[reduction](where(d < beta, d * d * 0.5 / beta, d - beta / 2))


@composition("aten::huber_loss")
def huber_loss(self: Number, target: Number, reduction: int = 1, delta: float = 1.0) -> Number:
    """d^2 / 2 where d = |self - target| <= delta, else delta (d - delta / 2)"""
    d = abs(self - target)
    return REDUCTIONS[reduction](where(d <= delta, d * d * 0.5, (d - delta / 2) * delta))


@composition("aten::binary_cross_entropy")
def binary_cross_entropy(
    self: Number, target: Number, weight: Number | None = None, reduction: int = 1
) -> Number:
    """-weight (target log(self) + (1 - target) log(1 - self)) with logarithms of at least -100"""
    own, other = (one.log().clamp(LEAST_LOGARITHM) for one in (self, 1 - self))
    loss = -(target * own + (1 - target) * other)
    loss = loss if weight is None else loss * weight
    return REDUCTIONS[reduction](open_beside_infinities(loss, self, target, weight))


@composition("aten::binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    self: Number, target: Number, weight: Number | None = None, pos_weight: Number | None = None, reduction: int = 1
) -> Number:
    """weight ((1 - target) self - (1 + (pos_weight - 1) target) log_sigmoid(self))"""
    slope = 1 if pos_weight is None else (pos_weight - 1) * target + 1
    loss = (1 - target) * self - log_sigmoid(self) * slope
    loss = loss if weight is None else loss * weight
    return REDUCTIONS[reduction](open_beside_infinities(loss, self, target, weight, pos_weight))


@composition("aten::kl_div")
def kl_div(self: Number, target: Number, reduction: int = 1, log_target: bool = False) -> Number:
    """target (log(target) - self), 0 where target is 0; e^target (target - self) if log_target"""
    loss = target.exp() * (target - self) if log_target else xlogy(target, target) - target * self
    return REDUCTIONS[reduction](open_beside_infinities(loss, self, target))


@composition("aten::soft_margin_loss")
def soft_margin_loss(self: Number, target: Number, reduction: int = 1) -> Number:
    """log(1 + e^(-target self))"""
    return REDUCTIONS[reduction](-log_sigmoid(target * self))


@composition("aten::hinge_embedding_loss")
def hinge_embedding_loss(self: Number, target: Number, margin: float = 1.0, reduction: int = 1) -> Number:
    """self where target is 1, max(0, margin - self) where it is -1"""
    return REDUCTIONS[reduction](where(target == 1, self, (margin - self).clamp(0)))


@composition("aten::margin_ranking_loss")
def margin_ranking_loss(
    input1: Number, input2: Number, target: Number, margin: float = 0.0, reduction: int = 1
) -> Number:
    """max(0, -target (input1 - input2) + margin)"""
    return REDUCTIONS[reduction]((margin - target * (input1 - input2)).clamp(0))
