"""How far weights that add up to 1, the softmax of scores, may lie from the exact ones.

An error d of the scores changes weight p_i by p_i (d_i - sum_j p_j d_j), to first order: by next to nothing where p_i
is nearly 1, or 0. Numerator and denominator taken for themselves would lose that, for both hold e^x_i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from conform.interp.program.number import Number
from conform.numerics.rounding_errors import is_statistical, joined

SMALL = 1.0  # the largest error of a score for which anything is said here
LEAST = 2.0**-1000  # more than no error, so that e^0 is not exact


def errors_of_weights(below: Number, quotient: Callable[[Number], Number], axis: int) -> np.ndarray:
    """The radii of the weights of the scores `below`, of which the largest along `axis` is 0; `quotient` makes weights
    of scores with all errors of its own. inf where nothing is said.

    What the quotient loses by itself is relative to weights and terms, which the scores' errors change by factors of
    e^(2 R) at most, R the largest of them in a row.
    """
    r = np.broadcast_to(below.rad, below.shape)
    own = quotient(replace(below, rad=np.where(r > 0, LEAST, 0.0)))
    with np.errstate(all="ignore"):
        largest = np.max(r, axis, keepdims=True, initial=0.0)
        e = np.exp(below.real.hi)
        moved = _likely(e, r, axis, largest) if is_statistical() else _most(e, r, axis)
        rad = joined(own.rad * np.exp(4 * largest), moved) * (1 + 2.0**-40)
        return np.where((largest <= SMALL) & np.isfinite(rad), rad, np.inf)


def _most(e: np.ndarray, r: np.ndarray, axis: int) -> np.ndarray:
    """How far weights move where each exponent of `e` moves by `r` at most: furthest where all others move one way
    and its own the other way."""
    others, grown, shrunk = (_without_own(e * by, axis) for by in (1.0, np.expm1(r), -np.expm1(-r)))
    more = np.exp(r) * grown + np.expm1(r) * others
    less = np.exp(-r) * shrunk - np.expm1(-r) * others
    whole = e.sum(axis, keepdims=True)
    return e / whole * np.maximum(more / (whole + more), less / (whole - less))


def _likely(e: np.ndarray, r: np.ndarray, axis: int, largest: np.ndarray) -> np.ndarray:
    """The root of the sum of squares of what each exponent's error does; e^(2 R) covers that the slopes move, too."""
    p = e / e.sum(axis, keepdims=True)
    rest = _without_own(p, axis)
    squares = (rest * r) ** 2 + _without_own((p * r) ** 2, axis)
    return p * np.sqrt(squares) * np.exp(2 * largest)


def _without_own(terms: np.ndarray, axis: int) -> np.ndarray:
    """The sum of all other terms along `axis`, none of which is negative; no less than it is."""
    whole = terms.sum(axis, keepdims=True)
    return np.maximum(whole - terms, 0.0) + terms.shape[axis] * 2.0**-51 * whole
