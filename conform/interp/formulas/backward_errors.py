"""How far honest solutions of linear systems, and Cholesky's factors, may lie from the exact ones.

The bounds follow from backward errors, which hold in whatever order an algorithm adds (Higham, Accuracy and Stability
of Numerical Algorithms, 2nd ed.):

    (T + D) y = b,   |D| <= gamma |T|           substitution, theorem 8.5
    M M^H = A + D,   |D| <= gamma |M| |M|^H     Cholesky's decomposition, theorem 10.3
    (A + D) y = b,   |D| <= 3 gamma |L| |U|     a system by its factors, theorem 9.4

A triangular system may also be solved by the inverse of T, which is computed by columns or rows (section 14.2): then
|y - x| <= 2 gamma |T^-1| |T| |T^-1| |b|, to first order. That is the larger one, and is taken. Where blocks of the
diagonal are inverted, each by itself, it is no proven bound; of well conditioned and of graded matrices such solutions
stay within a tenth of it.

So is an inverse: |Y - A^-1| <= 3 gamma |A^-1| |L| |U| |A^-1| (section 14.3). Here |L| |U| are those of any order of
pivots (pivoting.py).

det(A + D) / det(A) is det(I + E), E = A^-1 D: one, and products of numbers of one row or more of |E|, which are no more
than the product of all 1 + r_i less one for the sums r of its rows, or of its columns.

For Cholesky, M = L (I + F) with F lower triangular and F + F^H + F F^H = L^-1 D L^-H. A matrix f >= 0 with
f >= half(G + f f^T), where G bounds the right side and half() keeps the lower triangle and half the diagonal, bounds
|F|: F -> half(L^-1 D L^-H - F F^H) maps the box |F| <= f to itself, so a solution lies in it, and one alone has a
positive diagonal.

Matrices here are float64 arrays of magnitudes, also those of complex numbers.
"""

from __future__ import annotations

import numpy as np

from conform.numerics.formats import Format
from conform.numerics.rounding_errors import flushed_sum, gamma, underflow

DIVISION = 5  # roundings that a quotient may count as: 2.5 ulp (numerics/ball.py)
ROOT = 12  # and a root's square: 3 ulp
RAISE = 1.0 + 2.0**-30  # for the roundings of the bounds themselves
_TURNS = 60  # steps to a bound of F, which at least doubles the digits that it has where there is one

Array = np.ndarray


def spent(fmt: Format, terms: int, more: int) -> float:
    """gamma of an inner product of so many terms and `more` roundings. A product of complex numbers is four products
    and two sums, each of which errs by u: less than 3 u of its magnitude, a sum u (lemma 3.5); one by three products
    errs by no more than twice as much."""
    if fmt.is_complex:
        return float(gamma(2 * terms + 4 * more, fmt.component.unit_roundoff))
    return float(gamma(terms + more, fmt.unit_roundoff))


def lost(fmt: Format) -> float:
    """The absolute error of one operation below the normal range."""
    component = fmt.component if fmt.is_complex else fmt
    return (underflow(component) + flushed_sum(component)) * (4 if fmt.is_complex else 1)


def carried(inverse: Array, moved: Array, rest: Array) -> Array:
    """The least e with e = inverse (moved e + rest), infinite where there may be none: (I - inverse moved) has an
    inverse that is nowhere negative where it is triangular with a positive diagonal, or the sums of its rows are
    positive."""
    amplified = inverse @ moved
    if not np.isfinite(amplified).all():
        return np.full(rest.shape, np.inf)
    if not np.triu(amplified, 1).any():
        return _substituted(amplified, inverse @ rest)
    if not np.tril(amplified, -1).any():
        return _substituted(amplified[::-1, ::-1], (inverse @ rest)[::-1])[::-1]
    if (amplified.sum(1) >= 0.5).any():
        return np.full(rest.shape, np.inf)
    return np.linalg.solve(np.eye(len(inverse)) - amplified, inverse @ rest) * RAISE


