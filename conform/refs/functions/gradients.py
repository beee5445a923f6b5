"""Gradients of activations with exponentials: the incoming one times the derivative, in balls (Arb), rounded once.

None is rational at finite numbers but at 0 (Lindemann), where exponentials are 1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isfinite, isnan, nan

from flint import arb

from conform.refs.elementwise.gradients import real_numbers
from conform.refs.exact.products import each_alike, of_alike, round_product, round_rational, round_times, special
from conform.refs.exact.promotion import Scalar
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, lines, wrap_dim
from conform.refs.references import reference

BEYOND = 3000.0  # e^-3000, times any two doubles and as large a number, is next to nothing


@reference("aten::sigmoid_backward")
def sigmoid_backward(grad_output: RefTensor, output: RefTensor) -> RefTensor:
    """grad y (1 - y)."""
    return _of_result("sigmoid_backward", grad_output, output, lambda y: y * (1 - y))


@reference("aten::tanh_backward")
def tanh_backward(grad_output: RefTensor, output: RefTensor) -> RefTensor:
    """grad (1 - y^2)."""
    return _of_result("tanh_backward", grad_output, output, lambda y: 1 - y * y)


def _of_result(op: str, grad: RefTensor, output: RefTensor, slope: Callable[[Fraction], Fraction]) -> RefTensor:
    def element(dtype: str, g: float, y: float) -> float | Unspecified:
        found = special(g, y)
        return round_rational(dtype, Fraction(g) * slope(Fraction(y))) if found is None else found

    return each_alike(op, element, grad, output)


def _smooth(
    op: str, grad: RefTensor, self: RefTensor, at_zero: Fraction, slope: Callable[[arb], arb]
) -> RefTensor:
    """The derivative is slope(x), and far away 0 or 1."""

    def element(dtype: str, g: float, x: float) -> float | Unspecified:
        found = special(g, x)
        if found is not None:
            return found
        if x == 0:
            return round_rational(dtype, Fraction(g) * at_zero)
        if abs(x) > BEYOND:
            return g if x > 0 else 0.0
        return round_times(dtype, g, lambda: slope(arb(x)))

    return each_alike(op, element, grad, self)


def _sigmoid(x: arb) -> arb:
    return 1 / (1 + (-x).exp())


@reference("aten::silu_backward")
def silu_backward(grad_output: RefTensor, self: RefTensor) -> RefTensor:
    """The derivative of x / (1 + e^-x): (1 + e^-x + x e^-x) / (1 + e^-x)^2."""

    def slope(x: arb) -> arb:
        power = (-x).exp()
        return (1 + power + x * power) / (1 + power) ** 2

    return _smooth("silu_backward", grad_output, self, Fraction(1, 2), slope)


@reference("aten::mish_backward")
def mish_backward(grad_output: RefTensor, self: RefTensor) -> RefTensor:
    """The derivative of x (w^2 + 2 w) / (w^2 + 2 w + 2), w = e^x; tanh(log(1 + w)) is 3/5 at 0."""

    def slope(x: arb) -> arb:
        w = x.exp()
        up, down = w * w + 2 * w, w * w + 2 * w + 2
        return up / down + x * (2 * w * w + 2 * w) * (down - up) / down**2

    return _smooth("mish_backward", grad_output, self, Fraction(3, 5), slope)


def _of_normal(x: arb) -> arb:
    return (-x / arb(2).sqrt()).erfc() / 2 + x * (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _of_tanh(x: arb) -> arb:
    k, c = (2 / arb.pi()).sqrt(), arb(44715) / 1000000
    power = (-2 * k * (x + c * x**3)).exp()
    return 1 / (1 + power) + x * 2 * power / (1 + power) ** 2 * k * (1 + 3 * c * x * x)


@reference("aten::gelu_backward")
def gelu_backward(grad_output: RefTensor, self: RefTensor, approximate: str = "none") -> RefTensor:
    """The derivative of x Phi(x), or of x (1 + tanh(k (x + 0.044715 x^3))) / 2, k = sqrt(2 / pi)."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"approximate is none or tanh, found {approximate!r}")
    slope = _of_tanh if approximate == "tanh" else _of_normal
    return _smooth("gelu_backward", grad_output, self, Fraction(1, 2), slope)


@reference("aten::infinitely_differentiable_gelu_backward")
def infinitely_differentiable_gelu_backward(grad: RefTensor, self: RefTensor) -> RefTensor:
    """The derivative of x Phi(x)."""
    return _smooth("infinitely_differentiable_gelu_backward", grad, self, Fraction(1, 2), _of_normal)


