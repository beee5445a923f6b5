"""Gradients of losses: the incoming one times the derivative, a fraction or a ball (Arb), rounded once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isnan, nan, prod

from flint import arb

from conform.refs.exact.products import of_alike, round_rational, special
from conform.refs.exact.reals import round_real
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Shape, Unspecified, lines
from conform.refs.loss.classes import IGNORED, check_weight, classes_of
from conform.refs.loss.elements import MEAN, NONE
from conform.refs.references import reference

Element = Callable[..., float | Unspecified]  # (dtype, count, g, x, ...) -> g times the derivative over count


def _each(op: str, grad: RefTensor, reduction: int, element: Element, *tensors: RefTensor) -> RefTensor:
    """`element` of what stands in the same places; the gradient is that of each, or of all of them."""
    dtype, shape = of_alike(op, *tensors), tensors[0].shape
    count = max(len(tensors[0].data), 1) if reduction == MEAN else 1
    rows = zip(_gradients(op, grad, reduction, dtype, shape), *(tensor.data for tensor in tensors), strict=True)
    return RefTensor(dtype, shape, [element(dtype, count, *row) for row in rows])


def _gradients(op: str, grad: RefTensor, reduction: int, dtype: str, shape: Shape) -> list[float]:
    """That of each element of `shape`, which have one each or one together."""
    if reduction not in (0, 1, 2):
        raise NotImplementedError(f"reduction is 0, 1 or 2, found {reduction}")
    if (grad.dtype, grad.shape) != (dtype, shape if reduction == NONE else ()):
        raise NotImplementedError(f"the reference of {op} is of a gradient like the loss")
    return grad.data if reduction == NONE else grad.data * prod(shape)


def _of_distance(derivative: Callable[[Fraction], Fraction]) -> Element:
    """grad times the derivative at self - target, over the count."""

    def element(dtype: str, count: int, g: float, x: float, t: float) -> float | Unspecified:
        found = special(g, x, t)
        if found is not None:
            return found
        return round_rational(dtype, Fraction(g) * derivative(Fraction(x) - Fraction(t)) / count)

    return element


@reference("aten::mse_loss_backward")
def mse_loss_backward(grad_output: RefTensor, self: RefTensor, target: RefTensor, reduction: int) -> RefTensor:
    """d^2 has the derivative 2 d."""
    return _each("mse_loss_backward", grad_output, reduction, _of_distance(lambda d: 2 * d), self, target)


def _sign(d: Fraction) -> int:
    return (d > 0) - (d < 0)


@reference("aten::smooth_l1_loss_backward")
def smooth_l1_loss_backward(
    grad_output: RefTensor, self: RefTensor, target: RefTensor, reduction: int, beta: float
) -> RefTensor:
    """d^2 / (2 beta) has the derivative d / beta, and |d| - beta / 2 the sign of d."""
    if not 0 < beta < float("inf"):
        raise NotImplementedError(f"the reference of smooth_l1_loss_backward is of a positive beta, found {beta}")

    def derivative(d: Fraction) -> Fraction:
        return d / Fraction(beta) if abs(d) < beta else Fraction(_sign(d))

    return _each("smooth_l1_loss_backward", grad_output, reduction, _of_distance(derivative), self, target)


@reference("aten::huber_loss_backward")
def huber_loss_backward(
    grad_output: RefTensor, self: RefTensor, target: RefTensor, reduction: int, delta: float
) -> RefTensor:
    """d^2 / 2 has the derivative d, and delta (|d| - delta / 2) delta times the sign of d."""
    if not 0 < delta < float("inf"):
        raise NotImplementedError(f"the reference of huber_loss_backward is of a positive delta, found {delta}")

    def derivative(d: Fraction) -> Fraction:
        return d if abs(d) <= delta else Fraction(delta) * _sign(d)

    return _each("huber_loss_backward", grad_output, reduction, _of_distance(derivative), self, target)


BEYOND = 3000.0  # e^-3000 beside 1, or times three doubles, is next to nothing


@reference("aten::soft_margin_loss_backward")
def soft_margin_loss_backward(grad_output: RefTensor, self: RefTensor, target: RefTensor, reduction: int) -> RefTensor:
    """log(1 + e^(-t x)) has the derivative -t / (1 + e^(t x))."""

    def element(dtype: str, count: int, g: float, x: float, t: float) -> float | Unspecified:
        found = special(g, x, t)
        if found is not None:
            return found
        power, factor = Fraction(t) * Fraction(x), -Fraction(g) * Fraction(t) / count
        if power == 0 or factor == 0 or power > BEYOND:
            return round_rational(dtype, Fraction(0) if power > BEYOND else factor / 2)

        def ball() -> arb:
            exponent = arb(t) * arb(x) if power > -BEYOND else arb(-BEYOND)
            return -arb(g) * arb(t) / count / (1 + exponent.exp())

        return round_real(dtype, ball)

    return _each("soft_margin_loss_backward", grad_output, reduction, element, self, target)


@reference("aten::binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    grad_output: RefTensor, self: RefTensor, target: RefTensor, weight: RefTensor | None = None, reduction: int = MEAN
) -> RefTensor:
    """-(t log x + (1 - t) log(1 - x)) has the derivative (x - t) / (x (1 - x)); open where that is of less than
    2 10^-12."""

    def element(dtype: str, count: int, g: float, x: float, t: float, w: float) -> float | Unspecified:
        if isnan(x) or isnan(g) or isnan(t) or isnan(w):
            return nan
        found = special(g, x, t, w)
        if found is not None or x * (1 - x) < 2e-12:
            return UNSPECIFIED
        x, t = Fraction(x), Fraction(t)
        return round_rational(dtype, Fraction(g) * Fraction(w) * (x - t) / (x * (1 - x)) / count)

    weights = RefTensor(self.dtype, self.shape, [1.0] * len(self.data)) if weight is None else weight
    return _each("binary_cross_entropy_backward", grad_output, reduction, element, self, target, weights)


@reference("aten::nll_loss_backward")
def nll_loss_backward(
    grad_output: RefTensor,
    self: RefTensor,
    target: RefTensor,
    weight: RefTensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: RefTensor,
) -> RefTensor:
    """-weight[t] self[t] has the derivative -weight[t] by self[t], and 0 by every other element."""
    if len(self.shape) not in (1, 2):
        raise ValueError(f"nll_loss_backward needs a self of 1 or 2 dims, found {self.shape}")
    return _of_classes(grad_output, self, target, weight, reduction, ignore_index, total_weight)


@reference("aten::nll_loss2d_backward")
def nll_loss2d_backward(
    grad_output: RefTensor,
    self: RefTensor,
    target: RefTensor,
    weight: RefTensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: RefTensor,
) -> RefTensor:
    """That of nll_loss, of which every pixel is a sample."""
    if len(self.shape) != 4:
        raise ValueError(f"nll_loss2d_backward needs a self of 4 dims, found {self.shape}")
    return _of_classes(grad_output, self, target, weight, reduction, ignore_index, total_weight)


def _of_classes(
    grad_output: RefTensor,
    self: RefTensor,
    target: RefTensor,
    weight: RefTensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: RefTensor,
) -> RefTensor:
    """Along the dim of the classes, of each sample."""
    dtype, rank = of_alike("nll_loss_backward", self), len(self.shape)
    dim = min(rank - 1, 1)
    samples = (*self.shape[:dim], *self.shape[dim + 1 :])
    if target.shape != samples:
        raise ValueError(f"nll_loss_backward needs a target of {samples}, found {target.shape}")
    if (total_weight.dtype, total_weight.shape) != (dtype, ()) or not total_weight.data[0] > 0:
        raise NotImplementedError("the reference of nll_loss_backward is of a positive total_weight like self")
    weights, classes = check_weight(weight, self.shape[dim], dtype), classes_of(target, self.shape[dim], ignore_index)
    total, data = total_weight.data[0] if reduction == MEAN else 1.0, [0.0] * len(self.data)
    gradients = _gradients("nll_loss_backward", grad_output, reduction, dtype, samples)
    for line, own, g in zip(lines(self.shape, dim), classes, gradients, strict=True):
        if own is not IGNORED:
            data[line[own]] = _weighed(dtype, g, weights[own], total)
    return RefTensor(dtype, self.shape, data)


def _weighed(dtype: str, g: float, w: float, total: float) -> float | Unspecified:
    found = special(g, w, total)
    return round_rational(dtype, -Fraction(g) * Fraction(w) / Fraction(total)) if found is None else found