def _substituted(amplified: Array, rest: Array) -> Array:
    """The e with e = amplified e + rest, of a lower triangle: nothing is subtracted but from the 1 of the diagonal."""
    left = 1 - np.diag(amplified)
    if (left <= 0).any():
        return np.full(rest.shape, np.inf)
    found = np.zeros_like(rest)
    for row in range(len(rest)):
        found[row] = (amplified[row, :row] @ found[:row] + rest[row]) / left[row]
    return np.where(np.isnan(found), np.inf, found) * RAISE


def of_substitution(fmt: Format, triangle: Array, inverse: Array, sides: Array) -> Array:
    """|y - x| for the y that is computed for x of T x = b, by substitution or by an inverse of T; infinite where a
    step may overflow."""
    size = len(triangle)
    with np.errstate(all="ignore"):
        moved = 2 * spent(fmt, size, DIVISION) * triangle
        away = lost(fmt) * (size + triangle.sum(1, keepdims=True)) * (1 + size + sides.sum(0, keepdims=True))
        largest = inverse @ sides
        error = carried(inverse, moved, moved @ largest + away)
        return np.where(_is_held(fmt, triangle @ (largest + error) + sides, inverse), error, np.inf)


def of_two_substitutions(fmt: Format, factor: Array, inverse: Array, sides: Array) -> Array:
    """|y - x| for the y that is computed for x of L L^H x = b: by two substitutions or inverses, or by the product,
    whose backward error is as one of L L^H, gamma |L| |L^H|; each of up to four steps has that.

    P = |L^-H| |L^-1| is no less than the inverse of L L^H, and no less than what lies between the steps.
    """
    size, square = len(factor), factor @ factor.T
    with np.errstate(all="ignore"):
        both, between = inverse.T @ inverse, inverse @ sides
        moved = 4 * spent(fmt, size, DIVISION) * square
        first = lost(fmt) * (size + factor.sum(1, keepdims=True)) * (1 + size + sides.sum(0, keepdims=True))
        second = lost(fmt) * (size + factor.sum(0)[:, None]) * (1 + size + between.sum(0, keepdims=True))
        largest = both @ sides
        error = carried(both, moved, moved @ largest + first + factor @ second)
        held = _is_held(fmt, square @ (largest + error) + factor @ between + sides, both)
        return np.where(held, error, np.inf)


def _is_held(fmt: Format, largest: Array, inverse: Array) -> Array:
    """Of each column of sides: whether no step, an inverse among them, may overflow."""
    most = (fmt.component if fmt.is_complex else fmt).max_finite / 2
    return (largest < most).all(0) & (inverse.max(initial=0.0) < most)


def of_system(fmt: Format, product: Array, inverse: Array, sides: Array) -> Array:
    """|y - x| for the y that is computed for x of A x = b, by factors or by an inverse, |L| |U| <= product."""
    size = len(product)
    with np.errstate(all="ignore"):
        largest = inverse @ sides
        moved = 3 * _moved(fmt, product)
        away = lost(fmt) * (size + product.sum(1, keepdims=True)) * (1 + size + (sides + largest).sum(0, keepdims=True))
        error = carried(inverse, moved, moved @ largest + away)
        return np.where(_is_held(fmt, product @ (largest + error) + sides, inverse), error, np.inf)


def _moved(fmt: Format, product: Array) -> Array:
    """|D| of the factors of A + D."""
    size = len(product)
    return spent(fmt, size, DIVISION) * product + lost(fmt) * (size + product.sum(0))


def stays_regular(fmt: Format, product: Array, inverse: Array) -> bool:
    """Whether A + D has an inverse for the factors that are computed: a norm of A^-1 D is below 1."""
    with np.errstate(all="ignore"):
        moved = inverse @ _moved(fmt, product)
        return bool(min(moved.sum(axis).max(initial=0.0) for axis in (0, 1)) * RAISE < 1)


