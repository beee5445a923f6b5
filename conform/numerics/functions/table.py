"""The correctly rounded functions, one row each: name -> rungs."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import gmpy2
import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.functions import (
    activations,
    bessel,
    error,
    exact,
    exponential,
    gamma,
    hyperbolic,
    inverse_error,
    inverse_trigonometric,
    logarithm,
    powers,
    range_ends,
    trigonometric,
)
from conform.numerics.functions.dd import DD, Array
from conform.numerics.functions.ladder import Function
from conform.numerics.functions.range_ends import constant_times, either, nearly_itself, odd, one_sided
from conform.numerics.scaled import Scaled

NUMPY_ERROR = 2.0**-49
"""What is relied on of numpy's float64 functions: 8 ulp at worst. Its SIMD kernels promise 4 ulp, C libraries about 1;
the ladder checks 4 ulp on the sentinels. Operands have at most 24 bits there: cos(6381956970095103 * 2^797), the double
next to a multiple of pi/2, is off by 2^-49.1 in glibc 2.36; 16367173 * 2^72 is the closest of 24 bits."""
CLASS_ONLY = float("inf")
"""A float64 formula that is right about NaN and infinity alone."""

FAR, FAR_EXPONENT = 1000, 100_000
"""Where a computed argument of erfc or exp is cut off: its rounding error would count that often, and e^-100000 times
any double rounds to zero in every format."""

UNIT = tuple((s * x,) for x in (2.0**-30, 0.1, 0.4999, 0.7071, 0.9375, 1 - 2.0**-20) for s in (1.0, -1.0))
LINE = UNIT + tuple((s * x,) for x in (1.0, 1.5, 3.1, 7.3, 20.7, 85.5, 700.1) for s in (1.0, -1.0))
ANGLES = LINE + ((3.141592653589793,), (11.0,), (1.57079637,), (16367173 * 2.0**72,), (-(2.0**120),))
POSITIVE = tuple((x,) for x in (1e-300, 1e-38, 2.0**-30, 0.3, 0.99999, 1.00001, 1.4142, 2.5, 9.99, 1e10, 1e38, 1e300))
PAIRS = (
    (1.5, 2.5),
    (0.1, 30.3),
    (3.0, 4.00001),
    (1e-20, 1.25),
    (7.7, 0.3),
    (1e150, 1.9),
    (2.0**-30, 5.5),
    (0.99999, 777.7),
)


def _at(*points: float) -> Callable[[Array], Array]:
    return lambda x: np.logical_or.reduce([x == point for point in points])


_FUNCTIONS: dict[str, Function] = {}


def _define(
    name: str,
    float64: Callable[..., Array],
    double_double: Callable[..., object],
    error_bound: float | None,
    mp: Callable[..., mpf],
    exact_cases: Callable[..., exact.Exact],
    sentinels: tuple[tuple[float, ...], ...],
    float64_error: float = NUMPY_ERROR,
    ends: Callable[..., Scaled] | None = None,
    poles: Callable[..., Array] | None = None,
    unsure: Callable[[Array], Array] | None = None,
) -> None:
    """Add a row; `error_bound` None: the kernel returns its own beside the value. ends: the function where float64's
    range ends; poles: those at finite operands, None: a function of one operand has none; unsure: where float64_error
    is missed; None where there are none."""

    def with_bound(*operands: DD) -> tuple[DD, Array | float]:
        return double_double(*operands), error_bound

    rung = double_double if error_bound is None else with_bound
    if poles is None and len(sentinels[0]) == 1:
        poles = _at()
    _FUNCTIONS[name] = Function(name, float64, float64_error, rung, mp, exact_cases, sentinels, ends, poles, unsure)


# Exponentials and logarithms


def _mp_exp2(x: mpf) -> mpf:
    return mpf(2) ** min(max(x, -FAR_EXPONENT), FAR_EXPONENT)


_define(
    "exp", np.exp, exponential.exp, exponential.EXP_ERROR, mpmath.exp, exact.values({0.0: 1.0}), LINE,
    ends=range_ends.exp,
)  # fmt: skip
_define("exp2", np.exp2, exponential.exp2, exponential.EXP_ERROR, _mp_exp2, exact.exp2, LINE, ends=range_ends.exp2)
_define(
    "expm1", np.expm1, exponential.expm1, exponential.EXPM1_ERROR, mpmath.expm1, exact.odd_zero, LINE,
    ends=either(one_sided(1.0, 1.0), range_ends.exp_far_up),
)  # fmt: skip
_LOG = logarithm.LOG_ERROR
_define(
    "log", np.log, logarithm.log, _LOG, mpmath.log, exact.values({1.0: 0.0, 0.0: -np.inf}), POSITIVE, poles=_at(0.0),
)  # fmt: skip
_define(
    "log2", np.log2, logarithm.log2, 2 * _LOG, lambda x: mpmath.log(x) / mpmath.log(2), exact.log2, POSITIVE,
    poles=_at(0.0),
)  # fmt: skip
_define(
    "log10", np.log10, logarithm.log10, 2 * _LOG, lambda x: mpmath.log(x) / mpmath.log(10), exact.log10, POSITIVE,
    poles=_at(0.0),
)  # fmt: skip
_define(
    "log1p", np.log1p, logarithm.log1p, logarithm.LOG1P_ERROR, mpmath.log1p, exact.values({0.0: 0.0, -1.0: -np.inf}),
    POSITIVE + UNIT, ends=one_sided(1.0, -1.0), poles=_at(-1.0),
)  # fmt: skip

# Trigonometric

_define("sin", np.sin, trigonometric.sin, None, mpmath.sin, exact.odd_zero, ANGLES, ends=odd(1.0, -1.0))
_define("cos", np.cos, trigonometric.cos, None, mpmath.cos, exact.values({0.0: 1.0}), ANGLES)
_define("tan", np.tan, trigonometric.tan, None, mpmath.tan, exact.odd_zero, ANGLES, ends=odd(1.0, 1.0))
_define(
    "sinc", trigonometric.sinc_float64, trigonometric.sinc, None, mpmath.sincpi, exact.sinc, LINE[:12],
    ends=range_ends.sinc,
)  # fmt: skip
_ASIN = inverse_trigonometric.ASIN_ERROR
_define("asin", np.arcsin, inverse_trigonometric.asin, _ASIN, mpmath.asin, exact.odd_zero, UNIT, ends=odd(1.0, 1.0))
_define("acos", np.arccos, inverse_trigonometric.acos, _ASIN, mpmath.acos, exact.values({1.0: 0.0}), UNIT)
_define(
    "atan", np.arctan, inverse_trigonometric.atan, inverse_trigonometric.ATAN_ERROR, mpmath.atan, exact.odd_zero,
    LINE, ends=either(odd(1.0, -1.0), range_ends.quarter_turn),
)  # fmt: skip
_define("atan2", np.arctan2, inverse_trigonometric.atan2, None, mpmath.atan2, exact.atan2, PAIRS, ends=range_ends.atan2)

# Hyperbolic

_HYPERBOLIC, _INVERSE = hyperbolic.HYPERBOLIC_ERROR, hyperbolic.INVERSE_ERROR
_define(
    "sinh", np.sinh, hyperbolic.sinh, _HYPERBOLIC, mpmath.sinh, exact.odd_zero, LINE,
    ends=either(odd(1.0, 1.0), range_ends.half_exp_odd),
)  # fmt: skip
_define(
    "cosh", np.cosh, hyperbolic.cosh, _HYPERBOLIC, mpmath.cosh, exact.values({0.0: 1.0}), LINE,
    ends=range_ends.half_exp,
)  # fmt: skip
_define("tanh", np.tanh, hyperbolic.tanh, _HYPERBOLIC, mpmath.tanh, exact.odd_zero, LINE, ends=odd(1.0, -1.0))
_define(
    "asinh", np.arcsinh, hyperbolic.asinh, _INVERSE, mpmath.asinh, exact.odd_zero, LINE + POSITIVE,
    ends=odd(1.0, -1.0),
)  # fmt: skip
_define("acosh", np.arccosh, hyperbolic.acosh, _INVERSE, mpmath.acosh, exact.values({1.0: 0.0}), POSITIVE[5:])
_define(
    "atanh", np.arctanh, hyperbolic.atanh, _INVERSE, mpmath.atanh,
    exact.values({0.0: 0.0, 1.0: np.inf, -1.0: -np.inf}), UNIT, ends=odd(1.0, 1.0), poles=_at(-1.0, 1.0),
)  # fmt: skip

# Normal distribution

_ERF = error.ERF_FLOAT64_ERROR


def _mp_erfc(x: mpf) -> mpf:
    return mpmath.erfc(min(x, FAR))


_define(
    "erf", error.erf_float64, error.erf, error.ERF_ERROR, mpmath.erf, exact.odd_zero, LINE, _ERF,
    ends=constant_times("2/sqrt(pi)"),
)  # fmt: skip
_define(
    "erfc", error.erfc_float64, error.erfc, None, _mp_erfc, exact.values({0.0: 1.0}), LINE[:20], _ERF,
    ends=range_ends.erfc,
)  # fmt: skip


def _mp_ndtr(x: mpf) -> mpf:
    return mpmath.erfc(-max(x, -FAR) / mpmath.sqrt(2)) / 2


_define(
    "ndtr", error.ndtr_float64, error.ndtr, None, _mp_ndtr, exact.values({0.0: 0.5}), LINE[:20], 2 * _ERF,
    ends=range_ends.ndtr,
)  # fmt: skip
_define(
    "gelu", error.gelu_float64, error.gelu, None, lambda x: x * _mp_ndtr(x), exact.odd_zero, LINE[:20], 2 * _ERF,
    ends=either(either(one_sided(0.5, 1.0), range_ends.gelu), nearly_itself(-1.0)),
)  # fmt: skip


def _mp_gelu_tanh(x: mpf) -> mpf:
    two_u = mpmath.sqrt(8 / mpmath.pi) * (x + x**3 * 44715 / 10**6)
    return x / (1 + mpmath.exp(-max(two_u, -FAR_EXPONENT)))


_define(
    "gelu_tanh", activations.gelu_tanh_float64, activations.gelu_tanh, None, _mp_gelu_tanh, exact.odd_zero,
    LINE[:20], activations.GELU_TANH_FLOAT64_ERROR, ends=either(one_sided(0.5, 1.0), range_ends.gelu_tanh),
)  # fmt: skip

# Activations


def _mp_sigmoid(x: mpf) -> mpf:
    return 1 / (1 + mpmath.exp(-x))


def _mp_softplus(x: mpf) -> mpf:
    return mpmath.log1p(mpmath.exp(-abs(x))) + max(x, 0)


def _mp_mish(x: mpf) -> mpf:
    w = mpmath.exp(x)
    return x * w * (w + 2) / (w * (w + 2) + 2)


def _mp_logaddexp(x: mpf, y: mpf) -> mpf:
    """The sum may cancel to nothing: the precision grows by what it lost."""
    larger, tail = max(x, y), mpmath.log1p(mpmath.exp(-abs(x - y)))
    lost = max(0, -mpmath.mag((larger + tail) / (abs(larger) + tail))) if larger + tail else mpmath.mp.prec
    with mpmath.extraprec(lost + 10):
        return max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y)))


_LOGISTIC, _SOFTPLUS = activations.LOGISTIC_ERROR, activations.SOFTPLUS_ERROR
_define(
    "sigmoid", activations.sigmoid_float64, activations.sigmoid, _LOGISTIC, _mp_sigmoid, exact.values({0.0: 0.5}),
    LINE, ends=range_ends.exp_far_down,
)  # fmt: skip
_define(
    "silu", activations.silu_float64, activations.silu, _LOGISTIC, lambda x: x * _mp_sigmoid(x), exact.odd_zero,
    LINE, ends=either(either(one_sided(0.5, 1.0), range_ends.x_exp_far_down), nearly_itself(-1.0)),
)  # fmt: skip
_define(
    "softplus", activations.softplus_float64, activations.softplus, _SOFTPLUS, _mp_softplus, exact.nowhere, LINE,
    ends=either(range_ends.exp_far_down, nearly_itself(1.0)),
)  # fmt: skip
_define(
    "mish", activations.mish_float64, activations.mish, _LOGISTIC, _mp_mish, exact.odd_zero, LINE,
    ends=either(either(constant_times("3/5"), range_ends.x_exp_far_down), nearly_itself(-1.0)),
)  # fmt: skip
_define(
    "logaddexp", np.logaddexp, activations.logaddexp, None, _mp_logaddexp, exact.nowhere, PAIRS, CLASS_ONLY,
    ends=range_ends.logaddexp,
)  # fmt: skip
_define(
    "xlogy", activations.xlogy_float64, activations.xlogy, None, lambda x, y: x * mpmath.log(y), exact.xlogy,
    PAIRS, ends=range_ends.xlogy, poles=lambda x, y: (x != 0) & (y == 0),
)  # fmt: skip

# Powers and roots

_QUOTIENT = powers.QUOTIENT_ERROR
_define(
    "reciprocal", np.reciprocal, powers.reciprocal, _QUOTIENT, lambda x: 1 / x, exact.reciprocal, LINE,
    ends=range_ends.reciprocal, poles=_at(0.0),
)  # fmt: skip
_define(
    "rsqrt", lambda x: 1.0 / np.sqrt(x), powers.rsqrt, None, lambda x: 1 / mpmath.sqrt(x), exact.rsqrt, POSITIVE,
    ends=range_ends.rsqrt, poles=_at(0.0),
)  # fmt: skip


def _mp_cbrt(x: mpf) -> mpf:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


_define("cbrt", np.cbrt, powers.cbrt, None, _mp_cbrt, exact.cbrt, LINE + POSITIVE, ends=range_ends.cbrt)
_define(
    "hypot", np.hypot, powers.hypot, None, lambda x, y: mpmath.sqrt(x * x + y * y), exact.hypot, PAIRS,
    ends=range_ends.hypot,
)  # fmt: skip


def _mp_pow(x: mpf, y: mpf) -> mpf:
    sign = -1 if x < 0 and int(y) % 2 else 1
    exponent = y * mpmath.log(abs(x))
    return sign * mpmath.exp(min(max(exponent, -FAR_EXPONENT), FAR_EXPONENT))


_define("pow", np.power, powers.pow, None, _mp_pow, exact.pow, PAIRS, ends=range_ends.pow)

# Special functions


def _mp_lgamma(x: mpf) -> mpf:
    """Near a zero the value loses at most 100 bits (the zeros below 0 are 2^-60 from the nearest double)."""
    with mpmath.extraprec(120):
        return mpmath.loggamma(x) if x > 0 else mpmath.log(abs(mpmath.pi / mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


def _mp_digamma(x: mpf) -> mpf:
    """By MPFR, of a double: it takes a thirtieth of the time."""
    with gmpy2.context(precision=mpmath.mp.prec):
        mantissa, binade = gmpy2.digamma(gmpy2.mpfr(float(x))).as_mantissa_exp()
    return mpmath.ldexp(mpf(int(mantissa)), int(binade))


_BESSEL, _BESSEL_FLOAT64 = bessel.BESSEL_ERROR, bessel.BESSEL_FLOAT64_ERROR
_define(
    "lgamma", gamma.lgamma_float64, gamma.lgamma, None, _mp_lgamma, exact.lgamma, POSITIVE, gamma.GAMMA_FLOAT64_ERROR,
    ends=range_ends.lgamma, poles=gamma.lgamma_poles, unsure=gamma.lgamma_unsure,
)  # fmt: skip
_define(
    "digamma", gamma.digamma_float64, gamma.digamma, None, _mp_digamma, exact.digamma, POSITIVE,
    gamma.GAMMA_FLOAT64_ERROR, ends=range_ends.digamma, poles=_at(0.0), unsure=gamma.digamma_unsure,
)  # fmt: skip
_define(
    "i0", bessel.i0_float64, bessel.i0, _BESSEL, lambda x: mpmath.besseli(0, min(abs(x), FAR)),
    exact.values({0.0: 1.0}), LINE, _BESSEL_FLOAT64, ends=range_ends.bessel(0),
)  # fmt: skip
_define(
    "i1", bessel.i1_float64, bessel.i1, _BESSEL, lambda x: mpmath.besseli(1, max(min(x, FAR), -FAR)), exact.odd_zero,
    LINE, _BESSEL_FLOAT64, ends=either(odd(0.5, 1.0), range_ends.bessel(1)),
)  # fmt: skip
_INVERSE_ERF, _INVERSE_ERF_FLOAT64 = inverse_error.INVERSE_ERROR, inverse_error.INVERSE_FLOAT64_ERROR
_define(
    "erfinv", inverse_error.erfinv_float64, inverse_error.erfinv, _INVERSE_ERF, inverse_error.mp_erfinv,
    exact.values({0.0: 0.0, 1.0: np.inf, -1.0: -np.inf}), UNIT, _INVERSE_ERF_FLOAT64,
    ends=constant_times("sqrt(pi)/2"), poles=_at(-1.0, 1.0),
)  # fmt: skip
_define(
    "ndtri", inverse_error.ndtri_float64, inverse_error.ndtri, None, inverse_error.mp_ndtri,
    exact.values({0.0: -np.inf, 0.5: 0.0, 1.0: np.inf}),
    tuple((p,) for p in (2.0**-100, 1e-9, 0.01, 0.3, 0.4999, 0.50001, 0.7, 0.99, 1 - 2.0**-20)),
    _INVERSE_ERF_FLOAT64, ends=range_ends.ndtri, poles=_at(0.0, 1.0),
)  # fmt: skip

FUNCTIONS = MappingProxyType(_FUNCTIONS)
