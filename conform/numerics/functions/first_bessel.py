"""The Bessel functions J0 and J1 of doubles, and the spherical one of order 0, sin x / x.

Below 2 a polynomial; from there on Hankel's form (DLMF 10.17.3), of whose P and Q, which do not oscillate, there are
polynomials up to 64 and then the asymptotic series: J0 = (P (cos x + sin x) - Q (sin x - cos x)) / sqrt(pi x), and
J1 = (P (sin x - cos x) + Q (sin x + cos x)) / sqrt(pi x).
"""

from __future__ import annotations

from functools import cache, partial

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array, chosen, fill
from conform.numerics.functions.exponential import polynomial
from conform.numerics.functions.piecewise import PER_UNIT, Piecewise, log_piece, uniform_piece
from conform.numerics.functions.scaled_error import root_of_pi
from conform.numerics.functions.trigonometric import cos, sin

NEAR_ERROR = 2.0**-98
"""EVALUATION, of terms that are at most 4.5 times the result."""
WAVE_ERROR = 2.0**-95
"""Of P (cos x + sin x) - Q (sin x - cos x) as an absolute error: SIN_ERROR twice, EVALUATION twice, four products."""
FIRST_FLOAT64_ERROR = 2.0**-42
"""As an absolute error of the same 2^-48, where it is CANCELLED or more; below, `unsure` says so."""
CANCELLED = 2.0**-5

_LOWEST, _HIGHEST = 2.0, 64.0
_NEAR = (Piecewise("j0", 7), Piecewise("j1", 7))
_HANKEL = tuple(tuple(Piecewise(f"hankel_{part}{order}", 8) for part in "pq") for order in (0, 1))
_PAIRS, _TERMS = 8, 18  # 1/x^2 <= 2^-12: the 8th is below 2^-60, the 18th, the first left out, below 2^-110
_REACH = 2.0**300  # beyond it the first term of each series is all


@cache
def _terms(order: int, part: int) -> tuple[list[tuple[float, float]], list[float]]:
    """(-1)^k a_2k of P, (-1)^k a_(2k + 1) of Q (DLMF 10.17.1): pairs, and doubles."""
    with mpmath.workprec(200):
        a = [mpmath.mpf(1)]
        for k in range(1, 2 * _TERMS):
            a.append(a[-1] * (4 * order**2 - (2 * k - 1) ** 2) / (8 * k))
        terms = [(-1) ** k * a[2 * k + part] for k in range(_TERMS)]
        return [dd.constant(term) for term in terms[:_PAIRS]], [float(term) for term in terms[_PAIRS:]]


def _series(order: int, part: int, x: DD) -> DD:
    pairs, doubles = _terms(order, part)
    x = dd.where(x[0] < _REACH, x, dd.of(np.full_like(x[0], _REACH)))
    t = dd.div(dd.of(np.ones_like(x[0])), dd.square(x))
    value = dd.horner(pairs, polynomial(doubles, t[0]), t)
    return dd.div(value, x) if part else value


def _of_table(order: int, part: int, x: DD) -> DD:
    piece, centre = log_piece(x[0], _LOWEST, _HIGHEST)
    return _HANKEL[order][part].value(piece, fast_two_sum(x[0] - centre, x[1]))


def _hankel(order: int, part: int, x: DD) -> DD:
    """P or Q, for x >= 2."""
    result, far = (np.empty_like(x[0]), np.empty_like(x[0])), x[0] >= _HIGHEST
    fill(result, far, partial(_series, order, part), x)
    fill(result, ~far, partial(_of_table, order, part), x)
    return result


def wave(order: int, x: DD) -> tuple[DD, Array]:
    """sqrt(pi x) J0(x), or J1(x), of doubles x >= 2, and its absolute error."""
    (sine, error), (cosine, other_error) = sin(x), cos(x)
    along, across = dd.add(cosine, sine), dd.sub(sine, cosine)
    p, q = (_hankel(order, part, x) for part in (0, 1))
    value = dd.add(dd.mul(p, across), dd.mul(q, along)) if order else dd.sub(dd.mul(p, along), dd.mul(q, across))
    return value, WAVE_ERROR + 4 * np.maximum(error, other_error)


