"""Real functions: each element the real value of the function, rounded once.

Special values follow C99 Annex F where it has the function, torch's documentation elsewhere, docs/policy.md where that
is disputed. Integers and bools are first converted to float32, the default dtype (P18), where torch takes them (P52).
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import copysign, isnan, nan

from conform.refs.exact.complex_parts import ComplexElement, map_complex, map_to_real
from conform.refs.exact.promotion import (
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
from conform.refs.exact.rounding import COMPONENTS, INTEGER_RANGES, wrap_integer
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.functions.activations import (
    round_logaddexp,
    round_logaddexp2,
    round_logit,
    round_mish,
    round_sigmoid,
    round_silu,
    round_softplus,
    round_xlog1py,
    round_xlogy,
)
from conform.refs.functions.complex_functions import (
    complex_angle,
    complex_cos,
    complex_cosh,
    complex_reciprocal,
    complex_sinh,
)
from conform.refs.functions.complex_logarithms import (
    complex_acos,
    complex_acosh,
    complex_asin,
    complex_asinh,
    complex_atan,
    complex_atanh,
    complex_exp2,
    complex_expm1,
    complex_log,
    complex_log1p,
    complex_log2,
    complex_log10,
    complex_tan,
    complex_tanh,
)
from conform.refs.functions.complex_powers import complex_pow, complex_rsqrt, complex_sigmoid
from conform.refs.functions.elementary import (
    round_acos,
    round_acosh,
    round_asin,
    round_asinh,
    round_atan,
    round_atanh,
    round_cos,
    round_cosh,
    round_cube_root,
    round_exp2,
    round_expm1,
    round_log,
    round_log1p,
    round_log2,
    round_log10,
    round_reciprocal,
    round_rsqrt,
    round_sinc,
    round_sinh,
    round_tan,
    round_tanh,
)
from conform.refs.functions.powers import round_angle, round_atan2, round_hypot, round_pow
from conform.refs.functions.special import (
    round_digamma,
    round_entr,
    round_erf,
    round_erfc,
    round_erfcx,
    round_erfinv,
    round_i0,
    round_i0e,
    round_i1,
    round_i1e,
    round_j0,
    round_j1,
    round_k0,
    round_k0e,
    round_k1,
    round_k1e,
    round_lgamma,
    round_log_ndtr,
    round_ndtr,
    round_ndtri,
    round_spherical_j0,
)
from conform.refs.references import reference

Element = Callable[[str, float], float | Unspecified]  # (dtype, x) -> the function of x, which is not NaN
Element2 = Callable[[str, float, float], float | int | Unspecified]

ComplexFunction = Callable[[str, complex], ComplexElement]


def _refuse(op: str, dtype: str, *kinds: int) -> None:
    """ValueError for a category that torch has no kernel for; NotImplementedError for complex where it has one."""
    if category(dtype) in kinds:
        raise ValueError(f"{op} is not defined for {dtype}")
    if category(dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {dtype}")


def _define(
    element: Element, *ops: str, of_complex: ComplexFunction | None = None, refuses: tuple[int, ...] = ()
) -> None:
    """Give the overloads `ops` the function `element` as their meaning, and `of_complex` as that of complex numbers;
    torch has no kernels of the categories `refuses`."""

    def function(self: RefTensor) -> RefTensor:
        if of_complex is not None and category(self.dtype) == COMPLEX:
            return map_complex(self, of_complex)
        _refuse(ops[0], self.dtype, *refuses)
        return _mapped(element, self)

    function.__name__, function.__doc__ = element.__name__, element.__doc__
    reference(*ops)(function)


def _mapped(element: Element, self: RefTensor) -> RefTensor:
    dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
    once = cache(lambda x, _sign: element(dtype, x))  # integers repeat; -0.0 == 0.0, so the sign is part of the key
    data = [nan if isnan(x) else once(x, copysign(1.0, x)) for x in converted(self, dtype)]
    return RefTensor(dtype, self.shape, data)


_define(round_exp2, "aten::exp2", "aten::special_exp2", of_complex=complex_exp2)
_define(round_expm1, "aten::expm1", "aten::special_expm1", of_complex=complex_expm1)
_define(round_log, "aten::log", of_complex=complex_log)
_define(round_log2, "aten::log2", of_complex=complex_log2)
_define(round_log10, "aten::log10", of_complex=complex_log10)
_define(round_log1p, "aten::log1p", "aten::special_log1p", of_complex=complex_log1p)
_define(round_rsqrt, "aten::rsqrt", of_complex=complex_rsqrt)
_define(round_reciprocal, "aten::reciprocal", of_complex=complex_reciprocal)
_define(round_cos, "aten::cos", of_complex=complex_cos)
_define(round_tan, "aten::tan", of_complex=complex_tan)
_define(round_asin, "aten::asin", "aten::arcsin", of_complex=complex_asin)
_define(round_acos, "aten::acos", "aten::arccos", of_complex=complex_acos)
_define(round_atan, "aten::atan", "aten::arctan", of_complex=complex_atan)
_define(round_sinh, "aten::sinh", of_complex=complex_sinh)
_define(round_cosh, "aten::cosh", of_complex=complex_cosh)
_define(round_tanh, "aten::tanh", of_complex=complex_tanh)
_define(round_asinh, "aten::asinh", "aten::arcsinh", of_complex=complex_asinh)
_define(round_acosh, "aten::acosh", "aten::arccosh", of_complex=complex_acosh)
_define(round_atanh, "aten::atanh", "aten::arctanh", of_complex=complex_atanh)
_define(round_sinc, "aten::sinc", "aten::special_sinc")
_define(round_sigmoid, "aten::sigmoid", "aten::special_expit", of_complex=complex_sigmoid)
_define(round_silu, "aten::silu", refuses=(BOOL, INTEGER))
_define(round_erf, "aten::erf", "aten::special_erf", refuses=(COMPLEX,))
_define(round_erfc, "aten::erfc", "aten::special_erfc", refuses=(COMPLEX,))
_define(round_erfinv, "aten::erfinv", "aten::special_erfinv", refuses=(COMPLEX,))
_define(round_ndtr, "aten::special_ndtr", refuses=(COMPLEX,))
_define(round_ndtri, "aten::special_ndtri", refuses=(COMPLEX,))
_define(round_lgamma, "aten::lgamma", "aten::special_gammaln", refuses=(COMPLEX,))
_define(round_digamma, "aten::digamma", "aten::special_psi", "aten::special_digamma", refuses=(COMPLEX,))
_define(round_i0, "aten::i0", "aten::special_i0", "aten::special_modified_bessel_i0", refuses=(COMPLEX,))
_define(round_i1, "aten::special_i1", "aten::special_modified_bessel_i1", refuses=(COMPLEX,))
_define(round_i0e, "aten::special_i0e", refuses=(COMPLEX,))
_define(round_i1e, "aten::special_i1e", refuses=(COMPLEX,))
_define(round_erfcx, "aten::special_erfcx", refuses=(COMPLEX,))
_define(round_log_ndtr, "aten::special_log_ndtr", refuses=(COMPLEX,))
_define(round_entr, "aten::special_entr", refuses=(COMPLEX,))
_define(round_j0, "aten::special_bessel_j0", refuses=(COMPLEX,))
_define(round_j1, "aten::special_bessel_j1", refuses=(COMPLEX,))
_define(round_k0, "aten::special_modified_bessel_k0", refuses=(COMPLEX,))
_define(round_k1, "aten::special_modified_bessel_k1", refuses=(COMPLEX,))
_define(round_mish, "aten::mish", refuses=(BOOL, INTEGER, COMPLEX))
_define(round_cube_root, "aten::cbrt", refuses=(COMPLEX,))


@reference("aten::angle")
def angle(self: RefTensor) -> RefTensor:
    """The angle of self in radians: of real numbers pi below zero, else 0 (P74)."""
    if category(self.dtype) == COMPLEX:
        return map_to_real(self, complex_angle)
    return _mapped(round_angle, self)


@reference("aten::softplus")
def softplus(self: RefTensor, beta: Scalar = 1, threshold: Scalar = 20) -> RefTensor:
    """log(1 + e^(beta self)) / beta, and self where beta self > threshold."""
    _refuse("softplus", self.dtype, BOOL, INTEGER, COMPLEX)
    if isinstance(beta, complex) or isinstance(threshold, complex):
        raise ValueError(f"softplus needs a real beta and threshold, found {beta!r} and {threshold!r}")
    data = [nan if isnan(x) else round_softplus(self.dtype, x, float(beta), float(threshold)) for x in self.data]
    return RefTensor(self.dtype, self.shape, data)


def _binary(operands: tuple[str, tuple, list[list]], element: Element2) -> RefTensor:
    dtype, shape, (lhs, rhs) = operands
    return RefTensor(dtype, shape, [element(dtype, x, y) for x, y in zip(lhs, rhs, strict=True)])


@reference("aten::pow.Tensor_Tensor", "aten::pow.Tensor_Scalar", "aten::pow.Scalar")
def pow_(self: Operand, exponent: Operand) -> RefTensor:
    """self to the power of exponent; integers wrap (P10), and their negative powers are refused or open (P45, P46)."""
    operands = common_operands(self, exponent)
    dtype = operands[0]
    if category(dtype) == COMPLEX:
        return _binary(operands, lambda _, x, y: complex_pow(COMPONENTS[dtype], x, y))
    _refuse("pow", dtype, BOOL)
    if category(dtype) == FLOAT:
        return _binary(operands, round_pow)
    if isinstance(exponent, int):
        _check_integer_exponent(exponent, dtype)
    return _binary(operands, _power_of_integers)


def _check_integer_exponent(exponent: int, dtype: str) -> None:
    """ValueError for a Python integer that is negative or that the dtype does not hold (P45)."""
    greatest = INTEGER_RANGES[dtype][1]
    if not 0 <= exponent <= greatest:
        raise ValueError(f"a Python integer as the exponent of {dtype} is 0 to {greatest}, found {exponent}")


def _power_of_integers(dtype: str, x: int, y: int) -> int | Unspecified:
    if y < 0:
        return UNSPECIFIED  # P46
    low, high = INTEGER_RANGES[dtype]
    return wrap_integer(dtype, pow(x, y, high - low + 1))


@reference("aten::hypot")
def hypot(self: RefTensor, other: RefTensor) -> RefTensor:
    """sqrt(self^2 + other^2)."""
    operands = common_operands(self, other)
    _refuse("hypot", operands[0], BOOL, INTEGER, COMPLEX)
    return _binary(operands, round_hypot)


@reference("aten::atan2", "aten::arctan2")
def atan2(self: RefTensor, other: RefTensor) -> RefTensor:
    """The angle of the point (other, self), in radians."""
    operands = common_operands(self, other, floating=True)
    _refuse("atan2", operands[0], COMPLEX)
    return _binary(operands, round_atan2)


@reference("aten::logaddexp")
def logaddexp(self: RefTensor, other: RefTensor) -> RefTensor:
    """log(e^self + e^other)."""
    operands = common_operands(self, other)
    _refuse("logaddexp", operands[0], BOOL, INTEGER)
    return _binary(operands, round_logaddexp)


@reference("aten::logaddexp2")
def logaddexp2(self: RefTensor, other: RefTensor) -> RefTensor:
    """log2(2^self + 2^other)."""
    operands = common_operands(self, other)
    _refuse("logaddexp2", operands[0], BOOL, INTEGER)
    return _binary(operands, round_logaddexp2)


@reference("aten::logit", "aten::special_logit")
def logit(self: RefTensor, eps: float | None = None) -> RefTensor:
    """log(z / (1 - z)), z being self, and with eps what is nearest to it in [eps, 1 - eps]; NaN outside [0, 1]."""
    _refuse("logit", self.dtype, COMPLEX)
    if eps is not None and not 0 <= eps <= 0.5:
        raise NotImplementedError(f"the reference of logit has eps between 0 and 1/2, found {eps}")

    def element(dtype: str, x: float) -> float:
        if eps is None:
            return round_logit(dtype, Fraction(x)) if 0 <= x <= 1 else nan
        low, high = Fraction(eps), 1 - Fraction(eps)
        return round_logit(dtype, low if x < low else high if x > high else Fraction(x))

    return _mapped(element, self)


@reference("aten::xlogy.Tensor", "aten::xlogy.Scalar_Self", "aten::xlogy.Scalar_Other")
@reference("aten::special_xlogy", "aten::special_xlogy.self_scalar", "aten::special_xlogy.other_scalar")
def xlogy(self: Operand, other: Operand) -> RefTensor:
    """self * log(other): NaN where other is, else 0 where self is 0."""
    operands = common_operands(self, other, floating=True)
    _refuse("xlogy", operands[0], COMPLEX)
    return _binary(operands, round_xlogy)


@reference("aten::special_xlog1py", "aten::special_xlog1py.self_scalar", "aten::special_xlog1py.other_scalar")
def xlog1py(self: Operand, other: Operand) -> RefTensor:
    """self * log(1 + other): NaN where other is, else 0 where self is 0."""
    operands = common_operands(self, other, floating=True)
    _refuse("xlog1py", operands[0], COMPLEX)
    return _binary(operands, round_xlog1py)


def _define_of_x(element: Element, op: str) -> None:
    """`_define` of an overload whose operand is called x."""

    def function(x: RefTensor) -> RefTensor:
        _refuse(op, x.dtype, COMPLEX)
        return _mapped(element, x)

    function.__name__, function.__doc__ = element.__name__, element.__doc__
    reference(op)(function)


_define_of_x(round_k0e, "aten::special_scaled_modified_bessel_k0")
_define_of_x(round_k1e, "aten::special_scaled_modified_bessel_k1")
_define_of_x(round_spherical_j0, "aten::special_spherical_bessel_j0")
