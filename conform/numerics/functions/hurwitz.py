"""The Hurwitz zeta function of doubles s > 1 and q, and the polygamma functions, (-1)^(n+1) n! zeta(n + 1, x).

For q > 0 it is a power of q times a sum of terms and what follows them by Euler and Maclaurin (DLMF 25.11.28); for
q < 0 and an integer s, with f = q - floor q,
zeta(s, f) + (-1)^s (zeta(s, 1 - f) - zeta(s, 1 - q)): the terms that are negative
powers stand in the difference.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import factorial

import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.eft import two_sum
from conform.numerics.formats import Format
from conform.numerics.functions import dd, exact
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.exponential import EXP_ERROR, exp, exp_scaled
from conform.numerics.functions.ladder import Function, evaluate
from conform.numerics.functions.logarithm import LOG1P_ERROR, LOG_ERROR, log, log1p
from conform.numerics.real import Real, where
from conform.numerics.rounding import round_to
from conform.numerics.scaled import Scaled

CORRECTIONS = 24  # terms of Euler and Maclaurin at most; the first one left out bounds the error
SHIFTED = 18.0  # the least q + N from which they are used, and 0.8 s
GONE = 84.0  # e^-84 < 2^-121
CANCELLED = 8.0  # times as large as their sum the terms below 0 may be in doubles
FLOAT64_ERROR = 2.0**-41
"""Of doubles: at most 60 terms, whose exponents below 84 are within 2^-50 of themselves, and corrections that fall."""
FAR = 2.0**300  # of q: from here on the integral alone counts, or nothing does
LARGEST_EXPONENT = 1e300

Parts = tuple[DD, DD, Array]  # (E, F, relative error): the number is e^E F


@cache
def _coefficients() -> list[tuple[float, float]]:
    """B_2j / (2j)!, j >= 1"""
    with mpmath.workprec(300):
        return [dd.constant(mpmath.bernoulli(2 * j) / factorial(2 * j)) for j in range(1, CORRECTIONS + 2)]


def _counts(s: Array, q: Array) -> tuple[Array, Array]:
    """How many terms are summed, and whether what follows them is nothing beside the first."""
    with np.errstate(all="ignore"):
        alone = np.ceil(q * np.expm1(GONE / s)) + 1.0
        shift = np.maximum(np.ceil(np.maximum(SHIFTED, 0.8 * s) - q), 0.0)
    is_alone = alone <= np.maximum(shift, 1.0)
    return np.where(is_alone, alone, shift).astype(np.int64), is_alone


def positive(s: Array, q: DD, is_fine: bool) -> Parts:
    """zeta(s, q) of q > 0, s > 1: with q^(1 - s) or, for q < 1, q^-s taken out."""
    is_far, is_high = q[0] >= FAR, q[0] >= 1.0
    near = dd.where(is_far, dd.of(np.full_like(s, FAR)), q)
    factor, lost = _factor(np.where(is_far, 2.0, s), near, is_fine)
    if is_high.any():
        factor = dd.where(is_high, dd.div(factor, dd.where(is_high, near, dd.of(np.ones_like(s)))), factor)
        lost = np.where(is_high, lost / near[0], lost)
    if is_far.any():
        less = two_sum(np.minimum(s, 2.0**400), np.float64(-1.0))  # beyond, nothing is left of the power
        factor = dd.where(is_far, dd.div(dd.of(np.ones_like(s)), less), factor)
        lost = np.where(is_far, factor[0] * 2.0**-103, lost)
    exponent = _times(s, is_high, log(q))
    return exponent, factor, lost / np.abs(factor[0]) * 1.01 + 2.0**-97 + np.abs(exponent[0]) * 2 * LOG_ERROR


def _factor(s: Array, q: DD, is_fine: bool) -> tuple[DD, Array]:
    """q^s zeta(s, q) and its absolute error: of places in an order in which ever fewer have another term."""
    counts, is_alone = _counts(s, q[0])
    order = np.argsort(-counts, kind="stable")
    s, q, counts, is_alone = s[order], dd.take(q, order), counts[order], is_alone[order]
    factor, lost = _sum(s, q, counts, is_fine)
    follow = np.flatnonzero(~is_alone)
    if follow.size:
        rest, its_error = _corrected(s[follow], dd.take(q, follow), counts[follow], is_fine)
        factor[0][follow], factor[1][follow] = dd.add(dd.take(factor, follow), rest)
        lost[follow] += its_error
    result = np.empty((3, s.size))
    result[:, order] = *factor, lost
    return (result[0], result[1]), result[2]


def _times(s: Array, is_high: Array, logarithm: DD) -> DD:
    """(1 - s) or -s times the logarithm; 1 - s is no double where s is large."""
    power = two_sum(np.where(is_high, 1.0, 0.0), -s)
    with np.errstate(all="ignore"):
        product = dd.mul(power, logarithm)
        plain = np.clip(power[0] * logarithm[0], -LARGEST_EXPONENT, LARGEST_EXPONENT)
    return dd.where((np.abs(s) < 2.0**900) & np.isfinite(product[1]), product, dd.of(plain))


def _ratio(k: float | Array, s: Array, q: DD, is_fine: bool) -> tuple[DD, Array]:
    """(q / (q + k))^s and its relative error."""
    if not is_fine:
        return dd.of(np.exp(-s * np.log1p(k / q[0]))), np.zeros_like(s)
    power = dd.mul_double(log1p(dd.div(dd.of(np.broadcast_to(np.float64(k), s.shape)), q)), -s)
    return exp(dd.where(power[0] > -2 * GONE, power, dd.of(np.full_like(s, -2 * GONE)))), np.minimum(
        np.abs(power[0]) * 2 * LOG1P_ERROR + EXP_ERROR, 1.0
    )


def _sum(s: Array, q: DD, counts: Array, is_fine: bool) -> tuple[DD, Array]:
    """1 + (q/(q + 1))^s + ..., so many terms each, fewer from one place to the next; and the error."""
    total, lost = dd.of(np.where(counts > 0, 1.0, 0.0)), np.zeros_like(s)
    for k in range(1, int(counts.max(initial=0))):
        some = slice(0, int(np.searchsorted(-counts, -k, side="left")))
        term, error = _ratio(float(k), s[some], (q[0][some], q[1][some]), is_fine)
        own = total[0][some], total[1][some]
        total[0][some], total[1][some] = dd.add(own, term) if is_fine else (own[0] + term[0], own[1])
        lost[some] += term[0] * error
    return total, lost


def _corrected(s: Array, q: DD, counts: Array, is_fine: bool) -> tuple[DD, Array]:
    """(q/w)^s (w/(s - 1) + 1/2 + B_2/2! s/w + B_4/4! s (s + 1)(s + 2)/w^3 + ...), w = q + N; and the error."""
    w = dd.add_double(q, counts.astype(np.float64))
    one = dd.of(np.ones_like(s))
    term = dd.div(dd.of(s), w)
    inverse = dd.div(one, dd.square(dd.where(w[0] < 2.0**400, w, dd.of(np.full_like(s, 2.0**400)))))
    total = dd.add_double(dd.div(w, two_sum(s, np.float64(-1.0))), 0.5)
    smallest = np.full_like(s, np.inf)
    going = np.ones(s.shape, bool)
    for j, (hi, lo) in enumerate(_coefficients(), 1):
        added = dd.mul(term, (np.float64(hi), np.float64(lo)))
        smallest = np.where(going, np.abs(added[0]), smallest)
        going &= smallest > 2.0**-112 * total[0]
        if not going.any() or j > CORRECTIONS:
            break
        total = dd.where(going, dd.add(total, added), total)
        term = dd.mul(dd.mul(term, inverse), dd.mul(two_sum(s, np.float64(2 * j - 1)), two_sum(s, np.float64(2 * j))))
    power, error = _ratio(counts.astype(np.float64), s, q, is_fine)
    value = dd.mul(power, total)
    return value, np.abs(value[0]) * (error + 2.0**-100) + power[0] * smallest


# Either sign


def _both(s: Array, q: Array, is_fine: bool) -> tuple[Parts, Array]:
    """The parts, and how much larger the terms are that are added for q < 0 than what is left."""
    exponent, factor = (np.empty_like(q), np.empty_like(q)), (np.empty_like(q), np.empty_like(q))
    error, larger = np.empty_like(q), np.ones_like(q)
    above = q > 0
    for mask, kernel in ((above, _above), (~above, _below)):
        if mask.any():
            own, larger[mask] = kernel(s[mask], q[mask], is_fine)
            (exponent[0][mask], exponent[1][mask]), (factor[0][mask], factor[1][mask]) = own[:2]
            error[mask] = own[2]
    return (exponent, factor, error), larger


def _above(s: Array, q: Array, is_fine: bool) -> tuple[Parts, Array]:
    return positive(s, dd.of(q), is_fine), np.ones_like(q)


def _below(s: Array, q: Array, is_fine: bool) -> tuple[Parts, Array]:
    floor, sign = np.floor(q), np.where(np.mod(s, 2.0) == 0, 1.0, -1.0)
    places = two_sum(q, -floor), two_sum(floor + 1.0, -q), two_sum(np.float64(1.0), -q)
    parts = [positive(s, place, is_fine) for place in places]
    top = parts[1][0]
    top = dd.where(parts[0][0][0] > top[0], parts[0][0], top)
    total, lost, size = dd.of(np.zeros_like(q)), np.zeros_like(q), np.zeros_like(q)
    cancels = (2.0 * q == np.floor(2.0 * q)) & (sign < 0)  # half way between integers, all but the last
    top = dd.where(cancels, parts[2][0], top)
    first = np.where(cancels, 0.0, 1.0)
    for (exponent, factor, error), by in zip(parts, (first, sign * first, -sign), strict=True):
        less = dd.sub(exponent, top)
        term = dd.scale(dd.mul(exp(dd.where(less[0] < 1.0, less, dd.of(np.zeros_like(q)))), factor), by)
        total = dd.add(total, term)
        lost, size = lost + np.abs(term[0]) * (error + EXP_ERROR * 2), size + np.abs(term[0])
    return (top, total, lost / np.abs(total[0])), size / np.abs(total[0])


def zeta(s: Array, q: Array, times: DD) -> tuple[DD, Array]:
    """(zeta(s, q) times a pair, its relative error)."""
    (exponent, factor, error), _ = _both(s, q, True)
    return dd.mul(dd.mul(exp(exponent), factor), times), error + 2 * EXP_ERROR


def zeta_float64(s: Array, q: Array, times: float) -> Array:
    (exponent, factor, _), _ = _both(s, q, False)
    return np.exp(exponent[0]) * (1.0 + np.clip(exponent[1], -0.5, 0.5)) * factor[0] * times


def _unsure(s: Array, q: Array) -> Array:
    """Where the terms below 0 cancel."""
    mask = q < 0
    if mask.any():
        mask[mask] = ~(_below(s[mask], q[mask], False)[1] < CANCELLED)
    return mask


def _scaled(s: Array, q: Array, times: Scaled) -> Scaled:
    """With the exponent apart; what is far beyond every format keeps its sign."""
    (exponent, factor, error), _ = _both(s, q, True)
    half, n = exp_scaled(dd.scale(exponent, 0.5))
    is_near = np.abs(exponent[0]) < 2500.0
    power = Scaled.of(*dd.square(half), 3 * EXP_ERROR + error, 2 * n).known_where(is_near)
    far = Scaled.of(np.sign(factor[0]), np.zeros_like(q), 2.0**-20, np.where(exponent[0] < 0, -3500, 3500))
    return power.product(Scaled.of(*factor, 2.0**-104)).or_else(far.known_where(~is_near)).product(times)


def _mp(s: mpf, q: mpf) -> mpf:
    """The terms that are negative powers cancel beside zeros: 100 bits more; mpmath counts its bits from 1 on."""
    with mpmath.extraprec(100 + int(min(s * mpmath.log(abs(q) + 2, 2), 4000))):
        if q > 0:
            return mpmath.zeta(s, q)
        floor = mpmath.floor(q)
        sign = 1 if s % 2 == 0 else -1
        if sign < 0 and 2 * q == mpmath.floor(2 * q):
            return mpmath.zeta(s, 1 - q)
        return mpmath.zeta(s, q - floor) + sign * (mpmath.zeta(s, floor + 1 - q) - mpmath.zeta(s, 1 - q))


_ONE = (np.float64(1.0), np.float64(0.0))


def _of_one(x: Array) -> Scaled:
    return Scaled.exact(np.ones_like(x))


_SENTINELS = ((1.5, 0.25), (2.0, 1.0), (1.001, 3.5), (7.25, 0.75), (30.0, 2.5), (3.0, 100.5), (2.0, -0.5), (3.0, -3.25),
              (2.5, 1e6), (90.0, 0.75))  # fmt: skip
ZETA = Function(
    "zeta", lambda s, q: zeta_float64(s, q, 1.0), FLOAT64_ERROR, lambda s, q: zeta(s[0], q[0], _ONE), _mp,
    exact.nowhere, _SENTINELS, lambda s, q: _scaled(s, q, _of_one(q)), lambda s, q: np.zeros(q.shape, bool),
    _unsure,
)  # fmt: skip


def _settled(s: Array, q: Array) -> tuple[Array, Array]:
    """Where zeta(s, q) is no finite number of a formula, and what it is: infinite at s = 1 and at the poles, 0 of an
    infinite q, NaN where a power of a negative number is not real. Of s < 1 nothing is said."""
    is_pole = (q <= 0) & (q == np.floor(q)) & np.isfinite(q)
    is_real = (q > 0) | (s == np.floor(s)) & np.isfinite(s)
    value = np.where(q == np.inf, np.where(s > 1, 0.0, np.nan), np.nan)
    value = np.where((s > 1) & is_pole | (s == 1) & (q != -np.inf), np.inf, value)
    value = np.where(np.isnan(s) | np.isnan(q) | (s < 1) | ~is_real & ~is_pole & (s != 1), np.nan, value)
    regular = (s > 1) & np.isfinite(s) & np.isfinite(q) & is_real & ~is_pole
    return ~regular, value


def apply_zeta(fmt: Format, s: Array, q: Array) -> tuple[Array, Real]:
    """(value in `fmt.storage`, the real numbers it rounds), as `functions.apply`."""
    with np.errstate(all="ignore"):
        settled, limits = _settled(s, q)
    return _evaluated(ZETA, fmt, settled, limits, np.where(settled, 2.0, s), np.where(settled, 1.0, q))


def _evaluated(
    row: Function, fmt: Format, settled: Array, limits: Array, *operands: Array
) -> tuple[Array, Real]:
    value, real = evaluate(row, fmt, operands)
    if not settled.any():
        return value, real
    return np.where(settled, round_to(fmt, limits), value).astype(fmt.storage), where(settled, limits, real)


@lru_cache(maxsize=256)
def polygamma_row(n: int) -> Function:
    """The row of the polygamma function of order n >= 1."""
    sign = 1 if n % 2 else -1
    _, exponent = np.frexp(float(factorial(n))) if n <= 170 else (np.float64(0), 0)
    with mpmath.workprec(2000):
        pair = dd.constant(mpf(sign * factorial(n)) / mpf(2) ** int(exponent))
    times = (np.float64(pair[0]), np.float64(pair[1]))
    power = float(np.ldexp(1.0, exponent))

    def order(x: Array) -> Array:
        return np.full_like(x, n + 1.0)

    def fine(x: DD) -> tuple[DD, Array]:
        value, error = zeta(order(x[0]), x[0], dd.scale(times, power))
        return value, error + 2.0**-103

    def factor(x: Array) -> Scaled:
        return Scaled.of(np.full_like(x, times[0]), np.full_like(x, times[1]), 2.0**-104, int(exponent))

    sentinels = tuple((x,) for x in (0.25, 1.0, 2.5, 7.75, 40.5, -0.5, -1.25))
    return Function(
        f"polygamma({n})", lambda x: zeta_float64(order(x), x, times[0] * power), FLOAT64_ERROR, fine,
        lambda x: sign * mpmath.factorial(n) * _mp(mpf(n + 1), x), exact.nowhere, sentinels,
        lambda x: _scaled(order(x), x, factor(x)), lambda x: np.zeros(x.shape, bool),
        lambda x: _unsure(order(x), x),
    )  # fmt: skip


def apply_polygamma(n: int, fmt: Format, x: Array) -> tuple[Array, Real]:
    """The order is at least 1; infinite at the poles, +inf of odd orders, of even ones the limit from the side that the
    sign of a zero names, else NaN; 0 at infinity, NaN at minus infinity."""
    is_pole = (x <= 0) & (x == np.floor(x)) & np.isfinite(x)
    at_pole = np.where(n % 2 == 1, np.inf, np.where(x == 0, np.copysign(np.inf, -x), np.nan))
    limits = np.where(x == np.inf, 0.0 if n % 2 else -0.0, np.where(is_pole, at_pole, np.nan))
    settled = is_pole | ~np.isfinite(x)
    return _evaluated(polygamma_row(n), fmt, settled, limits, np.where(settled, 1.0, x))
