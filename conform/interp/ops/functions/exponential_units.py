"""Activations with an exponential piece below zero, and the logarithm of the sigmoid."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from conform.interp.blocks.assembly import assembled
from conform.interp.blocks.blocks import flat, spans
from conform.interp.golden import Golden
from conform.interp.operands import numbers
from conform.interp.ops.functions.real import softplus_numbers
from conform.interp.semantics import pointwise, semantics
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball, chosen
from conform.numerics.eft import two_prod
from conform.numerics.escalate import Irrational, decided_first, resolved
from conform.numerics.formats import Format, format_of
from conform.numerics.parts import parts_of
from conform.numerics.real import Real, where
from conform.numerics.rounding import round_fraction
from conform.numerics.rounding_errors import held_format
from conform.numerics.scaled import Scaled

SELU_ALPHA, SELU_SCALE = Fraction("1.6732632423543772848170429916717"), Fraction("1.0507009873554804934193349852946")
BEYOND = 6000.0  # e^6000 rounds like infinity, whatever parameters of ordinary size multiply it
FAR = 1600  # e^-FAR < 2^-2300, while no product of two parameters is within 2^-2200 of a rounding boundary and off it
LOWEST, HIGHEST = Fraction(1, 2**100), Fraction(2**100)  # of parameters whose products with float32 are normal numbers
LITTLE = 2.0**-220  # what is left out beside 1
NEAR = 2.0**-110  # below it e^y - 1 is y to the precision of a Real


def _unit(
    self: np.ndarray, scale: Fraction, factor: Fraction, rate: Fraction, budget: Callable[[Ball], Ball]
) -> Golden:
    """scale * self above zero, else factor * (e^(rate * self) - 1); `budget`: the second as implementations compute
    it."""
    fmt = format_of(self)
    x = numbers(self, fmt)
    value, real = _numbers(fmt, x, scale, factor, rate)
    ball = Ball.exact(x, held_format(fmt))
    linear = (ball * _held(ball, scale)).but_exact(np.asarray(scale == 1))
    return Golden.derived(fmt, value, real, chosen(x > 0, linear, budget(ball)), zero_sign_free=True)


def _numbers(
    fmt: Format, x: np.ndarray, scale: Fraction, factor: Fraction, rate: Fraction
) -> tuple[np.ndarray, Real]:
    if scale == factor == rate == 1:
        return _expm1_or_itself(fmt, x)
    if rate == 1 and fmt.bits < 64 and all(LOWEST < number < HIGHEST for number in (scale, factor)):
        return _float64_first(fmt, x, scale, factor)
    return _piecewise(fmt, x, scale, factor, rate)


def _float64_first(fmt: Format, x: np.ndarray, scale: Fraction, factor: Fraction) -> tuple[np.ndarray, Real]:
    """By float64, whose products with a parameter are off by two roundings, and what that does not decide by more."""
    above = x > 0
    inner = functions.apply("expm1", fmt, np.where(above, 0.0, x))[1]
    hi = np.where(above, x * float(scale), inner.hi * float(factor))
    rounding = np.where(above & (Fraction(float(scale)) == scale), 0.0, 2.0**-51 * np.abs(hi))
    radius = np.where(np.isfinite(hi), rounding + 2 * float(factor) * np.where(above, 0.0, inner.radius), 0.0)
    return decided_first(fmt, hi, radius, lambda some: _piecewise(fmt, x[some], scale, factor, Fraction(1)))


def _expm1_or_itself(fmt: Format, x: np.ndarray) -> tuple[np.ndarray, Real]:
    above = x > 0
    value, real = functions.apply("expm1", fmt, np.where(above, 0.0, x))
    return np.where(above, x.astype(fmt.storage), value), where(above, x, real)


def _piecewise(
    fmt: Format, x: np.ndarray, scale: Fraction, factor: Fraction, rate: Fraction
) -> tuple[np.ndarray, Real]:
    column = x.reshape(-1, 1)
    above, slope, outer = column > 0, _real(scale), _real(factor)
    product = Real.exact(column) if rate == 1 else Real.exact(column) * _real(rate)
    argument = where(above | np.isnan(column), 0.0, product)
    argument = where(np.abs(argument.hi) > BEYOND, np.copysign(BEYOND, argument.hi), argument)
    lowest = np.expm1(np.float64(-np.inf) * float(rate))  # at -inf
    lower = outer * where(column == -np.inf, lowest, functions.expm1(argument))
    lower = where((factor == 0) & np.isfinite(column), 0.0, lower)
    real = where(np.isnan(column), np.nan, where(above, Real.exact(column) * slope, lower))

    def formula(rows: np.ndarray) -> np.ndarray:
        some = mp.of_float(np.where(np.isfinite(column[rows]), column[rows], np.copysign(BEYOND, column[rows])))
        piece = mp.expm1(some * mp.of_fraction(rate)) * mp.of_fraction(factor)
        return np.where(above[rows], some * mp.of_fraction(scale), piece)

    def scaled() -> Scaled:
        far = _of_far(argument, factor).known_where(~above & np.isfinite(column))
        return _of_tiny(column, factor, rate).or_else(far).or_else(_line(column, scale).known_where(above))

    value, real = resolved(fmt, real, formula, partial(_stand_in, fmt, column, scale, factor, rate), scaled)
    return value.reshape(x.shape), real.reshape(x.shape)


def _of_tiny(column: np.ndarray, factor: Fraction, rate: Fraction) -> Scaled:
    """factor * (e^y - 1) = factor * y * (1 + y / 2 + ...) of numbers x < 0 whose y = rate * x is almost 0."""
    product = factor * rate
    binade = product.numerator.bit_length() - product.denominator.bit_length() if product else 0
    slope = _real(product / Fraction(2) ** binade)
    significand, exponent = np.frexp(column)
    tiny = (column < 0) & np.isfinite(column) & (np.abs(significand * float(rate)) < np.ldexp(NEAR, -exponent))
    significand = np.where(tiny, significand, -1.0)
    return Scaled.of(significand, np.zeros_like(significand), NEAR, exponent + binade).times(slope).known_where(tiny)


def _line(x: np.ndarray, scale: Fraction) -> Scaled:
    """scale * x, exactly, of a scale that is a double."""
    (significand, exponent), (factor, its_exponent) = np.frexp(x), math.frexp(float(scale))
    product, rest = two_prod(significand, np.full_like(x, factor))
    return Scaled.of(product, rest, 0.0, exponent + its_exponent).known_where(Fraction(float(scale)) == scale)


def _of_far(y: Real, factor: Fraction) -> Scaled:
    """factor * (e^y - 1) of a y far from 0: factor * e^y, or -factor and e^y less of it."""
    binade = factor.numerator.bit_length() - factor.denominator.bit_length() if factor else 0
    parts = parts_of(factor / Fraction(2) ** binade)
    hi, lo = (np.full(y.shape, part) for part in (parts.hi, parts.lo))
    error = abs(parts.radius / parts.hi) + LITTLE if factor else np.inf
    power = functions.exp_scaled(where(y.hi > -math.log(LITTLE), y, 1.0))
    up = Scaled.of(hi, lo, error, binade).product(power)
    down = Scaled.of(-hi, -lo, error, binade) if parts.radius else Scaled.beside(-hi, -lo, -1.0, binade)
    return up.known_where(y.hi > -math.log(LITTLE)).or_else(down.known_where(y.hi < math.log(LITTLE)))


def _stand_in(
    fmt: Format, column: np.ndarray, scale: Fraction, factor: Fraction, rate: Fraction, index: tuple[int, ...]
) -> Fraction | None:
    """The number itself above zero; below, of arguments y of e^y - 1 that are far from 0 or next to it, one that rounds
    alike."""
    if not np.isfinite(column[index]):
        return None
    x = Fraction(float(column[index]))
    y = rate * x
    if x > 0 or y == 0:
        return scale * x if x > 0 else Fraction(0)
    if y < -FAR:
        return factor * (Fraction(1, 2**2250) - 1)
    if y > BEYOND:
        return factor * 2**8000
    return _next_to_zero(fmt, factor, y) if abs(y) < NEAR else None


def _next_to_zero(fmt: Format, factor: Fraction, y: Fraction) -> Fraction | None:
    """factor * (e^y - 1) lies between factor * (y + y^2 / 2) and that with y^3 / 4 added; None where these two round to
    different numbers."""
    ends = [factor * (y + y * y / 2 + part * y**3) for part in (Fraction(0), Fraction(1, 4))]
    return Irrational(ends[0]) if len({round_fraction(fmt, end).tobytes() for end in ends}) == 1 else None


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
    value, real, _ = softplus_numbers(fmt, x, np.float64(-1), np.zeros(x.shape, bool))
    return Golden.derived(fmt, value, real, far - Ball.exact(-np.abs(x), compute).exp().log1p(), zero_sign_free=True)


@semantics("aten::log_sigmoid_forward")
def log_sigmoid_forward(self: np.ndarray) -> tuple[Golden, Golden]:
    """(log_sigmoid of self, a buffer for the gradient, of which nothing is documented) (P95, P206)"""
    parts = ((some, log_sigmoid(flat(self, some))) for some in spans(self.size))
    whole = assembled(parts, self.size).rearranged(lambda flat_: flat_.reshape(self.shape))
    return whole, Golden.of_nothing_documented("P206")
