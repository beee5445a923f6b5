"""The correctly rounded functions, one row each: name -> rungs."""

from __future__ import annotations

from functools import partial
from types import MappingProxyType

import mpmath
import numpy as np
from mpmath import mpf

from conform.numerics.functions import (
    activations,
    error,
    exact,
    exponential,
    hyperbolic,
    inverse_trigonometric,
    logarithm,
    powers,
    range_ends,
    rows,
    special_table,
    trigonometric,
)
from conform.numerics.functions.ladder import Function
from conform.numerics.functions.range_ends import constant_times, either, nearly_itself, odd, one_sided
from conform.numerics.functions.rows import (
    ANGLES,
    CLASS_ONLY,
    FAR,
    FAR_EXPONENT,
    LINE,
    PAIRS,
    POSITIVE,
    UNIT,
    at,
)

_ROWS: dict[str, Function] = {}
define = partial(rows.define, _ROWS)

# Exponentials and logarithms


def _mp_exp2(x: mpf) -> mpf:
    return mpf(2) ** min(max(x, -FAR_EXPONENT), FAR_EXPONENT)


define(
    "exp", np.exp, exponential.exp, exponential.EXP_ERROR, mpmath.exp, exact.values({0.0: 1.0}), LINE,
    ends=range_ends.exp,
)  # fmt: skip
define("exp2", np.exp2, exponential.exp2, exponential.EXP_ERROR, _mp_exp2, exact.exp2, LINE, ends=range_ends.exp2)
define(
    "expm1", np.expm1, exponential.expm1, exponential.EXPM1_ERROR, mpmath.expm1, exact.odd_zero, LINE,
    ends=either(one_sided(1.0, 1.0), range_ends.exp_far_up),
)  # fmt: skip
_LOG = logarithm.LOG_ERROR
define(
    "log", np.log, logarithm.log, _LOG, mpmath.log, exact.values({1.0: 0.0, 0.0: -np.inf}), POSITIVE, poles=at(0.0),
)  # fmt: skip
define(
    "log2", np.log2, logarithm.log2, 2 * _LOG, lambda x: mpmath.log(x) / mpmath.log(2), exact.log2, POSITIVE,
    poles=at(0.0),
)  # fmt: skip
define(
    "log10", np.log10, logarithm.log10, 2 * _LOG, lambda x: mpmath.log(x) / mpmath.log(10), exact.log10, POSITIVE,
    poles=at(0.0),
)  # fmt: skip
define(
    "log1p", np.log1p, logarithm.log1p, logarithm.LOG1P_ERROR, mpmath.log1p, exact.values({0.0: 0.0, -1.0: -np.inf}),
    POSITIVE + UNIT, ends=one_sided(1.0, -1.0), poles=at(-1.0),
)  # fmt: skip

# Trigonometric

define("sin", np.sin, trigonometric.sin, None, mpmath.sin, exact.odd_zero, ANGLES, ends=odd(1.0, -1.0))
define("cos", np.cos, trigonometric.cos, None, mpmath.cos, exact.values({0.0: 1.0}), ANGLES)
define("tan", np.tan, trigonometric.tan, None, mpmath.tan, exact.odd_zero, ANGLES, ends=odd(1.0, 1.0))
define(
    "sinc", trigonometric.sinc_float64, trigonometric.sinc, None, mpmath.sincpi, exact.sinc, LINE[:12],
    ends=range_ends.sinc,
)  # fmt: skip
_ASIN = inverse_trigonometric.ASIN_ERROR
define("asin", np.arcsin, inverse_trigonometric.asin, _ASIN, mpmath.asin, exact.odd_zero, UNIT, ends=odd(1.0, 1.0))
define("acos", np.arccos, inverse_trigonometric.acos, _ASIN, mpmath.acos, exact.values({1.0: 0.0}), UNIT)
define(
    "atan", np.arctan, inverse_trigonometric.atan, inverse_trigonometric.ATAN_ERROR, mpmath.atan, exact.odd_zero,
    LINE, ends=either(odd(1.0, -1.0), range_ends.quarter_turn),
)  # fmt: skip
define("atan2", np.arctan2, inverse_trigonometric.atan2, None, mpmath.atan2, exact.atan2, PAIRS, ends=range_ends.atan2)

