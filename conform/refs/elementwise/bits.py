"""Operations on the bits of integers, on truth, and on divisors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import gcd, lcm
from typing import Any

from conform.refs.exact.mapped import each, refuse, unary
from conform.refs.exact.promotion import (
    BOOL,
    COMPLEX,
    FLOAT,
    INTEGER_SIZES,
    Operand,
    common_operands,
)
from conform.refs.exact.rounding import (
    INTEGER_RANGES,
    wrap_integer,
)
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference


def _define_bitwise(name: str, element: Callable[[int, int], int]) -> None:
    """`name` by the two's complement bits of integers and bools."""

    def bitwise(self: Operand, other: Operand) -> RefTensor:
        operands = common_operands(self, other)
        refuse(name, operands[0], FLOAT, COMPLEX)
        return each(operands, element)

    bitwise.__name__, bitwise.__doc__ = name, f"{name} of the two's complement bits; of bools, of truth."
    reference(*(f"aten::{name}.{kind}" for kind in ("Tensor", "Scalar", "Scalar_Tensor")))(bitwise)


_define_bitwise("bitwise_and", operator.and_)
_define_bitwise("bitwise_or", operator.or_)
_define_bitwise("bitwise_xor", operator.xor)


@reference("aten::bitwise_not")
def bitwise_not(self: RefTensor) -> RefTensor:
    """Every bit of an integer inverted; the contrary of a bool."""
    refuse("bitwise_not", self.dtype, FLOAT, COMPLEX)
    if self.dtype == "bool":
        return unary(self, lambda x: not x)
    return unary(self, lambda x: wrap_integer(self.dtype, ~x))


def _define_shift(name: str, element: Callable[[int, int], int]) -> None:
    """`name` of integers; open where the shift is negative or not below the number of bits: C leaves that undefined."""

    def shift(self: Operand, other: Operand) -> RefTensor:
        operands = common_operands(self, other)
        dtype = operands[0]
        refuse(name, dtype, BOOL, FLOAT, COMPLEX)
        bits = 8 * INTEGER_SIZES[dtype]
        return each(operands, lambda x, y: wrap_integer(dtype, element(x, y)) if 0 <= y < bits else UNSPECIFIED)

    shift.__name__, shift.__doc__ = name, f"{name} by other bits: self * 2^other, or floor(self / 2^other); it wraps."
    reference(*(f"aten::{name}.{kind}" for kind in ("Tensor", "Tensor_Scalar", "Scalar_Tensor")))(shift)


_define_shift("bitwise_left_shift", operator.lshift)
_define_shift("bitwise_right_shift", operator.rshift)


def _define_logical(name: str, holds: Callable[[bool, bool], bool]) -> None:
    """`name` of whether each operand, in its own dtype, is not zero; NaN is not."""

    def logical(self: RefTensor, other: RefTensor) -> RefTensor:
        truths = [RefTensor("bool", operand.shape, [x != 0 for x in operand.data]) for operand in (self, other)]
        return each(common_operands(*truths), holds)

    logical.__name__, logical.__doc__ = name, f"{name} of self != 0 and other != 0."
    reference(f"aten::{name}")(logical)


_define_logical("logical_and", lambda x, y: x and y)
_define_logical("logical_or", lambda x, y: x or y)
_define_logical("logical_xor", operator.ne)


@reference("aten::logical_not")
def logical_not(self: RefTensor) -> RefTensor:
    """Whether self is zero."""
    return unary(self, lambda x: x == 0, "bool")


@reference("aten::gcd")
def gcd_(self: RefTensor, other: RefTensor) -> RefTensor:
    """The greatest common divisor, not negative; gcd(0, 0) is 0; open as `_divisors` says."""
    return _divisors("gcd", self, other, gcd)


@reference("aten::lcm")
def lcm_(self: RefTensor, other: RefTensor) -> RefTensor:
    """The least common multiple, not negative; lcm(x, 0) is 0; open as `_divisors` says."""
    return _divisors("lcm", self, other, lcm)


def _divisors(op: str, self: RefTensor, other: RefTensor, element: Callable[[int, int], int]) -> RefTensor:
    """Open where the dtype does not hold the result, or the magnitude of an operand."""
    operands = common_operands(self, other)
    refuse(op, operands[0], BOOL, FLOAT, COMPLEX)
    greatest = INTEGER_RANGES[operands[0]][1]

    def held(x: int, y: int) -> Any:
        numbers = element(x, y), abs(x), abs(y)
        return numbers[0] if max(numbers) <= greatest else UNSPECIFIED

    return each(operands, held)
