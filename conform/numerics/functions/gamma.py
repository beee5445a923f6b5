"""lgamma and digamma of doubles, in double-double.

Polynomials on [1/2, 4) (the zeros 1 and 2 of lgamma are centres there) and [4, 16), Stirling's series from 16 on, one
step of the recurrence below 1/2, reflection below 0 (DLMF 5.5, 5.11).
"""

from __future__ import annotations

from functools import cache, partial

import mpmath
import numpy as np

from conform.numerics.eft import fast_two_sum, two_sum
from conform.numerics.functions import dd
from conform.numerics.functions.dd import DD, Array, chosen, fill
from conform.numerics.functions.exponential import polynomial
from conform.numerics.functions.logarithm import log
from conform.numerics.functions.piecewise import PER_UNIT, Piecewise, log_piece
from conform.numerics.functions.trigonometric import pi, sin

GAMMA_ERROR = 2.0**-94
"""Relative to the largest term: EVALUATION, LOG_ERROR times at most 4 by cancellation in Stirling's series (x >= 16),
whose remainder is below 2^-115; one or two sums."""

GAMMA_FLOAT64_ERROR = 2.0**-42
"""Relative to the result, which is the terms' largest over AMPLIFIED at least: they are within 2^-47 of it, by numpy's
log, sin and tan (NUMPY_ERROR), times at most 1.6 in log x - 1 (x >= 16), the tables within EVALUATION_FLOAT64, three
roundings, and pi x by two. x + 1 and 1 - x are exact, for operands of 24 bits beyond 2^-27."""
AMPLIFIED = 16.0

_LOWEST, _MIDDLE, _HIGHEST = 0.5, 4.0, 16.0
_TINY = 2.0**-27
_FIRST = 32  # the uniform tables begin at 32/64
_SERIES_PAIRS, _SERIES_TERMS = 7, 22
_NEAR = {"lgamma": Piecewise("lgamma", 10), "digamma": Piecewise("digamma", 10)}
_FAR = {"lgamma": Piecewise("lgamma_to_16", 8), "digamma": Piecewise("digamma_to_16", 8)}


@cache
def _series(name: str) -> tuple[list[tuple[float, float]], list[float]]:
    """Coefficients in z = 1/x^2: B_2k / (2k (2k - 1)), times 1/x, of lgamma; B_2k / 2k, times z, of digamma."""
    with mpmath.workprec(300):
        terms = [
            mpmath.bernoulli(2 * k) / (2 * k * (2 * k - 1) if name == "lgamma" else 2 * k)
            for k in range(1, _SERIES_TERMS + 1)
        ]
        return [dd.constant(c) for c in terms[:_SERIES_PAIRS]], [float(c) for c in terms[_SERIES_PAIRS:]]


@cache
def _half_log_two_pi() -> tuple[np.float64, np.float64]:
    with mpmath.workprec(200):
        hi, lo = dd.constant(mpmath.log(2 * mpmath.pi) / 2)
    return np.float64(hi), np.float64(lo)


def _stirling_series(name: str, x: DD) -> tuple[DD, DD]:
    inverse = dd.div(dd.of(np.ones_like(x[0])), x)
    z = dd.square(inverse)
    pairs, doubles = _series(name)
    series = dd.horner(pairs, polynomial(doubles, z[0]), z)
    return inverse, dd.mul(series, inverse if name == "lgamma" else z)


def _lgamma_large(x: DD) -> DD:
    """(x - 1/2)(log x - 1) - 1/2 + log(2 pi)/2 + series, x >= 16."""
    _, series = _stirling_series("lgamma", x)
    product = dd.mul(dd.add_double(x, -0.5), dd.add_double(log(x), -1.0))
    return dd.add(product, dd.add(series, dd.add_double(_half_log_two_pi(), -0.5)))


def _digamma_large(x: DD) -> DD:
    """log x - 1/(2x) - series, x >= 16."""
    inverse, series = _stirling_series("digamma", x)
    return dd.sub(log(x), dd.add(dd.scale(inverse, 0.5), series))


def _near(name: str, x: DD) -> DD:
    j = np.rint(x[0] * PER_UNIT)
    return _NEAR[name].value(j.astype(np.intp) - _FIRST, dd.add_double(x, -j / PER_UNIT))


def _far(name: str, x: DD) -> DD:
    piece, centre = log_piece(x[0], _MIDDLE, _HIGHEST)
    return _FAR[name].value(piece, fast_two_sum(x[0] - centre, x[1]))


