"""exp, sin, sqrt and gelu."""

from __future__ import annotations

from math import inf, isfinite, isnan, nan

from flint import arb

from conform.refs.exact.mapped import real_function, refuse
from conform.refs.exact.promotion import (
    BOOL,
    INTEGER,
    common_operands,
)
from conform.refs.exact.reals import (
    round_balls,
    round_exp,
    round_gelu,
    round_gelu_tanh,
    round_sin,
)
from conform.refs.exact.rounding import (
    round_sqrt,
)
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.functions.complex_functions import (
    complex_exp,
    complex_sin,
    complex_sqrt,
)
from conform.refs.references import reference


@reference("aten::exp")
def exp(self: RefTensor) -> RefTensor:
    """e to the power of self."""
    return real_function("exp", self, round_exp, complex_exp)


@reference("aten::sin")
def sin(self: RefTensor) -> RefTensor:
    """The sine of self in radians."""
    return real_function("sin", self, round_sin, complex_sin)


@reference("aten::sqrt")
def sqrt(self: RefTensor) -> RefTensor:
    """The square root: of -0 it is -0, of anything less NaN, but of complex numbers in the right half plane."""
    return real_function("sqrt", self, _sqrt, complex_sqrt)


def _sqrt(dtype: str, x: float) -> float:
    if x == 0 or isnan(x) or x == inf:
        return x
    return nan if x < 0 else round_sqrt(dtype, *x.as_integer_ratio())


@reference("aten::gelu")
def gelu(self: RefTensor, approximate: str = "none") -> RefTensor:
    """self * Phi(self), or its documented approximation by tanh."""
    forms = {"none": round_gelu, "tanh": round_gelu_tanh}
    if approximate not in forms:
        raise ValueError(f"approximate is 'none' or 'tanh'; found {approximate!r}")
    refuse("gelu", self.dtype, BOOL, INTEGER)
    return real_function("gelu", self, forms[approximate])


@reference("aten::polar")
def polar(abs: RefTensor, angle: RefTensor) -> RefTensor:
    """abs cos(angle) + i abs sin(angle); a cosine or sine of a number other than 0 is transcendental (Lindemann)."""
    if abs.dtype != angle.dtype or abs.dtype not in ("float32", "float64"):
        raise ValueError(f"polar takes two of float32 or of float64, found {abs.dtype} and {angle.dtype}")
    dtype, shape, pairs = common_operands(abs, angle)

    def element(length: float, turn: float) -> complex | Unspecified:
        if not (isfinite(length) and isfinite(turn)):
            return UNSPECIFIED
        if length == 0 or turn == 0:
            return complex(length, 0.0)
        parts = round_balls(dtype, lambda: [arb(length) * arb(turn).cos(), arb(length) * arb(turn).sin()])
        return complex(*parts)

    whole = {"float32": "complex64", "float64": "complex128"}[dtype]
    return RefTensor(whole, shape, [element(*each) for each in zip(*pairs, strict=True)])
