"""Gradients of real functions of one operand."""

from __future__ import annotations

import numpy as np

from conform.interp.gradients import constants
from conform.interp.gradients.constants import times
from conform.interp.gradients.kinks import kinked, zeros
from conform.interp.gradients.rules import gradient
from conform.interp.program.number import Number


def unless(number: Number, inside: np.ndarray) -> Number:
    """The number where the function has a derivative, which is not at the ends of its domain or beyond."""
    return kinked(number, ~inside)


# --- Exponentials and logarithms --------------------------------------------------------------------------------------


@gradient("aten::exp")
def exp(g: Number, result: Number) -> Number:
    """g e^self"""
    return g * result


@gradient("aten::cbrt")
def cbrt(g: Number, self: Number, result: Number) -> Number:
    """g / (3 result^2)"""
    return unless(g / (result * result * 3), self.real.hi != 0)


@gradient("aten::exp2", "aten::special_exp2")
def exp2(g: Number, result: Number) -> Number:
    """g 2^self log 2"""
    return times(g * result, constants.LOG_2)


@gradient("aten::expm1", "aten::special_expm1")
def expm1(g: Number, result: Number) -> Number:
    """g (result + 1)"""
    return g * (result + 1)


@gradient("aten::log")
def log(g: Number, self: Number) -> Number:
    """g / self"""
    return unless(g / self, self.real.hi > 0)


@gradient("aten::log1p", "aten::special_log1p")
def log1p(g: Number, self: Number) -> Number:
    """g / (self + 1)"""
    return unless(g / (self + 1), self.real.hi > -1)


@gradient("aten::log2")
def log2(g: Number, self: Number) -> Number:
    """g / (self log 2)"""
    return unless(g / times(self, constants.LOG_2), self.real.hi > 0)


@gradient("aten::log10")
def log10(g: Number, self: Number) -> Number:
    """g / (self log 10)"""
    return unless(g / times(self, constants.LOG_10), self.real.hi > 0)


# --- Circular and hyperbolic functions --------------------------------------------------------------------------------


@gradient("aten::sin")
def sin(g: Number, self: Number) -> Number:
    """g cos(self)"""
    return g * self.cos()


@gradient("aten::cos")
def cos(g: Number, self: Number) -> Number:
    """-g sin(self)"""
    return -(g * self.sin())


@gradient("aten::tan")
def tan(g: Number, result: Number) -> Number:
    """g (1 + result^2)"""
    return g * (1 + result * result)


@gradient("aten::asin")
def asin(g: Number, self: Number) -> Number:
    """g / sqrt(1 - self^2)"""
    return unless(g * (1 - self * self).rsqrt(), np.abs(self.real.hi) < 1)


@gradient("aten::acos")
def acos(g: Number, self: Number) -> Number:
    """-g / sqrt(1 - self^2)"""
    return unless(-(g * (1 - self * self).rsqrt()), np.abs(self.real.hi) < 1)


@gradient("aten::atan")
def atan(g: Number, self: Number) -> Number:
    """g / (self^2 + 1)"""
    return g / (self * self + 1)


@gradient("aten::sinh")
def sinh(g: Number, self: Number) -> Number:
    """g cosh(self)"""
    return g * self.cosh()


@gradient("aten::cosh")
def cosh(g: Number, self: Number) -> Number:
    """g sinh(self)"""
    return g * self.sinh()


@gradient("aten::tanh")
def tanh(g: Number, result: Number) -> Number:
    """g (1 - result^2)"""
    return g * (1 - result * result)


@gradient("aten::asinh")
def asinh(g: Number, self: Number) -> Number:
    """g / sqrt(self^2 + 1)"""
    return g * (self * self + 1).rsqrt()


@gradient("aten::acosh")
def acosh(g: Number, self: Number) -> Number:
    """g / sqrt(self^2 - 1)"""
    return unless(g * (self * self - 1).rsqrt(), self.real.hi > 1)


@gradient("aten::atanh")
def atanh(g: Number, self: Number) -> Number:
    """g / (1 - self^2)"""
    return unless(g / (1 - self * self), np.abs(self.real.hi) < 1)


@gradient("aten::deg2rad")
def deg2rad(g: Number) -> Number:
    """g pi / 180"""
    return times(g, constants.PI_OVER_180)


@gradient("aten::rad2deg")
def rad2deg(g: Number) -> Number:
    """g 180 / pi"""
    return times(g, constants.ONE_80_OVER_PI)


@gradient("aten::sinc", "aten::special_sinc")
def sinc(g: Number, self: Number) -> Number:
    """g (pi self cos(pi self) - sin(pi self)) / (pi self^2), and 0 at 0"""
    angle = times(self, constants.PI)
    slope = (angle * angle.cos() - angle.sin()) / (angle * self)
    at_zero = self.real.hi == 0
    return g * (slope if not at_zero.any() else Number.exact(at_zero).where(zeros(g), slope))


# --- The normal distribution, gamma, Bessel ---------------------------------------------------------------------------


@gradient("aten::erf", "aten::special_erf")
def erf(g: Number, self: Number) -> Number:
    """g 2/sqrt(pi) e^(-self^2)"""
    return g * times((-(self * self)).exp(), constants.TWO_OVER_ROOT_PI)


@gradient("aten::erfc", "aten::special_erfc")
def erfc(g: Number, self: Number) -> Number:
    """-g 2/sqrt(pi) e^(-self^2)"""
    return -erf(g, self)


@gradient("aten::erfinv", "aten::special_erfinv")
def erfinv(g: Number, self: Number, result: Number) -> Number:
    """g sqrt(pi)/2 e^(result^2)"""
    return unless(g * times((result * result).exp(), constants.ROOT_PI_OVER_2), np.abs(self.real.hi) < 1)


@gradient("aten::special_ndtr")
def ndtr(g: Number, self: Number) -> Number:
    """g e^(-self^2 / 2) / sqrt(2 pi)"""
    share = times(self, constants.ROOT_OF_HALF)
    return g * times((-(share * share)).exp(), constants.OVER_ROOT_2_PI)


@gradient("aten::lgamma")
def lgamma(g: Number, self: Number) -> Number:
    """g digamma(self)"""
    return unless(g * self.digamma(), (self.real.hi > 0) | (self.real.hi != np.floor(self.real.hi)))


@gradient("aten::i0", "aten::special_i0")
def i0(g: Number, self: Number) -> Number:
    """g I_1(self)"""
    return g * self.special_i1()
