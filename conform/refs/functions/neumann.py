"""The Bessel functions of the second kind, transcendental at every algebraic number but 0 (Siegel)."""

from __future__ import annotations

from functools import cache
from math import copysign, inf, isinf, isnan, nan

from conform.refs.exact.promotion import COMPLEX, FLOAT, category, converted
from conform.refs.exact.tensor import RefTensor
from conform.refs.functions.elementary import round_at
from conform.refs.references import reference


def round_neumann(dtype: str, order: int, x: float) -> float:
    """-inf at both zeros, not real below, 0 at infinity."""
    if isnan(x) or x < 0:
        return nan
    if x == 0 or isinf(x):
        return -inf if x == 0 else 0.0
    return round_at(dtype, lambda ball: ball.bessel_y(order), x)


def _mapped(order: int, self: RefTensor) -> RefTensor:
    if category(self.dtype) == COMPLEX:
        raise ValueError(f"bessel_y{order} is not defined for {self.dtype}")
    dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
    once = cache(lambda x, _sign: round_neumann(dtype, order, x))
    return RefTensor(dtype, self.shape, [once(x, copysign(1.0, x)) for x in converted(self, dtype)])


@reference("aten::special_bessel_y0")
def bessel_y0(self: RefTensor) -> RefTensor:
    """The Bessel function of the second kind and order 0."""
    return _mapped(0, self)


@reference("aten::special_bessel_y1")
def bessel_y1(self: RefTensor) -> RefTensor:
    """The Bessel function of the second kind and order 1."""
    return _mapped(1, self)
