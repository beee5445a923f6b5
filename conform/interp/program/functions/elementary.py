"""Rules of real functions that have an image for reals and one for balls."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from conform.errors import NoGolden
from conform.interp.program.blocks import in_blocks
from conform.interp.program.elementwise.arithmetic import add, clamp, mul, reciprocal, rsqrt, sqrt
from conform.interp.program.number import Number
from conform.interp.program.rules import combined, common_format, operands, rule, unbounded_where
from conform.interp.promotion import float_result
from conform.numerics import functions
from conform.numerics.ball import ULPS, Ball
from conform.numerics.formats import FORMATS, compute_format
from conform.numerics.functions.error import erfc_float64
from conform.numerics.real import Real, where
from conform.numerics.rounding_errors import reach, underflow

LOWEST = -700.0  # below, e^x is known to lie between 0 and e^-700, and no more


def _define(real: Callable[[Real], Real], ball: Callable[[Ball], Ball], *ops: str) -> Callable[[Number], Number]:
    def function(self: Number) -> Number:
        fmt, shape = float_result(self.format), self.shape
        (x,) = operands(fmt, self)
        image = combined(fmt, real, ball, x.moved(lambda part: part.reshape(-1)))  # the kernels take a row of numbers
        return image.moved(lambda part: part.reshape(shape))

    return rule(*ops)(function)


def _real_sigmoid(x: Real) -> Real:
    """Below the kernel's domain it lies between 0 and e^x, as what `exp` tells of e^x does."""
    return where(x.hi < LOWEST, functions.exp(x), functions.sigmoid(x))


def sigmoid(x: Ball) -> Ball:
    """1 / (1 + e^-x). Where e^-x overflows the quotient is 0 or as small as e^x, from above at the upper end."""
    one = Ball.exact(np.float64(1), x.compute)
    quotient = one / (one + (-x).exp())
    with np.errstate(all="ignore"):
        small = np.exp(x.mid + x.rad) * (1 + 2.0**-40) + underflow(x.compute)
    return Ball(quotient.mid, np.where(np.isinf(quotient.rad) & (x.mid < 0), small, quotient.rad), x.compute)


def _expm1(x: Ball) -> Ball:
    """With the slope of exp; 3 ulp (OpenCL C 3.0, section 7.4)."""
    with np.errstate(all="ignore"):
        spread = np.exp(x.mid + x.rad) * -np.expm1(-x.rad)
        return x.rounded(np.expm1(x.mid), spread, ULPS["exp"])._determined(x).but_exact((x.mid == 0) & (x.rad == 0))


exp = _define(functions.exp, Ball.exp, "aten::exp")
_define(functions.expm1, _expm1, "aten::expm1", "aten::special_expm1")
log = _define(functions.log, Ball.log, "aten::log")
_define(lambda x: functions.log(x) * PER_LN_2, lambda x: x.log(2.0), "aten::log2")
_define(lambda x: functions.log(x) * PER_LN_10, lambda x: x.log(10.0), "aten::log10")
_define(functions.log1p, Ball.log1p, "aten::log1p", "aten::special_log1p")
_define(functions.sin, Ball.sin, "aten::sin")
_define(functions.cos, Ball.cos, "aten::cos")
tanh = _define(functions.tanh, Ball.tanh, "aten::tanh")
erf = _define(functions.erf, lambda x: x.erf(functions.erf_float64), "aten::erf", "aten::special_erf")
_define(functions.erfc, lambda x: x.erfc(erfc_float64), "aten::erfc", "aten::special_erfc")
_define(_real_sigmoid, sigmoid, "aten::sigmoid")
_silu = _define(lambda x: x * _real_sigmoid(x), lambda x: x * sigmoid(x))


@rule("aten::silu")
def silu(self: Number) -> Number:
    """x / (1 + e^-x)"""
    return _open_at_minus_infinity(self, _silu(self))


def _open_at_minus_infinity(x: Number, product: Number) -> Number:
    """Where the limit is -0 and the formula gives -inf * 0, nothing is said (P38, P49)."""
    return unbounded_where(x.real.hi == -np.inf, product)


# --- Functions of what is known ---------------------------------------------------------------------------------------

