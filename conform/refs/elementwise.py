"""Elementwise ops: one output element from the elements at the same index of the broadcast operands."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, inf, isfinite, isinf, isnan, nan

from conform.refs.exact.complex_parts import ComplexElement, map_complex, map_to_real
from conform.refs.exact.promotion import (
    BOOL,
    COMPLEX,
    FLOAT,
    INTEGER,
    Operand,
    Scalar,
    category,
    common_operands,
    convert,
    converted,
    read_factor,
)
from conform.refs.exact.reals import (
    Exact,
    add_exact,
    exact,
    multiply_exact,
    round_exact,
    round_exp,
    round_gelu,
    round_gelu_tanh,
    round_sin,
    scale_to_integers,
)
from conform.refs.exact.rounding import (
    COMPONENTS,
    INTEGER_RANGES,
    dyadic,
    round_dyadic,
    round_number,
    round_ratio,
    round_sqrt,
    wrap_integer,
)
from conform.refs.exact.small_floats import SATURATING, SMALL_FLOATS, round_small
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, broadcast_shapes, expand
from conform.refs.functions.complex_functions import (
    complex_abs,
    complex_exp,
    complex_quotient,
    complex_sin,
    complex_sqrt,
)
from conform.refs.references import reference


def _refuse(op: str, dtype: str, *kinds: int) -> None:
    """ValueError where torch has no kernel of `op` for the dtype's category."""
    if category(dtype) in kinds:
        raise ValueError(f"{op} is not defined for {dtype}")


def _binary(operands: tuple[str, tuple, list[list]], element: Callable[[Scalar, Scalar], Scalar]) -> RefTensor:
    dtype, shape, (lhs, rhs) = operands
    return RefTensor(dtype, shape, [element(x, y) for x, y in zip(lhs, rhs, strict=True)])


def _unary(self: RefTensor, element: Callable[[Scalar], Scalar]) -> RefTensor:
    return RefTensor(self.dtype, self.shape, [element(x) for x in self.data])


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
        return _binary(operands, lambda x, y: x or (y and bool(alpha)))
    if kind == INTEGER:
        return _binary(operands, lambda x, y: wrap_integer(dtype, x + alpha * y))
    if kind == FLOAT:
        return _binary(operands, lambda x, y: add_scaled(dtype, x, y, alpha))
    return _binary(operands, lambda x, y: _add_scaled_complex(COMPONENTS[dtype], x, y, alpha))


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
    if products is None:
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


@reference("aten::mul.Tensor", "aten::mul.Scalar")
def mul(self: Operand, other: Operand) -> RefTensor:
    """self * other, rounded once; on bools: and; integers wrap."""
    operands = common_operands(self, other)
    dtype = operands[0]
    kind = category(dtype)
    if kind == BOOL:
        return _binary(operands, lambda x, y: x and y)
    if kind == INTEGER:
        return _binary(operands, lambda x, y: wrap_integer(dtype, x * y))
    if kind == FLOAT:
        return _binary(operands, lambda x, y: _round_sum(dtype, _product(x, y)))
    return _binary(operands, lambda x, y: _multiply_complex(COMPONENTS[dtype], x, y))


def _multiply_complex(component: str, x: complex, y: complex) -> complex:
    products = _partial_products(component, x, y) if _is_finite(x, y) else None
    if products is None:
        return UNSPECIFIED
    real, imag = products
    return complex(_round_sum(component, *real), _round_sum(component, *imag))


# ---- div, remainder ----------------------------------------------------------------------------------------------


