"""The multivariate log-gamma function of doubles above (p - 1)/2: the sum of p log-gammas, and p (p - 1)/4 log pi."""

from __future__ import annotations

from functools import lru_cache
from math import inf

import gmpy2
import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.eft import two_sum
from conform.numerics.formats import Format
from conform.numerics.functions import dd, exact
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.gamma import GAMMA_FLOAT64_ERROR, lgamma, lgamma_float64
from conform.numerics.functions.ladder import Function, evaluate
from conform.numerics.functions.range_ends import HUGE
from conform.numerics.functions.range_ends import lgamma as lgamma_ends
from conform.numerics.real import Real
from conform.numerics.scaled import Scaled

CANCELLED = 16.0  # times as large as their sum the terms may be in doubles


@lru_cache(maxsize=256)
def _constant(p: int) -> tuple[np.float64, np.float64]:
    with mpmath.workprec(200):
        hi, lo = dd.constant(mpmath.log(mpmath.pi) * (p * (p - 1)) / 4)
    return np.float64(hi), np.float64(lo)


def _double_double(p: int, x: Array) -> tuple[DD, Array]:
    total = dd.of(np.zeros_like(x)) if p == 1 else tuple(np.full_like(x, part) for part in _constant(p))
    lost = np.abs(total[0]) * 2.0**-104
    for i in range(p):
        term, error = lgamma(two_sum(x, np.float64(-i / 2)))
        total = dd.add(total, term)
        lost = lost + np.abs(term[0]) * error + np.abs(total[0]) * 2.0**-103
    return total, lost / np.abs(total[0])


def _terms(p: int, x: Array) -> tuple[Array, Array]:
    """The sum in doubles, and that of the magnitudes."""
    total = np.full_like(x, float(_constant(p)[0]) if p > 1 else 0.0)
    size = np.abs(total)
    for i in range(p):
        term = lgamma_float64(x - i / 2)
        total, size = total + term, size + np.abs(term)
    return total, size


def _unsure(p: int, x: Array) -> Array:
    """Where terms cancel, or an argument is no double that is near 0."""
    total, size = _terms(p, x)
    return ~(np.abs(total) * CANCELLED > size) | (x < (p - 1) / 2 + 2.0**-10)


def _mp(p: int, x: mpf) -> mpf:
    """By MPFR, 200 bits more than asked for: zeros are 2^-60 from the nearest double."""
    with gmpy2.context(precision=mpmath.mp.prec + 200, emin=gmpy2.get_emin_min(), emax=gmpy2.get_emax_max()):
        total = gmpy2.log(gmpy2.const_pi()) * (p * (p - 1)) / 4
        for i in range(p):
            total += gmpy2.lngamma(gmpy2.mpfr(float(x)) - gmpy2.mpfr(i) / 2)
        mantissa, binade = total.as_mantissa_exp()
    return mpmath.ldexp(mpf(int(mantissa)), int(binade))


def _scaled(p: int, x: Array) -> Scaled:
    """p x (log x - 1) of a huge x, beside which what is left out is less than p 2^-880."""
    one = lgamma_ends(np.where(x > HUGE, x, 2 * HUGE))
    return one.times(Real.exact(np.full_like(x, float(p)))).known_where(x > HUGE)


@lru_cache(maxsize=256)
def row(p: int) -> Function:
    at_least = (p - 1) / 2
    return Function(
        f"multigamma({p})", lambda x: np.where(x == inf, inf, _terms(p, x)[0]),
        (p + 2) * GAMMA_FLOAT64_ERROR * CANCELLED,
        lambda x: _double_double(p, x[0]), lambda x: _mp(p, x), exact.nowhere if p > 1 else exact.lgamma,
        tuple((at_least + more,) for more in (0.25, 1.25, 3.5, 20.75, 1e4)), lambda x: _scaled(p, x),
        lambda x: np.zeros(x.shape, bool), lambda x: _unsure(p, x),
    )  # fmt: skip


def apply(p: int, fmt: Format, x: Array) -> tuple[Array, Real]:
    """(value in `fmt.storage`, the real numbers it rounds), as `functions.apply`."""
    return evaluate(row(p), fmt, (x,))
