"""The Bessel functions of the second kind."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import numbers
from conform.interp.ops.functions.real_formulas import FIRST_ABSOLUTE, FIRST_ULPS
from conform.interp.promotion import float_result, result_type
from conform.interp.semantics import pointwise
from conform.numerics.ball import Ball, chosen
from conform.numerics.formats import compute_format
from conform.numerics.functions import neumann
from conform.numerics.rounding_errors import CORRECTLY_ROUNDED, held_format


def _budget(order: int, x: Ball) -> Ball:
    """The error that CUDA publishes: ulps from what is rounded for x < 8, an absolute error elsewhere."""
    name = compute_format(x.compute).name
    value = neumann.ROWS[order].float64(x.mid)
    near = x.rounded(value, 0.0, FIRST_ULPS[name] + CORRECTLY_ROUNDED)
    far = x.rounded(value, FIRST_ABSOLUTE[name]).at_scale(np.sqrt(2 / np.pi / np.maximum(np.abs(x.mid), 1.0)))
    return chosen(x.mid < 8.0, near, far).but_exact(~(x.mid > 0) | np.isinf(x.mid))


def _second(order: int, self: np.ndarray) -> Golden:
    fmt = float_result(result_type(self))
    x = numbers(self, fmt)
    with np.errstate(all="ignore"):
        value, real = neumann.apply(order, fmt, x)
        ball = _budget(order, Ball.exact(x, held_format(fmt)))
    return Golden.derived(fmt, value, real, ball, zero_sign_free=np.isinf(x))


@pointwise("aten::special_bessel_y0")
def bessel_y0(self: np.ndarray) -> Golden:
    """The Bessel function of the second kind, order 0; -inf of zeros, NaN below, 0 of infinity (P208)"""
    return _second(0, self)


@pointwise("aten::special_bessel_y1")
def bessel_y1(self: np.ndarray) -> Golden:
    """The Bessel function of the second kind, order 1; -inf of zeros, NaN below, 0 of infinity (P208)"""
    return _second(1, self)
