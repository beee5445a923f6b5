"""mpmath's numbers, for formulas that `escalate` evaluates at rising precision; nothing outside this room needs mpmath.

Every function takes a number or an array of numbers (dtype object) and rounds to the precision of mpmath's context.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import mpmath
import numpy as np

from conform.numerics.real import Real

Number = mpmath.mpf

_LOST_BITS = 20  # of a term, at most

exp = np.frompyfunc(mpmath.exp, 1, 1)
expm1 = np.frompyfunc(mpmath.expm1, 1, 1)
log = np.frompyfunc(lambda x: mpmath.log(x) if x else mpmath.ninf, 1, 1)
log1p = np.frompyfunc(mpmath.log1p, 1, 1)
cos = np.frompyfunc(mpmath.cos, 1, 1)
sin = np.frompyfunc(mpmath.sin, 1, 1)
sqrt = np.frompyfunc(mpmath.sqrt, 1, 1)
of_float = np.frompyfunc(lambda x: mpmath.mpf(float(x)), 1, 1)
of_fraction = np.frompyfunc(lambda x: mpmath.mpf(x.numerator) / x.denominator, 1, 1)


def pi() -> Number:
    """At the precision of mpmath's context."""
    return +mpmath.pi


def as_real(make: Callable[[], Number]) -> Real:
    """The number that `make` gives at any precision, to 2^-104 of it."""
    with mpmath.workprec(300):
        number = make()
        hi = float(number)
        return Real.exact(hi) + Real(np.float64(number - hi), np.float64(0.0), np.float64(abs(hi) * 2.0**-104))


def power_of_two(exponent: int) -> Number:
    """2^exponent, exactly."""
    return mpmath.ldexp(1, exponent)


def total(terms: Iterable[Number]) -> Number:
    """The sum, off by what its terms may be: 2^(20-p) of their magnitudes together, p the precision.

    A sum that cancels so is seen to change with the precision, even where every digit cancels and nothing is left.
    """
    numbers = list(terms)
    error = mpmath.ldexp(mpmath.fsum(numbers, absolute=True), _LOST_BITS - mpmath.mp.prec)
    return mpmath.fsum(numbers) + error
