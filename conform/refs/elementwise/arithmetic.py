"""Sums, products, quotients and remainders of two operands, and one operand negated: rounded once."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, inf, isfinite, isinf, isnan, nan

from flint import arb

from conform.refs.exact.complex_parts import map_to_real
from conform.refs.exact.mapped import each, real_function, refuse, unary
from conform.refs.exact.promotion import (
    BOOL,
    COMPLEX,
    FLOAT,
    INTEGER,
    Operand,
    Scalar,
    category,
    common_operands,
    read_factor,
)
from conform.refs.exact.reals import (
    Exact,
    add_exact,
    exact,
    multiply_exact,
    round_exact,
    round_real,
    scale_to_integers,
)
from conform.refs.exact.rounding import (
    COMPONENTS,
    INTEGER_RANGES,
    round_dyadic,
    round_number,
    round_ratio,
    wrap_integer,
)
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.functions.complex_functions import (
    complex_abs,
    complex_quotient,
)
from conform.refs.references import reference

# ---- add, mul ----------------------------------------------------------------------------------------------------


@reference("aten::add.Tensor", "aten::add.Scalar")
def add(self: Operand, other: Operand, alpha: Scalar = 1) -> RefTensor:
    """self + alpha * other, rounded once; on bools: or; integers wrap."""
    operands = common_operands(self, other)
    dtype = operands[0]
    kind = category(dtype)
    if isinstance(alpha, bool) and kind != BOOL:
        raise ValueError(f"a bool alpha needs bool operands, found {dtype}")
    alpha = read_factor("alpha", alpha, dtype)
    if kind == BOOL:
        return each(operands, lambda x, y: x or (y and bool(alpha)))
    if kind == INTEGER:
        return each(operands, lambda x, y: wrap_integer(dtype, x + alpha * y))
    if kind == FLOAT:
        return each(operands, lambda x, y: add_scaled(dtype, x, y, alpha))
    return each(operands, lambda x, y: _add_scaled_complex(COMPONENTS[dtype], x, y, alpha))


Term = tuple[Exact, bool]  # an exact number, and the sign bit that counts where it is zero


def _term(x: float) -> Term:
    return exact(x), copysign(1.0, x) < 0


def _product(x: float, y: float) -> Term:
    return multiply_exact(exact(x), exact(y)), (copysign(1.0, x) < 0) != (copysign(1.0, y) < 0)


def _round_sum(dtype: str, *terms: Term) -> float:
    """The sum rounded once. An exact zero is -0 only as a sum of negative zeros (IEEE 754-2019, 6.3)."""
    total = terms[0][0]
    for number, _ in terms[1:]:
        total = add_exact(total, number)
    if isinstance(total, tuple) and total[0] == 0:
        return -0.0 if all(number[0] == 0 and negative for number, negative in terms) else 0.0
    return round_exact(dtype, total)


def add_scaled(dtype: str, x: float, y: float, alpha: float) -> float:
    """x + alpha * y of a float format."""
    return _round_sum(dtype, _term(x), _term(y) if alpha == 1 else _product(alpha, y))


def _add_scaled_complex(component: str, x: complex, y: complex, alpha: Scalar) -> complex:
    """x + alpha * y, alpha taken as a complex number; P8 leaves open what is not finite or overflows on the way."""
    products = _partial_products(component, alpha, y) if _is_finite(x, y, alpha) else None
    if products is None or any(isinf(round_number(component, part)) for part in (x.real, x.imag)):
        return UNSPECIFIED
    real, imag = products
    return complex(_round_sum(component, _term(x.real), *real), _round_sum(component, _term(x.imag), *imag))


def _is_finite(*values: complex) -> bool:
    return all(isfinite(value.real) and isfinite(value.imag) for value in values)


def _partial_products(component: str, x: complex, y: complex) -> tuple[list[Term], list[Term]] | None:
    """The terms of the real and of the imaginary part of x * y; None where one overflows (P8)."""
    minus_second = _product(-x.imag, y.imag)
    real = [_product(x.real, y.real), minus_second]
    imag = [_product(x.real, y.imag), _product(x.imag, y.real)]
    overflows = any(isinf(round_exact(component, number)) for number, _ in real + imag)
    return None if overflows else (real, imag)


@reference("aten::sub.Tensor", "aten::sub.Scalar", "aten::subtract.Tensor", "aten::subtract.Scalar")
def sub(self: Operand, other: Operand, alpha: Scalar = 1) -> RefTensor:
    """self - alpha * other, rounded once; integers wrap; a bool operand is refused."""
    for operand in (self, other):
        if isinstance(operand, bool) or (isinstance(operand, RefTensor) and operand.dtype == "bool"):
            raise ValueError("sub is not defined for bools")
    dtype = common_operands(self, other)[0]
    if isinstance(alpha, bool):
        raise ValueError(f"a bool alpha needs bool operands, found {dtype}")
    alpha = read_factor("alpha", alpha, dtype)
    if category(dtype) == INTEGER:
        return each(common_operands(self, other), lambda x, y: wrap_integer(dtype, x - alpha * y))
    return add(self, other, -alpha)


@reference("aten::rsub.Tensor", "aten::rsub.Scalar")
def rsub(self: Operand, other: Operand, alpha: Scalar = 1) -> RefTensor:
    """other - alpha * self, rounded once; integers wrap; a bool operand is refused."""
    return sub(other, self, alpha)


@reference("aten::mul.Tensor", "aten::mul.Scalar", "aten::multiply.Tensor", "aten::multiply.Scalar")
def mul(self: Operand, other: Operand) -> RefTensor:
    """self * other, rounded once; on bools: and; integers wrap."""
    operands = common_operands(self, other)
    dtype = operands[0]
    kind = category(dtype)
    if kind == BOOL:
        return each(operands, lambda x, y: x and y)
    if kind == INTEGER:
        return each(operands, lambda x, y: wrap_integer(dtype, x * y))
    if kind == FLOAT:
        return each(operands, lambda x, y: _round_sum(dtype, _product(x, y)))
    return each(operands, lambda x, y: _multiply_complex(COMPONENTS[dtype], x, y))


def _multiply_complex(component: str, x: complex, y: complex) -> complex:
    products = _partial_products(component, x, y) if _is_finite(x, y) else None
    if products is None:
        return UNSPECIFIED
    real, imag = products
    return complex(_round_sum(component, *real), _round_sum(component, *imag))


# ---- div, remainder ----------------------------------------------------------------------------------------------


@reference("aten::div.Tensor", "aten::div.Scalar", "aten::div.Tensor_mode", "aten::div.Scalar_mode")
@reference("aten::divide.Tensor", "aten::divide.Scalar", "aten::divide.Tensor_mode", "aten::divide.Scalar_mode")
@reference("aten::true_divide.Tensor", "aten::true_divide.Scalar")
def div(self: Operand, other: Operand, rounding_mode: str | None = None) -> RefTensor:
    """self / other; with a mode the real quotient is rounded to an integer, and integers stay integers."""
    if rounding_mode not in (None, "trunc", "floor"):
        raise ValueError(f"rounding_mode is one of None, 'trunc', 'floor'; found {rounding_mode!r}")
    operands = common_operands(self, other, floating=rounding_mode is None)
    dtype = operands[0]
    if category(dtype) == FLOAT:
        return each(operands, lambda x, y: _divide(dtype, x, y, rounding_mode))
    if category(dtype) == COMPLEX and rounding_mode is None:
        return each(operands, lambda x, y: complex_quotient(COMPONENTS[dtype], x, y))
    refuse("div with a rounding mode", dtype, BOOL, COMPLEX)
    return each(operands, lambda x, y: _divide_integers(dtype, x, y, rounding_mode))


@reference("aten::floor_divide", "aten::floor_divide.Scalar")
def floor_divide(self: Operand, other: Operand) -> RefTensor:
    """floor(self / other), as div with rounding_mode="floor"."""
    return div(self, other, "floor")


def _divide_integers(dtype: str, x: int, y: int, rounding_mode: str) -> int:
    if y == 0 or (y == -1 and x == INTEGER_RANGES[dtype][0]):
        return UNSPECIFIED  # P11, P12
    if rounding_mode == "floor":
        return x // y
    quotient = abs(x) // abs(y)
    return quotient if (x < 0) == (y < 0) else -quotient


def _divide(dtype: str, x: float, y: float, rounding_mode: str | None) -> float:
    if x == 0 or y == 0 or not isfinite(x) or not isfinite(y):
        return _divide_special(x, y)  # NaN, infinite or zero: no rounding mode changes it
    x_numerator, x_denominator = x.as_integer_ratio()
    y_numerator, y_denominator = y.as_integer_ratio()
    numerator, denominator = x_numerator * y_denominator, x_denominator * y_numerator
    if rounding_mode is None:
        return round_ratio(dtype, numerator, denominator)
    if rounding_mode == "floor":
        return round_dyadic(dtype, numerator // denominator, 0)
    quotient = abs(numerator) // abs(denominator)
    return copysign(round_dyadic(dtype, quotient, 0), _divide_sign(x, y))


def _divide_sign(x: float, y: float) -> float:
    return copysign(1.0, x) * copysign(1.0, y)


def _divide_special(x: float, y: float) -> float:
    """x / y (IEEE 754-2019, 6.1, 7.2, 7.3) where an operand is zero, infinite or NaN."""
    if isnan(x) or isnan(y) or (x == 0 and y == 0) or (isinf(x) and isinf(y)):
        return nan
    return copysign(0.0 if x == 0 or isinf(y) else inf, _divide_sign(x, y))


@reference("aten::remainder.Tensor", "aten::remainder.Scalar", "aten::remainder.Scalar_Tensor")
def remainder(self: Operand, other: Operand) -> RefTensor:
    """self - other * floor(self / other): the sign is the divisor's (P34)."""
    operands = common_operands(self, other)
    dtype = operands[0]
    refuse("remainder", dtype, BOOL, COMPLEX)
    if category(dtype) == FLOAT:
        return each(operands, lambda x, y: _float_remainder(dtype, x, y))
    return each(operands, lambda x, y: UNSPECIFIED if y == 0 else x % y)  # Python's % floors; P11


