"""Real functions of one and of two numbers: one row each, the real value rounded once.

Special values follow C99 Annex F, and torch's documentation where C99 has no such function (docs/policy.md, P41 to
P52). Integers and bools become float32 first (P18).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from conform.interp.golden import Golden, Outcome
from conform.interp.operands import (
    broadcast_complex_numbers,
    broadcast_converted,
    broadcast_numbers,
    complex_numbers,
    numbers,
    refuse_complex,
    steps_of,
)
from conform.interp.ops.elementwise.arithmetic import exact
from conform.interp.ops.functions import real_formulas as formulas
from conform.interp.ops.functions.complex_parts import angle_of, complex_function, complex_power, is_complex_function
from conform.interp.promotion import Operand, float_result, result_type
from conform.interp.semantics import pointwise
from conform.numerics import functions
from conform.numerics import multiprecision as mp
from conform.numerics.ball import Ball
from conform.numerics.escalate import resolved
from conform.numerics.formats import Format
from conform.numerics.functions.range_ends import leading
from conform.numerics.real import Real, where
from conform.numerics.rounding import round_to
from conform.numerics.rounding_errors import held_format
from conform.numerics.scaled import Scaled

Formula = Callable[[Ball], Ball]
Mask = Callable[[np.ndarray], np.ndarray | bool]


def define(
    name: str,
    meaning: str,
    *ops: str,
    formula: Formula | None = None,
    overflows: Callable[[Ball], np.ndarray] | None = None,
    open_at: tuple[Mask, str] | None = None,
    zero_sign_free_at: Mask = lambda x: False,
    of_x: bool = False,
) -> None:
    """Give the unary overloads `ops` the function `name` of the ladder as their meaning.

    formula: on balls, for ops that no table bounds by ulps; overflows: where it may, and give a zero (P87); open_at:
    where the policy rule leaves the result open; zero_sign_free_at: where it leaves the sign of a zero free; of_x:
    whether the schemas call the operand x.
    """

    def function(self: np.ndarray) -> Golden:
        fmt = result_type(self)
        if fmt.is_complex and is_complex_function(name):
            return complex_function(name, fmt, complex_numbers(self, fmt))
        refuse_complex(fmt, ops[0])
        fmt = float_result(fmt)
        x = numbers(self, fmt)
        value, real = functions.apply(name, fmt, x)
        golden = Golden(fmt, value, real, zero_sign_free=zero_sign_free_at(x))
        if formula is not None:
            golden = golden.but_derived(formula(ball := Ball.exact(x, held_format(fmt))))
            golden = golden if overflows is None else _or_zero(golden, overflows(ball))
        return golden if open_at is None else golden.opened(open_at[0](x), open_at[1])

    def function_of_x(x: np.ndarray) -> Golden:
        return function(x)

    named = function_of_x if of_x else function
    named.__doc__ = meaning
    pointwise(*ops)(named)


def _or_zero(golden: Golden, mask: np.ndarray) -> Golden:
    """The golden; where `mask`, a zero of its sign is as right."""
    if not mask.any():
        return golden
    zero = np.copysign(0.0, golden.real.hi)
    value = np.where(mask, zero, golden.value).astype(golden.format.storage)
    return golden.or_else(replace(golden, value=value, real=where(mask, zero, golden.real),
                                  budget=np.where(mask, 0.0, golden.budget)))  # fmt: skip


def _is_minus_infinity(x: np.ndarray) -> np.ndarray:
    return x == -np.inf


# Exponentials and logarithms

define("exp2", "2 to the power self", "aten::exp2", "aten::special_exp2")
define("expm1", "e^self - 1", "aten::expm1", "aten::special_expm1")
define("log", "The natural logarithm; NaN below zero, -inf of zeros", "aten::log")
define("log2", "The logarithm to base 2; NaN below zero, -inf of zeros", "aten::log2")
define("log10", "The logarithm to base 10; NaN below zero, -inf of zeros", "aten::log10")
define("log1p", "log(1 + self); NaN below -1, -inf of -1", "aten::log1p", "aten::special_log1p")

# Roots and quotients

define("rsqrt", "1 / sqrt(self); NaN below zero, infinities of the zeros", "aten::rsqrt")
define("reciprocal", "1 / self; infinities of the zeros", "aten::reciprocal")
define("cbrt", "The real number whose cube is self", "aten::cbrt")

# Trigonometric

define("cos", "The cosine of an angle in radians; NaN of infinities", "aten::cos")
define("tan", "The tangent of an angle in radians; NaN of infinities", "aten::tan")
define("asin", "The angle in [-pi/2, pi/2] whose sine is self; NaN outside [-1, 1]", "aten::asin")
define("acos", "The angle in [0, pi] whose cosine is self; NaN outside [-1, 1]", "aten::acos")
define("atan", "The angle in [-pi/2, pi/2] whose tangent is self", "aten::atan")
define(
    "sinc",
    "sin(pi self) / (pi self), and 1 at 0 (P49, P50)",
    "aten::sinc",
    "aten::special_sinc",
    formula=formulas.sinc,
    open_at=(np.isinf, "P49"),
    zero_sign_free_at=lambda x: x == np.rint(x),  # of integers; of 0 it is 1
)

# Hyperbolic

define("sinh", "(e^self - e^-self) / 2", "aten::sinh")
define("cosh", "(e^self + e^-self) / 2", "aten::cosh")
define("tanh", "sinh(self) / cosh(self)", "aten::tanh")
define("asinh", "The number whose sinh is self", "aten::asinh")
define("acosh", "The number >= 0 whose cosh is self; NaN below 1", "aten::acosh")
define("atanh", "The number whose tanh is self; NaN outside [-1, 1]", "aten::atanh")

# Activations

define("sigmoid", "1 / (1 + e^-self) (P87)", "aten::sigmoid", formula=formulas.sigmoid,
        overflows=formulas.exp_may_overflow)  # fmt: skip
define(
    "silu",
    "self / (1 + e^-self) (P49, P87)",
    "aten::silu",
    formula=formulas.silu,
    overflows=formulas.exp_may_overflow,
    open_at=(_is_minus_infinity, "P49"),
)
define(
    "mish",
    "self * tanh(log(1 + e^self)) (P49)",
    "aten::mish",
    formula=formulas.mish,
    open_at=(_is_minus_infinity, "P49"),
)

# The error function and the normal distribution

define("erf", "2/sqrt(pi) times the integral of e^(-t^2) from 0 to self", "aten::erf", "aten::special_erf")
define("erfc", "1 - erf(self)", "aten::erfc", "aten::special_erfc")
define("erfinv", "The number whose erf is self; NaN outside [-1, 1]", "aten::erfinv", "aten::special_erfinv")
define("ndtr", "The normal distribution function: erfc(-self / sqrt 2) / 2", "aten::special_ndtr",
        formula=formulas.ndtr)  # fmt: skip
define("ndtri", "The number whose normal distribution function is self; NaN outside [0, 1]", "aten::special_ndtri")

# Gamma and Bessel functions

define("lgamma", "log |Gamma(self)|; +inf at the poles (P43)", "aten::lgamma", formula=formulas.lgamma)
define("digamma", "The derivative of log Gamma(self) (P44)", "aten::digamma", "aten::special_digamma",
        formula=formulas.digamma)  # fmt: skip
define("i0", "The modified Bessel function of the first kind, order 0", "aten::i0", "aten::special_i0",
       "aten::special_modified_bessel_i0")  # fmt: skip
define("i1", "The modified Bessel function of the first kind, order 1", "aten::special_i1",
       "aten::special_modified_bessel_i1")  # fmt: skip


# The angle


@pointwise("aten::angle")
def angle(self: np.ndarray) -> Golden:
    """The angle of a number of the complex plane in radians: pi of negative real numbers, 0 of the others (P74)"""
    fmt = float_result(result_type(self))
    if fmt.is_complex:
        return angle_of(fmt, complex_numbers(self, fmt))
    x = numbers(self, fmt)
    negative = np.where(x < 0, -1.0, 1.0)
    value, real = functions.apply("atan2", fmt, np.where(np.isnan(x), np.nan, 0.0), negative)
    return Golden(fmt, value, real, bounded_as="aten::atan2")


# Functions of two numbers


def _quiet_numbers(fmt: Format, *operands: Operand) -> list[np.ndarray]:
    """The operands with quiet NaNs: of a signalling one C libraries make NaN even where any number gives one result."""
    return [x * 1.0 for x in broadcast_numbers(fmt, *operands)]


@pointwise("aten::pow.Tensor_Tensor", "aten::pow.Tensor_Scalar", "aten::pow.Scalar")
def pow_(self: Operand, exponent: Operand) -> Golden | Outcome:
    """self to the power of exponent; integers wrap (P10, P42, P45, P46)"""
    fmt = result_type(self, exponent)
    if fmt.is_complex:
        return complex_power(fmt, *broadcast_complex_numbers(fmt, self, exponent))
    if fmt.is_float:
        return Golden(fmt, *functions.apply("pow", fmt, *_quiet_numbers(fmt, self, exponent)))
    base, power = broadcast_converted(fmt, self, exponent)
    negative = power < 0
    with np.errstate(all="ignore"):
        powers = exact(base ** np.where(negative, fmt.storage.type(0), power), fmt)
    return Outcome((powers.opened(negative, "P46"),), refusal="P46" if negative.any() else None)


@pointwise("aten::hypot", commutes=True)
def hypot(self: Operand, other: Operand) -> Golden:
    """sqrt(self^2 + other^2); infinite beside an infinity, even of NaN"""
    fmt = result_type(self, other)
    return Golden(fmt, *functions.apply("hypot", fmt, *_quiet_numbers(fmt, self, other)))


@pointwise("aten::atan2")
def atan2(self: Operand, other: Operand) -> Golden:
    """The angle in radians of the point (other, self), in [-pi, pi]"""
    fmt = float_result(result_type(self, other))
    return Golden(fmt, *functions.apply("atan2", fmt, *_near(*broadcast_numbers(fmt, self, other))))


def _near(y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points in the directions of those at infinity, beside which a finite number does not count."""
    if not (np.isinf(y) | np.isinf(x)).any():
        return y, x
    far = (np.isinf(y) | np.isinf(x)) & ~(np.isnan(y) | np.isnan(x))
    height, width = (np.copysign(np.where(np.isinf(number), 1.0, 0.0), number) for number in (y, x))
    return np.where(far, height, y), np.where(far, width, x)


