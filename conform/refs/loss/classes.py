"""Losses of classes: negative log likelihood and cross entropy, exact and rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite, isinf, nan

from conform.refs.exact.linear_forms import Form, Value, log_sum_exp_form, over, round_form, times, total, value_of
from conform.refs.exact.promotion import result_type
from conform.refs.exact.rounding import FLOAT_FORMATS
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, lines
from conform.refs.loss.elements import MEAN, NONE, reduced
from conform.refs.references import reference

IGNORED = None  # a target that counts for nothing


def check_weight(weight: RefTensor | None, classes: int, dtype: str | None) -> list[float]:
    """The weights of the classes; ones where there is no tensor. With `dtype`, they must be of it."""
    if weight is None:
        return [1.0] * classes
    if weight.shape != (classes,) or weight.dtype not in ((dtype,) if dtype else FLOAT_FORMATS):
        raise ValueError(
            f"weight is of {dtype or 'floats'} and shape ({classes},), found {weight.dtype} {weight.shape}"
        )
    return weight.data


def classes_of(target: RefTensor, classes: int, ignore_index: int) -> list[int | None]:
    """The target classes, IGNORED for ignore_index; ValueError for others that are no classes."""
    if target.dtype not in ("int64", "uint8"):
        raise ValueError(f"target classes are int64 or uint8, found {target.dtype}")
    for index in target.data:
        if index != ignore_index and not 0 <= index < classes:
            raise ValueError(f"target {index} is outside of the {classes} classes")
    return [IGNORED if index == ignore_index else index for index in target.data]


def weighted_mean_or_sum(
    dtype: str, shape: Shape, losses: Sequence[Value], divisor: Value, reduction: int
) -> RefTensor:
    """As `reduced`, with the mean over the weights of the targets (P67)."""
    if reduction != MEAN:
        return reduced(dtype, shape, losses, reduction)
    return RefTensor(dtype, (), [round_form(dtype, over(total(losses), divisor))])


# ---- negative log likelihood -------------------------------------------------------------------------------------


@reference("aten::nll_loss_forward")
def nll_loss_forward(
    self: RefTensor, target: RefTensor, weight: RefTensor | None, reduction: int, ignore_index: int
) -> tuple[RefTensor, RefTensor]:
    """-weight[t] self[t] for each target t, and the sum of the weights of the targets, open for reduction none."""
    if self.dtype not in FLOAT_FORMATS or len(self.shape) not in (1, 2):
        raise ValueError(f"nll_loss needs floats of rank 1 or 2, found {self.dtype} {self.shape}")
    if target.shape != self.shape[:-1] and (len(self.shape), target.shape) != (1, (1,)):
        raise ValueError(f"nll_loss of shape {self.shape} needs a target of {self.shape[:-1]}, found {target.shape}")
    count = self.shape[-1]
    weights, targets = check_weight(weight, count, self.dtype), classes_of(target, count, ignore_index)
    losses = [
        Form() if index is IGNORED else times(value_of(self.data[row * count + index]), -weights[index])
        for row, index in enumerate(targets)
    ]
    total_weight = total(value_of(weights[index]) for index in targets if index is not IGNORED)
    output = weighted_mean_or_sum(self.dtype, self.shape[:-1], losses, total_weight, reduction)
    rounded = UNSPECIFIED if reduction == NONE else round_form(self.dtype, total_weight)
    return output, RefTensor(self.dtype, (), [rounded])


@reference("aten::nll_loss")
def nll_loss(
    self: RefTensor, target: RefTensor, weight: RefTensor | None = None, reduction: int = MEAN, ignore_index: int = -100
) -> RefTensor:
    """-weight[t] self[t] for each target t."""
    return nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


# ---- cross entropy -----------------------------------------------------------------------------------------------


@reference("aten::cross_entropy_loss")
def cross_entropy_loss(
    self: RefTensor,
    target: RefTensor,
    weight: RefTensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> RefTensor:
    """The negative log likelihood of log_softmax(self) over the classes, dim 1 or, of a 1-d self, 0 (P68).

    A target of self's shape holds the probabilities of the classes, another one the index of a class.
    """
    if self.dtype not in FLOAT_FORMATS or not self.shape:
        raise ValueError(f"cross_entropy_loss needs floats of rank 1 or more, found {self.dtype} {self.shape}")
    if label_smoothing > 1:
        raise ValueError(f"label_smoothing is at most 1, found {label_smoothing}")
    if not label_smoothing >= 0:
        raise NotImplementedError(f"the reference of cross_entropy_loss has no label_smoothing {label_smoothing}")
    smoothing = Fraction(label_smoothing)
    if target.shape == self.shape:
        if ignore_index >= 0:
            raise ValueError(f"ignore_index {ignore_index} does not go with probabilities")
        return _of_probabilities(self, target, weight, reduction, smoothing)
    return _of_classes(self, target, weight=weight, reduction=reduction, ignore_index=ignore_index, smoothing=smoothing)


def _samples(self: RefTensor) -> tuple[int, Shape, list[list[float]]]:
    """The number of classes, the shape of the samples, and the logits of each."""
    class_dim = 0 if len(self.shape) == 1 else 1
    shape = self.shape[:class_dim] + self.shape[class_dim + 1 :]
    return self.shape[class_dim], shape, [[self.data[i] for i in line] for line in lines(self.shape, class_dim)]


def _log_probabilities(logits: Sequence[float]) -> list[Value]:
    """x - log(sum e^x) of each logit: NaN beside NaN or inf, or of -inf alone; -inf of another -inf (P53)."""
    finite = [x for x in logits if isfinite(x)]
    if not finite or any(x != x or x == inf for x in logits):
        return [nan] * len(logits)
    minus_log_sum = times(log_sum_exp_form(finite), Fraction(-1))
    return [total([value_of(x), minus_log_sum]) if isfinite(x) else x for x in logits]


def _of_classes(
    self: RefTensor,
    target: RefTensor,
    weight: RefTensor | None,
    reduction: int,
    ignore_index: int,
    smoothing: Fraction,
) -> RefTensor:
    """The loss of each sample, 0 where its target is ignored; the mean is over the weights of the targets."""
    count, shape, samples = _samples(self)
    if target.shape != shape:
        raise ValueError(f"cross_entropy_loss of shape {self.shape} needs a target of {shape}, found {target.shape}")
    weights, targets = check_weight(weight, count, self.dtype), classes_of(target, count, ignore_index)
    losses = [
        Form() if index is IGNORED else _loss_of_class(logits, index, weights, smoothing)
        for logits, index in zip(samples, targets, strict=True)
    ]
    total_weight = total(value_of(weights[index]) for index in targets if index is not IGNORED)
    return weighted_mean_or_sum(self.dtype, shape, losses, total_weight, reduction)


def _loss_of_class(logits: Sequence[float], index: int, weights: Sequence[float], smoothing: Fraction) -> Value:
    """(1 - s) * -weight[t] logp[t] + s / C * sum_c -weight[c] logp[c]."""
    if smoothing > 0 and any(map(isinf, (*logits, *weights))):
        return UNSPECIFIED  # P68
    losses = [times(log, -w) for log, w in zip(_log_probabilities(logits), weights, strict=True)]
    if smoothing == 0:
        return losses[index]
    return total([times(losses[index], 1 - smoothing), times(total(losses), smoothing / len(losses))])


def _of_probabilities(
    self: RefTensor, target: RefTensor, weight: RefTensor | None, reduction: int, smoothing: Fraction
) -> RefTensor:
    """sum_c -weight[c] ((1 - s) t_c + s / C) logp[c] of each sample, and their mean over the number of samples."""
    if target.dtype not in FLOAT_FORMATS:
        raise ValueError(f"probabilities are floats, found {target.dtype}")
    count, shape, samples = _samples(self)
    weights = check_weight(weight, count, None)
    losses = [
        _loss_of_probabilities(logits, shares, weights, smoothing)
        for logits, shares in zip(samples, _samples(target)[2], strict=True)
    ]
    dtype = result_type([tensor for tensor in (self, target, weight) if tensor is not None])
    return reduced(dtype, shape, losses, reduction)


def _loss_of_probabilities(
    logits: Sequence[float], shares: Sequence[float], weights: Sequence[float], smoothing: Fraction
) -> Value:
    if any(map(isinf, (*logits, *shares, *weights))):
        return UNSPECIFIED  # P68
    terms = []
    for log, share, weight in zip(_log_probabilities(logits), shares, weights, strict=True):
        mixed = total([times(value_of(share), 1 - smoothing), Form(smoothing / len(logits))])
        terms.append(times(times(log, -weight), mixed.rational if isinstance(mixed, Form) else mixed))
    return total(terms)
