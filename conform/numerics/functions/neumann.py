"""The Bessel functions Y0 and Y1 of positive doubles.

Below 2 the logarithm times J and a series (DLMF 10.8.1, 10.8.2); from there on Hankel's form (10.17.4), whose P and Q
are those of J: Y0 = (P (sin x - cos x) + Q (sin x + cos x)) / sqrt(pi x), and
Y1 = (Q (sin x - cos x) - P (sin x + cos x)) / sqrt(pi x).
"""

from __future__ import annotations

from functools import cache, partial

import gmpy2
import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.formats import Format
from conform.numerics.functions import dd, exact, first_bessel
from conform.numerics.functions.dd import DD, Array, chosen
from conform.numerics.functions.exponential import polynomial
from conform.numerics.functions.ladder import Function, evaluate
from conform.numerics.functions.logarithm import log
from conform.numerics.functions.range_ends import TINY
from conform.numerics.functions.rows import POSITIVE, at
from conform.numerics.functions.scaled_error import root_of_pi
from conform.numerics.functions.trigonometric import cos, sin
from conform.numerics.real import Real
from conform.numerics.scaled import Scaled

LOWEST, TERMS = 2.0, 24  # (x/2)^2 <= 1: the 24th is below 2^-150
NEAR_ERROR = 2.0**-94  # of the largest term: logarithm, J, products and sums
FLOAT64_ERROR = first_bessel.FIRST_FLOAT64_ERROR
"""As an absolute error of 2^-48 of the largest term, where it is CANCELLED of that or more; else `_unsure` says so."""
CANCELLED = 2.0**-5


@cache
def _two_over_pi() -> tuple[np.float64, np.float64]:
    with mpmath.workprec(200):
        hi, lo = dd.constant(2 / mpmath.pi)
    return np.float64(hi), np.float64(lo)


@cache
def _less_log_two(order: int) -> tuple[np.float64, np.float64]:
    """What is added to log x: Euler's constant, which of Y1 the series has, less log 2."""
    with mpmath.workprec(200):
        hi, lo = dd.constant((0 if order else mpmath.euler) - mpmath.log(2))
    return np.float64(hi), np.float64(lo)


@cache
def _coefficients(order: int) -> list[tuple[float, float]]:
    """Of (x/2)^2k: (-1)^(k + 1) H_k / k!^2; of Y1, which has x/2 besides,
    -(psi(k + 1) + psi(k + 2)) (-1)^k / (2 k! (k + 1)!)."""
    with mpmath.workprec(250):
        found = []
        for k in range(TERMS):
            sign, size = (-1) ** k, mpmath.factorial(k) * mpmath.factorial(k + order)
            number = (mpmath.digamma(k + 1) + mpmath.digamma(k + 2)) / 2 if order else mpmath.harmonic(k)
            found.append(dd.constant(-sign * number / size))
        return found


def _series(order: int, x: DD) -> DD:
    t = dd.scale(dd.square(x), 0.25)
    value = dd.of(np.zeros_like(x[0]))
    for hi, lo in reversed(_coefficients(order)):
        value = dd.add(dd.mul(value, t), (np.float64(hi), np.float64(lo)))
    return dd.mul(value, dd.scale(x, 0.5)) if order else value


def _near(order: int, x: DD) -> tuple[DD, Array]:
    """The function for 0 < x < 2, and its absolute error."""
    logarithm = dd.add(log(x), _less_log_two(order))
    product, series = dd.mul(logarithm, first_bessel.first_bessel(order, x)[0]), _series(order, x)
    total, size = dd.add(product, series), np.abs(product[0]) + np.abs(series[0]) + np.where(order, x[0], 1.0)
    if order:
        inverse = dd.div(dd.of(np.ones_like(x[0])), x)
        total, size = dd.sub(total, inverse), size + inverse[0]
    return dd.mul(total, _two_over_pi()), size * NEAR_ERROR


def _wave(order: int, x: DD) -> tuple[DD, Array]:
    """sqrt(pi x) times the function, of doubles x >= 2, and the absolute error."""
    (sine, error), (cosine, other_error) = sin(x), cos(x)
    along, across = dd.add(cosine, sine), dd.sub(sine, cosine)
    p, q = (first_bessel._hankel(order, part, x) for part in (0, 1))
    value = dd.sub(dd.mul(q, across), dd.mul(p, along)) if order else dd.add(dd.mul(p, across), dd.mul(q, along))
    return value, first_bessel.WAVE_ERROR + 4 * np.maximum(error, other_error)


