"""Special functions: rows of the table."""

from __future__ import annotations

import gmpy2
import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.functions import bessel, exact, gamma, inverse_error, range_ends
from conform.numerics.functions.range_ends import constant_times, either, odd
from conform.numerics.functions.rows import FAR, LINE, POSITIVE, UNIT, at, define


def _mp_lgamma(x: mpf) -> mpf:
    """Near a zero the value loses at most 100 bits (the zeros below 0 are 2^-60 from the nearest double)."""
    with mpmath.extraprec(120):
        return mpmath.loggamma(x) if x > 0 else mpmath.log(abs(mpmath.pi / mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


def _mp_digamma(x: mpf) -> mpf:
    """By MPFR, of a double: it takes a thirtieth of the time."""
    with gmpy2.context(precision=mpmath.mp.prec):
        mantissa, binade = gmpy2.digamma(gmpy2.mpfr(float(x))).as_mantissa_exp()
    return mpmath.ldexp(mpf(int(mantissa)), int(binade))


_BESSEL, _BESSEL_FLOAT64 = bessel.BESSEL_ERROR, bessel.BESSEL_FLOAT64_ERROR
define(
    "lgamma", gamma.lgamma_float64, gamma.lgamma, None, _mp_lgamma, exact.lgamma, POSITIVE, gamma.GAMMA_FLOAT64_ERROR,
    ends=range_ends.lgamma, poles=gamma.lgamma_poles, unsure=gamma.lgamma_unsure,
)  # fmt: skip
define(
    "digamma", gamma.digamma_float64, gamma.digamma, None, _mp_digamma, exact.digamma, POSITIVE,
    gamma.GAMMA_FLOAT64_ERROR, ends=range_ends.digamma, poles=at(0.0), unsure=gamma.digamma_unsure,
)  # fmt: skip
define(
    "i0", bessel.i0_float64, bessel.i0, _BESSEL, lambda x: mpmath.besseli(0, min(abs(x), FAR)),
    exact.values({0.0: 1.0}), LINE, _BESSEL_FLOAT64, ends=range_ends.bessel(0),
)  # fmt: skip
define(
    "i1", bessel.i1_float64, bessel.i1, _BESSEL, lambda x: mpmath.besseli(1, max(min(x, FAR), -FAR)), exact.odd_zero,
    LINE, _BESSEL_FLOAT64, ends=either(odd(0.5, 1.0), range_ends.bessel(1)),
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
