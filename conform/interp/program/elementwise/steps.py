"""Rules of steps: comparisons, roundings, conversions. Each is decided where the whole ball lies on one side."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.apply import apply
from conform.interp.program.choice import MOST_ALLOWED, choice, either, is_unknown, possible
from conform.interp.program.elementwise.arithmetic import div, mul, sub
from conform.interp.program.number import Number
from conform.interp.program.rules import common_format, operands, rounded, rule, unbounded_where
from conform.numerics.formats import Format, compute_format, format_named
from conform.numerics.real import Real
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import reach


@rule("aten::eq.Tensor", "aten::eq.Scalar")
def eq(self: Any, other: Any) -> Any:
    fmt = common_format(self, other)
    if all(getattr(one, "array", 0) is not None for one in (self, other)):
        return NotImplemented
    return _compared("aten::eq", fmt, self, other, Real.equal)


def _compared(op: str, fmt: Format, lhs: Any, rhs: Any, compare: Callable[[Real, Real], tuple]) -> Number:
    if fmt.is_float:
        return either(*compare(*(widened(one) for one in operands(fmt, lhs, rhs))))
    given = [[one] if not isinstance(one, Number) else possible(op, one) for one in (lhs, rhs)]
    first, *others = (compare(_whole(x), _whole(y))[0] for x in given[0] for y in given[1])
    undecided = np.zeros(first.shape, bool)
    for other in others:
        undecided |= first ^ other
    for one in (lhs, rhs):
        undecided |= is_unknown(one) if isinstance(one, Number) else False
    return either(first, undecided)


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


@rule("aten::logical_not", "aten::bitwise_not")
def logical_not(self: Number) -> Any:
    if self.array is not None and self.format.kind != "bool":
        return NotImplemented
    return _of_bools("aten::logical_not", np.logical_not, self)


@rule("aten::logical_and", "aten::bitwise_and.Tensor", "aten::__and__.Tensor")
def logical_and(self: Number, other: Number) -> Any:
    return _joined("aten::logical_and", np.logical_and, self, other)


@rule("aten::logical_or", "aten::bitwise_or.Tensor", "aten::__or__.Tensor")
def logical_or(self: Number, other: Number) -> Any:
    return _joined("aten::logical_or", np.logical_or, self, other)


@rule("aten::logical_xor", "aten::bitwise_xor.Tensor")
def logical_xor(self: Number, other: Number) -> Any:
    return _joined("aten::logical_xor", np.logical_xor, self, other)


def _joined(op: str, join: np.ufunc, self: Number, other: Number) -> Any:
    if self.array is not None and other.array is not None:
        return NotImplemented
    return _of_bools(op, join, self, other)


def _of_bools(op: str, function: np.ufunc, *operands: Number) -> Number:
    """The function of bools, of which either is right where choices of the operands turn it."""
    for one in operands:
        if one.format.kind != "bool":
            raise NoGolden(f"a program cannot use {op} on {one.dtype} numbers: expected bools")
    first, *others = (function(*arrays) for arrays in product(*([one.array for one in possible(op, each)]
                                                                for each in operands)))  # fmt: skip
    undecided = np.zeros(np.shape(first), bool)
    for other in others:
        undecided = undecided | (first ^ other)
    return either(first, undecided)


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


@rule("aten::div.Tensor_mode", "aten::div.Scalar_mode")
def divided(self: Any, other: Any, rounding_mode: str | None = None) -> Any:
    """The quotient, or that rounded to an integer: down ("floor") or towards 0 ("trunc"). Down may also be Python's //,
    which has NaN of infinities, and -1 of a number by an infinity of the other sign (P32)."""
    if rounding_mode is None:
        return div(self, other)
    if _are_integral("aten::div", self, other):
        return NotImplemented
    whole = apply(f"aten::{rounding_mode}", div(self, other))
    return unbounded_where(_is_infinite(self) | _is_infinite(other), whole) if rounding_mode == "floor" else whole


@rule("aten::floor_divide", "aten::floor_divide.Scalar")
def floor_divide(self: Any, other: Any) -> Any:
    return divided(self, other, "floor")


@rule("aten::fmod.Tensor", "aten::fmod.Scalar")
def fmod(self: Any, other: Any) -> Any:
    """self - other * trunc(self / other)"""
    return NotImplemented if _are_integral("aten::fmod", self, other) else _rest(self, other, "trunc")


@rule("aten::remainder.Tensor", "aten::remainder.Scalar", "aten::remainder.Scalar_Tensor")
def remainder(self: Any, other: Any) -> Any:
    """self - other * floor(self / other)"""
    return NotImplemented if _are_integral("aten::remainder", self, other) else _rest(self, other, "floor")


def _are_integral(op: str, *given: Any) -> bool:
    """Whether the op's own semantics is to be asked. NoGolden for integers that hang on a choice."""
    if common_format(*given).is_float:
        return False
    if any(getattr(one, "array", 0) is None for one in given):
        raise NoGolden(f"a program cannot use {op} on integers of which it does not know which they are")
    return True


