"""Triangular systems and Cholesky's decomposition: exactly, and how far honest results may lie from that.

Both bounds follow from backward errors, which hold in whatever order an algorithm adds (Higham, Accuracy and Stability
of Numerical Algorithms, 2nd ed.):

    (T + D) y = b,   |D| <= gamma |T|           substitution, theorem 8.5
    M M^T = A + D,   |D| <= gamma |M| |M|^T     Cholesky's decomposition, theorem 10.3

A triangular system may also be solved by the inverse of T, which is computed by columns or rows (section 14.2): then
|y - x| <= 2 gamma |T^-1| |T| |T^-1| |b|, to first order. That is the larger one, and is taken.

For Cholesky, M = L (I + F) with F lower triangular and F + F^T + F F^T = L^-1 D L^-T. A matrix f >= 0 with
f >= half(G + f f^T), where G bounds the right side and half() keeps the lower triangle and half the diagonal, bounds
|F|: F -> half(L^-1 D L^-T - F F^T) maps the box |F| <= f to itself, so a solution lies in it, and one alone has a
positive diagonal.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.number import Number
from conform.interp.program.storage import stored
from conform.interp.stablehlo.ops.linear_algebra import Rows, decomposition, read_of, solution
from conform.interp.stablehlo.reals.rules import rule
from conform.interp.stablehlo.registry import Call
from conform.numerics.formats import FORMATS, Format
from conform.numerics.real import Real
from conform.numerics.rounding import round_fraction
from conform.numerics.rounding_errors import flushed_sum, gamma, underflow

MOST_ROWS = 64  # beyond, engines invert blocks of T, of which the bound is another; and fractions grow long
DIVISION = 5  # roundings that a quotient may count as: 2.5 ulp (numerics/ball.py)
ROOT = 12  # and a root's square: 3 ulp
_RAISE = 1.0 + 2.0**-30  # for the roundings of the bounds themselves
_TURNS = 60  # steps to a bound of F, which at least doubles the digits that it has where there is one

Array = np.ndarray


@rule("stablehlo.triangular_solve")
def triangular_solve(call: Call) -> Number:
    """The x of op(a) x = b, or of x op(a) = b."""
    left, lower, unit = (bool(call.attributes[name]) for name in ("left_side", "lower", "unit_diagonal"))
    a, b = map(stored, call.operands)
    a = a.moved(lambda part: read_of(part, lower, unit))
    a, b = (_finite(call, one) for one in (a, b))
    turned = (call.attributes["transpose_a"] != "NO_TRANSPOSE") != (not left)
    a = a.moved(lambda part: np.swapaxes(part, -1, -2)) if turned else a
    sides = b if left else b.moved(lambda part: np.swapaxes(part, -1, -2))
    parts = _each(a, sides, lambda t, s: _solved(call, t, s, lower != turned, unit), sides.shape)
    result = Number(b.format, Real(*parts[:3]), parts[3], may_round=True)
    return result if left else _with_rounding(result.moved(lambda part: np.swapaxes(part, -1, -2)))


@rule("stablehlo.cholesky")
def cholesky(call: Call) -> Number:
    """The factor of a; nothing is said of the other triangle, which is the implementation's."""
    a, lower = stored(call.operands[0]), bool(call.get("lower", False))
    matrices = a if lower else a.moved(lambda part: np.swapaxes(part, -1, -2))
    matrices = _finite(call, matrices.moved(np.tril))
    parts = _each(matrices, matrices, lambda m, _: _decomposed(call, m), a.shape)
    result = Number(a.format, Real(*parts[:3]), parts[3], may_round=True)
    return result if lower else _with_rounding(result.moved(lambda part: np.swapaxes(part, -1, -2)))


def _with_rounding(number: Number) -> Number:
    return Number(number.format, number.real, number.rad, may_round=True)


def _finite(call: Call, one: Number) -> Number:
    if not one.format.is_float:
        raise NoGolden(f"{call.op.name}: nothing is known of its errors on {one.dtype} numbers")
    if one.shape[-1] > MOST_ROWS:
        raise NoGolden(f"{call.op.name}: {one.shape[-1]} rows are too many here, expected {MOST_ROWS} or less")
    if not np.isfinite(one.real.hi).all():
        raise NoGolden(f"{call.op.name}: nothing is known of matrices with infinities or NaN")
    return one


# A matrix: hi, lo, how far the real number may lie from these, and how far an implementation's from the number.
Parts = tuple[Array, Array, Array, Array]


def _each(one: Number, other: Number, solved: Callable[[Parts, Parts], Parts], shape: tuple[int, ...]) -> list[Array]:
    """What `solved` gives of the matrices of both, put together."""
    results = [np.empty(shape) for _ in range(4)]
    for index in np.ndindex(*shape[:-2]):
        for result, part in zip(results, solved(_parts(one, index), _parts(other, index)), strict=True):
            result[index] = part
    return results


def _parts(number: Number, index: tuple[int, ...]) -> Parts:
    real = number.real
    return tuple(np.broadcast_to(part, number.shape)[index] for part in (real.hi, real.lo, real.radius, number.rad))


