"""The exponential, the square root, the sine, and gelu: the real value rounded once."""

from __future__ import annotations

import math

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import complex_numbers, numbers
from conform.interp.ops.functions.complex_parts import complex_function
from conform.interp.promotion import Operand, float_result, result_type
from conform.interp.semantics import pointwise
from conform.numerics import arithmetic, functions
from conform.numerics.ball import Ball
from conform.numerics.rounding_errors import held_format


def real_function(name: str, self: Operand, **parameters: object) -> Golden:
    """A function of the ladder on every element; integers and bools become float32 first (P18)."""
    fmt = float_result(result_type(self))
    if fmt.is_complex:
        return complex_function(name, fmt, complex_numbers(self, fmt))
    return Golden(fmt, *functions.apply(name, fmt, numbers(self, fmt), **parameters))


@pointwise("aten::exp")
def exp(self: Operand) -> Golden:
    """e to the power self"""
    return real_function("exp", self)


@pointwise("aten::sqrt")
def sqrt(self: Operand) -> Golden:
    """The square root; NaN below zero, -0 of -0"""
    fmt = float_result(result_type(self))
    if fmt.is_complex:
        return complex_function("sqrt", fmt, complex_numbers(self, fmt))
    return Golden(fmt, *arithmetic.sqrt(fmt, numbers(self, fmt)))


@pointwise("aten::sin")
def sin(self: Operand) -> Golden:
    """The sine of an angle in radians; NaN of infinities"""
    return real_function("sin", self)


@pointwise("aten::gelu")
def gelu(self: Operand, approximate: str = "none") -> Golden:
    """x * Phi(x) with Phi the standard normal distribution; "tanh": x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715
    x^3)))"""
    fmt = result_type(self)
    x = numbers(self, fmt)
    value, real = functions.apply("gelu" if approximate == "none" else "gelu_tanh", fmt, x)
    compute = held_format(fmt)
    return Golden.derived(fmt, value, real, _gelu(Ball.exact(x, compute), approximate)).opened(x == -np.inf, "P38")


SATURATION = 40.0  # of the tanh form, whose tanh is 1 - e^-4600 there; +-1 from there on, even where x^3 overflows


def _gelu(x: Ball, approximate: str) -> Ball:
    """Through the documented formulas: x/2 * (1 + erf(x / sqrt 2)), or the tanh form; both cancel for negative x."""
    if approximate == "none":
        distribution = (x * x.irrational(math.sqrt(0.5))).erf(functions.erf_float64) + 1.0
    else:
        near = Ball.exact(np.clip(x.mid, -SATURATION, SATURATION), x.compute)
        distribution = ((near + near * near * near * 0.044715) * x.irrational(math.sqrt(2 / math.pi))).tanh() + 1.0
    return x * 0.5 * distribution