def _from_half(name: str, x: DD) -> DD:
    """The function for x >= 1/2."""
    result = np.empty_like(x[0]), np.empty_like(x[0])
    large, near = x[0] >= _HIGHEST, x[0] < _MIDDLE
    fill(result, near, lambda z: _near(name, z), x)
    fill(result, ~(near | large), lambda z: _far(name, z), x)
    fill(result, large, _lgamma_large if name == "lgamma" else _digamma_large, x)
    return result


def _relative(value: DD, *terms: DD) -> tuple[DD, Array]:
    """`value`, a sum of `terms`, each within GAMMA_ERROR."""
    return value, GAMMA_ERROR * sum(np.abs(term[0]) for term in terms) / np.abs(value[0])


def lgamma(x: DD) -> tuple[DD, Array]:
    """log|Gamma(x)| and its relative error, which grows near the zeros below 0."""
    result, error = (np.empty_like(x[0]), np.empty_like(x[0])), np.full_like(x[0], GAMMA_ERROR)
    negative, small = x[0] < 0, (x[0] >= 0) & (x[0] < _LOWEST)
    fill(result, ~(negative | small), lambda z: _from_half("lgamma", z), x)
    fill(result, small, lambda z: dd.sub(_from_half("lgamma", dd.add_double(z, 1.0)), log(z)), x)
    if negative.any():
        part, part_error = _lgamma_negative(dd.take(x, negative))
        result[0][negative], result[1][negative], error[negative] = *part, part_error
    return result, error


def _lgamma_negative(x: DD) -> tuple[DD, Array]:
    """log(pi / |sin pi x|) - lgamma(1 - x)."""
    sine, sine_error = sin(dd.mul(pi(), dd.of(x[0] - np.rint(x[0]))))
    reflected = log(dd.div(pi(), dd.absolute(sine)))
    gamma = _from_half("lgamma", two_sum(np.float64(1.0), -x[0]))
    value, error = _relative(dd.sub(reflected, gamma), reflected, gamma)
    error = error + 2.0 * sine_error / np.abs(value[0])
    return value, np.where(-x[0] > dd.SAFE_MIN, error, np.inf)


def digamma(x: DD) -> tuple[DD, Array]:
    """Gamma'(x)/Gamma(x) and its relative error, which grows near the zeros."""
    positive = x[0] > 0
    y = dd.where(positive, x, two_sum(np.float64(1.0), -x[0]))
    small = y[0] < _LOWEST
    shifted = dd.where(small, dd.add_double(y, 1.0), y)
    value = _from_half("digamma", shifted)
    bound = np.maximum(np.abs(value[0]), 1.0)  # the polynomials are within GAMMA_ERROR of their largest term there
    if small.any():
        inverse = dd.div(dd.of(np.ones_like(y[0])), y)
        value = dd.where(small, dd.sub(value, inverse), value)
        bound = np.where(small, bound + np.abs(inverse[0]), bound)
    error = GAMMA_ERROR * bound
    if not positive.all():
        part = x[0] - np.rint(x[0])
        (cosine, cosine_error), (sine, sine_error) = _cos_pi(part), sin(dd.mul(pi(), dd.of(part)))
        cotangent = dd.mul(pi(), dd.div(cosine, sine))
        value = dd.where(positive, value, dd.sub(value, cotangent))
        term = np.abs(cotangent[0]) * (4 * GAMMA_ERROR + cosine_error + sine_error)
        error = np.where(positive, error, np.where(-x[0] > dd.SAFE_MIN, error + term, np.inf))
    return value, error / np.abs(value[0]) + GAMMA_ERROR


def _cos_pi(x: Array) -> tuple[DD, Array]:
    """cos(pi x), |x| <= 1/2, as the sine of what pi x lacks of pi / 2, and its relative error; without error where it
    is 0."""
    lacking = two_sum(np.float64(0.5), -np.abs(x))
    value, error = sin(dd.mul(pi(), lacking))
    return value, np.where(lacking[0] == 0, 0.0, error)


# float64


def lgamma_float64(x: Array) -> Array:
    """log|Gamma(x)| within GAMMA_FLOAT64_ERROR where `lgamma_unsure` does not hold; NaN of NaN, +inf of infinities and
    poles."""
    limits = np.where(np.isnan(x), np.nan, np.inf)
    return chosen(np.isfinite(x) & ~lgamma_poles(x), _lgamma_float64, x, limits)


def digamma_float64(x: Array) -> Array:
    """Gamma'(x)/Gamma(x), as `lgamma_float64`; NaN of NaN, -inf and the negative integers, an infinity of the other
    sign at a zero."""
    limits = np.where(np.isnan(x) | (x < 0), np.nan, np.where(x == 0, np.copysign(np.inf, -x), np.inf))
    return chosen(np.isfinite(x) & ~lgamma_poles(x), _digamma_float64, x, limits)


