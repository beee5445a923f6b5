"""Complex functions with both parts correctly rounded: the ladder on each part of every element."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from conform.numerics.formats import Format
from conform.numerics.functions.complex_table import COMPLEX_FUNCTIONS
from conform.numerics.functions.dd import Array
from conform.numerics.functions.ladder import evaluate
from conform.numerics.real import Real, joined, where

NEAR = 2.0**-40  # magnitudes this near to the overflow threshold are compared exactly


@dataclass(frozen=True)
class Parts:
    """value: a last axis of (real, imaginary) in the storage of the component format; real: the numbers before
    rounding. `beyond`, without that axis, marks poles and magnitudes that overflow, where both are NaN."""

    value: Array
    real: Real
    beyond: Array


def names() -> list[str]:
    """The functions that `apply` knows."""
    return sorted(COMPLEX_FUNCTIONS)


def apply(name: str, component: Format, *operands: Array) -> Parts:
    """The parts of a complex function, each rounded to nearest even in the float format `component`.

    `operands` are float64 arrays of one shape, the real and imaginary part of each complex operand in turn, finite (of
    at most 24 bits for functions of one number and a component narrower than float64). The reals are as good as those
    of the real functions. Raises Unjudged where no precision decides.
    """
    function = COMPLEX_FUNCTIONS[name]
    with np.errstate(all="ignore"):
        beyond = function.beyond(*operands)
        if beyond.any():
            operands = tuple(np.where(beyond, 0.5, operand) for operand in operands)
        folded, signs = function.fold(*operands)
        pairs = [
            _signed(*evaluate(part, component, folded), sign)
            for part, sign in zip((function.real, function.imag), signs, strict=True)
        ]
        value = np.stack([value for value, _ in pairs], axis=-1)
        real = joined(lambda parts: np.stack(parts, axis=-1), [real for _, real in pairs])
        beyond = beyond | _overflows(component, real)
    if beyond.any():
        value = np.where(beyond[..., None], component.storage.type(np.nan), value)
        real = where(beyond[..., None], np.nan, real)
    return Parts(value, real, beyond)


def _signed(value: Array, real: Real, sign: Array | float) -> tuple[Array, Real]:
    negative = np.less(sign, 0)
    return np.where(negative, -value, value), where(negative, -real, real)


def _overflows(component: Format, real: Real) -> Array:
    """Where |z| rounded to `component` is infinite: it is at least halfway from the largest number to the next one."""
    half_threshold = component.max_finite / 2 + 2.0 ** (component.emax - component.mantissa_bits - 2)
    half_size = np.hypot(real.hi[..., 0] / 2, real.hi[..., 1] / 2)
    overflows = half_size >= half_threshold * (1 + NEAR)
    near = np.argwhere((half_size > half_threshold * (1 - NEAR)) & ~overflows)
    for index in map(tuple, near.tolist()):
        overflows[index] = _norm(real, index) >= _threshold(component) ** 2
    return overflows


def _threshold(component: Format) -> Fraction:
    return Fraction(component.max_finite) + Fraction(2) ** (component.emax - component.mantissa_bits - 1)


def _norm(real: Real, index: tuple[int, ...]) -> Fraction:
    """|z|^2 of the midpoints."""
    parts = (Fraction(float(real.hi[index][i])) + Fraction(float(real.lo[index][i])) for i in (0, 1))
    return sum(part**2 for part in parts)
