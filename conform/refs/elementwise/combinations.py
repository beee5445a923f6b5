"""Combinations of three operands, rounded once: addcmul, addcdiv, lerp; and clamp, between two bounds."""

from __future__ import annotations

from fractions import Fraction
from math import copysign, inf, isfinite, isinf, isnan, nan

from conform.refs.exact.complex_parts import is_finite, overflow_threshold, round_fractions
from conform.refs.exact.mapped import each, refuse
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
    read_factor,
)
from conform.refs.exact.rounding import COMPONENTS, round_ratio, wrap_integer
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference

Gauss = tuple[Fraction, Fraction]  # a complex number of rational parts


@reference("aten::addcmul")
def addcmul(self: RefTensor, tensor1: RefTensor, tensor2: RefTensor, value: Scalar = 1) -> RefTensor:
    """self + value * tensor1 * tensor2, rounded once; integers wrap."""
    operands = common_operands(self, tensor1, tensor2)
    dtype = operands[0]
    refuse("addcmul", dtype, BOOL)
    value = read_factor("value", value, dtype)
    if category(dtype) == INTEGER:
        return each(operands, lambda x, y, z: wrap_integer(dtype, x + value * y * z))
    if category(dtype) == COMPLEX:
        return each(operands, lambda x, y, z: _complex_sum(COMPONENTS[dtype], x, (value, y, z), 1))
    return each(operands, lambda x, y, z: _sum(dtype, x, (value, y, z), 1.0))


@reference("aten::addcdiv")
def addcdiv(self: RefTensor, tensor1: RefTensor, tensor2: RefTensor, value: Scalar = 1) -> RefTensor:
    """self + value * tensor1 / tensor2, rounded once; a quotient of integers is refused."""
    if max(category(tensor1.dtype), category(tensor2.dtype)) < FLOAT:
        raise ValueError(f"addcdiv divides no integers, found {tensor1.dtype} and {tensor2.dtype}")
    operands = common_operands(self, tensor1, tensor2)
    dtype = operands[0]
    value = read_factor("value", value, dtype)
    if category(dtype) == COMPLEX:
        return each(operands, lambda x, y, z: _complex_sum(COMPONENTS[dtype], x, (value, y), z))
    return each(operands, lambda x, y, z: _sum(dtype, x, (value, y), z))


def _sum(dtype: str, x: float, factors: tuple[float, ...], divisor: float) -> float:
    """x + the product of the factors / divisor, read with IEEE 754's arithmetic on infinities and zeros."""
    sign = copysign(1.0, divisor)
    for factor in factors:
        sign *= copysign(1.0, factor)
    limit = _limit(factors, divisor)
    if limit is not None or not isfinite(x):
        return x + (copysign(limit, sign) if limit is not None else 0.0)
    quotient = Fraction(1) / Fraction(divisor) if isfinite(divisor) else Fraction(0)
    for factor in factors:
        quotient *= Fraction(factor)
    exact = Fraction(x) + quotient
    if exact == 0:  # -0 as the sum of two negative zeros alone (IEEE 754-2019, 6.3)
        return -0.0 if x == 0 and quotient == 0 and copysign(1.0, x) < 0 and sign < 0 else 0.0
    return round_ratio(dtype, exact.numerator, exact.denominator)


def _limit(factors: tuple[float, ...], divisor: float) -> float | None:
    """The magnitude of the quotient where it is infinite or NaN, else None."""
    if isnan(divisor) or any(isnan(factor) for factor in factors):
        return nan
    is_zero, is_infinite = any(factor == 0 for factor in factors), any(isinf(factor) for factor in factors)
    if (is_zero and (is_infinite or divisor == 0)) or (is_infinite and isinf(divisor)):
        return nan  # 0 * inf, 0 / 0, inf / inf
    return inf if is_infinite or divisor == 0 else None


def _complex_sum(component: str, x: complex, factors: tuple[complex, ...], divisor: complex) -> complex | Unspecified:
    """x + the product of the factors / divisor; open where P8 and P70 leave the products and the quotient open: an
    operand is not finite, the divisor is 0, or a product on the way, or the quotient, overflows."""
    if not is_finite(x, *factors, divisor) or divisor == 0:
        return UNSPECIFIED
    magnitude, product = Fraction(1), _gauss(1)
    for factor in factors:
        product = _times(product, _gauss(factor))
        magnitude *= max(_size(_gauss(factor)), 1)  # of every partial product: none can overflow if this does not
    a, b = _gauss(divisor)
    norm = a * a + b * b
    quotient = _times(product, (a / norm, -b / norm))
    if max(magnitude, _size(quotient)) >= overflow_threshold(component):
        return UNSPECIFIED
    own = _gauss(x)
    return round_fractions(component, own[0] + quotient[0], own[1] + quotient[1])


