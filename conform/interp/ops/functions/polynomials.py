"""Orthogonal polynomials of a degree that is a number of the call."""

from __future__ import annotations

from fractions import Fraction
from math import log2

import numpy as np

from conform.interp.formulas.recurrences import HIGHEST_DEGREE, POLYNOMIALS, Recurrence
from conform.interp.golden import Golden
from conform.interp.operands import broadcast_numbers
from conform.interp.ops.functions.polynomial_balls import balls
from conform.interp.promotion import Operand, float_result, result_type
from conform.interp.semantics import pointwise
from conform.numerics.ball import Ball
from conform.numerics.escalate import decide_exactly
from conform.numerics.formats import Format
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import held_format

BEYOND = 1100.0  # binades: numbers of so many are infinite in every format
LARGE = 2.0**12  # of |x|, for which the first power is more than all others together


def _overflows(row: Recurrence, x: np.ndarray, degree: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the leading term, and with it the value, is beyond every format; and the sign of it."""
    leading = [row.leading(k) for k in range(HIGHEST_DEGREE + 1)]
    size, sign = np.array([log2(abs(c)) for c in leading]), np.array([1.0 if c > 0 else -1.0 for c in leading])
    with np.errstate(divide="ignore"):
        binades = size[degree] + degree * np.log2(np.abs(x))
    is_odd = degree % 2 == 1
    return (np.abs(x) > LARGE) & (binades > BEYOND), sign[degree] * np.where(is_odd & (x < 0), -1.0, 1.0)


def _numbers(fmt: Format, row: Recurrence, x: np.ndarray, degree: np.ndarray) -> tuple[np.ndarray, Real]:
    """The values of finite x, rounded, and the numbers."""
    beyond, sign = _overflows(row, x, degree)
    near = np.where(beyond, 1.0, x)
    with np.errstate(all="ignore"):
        values = row.values(Real.exact(near), Real.exact(np.ones_like(near)), int(degree.max(initial=0)))
    real = values[0]
    for k, one in enumerate(values[1:], 1):
        real = where(degree == k, one, real)

    def exact(index: tuple[int, ...]) -> Fraction:
        return row.values(Fraction(float(near[index])), Fraction(1), int(degree[index]))[-1]

    value, real = decide_exactly(fmt, real, exact)
    infinite = sign * np.inf
    value = np.where(beyond, infinite.astype(fmt.storage), value)
    return value, where(beyond, Real(infinite, np.zeros_like(x), np.full_like(x, np.inf)), real)


def _polynomial(name: str, x: Operand, n: Operand) -> Golden:
    row, fmt = POLYNOMIALS[name], float_result(result_type(x, n))
    point, number = broadcast_numbers(fmt, x, n)
    is_degree = (number >= 0) & (number < HIGHEST_DEGREE + 1)
    degree = np.where(is_degree, number, 0.0).astype(np.int64)
    is_nan, is_infinite = np.isnan(point) & (degree > 0), np.isinf(point) & (degree > 1)
    finite = np.where(np.isfinite(point), point, 1.0)
    value, real = _numbers(fmt, row, finite, degree)
    ends = np.where(np.isinf(point) & (degree == 1), row.slope * point, np.nan)
    settled = is_nan | np.isinf(point) & (degree == 1)
    value = np.where(settled, ends.astype(fmt.storage), value)
    ball = balls(name, Ball.exact(finite, held_format(fmt)), degree).but_exact(settled | (degree == 0))
    golden = Golden.derived(fmt, value, where(settled, ends, real), ball, zero_sign_free=True)
    return golden.opened(~is_degree | is_infinite, "P249")


def _define(name: str) -> None:
    def function(x: Operand, n: Operand) -> Golden:
        return _polynomial(name, x, n)

    words = name.replace("_polynomial_", " polynomial ").replace("_", " ")
    function.__doc__ = f"The {words} of degree n at x; of other degrees than 0 to {HIGHEST_DEGREE} it is open (P249)"
    overloads = (f"aten::special_{name}{suffix}" for suffix in ("", ".x_scalar", ".n_scalar"))
    pointwise(*overloads)(function)


for _name in POLYNOMIALS:
    _define(_name)
