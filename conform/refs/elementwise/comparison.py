"""What compares: the greater, whether equal, which kind of number; and choices by a condition."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from math import inf, isfinite, isnan, nan

from conform.refs.exact.mapped import each, refuse, unary
from conform.refs.exact.promotion import (
    COMPLEX,
    FLOAT,
    Operand,
    Scalar,
    category,
    common_operands,
    convert,
)
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, broadcast_shapes, expand
from conform.refs.references import reference


@reference("aten::maximum")
def maximum(self: Operand, other: Operand) -> RefTensor:
    """The greater of the two; NaN if either is NaN; on bools: or."""
    operands = common_operands(self, other)
    dtype = operands[0]
    refuse("maximum", dtype, COMPLEX)
    return each(operands, lambda x, y: convert(greater(x, y), dtype))


def greater(x: Scalar, y: Scalar) -> Scalar:
    """NaN if either is NaN, else the greater."""
    return x if x != x or x >= y else y


@reference("aten::minimum")
def minimum(self: Operand, other: Operand) -> RefTensor:
    """The smaller of the two; NaN if either is NaN; on bools: and."""
    operands = common_operands(self, other)
    refuse("minimum", operands[0], COMPLEX)
    return each(operands, lambda x, y: convert(x if x != x or x <= y else y, operands[0]))


@reference("aten::fmax")
def fmax(self: Operand, other: Operand) -> RefTensor:
    """The greatest of those of the two that are numbers, NaN of none; on bools: or."""
    return _of_numbers("fmax", self, other, max)


@reference("aten::fmin")
def fmin(self: Operand, other: Operand) -> RefTensor:
    """The smallest of those of the two that are numbers, NaN of none; on bools: and."""
    return _of_numbers("fmin", self, other, min)


def _of_numbers(op: str, self: Operand, other: Operand, choose: Callable[..., Scalar]) -> RefTensor:
    operands = common_operands(self, other)
    refuse(op, operands[0], COMPLEX)
    return each(operands, lambda *pair: convert(choose((x for x in pair if x == x), default=nan), operands[0]))


def _define_comparison(name: str, alias: str | None, holds: Callable[[Scalar, Scalar], bool], is_order: bool) -> None:
    """`name` and its other name compare in the common dtype; NaN is unordered; there is no order of complex numbers."""

    def compare(self: Operand, other: Operand) -> RefTensor:
        operands = common_operands(self, other)
        refuse(name, operands[0], *((COMPLEX,) if is_order else ()))
        return each(operands, holds, "bool")

    compare.__name__, compare.__doc__ = name, f"Whether self {name} other, in the common dtype."
    names = [one for one in (name, alias) if one]
    reference(*(f"aten::{one}.{kind}" for one in names for kind in ("Tensor", "Scalar")))(compare)


_define_comparison("eq", None, operator.eq, is_order=False)
_define_comparison("ne", "not_equal", operator.ne, is_order=False)
_define_comparison("lt", "less", operator.lt, is_order=True)
_define_comparison("le", "less_equal", operator.le, is_order=True)
_define_comparison("gt", "greater", operator.gt, is_order=True)
_define_comparison("ge", "greater_equal", operator.ge, is_order=True)


@reference("aten::isclose")
def isclose_(
    self: RefTensor, other: RefTensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> RefTensor:
    """|self - other| <= atol + rtol |other| of finite numbers; infinities by ==; NaN is close to NaN with equal_nan."""
    if self.dtype != other.dtype or category(self.dtype) != FLOAT:
        raise ValueError(f"the reference of isclose compares floats of one dtype, found {self.dtype}, {other.dtype}")
    if not (rtol >= 0 and atol >= 0):
        raise ValueError(f"tolerances are 0 or more, found rtol {rtol} and atol {atol}")

    def close(x: float, y: float) -> bool:
        if isfinite(x) and isfinite(y):
            return abs(Fraction(x) - Fraction(y)) <= Fraction(atol) + Fraction(rtol) * abs(Fraction(y))
        return x == y or (equal_nan and isnan(x) and isnan(y))

    return each(common_operands(self, other), close, "bool")


@reference("aten::allclose")
def allclose_(
    self: RefTensor, other: RefTensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> RefTensor:
    """Whether every pair of elements is close."""
    return RefTensor("bool", (), [all(isclose_(self, other, rtol, atol, equal_nan).data)])


@reference("aten::equal")
def equal_(self: RefTensor, other: RefTensor) -> RefTensor:
    """One shape, and elements that are == each other."""
    if self.dtype != other.dtype:
        raise ValueError(f"equal compares tensors of one dtype, found {self.dtype} and {other.dtype}")
    same = self.shape == other.shape and all(x == y for x, y in zip(self.data, other.data, strict=True))
    return RefTensor("bool", (), [same])


@reference("aten::isnan")
def isnan_(self: RefTensor) -> RefTensor:
    """Whether NaN; of a complex number, whether a part is."""
    return unary(self, lambda x: x != x, "bool")


@reference("aten::isinf")
def isinf_(self: RefTensor) -> RefTensor:
    """Whether infinite; of a complex number, whether a part is."""
    return unary(self, lambda x: inf in (abs(x.real), abs(x.imag)), "bool")


@reference("aten::isposinf")
def isposinf_(self: RefTensor) -> RefTensor:
    """Whether the positive infinity; complex numbers have no sign."""
    refuse("isposinf", self.dtype, COMPLEX)
    return unary(self, lambda x: x == inf, "bool")


@reference("aten::isneginf")
def isneginf_(self: RefTensor) -> RefTensor:
    """Whether the negative infinity; complex numbers have no sign."""
    refuse("isneginf", self.dtype, COMPLEX)
    return unary(self, lambda x: x == -inf, "bool")


@reference("aten::isfinite")
def isfinite_(self: RefTensor) -> RefTensor:
    """Whether neither infinite nor NaN; of a complex number, whether both parts are."""
    return unary(self, lambda x: abs(x.real) < inf and abs(x.imag) < inf, "bool")


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


@reference("aten::heaviside")
def heaviside(self: RefTensor, values: RefTensor) -> RefTensor:
    """0 below zero, values at zero, 1 above; open at NaN, of which the documentation says nothing."""
    if self.dtype != values.dtype:
        raise ValueError(f"heaviside needs one dtype, found {self.dtype} and {values.dtype}")
    operands = common_operands(self, values)
    dtype = operands[0]
    refuse("heaviside", dtype, COMPLEX)
    return each(operands, lambda x, y: UNSPECIFIED if x != x else y if x == 0 else convert(x > 0, dtype))