@reference("aten::div.Tensor", "aten::div.Scalar", "aten::div.Tensor_mode", "aten::div.Scalar_mode")
def div(self: Operand, other: Operand, rounding_mode: str | None = None) -> RefTensor:
    """self / other; with a mode the real quotient is rounded to an integer, and integers stay integers."""
    if rounding_mode not in (None, "trunc", "floor"):
        raise ValueError(f"rounding_mode is one of None, 'trunc', 'floor'; found {rounding_mode!r}")
    operands = common_operands(self, other, floating=rounding_mode is None)
    dtype = operands[0]
    if category(dtype) == FLOAT:
        return _binary(operands, lambda x, y: _divide(dtype, x, y, rounding_mode))
    if category(dtype) == COMPLEX and rounding_mode is None:
        return _binary(operands, lambda x, y: complex_quotient(COMPONENTS[dtype], x, y))
    _refuse("div with a rounding mode", dtype, BOOL, COMPLEX)
    return _binary(operands, lambda x, y: _divide_integers(dtype, x, y, rounding_mode))


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
    _refuse("remainder", dtype, BOOL, COMPLEX)
    if category(dtype) == FLOAT:
        return _binary(operands, lambda x, y: _float_remainder(dtype, x, y))
    return _binary(operands, lambda x, y: UNSPECIFIED if y == 0 else x % y)  # Python's % floors; P11


def _float_remainder(dtype: str, x: float, y: float) -> float:
    if not isfinite(x) or isnan(y) or y == 0:
        return nan
    if isinf(y):
        return round_number(dtype, x) if x == 0 or (x < 0) == (y < 0) else y
    (scaled_x, scaled_y), exponent = scale_to_integers([x, y])
    result = round_dyadic(dtype, scaled_x % scaled_y, exponent)
    return copysign(result, y)


# ---- maximum, eq, where, bitwise_and ---------------------------------------------------------------------------


@reference("aten::maximum")
def maximum(self: Operand, other: Operand) -> RefTensor:
    """The greater of the two; NaN if either is NaN; on bools: or."""
    operands = common_operands(self, other)
    dtype = operands[0]
    _refuse("maximum", dtype, COMPLEX)
    return _binary(operands, lambda x, y: convert(greater(x, y), dtype))


def greater(x: Scalar, y: Scalar) -> Scalar:
    """NaN if either is NaN, else the greater."""
    return x if x != x or x >= y else y


@reference("aten::minimum")
def minimum(self: Operand, other: Operand) -> RefTensor:
    """The smaller of the two; NaN if either is NaN; on bools: and."""
    operands = common_operands(self, other)
    _refuse("minimum", operands[0], COMPLEX)
    return _binary(operands, lambda x, y: convert(x if x != x or x <= y else y, operands[0]))


@reference("aten::eq.Tensor", "aten::eq.Scalar")
def eq(self: Operand, other: Operand) -> RefTensor:
    """Whether the operands are equal in the common dtype: zeros of both signs are, NaN is to nothing."""
    result = _binary(common_operands(self, other), lambda x, y: x == y)
    return RefTensor("bool", result.shape, result.data)


@reference("aten::where.self", "aten::where.ScalarSelf", "aten::where.ScalarOther", "aten::where.Scalar")
def where(condition: RefTensor | bool, self: Operand, other: Operand) -> RefTensor:
    """self where the condition holds, else other, in the common dtype of these two."""
    if not isinstance(condition, RefTensor):
        condition = RefTensor("bool", (), [bool(condition)])
    if condition.dtype not in ("bool", "uint8"):
        raise ValueError(f"where needs a condition of bool, found {condition.dtype}")
    dtype, _, (chosen, otherwise) = common_operands(self, other)
    pair_shape = broadcast_shapes(*(operand.shape for operand in (self, other) if isinstance(operand, RefTensor)))
    shape = broadcast_shapes(condition.shape, pair_shape)
    holds = expand(condition.data, condition.shape, shape)
    chosen, otherwise = expand(chosen, pair_shape, shape), expand(otherwise, pair_shape, shape)
    picked = [x if hold else y for hold, x, y in zip(holds, chosen, otherwise, strict=True)]
    return RefTensor(dtype, shape, [convert(value, dtype) for value in picked])


@reference("aten::bitwise_and.Tensor", "aten::bitwise_and.Scalar", "aten::bitwise_and.Scalar_Tensor")
def bitwise_and(self: Operand, other: Operand) -> RefTensor:
    """The two's complement bits set in both."""
    operands = common_operands(self, other)
    _refuse("bitwise_and", operands[0], FLOAT, COMPLEX)
    return _binary(operands, lambda x, y: x & y)