@reference("aten::logit_backward")
def logit_backward(grad_output: RefTensor, self: RefTensor, eps: float | None = None) -> RefTensor:
    """grad / (x (1 - x)) from eps to 1 - eps; 0 beyond, and NaN without an eps; open at 0 and 1."""
    if eps is not None and not 0 <= eps <= 0.5:
        raise NotImplementedError(f"the reference of logit_backward is of an eps in [0, 1/2], found {eps}")
    low = 0.0 if eps is None else eps

    def element(dtype: str, g: float, x: float) -> float | Unspecified:
        if isnan(x) and eps is not None:
            return UNSPECIFIED
        if isnan(g) or isnan(x):
            return nan
        if x in (0, 1):
            return UNSPECIFIED
        if not low <= x <= 1 - low:
            return nan if eps is None else round_product(dtype, g, 0.0)
        return round_rational(dtype, Fraction(g) / (Fraction(x) * (1 - Fraction(x)))) if isfinite(g) else UNSPECIFIED

    return each_alike("logit_backward", element, grad_output, self)


@reference("aten::softplus_backward")
def softplus_backward(grad_output: RefTensor, self: RefTensor, beta: Scalar, threshold: Scalar) -> RefTensor:
    """grad / (1 + e^(-beta x)), grad itself where beta x > threshold."""
    b, limit = real_numbers("softplus_backward", beta, threshold)

    def element(dtype: str, g: float, x: float) -> float | Unspecified:
        found = special(g, x)
        if found is not None:
            return found
        scaled = Fraction(b) * Fraction(x)
        if scaled > limit or scaled > BEYOND:
            return g
        if scaled == 0 or scaled < -BEYOND:
            return round_rational(dtype, Fraction(g) / 2) if scaled == 0 else 0.0
        return round_times(dtype, g, lambda: _sigmoid(arb(b) * arb(x)))

    return each_alike("softplus_backward", element, grad_output, self)


@reference("aten::elu_backward")
def elu_backward(
    grad_output: RefTensor,
    alpha: Scalar,
    scale: Scalar,
    input_scale: Scalar,
    is_result: bool,
    self_or_result: RefTensor,
) -> RefTensor:
    """The derivative of scale x above 0 and scale alpha (e^(input_scale x) - 1) below; of a result, which tells the
    side where alpha >= 0, the exponential is result / (scale alpha) + 1."""
    a, s, i = real_numbers("elu_backward", alpha, scale, input_scale)
    if is_result and a < 0:
        raise ValueError(f"elu_backward of a result needs an alpha >= 0, found {a}")
    factor = Fraction(s) * Fraction(a) * Fraction(i)

    def element(dtype: str, g: float, x: float) -> float | Unspecified:
        if isnan(x):
            return UNSPECIFIED
        found = special(g, x)
        if found is not None:
            return found
        if x > 0:
            return round_rational(dtype, Fraction(g) * Fraction(s))
        if is_result:
            return round_rational(dtype, Fraction(g) * Fraction(i) * (Fraction(x) + Fraction(s) * Fraction(a)))
        power = Fraction(i) * Fraction(x)
        if power == 0 or factor == 0:
            return round_rational(dtype, Fraction(g) * factor)
        return round_times(dtype, g, lambda: arb(s) * arb(a) * arb(i) * (arb(i) * arb(x)).exp())

    return each_alike("elu_backward", element, grad_output, self_or_result)


@reference("aten::glu_backward")
def glu_backward(grad_output: RefTensor, self: RefTensor, dim: int) -> RefTensor:
    """Of a * sigmoid(b), a and b the halves of self along dim: grad sigmoid(b), and grad a sigmoid(b) sigmoid(-b)."""
    axis = wrap_dim(dim, len(self.shape))
    if not self.shape or self.shape[axis] % 2:
        raise ValueError(f"glu_backward needs an even size of dim {dim}, found {self.shape}")
    half = (*self.shape[:axis], self.shape[axis] // 2, *self.shape[axis + 1 :])
    if grad_output.shape != half:
        raise ValueError(f"glu_backward needs a gradient of {half}, found {grad_output.shape}")
    dtype = of_alike("glu_backward", grad_output, RefTensor(self.dtype, half, [0.0] * len(grad_output.data)))
    data = [0.0] * len(self.data)
    for line, own in zip(lines(self.shape, axis), lines(half, axis), strict=True):
        count = len(own)
        for place, grad in enumerate(own):
            a, b, g = self.data[line[place]], self.data[line[count + place]], grad_output.data[grad]
            data[line[place]] = _gated(dtype, g, b)
            data[line[count + place]] = _of_gate(dtype, g, a, b)
    return RefTensor(dtype, self.shape, data)


def _gated(dtype: str, g: float, b: float) -> float | Unspecified:
    found = special(g, b)
    if found is not None or b == 0 or abs(b) > BEYOND:
        return found if found is not None else round_rational(dtype, Fraction(g) / 2) if b == 0 else g * (b > 0)
    return round_times(dtype, g, lambda: _sigmoid(arb(b)))


def _of_gate(dtype: str, g: float, a: float, b: float) -> float | Unspecified:
    found = special(g, a, b)
    if found is not None:
        return found
    if b == 0 or a == 0 or abs(b) > BEYOND:
        return round_rational(dtype, Fraction(g) * Fraction(a) / 4) if b == 0 else 0.0
    return round_times(dtype, g, lambda: arb(a) * _sigmoid(arb(b)) * _sigmoid(-arb(b)))
