"""Activations with an exponential piece below zero, and the logarithm of sigmoid: rounded once.

None is rational but at 0, for rational parameters: e^x - 1 of another rational x is transcendental (Lindemann).
"""

from __future__ import annotations

from fractions import Fraction
from math import copysign, inf, isfinite, isnan, nan

from flint import arb

from conform.refs.exact.mapped import refuse, unary
from conform.refs.exact.promotion import BOOL, COMPLEX, INTEGER, Scalar
from conform.refs.exact.reals import fraction_ball, round_real
from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference

SELU_ALPHA = Fraction("1.6732632423543772848170429916717")
SELU_SCALE = Fraction("1.0507009873554804934193349852946")
BEYOND = 6000  # e^-6000 < 2^-8656 and e^6000 > 2^8656: times two parameters no number of a format


@reference("aten::elu")
def elu(self: RefTensor, alpha: Scalar = 1, scale: Scalar = 1, input_scale: Scalar = 1) -> RefTensor:
    """scale * self above zero, else scale * alpha * (e^(input_scale * self) - 1); infinite parameters are open."""
    numbers = _parameters("elu", self, alpha, scale, input_scale)
    if not all(isfinite(number) for number in numbers):
        return unary(self, lambda x: UNSPECIFIED)
    return unary(self, lambda x: _unit(self.dtype, x, *map(Fraction, numbers)))


@reference("aten::selu")
def selu(self: RefTensor) -> RefTensor:
    """scale * (max(0, self) + min(0, alpha * (e^self - 1))), alpha and scale as the documentation's decimals."""
    _parameters("selu", self)
    return unary(self, lambda x: _unit(self.dtype, x, SELU_ALPHA, SELU_SCALE, Fraction(1)))


@reference("aten::celu")
def celu(self: RefTensor, alpha: Scalar = 1.0) -> RefTensor:
    """max(0, self) + min(0, alpha * (e^(self / alpha) - 1)); alpha 0 is refused, an infinite one open."""
    (number,) = _parameters("celu", self, alpha)
    if number == 0:
        raise ValueError("celu needs an alpha other than 0")
    if not isfinite(number):
        return unary(self, lambda x: UNSPECIFIED)
    return unary(self, lambda x: _unit(self.dtype, x, Fraction(number), Fraction(1), 1 / Fraction(number)))


def _parameters(op: str, self: RefTensor, *numbers: Scalar) -> list[float]:
    refuse(op, self.dtype, BOOL, INTEGER, COMPLEX)
    if any(isinstance(number, complex) for number in numbers):
        raise ValueError(f"{op} needs real parameters, found {numbers}")
    return [float(number) for number in numbers]


def _unit(dtype: str, x: float, alpha: Fraction, scale: Fraction, input_scale: Fraction) -> float:
    """scale * x above zero, else scale * alpha * (e^(input_scale x) - 1)."""
    if isnan(x):
        return nan
    if x > 0:
        return _scaled(dtype, x, scale)
    factor = alpha * scale
    if x == 0 or input_scale == 0 or factor == 0:
        return _zero_piece(x, factor, input_scale)
    if x == -inf:
        return inf * _sign(factor) if input_scale < 0 else _rounded(dtype, -factor)
    argument = max(min(Fraction(x) * input_scale, Fraction(BEYOND)), Fraction(-BEYOND))
    return round_real(dtype, lambda: fraction_ball(factor) * fraction_ball(argument).expm1())


def _scaled(dtype: str, x: float, scale: Fraction) -> float:
    if x == inf:
        return nan if scale == 0 else inf * _sign(scale)
    return _rounded(dtype, Fraction(x) * scale)


def _zero_piece(x: float, factor: Fraction, input_scale: Fraction) -> float:
    """The exponential piece where it is factor * (e^0 - 1), or 0 * (e^y - 1), which of an infinity is NaN."""
    if x == -inf and (input_scale == 0 or input_scale < 0):
        return nan  # -inf * 0, or 0 * inf
    if x == -inf:
        return copysign(0.0, -_sign(factor))
    return copysign(0.0, -_sign(factor) * (-1 if input_scale < 0 else 1)) if copysign(1.0, x) < 0 or x else 0.0


def _sign(number: Fraction) -> float:
    return -1.0 if number < 0 else 1.0


def _rounded(dtype: str, number: Fraction) -> float:
    return round_ratio(dtype, number.numerator, number.denominator)


@reference("aten::log_sigmoid")
def log_sigmoid(self: RefTensor) -> RefTensor:
    """log(1 / (1 + e^-self))."""
    refuse("log_sigmoid", self.dtype, BOOL, INTEGER, COMPLEX)
    return unary(self, lambda x: _log_sigmoid(self.dtype, x))


@reference("aten::log_sigmoid_forward")
def log_sigmoid_forward(self: RefTensor) -> tuple[RefTensor, Unspecified]:
    """log(1 / (1 + e^-self)), and a buffer for the gradient, whatever it is."""
    return log_sigmoid(self), UNSPECIFIED


def _log_sigmoid(dtype: str, x: float) -> float | Unspecified:
    if isnan(x) or x == -inf:
        return x
    if x == inf:
        return 0.0  # log 1 (P41)
    if x < -BEYOND:
        return round_real(dtype, lambda: arb(x) - arb(-BEYOND).exp())  # -log(1 + e^-x) = x - log(1 + e^x)
    if x < 0:
        return round_real(dtype, lambda: arb(x) - arb(x).exp().log1p())
    return round_real(dtype, lambda: -(-arb(min(x, float(BEYOND)))).exp().log1p())
