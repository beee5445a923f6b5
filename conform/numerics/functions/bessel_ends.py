"""Bessel functions where operands or results are at the ends of float64's range, as `range_ends` has the others."""

from __future__ import annotations

import numpy as np

from conform.numerics.functions import dd
from conform.numerics.functions.bessel import growing_bessel, root_of_turn
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.exponential import EXP_ERROR
from conform.numerics.functions.first_bessel import wave
from conform.numerics.functions.range_ends import FAR, HUGE, TINY, Kernel, either, leading, odd, reciprocal
from conform.numerics.functions.scaled_error import root_of_pi
from conform.numerics.functions.second_bessel import root_of_half_pi, vanishing_bessel
from conform.numerics.functions.trigonometric import sin
from conform.numerics.scaled import Scaled


def bessel(order: int) -> Kernel:
    """I0 or I1 of a large |x|; that of 1023 stands for what is more."""

    def kernel(x: Array) -> Scaled:
        value, n = growing_bessel(order, dd.of(np.clip(np.abs(x), 1.0, 1023.0)))
        value = dd.scale(value, np.copysign(1.0, x)) if order == 1 else value
        return Scaled.of(*value, 2 * EXP_ERROR, n).known_where(np.abs(x) > FAR)

    return kernel


def scaled_bessel(order: int) -> Kernel:
    """e^-|x| I(x) of a huge |x|: 1 / sqrt(2 pi |x|), of which less than 2^-899 is missing."""

    def kernel(x: Array) -> Scaled:
        sign = np.copysign(1.0, x) if order else np.ones_like(x)
        return _over_root(dd.scale(root_of_turn(), sign), np.abs(x)).known_where(np.abs(x) > HUGE)

    return kernel


def second_bessel(order: int) -> Kernel:
    """K0 or K1 of a large x, that of 1023 stands for what is more; and 1/x, K1 of a tiny one."""

    def kernel(x: Array) -> Scaled:
        value, n = vanishing_bessel(order, dd.of(np.clip(x, 1.0, 1023.0)))
        far = Scaled.of(*value, 2 * EXP_ERROR, n).known_where(x > FAR)
        return far.or_else(reciprocal(x).known_where((x > 0) & (x < TINY))) if order else far

    return kernel


def scaled_second_bessel(order: int) -> Kernel:
    """e^x K0 or e^x K1 of a huge x, sqrt(pi / 2x), of which less than 2^-899 is missing; and 1/x of a tiny one."""

    def kernel(x: Array) -> Scaled:
        far = _over_root(root_of_half_pi(), x).known_where(x > HUGE)
        return far.or_else(reciprocal(x).known_where((x > 0) & (x < TINY))) if order else far

    return kernel


def _over_root(y: DD, x: Array, error: Array | float = 2.0**-100) -> Scaled:
    """y / sqrt x, of which y is off by less than this error"""
    significand, exponent = np.frexp(x)
    odd_ = exponent & 1
    root = dd.sqrt(dd.of(np.ldexp(significand, odd_)))
    return Scaled.of(*dd.div(y, root), error, (odd_ - exponent) // 2)


def first_bessel(order: int) -> Kernel:
    """J0 or J1 of a huge x, where P is 1 and Q nothing beside a sum that is no smaller than 2^-70."""

    def kernel(x: Array) -> Scaled:
        value, off = wave(order, dd.of(np.maximum(np.abs(x), 2.0)))
        value = dd.scale(value, np.copysign(1.0, x)) if order else value
        error = off / np.abs(value[0]) + 2.0**-99
        return _over_root(dd.mul(value, root_of_pi()), np.abs(x), error).known_where(np.abs(x) > HUGE)

    return either(odd(0.5, -1.0), kernel) if order else kernel


def spherical(x: Array) -> Scaled:
    """1 less x^2 / 6 of a tiny x, and sin x / x of a huge one."""
    tiny = leading(np.ones_like(x), 1.0, np.full_like(x, -1.0)).known_where((np.abs(x) < 2.0**-60) & (x != 0))
    (sine, error), (significand, exponent) = sin(dd.of(x)), np.frexp(x)
    quotient = dd.div(sine, dd.of(np.where(x == 0, 0.5, significand)))
    return tiny.or_else(Scaled.of(*quotient, error + 2.0**-99, -exponent).known_where(np.abs(x) > HUGE))