def _solved(call: Call, t: Parts, b: Parts, lower: bool, unit: bool) -> Parts:
    fmt, size = call.operands[0].format, len(t[0])
    if unit:
        diagonal = np.eye(size, dtype=bool)
        t = tuple(np.where(diagonal, value, part) for part, value in zip(t, (1.0, 0.0, 0.0, 0.0), strict=True))
    matrix, name = _rows(t), call.op.name
    exact = solution(matrix, _rows(b), lower, unit, name)
    inverse = _absolute(solution(matrix, _identity(size), lower, unit, name))
    hi, lo = _as_parts(call, exact)
    with np.errstate(all="ignore"):
        told = _carried(inverse, t[2], b[2] + t[2] @ _absolute(exact))
        given = _carried(inverse, t[2] + t[3], b[2] + b[3] + (t[2] + t[3]) @ _absolute(exact))
        t_size, b_size = np.abs(t[0]) + t[2] + t[3], np.abs(b[0]) + b[2] + b[3]
        of_given = _carried(inverse, t[2] + t[3], np.eye(size))  # |T^-1| of what the algorithm is given
        spent = 2 * gamma(size + DIVISION, fmt.unit_roundoff) * t_size
        lost = _lost(fmt) * (size + t_size.sum(1, keepdims=True)) * (1 + size + b_size.sum(0, keepdims=True))
        own = _carried(of_given, spent, spent @ (of_given @ b_size) + lost)
        rad = told + given + own
        held = (t_size @ (of_given @ b_size + rad) + b_size < fmt.max_finite) & (of_given.max() < fmt.max_finite)
    return hi, lo, told, np.where(held, rad, np.inf)


def _lost(fmt: Format) -> float:
    """The absolute error of one operation below the normal range."""
    return underflow(fmt) + flushed_sum(fmt)


def _carried(inverse: Array, moved: Array, rest: Array) -> Array:
    """The least e with e = inverse (moved e + rest): (I - inverse moved) is triangular, and has an inverse that is
    nowhere negative where its diagonal is positive."""
    amplified = inverse @ moved
    if not (np.isfinite(amplified).all() and (np.diag(amplified) < 1).all()):
        return np.full(rest.shape, np.inf)
    return np.linalg.solve(np.eye(len(inverse)) - amplified, inverse @ rest) * _RAISE


def _decomposed(call: Call, a: Parts) -> Parts:
    fmt, size = call.operands[0].format, len(a[0])
    factor = decomposition(_rows(a), call.op.name)
    inverse = _absolute(solution(factor, _identity(size), True, False, call.op.name))
    hi, lo = _as_parts(call, factor)
    sizes = np.abs(hi)
    with np.errstate(all="ignore"):
        told = np.abs(hi) * 2.0**-104 + sizes @ _bound_of_factor(sizes, inverse, _symmetric(a[2]), 0.0)
        spent = float(gamma(size + ROOT, fmt.unit_roundoff))
        moved = _symmetric(a[2] + a[3]) + _lost(fmt) * (size + sizes.max(initial=0.0))
        rad = told + sizes @ _bound_of_factor(sizes, inverse, moved, spent) * _RAISE
        rad = np.where(np.max(np.abs(a[0]), initial=0.0) < fmt.max_finite / 4, rad, np.inf)
    free = np.triu(np.ones((size, size), bool), 1)
    return hi, lo, np.where(free, 0.0, told), np.where(free, np.inf, rad)


def _symmetric(lower: Array) -> Array:
    """Of the triangle that is read, both."""
    return np.tril(lower) + np.tril(lower, -1).T


def _bound_of_factor(factor: Array, inverse: Array, moved: Array, spent: float) -> Array:
    """f >= |F| for |D| <= moved + spent |M| |M|^T; infinite where no such f is found."""
    size = len(factor)
    f = np.zeros((size, size))
    for _ in range(_TURNS):
        wider = _half(_turned(factor, inverse, moved, spent, f)) * (1 + 1e-6)
        if not np.isfinite(wider).all() or np.max(np.diag(wider), initial=0.0) >= 1:
            break
        if (wider <= f * (1 + 1e-3)).all():
            f = f * (1 + 1e-2)
            if (_half(_turned(factor, inverse, moved, spent, f)) <= f).all():
                return f
        f = wider
    return np.full((size, size), np.inf)


def _turned(factor: Array, inverse: Array, moved: Array, spent: float, f: Array) -> Array:
    """|L^-1| (moved + spent |M| |M|^T) |L^-T| + f f^T, with |M| <= |L| (I + f)."""
    computed = factor @ (np.eye(len(f)) + f)
    return inverse @ (moved + spent * (computed @ computed.T)) @ inverse.T + f @ f.T


def _half(square: Array) -> Array:
    return np.tril(square, -1) + np.diag(np.diag(square) / 2)


# Fractions and floats


def _rows(parts: Parts) -> Rows:
    pairs = zip(parts[0].tolist(), parts[1].tolist(), strict=True)
    return [[(Fraction(hi) + Fraction(lo), Fraction(0)) for hi, lo in zip(*row, strict=True)] for row in pairs]


def _identity(size: int) -> Rows:
    return [[(Fraction(int(row == column)), Fraction(0)) for column in range(size)] for row in range(size)]


def _absolute(rows: Rows) -> Array:
    return np.array([[_float(abs(real)) for real, _ in row] for row in rows]) * _RAISE


def _float(number: Fraction) -> float:
    """The nearest float64, infinite beyond the range."""
    return float(round_fraction(FORMATS["float64"], number))


def _as_parts(call: Call, rows: Rows) -> tuple[Array, Array]:
    hi = np.array([[_float(real) for real, _ in row] for row in rows])
    if not np.isfinite(hi).all():
        raise NoGolden(f"{call.op.name}: its results are beyond the range of float64")
    lo = [[float(real - Fraction(near)) for (real, _), near in zip(row, nears, strict=True)]
          for row, nears in zip(rows, hi.tolist(), strict=True)]  # fmt: skip
    return hi, np.array(lo)