def _gauss(z: complex) -> Gauss:
    return Fraction(z.real), Fraction(z.imag)


def _times(z: Gauss, w: Gauss) -> Gauss:
    return z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]


def _size(z: Gauss) -> Fraction:
    """|real| + |imaginary|, which products do not exceed."""
    return abs(z[0]) + abs(z[1])


@reference("aten::lerp.Scalar", "aten::lerp.Tensor")
def lerp(self: RefTensor, end: RefTensor, weight: Operand) -> RefTensor:
    """self + weight * (end - self), rounded once; open where self or end is infinite: end - (1 - weight) * (end - self)
    is the same number, and other infinities."""
    dimensioned = [tensor for tensor in (end, weight) if isinstance(tensor, RefTensor)]
    strict = [tensor.dtype for tensor in dimensioned if tensor is end or tensor.shape]
    if any(dtype != self.dtype for dtype in strict):
        raise ValueError(f"lerp needs one dtype, found {self.dtype} and {strict}")
    if isinstance(weight, complex) and category(self.dtype) != COMPLEX:
        raise ValueError(f"lerp between real numbers needs a real weight, found {weight}")
    operands = common_operands(self, end, weight)
    dtype = operands[0]
    refuse("lerp", dtype, BOOL, INTEGER)
    if category(dtype) == COMPLEX:
        return each(operands, lambda x, y, w: _complex_lerp(COMPONENTS[dtype], x, y, w))
    return each(operands, lambda x, y, w: _lerp(dtype, x, y, w))


def _lerp(dtype: str, x: float, y: float, w: float) -> float | Unspecified:
    if isnan(x) or isnan(y) or isnan(w):
        return nan
    if isinf(x) or isinf(y):
        return UNSPECIFIED
    if isinf(w):
        return nan if x == y else copysign(inf, y - x) * copysign(1.0, w)
    exact = Fraction(x) + Fraction(w) * (Fraction(y) - Fraction(x))
    return round_ratio(dtype, exact.numerator, exact.denominator)


def _complex_lerp(component: str, x: complex, y: complex, w: complex) -> complex | Unspecified:
    if not is_finite(x, y, w):
        return UNSPECIFIED  # P8
    own, other, weight = _gauss(x), _gauss(y), _gauss(w)
    difference = other[0] - own[0], other[1] - own[1]
    if max(_size(weight), 1) * max(_size(difference), 1) >= overflow_threshold(component):
        return UNSPECIFIED
    step = _times(weight, difference)
    return round_fractions(component, own[0] + step[0], own[1] + step[1])


@reference("aten::clamp", "aten::clamp.Tensor", "aten::clip", "aten::clip.Tensor")
def clamp(self: RefTensor, min: Operand | None = None, max: Operand | None = None) -> RefTensor:
    """The smaller of max and the greater of min and self, in the dtype to which all three promote; NaN where one is
    NaN, as in maximum and minimum (P5)."""
    if min is None and max is None:
        raise ValueError("clamp needs min or max")
    operands = common_operands(*(operand for operand in (self, min, max) if operand is not None))
    dtype = operands[0]
    refuse("clamp", dtype, BOOL, COMPLEX)
    for bound in (min, max):
        if category(dtype) == INTEGER and not isinstance(bound, RefTensor | None):
            read_factor("a bound of clamp", bound, dtype)

    def clamped(x: Scalar, *bounds: Scalar) -> Scalar:
        rest = list(bounds)
        if min is not None:
            x = _maximum(x, rest.pop(0))
        if max is not None:
            x = -_maximum(-x, -rest.pop(0))
        return convert(x, dtype)

    return each(operands, clamped)


def _maximum(x: Scalar, y: Scalar) -> Scalar:
    return x if x != x or x >= y else y


@reference("aten::clamp_min", "aten::clamp_min.Tensor")
def clamp_min(self: RefTensor, min: Operand) -> RefTensor:
    """The greater of min and self."""
    return clamp(self, min=min)


@reference("aten::clamp_max", "aten::clamp_max.Tensor")
def clamp_max(self: RefTensor, max: Operand) -> RefTensor:
    """The smaller of max and self."""
    return clamp(self, max=max)