def of_determinant(fmt: Format, product: Array, inverse: Array) -> float:
    """|det(A + D) / det(A) - 1| for the factors of A + D that are computed."""
    with np.errstate(all="ignore"):
        moved = inverse @ _moved(fmt, product)
        logarithm = min(np.log1p(moved.sum(axis)).sum() for axis in (0, 1))
        return float(np.expm1(logarithm) * RAISE) if np.isfinite(logarithm) else np.inf


def of_singular_determinant(fmt: Format, matrix: Array, product: Array) -> float:
    """|det(A + D)| of a singular A: by Hadamard, no more than to replace one column, or row, after the other by that of
    D or of A + D may make."""
    with np.errstate(all="ignore"):
        moved = _moved(fmt, product)
        return min(_replaced(matrix, moved), _replaced(matrix.T, moved.T)) * RAISE


def of_product(fmt: Format, size: float, error: float, low: Array, high: Array) -> float:
    """The absolute error of a product of pivots between low and high that is `size` to `error`, multiplied in any
    order: infinite where it may leave the range and come back. What underflows is no more than what the pivots above 1
    make of it."""
    count = len(low)
    with np.errstate(all="ignore"):
        above = np.maximum(high, 1).prod()
        if above >= (fmt.component if fmt.is_complex else fmt).max_finite / 4 and (fmt.is_complex or (low < 1).any()):
            return np.inf
        if size == error == 0:
            return 0.0
        below = count * lost(fmt) * above if (low < 1).any() else 0.0
        return float((error + (size + error) * spent(fmt, count, count) + below) * RAISE)


def of_sign(fmt: Format, count: int, relative: float) -> float:
    """The error of det / |det|, of complex numbers, whose pivots are divided by their magnitudes, or det by its own."""
    return float(np.pi / 2 * relative + spent(fmt, count, 4 * count))


def of_logarithm(component: Format, count: int, relative: float, terms: float) -> float:
    """The error of the sum of the logarithms of pivots, of the magnitude `terms`: of a few ulp each, of magnitudes
    of as many."""
    share, each = spent(component, count, 8), spent(component, count, 4 * count)
    return float((-np.log1p(-relative) + share * terms + each) * RAISE)


def _replaced(matrix: Array, moved: Array) -> float:
    """prod(a_j + d_j) - prod(a_j) of the lengths of columns."""
    own, more = (np.sqrt((one * one).sum(0)) for one in (matrix, moved))
    below, above = np.cumprod(np.append(1.0, own)), np.cumprod(np.append(1.0, (own + more)[::-1]))[::-1]
    return float((below[:-1] * more * above[1:]).sum())


def of_factor(fmt: Format, factor: Array, inverse: Array) -> Array:
    """|M - L| of a Cholesky factor that is computed; infinite where the algorithm may find the matrix not to be
    positive definite."""
    size = len(factor)
    moved = np.full((size, size), lost(fmt) * (size + factor.max(initial=0.0)))
    return factor @ bound_of_factor(factor, inverse, moved, spent(fmt, size, ROOT)) * RAISE


def bound_of_factor(factor: Array, inverse: Array, moved: Array, share: float) -> Array:
    """f >= |F| for |D| <= moved + share |M| |M|^H; infinite where no such f is found."""
    size = len(factor)
    f = np.zeros((size, size))
    with np.errstate(all="ignore"):
        for _ in range(_TURNS):
            wider = _half(_turned(factor, inverse, moved, share, f)) * (1 + 1e-6)
            if not np.isfinite(wider).all() or np.max(np.diag(wider), initial=0.0) >= 1:
                break
            if (wider <= f * (1 + 1e-3)).all():
                f = f * (1 + 1e-2)
                if (_half(_turned(factor, inverse, moved, share, f)) <= f).all():
                    return f
            f = wider
    return np.full((size, size), np.inf)


