"""Special functions, whose numbers are bounded by running errors of their formulas."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import numbers, steps_of
from conform.interp.ops.functions import real_formulas as formulas
from conform.interp.promotion import float_result, result_type
from conform.interp.semantics import pointwise
from conform.numerics import arithmetic, functions
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import where
from conform.numerics.rounding_errors import held_format

# The logit


@pointwise("aten::logit")
def logit(self: np.ndarray, eps: float | None = None) -> Golden:
    """log(z / (1 - z)), z being self, or with eps self between eps and 1 - eps; NaN outside [0, 1] (P30, P209)"""
    fmt = float_result(result_type(self))
    x = numbers(self, fmt)
    if eps is None:
        return _logit(fmt, x)
    own = _clamped_logit(fmt, x, eps)
    return own.or_else(*(_logit(fmt, _clamped(x, *bounds)) for bounds in _bounds(fmt, eps)))


def _logit(fmt: Format, x: np.ndarray) -> Golden:
    value, real = functions.apply("logit", fmt, x)
    return Golden.derived(fmt, value, real, formulas.logit(Ball.exact(x, held_format(fmt))))


def _clamped(x: np.ndarray, low: np.float64, high: np.float64) -> np.ndarray:
    return np.where(x < low, low, np.where(x > high, high, x))


def _clamped_logit(fmt: Format, x: np.ndarray, eps: float) -> Golden:
    """Above 1 - eps, which is no double, the logit is that of eps with the other sign; of 1/2 it is +0."""
    above = (1.0 - x < eps)  # 1 - x is exact where it is in doubt
    golden = _logit(fmt, np.where(above | (x < eps), eps, x))
    above &= eps != 0.5
    value = np.where(above, -golden.value, golden.value)
    budget = np.where(above, _logit(fmt, np.array([1.0 - eps])).budget.item(), golden.budget)
    return replace(golden, value=value, real=where(above, -golden.real, golden.real), budget=budget)


def _bounds(fmt: Format, eps: float) -> set[tuple[float, float]]:
    """eps and 1 - eps, the difference rounded to double or to a type that an implementation computes in."""
    steps = dict.fromkeys((FORMATS["float64"], *steps_of(fmt)))
    return {(eps, float(arithmetic.sub(step, np.float64(1.0), np.float64(eps))[0])) for step in steps}