def _far(order: int, x: DD) -> tuple[DD, Array]:
    value, off = _wave(order, x)
    scaled = dd.div(dd.mul(value, root_of_pi()), dd.sqrt(x))
    return scaled, np.abs(scaled[0]) * (off / np.abs(value[0]) + 2.0**-100)


def _double_double(order: int, x: DD) -> tuple[DD, Array]:
    result, error = (np.empty_like(x[0]), np.empty_like(x[0])), np.empty_like(x[0])
    near = x[0] < LOWEST
    for mask, kernel in ((near, _near), (~near, _far)):
        if mask.any():
            some, error[mask] = kernel(order, dd.take(x, mask))
            result[0][mask], result[1][mask] = some
    return result, error / np.abs(result[0])


def _scaled(order: int, x: Array) -> Scaled:
    """-2/(pi x) of a tiny x, Y1; and the wave over the root of a huge x."""
    significand, exponent = np.frexp(np.where(x > 0, x, 1.0))
    pole = Scaled.of(*dd.div(dd.neg(_two_over_pi()), dd.of(significand)), 2.0**-100, -exponent)
    value, off = _wave(order, dd.of(np.where(x > LOWEST, x, LOWEST)))
    odd = exponent % 2
    root = dd.sqrt(dd.of(np.ldexp(significand, odd)))
    over = dd.div(dd.mul(value, root_of_pi()), root)
    far = Scaled.of(*over, off / np.abs(value[0]) + 2.0**-99, -(exponent - odd) // 2).known_where(x > 2.0**400)
    return pole.known_where((x > 0) & (x < TINY)).or_else(far) if order else far


def _near_parts(order: int, x: Array) -> tuple[Array, Array]:
    logarithm = np.log(x) + float(_less_log_two(order)[0])
    product = logarithm * first_bessel.first_bessel_float64(order, x)
    series = polynomial([hi for hi, _ in _coefficients(order)[:14]], 0.25 * x * x)
    series = series * 0.5 * x - 1.0 / x if order else series
    return product * (2 / np.pi), series * (2 / np.pi)


def _far_parts(order: int, x: Array) -> tuple[Array, Array]:
    along, across = np.cos(x) + np.sin(x), np.sin(x) - np.cos(x)
    p, q = (first_bessel._hankel_float64(order, part, x) for part in (0, 1))
    over = float(root_of_pi()[0]) / np.sqrt(x)
    return (q * across * over, -p * along * over) if order else (p * across * over, q * along * over)


def _float64(order: int, x: Array) -> Array:
    """-inf at 0, NaN below, 0 at infinity."""
    settled = np.where(x == 0, -np.inf, np.where(x == np.inf, 0.0, np.nan))
    near = chosen((x > 0) & (x < LOWEST), lambda some: np.add(*_near_parts(order, some)), x, settled)
    return chosen((x >= LOWEST) & (x < np.inf), lambda some: np.add(*_far_parts(order, some)), x, near)


def _unsure(order: int, x: Array) -> Array:
    """Where terms cancel; those of the wave are as large as 1 / sqrt x."""

    def near(some: Array) -> Array:
        product, series = _near_parts(order, some)
        return np.abs(product + series) < CANCELLED * (np.abs(product) + np.abs(series))

    def far(some: Array) -> Array:
        return np.abs(np.add(*_far_parts(order, some))) * np.sqrt(some) < CANCELLED

    found = chosen((x > 0) & (x < LOWEST), near, x, False)
    return chosen((x >= LOWEST) & (x < np.inf), far, x, found)


def _mp(order: int, x: mpf) -> mpf:
    """By MPFR, of a double."""
    with gmpy2.context(precision=mpmath.mp.prec, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        mantissa, binade = (gmpy2.y1 if order else gmpy2.y0)(gmpy2.mpfr(float(x))).as_mantissa_exp()
    return mpmath.ldexp(mpf(int(mantissa)), int(binade))


ROWS = tuple(
    Function(
        f"y{order}", partial(_float64, order), FLOAT64_ERROR, partial(_double_double, order), partial(_mp, order),
        exact.nowhere, tuple(x for x in POSITIVE if 1e-40 < x[0] < 1e11), partial(_scaled, order), at(0.0),
        partial(_unsure, order),
    )
    for order in (0, 1)
)  # fmt: skip


def apply(order: int, fmt: Format, x: Array) -> tuple[Array, Real]:
    """Y0 or Y1: (value in `fmt.storage`, the real numbers it rounds), as `functions.apply`."""
    return evaluate(ROWS[order], fmt, (x,))