# Beside those of balls: OpenCL C 3.0, full profile, section 7.4; of i0, i1 and erfinv, which it lacks, CUDA C++
# Programming Guide (13.x), non-standard functions.
OTHER_ULPS = {
    "cbrt": 2.0, "exp2": 3.0, "tan": 5.0, "sinh": 4.0, "cosh": 4.0, "hypot": 4.0, "i0": 6.0, "i1": 6.0, "erfinv": 5.0,
}  # fmt: skip


def of_known(name: str, *given: Number) -> Number:
    """A function of operands that are known; the reals are good to 2^-80."""
    fmt = float_result(common_format(*given))
    held = np.broadcast_arrays(*(one.real.hi for one in operands(fmt, *given)))
    shape = held[0].shape
    _, image = functions.apply(name, FORMATS["float64"], *(part.reshape(-1) for part in held))
    ball = Ball.exact(image.hi, compute_format(fmt)).rounded(image.hi, 0.0, OTHER_ULPS[name])
    return Number(fmt, image, ball.rad).moved(lambda part: part.reshape(shape))


def _of_known(name: str, *ops: str) -> None:
    """Register the rule of a function that has none for operands that are computed."""

    def function(self: Number, other: Number | None = None) -> Any:
        given = [one for one in (self, other) if one is not None]
        return of_known(name, *given) if all(one.array is not None for one in given) else NotImplemented

    rule(*ops)(function)


_of_known("exp2", "aten::exp2", "aten::special_exp2")
_of_known("tan", "aten::tan")
_of_known("i0", "aten::i0", "aten::special_i0")
_of_known("i1", "aten::special_i1")
_of_known("erfinv", "aten::erfinv", "aten::special_erfinv")
_of_known("hypot", "aten::hypot")


# --- gelu -------------------------------------------------------------------------------------------------------------


def constant(hi: float, lo: float) -> Real:
    """A constant of a formula to 106 bits, as hi + lo."""
    return Real(np.float64(hi), np.float64(lo), np.float64(abs(hi) * 2.0**-105))


PI = constant(3.141592653589793, 1.2246467991473532e-16)
LN_2 = constant(0.6931471805599453, 2.3190468138462996e-17)
PER_LN_2 = constant(1.4426950408889634, 2.0355273740931033e-17)
PER_LN_10 = constant(0.4342944819032518, 1.098319650216765e-17)
ROOT_OF_HALF = constant(0.7071067811865476, -4.833646656726457e-17)
ROOT_OF_2_OVER_PI = constant(0.7978845608028654, -4.98465440455546e-17)
OF_CUBE = constant(0.044715, 2.1960211427085595e-18)


@rule("aten::gelu")
def gelu(self: Number, approximate: str = "none") -> Any:
    """x/2 (1 + erf(x / sqrt 2)), or x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))); both factors 1 + ... cancel below 0,
    and an honest implementation's may."""
    if self.array is not None:
        return NotImplemented
    image = in_blocks(partial(_gelu, approximate == "none"), *operands(float_result(self.format), self))
    return _open_at_minus_infinity(self, image)


def _gelu(by_erf: bool, x: Number) -> Number:
    inner = x if by_erf else add(x, by_constant(mul(mul(x, x), x), OF_CUBE))
    inner = by_constant(inner, ROOT_OF_HALF if by_erf else ROOT_OF_2_OVER_PI)
    return mul(mul(x, 0.5), add((erf if by_erf else tanh)(inner), 1.0))


def by_constant(x: Number, factor: Real) -> Number:
    """x times an irrational constant, which the compute type holds rounded."""
    return combined(x.format, lambda y: y * factor, lambda y: y * y.irrational(float(factor.hi)), x)


# --- elu --------------------------------------------------------------------------------------------------------------