# Hyperbolic

_HYPERBOLIC, _INVERSE = hyperbolic.HYPERBOLIC_ERROR, hyperbolic.INVERSE_ERROR
define(
    "sinh", np.sinh, hyperbolic.sinh, _HYPERBOLIC, mpmath.sinh, exact.odd_zero, LINE,
    ends=either(odd(1.0, 1.0), range_ends.half_exp_odd),
)  # fmt: skip
define(
    "cosh", np.cosh, hyperbolic.cosh, _HYPERBOLIC, mpmath.cosh, exact.values({0.0: 1.0}), LINE,
    ends=range_ends.half_exp,
)  # fmt: skip
define("tanh", np.tanh, hyperbolic.tanh, _HYPERBOLIC, mpmath.tanh, exact.odd_zero, LINE, ends=odd(1.0, -1.0))
define(
    "asinh", np.arcsinh, hyperbolic.asinh, _INVERSE, mpmath.asinh, exact.odd_zero, LINE + POSITIVE,
    ends=odd(1.0, -1.0),
)  # fmt: skip
define("acosh", np.arccosh, hyperbolic.acosh, _INVERSE, mpmath.acosh, exact.values({1.0: 0.0}), POSITIVE[5:])
define(
    "atanh", np.arctanh, hyperbolic.atanh, _INVERSE, mpmath.atanh,
    exact.values({0.0: 0.0, 1.0: np.inf, -1.0: -np.inf}), UNIT, ends=odd(1.0, 1.0), poles=at(-1.0, 1.0),
)  # fmt: skip

# Normal distribution

_ERF = error.ERF_FLOAT64_ERROR


def _mp_erfc(x: mpf) -> mpf:
    return mpmath.erfc(min(x, FAR))


define(
    "erf", error.erf_float64, error.erf, error.ERF_ERROR, mpmath.erf, exact.odd_zero, LINE, _ERF,
    ends=constant_times("2/sqrt(pi)"),
)  # fmt: skip
define(
    "erfc", error.erfc_float64, error.erfc, None, _mp_erfc, exact.values({0.0: 1.0}), LINE[:20], _ERF,
    ends=range_ends.erfc,
)  # fmt: skip


def _mp_ndtr(x: mpf) -> mpf:
    return mpmath.erfc(-max(x, -FAR) / mpmath.sqrt(2)) / 2


define(
    "ndtr", error.ndtr_float64, error.ndtr, None, _mp_ndtr, exact.values({0.0: 0.5}), LINE[:20], 2 * _ERF,
    ends=range_ends.ndtr,
)  # fmt: skip
define(
    "gelu", error.gelu_float64, error.gelu, None, lambda x: x * _mp_ndtr(x), exact.odd_zero, LINE[:20], 2 * _ERF,
    ends=either(either(one_sided(0.5, 1.0), range_ends.gelu), nearly_itself(-1.0)),
)  # fmt: skip


def _mp_gelu_tanh(x: mpf) -> mpf:
    two_u = mpmath.sqrt(8 / mpmath.pi) * (x + x**3 * 44715 / 10**6)
    return x / (1 + mpmath.exp(-max(two_u, -FAR_EXPONENT)))


