"""Rules of arithmetic: formulas, once for reals and once for balls."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.number import Number
from conform.interp.program.rules import combined, common_format, operands, rule, unbounded_where
from conform.interp.promotion import float_result
from conform.numerics import real as reals
from conform.numerics.ball import Ball
from conform.numerics.real import Real
from conform.numerics.rounding_errors import reach


@rule("aten::add.Tensor", "aten::add.Scalar")
def add(self: Any, other: Any, alpha: float = 1) -> Any:
    """self + alpha * other, in one or two roundings."""
    fmt = common_format(self, other)
    if not fmt.is_float:
        return NotImplemented
    x, y = operands(fmt, self, other)
    return combined(fmt, operator.add, operator.add, x, scaled(y, alpha))


@rule("aten::sub.Tensor", "aten::sub.Scalar")
def sub(self: Any, other: Any, alpha: float = 1) -> Any:
    """self - alpha * other, in one or two roundings."""
    fmt = common_format(self, other)
    if not fmt.is_float:
        return NotImplemented
    x, y = operands(fmt, self, other)
    return combined(fmt, operator.sub, operator.sub, x, scaled(y, alpha))


def scaled(y: Number, alpha: float) -> Number:
    if alpha == 1:
        return y
    (factor,) = operands(y.format, alpha)
    return combined(y.format, operator.mul, operator.mul, y, factor)


@rule("aten::mul.Tensor", "aten::mul.Scalar")
def mul(self: Any, other: Any) -> Any:
    fmt = common_format(self, other)
    if not fmt.is_float:
        return NotImplemented
    return combined(fmt, operator.mul, operator.mul, *operands(fmt, self, other))


@rule("aten::square")
def square(self: Number) -> Any:
    return mul(self, self) if self.format.is_float else NotImplemented


@rule("aten::div.Tensor", "aten::div.Scalar")
def div(self: Any, other: Any) -> Number:
    fmt = float_result(common_format(self, other))
    return _quotient(*operands(fmt, self, other))


@rule("aten::reciprocal")
def reciprocal(self: Number) -> Number:
    fmt = float_result(self.format)
    return _quotient(*operands(fmt, 1, self))


def _quotient(x: Number, y: Number) -> Number:
    """Nothing is bounded by a zero that was computed: an implementation may have the other one, or none."""
    quotient = combined(x.format, operator.truediv, operator.truediv, x, y)
    return quotient if y.array is not None else unbounded_where(y.real.hi == 0, quotient)


@rule("aten::neg", selects=True)
def neg(self: Number) -> Any:
    return combined(self.format, operator.neg, operator.neg, self) if self.format.is_float else NotImplemented


@rule("aten::abs", selects=True)
def abs_(self: Number) -> Any:
    """||a| - |b|| <= |a - b|."""
    if not self.format.is_float:
        return NotImplemented
    return combined(self.format, operator.abs, lambda x: Ball(np.abs(x.mid), x.rad, x.compute), self)


@rule("aten::sqrt")
def sqrt(self: Number) -> Number:
    return root(*operands(float_result(self.format), self))


@rule("aten::rsqrt")
def rsqrt(self: Number) -> Number:
    fmt = float_result(self.format)
    return _quotient(*operands(fmt, 1), root(*operands(fmt, self)))


def root(x: Number) -> Number:
    """Nothing is bounded where an implementation's number may be negative, and its root NaN; of what is negative for
    certain it is."""
    result = combined(x.format, Real.sqrt, Ball.sqrt, x)
    negative, may_be_negative = (x.real.hi < 0) & (x.rad == 0), (x.rad > 0) & (x.real.hi < reach(x.rad))
    return Number(x.format, result.real, np.where(negative, 0.0, np.where(may_be_negative, np.inf, result.rad)))


# --- Choice -----------------------------------------------------------------------------------------------------------


@rule("aten::maximum", selects=True)
def maximum(self: Number, other: Number) -> Any:
    """Continuous: off by no more than the larger of the two errors, or that of the one that is larger for certain."""
    fmt = common_format(self, other)
    if not fmt.is_float:
        return NotImplemented
    return combined(fmt, reals.maximum, larger, *operands(fmt, self, other))


@rule("aten::minimum", selects=True)
def minimum(self: Number, other: Number) -> Any:
    fmt = common_format(self, other)
    if not fmt.is_float:
        return NotImplemented
    x, y = operands(fmt, self, other)
    return combined(fmt, lambda a, b: -reals.maximum(-a, -b), lambda a, b: -larger(-a, -b), x, y)


def larger(x: Ball, y: Ball) -> Ball:
    """The larger of each pair, NaN if either is."""
    first, second = x.mid - x.rad > y.mid + y.rad, y.mid - y.rad > x.mid + x.rad
    rad = np.where(first, x.rad, np.where(second, y.rad, np.maximum(x.rad, y.rad)))
    exactly_nan = np.isnan(x.mid) & (x.rad == 0) | np.isnan(y.mid) & (y.rad == 0)
    return Ball(np.maximum(x.mid, y.mid), np.where(exactly_nan, 0.0, rad), x.compute)


@rule("aten::relu", selects=True)
def relu(self: Number) -> Any:
    """max(self, 0)"""
    return _clamped(self, 0, None)


@rule("aten::clamp")
def clamp(self: Number, min: float | None = None, max: float | None = None) -> Any:
    """min(max(self, min), max), off by no more than self is; NaN stays NaN."""
    return _clamped(self, min, max)


@rule("aten::hardtanh")
def hardtanh(self: Number, min_val: float = -1, max_val: float = 1) -> Any:
    return _clamped(self, min_val, max_val)


@rule("aten::relu6")
def relu6(self: Number) -> Any:
    return _clamped(self, 0, 6)


@rule("aten::clamp.Tensor")
def clamp_between(self: Number, min: Number | None = None, max: Number | None = None) -> Any:
    if all(one is None or one.array is not None for one in (self, min, max)):
        return NotImplemented
    result = self if min is None else maximum(self, min)
    return result if max is None else minimum(result, max)


def _clamped(x: Number, low: float | None, high: float | None) -> Any:
    if x.array is not None and x.format.is_integer and not any(isinstance(one, float) for one in (low, high)):
        return Number.exact(np.clip(x.array, low, high))
    if not x.format.is_float:
        return NotImplemented
    result = x
    if low is not None:
        result = maximum(*operands(x.format, result, low))
    return result if high is None else minimum(*operands(x.format, result, high))


@rule("aten::rrelu_with_noise_functional")
def rrelu(self: Number, noise: Number, lower: float = 0.125, upper: float = 1 / 3, training: bool = False) -> Any:
    """leaky_relu with the mean of both slopes; in training with any between them, so with equal ones alone. And the
    slopes, of which nothing is said."""
    if training and lower != upper:
        raise NoGolden("aten::rrelu_with_noise in training draws its slopes")
    unknown = Number(noise.format, Real.exact(np.zeros(noise.shape)), np.full(noise.shape, np.inf))
    return leaky_relu(self, (lower + upper) / 2), unknown


@rule("aten::leaky_relu")
def leaky_relu(self: Number, negative_slope: float = 0.01) -> Any:
    """max(self, 0) + negative_slope * min(self, 0), of which one term is 0."""
    if not self.format.is_float:
        return NotImplemented
    return add(_clamped(self, 0, None), mul(_clamped(self, None, 0), negative_slope))