# ---- one operand -------------------------------------------------------------------------------------------------


@reference("aten::neg")
def neg(self: RefTensor) -> RefTensor:
    """-self; integers wrap."""
    _refuse("neg", self.dtype, BOOL)
    if category(self.dtype) == INTEGER:
        return _unary(self, lambda x: wrap_integer(self.dtype, -x))
    return _unary(self, lambda x: -x)


@reference("aten::abs")
def abs_(self: RefTensor) -> RefTensor:
    """|self|; the least integer wraps to itself, and complex numbers have a real result."""
    _refuse("abs", self.dtype, BOOL)
    if category(self.dtype) == COMPLEX:
        return map_to_real(self, complex_abs)
    if category(self.dtype) == INTEGER:
        return _unary(self, lambda x: wrap_integer(self.dtype, abs(x)))
    return _unary(self, abs)


@reference("aten::round", "aten::round.decimals")
def round_(self: RefTensor, decimals: int | None = None) -> RefTensor:
    """The nearest integer, or the nearest multiple of 10^-decimals rounded to the format; ties to the even multiple."""
    _refuse("round", self.dtype, BOOL, COMPLEX)
    if decimals is None:
        return RefTensor(self.dtype, self.shape, [_round_decimals(self.dtype, x, 0) for x in self.data])
    _refuse("round with decimals", self.dtype, INTEGER)
    return _unary(self, lambda x: _round_decimals(self.dtype, x, decimals))


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


def _float_unary(
    op: str,
    self: RefTensor,
    element: Callable[[str, float], float],
    complex_element: Callable[[str, complex], ComplexElement] | None = None,
) -> RefTensor:
    """A real function: integers and bools are first converted to float32, the default dtype (P18)."""
    if category(self.dtype) == COMPLEX and complex_element is not None:
        return map_complex(self, complex_element)
    if category(self.dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {self.dtype}")
    dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
    return RefTensor(dtype, self.shape, [element(dtype, x) for x in converted(self, dtype)])


@reference("aten::exp")
def exp(self: RefTensor) -> RefTensor:
    """e to the power of self."""
    return _float_unary("exp", self, round_exp, complex_exp)


@reference("aten::sin")
def sin(self: RefTensor) -> RefTensor:
    """The sine of self in radians."""
    return _float_unary("sin", self, round_sin, complex_sin)


@reference("aten::sqrt")
def sqrt(self: RefTensor) -> RefTensor:
    """The square root: of -0 it is -0, of anything less NaN, but of complex numbers in the right half plane."""
    return _float_unary("sqrt", self, _sqrt, complex_sqrt)


def _sqrt(dtype: str, x: float) -> float:
    if x == 0 or isnan(x) or x == inf:
        return x
    return nan if x < 0 else round_sqrt(dtype, *x.as_integer_ratio())


@reference("aten::gelu")
def gelu(self: RefTensor, approximate: str = "none") -> RefTensor:
    """self * Phi(self), or its documented approximation by tanh."""
    forms = {"none": round_gelu, "tanh": round_gelu_tanh}
    if approximate not in forms:
        raise ValueError(f"approximate is 'none' or 'tanh'; found {approximate!r}")
    _refuse("gelu", self.dtype, BOOL, INTEGER)
    return _float_unary("gelu", self, forms[approximate])


@reference("aten::_to_copy")
def to_copy(
    self: RefTensor,
    dtype: str | None = None,
    layout: object = None,
    device: object = None,
    pin_memory: object = None,
    non_blocking: bool = False,
    memory_format: object = None,
) -> RefTensor:
    """self in another dtype; where and how the copy is stored does not change its elements."""
    target = dtype or self.dtype
    if target in SMALL_FLOATS and target != self.dtype:
        reals = [value.real for value in self.data]  # P16
        return RefTensor(target, self.shape, [round_small(target, x, target in SATURATING) for x in reals])
    return RefTensor(target, self.shape, converted(self, target))