def of_factors(fmt: Format, lower: Array, upper: Array) -> tuple[Array, Array]:
    """(|M - L|, |V - U|) of the factors M V = A + D that are computed of A = L U, squares of signed or complex numbers;
    infinite where no bound is found.

    M = L (I + X) and V = (I + Y) U, X strictly below the diagonal and Y not below it, for which X + Y + X Y is
    L^-1 D U^-1. As for Cholesky, f >= |X| + |Y| where f >= G + below(f) above(f), and G bounds the right side.
    """
    size = len(lower)
    f = np.zeros((size, size))
    with np.errstate(all="ignore"):
        ends = _inverse(lower), _inverse(upper.T).T
        lower, upper = np.abs(lower), np.abs(upper)
        for _ in range(_TURNS):
            wider = _split(fmt, lower, upper, ends, f) * (1 + 1e-6)
            if not np.isfinite(wider).all() or (np.diag(wider) >= 1).any():
                break
            if (wider <= f * (1 + 1e-3)).all():
                f = f * (1 + 1e-2)
                if (_split(fmt, lower, upper, ends, f) <= f).all():
                    return lower @ np.tril(f, -1) * RAISE, np.triu(f) @ upper * RAISE
            f = wider
    return np.full((size, size), np.inf), np.full((size, size), np.inf)


def _split(fmt: Format, lower: Array, upper: Array, ends: tuple[Array, Array], f: Array) -> Array:
    """|L^-1| |D| |U^-1| + below(f) above(f), |D| that of the factors."""
    below, above = np.tril(f, -1), np.triu(f)
    moved = _moved(fmt, (lower + lower @ below) @ (upper + above @ upper))
    return ends[0] @ moved @ ends[1] + below @ above


def _inverse(triangle: Array) -> Array:
    """No less than |T^-1| of a lower triangle, whose numbers are rounded to float64: by rows, to within what these
    roundings, and those of the substitution, may have made of it."""
    size = len(triangle)
    found = np.eye(size, dtype=triangle.dtype)
    for row in range(size):
        found[row] = (found[row] - triangle[row, :row] @ found[:row]) / triangle[row, row]
    sizes = np.abs(found)
    return (sizes + (8 * size + 16) * 2.0**-53 * (sizes @ np.abs(triangle) @ sizes)) * RAISE


def _turned(factor: Array, inverse: Array, moved: Array, share: float, f: Array) -> Array:
    """|L^-1| (moved + share |M| |M|^H) |L^-H| + f f^T, with |M| <= |L| (I + f)."""
    computed = factor @ (np.eye(len(f)) + f)
    return inverse @ (moved + share * (computed @ computed.T)) @ inverse.T + f @ f.T


def _half(square: Array) -> Array:
    return np.tril(square, -1) + np.diag(np.diag(square) / 2)


def fails_for_sure(fmt: Format, diagonal: Array, inverse: Array, row: Array, pivot: float) -> bool:
    """Whether every algorithm finds that a leading minor is not positive: that of the first k rows, of whose matrix A
    `inverse` is |L^-1|, and of one row more, which is x L^H for |x| = `row`; `diagonal`: the square roots of all k + 1
    diagonal numbers; `pivot`: what is left of the last one, d.

    Were there a factor of A + D, |D| <= gamma |M| |M|^H, whose elements are no more than gamma / (1 - gamma) times
    those of d d^T for the diagonal's roots d (Higham, theorem 10.5), then z^H (A + D) z >= 0 for the z of which
    z^H A z is the pivot: (-x L^-1, 1).
    """
    z = np.append(row @ inverse, 1.0)
    share = spent(fmt, len(diagonal), ROOT)
    away = lost(fmt) * (len(diagonal) + diagonal.max(initial=0.0)) * z.sum() ** 2
    return bool(pivot + share / (1 - share) * (z @ diagonal) ** 2 * RAISE + away < 0) if share < 0.5 else False
