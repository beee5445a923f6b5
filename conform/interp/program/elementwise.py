"""Rules of arithmetic: formulas, once for reals and once for balls."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from conform.errors import NoGolden, Unjudged
from conform.interp.program.number import Number
from conform.interp.program.rules import combined, common_format, operands, rounded, rule, unbounded_where
from conform.interp.promotion import float_result
from conform.numerics import real as reals
from conform.numerics.ball import Ball
from conform.numerics.formats import Format, compute_format, format_named
from conform.numerics.real import Real
from conform.numerics.rounding import round_to


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
    negative, may_be_negative = (x.real.hi < 0) & (x.rad == 0), (x.rad > 0) & (x.real.hi < x.rad)
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


# --- Steps: decided where the whole ball lies on one side -------------------------------------------------------------


@rule("aten::eq.Tensor", "aten::eq.Scalar")
def eq(self: Any, other: Any) -> Any:
    fmt = common_format(self, other)
    if not fmt.is_float or all(getattr(one, "array", 0) is not None for one in (self, other)):
        return NotImplemented
    return _compared("aten::eq", fmt, self, other, Real.equal)


def _compared(op: str, fmt: Format, lhs: Any, rhs: Any, compare: Callable[[Real, Real], tuple]) -> Number:
    x, y = (widened(one) for one in operands(fmt, lhs, rhs)) if fmt.is_float else map(_whole, (lhs, rhs))
    holds, undecided = compare(x, y)
    refuse_undecided(op, undecided)
    return Number.exact(holds)


def _whole(given: Any) -> Real:
    """Integers, bools and Python's integers, exactly."""
    return Real.of_integers(given.array if isinstance(given, Number) else np.asarray(given, np.int64))


def _or_nan(x: Real, y: Real) -> np.ndarray:
    return np.isnan(x.hi) | np.isnan(y.hi)


def _not_less(x: Real, y: Real) -> tuple[np.ndarray, np.ndarray]:
    less, undecided = x.less(y)
    return ~less & ~_or_nan(x, y), undecided


def _unequal(x: Real, y: Real) -> tuple[np.ndarray, np.ndarray]:
    equal, undecided = x.equal(y)
    return ~equal, undecided


def _define_comparison(name: str, compare: Callable[[Real, Real], tuple]) -> None:
    """The rule of a comparison: of NaN every one is false but `ne`."""

    def comparison(self: Any, other: Any) -> Number:
        return _compared(f"aten::{name}", common_format(self, other), self, other, compare)

    rule(f"aten::{name}.Tensor", f"aten::{name}.Scalar")(comparison)


_define_comparison("lt", Real.less)
_define_comparison("gt", lambda x, y: y.less(x))
_define_comparison("ge", _not_less)
_define_comparison("le", lambda x, y: _not_less(y, x))
_define_comparison("ne", _unequal)


@rule("aten::logical_not")
def logical_not(self: Number) -> Number:
    return Number.exact(~_known_bools("aten::logical_not", self))


@rule("aten::bitwise_not")
def bitwise_not(self: Number) -> Number:
    if self.array is None or self.format.is_float:
        raise NoGolden(f"a program cannot use aten::bitwise_not on {self.dtype} numbers: expected known bools")
    return Number.exact(~self.array)


@rule("aten::logical_and")
def logical_and(self: Number, other: Number) -> Number:
    return Number.exact(_known_bools("aten::logical_and", self) & _known_bools("aten::logical_and", other))


@rule("aten::logical_or")
def logical_or(self: Number, other: Number) -> Number:
    return Number.exact(_known_bools("aten::logical_or", self) | _known_bools("aten::logical_or", other))


def _known_bools(op: str, number: Number) -> np.ndarray:
    if number.array is None or number.format.kind != "bool":
        raise NoGolden(f"a program cannot use {op} on {number.dtype} numbers: expected known bools")
    return number.array


def _define_step(op: str, step: Callable[[np.ndarray], np.ndarray]) -> None:
    """The rule of a rounding to integers: nothing is bounded where an implementation's number may go to another one."""

    def stepped(self: Number) -> Any:
        if self.array is not None:
            return NotImplemented
        low, high = (step(end) for end in ends(self))
        nearest = Real.exact(np.where(low == high, low, step(self.real.hi)))
        return Number(self.format, nearest, np.where(low == high, 0.0, np.inf))

    rule(op)(stepped)