@pointwise("aten::logaddexp", commutes=True)
def logaddexp(self: Operand, other: Operand) -> Golden:
    """log(e^self + e^other), of which the larger operand is taken out first (P47)"""
    fmt = result_type(self, other)
    refuse_complex(fmt, "logaddexp")
    x, y = broadcast_numbers(fmt, self, other)
    value, real = functions.apply("logaddexp", fmt, x, y)
    larger, smaller = (Ball.exact(choose(x, y), held_format(fmt)) for choose in (np.maximum, np.minimum))
    return Golden.derived(fmt, value, real, larger + (smaller - larger).exp().log1p())


@pointwise("aten::logaddexp2", commutes=True)
def logaddexp2(self: Operand, other: Operand) -> Golden:
    """log2(2^self + 2^other), of which the larger operand is taken out first (P3, P47)"""
    fmt = result_type(self, other)
    refuse_complex(fmt, "logaddexp2")
    x, y = broadcast_numbers(fmt, self, other)
    value, real = functions.apply("logaddexp2", fmt, x, y)
    larger, smaller = (Ball.exact(choose(x, y), held_format(fmt)) for choose in (np.maximum, np.minimum))
    return Golden.derived(fmt, value, real, larger + formulas.log2_of_one_more(smaller - larger),
                          zero_sign_free=True)  # fmt: skip


