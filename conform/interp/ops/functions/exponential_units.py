"""Activations with an exponential piece below zero, and the logarithm of the sigmoid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import numbers
from conform.interp.ops.functions.real import softplus_of
from conform.interp.semantics import pointwise
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball, chosen, held_format
from conform.numerics.escalate import resolved
from conform.numerics.formats import Format, format_of
from conform.numerics.parts import parts_of
from conform.numerics.real import Real, where

SELU_ALPHA, SELU_SCALE = Fraction("1.6732632423543772848170429916717"), Fraction("1.0507009873554804934193349852946")
BEYOND = 6000.0  # e^-6000 and e^6000 round like 0 and infinity, whatever parameters of ordinary size multiply them


def _unit(
    self: np.ndarray, scale: Fraction, factor: Fraction, rate: Fraction, budget: Callable[[Ball], Ball]
) -> Golden:
    """scale * self above zero, else factor * (e^(rate * self) - 1); `budget`: the second as implementations compute
    it."""
    fmt = format_of(self)
    x = numbers(self, fmt)
    column = x.reshape(-1, 1)
    above, slope, outer = column > 0, _real(scale), _real(factor)
    argument = where(above | np.isnan(column), 0.0, Real.exact(column) * _real(rate))
    argument = where(np.abs(argument.hi) > BEYOND, np.copysign(BEYOND, argument.hi), argument)
    lowest = np.expm1(np.float64(-np.inf) * float(rate))  # at -inf
    lower = outer * where(column == -np.inf, lowest, functions.expm1(argument))
    real = where(np.isnan(column), np.nan, where(above, Real.exact(column) * slope, lower))

    def formula(rows: np.ndarray) -> np.ndarray:
        some = mp.of_float(np.where(np.isfinite(column[rows]), column[rows], np.copysign(BEYOND, column[rows])))
        piece = mp.expm1(some * mp.of_fraction(rate)) * mp.of_fraction(factor)
        return np.where(above[rows], some * mp.of_fraction(scale), piece)

    value, real = resolved(fmt, real, formula)
    ball = Ball.exact(x, held_format(fmt))
    linear = (ball * _held(ball, scale)).but_exact(np.asarray(scale == 1))
    return Golden.derived(
        fmt, value.reshape(x.shape), real.reshape(x.shape), chosen(x > 0, linear, budget(ball)), zero_sign_free=True
    )


def _real(number: Fraction) -> Real:
    parts = parts_of(number)
    return Real(np.float64(parts.hi), np.float64(parts.lo), np.float64(parts.radius))


def _held(x: Ball, number: Fraction) -> Ball:
    """A parameter as the compute type holds it."""
    nearest = float(number)
    return x.constant(nearest) if Fraction(nearest) == number else x.irrational(nearest)


def _exp_minus_one(x: Ball) -> Ball:
    """As the documentation has it, by a difference that cancels near zero."""
    return x.exp() - 1.0


@pointwise("aten::elu")
def elu(
    self: np.ndarray, alpha: int | float = 1, scale: int | float = 1, input_scale: int | float = 1
) -> Golden:
    """scale * self above zero, else scale * alpha * (e^(input_scale * self) - 1) (P95)"""
    outer, inner, rate = (Fraction(float(number)) for number in (scale, alpha, input_scale))

    def budget(x: Ball) -> Ball:
        product = _exp_minus_one(x * _held(x, rate))
        return product * _held(x, inner) * _held(x, outer)

    return _unit(self, outer, outer * inner, rate, budget)


@pointwise("aten::selu")
def selu(self: np.ndarray) -> Golden:
    """scale * (max(0, self) + min(0, alpha * (e^self - 1))), alpha = 1.6732632423543772848170429916717 and scale =
    1.0507009873554804934193349852946 (P95)"""

    def budget(x: Ball) -> Ball:
        return _exp_minus_one(x) * _held(x, SELU_ALPHA) * _held(x, SELU_SCALE)

    return _unit(self, SELU_SCALE, SELU_SCALE * SELU_ALPHA, Fraction(1), budget)


@pointwise("aten::celu")
def celu(self: np.ndarray, alpha: int | float = 1.0) -> Golden:
    """max(0, self) + min(0, alpha * (e^(self / alpha) - 1)) (P95)"""
    number = Fraction(float(alpha))

    def budget(x: Ball) -> Ball:
        return _exp_minus_one(x / _held(x, number)) * _held(x, number)

    return _unit(self, Fraction(1), number, 1 / number, budget)


@pointwise("aten::log_sigmoid")
def log_sigmoid(self: np.ndarray) -> Golden:
    """log(1 / (1 + e^-self)) = min(self, 0) - log(1 + e^-|self|) (P95)"""
    fmt: Format = format_of(self)
    x = numbers(self, fmt)
    compute = held_format(fmt)
    far = Ball.exact(np.minimum(x, 0.0), compute)
    golden = replace(softplus_of(fmt, x, np.float64(-1), np.zeros(x.shape, bool)), zero_sign_free=True)
    return golden.but_derived(far - Ball.exact(-np.abs(x), compute).exp().log1p())
