"""Elementwise arithmetic.

Floats: the real result on the operands' exact values, rounded once. Integers wrap modulo 2^n (P10); add of bools is or,
mul is and (P17).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conform.interp.formulas.complexes import components, joined, sum_of_products
from conform.interp.golden import Golden, Outcome
from conform.interp.operands import (
    broadcast_complex_numbers,
    broadcast_converted,
    broadcast_numbers,
    complex_numbers,
    converted,
    steps_of,
)
from conform.interp.ops.functions.complex_parts import absolute, complex_function, unit_of
from conform.interp.promotion import Operand, float_result, result_type
from conform.interp.semantics import pointwise
from conform.numerics import arithmetic
from conform.numerics.formats import Format
from conform.numerics.real import Real, where
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import readings_of_step


def exact(value: np.ndarray, fmt: Format, **freedoms: object) -> Golden:
    """An output that needs no rounding."""
    return Golden(fmt, np.asarray(value, dtype=fmt.storage), **freedoms)


def integers(fmt: Format, operation: Callable[..., np.ndarray], *operands: Operand) -> Golden:
    """An operation of numpy on the operands in `fmt`, wrapping."""
    with np.errstate(all="ignore"):
        return exact(operation(*broadcast_converted(fmt, *operands)), fmt)


# Arithmetic


@pointwise("aten::add.Tensor", "aten::add.Scalar")
def add(self: Operand, other: Operand, alpha: int | float | complex = 1) -> Golden:
    """self + alpha * other"""
    fmt = result_type(self, other)
    if fmt.kind == "complex":
        return _add_complex(fmt, self, other, alpha)
    if fmt.kind == "bool":
        return integers(fmt, lambda x, y: x | (y & bool(alpha)), self, other)
    if not fmt.is_float:
        return integers(fmt, lambda x, y: x + converted(alpha, fmt) * y, self, other)
    x, y = broadcast_numbers(fmt, self, other)
    return _add_float(fmt, x, y, float(alpha))


@pointwise("aten::sub.Tensor", "aten::sub.Scalar")
def sub(self: Operand, other: Operand, alpha: int | float | complex = 1) -> Golden:
    """self - alpha * other, or self + (-alpha) * other, of whose zeros the signs differ where alpha is 0; not of bools
    (P96)"""
    fmt = result_type(self, other)
    if fmt.is_integer:
        return integers(fmt, lambda x, y: x - converted(alpha, fmt) * y, self, other)
    if fmt.is_complex:
        return _add_complex(fmt, self, other, -alpha)
    x, y = broadcast_numbers(fmt, self, other)
    return replace(_add_float(fmt, x, y, -float(alpha)), zero_sign_free=alpha == 0)


@pointwise("aten::rsub.Tensor", "aten::rsub.Scalar")
def rsub(self: Operand, other: Operand, alpha: int | float | complex = 1) -> Golden:
    """other - alpha * self, which is sub with its operands in the other order (P96)"""
    return sub(other, self, alpha)


def _add_float(fmt: Format, x: np.ndarray, y: np.ndarray, alpha: float) -> Golden:
    if abs(alpha) == 1:
        return Golden(fmt, *arithmetic.add(fmt, x, alpha * y))
    fused = Golden(fmt, *arithmetic.axpy(fmt, np.float64(alpha), x, y))
    return fused.or_else(*_add_in_two_roundings(fmt, x, y, alpha))


def _add_in_two_roundings(fmt: Format, x: np.ndarray, y: np.ndarray, alpha: float) -> list[Golden]:
    """P31: the product, and then the sum, rounded to the compute type or to the element type."""
    goldens = []
    for step in steps_of(fmt):
        rounded, _ = arithmetic.mul(step, np.float64(alpha), y)
        for product in readings_of_step(step, rounded.astype(np.float64)):
            goldens.append(Golden(fmt, *arithmetic.add(fmt, x, product)))
            total, _ = arithmetic.add(step, x, product)
            goldens.append(rounded_from(fmt, total.astype(np.float64)))
    return goldens


def rounded_from(fmt: Format, wide: np.ndarray) -> Golden:
    """A float64 result of an allowed computation, rounded to `fmt`: the rounded value itself is the expectation."""
    value = round_to(fmt, wide)
    return Golden(fmt, value, Real.exact(value.astype(np.float64)))


def _add_complex(fmt: Format, self: Operand, other: Operand, alpha: int | float | complex) -> Golden:
    """Part by part where alpha is real; P8 where parts or products are not finite, P9 for the signs of zeros."""
    x, y = broadcast_complex_numbers(fmt, self, other)
    if isinstance(alpha, complex) and alpha != 1:
        return sum_of_products(fmt, (np.ones_like(x), x), (np.full_like(y, alpha), y))
    factor = np.float64(alpha.real)
    parts, real = arithmetic.axpy(fmt.component, factor, components(x), components(y))
    magnitude = np.abs(components(x)) + np.abs(factor * components(y))
    roundings = 1 if factor == 1 else 2
    golden = Golden(fmt, joined(fmt, parts), real, roundings, magnitude, zero_sign_free=True)
    terms = [round_to(fmt.component, each) for each in (components(x), factor * components(y))]
    return golden.opened(~np.logical_and(*map(np.isfinite, terms)).all(axis=-1), "P8")


@pointwise("aten::mul.Tensor", "aten::mul.Scalar", commutes=True)
def mul(self: Operand, other: Operand) -> Golden:
    """self * other"""
    fmt = result_type(self, other)
    if fmt.kind == "complex":
        return sum_of_products(fmt, tuple(broadcast_complex_numbers(fmt, self, other)))
    if fmt.kind == "bool":
        return integers(fmt, np.logical_and, self, other)
    if not fmt.is_float:
        return integers(fmt, np.multiply, self, other)
    return Golden(fmt, *arithmetic.mul(fmt, *broadcast_numbers(fmt, self, other)))


# Division


def _divisor_rules(fmt: Format, dividend: np.ndarray, divisor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where an integer divisor is zero (P11), and where the smallest integer is divided by -1 (P12)."""
    signed = fmt.kind == "int"
    return divisor == 0, (dividend == fmt.min_value) & (divisor == -1) if signed else np.zeros(divisor.shape, bool)


