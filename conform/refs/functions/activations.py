"""Sigmoid and its kin: what neural networks make of exp and log, rounded once.

None is rational at finite numbers but at 0. For sigmoid, silu and mish, rational functions of e^x, that is Lindemann's
theorem; for log(e^x + e^y) Lindemann and Weierstrass's: e^x + e^y = e^z for no algebraic x, y and z.
"""

from __future__ import annotations

from fractions import Fraction
from math import copysign, inf, isfinite, isinf, isnan, nan

from flint import arb

from conform.refs.exact.reals import exact, log_ball, round_exact, round_real
from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, Unspecified
from conform.refs.functions.elementary import log_limit, round_at


def round_sigmoid(dtype: str, x: float) -> float:
    """1 / (1 + e^-x)."""
    if x == 0:
        return 0.5
    if abs(x) > 1024:  # e^-1024 < 2^-1477
        return 1.0 if x > 0 else 0.0
    return round_at(dtype, lambda ball: 1 / (1 + (-ball).exp()), x)


def round_silu(dtype: str, x: float) -> float | Unspecified:
    """x / (1 + e^-x)."""
    if x == 0 or abs(x) > 1024:
        return _activation_limit(x)
    return round_at(dtype, lambda ball: ball / (1 + (-ball).exp()), x)


def round_mish(dtype: str, x: float) -> float | Unspecified:
    """x tanh(log(1 + e^x)); with w = e^x the tangent is (w^2 + 2 w) / (w^2 + 2 w + 2)."""
    if x == 0 or abs(x) > 1024:
        return _activation_limit(x)

    def ball() -> arb:
        w = arb(x).exp()
        return arb(x) * (w * w + 2 * w) / (w * w + 2 * w + 2)

    return round_real(dtype, ball)


def _activation_limit(x: float) -> float | Unspecified:
    """x times 1 or 0: silu and mish at zero and beyond 1024, where |x| e^-|x| < 2^-1467."""
    if x == -inf:
        return UNSPECIFIED  # P49: the limit is -0, the formula gives -inf * 0
    return -0.0 if x < 0 else x


def round_softplus(dtype: str, x: float, beta: float, threshold: float) -> float:
    """log(1 + e^(beta x)) / beta, and x itself where beta x > threshold (P48)."""
    if not (isfinite(x) and isfinite(beta)):
        return _softplus_limit(x, beta, threshold)
    if Fraction(x) * Fraction(beta) > threshold:
        return x
    if beta == 0:
        return copysign(inf, beta)  # log 2 / 0
    return round_real(dtype, lambda: _log1p_exp(arb(x) * arb(beta)) / arb(beta))


def _softplus_limit(x: float, beta: float, threshold: float) -> float:
    """softplus where x or beta is infinite, or beta NaN: log(1 + e^inf) is infinite, log(1 + e^-inf) zero."""
    scaled = x * beta
    if isnan(scaled) or scaled > threshold:
        return nan if isnan(scaled) else x
    return (inf if scaled > 0 else 0.0) / beta


def _log1p_exp(x: arb) -> arb:
    """log(1 + e^x). Where |x| > 4000, e^-4000 < 2^-5770 stands for e^-|x|: next to a double both can but tip a tie."""
    return x.max(arb(0)) + (-abs(x)).max(arb(-4000)).exp().log1p()


def round_logaddexp(dtype: str, x: float, y: float) -> float:
    """log(e^x + e^y)."""
    if isnan(x) or isnan(y):
        return nan
    lesser, greater = sorted((x, y))
    if isinf(lesser) or isinf(greater):  # P47
        return round_exact(dtype, exact(greater))  # of -0: log(e^-inf + e^-0) = log 1 = +0
    return round_real(dtype, lambda: arb(greater) + _log1p_exp(arb(lesser) - arb(greater)))


def round_logaddexp2(dtype: str, x: float, y: float) -> float:
    """log2(2^x + 2^y): x + 1 of equal numbers; else transcendental or irrational, for 1 + 2^q is 2^r with rational q
    and r of q = 0 alone."""
    if isnan(x) or isnan(y):
        return nan
    lesser, greater = sorted((x, y))
    if isinf(lesser) or isinf(greater):  # P47
        return round_exact(dtype, exact(greater))
    if x == y:
        return round_ratio(dtype, *(Fraction(x) + 1).as_integer_ratio())

    def ball() -> arb:
        power = ((arb(lesser) - arb(greater)).max(arb(-6000)) * arb.const_log2()).exp()  # 2^-6000 can but tip a tie
        return arb(greater) + power.log1p() / arb.const_log2()

    return round_real(dtype, ball)


def round_logit(dtype: str, x: Fraction) -> float:
    """log(x / (1 - x)) of 0 <= x <= 1; transcendental but at 1/2 (Lindemann)."""
    if x in (0, Fraction(1, 2), 1):
        return {0: -inf, 1: inf}.get(x, 0.0)
    return round_real(dtype, lambda: log_ball(x / (1 - x)))


def round_xlogy(dtype: str, x: float, y: float) -> float:
    """x log y, but 0 where x is 0 and y is not NaN (P51). Transcendental unless x is 0 or y is 1."""
    if isnan(x) or isnan(y):
        return nan
    if x == 0:
        return 0.0
    log_y = log_limit(y)
    if log_y is not None:
        return x * log_y  # zero, infinite or NaN, as IEEE 754 multiplies
    if isinf(x):
        return x if y > 1 else -x
    return round_real(dtype, lambda: arb(x) * arb(y).log())


def round_xlog1py(dtype: str, x: float, y: float) -> float:
    """x log(1 + y), but 0 where x is 0 and y is not NaN (P51). Transcendental unless x or y is 0."""
    if isnan(x) or isnan(y):
        return nan
    if x == 0:
        return 0.0
    if y <= -1 or y == 0 or isinf(y):
        return x * (y if y == 0 or y == inf else -inf if y == -1 else nan)
    if isinf(x):
        return x if y > 0 else -x
    return round_real(dtype, lambda: arb(x) * arb(y).log1p())
