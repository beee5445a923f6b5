"""Rounding to integers, and to multiples of a power of ten; integers are themselves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import converted, numbers, steps_of
from conform.interp.ops.elementwise.arithmetic import exact, rounded_from
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import pointwise
from conform.numerics import arithmetic
from conform.numerics.formats import Format, format_of
from conform.numerics.rounding import round_to

LARGEST_POWER_OF_TEN = 308  # that float64 holds


def _to_integers(self: Operand, rounding: np.ufunc) -> Golden:
    """A zero has the sign of self."""
    fmt = result_type(self)
    return exact(rounding(converted(self, fmt)) if fmt.is_float else self, fmt)


@pointwise("aten::round")
def round_(self: Operand) -> Golden:
    """The nearest integer, ties to even; integers are themselves"""
    return _to_integers(self, np.rint)


@pointwise("aten::ceil", compares=True)
def ceil(self: Operand) -> Golden:
    """The smallest integer that is not less than self; integers are themselves"""
    return _to_integers(self, np.ceil)


@pointwise("aten::floor", compares=True)
def floor(self: Operand) -> Golden:
    """The largest integer that is not greater than self; integers are themselves"""
    return _to_integers(self, np.floor)


@pointwise("aten::trunc")
def trunc(self: Operand) -> Golden:
    """The integer next to self toward zero; integers are themselves"""
    return _to_integers(self, np.trunc)


@pointwise("aten::frac")
def frac(self: np.ndarray) -> Golden:
    """self - trunc(self), which is exact; the sign of a zero is free, and it is open of infinities (P207)"""
    fmt = format_of(self)
    fraction = rounded_from(fmt, np.fmod(numbers(self, fmt), 1.0))
    return replace(fraction, zero_sign_free=True).opened(np.isinf(self), "P207")


@pointwise("aten::round.decimals")
def round_decimals(self: Operand, decimals: int) -> Golden:
    """The nearest multiple of 10^-decimals, ties to even (P33)"""
    fmt = result_type(self)
    x = numbers(self, fmt)
    return Golden(fmt, *arithmetic.round_decimals(fmt, x, decimals)).or_else(*_rounded_scalings(fmt, x, decimals))


def _power_of_ten(exponent: int) -> np.float64:
    """10^exponent as a double, infinite beyond."""
    return np.float64(10.0**exponent if exponent <= LARGEST_POWER_OF_TEN else np.inf)


def _rounded_scalings(fmt: Format, x: np.ndarray, decimals: int) -> list[Golden]:
    """P33: round(x * 10^d) / 10^d, each step rounded, in the compute or element type; for d < 0 the other way round."""
    goldens = []
    for step in steps_of(fmt):
        power = round_to(step, _power_of_ten(abs(decimals))).astype(np.float64)
        scale, unscale = (arithmetic.mul, arithmetic.div) if decimals >= 0 else (arithmetic.div, arithmetic.mul)
        scaled, _ = scale(step, x, power)
        result, _ = unscale(step, np.rint(scaled.astype(np.float64)), power)
        goldens.append(rounded_from(fmt, result.astype(np.float64)))
    return goldens
