"""Special functions: scaled ones, logarithms, and the logit."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import numbers, steps_of
from conform.interp.ops.functions import real_formulas as formulas
from conform.interp.ops.functions.real import define
from conform.interp.promotion import float_result, result_type
from conform.interp.semantics import pointwise
from conform.numerics import arithmetic, functions
from conform.numerics.ball import Ball
from conform.numerics.formats import FORMATS, Format
from conform.numerics.functions.bessel import scaled_bessel_float64
from conform.numerics.functions.second_bessel import second_bessel_float64
from conform.numerics.real import where
from conform.numerics.rounding_errors import held_format

# Scaled functions

define("erfcx", "e^(self^2) erfc(self)", "aten::special_erfcx")
define("i0e", "e^-|self| times the modified Bessel function of the first kind, order 0", "aten::special_i0e",
       formula=formulas.relative(formulas.CEPHES["i0e"], partial(scaled_bessel_float64, 0)))  # fmt: skip
define("i1e", "e^-|self| times the modified Bessel function of the first kind, order 1", "aten::special_i1e",
       formula=formulas.relative(formulas.CEPHES["i1e"], partial(scaled_bessel_float64, 1)))  # fmt: skip

# Bessel functions

define("j0", "The Bessel function of the first kind, order 0; 0 of infinities (P208)", "aten::special_bessel_j0",
       formula=partial(formulas.first_bessel, 0))  # fmt: skip
define("j1", "The Bessel function of the first kind, order 1; 0 of infinities (P208)", "aten::special_bessel_j1",
       formula=partial(formulas.first_bessel, 1), zero_sign_free_at=np.isinf)  # fmt: skip
define("spherical_j0", "sin(self) / self, and 1 at 0; 0 of infinities (P208)", "aten::special_spherical_bessel_j0",
       formula=formulas.spherical_bessel, zero_sign_free_at=np.isinf, of_x=True)  # fmt: skip

for _order in (0, 1):
    for _name, _is_scaled in (("modified_bessel_k", False), ("scaled_modified_bessel_k", True)):
        _row = f"k{_order}{'e' * _is_scaled}"
        define(
            _row,
            f"{'e^self times the' if _is_scaled else 'The'} modified Bessel function of the second kind, order {_order}"
            "; infinite at 0, NaN below (P208)",
            f"aten::special_{_name}{_order}",
            formula=formulas.relative(
                formulas.CEPHES[_row], partial(second_bessel_float64, _order, is_scaled=_is_scaled)
            ),
            of_x=_is_scaled,
        )

# Logarithms

define("log_ndtr", "The logarithm of the normal distribution function (P41)", "aten::special_log_ndtr",
       formula=formulas.log_ndtr, zero_sign_free_at=lambda x: x > 0)  # fmt: skip


@pointwise("aten::special_entr")
def entr(self: np.ndarray) -> Golden:
    """-self log(self); 0 of 0, -inf below, the sign of entr(1) = -0 is free (P41)"""
    fmt = float_result(result_type(self))
    x = numbers(self, fmt)
    is_regular = ~(x <= 0)
    base = np.where(is_regular, x, 1.0)
    value, real = functions.apply("xlogy", fmt, base, base)
    settled = np.where(x == 0, 0.0, -np.inf)
    ball = Ball.exact(base, held_format(fmt))
    golden = Golden.derived(
        fmt, np.where(is_regular, -value, settled).astype(fmt.storage), where(is_regular, -real, settled),
        (ball * ball.log()).but_exact(~is_regular),
    )  # fmt: skip
    return replace(golden, zero_sign_free=x == 1)


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