def lgamma_unsure(x: Array) -> Array:
    """Below 0, where the terms of the reflection are more than AMPLIFIED times what is left of them."""
    below = np.isfinite(x) & (x < -_TINY) & (x != np.rint(x))
    return chosen(below, _lgamma_cancels, x, False)


def digamma_unsure(x: Array) -> Array:
    """Beside the zeros: where the result is less than the terms over AMPLIFIED."""
    inside = np.isfinite(x) & ~lgamma_poles(x) & (np.abs(x) > _TINY) & (x < _MIDDLE)
    return chosen(inside, _digamma_cancels, x, False)


def _lgamma_float64(x: Array) -> Array:
    """Finite x that are no poles. Beside 0 it is -log|x| - gamma x, but for less than x^2."""
    near_zero = np.abs(x) <= _TINY
    beside = -np.log(np.abs(x)) - np.euler_gamma * x
    above = chosen(~near_zero & (x > 0), _lgamma_above, x, beside)
    return chosen(x < -_TINY, lambda some: np.subtract(*_lgamma_terms(some)), x, above)


def _lgamma_above(x: Array) -> Array:
    from_half = _from_half_float64("lgamma", np.where(x < _LOWEST, x + 1.0, x))
    return np.where(x < _LOWEST, from_half - np.log(x), from_half)


def _lgamma_terms(x: Array) -> tuple[Array, Array]:
    """log(pi / |sin pi x|) and lgamma(1 - x), for x < 0."""
    sine = np.sin(np.pi * np.abs(x - np.rint(x)))
    return np.log(np.pi / sine), _from_half_float64("lgamma", 1.0 - x)


def _lgamma_cancels(x: Array) -> Array:
    first, second = _lgamma_terms(x)
    return np.abs(first - second) * AMPLIFIED < np.abs(first) + np.abs(second)


def _digamma_float64(x: Array) -> Array:
    """Finite x that are no poles. Beside 0 it is -1/x - gamma, but for less than 2 |x|."""
    return chosen(np.abs(x) > _TINY, lambda some: np.subtract(*_digamma_terms(some)), x, -1.0 / x - np.euler_gamma)


def _digamma_terms(x: Array) -> tuple[Array, Array]:
    """What is subtracted is 1/x for 0 < x < 1/2, below 0 pi / tan(pi x), from the digamma of x + 1 or 1 - x."""
    small, negative = (x > 0) & (x < _LOWEST), x < 0
    value = _from_half_float64("digamma", np.where(negative, 1.0 - x, np.where(small, x + 1.0, x)))
    taken = np.where(small, 1.0 / x, 0.0)
    return value, chosen(negative, lambda some: np.pi / np.tan(np.pi * (some - np.rint(some))), x, taken)


def _digamma_cancels(x: Array) -> Array:
    value, taken = _digamma_terms(x)
    return np.abs(value - taken) * AMPLIFIED < np.maximum(np.abs(value), 1.0) + np.abs(taken)


def _from_half_float64(name: str, x: Array) -> Array:
    """The function for x >= 1/2, its terms within 2^-47 of the largest of them."""
    large = chosen(x >= _HIGHEST, _LARGE_FLOAT64[name], x, np.nan)
    far = chosen((x >= _MIDDLE) & (x < _HIGHEST), partial(_far_float64, name), x, large)
    return chosen(x < _MIDDLE, partial(_near_float64, name), x, far)


def _near_float64(name: str, x: Array) -> Array:
    j = np.rint(x * PER_UNIT)
    return _NEAR[name].float64(j.astype(np.intp) - _FIRST, x - j / PER_UNIT)


def _far_float64(name: str, x: Array) -> Array:
    piece, centre = log_piece(x, _MIDDLE, _HIGHEST)
    return _FAR[name].float64(piece, x - centre)


def _stirling_float64(name: str, z: Array) -> Array:
    """The series in z = 1/x^2 <= 2^-8, of which the terms behind are below 2^-60 of the function."""
    pairs, _ = _series(name)
    return polynomial([high for high, _ in pairs], z)


def _lgamma_large_float64(x: Array) -> Array:
    series = _stirling_float64("lgamma", 1.0 / (x * x)) / x
    return (x - 0.5) * (np.log(x) - 1.0) + (series + (_half_log_two_pi()[0] - 0.5))


def _digamma_large_float64(x: Array) -> Array:
    z = 1.0 / (x * x)
    return np.log(x) - (0.5 / x + _stirling_float64("digamma", z) * z)


_LARGE_FLOAT64 = {"lgamma": _lgamma_large_float64, "digamma": _digamma_large_float64}


def lgamma_poles(x: Array) -> Array:
    """0 and the negative integers, among them every number below -2^52."""
    return (x <= 0) & (x == np.rint(x))
