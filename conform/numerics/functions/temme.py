"""Temme's uniform expansion of the incomplete gamma functions for large a, DLMF 8.12.

With mu = (x - a)/a, eta^2/2 = mu - log(1 + mu) and y = |eta| sqrt(a/2), the smaller side is e^(-y^2) times
erfcx(y)/2 +- (c_0(eta) + c_1(eta)/a + ...)/sqrt(2 pi a), + where x >= a.
"""

from __future__ import annotations

from functools import cache

import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.eft import two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.logarithm import LOG1P_ERROR, log1p
from conform.numerics.functions.scaled_error import erfcx, scaled_erfc_float64

FARTHEST = 1.5  # of |eta|: beyond, e^(-a eta^2 / 2) is 0 in every format for a >= 1024
ORDERS, TERMS = 11, 84  # of 1/a and of eta: (1.5/3.54)^84 < 2^-104, of the powers 1024^-11 c_11 < 2^-104
LARGEST, FARTHEST_RATIO = 2.0**900, 2.0**10  # of a, where eta is 0 or 2^-53 at least, and of x / a
NEAR = 2.0**-5  # of |mu|: there eta comes of its series
SERIES_TERMS = 26
TEMME_ERROR = 2.0**-93  # of the factor, of which erfcx has 2^-94; its argument counts apart


@cache
def _inversion(count: int) -> list[mpf]:
    """alpha_1, alpha_2, ...: mu = sum of alpha_k eta^k, k >= 1."""
    alpha = [mpf(0), mpf(1)]
    for n in range(2, count + 1):
        alpha.append((alpha[n - 1] - sum(j * alpha[j] * alpha[n - j + 1] for j in range(2, n))) / (n + 1))
    return alpha


def _stirling(count: int) -> list[mpf]:
    """g_0, g_1, ...: Gamma(z) is sqrt(2 pi / z) (z/e)^z times the sum of g_k z^-k (DLMF 5.11.3); the coefficients of
    the exponential of the sum of B_2m / (2m (2m - 1)) z^(1 - 2m)."""
    exponent = [mpf(0)] * (count + 1)
    for m in range(1, count // 2 + 2):
        if 2 * m - 1 <= count:
            exponent[2 * m - 1] = mpmath.bernoulli(2 * m) / (2 * m * (2 * m - 1))
    g = [mpf(1)]
    for n in range(1, count + 1):
        g.append(sum(k * exponent[k] * g[n - k] for k in range(1, n + 1)) / n)
    return g


@cache
def _coefficients() -> list[tuple[list[tuple[float, float]], list[float]]]:
    """Of c_k: the first ones as pairs, as many as 2^-53 of what c_k is multiplied with does not hold, and doubles."""
    with mpmath.workprec(500):
        last = TERMS + 2 * ORDERS
        alpha, g = _inversion(last + 2), _stirling(ORDERS)
        first = [-mpf(1) / 3] + [(n + 2) * alpha[n + 2] for n in range(1, last + 1)]
        rows = [first]
        for k in range(1, ORDERS):
            above = rows[-1]
            rows.append([(-1) ** k * g[k] * first[n] + (n + 2) * above[n + 2] for n in range(len(above) - 2)])
        pairs = [max(40 - 8 * k, 0) for k in range(ORDERS)]
        return [
            ([dd.constant(c) for c in row[:count]], [float(c) for c in row[count:TERMS]])
            for row, count in zip(rows, pairs, strict=True)
        ]


@cache
def _root_of_two_pi() -> tuple[float, float]:
    with mpmath.workprec(200):
        return dd.constant(1 / mpmath.sqrt(2 * mpmath.pi))


@cache
def _series() -> list[tuple[float, float]]:
    """2/(k + 2) (-1)^k: eta^2 / mu^2 as a series in mu."""
    with mpmath.workprec(200):
        return [dd.constant((-1) ** k * mpf(2) / (k + 2)) for k in range(SERIES_TERMS)]


def _horner(coefficients: list[tuple[float, float]], start: DD, t: DD) -> DD:
    value = start
    for hi, lo in reversed(coefficients):
        value = dd.add(dd.mul(value, t), (np.float64(hi), np.float64(lo)))
    return value


def _doubles(coefficients: list[float], t: Array) -> Array:
    value = np.zeros_like(t)
    for c in reversed(coefficients):
        value = value * t + c
    return value


def _square_of_eta(mu: DD) -> tuple[DD, Array]:
    """eta^2 and its relative error."""
    near = np.abs(mu[0]) < NEAR
    by_logarithm = dd.scale(dd.sub(mu, log1p(mu)), 2.0)
    error = 2 * LOG1P_ERROR * (np.abs(mu[0]) + 2.0) / np.abs(by_logarithm[0])
    if not near.any():
        return by_logarithm, error
    t = dd.where(near, mu, dd.of(np.zeros_like(mu[0])))
    series = dd.mul(dd.square(t), _horner(_series(), dd.of(np.zeros_like(t[0])), t))
    return dd.where(near, series, by_logarithm), np.where(near, 2.0**-98, error)


def _sum(a: Array, eta: DD, is_fine: bool) -> DD:
    """c_0(eta) + c_1(eta)/a + ..."""
    inverse = 1.0 / a
    rows = _coefficients() if is_fine else _coefficients()[:6]
    total = dd.of(np.zeros_like(a))
    for pairs, doubles in reversed(rows):
        if not is_fine or not pairs:
            value = _doubles([*(hi for hi, _ in pairs), *doubles], eta[0])
            total = total[0] * inverse + value, total[1]
        else:
            value = _horner(pairs, dd.of(_doubles(doubles, eta[0])), eta)
            total = dd.add(dd.div(total, dd.of(a)), value)
    return total


def tail(a: Array, x: Array, is_fine: bool) -> tuple[DD, DD, Array]:
    """(E, f, relative error): the smaller side is e^E f, that of P where x < a."""
    scale = np.where(a > LARGEST, 2.0**-200, 1.0)
    mu = dd.div(two_sum(np.minimum(x * scale, FARTHEST_RATIO * (a * scale)), -(a * scale)), dd.of(a * scale))
    a = np.minimum(a, LARGEST)
    square, error = _square_of_eta(mu)
    far = ~(square[0] < FARTHEST**2)
    exact_middle = square[0] == 0
    settled = far | exact_middle
    kept = dd.where(settled, dd.of(np.ones_like(a)), square)
    root = dd.where(exact_middle, dd.of(np.zeros_like(a)), dd.sqrt(kept))
    y = dd.mul(root, dd.sqrt(dd.of(a * 0.5)))
    sign = np.where(x < a, -1.0, 1.0)
    total = dd.scale(_sum(a, dd.scale(root, sign), is_fine), sign)
    correction = dd.div(dd.mul(total, tuple(map(np.float64, _root_of_two_pi()))), dd.sqrt(dd.of(a)))
    scaled = erfcx(y)[0] if is_fine else dd.of(scaled_erfc_float64(y[0]))
    factor = dd.add(dd.scale(scaled, 0.5), correction)
    exponent = dd.scale(dd.mul_double(dd.where(exact_middle, dd.of(np.zeros_like(a)), square), a), -0.5)
    exponent = dd.where(far, dd.of(np.full_like(a, -np.inf)), exponent)
    lost = np.where(settled, 0.0, error * (np.abs(exponent[0]) + y[0]))
    return exponent, factor, TEMME_ERROR + np.where(np.isfinite(lost), lost, 0.0)