define(
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


def _mp_logaddexp2(x: mpf, y: mpf) -> mpf:
    """As `_mp_logaddexp`."""
    larger, power = max(x, y), _mp_exp2(-abs(x - y))
    tail = mpmath.log1p(power) / mpmath.log(2)
    lost = max(0, -mpmath.mag((larger + tail) / (abs(larger) + tail))) if larger + tail else mpmath.mp.prec
    with mpmath.extraprec(lost + 10):
        return larger + mpmath.log1p(_mp_exp2(-abs(x - y))) / mpmath.log(2)


def _mp_logit(x: mpf) -> mpf:
    """The double next to 1/2 costs 53 bits."""
    with mpmath.extraprec(60):
        return mpmath.log(x) - mpmath.log1p(-x)


_LOGISTIC, _SOFTPLUS = activations.LOGISTIC_ERROR, activations.SOFTPLUS_ERROR
define(
    "sigmoid", activations.sigmoid_float64, activations.sigmoid, _LOGISTIC, _mp_sigmoid, exact.values({0.0: 0.5}),
    LINE, ends=range_ends.exp_far_down,
)  # fmt: skip
define(
    "silu", activations.silu_float64, activations.silu, _LOGISTIC, lambda x: x * _mp_sigmoid(x), exact.odd_zero,
    LINE, ends=either(either(one_sided(0.5, 1.0), range_ends.x_exp_far_down), nearly_itself(-1.0)),
)  # fmt: skip
define(
    "softplus", activations.softplus_float64, activations.softplus, _SOFTPLUS, _mp_softplus, exact.nowhere, LINE,
    ends=either(range_ends.exp_far_down, nearly_itself(1.0)),
)  # fmt: skip
define(
    "mish", activations.mish_float64, activations.mish, _LOGISTIC, _mp_mish, exact.odd_zero, LINE,
    ends=either(either(constant_times("3/5"), range_ends.x_exp_far_down), nearly_itself(-1.0)),
)  # fmt: skip
define(
    "logaddexp", np.logaddexp, activations.logaddexp, None, _mp_logaddexp, exact.nowhere, PAIRS, CLASS_ONLY,
    ends=range_ends.logaddexp,
)  # fmt: skip
define(
    "logaddexp2", np.logaddexp2, activations.logaddexp2, None, _mp_logaddexp2, exact.logaddexp2, PAIRS, CLASS_ONLY,
    ends=range_ends.logaddexp,
)  # fmt: skip
define(
    "logit", activations.logit_float64, activations.logit, activations.LOGIT_ERROR, _mp_logit,
    exact.values({0.0: -np.inf, 0.5: 0.0, 1.0: np.inf}), UNIT[:-1:2], activations.LOGIT_FLOAT64_ERROR,
    poles=at(0.0, 1.0),
)  # fmt: skip
define(
    "xlogy", activations.xlogy_float64, activations.xlogy, None, lambda x, y: x * mpmath.log(y), exact.xlogy,
    PAIRS, ends=range_ends.xlogy, poles=lambda x, y: (x != 0) & (y == 0),
)  # fmt: skip

# Powers and roots

_QUOTIENT = powers.QUOTIENT_ERROR
define(
    "reciprocal", np.reciprocal, powers.reciprocal, _QUOTIENT, lambda x: 1 / x, exact.reciprocal, LINE,
    ends=range_ends.reciprocal, poles=at(0.0),
)  # fmt: skip
define(
    "rsqrt", lambda x: 1.0 / np.sqrt(x), powers.rsqrt, None, lambda x: 1 / mpmath.sqrt(x), exact.rsqrt, POSITIVE,
    ends=range_ends.rsqrt, poles=at(0.0),
)  # fmt: skip


def _mp_cbrt(x: mpf) -> mpf:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


define("cbrt", np.cbrt, powers.cbrt, None, _mp_cbrt, exact.cbrt, LINE + POSITIVE, ends=range_ends.cbrt)
define(
    "hypot", np.hypot, powers.hypot, None, lambda x, y: mpmath.sqrt(x * x + y * y), exact.hypot, PAIRS,
    ends=range_ends.hypot,
)  # fmt: skip


def _mp_pow(x: mpf, y: mpf) -> mpf:
    sign = -1 if x < 0 and int(y) % 2 else 1
    exponent = y * mpmath.log(abs(x))
    return sign * mpmath.exp(min(max(exponent, -FAR_EXPONENT), FAR_EXPONENT))


define("pow", np.power, powers.pow, None, _mp_pow, exact.pow, PAIRS, ends=range_ends.pow)

FUNCTIONS = MappingProxyType(_ROWS | special_table.ROWS)