def _float_remainder(dtype: str, x: float, y: float) -> float:
    if not isfinite(x) or isnan(y) or y == 0:
        return nan
    if isinf(y):
        return round_number(dtype, x) if x == 0 or (x < 0) == (y < 0) else y
    (scaled_x, scaled_y), exponent = scale_to_integers([x, y])
    result = round_dyadic(dtype, scaled_x % scaled_y, exponent)
    return copysign(result, y)


@reference("aten::fmod.Tensor", "aten::fmod.Scalar")
def fmod(self: Operand, other: Operand) -> RefTensor:
    """self - other * trunc(self / other): the sign is the dividend's (C99 fmod); integers by zero are open (P11)."""
    operands = common_operands(self, other)
    dtype = operands[0]
    refuse("fmod", dtype, BOOL, COMPLEX)
    if category(dtype) == FLOAT:
        return each(operands, lambda x, y: _float_fmod(dtype, x, y))
    return each(operands, lambda x, y: UNSPECIFIED if y == 0 else _with_sign(abs(x) % abs(y), x))


def _with_sign(magnitude: int, x: int) -> int:
    return -magnitude if x < 0 else magnitude


def _float_fmod(dtype: str, x: float, y: float) -> float:
    if not isfinite(x) or isnan(y) or y == 0:
        return nan
    if isinf(y):
        return round_number(dtype, x)
    (scaled_x, scaled_y), exponent = scale_to_integers([x, y])
    return copysign(round_dyadic(dtype, abs(scaled_x) % abs(scaled_y), exponent), x)