def _integer_division(fmt: Format, self: Operand, other: Operand, rounding_mode: str) -> Outcome:
    dividend, divisor = broadcast_converted(fmt, self, other)
    zero, overflow = _divisor_rules(fmt, dividend, divisor)
    undefined = zero | overflow
    safe = np.where(undefined, fmt.storage.type(1), divisor)
    quotient = dividend // safe
    if rounding_mode == "trunc":
        quotient = quotient + ((quotient * safe != dividend) & (quotient < 0))
    golden = exact(quotient, fmt).opened(zero, "P11").opened(overflow, "P12")
    return Outcome((golden,), refusal="P11, P12" if undefined.any() else None)


@pointwise("aten::div.Tensor", "aten::div.Scalar")
def div(self: Operand, other: Operand) -> Golden:
    """self / other, the true quotient; integers and bools become float32 first"""
    fmt = float_result(result_type(self, other))
    if fmt.is_complex:
        return complex_function("div", fmt, *broadcast_complex_numbers(fmt, self, other))
    return Golden(fmt, *arithmetic.div(fmt, *broadcast_numbers(fmt, self, other)))


@pointwise("aten::div.Tensor_mode", "aten::div.Scalar_mode")
def div_mode(self: Operand, other: Operand, rounding_mode: str | None) -> Golden | Outcome:
    """self / other, rounded toward zero ("trunc") or down ("floor"); None is true division"""
    if rounding_mode is None:
        return replace(div(self, other), bounded_as="aten::div")
    fmt = result_type(self, other)
    if not fmt.is_float:
        return _integer_division(fmt, self, other, rounding_mode)
    a, b = broadcast_numbers(fmt, self, other)
    quotient = arithmetic.floor_div if rounding_mode == "floor" else arithmetic.trunc_div
    return Golden(fmt, *quotient(fmt, a, b)).or_else(*_rounded_quotients(fmt, a, b, rounding_mode))


