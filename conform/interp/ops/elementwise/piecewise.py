"""Activations made of straight and curved pieces, and angles in other units."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import flat, spans
from conform.interp.dims import wrap_dim
from conform.interp.golden import Golden
from conform.interp.operands import numbers
from conform.interp.ops.elementwise.combinations import rational_in_float64, wider
from conform.interp.promotion import float_result, result_type
from conform.interp.semantics import pointwise, semantics
from conform.numerics import arithmetic, functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball, chosen
from conform.numerics.escalate import resolved
from conform.numerics.formats import Format, format_of
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format
from conform.numerics.scaled import Scaled


def _leaky(fmt: Format, x: np.ndarray, slope: np.ndarray) -> Golden:
    """x from zero on, slope * x below; open at zeros for a slope that is not finite (P95)."""
    value, real = arithmetic.mul(fmt, np.where(x >= 0, 1.0, slope), x)
    return Golden(fmt, value, real, zero_sign_free=True).opened((x == 0) & ~np.isfinite(slope), "P95")


@pointwise("aten::leaky_relu")
def leaky_relu(self: np.ndarray, negative_slope: int | float = 0.01) -> Golden:
    """max(0, self) + negative_slope * min(0, self) (P95)"""
    x = numbers(self, format_of(self))
    return _leaky(format_of(self), x, np.full_like(x, float(negative_slope)))


@semantics("aten::prelu")
def prelu(self: np.ndarray, weight: np.ndarray) -> Golden:
    """max(0, self) + weight * min(0, self), one weight or one for each index of dim 1 (P95)"""
    fmt = format_of(self)
    of_channels = weight.reshape(()) if weight.size == 1 else weight.reshape(-1, *[1] * (self.ndim - 2))
    slopes = np.broadcast_to(of_channels, self.shape)
    parts = (
        (place, _leaky(fmt, numbers(flat(self, place), fmt), numbers(flat(slopes, place), fmt)))
        for place in spans(self.size)
    )
    return assembled(parts, self.size).rearranged(lambda part: part.reshape(self.shape))


@pointwise("aten::softshrink", compares=True)
def softshrink(self: np.ndarray, lambd: int | float = 0.5) -> Golden:
    """self - lambd above lambd, self + lambd below -lambd, 0 between them; NaN of NaN (P95)"""
    fmt = format_of(self)
    x = numbers(self, fmt)
    shrunk = ~(np.abs(x) <= lambd)
    value, real = arithmetic.sub(fmt, np.where(shrunk, x, 0.0), np.where(shrunk, np.copysign(lambd, x), 0.0))
    return Golden(fmt, value, real, zero_sign_free=True)


HARD_ERROR = 2.0**-51  # of a sum, a product and a quotient in float64, three roundings, of operands that it holds


@pointwise("aten::hardswish")
def hardswish(self: np.ndarray) -> Golden:
    """0 up to -3, self from 3 on, self * (self + 3) / 6 between: self * relu6(self + 3) / 6; open at -inf (P95)"""
    fmt = format_of(self)
    x = numbers(self, fmt)
    inner = np.clip(x, -3.0, 3.0)
    value, real = rational_in_float64(fmt, lambda y: y * (y + 3) / 6, HARD_ERROR, inner, inner)
    settled = np.abs(x) >= 3
    ends = np.maximum(x, 0.0) * settled
    value, real = np.where(settled, ends.astype(fmt.storage), value), where(settled, ends, real)
    ball = Ball.exact(x, held_format(fmt))
    gate = Ball.exact(inner, held_format(fmt)) + 3.0
    formulas = wider(ball * gate / 6.0, ball * (gate / 6.0))
    return Golden.derived(fmt, value, real, formulas, zero_sign_free=True).opened(x == -np.inf, "P95")


@pointwise("aten::hardsigmoid")
def hardsigmoid(self: np.ndarray) -> Golden:
    """0 up to -3, 1 from 3 on, self / 6 + 1 / 2 between"""
    fmt = format_of(self)
    x = np.clip(numbers(self, fmt), -3.0, 3.0)
    ball = Ball.exact(x, held_format(fmt))
    formulas = wider(ball / 6.0 + 0.5, (ball + 3.0) / 6.0).but_exact(np.abs(x) == 3)
    numbers_ = rational_in_float64(fmt, lambda y: (y + 3) / 6, HARD_ERROR, x, x)
    return Golden.derived(fmt, *numbers_, formulas, zero_sign_free=True)


@semantics("aten::glu")
def glu(self: np.ndarray, dim: int = -1) -> Golden:
    """The first half of self along dim, times 1 / (1 + e^-b) of each number b of the second half"""
    fmt, axis = format_of(self), wrap_dim(dim, self.ndim)
    halves = np.split(self, 2, axis)
    shape, count = halves[0].shape, halves[0].size
    parts = ((place, _gated(fmt, *(numbers(flat(half, place), fmt) for half in halves))) for place in spans(count))
    return assembled(parts, count).rearranged(lambda part: part.reshape(shape))


def _gated(fmt: Format, a: np.ndarray, b: np.ndarray) -> Golden:
    """[n]: a * sigmoid(b)."""
    column, gates = a.reshape(-1, 1), b.reshape(-1, 1)

    def formula(rows: np.ndarray) -> np.ndarray:
        return mp.of_float(column[rows]) / (1 + mp.exp(-mp.of_float(gates[rows])))

    def rational(index: tuple[int, int]) -> Fraction | None:
        """Where e^-b is (Lindemann)."""
        if column[index] and gates[index]:
            return None
        return Fraction(column[index]) / 2

    with np.errstate(all="ignore"):
        real = Real.exact(column) * functions.sigmoid(Real.exact(gates))
        value, real = resolved(fmt, real, formula, rational)
        gate = Ball.exact(b, held_format(fmt))
        logistic = gate.constant(1.0) / ((-gate).exp() + 1.0)
        # Where e^-b overflows the quotient is 0, and off by what it should be.
        overflows = (b < 0) & ~np.isfinite(logistic.rad) & np.isfinite(b)
        tiny = Ball(functions.sigmoid(Real.exact(b)).hi, np.full(b.shape, 2 / gate.compute.max_finite), gate.compute)
        ball = Ball.exact(a, gate.compute) * chosen(overflows, tiny, logistic)
    return Golden.derived(fmt, value.reshape(-1), real.reshape(-1), ball, zero_sign_free=True)


# Angles


def _in_units(self: np.ndarray, ratio: Callable[[], Any], formula: Callable[[Ball], Ball]) -> Golden:
    """self times the ratio of two units of angles."""
    fmt = float_result(result_type(self))
    x = numbers(self, fmt)
    column = x.reshape(-1, 1)
    value, real = resolved(
        fmt,
        Real.exact(column) * mp.as_real(ratio),
        lambda rows: mp.of_float(column[rows]) * ratio(),
        scaled=lambda: Scaled.of(*_parted(column)).times(mp.as_real(ratio)),
    )
    ball = Ball.exact(x, held_format(fmt))
    by_constant = ball * ball.irrational(float(ratio()))
    return Golden.derived(fmt, value.reshape(x.shape), real.reshape(x.shape), wider(formula(ball), by_constant))


def _parted(x: np.ndarray) -> tuple[np.ndarray, float, float, np.ndarray]:
    """Significands, without a second part or an error, and exponents, as Scaled.of takes them."""
    significand, exponent = np.frexp(x)
    return significand, 0.0, 0.0, exponent


@pointwise("aten::deg2rad")
def deg2rad(self: np.ndarray) -> Golden:
    """self * pi / 180; integers and bools become float32"""
    return _in_units(self, lambda: mp.pi() / 180, lambda x: x * x.irrational(np.pi) / 180.0)


@pointwise("aten::rad2deg")
def rad2deg(self: np.ndarray) -> Golden:
    """self * 180 / pi; integers and bools become float32"""
    return _in_units(self, lambda: 180 / mp.pi(), lambda x: x * 180.0 / x.irrational(np.pi))