def first_bessel(order: int, x: DD) -> tuple[DD, Array]:
    """J0(x) or J1(x) of doubles, and the relative error."""
    size, shape = dd.absolute(x), np.empty_like(x[0])
    result, error, near = (shape, np.empty_like(shape)), np.full(shape.shape, NEAR_ERROR), np.abs(x[0]) < _LOWEST
    fill(result, near, partial(_near, order), size)
    if not near.all():
        far = ~near
        some = dd.take(size, far)
        value, off = wave(order, some)
        scaled = dd.div(dd.mul(value, root_of_pi()), dd.sqrt(some))
        result[0][far], result[1][far] = scaled
        error[far] = off / np.abs(value[0]) + 2.0**-100
    return (dd.scale(result, np.copysign(1.0, x[0])) if order else result), error


def _near(order: int, x: DD) -> DD:
    piece, centre = uniform_piece(x[0], 2 * PER_UNIT)
    return _NEAR[order].value(piece, fast_two_sum(x[0] - centre, x[1]))


def spherical(x: DD) -> tuple[DD, Array]:
    """sin x / x and its relative error, inf for the smallest x; 1 at 0."""
    sine, error = sin(x)
    is_zero = x[0] == 0
    hi, lo = dd.div(sine, dd.where(is_zero, dd.of(np.ones_like(x[0])), x))
    off = np.where(np.abs(x[0]) > dd.SAFE_MIN, error + 2.0**-99, np.inf)
    return (np.where(is_zero, 1.0, hi), np.where(is_zero, 0.0, lo)), np.where(is_zero, 0.0, off)


# float64


def first_bessel_float64(order: int, x: Array) -> Array:
    """J0(x) or J1(x) within FIRST_FLOAT64_ERROR but where `unsure`; 0 of infinities."""
    size = np.abs(x)
    settled = np.where(np.isinf(size), 0.0, size)  # NaN stays
    far = chosen((size >= _LOWEST) & (size < np.inf), partial(_far_float64, order), size, settled)
    value = chosen(size < _LOWEST, partial(_near_float64, order), size, far)
    return np.where(np.signbit(x), -value, value) if order else value


def unsure(order: int, x: Array) -> Array:
    """Where the terms of J0 or J1 cancel."""
    return (np.abs(x) >= _LOWEST) & (np.abs(first_bessel_float64(order, x)) * np.sqrt(np.abs(x)) < CANCELLED)


def _near_float64(order: int, x: Array) -> Array:
    piece, centre = uniform_piece(x, 2 * PER_UNIT)
    return _NEAR[order].float64(piece, x - centre)


def _far_float64(order: int, x: Array) -> Array:
    along, across = np.cos(x) + np.sin(x), np.sin(x) - np.cos(x)
    p, q = (_hankel_float64(order, part, x) for part in (0, 1))
    value = p * across + q * along if order else p * along - q * across
    return value * float(root_of_pi()[0]) / np.sqrt(x)


def _hankel_float64(order: int, part: int, x: Array) -> Array:
    far = chosen(x >= _HIGHEST, partial(_series_float64, order, part), x, x)
    return chosen(x < _HIGHEST, partial(_of_table_float64, order, part), x, far)


def _of_table_float64(order: int, part: int, x: Array) -> Array:
    piece, centre = log_piece(x, _LOWEST, _HIGHEST)
    return _HANKEL[order][part].float64(piece, x - centre)


def _series_float64(order: int, part: int, x: Array) -> Array:
    pairs, _ = _terms(order, part)
    value = polynomial([hi for hi, _ in pairs], (1.0 / x) ** 2)
    return value / x if part else value


def spherical_float64(x: Array) -> Array:
    """sin x / x; 1 at 0, 0 of infinities."""
    return np.where(x == 0, 1.0, np.where(np.isinf(x), 0.0, np.sin(x) / x))