@pointwise("aten::special_xlog1py", "aten::special_xlog1py.self_scalar", "aten::special_xlog1py.other_scalar")
def xlog1py(self: Operand, other: Operand) -> Golden:
    """self * log(1 + other), but 0 where self is 0 and other is not NaN (P51)"""
    fmt = float_result(result_type(self, other))
    x, y = broadcast_numbers(fmt, self, other)
    value, real = functions.apply("xlog1py", fmt, x, y)
    factor, argument = (Ball.exact(operand, held_format(fmt)) for operand in (x, y))
    return Golden.derived(fmt, value, real, (factor * argument.log1p()).but_exact(x == 0))


@pointwise("aten::xlogy.Tensor", "aten::xlogy.Scalar_Self", "aten::xlogy.Scalar_Other", "aten::special_xlogy",
           "aten::special_xlogy.self_scalar", "aten::special_xlogy.other_scalar")  # fmt: skip
def xlogy(self: Operand, other: Operand) -> Golden:
    """self * log(other), but 0 where self is 0 and other is not NaN (P51)"""
    fmt = float_result(result_type(self, other))
    x, y = broadcast_numbers(fmt, self, other)
    value, real = functions.apply("xlogy", fmt, x, y)
    factor, argument = (Ball.exact(operand, held_format(fmt)) for operand in (x, y))
    return Golden.derived(fmt, value, real, (factor * argument.log()).but_exact(x == 0))


# Softplus

FAR = 200.0  # e^-200 is less than 2^-288
BEYOND = 2600.0  # e^-2600 over any double rounds to 0


@pointwise("aten::softplus")
def softplus(self: np.ndarray, beta: int | float = 1, threshold: int | float = 20) -> Golden:
    """log(1 + e^(beta self)) / beta, and self itself where beta * self > threshold (P48)"""
    fmt = result_type(self)
    x, beta, threshold = numbers(self, fmt), np.float64(beta), float(threshold)
    branches = [_exceeds(x, beta, threshold)]
    for step in steps_of(fmt):
        branches.append(round_to(step, *_product(x, beta)).astype(np.float64) > threshold)
    golden, *others = (softplus_of(fmt, x, beta, linear) for linear in _distinct(branches))
    return golden.or_else(*others)