# ---- one operand -------------------------------------------------------------------------------------------------


@reference("aten::neg", "aten::negative")
def neg(self: RefTensor) -> RefTensor:
    """-self; integers wrap."""
    refuse("neg", self.dtype, BOOL)
    if category(self.dtype) == INTEGER:
        return unary(self, lambda x: wrap_integer(self.dtype, -x))
    return unary(self, lambda x: -x)


@reference("aten::abs", "aten::absolute")
def abs_(self: RefTensor) -> RefTensor:
    """|self|; the least integer wraps to itself, and complex numbers have a real result."""
    refuse("abs", self.dtype, BOOL)
    if category(self.dtype) == COMPLEX:
        return map_to_real(self, complex_abs)
    if category(self.dtype) == INTEGER:
        return unary(self, lambda x: wrap_integer(self.dtype, abs(x)))
    return unary(self, abs)


@reference("aten::positive")
def positive(self: RefTensor) -> RefTensor:
    """self; a bool is refused."""
    refuse("positive", self.dtype, BOOL)
    return self


@reference("aten::square")
def square(self: RefTensor) -> RefTensor:
    """self * self; the square of a bool, its power with the integer 2, is an int64."""
    number = RefTensor("int64", self.shape, [int(x) for x in self.data]) if self.dtype == "bool" else self
    return mul(number, number)


@reference("aten::deg2rad")
def deg2rad(self: RefTensor) -> RefTensor:
    """self * pi / 180, rounded once. Only 0 gives a rational number."""
    return real_function("deg2rad", self, lambda dtype, x: _times_real(dtype, x, lambda: arb.pi() / 180))


@reference("aten::rad2deg")
def rad2deg(self: RefTensor) -> RefTensor:
    """self * 180 / pi, rounded once. Only 0 gives a rational number."""
    return real_function("rad2deg", self, lambda dtype, x: _times_real(dtype, x, lambda: 180 / arb.pi()))


def _times_real(dtype: str, x: float, irrational: Callable[[], arb]) -> float:
    return x if x == 0 or not isfinite(x) else round_real(dtype, lambda: arb(x) * irrational())
