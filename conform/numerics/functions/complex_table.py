"""The correctly rounded parts of complex functions, one row each: name -> how operands fold, the rungs of each part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import mpmath
import numpy as np

from conform.numerics.functions import complex_atan2
from conform.numerics.functions import complex_exact as exact
from conform.numerics.functions import complex_inverse_kernels as inverse
from conform.numerics.functions import complex_kernels as kernels
from conform.numerics.functions import complex_mp as formulas
from conform.numerics.functions import exact as real_exact
from conform.numerics.functions.complex_float64 import (
    FLOAT64_ERROR,
    exp_product,
    log_abs,
    reciprocal_part,
    root_part,
    tanh_imag,
    tanh_real,
    unit_part,
)
from conform.numerics.functions.complex_folds import Fold, as_they_are, even, mirrored, mirrored_power, odd
from conform.numerics.functions.complex_range_ends import PARTS
from conform.numerics.functions.dd import Array
from conform.numerics.functions.ladder import Function

Mask = Callable[..., Array]

E_REACH, POWER_REACH = 800.0, 1200.0  # e^800 and 2^1200 are beyond every format of at most 64 bits


@dataclass(frozen=True)
class ComplexFunction:
    """fold: operands -> (operands of the parts, the signs that the parts take); beyond: where the result is a pole or
    certain to overflow."""

    fold: Fold
    beyond: Mask
    real: Function
    imag: Function


def _nowhere(x: Array, y: Array) -> Array:
    return np.zeros(x.shape, bool)


def _at(pole: complex) -> Mask:
    return lambda x, y: (np.abs(x) == abs(pole.real)) & (x * pole.real >= 0) & (np.abs(y) == pole.imag)


def _at_units(x: Array, y: Array) -> Array:
    return (np.abs(x) == 1) & (y == 0)


def _power_beyond(x: Array, y: Array, c: Array, d: Array) -> Array:
    """A zero base with any exponent, which ops/complex_functions.py settles, and powers above e^800 by far."""
    larger, smaller = np.maximum(np.abs(x), np.abs(y)), np.minimum(np.abs(x), np.abs(y))
    size, angle = np.log(larger) + np.log1p((smaller / larger) ** 2) / 2, np.arctan2(y, x)  # |z| may overflow
    return ((x == 0) & (y == 0)) | (c * size - d * angle > 2 * E_REACH)


_FUNCTIONS: dict[str, ComplexFunction] = {}
Part = tuple[Callable[..., object], Callable[..., object], Callable[..., object]]


def _zeros(x: Array, *_: Array) -> Array:
    return np.zeros_like(x)


def _define(
    name: str,
    fold: Fold,
    beyond: Mask,
    real: Part,
    imag: Part,
    float64: tuple[Callable[..., Array], Callable[..., Array]] | None = None,
) -> None:
    """Add a row. A part is its double-double kernel, its formula in mpmath and its exact cases; `float64` are the first
    rungs of the parts, where there are any."""
    first = (_zeros, _zeros) if float64 is None else float64
    error = np.inf if float64 is None else FLOAT64_ERROR
    parts = [
        Function(
            f"{name}.{which}",
            rung,
            float64_error=error,
            double_double=part[0],
            mp=part[1],
            exact=part[2],
            sentinels=SENTINELS,
            scaled=PARTS.get(f"{name}.{which}"),
        )
        for which, rung, part in zip(("real", "imag"), first, (real, imag), strict=True)
    ]
    _FUNCTIONS[name] = ComplexFunction(fold, beyond, *parts)


SENTINELS = tuple(
    (float(np.float32(x)), float(np.float32(y)))
    for x in (2.0**-30, 0.1, 0.4999, 0.9999999, 1.00001, 7.3, 20.7)
    for y in (2.0**-28, 0.3, 1.57079637, 5.5, 11.0)
)
_MP_LOG_ABS, _MP_ONE_PLUS = formulas.log_abs, formulas.log_abs_one_plus


def _constant(function: Callable[[], mpmath.mpf]) -> mpmath.mpf:
    with mpmath.workprec(200):
        return +function()


PER_LOG_2 = _constant(lambda: 1 / mpmath.log(2))
PER_LOG_10 = _constant(lambda: 1 / mpmath.log(10))

# Quotients and roots

_define(
    "reciprocal",
    as_they_are,
    _at(0j),
    (kernels.reciprocal_real, formulas.reciprocal_real, exact.reciprocal_real),
    (kernels.reciprocal_imag, formulas.reciprocal_imag, exact.reciprocal_imag),
    (reciprocal_part(0), reciprocal_part(1)),
)
_define(
    "div",
    as_they_are,
    lambda a, b, c, d: (c == 0) & (d == 0),
    (kernels.quotient_real, _zeros, exact.quotient_real),
    (kernels.quotient_imag, _zeros, exact.quotient_imag),
)
_define(
    "sgn",
    odd,
    _nowhere,
    (kernels.sgn_real, formulas.sgn_real, exact.sgn_real),
    (kernels.sgn_imag, formulas.sgn_imag, exact.sgn_imag),
    (unit_part, lambda x, y: unit_part(y, x)),
)
_define(
    "sqrt",
    mirrored,
    _nowhere,
    (kernels.sqrt_real, formulas.sqrt_real, exact.sqrt_real),
    (kernels.sqrt_imag, formulas.sqrt_imag, exact.sqrt_imag),
    (root_part(0), root_part(1)),
)
_define(
    "rsqrt",
    mirrored,
    _at(0j),
    (kernels.rsqrt_real, formulas.rsqrt_real, exact.rsqrt_real),
    (kernels.rsqrt_imag, formulas.rsqrt_imag, exact.rsqrt_imag),
)

_define(
    "cbrt",
    mirrored,
    _nowhere,
    (kernels.cbrt_real, formulas.cbrt_real, exact.cbrt_real),
    (kernels.cbrt_imag, formulas.cbrt_imag, exact.cbrt_imag),
)

# Exponentials and logarithms

_define(
    "exp",
    mirrored,
    lambda x, y: x > E_REACH,
    (kernels.product(kernels.exp, kernels.cos), formulas.product(mpmath.exp, mpmath.cos), exact.at_origin(1)),
    (kernels.product(kernels.exp, kernels.sin), formulas.product(mpmath.exp, mpmath.sin), exact.zero_on_real_axis),
    (exp_product(np.exp, np.cos), exp_product(np.exp, np.sin)),
)
_define(
    "exp2",
    mirrored,
    lambda x, y: x > POWER_REACH,
    (
        kernels.product(kernels.exp2, kernels.exp2_angle(kernels.cos)),
        formulas.exp2_real,
        exact.on_real_axis(real_exact.exp2),
    ),
    (
        kernels.product(kernels.exp2, kernels.exp2_angle(kernels.sin)),
        formulas.exp2_imag,
        exact.zero_on_real_axis,
    ),
)
_define(
    "expm1",
    mirrored,
    lambda x, y: x > E_REACH,
    (kernels.expm1_real, formulas.expm1_real, exact.on_real_axis(real_exact.odd_zero)),
    (kernels.product(kernels.exp, kernels.sin), formulas.product(mpmath.exp, mpmath.sin), exact.zero_on_real_axis),
)
_define(
    "log",
    mirrored,
    _at(0j),
    (kernels.log_abs, _MP_LOG_ABS, exact.log_abs),
    (kernels.arg, formulas.arg, exact.arg),
    (log_abs, lambda x, y: np.arctan2(y, x)),
)
for _name, _factor, _exact, _base in (
    ("log2", PER_LOG_2, exact.log2_abs, 2),
    ("log10", PER_LOG_10, exact.log10_abs, 10),
):
    _define(
        _name,
        mirrored,
        _at(0j),
        (kernels.times(kernels.log_abs, _factor), formulas.over_log(_MP_LOG_ABS, _base), _exact),
        (kernels.times(kernels.arg, _factor), formulas.over_log(formulas.arg, _base), exact.arg),
    )
_define(
    "log1p",
    mirrored,
    _at(-1 + 0j),
    (kernels.log_abs_one_plus, _MP_ONE_PLUS, exact.log_abs_one_plus),
    (kernels.arg_one_plus, formulas.arg_one_plus, exact.zero_where(lambda x, y: y == 0 and x > -1)),
)
_define(
    "sigmoid",
    mirrored,
    _nowhere,
    (kernels.sigmoid_real, formulas.sigmoid_real, exact.sigmoid_real),
    (kernels.sigmoid_imag, formulas.sigmoid_imag, exact.zero_on_real_axis),
)

# Hyperbolic functions, and with the parts exchanged the trigonometric ones: sin z = -i sinh iz and so on

_SINH = (
    (kernels.product(kernels.sinh, kernels.cos), formulas.product(mpmath.sinh, mpmath.cos), exact.zero_on_imag_axis),
    (kernels.product(kernels.cosh, kernels.sin), formulas.product(mpmath.cosh, mpmath.sin), exact.zero_on_real_axis),
)
_COSH = (
    (kernels.product(kernels.cosh, kernels.cos), formulas.product(mpmath.cosh, mpmath.cos), exact.at_origin(1)),
    (kernels.product(kernels.sinh, kernels.sin), formulas.product(mpmath.sinh, mpmath.sin), exact.zero_on_both_axes),
)
_TANH = (
    (kernels.tanh_real, formulas.tanh_real, exact.zero_on_imag_axis),
    (kernels.tanh_imag, formulas.tanh_imag, exact.zero_on_real_axis),
)
_ASIN = (
    (inverse.asin_real, formulas.asin_real, exact.zero_on_imag_axis),
    (inverse.asin_imag, formulas.asin_imag, exact.zero_where(lambda x, y: y == 0 and x <= 1)),
)
_ATANH = (
    (inverse.atanh_real, formulas.atanh_real, exact.zero_on_imag_axis),
    (inverse.atanh_imag, formulas.atanh_imag, exact.zero_where(lambda x, y: y == 0 and x < 1)),
)


def _swapped(part: Part) -> Part:
    """The part of the function with x and y exchanged."""
    kernel, formula, exact_cases = part
    return kernels.swapped(kernel), formulas.swapped(formula), lambda x, y: exact_cases(y, x)


def _negated(part: Part) -> Part:
    """Minus the part; it has no exact values but zeros."""
    kernel, formula, exact_cases = part
    return kernels.negated(kernel), formulas.negated(formula), exact_cases


def _float64_swapped(function: Callable[..., Array]) -> Callable[..., Array]:
    return lambda x, y: function(y, x)


_SINH64 = exp_product(np.sinh, np.cos), exp_product(np.cosh, np.sin)
_COSH64 = exp_product(np.cosh, np.cos), exp_product(np.sinh, np.sin)
_NEGATIVE_SINES = _float64_swapped(exp_product(lambda x: -np.sinh(x), np.sin))
_define("sinh", odd, lambda x, y: np.abs(x) > E_REACH, *_SINH, _SINH64)
_define("cosh", even, lambda x, y: np.abs(x) > E_REACH, *_COSH, _COSH64)
_define("tanh", odd, _nowhere, *_TANH, (tanh_real, tanh_imag))
_define(
    "sin", odd, lambda x, y: np.abs(y) > E_REACH, _swapped(_SINH[1]), _swapped(_SINH[0]),
    (_float64_swapped(_SINH64[1]), _float64_swapped(_SINH64[0])),
)  # fmt: skip
_define(
    "cos", even, lambda x, y: np.abs(y) > E_REACH, _swapped(_COSH[0]), _negated(_swapped(_COSH[1])),
    (_float64_swapped(_COSH64[0]), _NEGATIVE_SINES),
)  # fmt: skip
_define(
    "tan", odd, _nowhere, _swapped(_TANH[1]), _swapped(_TANH[0]),
    (_float64_swapped(tanh_imag), _float64_swapped(tanh_real)),
)  # fmt: skip

_define("asin", odd, _nowhere, *_ASIN)
_define("asinh", odd, _nowhere, _swapped(_ASIN[1]), _swapped(_ASIN[0]))
_ACOS_REAL = (inverse.acos_real, formulas.acos_real, exact.zero_where(lambda x, y: y == 0 and x >= 1))
_ACOSH_REAL = (inverse.acosh_real, formulas.acosh_real, exact.zero_where(lambda x, y: y == 0 and abs(x) <= 1))
_define("acos", mirrored, _nowhere, _ACOS_REAL, _negated(_ACOSH_REAL))
_define("acosh", mirrored, _nowhere, _ACOSH_REAL, _ACOS_REAL)
_define("atanh", odd, _at_units, *_ATANH)
_define("atan", odd, lambda x, y: _at_units(y, x), _swapped(_ATANH[1]), _swapped(_ATANH[0]))

# Powers

_define(
    "pow",
    mirrored_power,
    _power_beyond,
    (kernels.pow_real, formulas.pow_real, exact.pow_real),
    (kernels.pow_imag, formulas.pow_imag, exact.pow_imag),
)

# The angle of (rhs, lhs)

_define(
    "atan2",
    as_they_are,
    complex_atan2.has_pole,
    (complex_atan2.undecided, complex_atan2.real, complex_atan2.exact_real),
    (complex_atan2.undecided, complex_atan2.imag, complex_atan2.exact_imag),
)

COMPLEX_FUNCTIONS = MappingProxyType(_FUNCTIONS)
