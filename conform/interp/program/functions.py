"""Rules of real functions that have an image for reals and one for balls."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.interp.program.number import Number
from conform.interp.program.rules import combined, operands, rule
from conform.interp.promotion import float_result
from conform.numerics import functions
from conform.numerics.ball import Ball, underflow
from conform.numerics.functions.error import erfc_float64
from conform.numerics.real import Real, where

LOWEST = -700.0  # below, e^x is known to lie between 0 and e^-700, and no more


def _define(real: Callable[[Real], Real], ball: Callable[[Ball], Ball], *ops: str) -> None:
    def function(self: Number) -> Number:
        fmt, shape = float_result(self.format), self.shape
        (x,) = operands(fmt, self)
        image = combined(fmt, real, ball, x.moved(lambda part: part.reshape(-1)))  # the kernels take a row of numbers
        return image.moved(lambda part: part.reshape(shape))

    rule(*ops)(function)


def _real_sigmoid(x: Real) -> Real:
    """Below the kernel's domain it lies between 0 and e^x, as what `exp` tells of e^x does."""
    return where(x.hi < LOWEST, functions.exp(x), functions.sigmoid(x))


def _sigmoid(x: Ball) -> Ball:
    """1 / (1 + e^-x). Where e^-x overflows the quotient is 0 or as small as e^x, from above at the upper end."""
    one = Ball.exact(np.float64(1), x.compute)
    quotient = one / (one + (-x).exp())
    with np.errstate(all="ignore"):
        small = np.exp(x.mid + x.rad) * (1 + 2.0**-40) + underflow(x.compute)
    return Ball(quotient.mid, np.where(np.isinf(quotient.rad) & (x.mid < 0), small, quotient.rad), x.compute)


_define(functions.exp, Ball.exp, "aten::exp")
_define(functions.log, Ball.log, "aten::log")
_define(functions.log1p, Ball.log1p, "aten::log1p", "aten::special_log1p")
_define(functions.sin, Ball.sin, "aten::sin")
_define(functions.tanh, Ball.tanh, "aten::tanh")
_define(functions.erf, lambda x: x.erf(functions.erf_float64), "aten::erf", "aten::special_erf")
_define(functions.erfc, lambda x: x.erfc(erfc_float64), "aten::erfc", "aten::special_erfc")
_define(_real_sigmoid, _sigmoid, "aten::sigmoid")
_define(lambda x: x * _real_sigmoid(x), lambda x: x * _sigmoid(x), "aten::silu")
