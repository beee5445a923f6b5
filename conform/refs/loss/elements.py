"""Losses: the exact value of the documented formula for each element, their exact sum or mean, rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import inf, isinf, isnan, nan

from conform.refs.exact.linear_forms import (
    Form,
    Value,
    exp_form,
    log_form,
    log_sum_exp_form,
    over,
    round_form,
    times,
    total,
)
from conform.refs.exact.promotion import BOOL, COMPLEX, INTEGER, category, common_operands
from conform.refs.exact.rounding import FLOAT_FORMATS
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, broadcast_shapes, expand
from conform.refs.references import reference

NONE, MEAN, SUM = range(3)  # torch's Reduction (P65)
ABOVE_E_TO_MINUS_100 = 3.720075976020836e-44  # the least double above e^-100


def reduced(dtype: str, shape: Shape, losses: Sequence[Value], reduction: int) -> RefTensor:
    """The losses of `shape` themselves, their mean (NaN of none, P57), or their sum."""
    if reduction not in (NONE, MEAN, SUM):
        raise ValueError(f"reduction is 0, 1 or 2, found {reduction}")
    if reduction == NONE:
        return RefTensor(dtype, shape, [round_form(dtype, loss) for loss in losses])
    result = total(losses)
    if reduction == MEAN:
        result = over(result, Form(Fraction(len(losses))))
    return RefTensor(dtype, (), [round_form(dtype, result)])


# ---- losses of the distance --------------------------------------------------------------------------------------


def _of_distances(op: str, self: RefTensor, target: RefTensor, reduction: int, loss: Callable) -> RefTensor:
    """`loss` of |self - target|, an exact Fraction, or infinite or NaN."""
    dtype, shape, (inputs, targets) = common_operands(self, target)
    if category(dtype) in (BOOL, INTEGER):
        raise ValueError(f"{op} is not defined for {dtype}")
    if category(dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {dtype}")
    losses = [_form(loss(_distance(x, y))) for x, y in zip(inputs, targets, strict=True)]
    return reduced(dtype, shape, losses, reduction)


def _distance(x: float, y: float) -> Fraction | float:
    if isinf(x) or isinf(y) or isnan(x) or isnan(y):
        return abs(x - y)
    return abs(Fraction(x) - Fraction(y))


def _form(x: Fraction | float) -> Value:
    return x if isinstance(x, float) else Form(x)


@reference("aten::mse_loss")
def mse_loss(self: RefTensor, target: RefTensor, reduction: int = MEAN) -> RefTensor:
    """(self - target)^2."""
    return _of_distances("mse_loss", self, target, reduction, lambda d: d * d)


@reference("aten::l1_loss")
def l1_loss(self: RefTensor, target: RefTensor, reduction: int = MEAN) -> RefTensor:
    """|self - target|."""
    return _of_distances("l1_loss", self, target, reduction, lambda d: d)


@reference("aten::smooth_l1_loss")
def smooth_l1_loss(self: RefTensor, target: RefTensor, reduction: int = MEAN, beta: float = 1.0) -> RefTensor:
    """d^2 / (2 beta) where d = |self - target| < beta, else d - beta / 2."""
    if not beta >= 0:
        raise ValueError(f"smooth_l1_loss needs a beta >= 0, found {beta}")
    return _of_distances("smooth_l1_loss", self, target, reduction, lambda d: _smooth_l1(d, beta))


def _smooth_l1(d: Fraction | float, beta: float) -> Fraction | float:
    if d < beta:
        return Fraction(0) if beta == inf else d * d / (2 * Fraction(beta))
    return d - beta / 2 if isinstance(d, float) or beta == inf else d - Fraction(beta) / 2


@reference("aten::huber_loss")
def huber_loss(self: RefTensor, target: RefTensor, reduction: int = MEAN, delta: float = 1.0) -> RefTensor:
    """d^2 / 2 where d = |self - target| < delta, else delta (d - delta / 2)."""
    if not delta > 0:
        raise ValueError(f"huber_loss needs a delta > 0, found {delta}")
    if self.dtype != target.dtype:
        raise NotImplementedError(f"the reference of huber_loss is of one dtype, found {self.dtype}, {target.dtype}")
    return _of_distances("huber_loss", self, target, reduction, lambda d: _huber(d, delta))


def _huber(d: Fraction | float, delta: float) -> Fraction | float:
    if d < delta:
        return d * d / 2
    if isinstance(d, float):
        return nan if delta == inf else d  # inf - inf; delta (inf - delta / 2)
    return Fraction(delta) * (d - Fraction(delta) / 2)


# ---- losses of probabilities -------------------------------------------------------------------------------------


def _floats_only(op: str, *tensors: RefTensor | None) -> None:
    for tensor in tensors:
        if tensor is not None and tensor.dtype not in FLOAT_FORMATS:
            raise ValueError(f"{op} is not defined for {tensor.dtype}")


def _one_dtype(op: str, self: RefTensor, target: RefTensor, refusal: type[Exception]) -> None:
    if self.dtype != target.dtype:
        raise refusal(f"{op} needs a target of the dtype of self, {self.dtype}, found {target.dtype}")


def _spread(tensor: RefTensor | None, shape: Shape) -> list[float]:
    """The elements expanded to the shape, ones where there is no tensor."""
    return expand([1.0] if tensor is None else tensor.data, () if tensor is None else tensor.shape, shape)


@reference("aten::binary_cross_entropy")
def binary_cross_entropy(
    self: RefTensor, target: RefTensor, weight: RefTensor | None = None, reduction: int = MEAN
) -> RefTensor:
    """-weight (y log x + (1 - y) log(1 - x)), each logarithm at least -100."""
    _floats_only("binary_cross_entropy", self, target, weight)
    _one_dtype("binary_cross_entropy", self, target, ValueError)
    for name, tensor in (("input", self), ("target", target)):
        if not all(0 <= x <= 1 for x in tensor.data):
            raise ValueError(f"binary_cross_entropy needs an {name} in 0 .. 1")
    shape = broadcast_shapes(self.shape, target.shape)
    operands = zip(*(_spread(tensor, shape) for tensor in (self, target, weight)), strict=True)
    losses = [times(_cross_entropy_of_probability(Fraction(x), Fraction(y)), -w) for x, y, w in operands]
    return reduced(self.dtype, shape, losses, reduction)


def _cross_entropy_of_probability(x: Fraction, y: Fraction) -> Value:
    return total([times(_clamped_log(x), y), times(_clamped_log(1 - x), 1 - y)])


def _clamped_log(x: Fraction) -> Form:
    """log x, at least -100, of a float or 1 minus a float."""
    return Form(Fraction(-100)) if x < ABOVE_E_TO_MINUS_100 else log_form(x)


@reference("aten::binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits(
    self: RefTensor,
    target: RefTensor,
    weight: RefTensor | None = None,
    pos_weight: RefTensor | None = None,
    reduction: int = MEAN,
) -> RefTensor:
    """-weight (pos_weight y log sigmoid(x) + (1 - y) log(1 - sigmoid(x))); open beside an infinity (P66)."""
    op = "binary_cross_entropy_with_logits"
    _floats_only(op, self, target, weight, pos_weight)
    _one_dtype(op, self, target, NotImplementedError)
    shape = broadcast_shapes(self.shape, target.shape)
    operands = zip(*(_spread(tensor, shape) for tensor in (self, target, weight, pos_weight)), strict=True)
    return reduced(self.dtype, shape, [_cross_entropy_of_logit(*row) for row in operands], reduction)


def _cross_entropy_of_logit(x: float, y: float, w: float, p: float) -> Value:
    """With L = log(1 + e^-x), log sigmoid(x) is -L and log(1 - sigmoid(x)) is -x - L."""
    if any(map(isinf, (x, y, w, p))):
        return UNSPECIFIED
    if any(map(isnan, (x, y, w, p))):
        return nan
    x, y, w, p = map(Fraction, (x, y, w, p))
    minus_log_sigmoid = log_sum_exp_form([0, -x])
    return times(total([times(minus_log_sigmoid, p * y + 1 - y), Form((1 - y) * x)]), w)


@reference("aten::kl_div")
def kl_div(self: RefTensor, target: RefTensor, reduction: int = MEAN, log_target: bool = False) -> RefTensor:
    """target (log target - self), or e^target (target - self) of a logarithmic target; open beside an infinity."""
    _floats_only("kl_div", self, target)
    dtype, shape, (inputs, targets) = common_operands(self, target)
    element = _divergence_of_log if log_target else _divergence
    losses = []
    for x, y in zip(inputs, targets, strict=True):
        special = UNSPECIFIED if isinf(x) or isinf(y) else nan if isnan(x) or isnan(y) else None
        losses.append(element(Fraction(x), Fraction(y)) if special is None else special)
    return reduced(dtype, shape, losses, reduction)


def _divergence(x: Fraction, y: Fraction) -> Value:
    if y <= 0:
        return Form() if y == 0 else nan
    return times(total([log_form(y), Form(-x)]), y)


def _divergence_of_log(x: Fraction, y: Fraction) -> Value:
    return times(exp_form(y), y - x)
