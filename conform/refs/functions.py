"""Real functions: each element the real value of the function, rounded once.

Special values follow C99 Annex F where it has the function, torch's documentation elsewhere; docs/policy.md has what is
disputed. A function that is not rational at a point needs no more than a ball that shrinks; each docstring says where
its values are rational, or that no such point is known (there a ball would never decide, and `round_real` says so).
Lindemann: e^x of an algebraic x other than 0 is transcendental; so are the logarithms of algebraic numbers but 1, and
with both the trigonometric and hyperbolic functions and their inverses.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import copysign, frexp, inf, isfinite, isinf, isnan, nan

from flint import arb

from conform.refs.powers import round_atan2, round_hypot, round_pow
from conform.refs.promotion import (
    BOOL,
    COMPLEX,
    FLOAT,
    INTEGER,
    Operand,
    Scalar,
    category,
    common_operands,
    converted,
)
from conform.refs.reals import exact, round_exact, round_real
from conform.refs.registry import reference
from conform.refs.rounding import INTEGER_RANGES, round_dyadic, round_number, round_ratio, round_sqrt, wrap_integer
from conform.refs.tensor import UNSPECIFIED, RefTensor, Unspecified

Element = Callable[[str, float], float | Unspecified]  # (dtype, x) -> the function of x, which is not NaN


def _refuse(op: str, dtype: str, integers: bool, complexes: bool) -> None:
    """ValueError for a dtype of a category that torch has no kernel for; NotImplementedError for other complex ones."""
    kind = category(dtype)
    if (kind <= INTEGER and not integers) or (kind == COMPLEX and not complexes):
        raise ValueError(f"{op} is not defined for {dtype}")
    if kind == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {dtype}")


def _function(*names: str, integers: bool = True, complexes: bool = False) -> Callable[[Element], Element]:
    """Register an element function under op names; `integers` and `complexes`: whether torch takes such tensors.

    Integers and bools are first converted to float32, the default dtype (P18). The function of NaN is NaN.
    """

    def register(element: Element) -> Element:
        def op(self: RefTensor) -> RefTensor:
            _refuse(names[0], self.dtype, integers, complexes)
            dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
            return RefTensor(dtype, self.shape, [nan if isnan(x) else element(dtype, x) for x in converted(self, dtype)])

        op.__doc__, op.__name__ = element.__doc__, element.__name__
        reference(*(f"aten::{name}" for name in names))(op)
        return element

    return register


def _round(dtype: str, function: Callable[[arb], arb], x: float) -> float:
    return round_real(dtype, lambda: function(arb(x)))


# ---- exponentials and logarithms ---------------------------------------------------------------------------------


@_function("exp2", "special_exp2", complexes=True)
def exp2(dtype: str, x: float) -> float:
    """2^x; rational only for integers (2^(p/q) in lowest terms has degree q)."""
    if abs(x) > 2000:  # beyond every format's range
        return inf if x > 0 else 0.0
    if x.is_integer():
        return round_dyadic(dtype, 1, int(x))
    return _round(dtype, lambda ball: (ball * arb.const_log2()).exp(), x)


@_function("expm1", "special_expm1", complexes=True)
def expm1(dtype: str, x: float) -> float:
    """e^x - 1."""
    if x == 0:
        return x
    if abs(x) > 1024:  # e^1024 > 2^1024; e^-1024 is far below the distance of -1 to a midpoint
        return inf if x > 0 else -1.0
    return _round(dtype, arb.expm1, x)


def _log_limit(x: float) -> float | None:
    """What every logarithm is at 0, 1, infinity and below 0; None elsewhere."""
    if x < 0:
        return nan
    return {0.0: -inf, 1.0: 0.0, inf: inf}.get(x)


@_function("log", complexes=True)
def log(dtype: str, x: float) -> float:
    """The natural logarithm."""
    limit = _log_limit(x)
    return _round(dtype, arb.log, x) if limit is None else limit


@_function("log2", complexes=True)
def log2(dtype: str, x: float) -> float:
    """The logarithm to base 2; rational only for powers of two (unique factorisation)."""
    limit = _log_limit(x)
    if limit is not None:
        return limit
    mantissa, exponent = frexp(x)  # x = mantissa * 2^exponent, 0.5 <= mantissa < 1
    if mantissa == 0.5:
        return round_number(dtype, exponent - 1)
    return _round(dtype, lambda ball: ball.log() / arb.const_log2(), x)


@_function("log10", complexes=True)
def log10(dtype: str, x: float) -> float:
    """The logarithm to base 10; rational only for 1, 10, 100, ...: other powers of ten are no binary numbers."""
    limit = _log_limit(x)
    if limit is not None:
        return limit
    power = len(str(int(x))) - 1
    if x == 10**power:
        return round_number(dtype, power)
    return _round(dtype, lambda ball: ball.log() / arb.const_log10(), x)


@_function("log1p", "special_log1p", complexes=True)
def log1p(dtype: str, x: float) -> float:
    """log(1 + x)."""
    if x == 0 or x == inf:
        return x
    if x <= -1:
        return -inf if x == -1 else nan
    return _round(dtype, arb.log1p, x)


# ---- roots and quotients -----------------------------------------------------------------------------------------


@_function("rsqrt", complexes=True)
def rsqrt(dtype: str, x: float) -> float:
    """1 / sqrt(x); of -0 it is -inf, as sqrt(-0) is -0 (IEEE 754-2019, 9.2.1, rSqrt)."""
    if x == 0:
        return copysign(inf, x)
    if x < 0 or x == inf:
        return nan if x < 0 else 0.0
    numerator, denominator = x.as_integer_ratio()
    return round_sqrt(dtype, denominator, numerator)


@_function("reciprocal", complexes=True)
def reciprocal(dtype: str, x: float) -> float:
    """1 / x."""
    if x == 0 or isinf(x):
        return copysign(inf if x == 0 else 0.0, x)
    numerator, denominator = x.as_integer_ratio()
    return round_ratio(dtype, denominator, numerator)


# ---- trigonometric functions -------------------------------------------------------------------------------------


@_function("cos", complexes=True)
def cos(dtype: str, x: float) -> float:
    """The cosine of x in radians."""
    if x == 0 or isinf(x):
        return 1.0 if x == 0 else nan
    return _round(dtype, arb.cos, x)


@_function("tan", complexes=True)
def tan(dtype: str, x: float) -> float:
    """The tangent of x in radians."""
    if x == 0 or isinf(x):
        return x if x == 0 else nan
    return _round(dtype, arb.tan, x)


@_function("asin", complexes=True)
def asin(dtype: str, x: float) -> float:
    """The angle in [-pi/2, pi/2] whose sine is x."""
    if x == 0 or abs(x) > 1:
        return x if x == 0 else nan
    return _round(dtype, arb.asin, x)


@_function("acos", complexes=True)
def acos(dtype: str, x: float) -> float:
    """The angle in [0, pi] whose cosine is x."""
    if x == 1 or abs(x) > 1:
        return 0.0 if x == 1 else nan
    return _round(dtype, arb.acos, x)


@_function("atan", complexes=True)
def atan(dtype: str, x: float) -> float:
    """The angle in [-pi/2, pi/2] whose tangent is x."""
    return round_atan2(dtype, x, 1.0)


@_function("sinc", "special_sinc", complexes=True)
def sinc(dtype: str, x: float) -> float | Unspecified:
    """sin(pi x) / (pi x), and 1 at 0. sin(pi x) is algebraic and pi is not: rational only at integers (P49, P50)."""
    if isinf(x):
        return UNSPECIFIED
    if x.is_integer():
        return 1.0 if x == 0 else 0.0
    return _round(dtype, arb.sinc_pi, x)


# ---- hyperbolic functions ----------------------------------------------------------------------------------------


@_function("sinh", complexes=True)
def sinh(dtype: str, x: float) -> float:
    """(e^x - e^-x) / 2."""
    if x == 0:
        return x
    return copysign(inf, x) if abs(x) > 1024 else _round(dtype, arb.sinh, x)  # e^1024 / 2 > 2^1024


@_function("cosh", complexes=True)
def cosh(dtype: str, x: float) -> float:
    """(e^x + e^-x) / 2."""
    if x == 0:
        return 1.0
    return inf if abs(x) > 1024 else _round(dtype, arb.cosh, x)


@_function("tanh", complexes=True)
def tanh(dtype: str, x: float) -> float:
    """sinh x / cosh x."""
    if x == 0:
        return x
    return copysign(1.0, x) if abs(x) > 64 else _round(dtype, arb.tanh, x)  # 1 - tanh 64 < 2^-183


@_function("asinh", complexes=True)
def asinh(dtype: str, x: float) -> float:
    """The number whose sinh is x."""
    return x if x == 0 or isinf(x) else _round(dtype, arb.asinh, x)


@_function("acosh", complexes=True)
def acosh(dtype: str, x: float) -> float:
    """The number >= 0 whose cosh is x."""
    if x <= 1:
        return 0.0 if x == 1 else nan
    return inf if x == inf else _round(dtype, arb.acosh, x)


@_function("atanh", complexes=True)
def atanh(dtype: str, x: float) -> float:
    """The number whose tanh is x."""
    if x == 0 or abs(x) > 1:
        return x if x == 0 else nan
    return copysign(inf, x) if abs(x) == 1 else _round(dtype, arb.atanh, x)


# ---- the error function and the normal distribution: no rational value but those at 0 and infinity is known --------


@_function("erf", "special_erf")
def erf(dtype: str, x: float) -> float:
    """2 / sqrt(pi) times the integral of e^(-t^2) from 0 to x."""
    if x == 0:
        return x
    return copysign(1.0, x) if abs(x) > 64 else _round(dtype, arb.erf, x)  # erfc 64 < e^-4096


@_function("erfc", "special_erfc")
def erfc(dtype: str, x: float) -> float:
    """1 - erf x."""
    if x == 0:
        return 1.0
    if abs(x) > 64:
        return 0.0 if x > 0 else 2.0
    return _round(dtype, arb.erfc, x)


@_function("erfinv", "special_erfinv")
def erfinv(dtype: str, x: float) -> float:
    """The number whose erf is x."""
    if x == 0 or abs(x) > 1:
        return x if x == 0 else nan
    return copysign(inf, x) if abs(x) == 1 else _round(dtype, arb.erfinv, x)


@_function("special_ndtr")
def ndtr(dtype: str, x: float) -> float:
    """The normal distribution function: erfc(-x / sqrt 2) / 2."""
    if x == 0:
        return 0.5
    if abs(x) > 64:  # the smaller tail is below e^-2048
        return 1.0 if x > 0 else 0.0
    return _round(dtype, lambda ball: (-ball / arb(2).sqrt()).erfc() / 2, x)


@_function("special_ndtri")
def ndtri(dtype: str, x: float) -> float:
    """The number whose normal distribution function is x: -sqrt 2 * erfcinv(2 x)."""
    limits = {0.0: -inf, 0.5: 0.0, 1.0: inf}
    if x in limits or not 0 < x < 1:
        return limits.get(x, nan)
    return _round(dtype, lambda ball: -arb(2).sqrt() * (2 * ball).erfcinv(), x)


# ---- the gamma function: no rational value is known but lgamma 1 and lgamma 2 ---------------------------------------


@_function("lgamma")
def lgamma(dtype: str, x: float) -> float:
    """log |Gamma(x)|; at the poles, and at both infinities, +inf (P43)."""
    if x in (1.0, 2.0):
        return 0.0
    if isinf(x) or (x <= 0 and x.is_integer()):
        return inf
    return _round(dtype, _log_gamma if x > 0 else _log_gamma_reflected, x)


def _log_gamma(x: arb) -> arb:
    return x.lgamma()


def _log_gamma_reflected(x: arb) -> arb:
    """By Gamma(x) Gamma(1 - x) = pi / sin(pi x)."""
    return (arb.pi() / abs(x.sin_pi())).log() - (1 - x).lgamma()


@_function("digamma", "special_digamma")
def digamma(dtype: str, x: float) -> float:
    """The derivative of log Gamma(x); at its poles NaN, but -inf at +0 and +inf at -0 (P44)."""
    if x == 0:
        return copysign(inf, -x)
    if isinf(x) or (x < 0 and x.is_integer()):
        return inf if x > 0 else nan
    return _round(dtype, arb.digamma, x)


# ---- Bessel functions: transcendental but at 0 (Siegel) -------------------------------------------------------------


@_function("i0", "special_i0")
def i0(dtype: str, x: float) -> float:
    """The modified Bessel function of the first kind and order 0."""
    if x == 0:
        return 1.0
    return inf if abs(x) > 1024 else _round(dtype, lambda ball: ball.bessel_i(0), x)  # I_0(1024) > 2^1400


@_function("special_i1")
def i1(dtype: str, x: float) -> float:
    """The modified Bessel function of the first kind and order 1."""
    if x == 0:
        return x
    return copysign(inf, x) if abs(x) > 1024 else _round(dtype, lambda ball: ball.bessel_i(1), x)  # I_1(1024) > 2^1400


# ---- activations: transcendental but at 0 ---------------------------------------------------------------------------


@_function("sigmoid", complexes=True)
def sigmoid(dtype: str, x: float) -> float:
    """1 / (1 + e^-x)."""
    if x == 0:
        return 0.5
    if abs(x) > 1024:  # e^-1024 < 2^-1477
        return 1.0 if x > 0 else 0.0
    return _round(dtype, lambda ball: 1 / (1 + (-ball).exp()), x)


@_function("silu", integers=False, complexes=True)
def silu(dtype: str, x: float) -> float | Unspecified:
    """x / (1 + e^-x)."""
    if x == 0 or abs(x) > 1024:
        return _activation_limit(x)
    return _round(dtype, lambda ball: ball / (1 + (-ball).exp()), x)


@_function("mish", integers=False)
def mish(dtype: str, x: float) -> float | Unspecified:
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


@reference("aten::softplus")
def softplus(self: RefTensor, beta: Scalar = 1, threshold: Scalar = 20) -> RefTensor:
    """log(1 + e^(beta x)) / beta, and x itself where beta x > threshold (P48)."""
    _refuse("softplus", self.dtype, integers=False, complexes=False)
    if isinstance(beta, complex) or isinstance(threshold, complex):
        raise ValueError(f"softplus needs a real beta and threshold, found {beta!r} and {threshold!r}")
    data = [_softplus(self.dtype, x, float(beta), float(threshold)) for x in self.data]
    return RefTensor(self.dtype, self.shape, data)


def _softplus(dtype: str, x: float, beta: float, threshold: float) -> float:
    """Transcendental (Lindemann-Weierstrass: 1 + e^(beta x) = e^(beta y) for no algebraic y)."""
    finite = isfinite(x) and isfinite(beta)
    scaled = Fraction(x) * Fraction(beta) if finite else x * beta
    if scaled > threshold:
        return x
    if not finite:
        return scaled / beta if isnan(scaled) or scaled > 0 else 0.0 / beta  # log(1 + e^inf), log(1 + e^-inf)
    if beta == 0:
        return copysign(inf, beta)  # log 2 / 0
    return round_real(dtype, lambda: _log1p_exp(arb(x) * arb(beta)) / arb(beta))


def _log1p_exp(x: arb) -> arb:
    """log(1 + e^x). Where |x| > 4000, e^-4000 < 2^-5770 stands for the smaller e^-|x|: over any double, both vanish."""
    return x.max(arb(0)) + (-abs(x)).max(arb(-4000)).exp().log1p()


# ---- two operands ------------------------------------------------------------------------------------------------


def _binary(operands: tuple[str, tuple, list[list]], element: Callable[[str, float, float], float]) -> RefTensor:
    dtype, shape, (lhs, rhs) = operands
    return RefTensor(dtype, shape, [element(dtype, x, y) for x, y in zip(lhs, rhs, strict=True)])


@reference("aten::pow.Tensor_Tensor", "aten::pow.Tensor_Scalar", "aten::pow.Scalar")
def pow_(self: Operand, exponent: Operand) -> RefTensor:
    """self to the power of exponent; integers wrap, and their negative powers are refused or left open (P45, P46)."""
    operands = common_operands(self, exponent)
    dtype = operands[0]
    kind = category(dtype)
    _refuse("pow", dtype, integers=kind != BOOL, complexes=True)
    if kind == FLOAT:
        return _binary(operands, round_pow)
    if isinstance(exponent, int):
        _check_integer_exponent(exponent, dtype)
    return _binary(operands, _power_of_integers)


def _check_integer_exponent(exponent: int, dtype: str) -> None:
    """ValueError for a Python integer that is negative or that the dtype does not hold."""
    if not 0 <= exponent <= INTEGER_RANGES[dtype][1]:
        raise ValueError(f"integers to the power of a Python integer need 0 to the {dtype} maximum, found {exponent}")


def _power_of_integers(dtype: str, x: int, y: int) -> int | Unspecified:
    low, high = INTEGER_RANGES[dtype]
    return UNSPECIFIED if y < 0 else wrap_integer(dtype, pow(x, y, high - low + 1))


@reference("aten::hypot")
def hypot(self: RefTensor, other: RefTensor) -> RefTensor:
    """sqrt(self^2 + other^2)."""
    operands = common_operands(self, other)
    _refuse("hypot", operands[0], integers=False, complexes=False)
    return _binary(operands, round_hypot)


@reference("aten::atan2")
def atan2(self: RefTensor, other: RefTensor) -> RefTensor:
    """The angle of the point (other, self)."""
    operands = common_operands(self, other, floating=True)
    _refuse("atan2", operands[0], integers=True, complexes=False)
    return _binary(operands, round_atan2)


@reference("aten::logaddexp")
def logaddexp(self: RefTensor, other: RefTensor) -> RefTensor:
    """log(e^self + e^other)."""
    operands = common_operands(self, other)
    _refuse("logaddexp", operands[0], integers=False, complexes=True)
    return _binary(operands, _logaddexp)


def _logaddexp(dtype: str, x: float, y: float) -> float:
    """Transcendental for finite operands (Lindemann-Weierstrass: e^x + e^y = e^z for no algebraic z)."""
    if isnan(x) or isnan(y):
        return nan
    lesser, greater = sorted((x, y))
    if isinf(lesser) or isinf(greater):  # P47: all but +inf and -inf are the greater operand; log(e^-inf + e^-0) is +0
        return round_exact(dtype, exact(greater))
    return round_real(dtype, lambda: arb(greater) + _log1p_exp(arb(lesser) - arb(greater)))


@reference("aten::xlogy.Tensor", "aten::xlogy.Scalar_Self", "aten::xlogy.Scalar_Other")
@reference("aten::special_xlogy", "aten::special_xlogy.self_scalar", "aten::special_xlogy.other_scalar")
def xlogy(self: Operand, other: Operand) -> RefTensor:
    """self * log(other): NaN if other is, else 0 where self is 0 (torch.xlogy)."""
    operands = common_operands(self, other, floating=True)
    _refuse("xlogy", operands[0], integers=True, complexes=False)
    return _binary(operands, _xlogy)


def _xlogy(dtype: str, x: float, y: float) -> float:
    if isnan(x) or isnan(y):
        return nan
    if x == 0:
        return 0.0  # P51
    log_y = _log_limit(y)
    if log_y is not None:
        return x * log_y  # nan, 0 or infinite
    if isinf(x):
        return x if y > 1 else -x
    return round_real(dtype, lambda: arb(x) * arb(y).log())
