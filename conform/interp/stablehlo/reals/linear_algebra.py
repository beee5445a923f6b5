"""Triangular systems and Cholesky's decomposition: exactly, and how far honest results may lie from that.

The bounds are those of `formulas/backward_errors.py`, of matrices that may be off themselves.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from conform.errors import NoGolden
from conform.interp.formulas.backward_errors import DIVISION, RAISE, ROOT, bound_of_factor, carried, lost, spent
from conform.interp.formulas.elimination import inverse_of_factor, lower_factor, solution_and_inverse, whole
from conform.interp.formulas.fractions_as_reals import as_real, magnitudes
from conform.interp.program.number import Number
from conform.interp.program.storage import stored
from conform.interp.stablehlo.ops.linear_algebra import both_triangles, decomposed, read_of, refuse_zeros
from conform.interp.stablehlo.reals.rules import rule
from conform.interp.stablehlo.registry import Call
from conform.numerics.real import Real

MOST_ROWS = 64  # beyond, engines invert blocks of T, of which the bound is another; and minors grow long

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
    refuse_zeros(t[0], call.op.name)
    exact, inverse = solution_and_inverse(whole(*t[:2]), whole(*b[:2]))
    hi, lo = _as_parts(call, exact)
    exact, inverse = magnitudes(exact) * RAISE, magnitudes(inverse) * RAISE
    with np.errstate(all="ignore"):
        told = carried(inverse, t[2], b[2] + t[2] @ exact)
        given = carried(inverse, t[2] + t[3], b[2] + b[3] + (t[2] + t[3]) @ exact)
        t_size, b_size = np.abs(t[0]) + t[2] + t[3], np.abs(b[0]) + b[2] + b[3]
        of_given = carried(inverse, t[2] + t[3], np.eye(size))  # |T^-1| of what the algorithm is given
        moved = 2 * spent(fmt, size, DIVISION) * t_size
        away = lost(fmt) * (size + t_size.sum(1, keepdims=True)) * (1 + size + b_size.sum(0, keepdims=True))
        own = carried(of_given, moved, moved @ (of_given @ b_size) + away)
        rad = told + given + own
        held = (t_size @ (of_given @ b_size + rad) + b_size < fmt.max_finite) & (of_given.max() < fmt.max_finite)
    return hi, lo, told, np.where(held, rad, np.inf)


def _decomposed(call: Call, a: Parts) -> Parts:
    fmt, size = call.operands[0].format, len(a[0])
    scaled = whole(both_triangles(a[0]), both_triangles(a[1]))
    found = decomposed(scaled, call.op.name)
    factor = lower_factor(found, scaled.exponent)
    inverse = magnitudes(inverse_of_factor(found, scaled.exponent)) * RAISE
    hi, lo = _as_parts(call, factor)
    sizes = np.abs(hi)
    with np.errstate(all="ignore"):
        told = np.abs(hi) * 2.0**-104 + sizes @ bound_of_factor(sizes, inverse, _symmetric(a[2]), 0.0)
        moved = _symmetric(a[2] + a[3]) + lost(fmt) * (size + sizes.max(initial=0.0))
        rad = told + sizes @ bound_of_factor(sizes, inverse, moved, spent(fmt, size, ROOT)) * RAISE
        rad = np.where(np.max(np.abs(a[0]), initial=0.0) < fmt.max_finite / 4, rad, np.inf)
    free = np.triu(np.ones((size, size), bool), 1)
    return hi, lo, np.where(free, 0.0, told), np.where(free, np.inf, rad)


def _symmetric(lower: Array) -> Array:
    """Of the triangle that is read, both."""
    return np.tril(lower) + np.tril(lower, -1).T


def _as_parts(call: Call, exact: tuple[Array, ...]) -> tuple[Array, Array]:
    """hi and lo of fractions."""
    real = as_real(exact[0])
    if not np.isfinite(real.hi).all():
        raise NoGolden(f"{call.op.name}: its results are beyond the range of float64")
    return real.hi, real.lo
