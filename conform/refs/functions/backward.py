"""Gradients of the activation functions: grad_output times the derivative, rounded once.

A derivative at a finite number other than 0 is transcendental here, a rational function of e^x (Lindemann), or one of
the error function, which is taken to be so. At an infinity the documented formulas multiply it with a
zero: UNSPECIFIED, as the functions themselves are at -inf (P38, P49).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import copysign, isinf, isnan, nan

from flint import arb

from conform.refs.exact.promotion import COMPLEX, FLOAT, Scalar, category, common_operands
from conform.refs.exact.reals import round_real
from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference

Element = float | Unspecified


def _binary(op: str, grad_output: RefTensor, other: RefTensor, element: Callable) -> RefTensor:
    """`element(dtype, grad, other)` of the broadcast floats."""
    dtype, shape, (grads, others) = common_operands(grad_output, other)
    if category(dtype) < FLOAT:
        raise ValueError(f"{op} is not defined for {dtype}")
    if category(dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {dtype}")
    return RefTensor(dtype, shape, [element(dtype, g, x) for g, x in zip(grads, others, strict=True)])


@reference("aten::threshold_backward")
def threshold_backward(grad_output: RefTensor, self: RefTensor, threshold: Scalar) -> RefTensor:
    """grad_output where self > threshold, else 0; open where self is NaN."""
    dtype, shape, (grads, selves) = common_operands(grad_output, self)
    if category(dtype) == COMPLEX or dtype == "bool":
        raise ValueError(f"threshold_backward is not defined for {dtype}")
    zero = 0.0 if category(dtype) == FLOAT else 0
    data = [
        UNSPECIFIED if x != x else grad if x > threshold else zero for grad, x in zip(grads, selves, strict=True)
    ]
    return RefTensor(dtype, shape, data)


# ---- by the output of the function -------------------------------------------------------------------------------


@reference("aten::sigmoid_backward")
def sigmoid_backward(grad_output: RefTensor, output: RefTensor) -> RefTensor:
    """grad_output * output * (1 - output)."""
    return _by_output("sigmoid_backward", grad_output, output, lambda y: y * (1 - y))


@reference("aten::tanh_backward")
def tanh_backward(grad_output: RefTensor, output: RefTensor) -> RefTensor:
    """grad_output * (1 - output^2)."""
    return _by_output("tanh_backward", grad_output, output, lambda y: 1 - y * y)


def _by_output(op: str, grad_output: RefTensor, output: RefTensor, derivative: Callable) -> RefTensor:
    return _binary(op, grad_output, output, lambda dtype, grad, y: _product(dtype, grad, y, derivative))


def _product(dtype: str, grad: float, y: float, derivative: Callable[[Fraction], Fraction]) -> Element:
    """grad * derivative(y): of an infinite y it depends on the form of the formula; else zeros and infinities multiply.

    A zero of the derivative, 1 - 1 or the output itself, is taken with the sign that it has in the formula.
    """
    if isnan(grad) or isnan(y):
        return nan
    if isinf(y):
        return UNSPECIFIED
    slope = derivative(Fraction(y))
    if grad == 0 or slope == 0 or isinf(grad):
        sign = copysign(1.0, slope) if slope else copysign(1.0, y) if y == 0 else 1.0
        return grad * (copysign(0.0, sign) if slope == 0 else copysign(1.0, sign))
    product = Fraction(grad) * slope
    return round_ratio(dtype, product.numerator, product.denominator)


# ---- by the operand of the function ------------------------------------------------------------------------------


def _by_slope(dtype: str, grad: float, x: float, slope: Callable[[arb], arb]) -> Element:
    """grad * slope(x) of a slope that is 1/2 at 0, near 1 above, and negative and below 2^-2800 beyond -2000."""
    if isnan(grad) or isnan(x):
        return nan
    if isinf(x):
        return UNSPECIFIED
    if grad == 0 or isinf(grad):
        return grad * copysign(1.0, round_real("float64", lambda: slope(arb(max(-2000.0, min(x, 2000.0))))))
    if x == 0:
        half = Fraction(grad) / 2
        return round_ratio(dtype, half.numerator, half.denominator)
    if abs(x) > 2000:
        return grad if x > 0 else copysign(0.0, -grad)
    return round_real(dtype, lambda: arb(grad) * slope(arb(x)))


@reference("aten::silu_backward")
def silu_backward(grad_output: RefTensor, self: RefTensor) -> RefTensor:
    """grad_output * s (1 + x (1 - s)) of the sigmoid s = 1 / (1 + e^-x)."""
    return _binary("silu_backward", grad_output, self, lambda dtype, g, x: _by_slope(dtype, g, x, _silu_slope))


def _silu_slope(x: arb) -> arb:
    power = (-x).exp()  # s = 1 / (1 + power), 1 - s = power / (1 + power)
    return (1 + power + x * power) / (1 + power) ** 2


@reference("aten::gelu_backward")
def gelu_backward(grad_output: RefTensor, self: RefTensor, approximate: str = "none") -> RefTensor:
    """grad_output times the derivative of gelu: Phi(x) + x phi(x), or that of its approximation by tanh."""
    slopes = {"none": _gelu_slope, "tanh": _gelu_tanh_slope}
    if approximate not in slopes:
        raise ValueError(f"approximate is 'none' or 'tanh'; found {approximate!r}")
    slope = slopes[approximate]
    return _binary("gelu_backward", grad_output, self, lambda dtype, g, x: _by_slope(dtype, g, x, slope))


def _gelu_slope(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2 + x * (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _gelu_tanh_slope(x: arb) -> arb:
    """x / (1 + e^-2u), u = sqrt(2 / pi) (x + 0.044715 x^3): s + x * s * (1 - s) * 2 u' of s = 1 / (1 + e^-2u)."""
    cubic = arb(44715) / 10**6
    root = (2 / arb.pi()).sqrt()
    power = (-2 * root * (x + cubic * x**3)).exp()
    return (1 + power + x * power * 2 * root * (1 + 3 * cubic * x * x)) / (1 + power) ** 2