def _rest(self: Any, other: Any, step: str) -> Any:
    """By the formula, which says nothing of an infinite divisor: 0 times that is NaN."""
    rest = sub(self, mul(other, apply(f"aten::{step}", div(self, other))))
    return unbounded_where(_is_infinite(other), rest)


def _is_infinite(one: Any) -> np.ndarray:
    return np.isinf(one.real.hi if isinstance(one, Number) else np.float64(one))


@rule("aten::sign")
def sign(self: Number) -> Any:
    """1, 0 or -1; where an implementation's number may lie on the other side of 0, off by as much as 2. Of NaN nothing
    is said."""
    if self.array is not None:
        return NotImplemented
    low, high = (np.sign(end) for end in ends(self))
    middle = np.sign(self.real.hi)
    rad = np.where(low == high, 0.0, np.where(np.isnan(low + high), np.inf, 2.0))
    return Number(self.format, Real.exact(middle), rad)


def _define_class(name: str, is_of: Callable[[np.ndarray], np.ndarray]) -> None:
    """The rule of a class of numbers: decided where the number is bounded, or special for certain; else either is
    right."""

    def of_class(self: Number) -> Any:
        return NotImplemented if self.array is not None else either(is_of(self.real.hi), is_unknown(self))

    rule(f"aten::{name}")(of_class)


for _name, _is_of in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
    _define_class(_name, _is_of)


@rule("aten::_to_copy")
def to_copy(self: Number, dtype: str | None = None) -> Any:
    """A rounding is a step as well, but a small one: the error becomes that of the rounded ends of the ball."""
    fmt = self.format if dtype is None else format_named(dtype)
    if self.array is not None or not fmt.is_float:
        return _converted_exactly(self, fmt)
    if self.allowed and not self.format.is_float:
        return self.held_in(fmt)
    if compute_format(fmt) != fmt or fmt.bits < self.format.bits:
        return _rounded(self, fmt)
    return Number(fmt, self.real, self.rad)


def of_dtype(number: Number, dtype: str | None) -> Any:
    """The operand of an op that may be told a dtype to compute in: converted, where that is another one."""
    return number if dtype in (None, number.dtype) else to_copy(number, dtype)


def _converted_exactly(number: Number, fmt: Format) -> Any:
    if number.allowed and not number.format.is_float:
        return _converted_choices(number, fmt)
    if number.array is None and number.format.is_float and fmt.is_integer:
        return _truncated(number, fmt)
    if number.array is None:
        raise NoGolden(f"a program cannot convert what it has computed to {fmt.name}: its arguments it can")
    if not fmt.is_float or number.format.is_complex or (number.format.is_float and fmt.bits <= 8):
        return NotImplemented
    return number.held_in(fmt) if number.ndim else Number.exact(round_to(fmt, *_parts(number)))


def _truncated(number: Number, fmt: Format) -> Any:
    """The integers between the ends of the balls; of an element nothing is told where there are many, or the format
    lacks one."""
    low, middle, high = (np.trunc(one) for one in (ends(number)[0], number.real.hi, ends(number)[1]))
    known = np.isfinite(low) & np.isfinite(high) & (np.maximum(np.abs(low), np.abs(high)) < 2.0**53)
    held = (low >= float(fmt.min_value)) & (high <= float(fmt.max_value))
    few = known & held & (high - low < MOST_ALLOWED)
    middle = np.where(few, np.clip(middle, low, high), 0.0)
    others = [np.where(few, np.minimum(low + at, high), middle) for at in range(MOST_ALLOWED)]
    return choice(fmt, [middle, *others], ~few)


def _converted_choices(number: Number, fmt: Format) -> Number:
    """Integers and bools of which several are right, in another dtype."""
    if fmt.is_float:
        return number.held_in(fmt)
    return choice(fmt, [one.astype(fmt.storage) for one in number.allowed], is_unknown(number))


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
        low, high = (number.real.hi - reach(number.rad), number.real.hi + reach(number.rad))
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        return np.where(exact, number.real.hi, low), np.where(exact, number.real.hi, high)


def widened(number: Number) -> Real:
    """The real numbers with the honest error in their radius."""
    return Real(number.real.hi, number.real.lo, number.real.radius + reach(number.rad))
