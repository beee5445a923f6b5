"""What losses of classes are composed of."""

from __future__ import annotations

from conform.errors import NoGolden
from conform.interp.program.elementwise.combinations import where
from conform.interp.program.number import Number
from conform.interp.program.reduction.sums import sum_over
from conform.interp.program.rules import composition

MEAN = 1


@composition("aten::nll_loss", "aten::nll_loss2d", "aten::nll_loss_nd")
def nll_loss(
    self: Number, target: Number, weight: Number | None = None, reduction: int = 1, ignore_index: int = -100
) -> Number:
    """-weight[t] * self[t] of every place, whose classes stand along dim 1, 0 where the target is ignored; their sum,
    or the sum over that of the weights"""
    rows, places = (self[None], target[None]) if self.ndim == 1 else (self, target)
    ignored = places == ignore_index
    own = where(ignored, 0, places)
    shares = where(ignored, 0.0, 1.0 if weight is None else weight[own]).to(self.dtype)
    loss = -(rows.gather(1, own.unsqueeze(1)).squeeze(1) * shares)
    loss = where(ignored, 0.0, loss)
    if not reduction:
        return loss if self.ndim > 1 else loss[0]
    return sum_over(loss) / sum_over(shares) if reduction == MEAN else sum_over(loss)


@composition("aten::cross_entropy_loss")
def cross_entropy_loss(
    self: Number, target: Number, weight: Number | None = None, reduction: int = 1, ignore_index: int = -100
) -> Number:
    """-weight[t] log_softmax(self)[t] of class indices, without smoothing"""
    if target.format.is_float:
        raise NoGolden("a program cannot use aten::cross_entropy_loss with probabilities of classes")
    logits = self.log_softmax(0 if self.ndim == 1 else 1)
    return nll_loss(logits, target, weight, reduction, ignore_index)
