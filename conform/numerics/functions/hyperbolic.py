"""sinh, cosh, tanh and their inverses, through expm1, exp and log1p, without cancellation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD
from conform.numerics.functions.exponential import exp, expm1
from conform.numerics.functions.logarithm import constant, log, log1p

HYPERBOLIC_ERROR = 2.0**-95
"""EXPM1_ERROR with condition at most 1, then at most a quotient and two sums of positive terms, 21 u^2."""
INVERSE_ERROR = 2.0**-95
"""LOG1P_ERROR, and at most 7 + 4 + 15 + 3 * 3 u^2 of its argument (condition at most 1); of atanh 15 + 2 u^2."""

_TANH_REACH = 40.0  # 1 - tanh 40 < 2^-114
_LARGE = 2.0**60  # asinh x = log 2x + 1/(4 x^2) - ...


def _on_size(kernel: Callable[[DD], DD], x: DD) -> DD:
    """An odd function from its values at |x|."""
    return dd.scale(kernel(dd.absolute(x)), np.copysign(1.0, x[0]))


def tanh(x: DD) -> DD:
    """m / (m + 2) with m = expm1 2x; relative error HYPERBOLIC_ERROR."""
    return _on_size(_tanh_positive, x)


def _tanh_positive(x: DD) -> DD:
    large = x[0] > _TANH_REACH
    if large.any():
        x = dd.where(large, dd.of(np.full_like(x[0], _TANH_REACH)), x)
    m = expm1(dd.scale(x, 2.0))
    return dd.div(m, dd.add_double(m, 2.0))


def sinh(x: DD) -> DD:
    """(m + m / (m + 1)) / 2 with m = expm1 x; relative error HYPERBOLIC_ERROR."""
    return _on_size(_sinh_positive, x)


def _sinh_positive(x: DD) -> DD:
    m = expm1(x)
    return dd.scale(dd.add(m, dd.div(m, dd.add_double(m, 1.0))), 0.5)


def cosh(x: DD) -> DD:
    """(e^x + e^-x) / 2; relative error HYPERBOLIC_ERROR."""
    e = exp(dd.absolute(x))
    return dd.scale(dd.add(e, dd.div(dd.of(np.ones_like(e[0])), e)), 0.5)


def _log_two_x(x: DD) -> DD:
    """log 2x, where 2x may be beyond float64's range."""
    return dd.add(log(x), constant("ln2"))


def asinh(x: DD) -> DD:
    """log1p(x + x^2 / (1 + sqrt(1 + x^2))); relative error INVERSE_ERROR."""
    return _on_size(_asinh_positive, x)


def _asinh_positive(x: DD) -> DD:
    large = x[0] > _LARGE
    ordinary = dd.where(large, dd.of(np.ones_like(x[0])), x)
    square = dd.square(ordinary)
    root = dd.sqrt(dd.add_double(square, 1.0))
    value = log1p(dd.add(ordinary, dd.div(square, dd.add_double(root, 1.0))))
    return dd.where(large, _log_two_x(x), value) if large.any() else value


def acosh(x: DD) -> DD:
    """log1p(t + sqrt(t (t + 2))), t = x - 1 > 0; relative error INVERSE_ERROR."""
    large = x[0] > _LARGE
    t = dd.add_double(dd.where(large, dd.of(np.full_like(x[0], 2.0)), x), -1.0)
    value = log1p(dd.add(t, dd.sqrt(dd.mul(t, dd.add_double(t, 2.0)))))
    return dd.where(large, _log_two_x(x), value) if large.any() else value


def atanh(x: DD) -> DD:
    """log1p(2x / (1 - x)) / 2 of |x| < 1; relative error INVERSE_ERROR."""
    return _on_size(_atanh_positive, x)


def _atanh_positive(x: DD) -> DD:
    return dd.scale(log1p(dd.div(dd.scale(x, 2.0), dd.add_double(dd.neg(x), 1.0))), 0.5)
