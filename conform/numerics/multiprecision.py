"""mpmath's numbers, for formulas that `escalate` evaluates at rising precision; nothing outside this room needs mpmath.

Every function takes a number or an array of numbers (dtype object) and rounds to the precision of mpmath's context.
"""

from __future__ import annotations

import mpmath
import numpy as np

Number = mpmath.mpf

exp = np.frompyfunc(mpmath.exp, 1, 1)
log = np.frompyfunc(lambda x: mpmath.log(x) if x else mpmath.ninf, 1, 1)
log1p = np.frompyfunc(mpmath.log1p, 1, 1)
sqrt = np.frompyfunc(mpmath.sqrt, 1, 1)
of_float = np.frompyfunc(lambda x: mpmath.mpf(float(x)), 1, 1)
of_fraction = np.frompyfunc(lambda x: mpmath.mpf(x.numerator) / x.denominator, 1, 1)


def power_of_two(exponent: int) -> Number:
    """2^exponent, exactly."""
    return mpmath.ldexp(1, exponent)
