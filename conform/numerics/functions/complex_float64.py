"""First rungs of the parts of complex functions, for operands of at most 24 bits: float64, whose squares of them are
exact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.numerics.functions.dd import Array

FLOAT64_ERROR = 2.0**-45
"""Relative, with u = 2^-53: at most six functions of numpy of 2^-49 each (tanh: two squares of them, counted twice),
fifteen roundings, and of log the condition 2.2 of log1p. Half of it is checked on the sentinels (ladder.py)."""
REACH = 700.0  # e^700 is far beyond float32, and a float64
TANH_REACH = 350.0  # there the imaginary part is below 2^-1000, which the ladder takes for an underflow


def exp_product(growing: Callable[[Array], Array], turning: Callable[[Array], Array]) -> Callable[..., Array]:
    """growing(x) turning(y), with x cut off where the product has long overflowed."""
    return lambda x, y: growing(np.minimum(x, REACH)) * turning(y)


def reciprocal_part(index: int) -> Callable[..., Array]:
    """x / (x^2 + y^2) or -y / (x^2 + y^2); a part of 0 stays 0 where the squares underflow."""

    def part(x: Array, y: Array) -> Array:
        above = -y if index else x
        return np.where(above == 0, above, above / (x * x + y * y))

    return part


def unit_part(x: Array, y: Array) -> Array:
    """x / |z|"""
    return np.where(x == 0, x, x / np.sqrt(x * x + y * y))


def root_part(index: int) -> Callable[..., Array]:
    """The real or imaginary part of sqrt z, y >= 0: p = sqrt((|z| + |x|)/2) or y / 2p."""

    def part(x: Array, y: Array) -> Array:
        p = np.sqrt((np.sqrt(x * x + y * y) + np.abs(x)) / 2)
        return np.where((x >= 0) == (index == 0), p, np.where(p > 0, y / (2 * p), 0.0))

    return part


def log_abs(x: Array, y: Array) -> Array:
    """log |z|; near the unit circle a^2 - 1 is exact, and the sum with b^2 rounded once."""
    a, b = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    near = (a > 0.5) & (a < 2.0)
    return np.where(near, np.log1p(np.where(near, (a * a - 1.0) + b * b, 0.0)), np.log(a * a + b * b)) / 2


def _tanh_parts(x: Array, y: Array) -> tuple[Array, Array, Array, Array]:
    x = np.minimum(x, TANH_REACH)
    return np.sinh(x), np.cosh(x), np.sin(y), np.cos(y)


def tanh_real(x: Array, y: Array) -> Array:
    """sinh x cosh x / (sinh(x)^2 + cos(y)^2), x >= 0"""
    sinh, cosh, _, cos = _tanh_parts(x, y)
    return sinh * cosh / (sinh * sinh + cos * cos)


def tanh_imag(x: Array, y: Array) -> Array:
    """sin y cos y / (sinh(x)^2 + cos(y)^2)"""
    sinh, _, sin, cos = _tanh_parts(x, y)
    return sin * cos / (sinh * sinh + cos * cos)
