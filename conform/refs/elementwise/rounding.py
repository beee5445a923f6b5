"""Rounding to integers and decimals, signs, neighbours, and significands."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil, copysign, floor, frexp, inf, isfinite, isinf, isnan, ldexp, nan, trunc

from flint import arb

from conform.refs.exact.complex_parts import map_complex
from conform.refs.exact.mapped import each, refuse, unary
from conform.refs.exact.promotion import (
    BOOL,
    COMPLEX,
    FLOAT,
    INTEGER,
    Operand,
    category,
    common_operands,
    convert,
    converted,
    result_type,
)
from conform.refs.exact.reals import (
    round_real,
)
from conform.refs.exact.rounding import (
    FLOAT_FORMATS,
    dyadic,
    round_dyadic,
    round_number,
    round_ratio,
)
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, broadcast_shapes, expand
from conform.refs.functions.complex_functions import complex_sgn
from conform.refs.references import reference


@reference("aten::round", "aten::round.decimals", "aten::special_round")
def round_(self: RefTensor, decimals: int | None = None) -> RefTensor:
    """The nearest integer, or the nearest multiple of 10^-decimals rounded to the format; ties to the even multiple."""
    refuse("round", self.dtype, BOOL, COMPLEX)
    if decimals is None:
        return RefTensor(self.dtype, self.shape, [_round_decimals(self.dtype, x, 0) for x in self.data])
    refuse("round with decimals", self.dtype, INTEGER)
    return unary(self, lambda x: _round_decimals(self.dtype, x, decimals))


def _round_decimals(dtype: str, x: float, decimals: int) -> float:
    if isinstance(x, int) or x == 0 or not isfinite(x):
        return x
    m, e = dyadic(x)
    decimals = max(min(decimals, 1100), -400)  # x itself from 1074 on, and 0 below -309
    up, down = 10 ** max(decimals, 0), 10 ** max(-decimals, 0)  # x * 10^decimals = m * up * 2^e / down
    numerator, denominator = m * up << max(e, 0), down << max(-e, 0)
    multiple, rest = divmod(numerator, denominator)
    if 2 * rest > denominator or (2 * rest == denominator and multiple % 2 == 1):
        multiple += 1
    return copysign(round_ratio(dtype, multiple * down, up), x)


def _define_integer_part(integer_part: Callable[[float], int], *names: str) -> None:
    """The integer that `integer_part` gives of a finite float, with the sign of the float where it is zero."""

    def function(self: RefTensor) -> RefTensor:
        refuse(names[0], self.dtype, BOOL, COMPLEX)
        if category(self.dtype) == INTEGER:
            return self
        return unary(self, lambda x: copysign(float(integer_part(x)), x) if isfinite(x) else x)

    function.__name__, function.__doc__ = names[0], f"{names[0]} of self: an integer of its dtype; integers stay."
    reference(*(f"aten::{name}" for name in names))(function)


_define_integer_part(ceil, "ceil")
_define_integer_part(floor, "floor")
_define_integer_part(trunc, "trunc", "fix")


@reference("aten::frac")
def frac(self: RefTensor) -> RefTensor:
    """self - floor(|self|) * sgn(self); open of infinities, of which that is inf - inf."""
    refuse("frac", self.dtype, BOOL, INTEGER, COMPLEX)

    def fraction(x: float) -> float | Unspecified:
        if not isfinite(x):
            return UNSPECIFIED if isinf(x) else nan
        exactly = Fraction(x) - floor(abs(Fraction(x))) * ((x > 0) - (x < 0))
        return round_ratio(self.dtype, exactly.numerator, exactly.denominator)

    return unary(self, fraction)


@reference("aten::sign")
def sign(self: RefTensor) -> RefTensor:
    """-1, 0 or 1; a bool stays; open at NaN, of which the documentation says nothing."""
    refuse("sign", self.dtype, COMPLEX)
    return unary(self, lambda x: UNSPECIFIED if x != x else convert((x > 0) - (x < 0), self.dtype))


@reference("aten::sgn")
def sgn(self: RefTensor) -> RefTensor:
    """self / |self|, 0 of zeros, of real numbers as sign has it; open where the magnitude overflows."""
    return map_complex(self, complex_sgn) if category(self.dtype) == COMPLEX else sign(self)


@reference("aten::signbit")
def signbit(self: RefTensor) -> RefTensor:
    """Whether the sign bit is set: below zero and -0; open at NaN, whose sign means nothing (P1)."""
    refuse("signbit", self.dtype, COMPLEX)
    return unary(self, lambda x: UNSPECIFIED if x != x else copysign(1.0, x) < 0, "bool")


@reference("aten::copysign.Tensor", "aten::copysign.Scalar")
def copysign_(self: RefTensor, other: Operand) -> RefTensor:
    """The magnitude of self with the sign of other, zeros included; open where other is NaN (P1)."""
    operands = common_operands(self, other, floating=True)
    refuse("copysign", operands[0], COMPLEX)
    return each(operands, lambda x, y: UNSPECIFIED if y != y else round_number(operands[0], copysign(x, y)))


@reference("aten::nextafter")
def nextafter_(self: RefTensor, other: RefTensor) -> RefTensor:
    """The next number of the dtype after self in the direction of other; other where they are equal (C99 F.9.8.3)."""
    operands = common_operands(self, other)
    dtype = operands[0]
    refuse("nextafter", dtype, BOOL, INTEGER, COMPLEX)
    return each(operands, lambda x, y: _next_after(dtype, x, y))


def _next_after(dtype: str, x: float, y: float) -> float:
    if isnan(x) or isnan(y) or x == y:
        return nan if x != y else y
    fmt = FLOAT_FORMATS[dtype]
    if x == 0:
        return copysign(ldexp(1.0, fmt.emin - fmt.precision + 1), y)
    grows = (y > x) == (x > 0)
    greatest = ldexp(2.0 - 2.0 ** (1 - fmt.precision), fmt.emax)
    if isinf(x) or (grows and abs(x) == greatest):
        return copysign(inf if grows else greatest, x)
    m, e = dyadic(abs(x))
    exponent = m.bit_length() - 1 + e
    is_power = abs(x) == ldexp(1.0, exponent) and exponent > fmt.emin  # below a power of two numbers stand closer
    step = ldexp(1.0, max(exponent, fmt.emin) - fmt.precision + 1 - (is_power and not grows))
    return copysign(abs(x) + step if grows else abs(x) - step, x)


@reference("aten::frexp.Tensor")
def frexp_(self: RefTensor) -> tuple[RefTensor, RefTensor]:
    """self = mantissa * 2^exponent with 0.5 <= |mantissa| < 1; of 0 both are 0; of infinities and NaN the exponent is
    open (C99 7.12.6.4)."""
    refuse("frexp", self.dtype, BOOL, INTEGER, COMPLEX)
    mantissa = unary(self, lambda x: frexp(x)[0])
    return mantissa, unary(self, lambda x: frexp(x)[1] if isfinite(x) else UNSPECIFIED, "int32")


@reference("aten::ldexp.Tensor")
def ldexp_(self: RefTensor, other: RefTensor) -> RefTensor:
    """self * 2^other, rounded once; integers become float32."""
    refuse("ldexp", self.dtype, COMPLEX)
    refuse("ldexp", other.dtype, COMPLEX)
    dtype = result_type([self, other])
    dtype = dtype if category(dtype) == FLOAT else "float32"
    shape = broadcast_shapes(self.shape, other.shape)
    factors, powers = expand(converted(self, dtype), self.shape, shape), expand(other.data, other.shape, shape)
    return RefTensor(dtype, shape, [_times_power(dtype, x, y) for x, y in zip(factors, powers, strict=True)])


def _times_power(dtype: str, x: float, y: float) -> float:
    """x * 2^y; 2^y is rational of no number but an integer (Gelfond and Schneider)."""
    if isnan(x) or isnan(y) or isinf(y):
        return x * (y if y != -inf else 0.0)  # 2^inf is infinite, 2^-inf zero
    if x == 0 or isinf(x):
        return x
    y = max(min(y, 4300), -4300)  # |x| is between 2^-1074 and 2^1024
    m, e = dyadic(x)
    if y == int(y):
        return round_dyadic(dtype, m, e + int(y))
    return round_real(dtype, lambda: arb(x) * (arb(y) * arb(2).log()).exp())
