"""Special functions: rows of the table."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import gmpy2
import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.functions import (
    activations,
    bessel,
    bessel_ends,
    exact,
    first_bessel,
    gamma,
    inverse_error,
    range_ends,
    rows,
    scaled_error,
    second_bessel,
)
from conform.numerics.functions.ladder import Function
from conform.numerics.functions.range_ends import constant_times, either, odd
from conform.numerics.functions.rows import FAR, FAR_EXPONENT, LINE, NUMPY_ERROR, PAIRS, POSITIVE, UNIT, at

ROWS: dict[str, Function] = {}
define = partial(rows.define, ROWS)


def _mp_lgamma(x: mpf) -> mpf:
    """Near a zero the value loses at most 100 bits (the zeros below 0 are 2^-60 from the nearest double)."""
    with mpmath.extraprec(120):
        return mpmath.loggamma(x) if x > 0 else mpmath.log(abs(mpmath.pi / mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


def _by_mpfr(function: Callable[[gmpy2.mpfr], gmpy2.mpfr]) -> Callable[[mpf], mpf]:
    """A function of doubles by MPFR, at mpmath's precision: it takes a thirtieth of the time."""

    def formula(x: mpf) -> mpf:
        with gmpy2.context(precision=mpmath.mp.prec, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
            mantissa, binade = function(gmpy2.mpfr(float(x))).as_mantissa_exp()
        return mpmath.ldexp(mpf(int(mantissa)), int(binade))

    return formula


_BESSEL, _BESSEL_FLOAT64 = bessel.BESSEL_ERROR, bessel.BESSEL_FLOAT64_ERROR
define(
    "lgamma", gamma.lgamma_float64, gamma.lgamma, None, _mp_lgamma, exact.lgamma, POSITIVE, gamma.GAMMA_FLOAT64_ERROR,
    ends=range_ends.lgamma, poles=gamma.lgamma_poles, unsure=gamma.lgamma_unsure,
)  # fmt: skip
define(
    "digamma", gamma.digamma_float64, gamma.digamma, None, _by_mpfr(gmpy2.digamma), exact.digamma, POSITIVE,
    gamma.GAMMA_FLOAT64_ERROR, ends=range_ends.digamma, poles=at(0.0), unsure=gamma.digamma_unsure,
)  # fmt: skip
define(
    "i0", bessel.i0_float64, bessel.i0, _BESSEL, lambda x: mpmath.besseli(0, min(abs(x), FAR)),
    exact.values({0.0: 1.0}), LINE, _BESSEL_FLOAT64, ends=bessel_ends.bessel(0),
)  # fmt: skip
define(
    "i1", bessel.i1_float64, bessel.i1, _BESSEL, lambda x: mpmath.besseli(1, max(min(x, FAR), -FAR)), exact.odd_zero,
    LINE, _BESSEL_FLOAT64, ends=either(odd(0.5, 1.0), bessel_ends.bessel(1)),
)  # fmt: skip
_INVERSE_ERF, _INVERSE_ERF_FLOAT64 = inverse_error.INVERSE_ERROR, inverse_error.INVERSE_FLOAT64_ERROR
define(
    "erfinv", inverse_error.erfinv_float64, inverse_error.erfinv, _INVERSE_ERF, inverse_error.mp_erfinv,
    exact.values({0.0: 0.0, 1.0: np.inf, -1.0: -np.inf}), UNIT, _INVERSE_ERF_FLOAT64,
    ends=constant_times("sqrt(pi)/2"), poles=at(-1.0, 1.0),
)  # fmt: skip
define(
    "ndtri", inverse_error.ndtri_float64, inverse_error.ndtri, None, inverse_error.mp_ndtri,
    exact.values({0.0: -np.inf, 0.5: 0.0, 1.0: np.inf}),
    tuple((p,) for p in (2.0**-100, 1e-9, 0.01, 0.3, 0.4999, 0.50001, 0.7, 0.99, 1 - 2.0**-20)),
    _INVERSE_ERF_FLOAT64, ends=range_ends.ndtri, poles=at(0.0, 1.0),
)  # fmt: skip

# Scaled functions, and logarithms


def _mp_erfcx(x: mpf) -> mpf:
    """Far up by the asymptotic series, whose first term left out bounds the error."""
    if x < 3000:
        return mpmath.exp(x * x) * mpmath.erfc(x)
    return _asymptotic(1 / (2 * x * x), lambda k: -(2 * k - 1)) / (x * mpmath.sqrt(mpmath.pi))


def _asymptotic(t: mpf, factor: Callable[[int], mpf | int]) -> mpf:
    """1 + t factor(1) (1 + t factor(2) (1 + ...)), until nothing is added."""
    total, term, k = mpf(1), mpf(1), 0
    while mpmath.mag(term) > -mpmath.mp.prec - 10 and term:
        k += 1
        term *= t * factor(k)
        total += term
    return total


def _mp_log_ndtr(x: mpf) -> mpf:
    if x > -1:
        return mpmath.log1p(-mpmath.erfc(min(x, FAR) / mpmath.sqrt(2)) / 2)
    return mpmath.log(_mp_erfcx(-x / mpmath.sqrt(2)) / 2) - x * x / 2


def _mp_scaled_i(order: int) -> Callable[[mpf], mpf]:
    def formula(x: mpf) -> mpf:
        size = abs(x)
        sign = -1 if order == 1 and x < 0 else 1
        if size < 6000:
            return sign * mpmath.exp(-size) * mpmath.besseli(order, size)
        series = _asymptotic(1 / size, lambda k: mpf((2 * k - 1) ** 2 - 4 * order**2) / (8 * k))
        return sign * series / mpmath.sqrt(2 * mpmath.pi * size)

    return formula


define(
    "erfcx", scaled_error.scaled_erfc_float64, scaled_error.erfcx, None, _mp_erfcx, exact.values({0.0: 1.0}),
    LINE[:18] + ((31.5,), (33.0,), (1e10,)), scaled_error.SCALED_ERROR_FLOAT64, ends=range_ends.erfcx,
)  # fmt: skip
define(
    "log_ndtr", scaled_error.log_ndtr_float64, scaled_error.log_ndtr, None, _mp_log_ndtr, exact.nowhere,
    LINE[:20] + ((-50.0,), (-1e10,)), scaled_error.SCALED_ERROR_FLOAT64, ends=range_ends.log_ndtr,
)  # fmt: skip
define(
    "i0e", partial(bessel.scaled_bessel_float64, 0), partial(bessel.scaled_bessel, 0), bessel.SCALED_BESSEL_ERROR,
    _mp_scaled_i(0), exact.values({0.0: 1.0}), LINE, _BESSEL_FLOAT64, ends=bessel_ends.scaled_bessel(0),
)  # fmt: skip
define(
    "i1e", partial(bessel.scaled_bessel_float64, 1), partial(bessel.scaled_bessel, 1), bessel.SCALED_BESSEL_ERROR,
    _mp_scaled_i(1), exact.odd_zero, LINE, _BESSEL_FLOAT64,
    ends=either(odd(0.5, -1.0), bessel_ends.scaled_bessel(1)),
)  # fmt: skip
define(
    "xlog1py", activations.xlog1py_float64, activations.xlog1py, None, lambda x, y: x * mpmath.log1p(y), exact.xlog1py,
    PAIRS, NUMPY_ERROR, ends=range_ends.xlog1py, poles=lambda x, y: (x != 0) & (y == -1),
)  # fmt: skip

# Bessel functions


def _mp_second(order: int, is_scaled: bool) -> Callable[[mpf], mpf]:
    def formula(x: mpf) -> mpf:
        if x < 6000:
            return mpmath.besselk(order, x) * (mpmath.exp(x) if is_scaled else 1)
        series = _asymptotic(-1 / x, lambda k: mpf((2 * k - 1) ** 2 - 4 * order**2) / (8 * k))
        size = series * mpmath.sqrt(mpmath.pi / (2 * x))
        return size if is_scaled else size * mpmath.exp(-min(x, FAR_EXPONENT))

    return formula


for _order, _function in enumerate((gmpy2.j0, gmpy2.j1)):
    define(
        f"j{_order}", partial(first_bessel.first_bessel_float64, _order), partial(first_bessel.first_bessel, _order),
        None, _by_mpfr(_function), exact.odd_zero if _order else exact.values({0.0: 1.0}), LINE,
        first_bessel.FIRST_FLOAT64_ERROR, ends=bessel_ends.first_bessel(_order),
        unsure=partial(first_bessel.unsure, _order),
    )  # fmt: skip
    for _is_scaled, _ends in ((False, bessel_ends.second_bessel), (True, bessel_ends.scaled_second_bessel)):
        define(
            f"k{_order}{'e' * _is_scaled}",
            partial(second_bessel.second_bessel_float64, _order, is_scaled=_is_scaled),
            partial(second_bessel.second_bessel, _order, is_scaled=_is_scaled), second_bessel.SECOND_BESSEL_ERROR,
            _mp_second(_order, _is_scaled), exact.values({0.0: np.inf}),
            tuple(x for x in POSITIVE if 1e-100 < x[0] < 600), second_bessel.SECOND_FLOAT64_ERROR, ends=_ends(_order),
            poles=at(0.0),
        )  # fmt: skip
define(
    "spherical_j0", first_bessel.spherical_float64, first_bessel.spherical, None, lambda x: mpmath.sin(x) / x,
    exact.values({0.0: 1.0}), LINE, 2 * NUMPY_ERROR, ends=bessel_ends.spherical,
)  # fmt: skip
