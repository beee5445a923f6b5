"""Elementary functions of one real number that is not NaN, rounded once; the special values are those of C99 Annex F.

A ball (Arb) decides wherever the value is irrational. By Lindemann's theorem e^x is transcendental for an algebraic x
other than 0; hence so are the logarithms of algebraic numbers other than 1, and the trigonometric and hyperbolic
functions and their inverses, but at 0 or 1. The docstrings say what holds of functions that it does not cover.
"""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, frexp, inf, isinf, nan

from flint import arb

from conform.refs.exact.reals import round_real
from conform.refs.exact.rounding import round_cbrt, round_dyadic, round_number, round_ratio, round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED, Unspecified
from conform.refs.functions.powers import round_atan2


def round_at(dtype: str, function: Callable[[arb], arb], x: float) -> float:
    """`round_real` of a function of one number."""
    return round_real(dtype, lambda: function(arb(x)))


# ---- exponentials and logarithms ---------------------------------------------------------------------------------


def round_exp2(dtype: str, x: float) -> float:
    """2^x; rational only for integers (2^(p/q) in lowest terms has degree q)."""
    if abs(x) > 2000:  # beyond every format's range
        return inf if x > 0 else 0.0
    if x.is_integer():
        return round_dyadic(dtype, 1, int(x))
    return round_at(dtype, lambda ball: (ball * arb.const_log2()).exp(), x)


def round_expm1(dtype: str, x: float) -> float:
    """e^x - 1."""
    if x == 0:
        return x
    if abs(x) > 1024:  # e^1024 > 2^1024; e^-1024 is far below the distance of -1 to a midpoint
        return inf if x > 0 else -1.0
    return round_at(dtype, arb.expm1, x)


def log_limit(x: float) -> float | None:
    """What every logarithm is at 0, 1, infinity and below 0; None elsewhere."""
    if x < 0:
        return nan
    return {0.0: -inf, 1.0: 0.0, inf: inf}.get(x)


def round_log(dtype: str, x: float) -> float:
    """The natural logarithm."""
    limit = log_limit(x)
    return round_at(dtype, arb.log, x) if limit is None else limit


def round_log2(dtype: str, x: float) -> float:
    """The logarithm to base 2; rational only for powers of two (unique factorisation)."""
    limit = log_limit(x)
    if limit is not None:
        return limit
    mantissa, exponent = frexp(x)  # x = mantissa * 2^exponent, 0.5 <= mantissa < 1
    if mantissa == 0.5:
        return round_number(dtype, exponent - 1)
    return round_at(dtype, lambda ball: ball.log() / arb.const_log2(), x)


def round_log10(dtype: str, x: float) -> float:
    """The logarithm to base 10; rational only for 1, 10, 100, ...: other powers of ten are no binary numbers."""
    limit = log_limit(x)
    if limit is not None:
        return limit
    power = len(str(int(x))) - 1
    if x == 10**power:
        return round_number(dtype, power)
    return round_at(dtype, lambda ball: ball.log() / arb.const_log10(), x)


def round_log1p(dtype: str, x: float) -> float:
    """log(1 + x)."""
    if x == 0 or x == inf:
        return x
    if x <= -1:
        return -inf if x == -1 else nan
    return round_at(dtype, arb.log1p, x)


# ---- roots and quotients -----------------------------------------------------------------------------------------


def round_rsqrt(dtype: str, x: float) -> float:
    """1 / sqrt(x); of -0 it is -inf, as sqrt(-0) is -0 (IEEE 754-2019, 9.2.1, rSqrt)."""
    if x == 0:
        return copysign(inf, x)
    if x < 0 or x == inf:
        return nan if x < 0 else 0.0
    numerator, denominator = x.as_integer_ratio()
    return round_sqrt(dtype, denominator, numerator)


def round_cube_root(dtype: str, x: float) -> float:
    """The real number whose cube is x, by exact integers; of zeros and infinities themselves (C99 F.9.4.1)."""
    if x == 0 or isinf(x):
        return x
    numerator, denominator = abs(x).as_integer_ratio()
    return copysign(round_cbrt(dtype, numerator, denominator), x)


def round_reciprocal(dtype: str, x: float) -> float:
    """1 / x."""
    if x == 0 or isinf(x):
        return copysign(inf if x == 0 else 0.0, x)
    numerator, denominator = x.as_integer_ratio()
    return round_ratio(dtype, denominator, numerator)


# ---- trigonometric functions -------------------------------------------------------------------------------------


def round_cos(dtype: str, x: float) -> float:
    """The cosine of x in radians."""
    if x == 0 or isinf(x):
        return 1.0 if x == 0 else nan
    return round_at(dtype, arb.cos, x)


def round_tan(dtype: str, x: float) -> float:
    """The tangent of x in radians."""
    if x == 0 or isinf(x):
        return x if x == 0 else nan
    return round_at(dtype, arb.tan, x)


def round_asin(dtype: str, x: float) -> float:
    """The angle in [-pi/2, pi/2] whose sine is x."""
    if x == 0 or abs(x) > 1:
        return x if x == 0 else nan
    return round_at(dtype, arb.asin, x)


def round_acos(dtype: str, x: float) -> float:
    """The angle in [0, pi] whose cosine is x."""
    if x == 1 or abs(x) > 1:
        return 0.0 if x == 1 else nan
    return round_at(dtype, arb.acos, x)


def round_atan(dtype: str, x: float) -> float:
    """The angle in [-pi/2, pi/2] whose tangent is x."""
    return round_atan2(dtype, x, 1.0)


def round_sinc(dtype: str, x: float) -> float | Unspecified:
    """sin(pi x) / (pi x), and 1 at 0. sin(pi x) is algebraic and pi is not: rational only at integers (P49, P50)."""
    if isinf(x):
        return UNSPECIFIED
    if x.is_integer():
        return 1.0 if x == 0 else 0.0
    return round_at(dtype, arb.sinc_pi, x)


# ---- hyperbolic functions ----------------------------------------------------------------------------------------


def round_sinh(dtype: str, x: float) -> float:
    """(e^x - e^-x) / 2."""
    if x == 0:
        return x
    return copysign(inf, x) if abs(x) > 1024 else round_at(dtype, arb.sinh, x)  # e^1024 / 2 > 2^1024


def round_cosh(dtype: str, x: float) -> float:
    """(e^x + e^-x) / 2."""
    if x == 0:
        return 1.0
    return inf if abs(x) > 1024 else round_at(dtype, arb.cosh, x)


def round_tanh(dtype: str, x: float) -> float:
    """sinh x / cosh x."""
    if x == 0:
        return x
    return copysign(1.0, x) if abs(x) > 64 else round_at(dtype, arb.tanh, x)  # 1 - tanh 64 < 2^-183


def round_asinh(dtype: str, x: float) -> float:
    """The number whose sinh is x."""
    return x if x == 0 or isinf(x) else round_at(dtype, arb.asinh, x)


def round_acosh(dtype: str, x: float) -> float:
    """The number >= 0 whose cosh is x."""
    if x <= 1:
        return 0.0 if x == 1 else nan
    return inf if x == inf else round_at(dtype, arb.acosh, x)


def round_atanh(dtype: str, x: float) -> float:
    """The number whose tanh is x."""
    if x == 0 or abs(x) > 1:
        return x if x == 0 else nan
    return copysign(inf, x) if abs(x) == 1 else round_at(dtype, arb.atanh, x)
