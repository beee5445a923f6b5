"""Gradients of arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conform.interp.gradients.kinks import as_float, by_side, kinked, zeros
from conform.interp.gradients.rules import gradient
from conform.interp.program.number import Number
from conform.numerics.real import Real


@gradient("aten::add.Tensor", "aten::add.Scalar", of=("self", "other"))
def add(g: Number, alpha: float) -> Any:
    """g, and of other g alpha"""
    return g, g if alpha == 1 else g * alpha


@gradient("aten::sub.Tensor", "aten::sub.Scalar", of=("self", "other"))
def sub(g: Number, alpha: float) -> Any:
    """g, and of other -g alpha"""
    return g, -g if alpha == 1 else g * -alpha


@gradient("aten::mul.Tensor", "aten::mul.Scalar", of=("self", "other"))
def mul(g: Number, self: Any, other: Any) -> Any:
    """g other, and of other g self"""
    return g * other, g * self


@gradient("aten::div.Tensor", "aten::div.Scalar", of=("self", "other"))
def div(g: Number, other: Any, result: Number) -> Any:
    """g / other, and of other -g result / other"""
    return g / other, -(g * (result / other))


@gradient("aten::neg")
def neg(g: Number) -> Number:
    """-g"""
    return -g


@gradient("aten::positive")
def positive(g: Number) -> Number:
    """g"""
    return g


@gradient("aten::abs")
def abs_(g: Number, self: Number) -> Number:
    """g where self > 0, -g where self < 0"""
    return by_side(self, 0.0, g, -g, g)


@gradient("aten::square")
def square(g: Number, self: Number) -> Number:
    """2 g self"""
    return g * (self * 2)


@gradient("aten::reciprocal")
def reciprocal(g: Number, result: Number) -> Number:
    """-g result^2"""
    return -(g * (result * result))


@gradient("aten::sqrt")
def sqrt(g: Number, self: Number, result: Number) -> Number:
    """g / (2 result)"""
    return kinked(g / (result * 2), self.real.hi == 0)


@gradient("aten::rsqrt")
def rsqrt(g: Number, result: Number) -> Number:
    """-g result^3 / 2"""
    return g * -0.5 * (result * result * result)


@gradient("aten::div.Tensor_mode", "aten::div.Scalar_mode", of=("self", "other"))
def div_mode(g: Number, self: Number, other: Any, rounding_mode: str | None) -> Any:
    """as of a quotient, or with a rounding mode 0"""
    if rounding_mode is not None:
        quotient = self.real / as_float(other).real
        nothing = kinked(zeros(g), (quotient.hi == np.floor(quotient.hi)) & np.isfinite(quotient.hi))
        return nothing, nothing
    return g / other, -(g * (self / other / other))


@gradient("aten::remainder.Tensor", "aten::remainder.Scalar", "aten::remainder.Scalar_Tensor", of=("self", "other"))
def remainder(g: Number, self: Any, other: Any) -> Any:
    """g, and of other -g floor(self / other)"""
    return _of_whole_quotients(g, self, other, np.floor)


@gradient("aten::fmod.Tensor", "aten::fmod.Scalar", of=("self", "other"))
def fmod(g: Number, self: Any, other: Any) -> Any:
    """g, and of other -g trunc(self / other)"""
    return _of_whole_quotients(g, self, other, np.trunc)


def _of_whole_quotients(g: Number, x: Any, y: Any, whole: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Nothing is said where the quotient is an integer, or may be rounded to one."""
    quotient = (as_float(x).real / as_float(y).real).hi
    near = np.abs(quotient - np.rint(quotient)) <= 4 * g.format.unit_roundoff * np.abs(quotient)
    jumps = near | ~np.isfinite(quotient)
    steps = np.where(jumps, 0.0, whole(quotient))
    factor = Number(g.format, Real.exact(steps), np.zeros(steps.shape))
    return kinked(g, jumps), kinked(-(g * factor), jumps)


@gradient("aten::lerp.Tensor", "aten::lerp.Scalar", of=("self", "end", "weight"))
def lerp(g: Number, self: Number, end: Number, weight: Any) -> Any:
    """g (1 - weight), of end g weight, and of the weight g (end - self)"""
    return g * (1 - weight), g * weight, g * (end - self)


@gradient("aten::addcmul", of=("self", "tensor1", "tensor2"))
def addcmul(g: Number, tensor1: Number, tensor2: Number, value: float) -> Any:
    """g, of tensor1 g value tensor2, and of tensor2 g value tensor1"""
    return g, g * (tensor2 * value), g * (tensor1 * value)


@gradient("aten::addcdiv", of=("self", "tensor1", "tensor2"))
def addcdiv(g: Number, tensor1: Number, tensor2: Number, value: float) -> Any:
    """g, of tensor1 g value / tensor2, and of tensor2 -g value tensor1 / tensor2^2"""
    return g, g * value / tensor2, -(g * (tensor1 * value / (tensor2 * tensor2)))


@gradient("aten::ldexp.Tensor")
def ldexp(g: Number, other: Number) -> Number:
    """g 2^other"""
    return g * other.to(g.dtype).exp2()


@gradient("aten::_to_copy")
def to_copy(g: Number) -> Number:
    """g, in the dtype of self"""
    return g
