"""The regularized incomplete gamma functions P and Q = 1 - P of positive doubles.

The smaller side comes as e^E times a factor, with a < LARGE by the series of P (DLMF 8.11.4) or the continued fraction
of Q (8.9.2), from there on by Temme's expansion (8.12.3 to 8.12.11), which is uniform in x. Beside a = 0, where Q
vanishes, Q is made of what x^a / Gamma(a + 1) and the series lack of 1.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import mpmath
import numpy as np
from mpmath import mpf

from conform.errors import Unjudged
from conform.numerics.eft import two_sum
from conform.numerics.formats import Format
from conform.numerics.functions import dd, exact, temme
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.exponential import EXP_ERROR, EXPM1_ERROR, exp, exp_scaled, expm1
from conform.numerics.functions.gamma import GAMMA_ERROR, lgamma
from conform.numerics.functions.ladder import Function, evaluate
from conform.numerics.functions.logarithm import LOG_ERROR, log
from conform.numerics.real import Real, where
from conform.numerics.rounding import round_to
from conform.numerics.scaled import Scaled

LARGE = 1024.0  # of a: from here on Temme's expansion
NEAR = 2.0  # below it the continued fraction converges slowly
TINY = 2.0**-300  # of a: below it Q is a times what it is of TINY over TINY, but for 2^-280 of it
SUM_ERROR = 2.0**-96
"""Of the series and the continued fraction: as many roundings of 2^-102 as count, of terms that fall, and what is left
out; the factor of the fraction counts its last steps alone."""
FLOAT64_ERROR = 2.0**-42  # of the same sums in doubles, some 400 roundings at most, and of the exponent's 2^-80
FAR = 2.0**400  # of x, from where on Q is nothing
FARTHEST = 1e5  # exponents beyond are not told apart
MOST_STEPS = 2.0**20  # of mpmath


class Tail(NamedTuple):
    """e^exponent factor, of P where is_lower, else of Q; `error` is the relative one of both."""

    exponent: DD
    factor: DD
    error: Array
    is_lower: Array


# The sums, in double-double or, without the rests, in doubles


def _series(a: Array, x: Array, is_fine: bool) -> DD:
    """1 + x/(a + 1) + x^2/((a + 1)(a + 2)) + ..., until nothing is added."""
    total, rest = np.ones_like(x), np.zeros_like(x)
    places, smallest = np.arange(x.size), 2.0 ** (-110 if is_fine else -56)
    term, sum_ = dd.of(np.ones_like(x)), dd.of(np.ones_like(x))
    k = 0
    while places.size:
        for _ in range(8):
            k += 1
            if is_fine:
                term = dd.mul(term, dd.div(dd.of(x), two_sum(a, np.float64(k))))
                sum_ = dd.add(sum_, term)
            else:
                term = term[0] * (x / (a + k)), term[1]
                sum_ = sum_[0] + term[0], sum_[1]
        going = term[0] > smallest * sum_[0]
        total[places], rest[places] = sum_
        a, x, places = a[going], x[going], places[going]
        term, sum_ = dd.take(term, going), dd.take(sum_, going)
    return total, rest


def _steps(a: Array, x: Array, is_fine: bool) -> Array:
    """Of the continued fraction, after which nothing changes: its error is that of e^(-4 sqrt(n x)) for a small a, and
    falls faster the more x exceeds a."""
    bits = 112.0 if is_fine else 60.0
    reach = (bits * np.log(2.0) / 4.0) ** 2
    return np.ceil(reach / x + 4.0 * np.sqrt(x) * np.minimum(1.0, 2.0 * a / x) + 12.0).astype(np.int64)


def _fraction(a: Array, x: Array, is_fine: bool) -> DD:
    """1/(x + 1 - a - 1(1 - a)/(x + 3 - a - 2(2 - a)/(x + 5 - a - ...))), from behind."""
    steps = _steps(a, x, is_fine)
    order = np.argsort(-steps, kind="stable")
    a, x, steps = a[order], x[order], steps[order]
    begin = two_sum(x, -a)
    value = dd.of(np.ones_like(x))
    value = dd.add_double(begin, 2.0 * steps + 1.0)
    for k in range(int(steps[0]), 0, -1):
        count = int(np.searchsorted(-steps, -k, side="right"))
        some = slice(0, count)
        minus, below = two_sum(a[some], -np.float64(k))
        if is_fine:
            numerator = dd.mul_double((minus, below), float(k))
            quotient = dd.div(numerator, (value[0][some], value[1][some]))
            value[0][some], value[1][some] = dd.add(
                dd.add_double((begin[0][some], begin[1][some]), 2.0 * k - 1.0), quotient
            )
        else:
            value[0][some] = begin[0][some] + (2.0 * k - 1.0) + k * minus / value[0][some]
    result = np.empty_like(x), np.zeros_like(x)
    inverse = dd.div(dd.of(np.ones_like(x)), value) if is_fine else (1.0 / value[0], result[1])
    result[0][order], result[1][order] = inverse[0], inverse[1]
    return result


# The smaller side


def _power(a: Array, x: Array) -> tuple[DD, Array]:
    """a log x - lgamma(a + 1), and its absolute error."""
    power = dd.mul_double(log(dd.of(x)), a)
    gamma, gamma_error = lgamma(two_sum(np.float64(1.0), a))
    error = np.abs(power[0]) * 2 * LOG_ERROR + np.abs(gamma[0]) * (gamma_error + GAMMA_ERROR)
    return dd.sub(power, gamma), error


def _of_series(a: Array, x: Array, is_fine: bool) -> Tail:
    power, error = _power(a, x)
    factor = _series(a, x, is_fine)
    return _tail(dd.add_double(power, -x), factor, error + SUM_ERROR + 2.0**-104 * x, np.ones(x.shape, bool))


def _of_fraction(a: Array, x: Array, is_fine: bool) -> Tail:
    power, error = _power(a, x)
    factor = dd.mul_double(_fraction(a, np.minimum(x, FAR), is_fine), a)
    return _tail(dd.add_double(power, -x), factor, error + SUM_ERROR + 2.0**-104 * x, np.zeros(x.shape, bool))


def _of_large(a: Array, x: Array, is_fine: bool) -> Tail:
    exponent, factor, error = temme.tail(a, x, is_fine)
    return _tail(exponent, factor, error, x < a)


def _tail(exponent: DD, factor: DD, error: Array, is_lower: Array) -> Tail:
    far = ~(exponent[0] > -FARTHEST)
    return Tail(dd.where(far, dd.of(np.full_like(exponent[0], -FARTHEST)), exponent), factor, error, is_lower)


def tail(a: Array, x: Array, is_fine: bool = True) -> Tail:
    """The smaller of P and Q, or one that is not much larger than the other."""
    parts = np.zeros((5, x.size))
    is_lower = np.zeros(x.size, bool)
    is_large = a >= LARGE
    by_series = ~is_large & (x < np.maximum(a + 1.0, NEAR))
    for mask, kernel in (
        (is_large, _of_large), (by_series, _of_series), (~(is_large | by_series), _of_fraction),
    ):  # fmt: skip
        if mask.any():
            own = kernel(a[mask], x[mask], is_fine)
            parts[:, mask] = *own.exponent, *own.factor, own.error
            is_lower[mask] = own.is_lower
    return Tail((parts[0], parts[1]), (parts[2], parts[3]), parts[4], is_lower)


def _beside_no_shape(a: Array, x: Array) -> tuple[DD, Array]:
    """(Q, its relative error) for a < 1 and x < 2: 1 - (1 + p)(1 + s), p what x^a / Gamma(a + 1) is more than 1, and s
    the sum of (-x)^n a / (n! (a + n)), n >= 1."""
    power, power_error = _power(a, x)
    more = expm1(power)
    s = dd.mul_double(_alternating(a, x), a)
    total = dd.neg(dd.add(dd.add(more, s), dd.mul(more, s)))
    lost = np.abs(more[0]) * EXPM1_ERROR + power_error * (1.0 + np.abs(more[0])) + a * 2.0**-97
    return total, lost * 1.25 / np.abs(total[0])


def _alternating(a: Array, x: Array) -> DD:
    """The sum of (-x)^n / (n! (a + n)), n >= 1, x < 2: the terms are below 2, and the 40th is below 2^-119."""
    total, power = dd.of(np.zeros_like(x)), dd.of(np.ones_like(x))
    for n in range(1, 41):
        power = dd.div(dd.mul_double(power, -x), dd.of(np.full_like(x, float(n))))
        total = dd.add(total, dd.div(power, two_sum(a, np.float64(n))))
    return total


# The two functions


def _is_beside_no_shape(is_upper: bool, a: Array, x: Array) -> Array:
    return (a < 1.0) & (x < NEAR) & is_upper


def _double_double(is_upper: bool, a_pair: DD, x_pair: DD) -> tuple[DD, Array]:
    a, x = a_pair[0], x_pair[0]
    own = tail(a, x)
    value = dd.mul(exp(own.exponent), own.factor)
    error = own.error + 2 * EXP_ERROR
    mine = own.is_lower != is_upper
    rest = dd.add_double(dd.neg(value), 1.0)
    error = np.where(mine, error, error * np.abs(value[0]) / np.abs(rest[0]) + 2.0**-103)
    value = dd.where(mine, value, rest)
    beside = _is_beside_no_shape(is_upper, a, x)
    if beside.any():
        some, its_error = _beside_no_shape(a[beside], x[beside])
        value[0][beside], value[1][beside], error[beside] = *some, np.where(a[beside] < TINY, np.inf, its_error)
    return value, error


def _scaled(is_upper: bool, a: Array, x: Array) -> Scaled:
    """The tail with its exponent apart; what is left of 1 is no end of the range."""
    own = tail(a, x)
    half, n = exp_scaled(dd.scale(own.exponent, 0.5))
    power = Scaled.of(*dd.square(half), 3 * EXP_ERROR + own.error, 2 * n)
    factor = Real(*own.factor, np.zeros_like(x))
    result = power.times(factor).known_where((own.is_lower != is_upper) & (own.exponent[0] > -FARTHEST))
    gone = Scaled.of(np.ones_like(x), np.zeros_like(x), 0.5, -4000).known_where(own.exponent[0] <= -FARTHEST / 50)
    result = gone.known_where(own.is_lower != is_upper).or_else(result)
    return _of_tiny_shape(a, x).known_where(_is_beside_no_shape(is_upper, a, x) & (a < TINY)).or_else(
        result.known_where(~_is_beside_no_shape(is_upper, a, x))
    )


def _of_tiny_shape(a: Array, x: Array) -> Scaled:
    """Q is a E1(x) there."""
    near = np.where(x < NEAR, x, 1.0)
    value, error = _beside_no_shape(np.full_like(x, TINY), near)
    significand, exponent = np.frexp(a)
    return Scaled.of(*dd.mul_double(dd.scale(value, 2.0**300), significand), error + 2.0**-100, exponent)


def _float64(is_upper: bool, a: Array, x: Array) -> Array:
    own = tail(a, x, is_fine=False)
    value = np.exp(own.exponent[0]) * (1.0 + own.exponent[1]) * own.factor[0]
    value = np.where(own.is_lower != is_upper, value, 1.0 - value)
    beside = _is_beside_no_shape(is_upper, a, x)
    if beside.any():
        value[beside] = _beside_no_shape(a[beside], x[beside])[0][0]
    return value


def _mp(is_upper: bool, a: mpf, x: mpf) -> mpf:
    """By the series, with as many more bits as 1 - P loses."""
    if max(a, x) > MOST_STEPS:
        raise Unjudged(f"the incomplete gamma function of {a} and {x} lies beside a rounding boundary")
    lost = 1.5 * max(x - a, 0) + max(-mpmath.mag(a), 0)  # Q is less than a E1(x) beside a = 0
    with mpmath.extraprec(int(120 + lost) if is_upper else 40):
        lower = _mp_series(a, x)
        return 1 - lower if is_upper else lower


def _mp_series(a: mpf, x: mpf) -> mpf:
    total, term, k = mpf(1), mpf(1), 0
    while mpmath.mag(term) > mpmath.mag(total) - mpmath.mp.prec or a + k < x:
        k += 1
        term *= x / (a + k)
        total += term
    return total * mpmath.exp(a * mpmath.log(x) - x - mpmath.loggamma(a + 1))


_SENTINELS = ((0.5, 0.25), (1.5, 2.5), (3.0, 0.1), (0.01, 1.5), (0.25, 7.0), (20.0, 19.0), (20.0, 22.5), (150.0, 190.0),
              (600.0, 520.0), (1e-10, 3.5), (2000.0, 2010.0), (5000.0, 4800.0))  # fmt: skip


def _row(name: str, is_upper: bool) -> Function:
    return Function(
        name, partial(_float64, is_upper), FLOAT64_ERROR, partial(_double_double, is_upper), partial(_mp, is_upper),
        exact.nowhere, _SENTINELS, partial(_scaled, is_upper), lambda a, x: np.zeros(x.shape, bool),
    )  # fmt: skip


LOWER, UPPER = _row("igamma", False), _row("igammac", True)


def _limits(is_upper: bool, a: Array, x: Array) -> Array:
    """Where a or x is 0 or infinite; NaN of negative ones, of two zeros, and of two infinities."""
    is_lower_one = np.where((a == 0) & (x > 0) | np.isinf(x) & np.isfinite(a), 1.0, np.nan)
    lower = np.where((x == 0) & (a > 0) | np.isinf(a) & np.isfinite(x), 0.0, is_lower_one)
    lower = np.where((a < 0) | (x < 0) | np.isnan(a) | np.isnan(x), np.nan, lower)
    return 1.0 - lower if is_upper else lower


def apply(is_upper: bool, fmt: Format, a: Array, x: Array) -> tuple[Array, Real]:
    """P(a, x), or Q: (value in `fmt.storage`, the real numbers it rounds), as `functions.apply`."""
    regular = (a > 0) & (x > 0) & np.isfinite(a) & np.isfinite(x)
    if regular.all():
        return evaluate(UPPER if is_upper else LOWER, fmt, (a, x))
    with np.errstate(all="ignore"):
        limits = _limits(is_upper, a, x)
    value, real = evaluate(UPPER if is_upper else LOWER, fmt, (np.where(regular, a, 1.0), np.where(regular, x, 1.0)))
    return np.where(regular, value, round_to(fmt, limits)).astype(fmt.storage), where(regular, real, limits)
