"""What activations, and other functions without a rule of their own, are composed of."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from conform.interp.ops.functions.exponential_units import SELU_ALPHA, SELU_SCALE
from conform.interp.program.apply import apply
from conform.interp.program.elementwise.combinations import where
from conform.interp.program.forms import either_form
from conform.interp.program.functions.elementary import LN_2, PI, ROOT_OF_HALF, by_constant, constant
from conform.interp.program.number import Number
from conform.interp.program.rules import composition, unbounded_where
from conform.numerics.real import Real


def _decimal(number: Fraction) -> Real:
    return constant(float(number), float(number - Fraction(float(number))))


# --- Exponential units ------------------------------------------------------------------------------------------------


@composition("aten::celu")
def celu(self: Number, alpha: float = 1.0) -> Number:
    """max(0, self) + min(0, alpha (e^(self / alpha) - 1)), of which one term is 0"""
    return self.clamp(0) + ((self.clamp(None, 0) / alpha).exp() - 1) * alpha


@composition("aten::selu")
def selu(self: Number) -> Number:
    """scale (max(0, self) + min(0, alpha (e^self - 1))), of which one term is 0"""
    below = by_constant(self.clamp(None, 0).exp() - 1, _decimal(SELU_ALPHA))
    return by_constant(self.clamp(0) + below, _decimal(SELU_SCALE))


@composition("aten::softplus")
def softplus(self: Number, beta: float = 1, threshold: float = 20) -> Number:
    """log(1 + e^(beta self)) / beta, where beta self is at most the threshold; above it is taken to be self"""
    scaled = self * beta
    return where(scaled > threshold, self, scaled.exp().log1p() / beta)


@composition("aten::log_sigmoid")
def log_sigmoid(self: Number) -> Number:
    """min(self, 0) - log(1 + e^-|self|)"""
    return self.clamp(None, 0) - (-abs(self)).exp().log1p()


@composition("aten::mish")
def mish(self: Number) -> Number:
    """self tanh(log(1 + e^self))"""
    return unbounded_where(self.real.hi == -np.inf, self * (self.clamp(0) - log_sigmoid(abs(self))).tanh())


@composition("aten::logaddexp")
def logaddexp(self: Number, other: Number) -> Number:
    """log(e^self + e^other), of which the larger operand is taken out first"""
    larger, smaller = self.maximum(other), self.minimum(other)
    return where(larger.isinf(), larger, larger + (smaller - larger).exp().log1p())


# --- In pieces --------------------------------------------------------------------------------------------------------


@composition("aten::hardshrink")
def hardshrink(self: Number, lambd: float = 0.5) -> Number:
    return where((self >= -lambd) & (self <= lambd), 0.0, self)


@composition("aten::softshrink")
def softshrink(self: Number, lambd: float = 0.5) -> Number:
    return where((self >= -lambd) & (self <= lambd), 0.0, where(self > 0, self - lambd, self + lambd))


@composition("aten::hardsigmoid")
def hardsigmoid(self: Number) -> Number:
    """0 up to -3, 1 from 3 on, self / 6 + 1 / 2 between"""
    inner = self.clamp(-3, 3)
    return either_form((inner + 3) / 6, inner / 6 + 0.5)


@composition("aten::hardswish")
def hardswish(self: Number) -> Number:
    """self * relu6(self + 3) / 6"""
    gate = (self + 3).clamp(0, 6)
    return unbounded_where(self.real.hi == -np.inf, either_form(self * gate / 6, self * (gate / 6)))


@composition("aten::threshold")
def threshold_(self: Number, threshold: float, value: float) -> Number:
    return where(self <= threshold, value, self)


@composition("aten::prelu")
def prelu(self: Number, weight: Number) -> Number:
    """weight * self where self is not above 0, of its channel, which is dim 1."""
    channels = weight if weight.ndim == 0 or self.ndim < 2 else weight.view([-1, *[1] * (self.ndim - 2)])
    result = where(self > 0, self, channels * self)
    return unbounded_where((self.real.hi == 0) & ~np.isfinite(channels.real.hi), result)  # P95


@composition("aten::glu")
def glu(self: Number, dim: int = -1) -> Number:
    own, gate = self.split(self.shape[dim] // 2, dim)
    return own * gate.sigmoid()


# --- Others -----------------------------------------------------------------------------------------------------------


@composition("aten::exp2", "aten::special_exp2")
def exp2(self: Number) -> Number:
    return by_constant(self, LN_2).exp()


@composition("aten::tan")
def tan(self: Number) -> Number:
    return self.sin() / self.cos()


@composition("aten::sinc", "aten::special_sinc")
def sinc(self: Number) -> Number:
    """sin(pi self) / (pi self), 1 at 0"""
    angle = by_constant(self, PI)
    return unbounded_where(np.isinf(self.real.hi), where(self == 0, 1.0, angle.sin() / angle))


@composition("aten::special_ndtr")
def ndtr(self: Number) -> Number:
    """The share of a normal distribution below self, erfc(-self / sqrt 2) / 2, near 0 also (1 + erf(self / sqrt 2)) / 2
    (Cephes, ndtr.c)"""
    argument = by_constant(self, ROOT_OF_HALF)
    by_erfc = (-argument).erfc() / 2
    return where(abs(argument) < 1, either_form(by_erfc, argument.erf() / 2 + 0.5), by_erfc)


_XLOGY = [f"aten::{name}" for name in (
    "xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other", "special_xlogy", "special_xlogy.self_scalar",
    "special_xlogy.other_scalar",
)]  # fmt: skip


@composition(*_XLOGY)
def xlogy(self: Any, other: Any) -> Number:
    """self log(other), 0 where self is 0 and other is not NaN"""
    factor, argument = (one if isinstance(one, Number) else apply("aten::scalar_tensor", one) for one in (self, other))
    return where((factor == 0) & ~argument.isnan(), 0.0, factor * argument.log())
