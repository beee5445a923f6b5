"""Raw double-double arithmetic: a number is an unevaluated pair (hi, lo) of float64 arrays with |lo| <= ulp(hi)/2.

No radius travels here: a function adds up the bounds below once, by hand, and states the total next to its definition.
With u = 2^-53, and as long as nothing overflows and no partial product falls below 2^-1022, the relative errors are
(Joldes, Muller, Popescu, "Tight and rigorous error bounds for basic building blocks of double-word arithmetic", 2017):

    two_sum, two_prod     exact                 (Knuth; Dekker with Veltkamp's splitting)
    add                   3 u^2 + 13 u^3        (algorithm 6, AccurateDWPlusDW)
    add_double            2 u^2                 (algorithm 4, DWPlusFP)
    mul                   7 u^2                 (algorithm 10, DWTimesDW1, without FMA)
    mul_double            3 u^2 / 2 + 4 u^3     (algorithm 7, DWTimesFP1)
    div                   15 u^2 + 56 u^3       (algorithm 17, DWDivDW2)
    sqrt                  25 u^2 / 8            (Lefevre, Louvet, Muller, Picot, Rideau 2023, without FMA)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mpmath
import numpy as np

from conform.numerics.eft import SPLITTER, fast_two_sum, two_prod, two_sum

SAFE_MIN, SAFE_MAX = 2.0**-900, 2.0**1000
"""Between them no partial product of the functions below leaves float64's range."""

Array = np.ndarray
DD = tuple[Array, Array]


def split(a: Array) -> DD:
    """a as two halves of 26 bits, |a| < 2^996 (Veltkamp)."""
    c = SPLITTER * a
    hi = c - (c - a)
    return hi, a - hi


def add(x: DD, y: DD) -> DD:
    s, e = two_sum(x[0], y[0])
    t, f = two_sum(x[1], y[1])
    s, e = fast_two_sum(s, e + t)
    return fast_two_sum(s, e + f)


def add_double(x: DD, y: Array | float) -> DD:
    s, e = two_sum(x[0], y)
    return fast_two_sum(s, e + x[1])


def sub(x: DD, y: DD) -> DD:
    return add(x, neg(y))


def neg(x: DD) -> DD:
    return -x[0], -x[1]


def mul(x: DD, y: DD) -> DD:
    p, e = two_prod(x[0], y[0])
    return fast_two_sum(p, e + (x[0] * y[1] + x[1] * y[0]))


def mul_double(x: DD, y: Array | float) -> DD:
    p, e = two_prod(x[0], y)
    return fast_two_sum(p, e + x[1] * y)


def square(x: DD) -> DD:
    """x * x, as `mul` with one splitting."""
    p = x[0] * x[0]
    a1, a2 = split(x[0])
    e = ((a1 * a1 - p) + 2 * a1 * a2) + a2 * a2
    return fast_two_sum(p, e + 2 * (x[0] * x[1]))


def scale(x: DD, power_of_two: Array | float) -> DD:
    """x times a power of two: exact."""
    return x[0] * power_of_two, x[1] * power_of_two


def div(x: DD, y: DD) -> DD:
    q = x[0] / y[0]
    p, e = mul_double(y, q)
    r = ((x[0] - p) - e) + x[1]
    return fast_two_sum(q, r / y[0])


def sqrt(x: DD) -> DD:
    """Square root for x > 0."""
    s = np.sqrt(x[0])
    p, e = two_prod(s, s)
    return fast_two_sum(s, ((x[0] - p) - e + x[1]) / (s + s))


def where(condition: Array, x: DD, y: DD) -> DD:
    return np.where(condition, x[0], y[0]), np.where(condition, x[1], y[1])


def take(x: DD, index: Array) -> DD:
    """Elements by mask or by number."""
    return x[0][index], x[1][index]


def look_up(table: DD, index: Array) -> DD:
    """Entries of a table; an index that garbage operands brought outside is clamped (the result is not used)."""
    return table[0].take(index, mode="clip"), table[1].take(index, mode="clip")


def fill(result: DD, mask: Array, function: Callable[..., DD], *operands: DD) -> None:
    """Write function(operands) into `result` where `mask` holds, computing only there."""
    if mask.any():
        everywhere = mask.all()
        part = function(*(x if everywhere else take(x, mask) for x in operands))
        result[0][mask], result[1][mask] = part


def chosen(mask: Array, function: Callable[[Array], Array], x: Array, otherwise: Array | float) -> Array:
    """function(x) where `mask` holds, of float64 arrays, computed only there, and `otherwise` elsewhere."""
    if mask.all():
        return function(x)
    result = np.array(np.broadcast_to(otherwise, mask.shape))
    if mask.any():
        result[mask] = function(x[mask])
    return result


def of(x: Array) -> DD:
    """A float64 array as a pair."""
    return x, np.zeros_like(x)


def absolute(x: DD) -> DD:
    sign = np.copysign(1.0, x[0])
    return x[0] * sign, x[1] * sign


def constant(value: mpmath.mpf) -> tuple[float, float]:
    """hi and lo of an mpmath number known to at least 120 bits; the rest is below 2^-106 of it."""
    with mpmath.workprec(200):
        hi = float(value)
        return hi, float(value - hi)


def horner(coefficients: Sequence[tuple[Array | float, Array | float]], tail: Array, t: DD) -> DD:
    """c0 + t*(c1 + t*(... + t*tail)) with n pairs c0, c1, ... and a float64 tail, |t| <= 2^-6.

    A step costs 7 u^2 of t*(...) and 3 u^2 of its sum, so the result is within 2^-103 of its largest term c[k] t^k,
    plus the tail's error: 2^-52 relative, times t^n.
    """
    t1, t2 = split(t[0])
    hi, lo = coefficients[-1]
    hi, e = two_sum(hi, t[0] * tail)
    lo = lo + e
    for c_hi, c_lo in reversed(coefficients[:-1]):
        p = hi * t[0]
        h1, h2 = split(hi)
        e = (((h1 * t1 - p) + h1 * t2 + h2 * t1) + h2 * t2) + (hi * t[1] + lo * t[0])
        hi, f = two_sum(c_hi, p)
        lo = f + (e + c_lo)
    return fast_two_sum(hi, lo)
