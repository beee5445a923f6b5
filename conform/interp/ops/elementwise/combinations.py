"""Combinations of three operands, rounded once: addcmul, addcdiv, lerp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from gmpy2 import mpq

from conform.interp.golden import Golden
from conform.interp.operands import broadcast_numbers, converted
from conform.interp.ops.elementwise.arithmetic import integers
from conform.interp.promotion import Operand, result_type
from conform.interp.semantics import pointwise
from conform.numerics.ball import Ball, chosen
from conform.numerics.digits import Digits, decide_digits, products, single
from conform.numerics.escalate import decide_exactly, decided_first
from conform.numerics.formats import Format
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format


def rational(fmt: Format, formula: Callable, special: np.ndarray, *operands: np.ndarray) -> tuple[np.ndarray, Real]:
    """A formula of rational operations on finite operands, rounded once: on Reals, and where they do not decide on
    Fractions; `special` where an operand is not finite."""
    safe, real = _on_reals(formula, special, operands)

    def of_fractions(index: tuple[int, ...]) -> Fraction:
        return formula(*(mpq(float(x[index])) for x in safe))  # as a Fraction, and ten times as fast

    return decide_exactly(fmt, real, of_fractions)


def polynomial(
    fmt: Format, formula: Callable, digits: Callable[..., Digits], special: np.ndarray, *operands: np.ndarray
) -> tuple[np.ndarray, Real]:
    """As `rational` of a polynomial of few terms, whose exact value `digits` tells of operands [n]."""
    shape = special.shape
    safe, real = _on_reals(formula, special.ravel(), [x.ravel() for x in operands])
    value, real = decide_digits(fmt, real, len(operands), lambda index: digits(*(x[index] for x in safe)))
    return value.reshape(shape), real.reshape(shape)


def _on_reals(
    formula: Callable, special: np.ndarray, operands: Sequence[np.ndarray]
) -> tuple[list[np.ndarray], Real]:
    """The operands, 1 where one of them is not finite, and the formula of them on Reals, `special` there."""
    finite = np.logical_and.reduce([np.isfinite(x) for x in operands])
    safe = [np.where(finite, x, 1.0) for x in operands]
    return safe, where(finite, formula(*map(Real.exact, safe)), special)


def rational_in_float64(
    fmt: Format, formula: Callable, relative_error: float, special: np.ndarray, operand: np.ndarray
) -> tuple[np.ndarray, Real]:
    """As `rational` of one operand, of a formula that float64 computes within `relative_error`: what that does not
    decide, of a narrower format, is asked of Reals."""
    if fmt.bits == 64:
        return rational(fmt, formula, special, operand)
    hi = np.where(np.isfinite(operand), formula(operand), special)
    radius = np.where(np.isfinite(operand), relative_error * np.abs(hi), 0.0)
    return decided_first(fmt, hi, radius, lambda some: rational(fmt, formula, special[some], operand[some]))


def wider(one: Ball, other: Ball) -> Ball:
    """Of two ways to compute the same number the one that may err more."""
    return chosen(other.rad > one.rad, other, one)


def _class(x: np.ndarray) -> np.ndarray:
    """What decides about infinities and NaN in products and quotients: finite numbers by their signs."""
    return np.where(np.isfinite(x), np.sign(x), x)


@pointwise("aten::addcmul")
def addcmul(self: np.ndarray, tensor1: np.ndarray, tensor2: np.ndarray, value: int | float = 1) -> Golden:
    """self + value * tensor1 * tensor2; integers wrap (P10, P96)"""
    fmt = result_type(self, tensor1, tensor2)
    if fmt.is_integer:
        return integers(fmt, lambda x, y, z: x + converted(value, fmt) * y * z, self, tensor1, tensor2)
    x, y, z = broadcast_numbers(fmt, self, tensor1, tensor2)
    v = np.full_like(x, float(value))
    special = x + _class(v) * _class(y) * _class(z)
    exactly = lambda x, y, z, v: products(y[None], z[None]).times(float(value)) + single(x)  # noqa: E731
    found = polynomial(fmt, lambda x, y, z, v: x + v * y * z, exactly, special, x, y, z, v)
    a, b, c, d = (Ball.exact(operand, held_format(fmt)) for operand in (x, y, z, v))
    ball = wider(a + d * b * c, a + d * (b * c))
    return Golden.derived(fmt, *found, ball, zero_sign_free=True)


@pointwise("aten::addcdiv")
def addcdiv(self: np.ndarray, tensor1: np.ndarray, tensor2: np.ndarray, value: int | float = 1) -> Golden:
    """self + value * tensor1 / tensor2; not of integers (P96)"""
    fmt = result_type(self, tensor1, tensor2)
    x, y, z = broadcast_numbers(fmt, self, tensor1, tensor2)
    v = np.full_like(x, float(value))
    special = x + _class(v) * _class(y) / np.where(np.isfinite(z) & (z != 0), np.sign(z), z)
    divides = z != 0
    found = rational(fmt, lambda x, y, z, v: x + v * y / z, special, np.where(divides, x, np.inf), y, z, v)
    a, b, c, d = (Ball.exact(operand, held_format(fmt)) for operand in (x, y, z, v))
    return Golden.derived(fmt, *found, wider(a + d * b / c, a + d * (b / c)), zero_sign_free=True)


@pointwise("aten::lerp.Scalar", "aten::lerp.Tensor")
def lerp(self: np.ndarray, end: np.ndarray, weight: Operand) -> Golden:
    """self + weight * (end - self), or end - (1 - weight) * (end - self) (P96)"""
    fmt = result_type(self, end, weight)
    x, y, w = broadcast_numbers(fmt, self, end, weight)
    special = x + _class(w) * _class(y - x)
    exactly = lambda x, y, w: products(np.stack([x, w, -w]), np.stack([np.ones_like(x), y, x]))  # noqa: E731
    found = polynomial(fmt, lambda x, y, w: x + w * (y - x), exactly, special, x, y, w)
    a, b, c = (Ball.exact(operand, held_format(fmt)) for operand in (x, y, w))
    ball = wider(a + c * (b - a), b - (-c + 1.0) * (b - a))
    infinite = (np.isinf(x) | np.isinf(y)) & ~(np.isnan(x) | np.isnan(y) | np.isnan(w))
    return Golden.derived(fmt, *found, ball, zero_sign_free=True).opened(infinite, "P96")
