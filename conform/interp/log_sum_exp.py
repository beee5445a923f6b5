"""The logarithm of a sum of exponentials, taken over rows: on reals, on mpmath numbers and on balls.

x - max, and log(sum(exp(x - max))) = log1p(the sum over all places but the first largest one): two numbers without
cancellation, from which log_softmax, logsumexp and cross entropy are made. Rows are arrays [..., n], n > 0.
"""

from __future__ import annotations

import numpy as np

from conform.interp.numerics import functions
from conform.interp.numerics import multiprecision as mp
from conform.interp.numerics.ball import Ball
from conform.interp.numerics.formats import Format
from conform.interp.numerics.real import Real, where


def _first_largest(rows: np.ndarray) -> np.ndarray:
    return np.arange(rows.shape[-1]) == rows.argmax(axis=-1, keepdims=True)


def of_reals(rows: np.ndarray) -> tuple[Real, Real]:
    """(x - max [..., n], the logarithm of the sum of its exponentials [..., 1]), NaN where the maximum is infinite."""
    with np.errstate(all="ignore"):
        largest = rows.max(axis=-1, keepdims=True)
        shifted = Real.exact(rows) - Real.exact(largest)
        others = where(_first_largest(rows), 0.0, functions.exp(shifted))
        log_sum = functions.log1p(others.sum(axis=-1, keepdims=True))
        return shifted, where(np.isinf(largest), np.nan, log_sum)


def of_mpmath(rows: np.ndarray, fmt: Format) -> tuple[np.ndarray, np.ndarray]:
    """The same on mpmath numbers at the precision of mpmath's context.

    A positive logarithm is at least 2^-20 of the smallest number of `fmt`: what is less decides on which side of a
    rounding boundary x - max comes to lie, and this does so just as well.
    """
    least = mp.of_float(fmt.min_subnormal) * 2.0**-20
    shifted = mp.of_float(rows) - mp.of_float(rows.max(axis=-1, keepdims=True))
    others = np.where(_first_largest(rows), mp.of_float(0), mp.exp(shifted))
    at_least = np.frompyfunc(lambda s: max(s, least) if s > 0 else s, 1, 1)
    return shifted, at_least(mp.log1p(others.sum(axis=-1, keepdims=True)))


def of_balls(rows: np.ndarray, compute: Format) -> tuple[Ball, Ball]:
    """The errors of both where the exponentials are added up in any order and the logarithm of the sum is taken."""
    shifted = Ball.exact(rows, compute) - Ball.exact(rows.max(axis=-1, keepdims=True), compute)
    return shifted, shifted.exp().sum(-1).log()
