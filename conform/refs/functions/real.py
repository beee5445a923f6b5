"""Real functions: each element the real value of the function, rounded once.

Special values follow C99 Annex F where it has the function, torch's documentation elsewhere, docs/policy.md where that
is disputed. Integers and bools are first converted to float32, the default dtype (P18), where torch takes them (P52).
"""

from __future__ import annotations

from collections.abc import Callable
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
    round_mish,
    round_sigmoid,
    round_silu,
    round_softplus,
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
    round_erf,
    round_erfc,
    round_erfinv,
    round_i0,
    round_i1,
    round_lgamma,
    round_ndtr,
    round_ndtri,
)
from conform.refs.references import reference

# The functions that P70 to P75 tell of; the others of OF_COMPLEX_TOO have no complex reference.
OF_COMPLEX: dict[str, Callable[[str, complex], ComplexElement]] = {
    "aten::exp2": complex_exp2,
    "aten::special_exp2": complex_exp2,
    "aten::expm1": complex_expm1,
    "aten::special_expm1": complex_expm1,
    "aten::log": complex_log,
    "aten::log2": complex_log2,
    "aten::log10": complex_log10,
    "aten::log1p": complex_log1p,
    "aten::special_log1p": complex_log1p,
    "aten::rsqrt": complex_rsqrt,
    "aten::reciprocal": complex_reciprocal,
    "aten::cos": complex_cos,
    "aten::tan": complex_tan,
    "aten::asin": complex_asin,
    "aten::acos": complex_acos,
    "aten::atan": complex_atan,
    "aten::sinh": complex_sinh,
    "aten::cosh": complex_cosh,
    "aten::tanh": complex_tanh,
    "aten::asinh": complex_asinh,
    "aten::acosh": complex_acosh,
    "aten::atanh": complex_atanh,
    "aten::sigmoid": complex_sigmoid,
}
Element = Callable[[str, float], float | Unspecified]  # (dtype, x) -> the function of x, which is not NaN
Element2 = Callable[[str, float, float], float | int | Unspecified]

# torch also has these for complex numbers ...
OF_COMPLEX_TOO: dict[str, Element] = {
    "aten::exp2": round_exp2,
    "aten::special_exp2": round_exp2,
    "aten::expm1": round_expm1,
    "aten::special_expm1": round_expm1,
    "aten::log": round_log,
    "aten::log2": round_log2,
    "aten::log10": round_log10,
    "aten::log1p": round_log1p,
    "aten::special_log1p": round_log1p,
    "aten::rsqrt": round_rsqrt,
    "aten::reciprocal": round_reciprocal,
    "aten::cos": round_cos,
    "aten::tan": round_tan,
    "aten::asin": round_asin,
    "aten::acos": round_acos,
    "aten::atan": round_atan,
    "aten::sinh": round_sinh,
    "aten::cosh": round_cosh,
    "aten::tanh": round_tanh,
    "aten::asinh": round_asinh,
    "aten::acosh": round_acosh,
    "aten::atanh": round_atanh,
    "aten::sinc": round_sinc,
    "aten::special_sinc": round_sinc,
    "aten::sigmoid": round_sigmoid,
    "aten::silu": round_silu,
}
# ... and these not.
OF_REALS_ONLY: dict[str, Element] = {
    "aten::erf": round_erf,
    "aten::special_erf": round_erf,
    "aten::erfc": round_erfc,
    "aten::special_erfc": round_erfc,
    "aten::erfinv": round_erfinv,
    "aten::special_erfinv": round_erfinv,
    "aten::special_ndtr": round_ndtr,
    "aten::special_ndtri": round_ndtri,
    "aten::lgamma": round_lgamma,
    "aten::digamma": round_digamma,
    "aten::special_digamma": round_digamma,
    "aten::i0": round_i0,
    "aten::special_i0": round_i0,
    "aten::special_i1": round_i1,
    "aten::mish": round_mish,
    "aten::cbrt": round_cube_root,
}
NOT_OF_INTEGERS = {"aten::silu", "aten::mish"}


def _refuse(op: str, dtype: str, *kinds: int) -> None:
    """ValueError for a category that torch has no kernel for; NotImplementedError for complex where it has one."""
    if category(dtype) in kinds:
        raise ValueError(f"{op} is not defined for {dtype}")
    if category(dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {dtype}")


def _unary(op: str, element: Element, self: RefTensor) -> RefTensor:
    integers = (BOOL, INTEGER) if op in NOT_OF_INTEGERS else ()
    if category(self.dtype) == COMPLEX and op in OF_COMPLEX:
        return map_complex(self, OF_COMPLEX[op])
    _refuse(op, self.dtype, *integers, *((COMPLEX,) if op in OF_REALS_ONLY else ()))
    dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
    once = cache(lambda x, _sign: element(dtype, x))  # integers repeat; -0.0 == 0.0, so the sign is part of the key
    data = [nan if isnan(x) else once(x, copysign(1.0, x)) for x in converted(self, dtype)]
    return RefTensor(dtype, self.shape, data)


def _register(op: str, element: Element) -> None:
    def function(self: RefTensor) -> RefTensor:
        return _unary(op, element, self)

    function.__name__, function.__doc__ = element.__name__, element.__doc__
    reference(op)(function)


for _op, _element in (OF_COMPLEX_TOO | OF_REALS_ONLY).items():
    _register(_op, _element)


@reference("aten::angle")
def angle(self: RefTensor) -> RefTensor:
    """The angle of self in radians: of real numbers pi below zero, else 0 (P74)."""
    if category(self.dtype) == COMPLEX:
        return map_to_real(self, complex_angle)
    return _unary("aten::angle", round_angle, self)


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


@reference("aten::atan2")
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


@reference("aten::xlogy.Tensor", "aten::xlogy.Scalar_Self", "aten::xlogy.Scalar_Other")
@reference("aten::special_xlogy", "aten::special_xlogy.self_scalar", "aten::special_xlogy.other_scalar")
def xlogy(self: Operand, other: Operand) -> RefTensor:
    """self * log(other): NaN where other is, else 0 where self is 0."""
    operands = common_operands(self, other, floating=True)
    _refuse("xlogy", operands[0], COMPLEX)
    return _binary(operands, round_xlogy)
