"""Incoming gradients times the derivatives of losses (P231 to P234): of each element, or over the number of all."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import mul

import numpy as np

from conform.interp.formulas.losses import MEAN, NONE
from conform.interp.formulas.number_functions import Functions, Number
from conform.interp.formulas.vector_jacobian import Elements, far, gradient, in_blocks, of_any, settled
from conform.interp.golden import Golden
from conform.interp.operands import numbers
from conform.interp.semantics import semantics
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real
from conform.numerics.rounding_errors import held_format

Derivative = Callable[[Functions, Elements], Number]


def _over_count(kind: Functions, count: int, *factors: Number) -> Number:
    """The product of the factors over a count, by which implementations divide last or first, whatever factor is the
    next."""
    n, one = kind.number(float(count)), kind.number(1.0)
    turned = [(*factors[i:], *factors[:i]) for i in range(len(factors))]
    first, *others = [
        *(lambda each=each: reduce(mul, each) / n for each in turned),
        *(lambda each=each: reduce(mul, (one / n, *each)) for each in turned),
    ]
    return kind.either(first, *others)


def _reduced(grad: np.ndarray, self: np.ndarray, reduction: int) -> tuple[np.ndarray, int]:
    """(the gradient of each element, what the loss was divided by)."""
    return np.broadcast_to(grad, self.shape), max(self.size, 1) if reduction == MEAN else 1


def _elementwise(
    grad: np.ndarray,
    self: np.ndarray,
    target: np.ndarray,
    reduction: int,
    derivative: Derivative,
    limit: Callable[..., np.ndarray] = lambda fmt, x, t: None,
) -> Golden:
    """derivative(kind, {"self", "target"}) times the gradient, over the count of a mean; limit(fmt, self, target) is
    `gradient`'s."""
    fmt = format_of(self)
    grads, count = _reduced(grad, self, reduction)

    def formula(kind: Functions, x: Elements) -> Number:
        return _over_count(kind, count, x["grad"], derivative(kind, x))

    def of_block(g: np.ndarray, x: np.ndarray, t: np.ndarray) -> Golden:
        g, x, t = (numbers(each, fmt) for each in (g, x, t))
        return gradient(fmt, formula, {"grad": g, "self": x, "target": t}, limit(fmt, x, t))

    return in_blocks(of_block, grads, self, target)


@semantics("aten::mse_loss_backward")
def mse_loss_backward(grad_output: np.ndarray, self: np.ndarray, target: np.ndarray, reduction: int) -> Golden:
    """grad_output * 2 (self - target), over their number of a mean (P231, P232)"""

    def derivative(kind: Functions, x: Elements) -> Number:
        return kind.number(2.0) * (x["self"] - x["target"])

    return _elementwise(grad_output, self, target, reduction, derivative)


# --- In two parts -----------------------------------------------------------------------------------------------------


def _in_parts(
    grad: np.ndarray,
    self: np.ndarray,
    target: np.ndarray,
    reduction: int,
    border: float,
    inner: Callable[[Functions, Number], Number],
    outer: float,
) -> Golden:
    """The gradient times inner(self - target) where that is nearer to 0 than the border, else times outer and the sign
    of the difference. Both agree at the border, where an implementation may be on either side."""
    fmt = format_of(self)
    grads, count = _reduced(grad, self, reduction)

    def formula(kind: Functions, x: Elements) -> Number:
        far = kind.where(x["is_positive"], kind.number(outer), kind.number(-outer))
        slope = kind.where(x["is_inner"], inner(kind, x["self"] - x["target"]), far)
        return _over_count(kind, count, x["grad"], slope)

    def of_block(g: np.ndarray, x: np.ndarray, t: np.ndarray) -> Golden:
        elements = {"grad": numbers(g, fmt), "self": numbers(x, fmt), "target": numbers(t, fmt)}
        is_positive = elements["self"] > elements["target"]
        with np.errstate(all="ignore"):
            distance = Real.exact(elements["self"]) - Real.exact(elements["target"])
            is_near = np.abs(np.abs(distance.hi) - border) <= 4 * fmt.unit_roundoff * border
            is_inner = abs(distance).less(border)[0] & np.isfinite(distance.radius)  # beyond float64 nothing is known

        def of_sides(is_inner: np.ndarray) -> Golden:
            return gradient(fmt, formula, {**elements, "is_positive": is_positive, "is_inner": is_inner})

        return of_any([is_inner, is_inner ^ is_near], of_sides)

    return in_blocks(of_block, grads, self, target)


@semantics("aten::smooth_l1_loss_backward")
def smooth_l1_loss_backward(
    grad_output: np.ndarray, self: np.ndarray, target: np.ndarray, reduction: int, beta: float
) -> Golden:
    """grad_output * d / beta where d = self - target is nearer to 0 than beta, else grad_output * sign(d), over their
    number of a mean (P231, P232)"""
    return _in_parts(grad_output, self, target, reduction, beta, lambda kind, d: d / kind.number(beta), 1.0)


@semantics("aten::huber_loss_backward")
def huber_loss_backward(
    grad_output: np.ndarray, self: np.ndarray, target: np.ndarray, reduction: int, delta: float
) -> Golden:
    """grad_output * d where d = self - target is nearer to 0 than delta, else grad_output * delta * sign(d), over their
    number of a mean (P231, P232)"""
    return _in_parts(grad_output, self, target, reduction, delta, lambda kind, d: d, delta)