@rule("aten::elu")
def elu(self: Number, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    """scale * max(self, 0) + scale * alpha * (e^(input_scale * min(self, 0)) - 1), of which one term is 0."""
    above, below = clamp(self, min=0), clamp(self, max=0)
    lower = mul(add(exp(mul(below, input_scale)), -1), alpha)
    return add(mul(above, scale), mul(lower, scale))


# --- Powers -----------------------------------------------------------------------------------------------------------

POWER_ULPS = 16.0  # pow: OpenCL C 3.0, full profile, section 7.4
LARGEST_POWER = 16
LEAST_SHARE = 0.5  # of a base that its error may be, for a power that is no product


@rule("aten::pow.Tensor_Scalar")
def pow_(self: Number, exponent: float) -> Any:
    """An integer power as a product, or as pow computes it; a half and its negative as roots."""
    fmt = common_format(self, exponent)
    if not fmt.is_float:
        return NotImplemented
    (x,) = operands(fmt, self)
    by_root = {0.5: sqrt, -0.5: rsqrt, -1: reciprocal}
    if exponent in by_root:
        return by_root[exponent](x)
    if exponent not in range(1, LARGEST_POWER + 1):
        return _any_power(x, float(exponent))
    product = x
    for _ in range(int(exponent) - 1):
        product = combined(fmt, operator.mul, operator.mul, product, x)
    return combined(fmt, lambda y: y, lambda y: y.rounded(y.mid, y.rad, POWER_ULPS)._determined(y), product)


def _any_power(x: Number, exponent: float) -> Number:
    """e^(exponent log x), of positive numbers; of others, and of those that may have lost half of theirs, nothing is
    said."""
    if not np.isfinite(exponent):
        raise NoGolden(f"a program cannot use aten::pow with exponent {exponent}: expected a finite one")
    positive = (x.real.hi > 0) & np.isfinite(x.real.hi)
    known = positive & (reach(x.rad) <= LEAST_SHARE * x.real.hi)
    base = where(positive, x.real, Real.exact(np.float64(1)))
    rad = np.where(known, x.rad, 0.0)

    def real(y: Real) -> Real:
        return functions.exp(functions.log(y) * np.float64(exponent))

    def ball(y: Ball) -> Ball:
        with np.errstate(all="ignore"):
            image, share = y.mid**exponent, y.rad / y.mid
            spread = image * np.expm1(abs(exponent) * -np.log1p(-share)) * (1 + 2.0**-40)
            return y.rounded(image, spread, POWER_ULPS)

    flat = Number(x.format, base, rad).moved(lambda part: part.reshape(-1))
    power = combined(x.format, real, ball, flat).moved(lambda part: part.reshape(x.shape))
    return unbounded_where(~known, _with_powers(power, positive, x.real.hi, np.float64(exponent)))


def _with_powers(power: Number, positive: np.ndarray, base: np.ndarray, exponent: np.ndarray) -> Number:
    """`power`, but for bases that are not positive and finite: float64 has their powers, zeros, infinities and NaN, and
    those of negative numbers to its precision."""
    with np.errstate(all="ignore"):
        plain = base**exponent
    unsure = np.where(np.isfinite(plain) & (plain != 0), np.inf, 0.0)
    other = Real(plain, np.zeros(plain.shape), unsure)
    return Number(power.format, where(positive, power.real, other), power.rad)


@rule("aten::pow.Scalar")
def pow_of_scalar(self: float, exponent: Number) -> Any:
    """A Python number to the power of a tensor."""
    fmt = common_format(self, exponent)
    if not fmt.is_float:
        return NotImplemented
    return pow_of_tensors(*operands(fmt, self, exponent))


@rule("aten::pow.Tensor_Tensor")
def pow_of_tensors(self: Number, exponent: Number) -> Any:
    """e^(exponent log self) of positive numbers; of others, and of those that may have lost half of theirs, nothing is
    said."""
    fmt = common_format(self, exponent)
    if not fmt.is_float:
        return NotImplemented
    shape = np.broadcast_shapes(self.shape, exponent.shape)
    x, y = (one.moved(lambda part: np.broadcast_to(part, shape).reshape(-1)) for one in operands(fmt, self, exponent))
    positive = (x.real.hi > 0) & np.isfinite(x.real.hi)
    known = positive & (x.rad <= LEAST_SHARE * x.real.hi)
    base = Number(fmt, where(positive, x.real, Real.exact(np.float64(1))), np.where(known, x.rad, 0.0))

    def ball(a: Ball, b: Ball) -> Ball:
        with np.errstate(all="ignore"):
            image, reach = a.mid**b.mid, -np.log1p(-a.rad / a.mid)
            moved = np.abs(b.mid) * reach + b.rad * (np.abs(np.log(a.mid)) + reach)
            return a.rounded(image, image * np.expm1(moved) * (1 + 2.0**-40), POWER_ULPS)

    power = combined(fmt, lambda a, b: functions.exp(functions.log(a) * b), ball, base, y)
    power = _with_powers(power, positive, x.real.hi, y.real.hi)
    return unbounded_where(~known, power).moved(lambda part: part.reshape(shape))
