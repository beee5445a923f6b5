"""Parts of complex functions at the ends of float64's range, with the exponent held apart: see range_ends.py."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from conform.numerics.eft import two_prod
from conform.numerics.functions import complex_inverse_ends, dd, far_powers, range_ends
from conform.numerics.functions import complex_kernels as kernels
from conform.numerics.functions.dd import Array
from conform.numerics.functions.exponential import exp_scaled
from conform.numerics.functions.range_ends import Kernel, either, odd
from conform.numerics.scaled import FAINT, FARTHEST, Scaled

POWER_ERROR = 2.0**-80  # of powers that are not better known far_powers.py is asked


def _of(kernel: kernels.Kernel) -> Kernel:
    """What a double-double kernel knows."""

    def known(*operands: Array) -> Scaled:
        value, error = kernel(*map(dd.of, operands))
        return Scaled.of(*value, error).known_where(np.abs(value[0]) > dd.SAFE_MIN)

    return known


def product(first: Kernel, second: Kernel) -> Kernel:
    """first(x) * second(y)"""

    def kernel(x: Array, y: Array) -> Scaled:
        one, other = first(x), second(y)
        return one.times(other).times_power_of_two(other.exponent)

    return kernel


def _minus(kernel: Kernel) -> Kernel:
    return lambda *operands: -kernel(*operands)


def quotient_real(a: Array, b: Array, c: Array, d: Array) -> Scaled:
    """(ac + bd) / (c^2 + d^2); without error a / c of a real divisor and b / d of an imaginary one that are doubles."""
    numerator, above = _sum_of_products(a, c, b, d)
    denominator, below = _sum_of_products(c, c, d, d)
    (hi, lo), exponent = dd.div(numerator, denominator), above - below
    of_part, its_exponent = np.frexp(np.where(d == 0, a, b))
    divisor, own_exponent = np.frexp(np.where(d == 0, c, d))
    quotient = of_part / divisor
    product, rest = two_prod(quotient, divisor)
    is_double = ((c == 0) | (d == 0)) & (product == of_part) & (rest == 0)
    hi, lo = np.where(is_double, quotient, hi), np.where(is_double, 0.0, lo)
    exponent = np.where(is_double, its_exponent - own_exponent, exponent)
    return Scaled.of(hi, lo, np.where(is_double, 0.0, kernels.RATIONAL_ERROR + 2.0**-290), exponent)


def _sum_of_products(a: Array, b: Array, c: Array, d: Array) -> tuple[dd.DD, Array]:
    """(s, k): ab + cd = s 2^k. A product more than FAINT binades below the other is taken to be that far below it."""
    (a, b, c, d), exponents = zip(*map(np.frexp, (a, b, c, d)), strict=True)
    products = two_prod(a, b), two_prod(c, d)
    sums = exponents[0] + exponents[1], exponents[2] + exponents[3]
    own = [np.where(each[0] == 0, -FARTHEST, k) for each, k in zip(products, sums, strict=True)]
    top = np.maximum(*own)
    terms = [dd.scale(each, np.ldexp(1.0, np.maximum(k - top, -FAINT))) for each, k in zip(products, own, strict=True)]
    return dd.add(*terms), top


def quotient_imag(a: Array, b: Array, c: Array, d: Array) -> Scaled:
    """(bc - ad) / (c^2 + d^2)"""
    return quotient_real(b, -a, c, d)


def _reciprocal(part: Kernel) -> Kernel:
    return lambda x, y: part(np.ones_like(x), np.zeros_like(x), x, y)


def _power(function: kernels.Kernel) -> Kernel:
    """A part of (x + iy)^(c + id)."""

    def kernel(*operands: Array) -> Scaled:
        exponent, angle, spent = kernels.log_of_power(*map(dd.of, operands))
        turned, error = function(angle)
        value, n = exp_scaled(exponent)
        total = kernels.power_error(turned, error, spent)
        return Scaled.of(*dd.mul(value, turned), total, n).known_where(total < POWER_ERROR)

    return kernel


def _power_of_two(part: Kernel) -> Kernel:
    return lambda x, y: part(np.full_like(x, 2.0), np.zeros_like(x), x, y)


_SIN, _COS = either(odd(1.0, -1.0), _of(kernels.sin)), _of(kernels.cos)
_SINH = either(either(odd(1.0, 1.0), range_ends.half_exp_odd), _of(kernels.sinh))
_COSH = either(range_ends.half_exp, _of(kernels.cosh))
_EXP2_COS, _EXP2_SIN = (_of(kernels.exp2_angle(kernel)) for kernel in (kernels.cos, kernels.sin))

PARTS = MappingProxyType(
    {
        "div.real": quotient_real,
        "div.imag": quotient_imag,
        "reciprocal.real": _reciprocal(quotient_real),
        "reciprocal.imag": _reciprocal(quotient_imag),
        "exp.real": product(range_ends.exp, _COS),
        "exp.imag": product(range_ends.exp, _SIN),
        "exp2.real": either(product(range_ends.exp2, _EXP2_COS), _power_of_two(far_powers.real)),
        "exp2.imag": either(product(range_ends.exp2, _EXP2_SIN), _power_of_two(far_powers.imag)),
        "expm1.imag": product(range_ends.exp, _SIN),
        "sinh.real": product(_SINH, _COS),
        "sinh.imag": product(_COSH, _SIN),
        "cosh.real": product(_COSH, _COS),
        "cosh.imag": product(_SINH, _SIN),
        "sin.real": product(_SIN, _COSH),
        "sin.imag": product(_COS, _SINH),
        "cos.real": product(_COS, _COSH),
        "cos.imag": _minus(product(_SIN, _SINH)),
        **complex_inverse_ends.PARTS,
        "pow.real": either(_power(kernels.cos), far_powers.real),
        "pow.imag": either(_power(kernels.sin), far_powers.imag),
    }
)