# --- Of two classes ---------------------------------------------------------------------------------------------------


def _soft_margin(kind: Functions, x: Elements) -> Number:
    t, one, exponent = x["target"], kind.number(1.0), -(x["target"] * x["self"])

    def by_growth() -> Number:
        z = kind.exp(exponent)
        return -(t * z) / (one + z)

    return kind.either(lambda: -(t * kind.sigmoid(exponent)), by_growth, lambda: t * (kind.sigmoid(-exponent) - one))


@semantics("aten::soft_margin_loss_backward")
def soft_margin_loss_backward(grad_output: np.ndarray, self: np.ndarray, target: np.ndarray, reduction: int) -> Golden:
    """grad_output * -target / (1 + e^(target self)), over their number of a mean (P231, P232)"""

    def vanishing(fmt: Format, x: np.ndarray, t: np.ndarray) -> np.ndarray:
        return np.where(x * t > far(fmt, 2), 0.0, np.nan)

    return _elementwise(grad_output, self, target, reduction, _soft_margin, vanishing)


LEAST = 2e-12  # of x (1 - x), which kernels hold apart from 0


@semantics("aten::binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    grad_output: np.ndarray,
    self: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None = None,
    reduction: int = 1,
) -> Golden:
    """grad_output * weight (self - target) / (self (1 - self)), over their number of a mean; open where self (1 - self)
    is below 2e-12 (P231, P232, P234)"""
    fmt = format_of(self)
    grads, count = _reduced(grad_output, self, reduction)
    weights = np.broadcast_to(np.ones((), self.dtype) if weight is None else weight, self.shape)

    def formula(kind: Functions, x: Elements) -> Number:
        a, one = x["self"], kind.number(1.0)
        distance, width = a - x["target"], a * (one - a)
        first = kind.either(lambda: distance / width, lambda: distance * (one / width))
        return _over_count(kind, count, x["grad"], x["weight"], first)

    def of_block(g: np.ndarray, x: np.ndarray, t: np.ndarray, w: np.ndarray) -> Golden:
        elements = {"grad": g, "self": x, "target": t, "weight": w}
        elements = {name: numbers(one, fmt) for name, one in elements.items()}
        a = elements["self"]
        is_end = a * (1.0 - a) < LEAST
        golden = gradient(fmt, formula, {**elements, "self": np.where(is_end, 0.5, a)})
        return golden.opened(is_end & ~np.isnan(golden.value.astype(np.float64)), "P234")

    return in_blocks(of_block, grads, self, target, weights)


# --- Of many classes --------------------------------------------------------------------------------------------------


@semantics("aten::nll_loss_backward", "aten::nll_loss2d_backward")
def nll_loss_backward(
    grad_output: np.ndarray,
    self: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray | None,
    reduction: int,
    ignore_index: int,
    total_weight: np.ndarray,
) -> Golden:
    """-grad_output * weight[t] at the class t of each sample, over total_weight of a mean; 0 elsewhere, and of ignored
    samples, or 0 times the gradient and the weight of the class (P67, P231, P232)"""
    fmt, axis = format_of(self), min(self.ndim - 1, 1)
    classes = np.arange(self.shape[axis]).reshape(-1, *[1] * (self.ndim - 1 - axis))
    own = np.expand_dims(target, axis)
    is_own = (classes == own) & (own != ignore_index)
    weights = np.ones(self.shape[axis], self.dtype) if weight is None or not weight.size else weight
    spread = np.expand_dims(grad_output, axis) if reduction == NONE else grad_output
    operands = (spread, weights.reshape(classes.shape), total_weight)

    def of_block(is_own: np.ndarray, *factors: np.ndarray) -> Golden:
        g, w, total = (numbers(each, fmt) for each in factors)
        elements = {"grad": np.where(is_own, g, 0.0), "weight": np.where(is_own, -w, 1.0)}
        if reduction == MEAN:
            elements["total"] = np.where(is_own, total, 1.0)
        golden = gradient(fmt, _likelihood, elements)
        may_be_nan = ~is_own & _may_overflow(fmt, g, w, total if reduction == MEAN else np.ones_like(total))
        return golden.or_else(settled(golden, may_be_nan, np.nan)) if may_be_nan.any() else golden

    return in_blocks(of_block, is_own, *(np.broadcast_to(x, self.shape) for x in operands))


def _may_overflow(fmt: Format, g: np.ndarray, w: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Where a product of factors, in some order, is no finite number."""
    with np.errstate(all="ignore"):
        largest = np.abs(g) * np.maximum(np.abs(w), 1.0) * np.maximum(1.0 / total, 1.0)
    return ~(largest <= held_format(fmt).max_finite)


def _likelihood(kind: Functions, x: Elements) -> Number:
    g, w = x["grad"], x["weight"]
    if "total" not in x:
        return g * w
    total, one = x["total"], kind.number(1.0)
    return kind.either(
        lambda: g * w / total,
        lambda: w / total * g,
        lambda: g / total * w,
        lambda: g * (one / total) * w,
    )
