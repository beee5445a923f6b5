"""Gradients of real functions of two operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from conform.interp.gradients.functions.real import unless
from conform.interp.gradients.kinks import as_float, kinked, promoted, zeros
from conform.interp.gradients.rules import gradient
from conform.interp.program.apply import apply
from conform.interp.program.number import Number


@gradient("aten::pow.Tensor_Scalar")
def pow_(g: Number, self: Number, exponent: float) -> Number:
    """g exponent self^(exponent - 1)"""
    if exponent == 0:
        return zeros(g)
    if exponent == 1:
        return g
    less = exponent - 1
    if less < 0 and float(less).is_integer():
        return unless(g * self.pow(-less).reciprocal() * exponent, self.real.hi != 0)
    inside = self.real.hi > 0 if not float(exponent).is_integer() else np.isfinite(self.real.hi)
    return unless(g * self.pow(less) * exponent, inside)


@gradient("aten::pow.Tensor_Tensor", of=("self", "exponent"))
def pow_of_tensors(g: Number, self: Number, exponent: Number, result: Number) -> Any:
    """g exponent self^(exponent - 1), and of the exponent g result log(self)"""
    base, power = np.broadcast_arrays(as_float(self).real.hi, as_float(exponent).real.hi)
    # Beyond this an integer less 1 may be rounded to one of the other parity.
    is_integer = (power == np.rint(power)) & (np.abs(power) < 2.0 ** (g.format.precision - 1))
    is_smooth = (base > 0) | (is_integer & np.isfinite(base) & ((base != 0) | (power >= 1)))
    return unless(g * _slope(self, exponent, g), is_smooth), unless(g * result * self.log(), base > 0)


def _slope(x: Number, exponent: Number, like: Number) -> Number:
    """exponent x^(exponent - 1) in the dtype of `like`, of x that is not above 0 for integer exponents: 1 or 0 at 0."""
    less = promoted(exponent, like) - 1
    size = exponent * x.abs().pow(less)
    is_negative = (as_float(x).real.hi < 0) & (np.remainder(less.real.hi, 2) == 1)
    slope = apply("aten::where.self", is_negative, -size, size)
    at_zero = Number.exact((less.real.hi == 0).astype(like.format.storage))
    return apply("aten::where.self", as_float(x).real.hi == 0, at_zero, slope)


@gradient("aten::pow.Scalar", of=("exponent",))
def pow_of_number(g: Number, self: float, exponent: Number) -> Number:
    """g self^exponent log(self)"""
    base = Number.exact(np.float64(self))
    return unless(g * base.pow(exponent) * base.log(), np.broadcast_to(np.asarray(self) > 0, g.shape))


@gradient("aten::hypot", of=("self", "other"))
def hypot(g: Number, self: Number, other: Number, result: Number) -> Any:
    """g self / result, and g other / result"""
    at_zero = result.real.hi == 0
    return kinked(g * (self / result), at_zero), kinked(g * (other / result), at_zero)


@gradient("aten::atan2", of=("self", "other"))
def atan2(g: Number, self: Number, other: Number) -> Any:
    """g other / (self^2 + other^2), and -g self / (self^2 + other^2)"""
    square = self * self + other * other
    at_zero = square.real.hi == 0
    return kinked(g * (other / square), at_zero), kinked(-(g * (self / square)), at_zero)


@gradient("aten::logaddexp", of=("self", "other"))
def logaddexp(g: Number, self: Number, other: Number) -> Any:
    """g / (1 + e^(other - self)), and g / (1 + e^(self - other))"""
    x, y = (promoted(one, g) for one in (self, other))
    return g / (1 + (y - x).exp()), g / (1 + (x - y).exp())


@gradient(
    "aten::xlogy.Tensor", "aten::xlogy.Scalar_Other", "aten::xlogy.Scalar_Self", "aten::special_xlogy",
    "aten::special_xlogy.other_scalar", "aten::special_xlogy.self_scalar", of=("self", "other"),
)  # fmt: skip
def xlogy(g: Number, self: Any, other: Any) -> Any:
    """g log(other), and g self / other"""
    inside = as_float(other).real.hi > 0
    number = other if isinstance(other, Number) else Number.exact(np.float64(other))
    return unless(g * number.log(), inside), unless(g * self / number, inside)