def _product(x: np.ndarray, beta: np.float64) -> tuple[np.ndarray, np.ndarray]:
    """x * beta as hi + lo; beyond float64's range, and of infinities, as float64 has it."""
    product = Real.exact(x) * Real.exact(beta)
    lost = np.isinf(product.radius)
    return np.where(lost, x * beta, product.hi), np.where(lost, 0.0, product.lo)


def _exceeds(x: np.ndarray, beta: np.float64, threshold: float) -> np.ndarray:
    """beta * x > threshold, exactly: rounding is monotone, so only a product that rounds to threshold is in doubt."""
    exceeds = np.asarray(x * beta > threshold)
    for i in map(tuple, np.argwhere((x * beta == threshold) & np.isfinite(x) & np.isfinite(threshold))):
        exceeds[i] = Fraction(float(x[i])) * Fraction(float(beta)) > Fraction(threshold)
    return exceeds


def _distinct(masks: list[np.ndarray]) -> list[np.ndarray]:
    return [mask for i, mask in enumerate(masks) if not any((mask == earlier).all() for earlier in masks[:i])]


def softplus_of(fmt: Format, x: np.ndarray, beta: np.float64, linear: np.ndarray) -> Golden:
    """The golden whose elements are x itself where `linear`, and the formula elsewhere."""
    ball = Ball.exact(x, held_format(fmt))
    factor = Ball.exact(beta, held_format(fmt))
    value, real, regular = softplus_numbers(fmt, x, beta, linear)
    return Golden.derived(fmt, value, real, ((ball * factor).exp().log1p() / factor).but_exact(~regular))


def softplus_numbers(
    fmt: Format, x: np.ndarray, beta: np.float64, linear: np.ndarray
) -> tuple[np.ndarray, Real, np.ndarray]:
    """The values and numbers of `softplus_of`, and where they are the formula's, of finite operands."""
    regular = ~linear & np.isfinite(x) & (np.isfinite(beta) & (beta != 0))
    settled = np.where(linear, x, _softplus_limit(x, beta))
    column = np.where(regular, x, 0.0).reshape(-1, 1)
    value, real = _softplus_formula(fmt, column, beta) if regular.any() else (round_to(fmt, column), Real.exact(column))
    value = np.where(regular, value.reshape(x.shape), round_to(fmt, settled))
    return value, where(regular, real.reshape(x.shape), Real.exact(settled)), regular


def _softplus_formula(fmt: Format, column: np.ndarray, beta: np.float64) -> tuple[np.ndarray, Real]:
    if abs(beta) == 1:
        value, real = functions.apply("softplus", fmt, column * beta)
        return (value, real) if beta == 1 else (-value, -real)

    def formula(some: np.ndarray) -> np.ndarray:
        product = mp.of_float(column[some]) * mp.of_float(beta)
        return (np.maximum(product, 0) + mp.log1p(mp.exp(-abs(product)))) / mp.of_float(beta)

    def scaled() -> Scaled:
        return _scaled_softplus(column, beta)

    factor = Real.exact(beta)
    return resolved(fmt, functions.log1p(functions.exp(Real.exact(column) * factor)) / factor, formula, scaled=scaled)


def _scaled_softplus(x: np.ndarray, beta: np.float64) -> Scaled:
    """Far down e^(beta x) / beta, of which less than 2^-288 is missing, far up a little more than x, between them the
    logarithm over beta."""
    with np.errstate(all="ignore"):
        far = ~(np.abs(x * beta) < BEYOND)
        power = where(far, np.copysign(BEYOND, x * beta), Real.exact(x) * Real.exact(beta))
        logarithm = functions.log1p(functions.exp(power))
        middle = Scaled.of(logarithm.hi, logarithm.lo, logarithm.radius / logarithm.hi)
        significand, exponent = np.frexp(beta)
        over_beta = Real.exact(np.float64(1)) / Real.exact(significand)
        down, between = (
            one.times(over_beta).times_power_of_two(-exponent) for one in (functions.exp_scaled(power), middle)
        )
        up = leading(x, 1.0, x).known_where(power.hi > FAR)
        return up.or_else(down.known_where(power.hi < -FAR)).or_else(between.known_where(np.abs(power.hi) <= FAR))


def _softplus_limit(x: np.ndarray, beta: np.float64) -> np.ndarray:
    """Where x or beta is infinite, log(1 + e^inf) = inf and log(1 + e^-inf) = 0; where beta is 0, log 2 / beta."""
    scaled = x * beta
    infinite = np.where((scaled > 0) | np.isnan(scaled), scaled, 0.0) / beta
    return np.where(np.isfinite(x) & (beta == 0), np.copysign(np.inf, beta), infinite)