for _name, _step in (("round", np.rint), ("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc)):
    _define_step(f"aten::{_name}", _step)


@rule("aten::sign")
def sign(self: Number) -> Any:
    """1, 0 or -1; where an implementation's number may lie on the other side of 0, off by as much as 2."""
    if self.array is not None:
        return NotImplemented
    low, high = (np.sign(end) for end in ends(self))
    middle = np.sign(self.real.hi)
    rad = np.where((low == high) | np.isnan(middle) & (self.rad == 0), 0.0, np.where(np.isnan(low + high), np.inf, 2.0))
    return Number(self.format, Real.exact(middle), rad)


@rule("aten::isnan")
def isnan(self: Number) -> Any:
    """Decided where the number is bounded, or NaN for certain."""
    if self.array is not None:
        return NotImplemented
    refuse_undecided("aten::isnan", ~np.isfinite(self.rad))
    return Number.exact(np.isnan(self.real.hi))


@rule("aten::_to_copy")
def to_copy(self: Number, dtype: str | None = None) -> Any:
    """A rounding is a step as well, but a small one: the error becomes that of the rounded ends of the ball."""
    fmt = self.format if dtype is None else format_named(dtype)
    if self.array is not None or not fmt.is_float:
        return _converted_exactly(self, fmt)
    if compute_format(fmt) != fmt or fmt.bits < self.format.bits:
        return _rounded(self, fmt)
    return Number(fmt, self.real, self.rad)


def _converted_exactly(number: Number, fmt: Format) -> Any:
    if number.array is None and fmt.is_integer:
        low, high = (np.trunc(end) for end in ends(number))
        refuse_undecided(f"aten::_to_copy to {fmt.name}", ~((low == high) & (np.abs(low) < 2.0**53)))
        return NotImplemented if _beyond(fmt, low) else Number.exact(low.astype(fmt.storage))
    if number.array is None:
        raise NoGolden(f"a program cannot convert what it has computed to {fmt.name}: its arguments it can")
    if not fmt.is_float or number.format.is_complex or (number.format.is_float and fmt.bits <= 8):
        return NotImplemented
    return number.held_in(fmt) if number.ndim else Number.exact(round_to(fmt, *_parts(number)))


def _beyond(fmt: Format, integers: np.ndarray) -> bool:
    """Whether some number is none of the format's."""
    limits = np.iinfo(fmt.storage)
    return bool(((integers < limits.min) | (integers > limits.max)).any())


def _parts(number: Number) -> tuple[np.ndarray, ...]:
    real = number.real if number.format.is_float else Real.of_integers(number.array)
    return real.hi, real.lo


def _rounded(number: Number, fmt: Format) -> Number:
    if fmt.bits <= 8:
        raise NoGolden(f"a program cannot convert what it has computed to {fmt.name}: what overflows may saturate")
    value, undecided = rounded(fmt, number.real)
    middle = value.astype(np.float64)
    with np.errstate(all="ignore"):
        low, high = (round_to(fmt, end).astype(np.float64) for end in ends(number))
        rad = np.where((low == middle) & (high == middle), 0.0, np.maximum(high - middle, middle - low))
    determined = ~np.isfinite(middle) & (number.rad == 0)
    rad = np.where(determined, 0.0, np.where(np.isfinite(rad) & ~undecided, rad, np.inf))
    return Number(fmt, Real.exact(middle), rad, value if not np.any(rad) else None)


def ends(number: Number) -> tuple[np.ndarray, np.ndarray]:
    """float64 numbers at or beyond the ends of the balls; a NaN is both its ends."""
    with np.errstate(all="ignore"):
        exact = (number.rad == 0) & (number.real.lo == 0) & (number.real.radius == 0)
        low, high = (number.real.hi - number.rad, number.real.hi + number.rad)
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        return np.where(exact, number.real.hi, low), np.where(exact, number.real.hi, high)


def widened(number: Number) -> Real:
    """The real numbers with the honest error in their radius."""
    return Real(number.real.hi, number.real.lo, number.real.radius + number.rad)


def refuse_undecided(op: str, undecided: np.ndarray) -> None:
    """Unjudged where a result hangs on which side of a threshold an honest number lies."""
    if np.any(undecided):
        count, first = np.count_nonzero(undecided), np.argwhere(undecided)[0].tolist()
        raise Unjudged(f"{op} hangs on {count} numbers that honest implementations have on either side of a threshold, "
                       f"the first at {first}")  # fmt: skip