def _rounded_quotients(fmt: Format, a: np.ndarray, b: np.ndarray, rounding_mode: str) -> list[Golden]:
    """P32: floor or trunc of the rounded quotient, and Python's floor division, in the compute or element type."""
    goldens = []
    with np.errstate(all="ignore"):
        for step in steps_of(fmt):
            rounded = np.floor if rounding_mode == "floor" else np.trunc
            goldens += [rounded_from(fmt, rounded(quotient)) for quotient in _quotients(step, a, b)]
            if rounding_mode == "floor":
                python = _python_floor_division(a.astype(step.storage), b.astype(step.storage))
                goldens.append(rounded_from(fmt, python.astype(np.float64)))
    return goldens


def _quotients(step: Format, a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """What a step hands on of a / b, as float64."""
    return readings_of_step(step, arithmetic.div(step, a, b)[0].astype(np.float64))


def _python_floor_division(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """`a // b` as CPython's float_divmod computes it, every step rounded to the arrays' dtype."""
    modulus = np.fmod(a, b)
    quotient = (a - modulus) / b
    quotient = np.where((modulus != 0) & ((b < 0) != (modulus < 0)), quotient - 1, quotient)
    floored = np.floor(quotient)
    floored = np.where(quotient - floored > 0.5, floored + 1, floored)
    floored = np.where(quotient == 0, np.copysign(0, a / b), floored)
    return np.where(b == 0, a / b, floored)


@pointwise("aten::remainder.Tensor", "aten::remainder.Scalar", "aten::remainder.Scalar_Tensor")
def remainder(self: Operand, other: Operand) -> Golden | Outcome:
    """self - other * floor(self / other): the remainder with the sign of the divisor (P6, P34)"""
    fmt = result_type(self, other)
    if fmt.is_float:
        a, b = broadcast_numbers(fmt, self, other)
        exactly = Golden(fmt, *arithmetic.remainder(fmt, a, b), zero_sign_free=True)
        return exactly.or_else(*_remainders_by_quotient(exactly, a, b, np.floor))
    return _integer_remainder(fmt, self, other, np.remainder)


@pointwise("aten::fmod.Tensor", "aten::fmod.Scalar")
def fmod(self: Operand, other: Operand) -> Golden | Outcome:
    """self - other * trunc(self / other): the remainder with the sign of self (P6, P34, P90)"""
    fmt = result_type(self, other)
    if fmt.is_float:
        a, b = broadcast_numbers(fmt, self, other)
        exactly = Golden(fmt, *arithmetic.fmod(fmt, a, b), zero_sign_free=True)
        return exactly.or_else(*_remainders_by_quotient(exactly, a, b, np.trunc))
    return _integer_remainder(fmt, self, other, np.fmod)


def _integer_remainder(fmt: Format, self: Operand, other: Operand, of_integers: np.ufunc) -> Outcome:
    dividend, divisor = broadcast_converted(fmt, self, other)
    zero, overflow = _divisor_rules(fmt, dividend, divisor)
    result = np.where(overflow, 0, of_integers(dividend, np.where(zero | overflow, fmt.storage.type(1), divisor)))
    return Outcome((exact(result, fmt).opened(zero, "P11"),), refusal="P11" if zero.any() else None)


def _remainders_by_quotient(exactly: Golden, a: np.ndarray, b: np.ndarray, rounded: np.ufunc) -> list[Golden]:
    """P34, P90: a - b * rounded(a / b), each step, or all but the division at once, rounded in either type: where the
    type does not hold every such quotient, or the divisor is infinite, the formula is no remainder."""
    fmt, goldens = exactly.format, []
    of_steps = [(step, quotient) for step in steps_of(fmt) for quotient in _quotients(step, a, b)]
    for step, quotient in of_steps:
        product = arithmetic.mul(step, b, rounded(quotient))[0].astype(np.float64)
        differences = arithmetic.sub(step, a, product)[0], arithmetic.axpy(step, rounded(quotient), a, -b)[0]
        for difference in differences:
            other = rounded_from(fmt, difference.astype(np.float64))
            is_one = (np.abs(quotient) < 2.0**step.precision) & np.isfinite(b)
            value = np.where(is_one, other.value, exactly.value)
            real = where(is_one, other.real, exactly.real)
            goldens.append(Golden(fmt, value, real, zero_sign_free=True))
    return goldens


# Sign


@pointwise("aten::neg", signs=True)
def neg(self: Operand) -> Golden:
    """-self; of complex numbers 0 - self or -1 * self is as right, so that a zero part may have either sign (P9)"""
    fmt = result_type(self)
    negative = np.negative(converted(self, fmt))
    if fmt.is_complex:
        return Golden(fmt, negative, Real.exact(components(negative)), zero_sign_free=True)
    return exact(negative, fmt)


@pointwise("aten::abs", signs=True)
def abs_(self: Operand) -> Golden:
    """|self|; the smallest integer wraps to itself (P10)"""
    fmt = result_type(self)
    if fmt.is_complex:
        return absolute(fmt, complex_numbers(self, fmt))
    return integers(fmt, np.abs, self)


@pointwise("aten::sign", compares=True)
def sign(self: Operand) -> Golden:
    """1 above zero, -1 below, 0 of zeros; the sign of a zero is free, NaN's is open (P91)"""
    fmt = result_type(self)
    x = converted(self, fmt)
    signs = x if fmt.kind == "bool" else (x > 0).astype(fmt.storage) - (x < 0).astype(fmt.storage)
    return exact(signs, fmt, zero_sign_free=fmt.is_float).opened(x != x, "P91")


@pointwise("aten::sgn", compares=True)
def sgn(self: Operand) -> Golden:
    """self / |self|, 0 of zeros; of real numbers their sign; open where |self| overflows (P91, P207)"""
    fmt = result_type(self)
    return unit_of(fmt, complex_numbers(self, fmt)) if fmt.is_complex else sign(self)


@pointwise("aten::square")
def square(self: np.ndarray) -> Golden:
    """self * self; of bools, which become int64, the power with the integer 2"""
    return mul(self.astype(np.int64) if self.dtype == np.bool_ else self, self)


# Of integers


@pointwise("aten::floor_divide", "aten::floor_divide.Scalar")
def floor_divide(self: Operand, other: Operand) -> Golden | Outcome:
    """self / other, rounded down (P32)"""
    return div_mode(self, other, "floor")


@pointwise("aten::gcd", commutes=True)
def gcd(self: np.ndarray, other: np.ndarray) -> Golden:
    """The greatest common divisor, 0 of zeros; open where the dtype holds not it, or an operand's magnitude (P98)"""
    fmt, x, y, beyond = _magnitudes(self, other)
    divisor = np.gcd(x, y)
    return _held(divisor, beyond | (divisor > fmt.max_value), fmt)


@pointwise("aten::lcm", commutes=True)
def lcm(self: np.ndarray, other: np.ndarray) -> Golden:
    """The least common multiple, 0 beside a zero; open where the dtype does not hold it, or an operand's magnitude
    (P98)"""
    fmt, x, y, beyond = _magnitudes(self, other)
    factor = x // np.maximum(np.gcd(x, y), np.uint64(1))
    overflows = factor > np.uint64(fmt.max_value) // np.maximum(y, np.uint64(1))
    return _held(factor * y, beyond | overflows, fmt)


def _magnitudes(self: np.ndarray, other: np.ndarray) -> tuple[Format, np.ndarray, np.ndarray, np.ndarray]:
    """(the results' format, the operands' magnitudes as uint64, where the format does not hold one of them)"""
    fmt = result_type(self, other)
    x, y = (np.abs(one.astype(np.int64)).astype(np.uint64) if fmt.kind == "int" else one.astype(np.uint64)
            for one in broadcast_converted(fmt, self, other))  # fmt: skip
    return fmt, x, y, (x > fmt.max_value) | (y > fmt.max_value)


def _held(numbers: np.ndarray, overflows: np.ndarray, fmt: Format) -> Golden:
    return exact(np.where(overflows, np.uint64(0), numbers).astype(fmt.storage), fmt).opened(overflows, "P98")
