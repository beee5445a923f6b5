"""Orthogonal polynomials by their explicit sums of powers, in fractions (DLMF 18.5, Abramowitz and Stegun 22.3).

V and W are combinations of U: V_n = U_n - U_(n-1), W_n = U_n + U_(n-1) (DLMF 18.7.17); the shifted ones are those at
2x - 1.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from math import comb, factorial, isinf, isnan, nan

from conform.refs.exact.promotion import COMPLEX, Operand, category, common_operands
from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified
from conform.refs.references import reference

Sum = Callable[[int, Fraction], Fraction]
HIGHEST = 32  # P249


def _t(n: int, x: Fraction) -> Fraction:
    """The sum of C(n, 2k) x^(n - 2k) (x^2 - 1)^k"""
    return sum((comb(n, 2 * k) * x ** (n - 2 * k) * (x * x - 1) ** k for k in range(n // 2 + 1)), Fraction(0))


def _u(n: int, x: Fraction) -> Fraction:
    """The sum of C(n + 1, 2k + 1) x^(n - 2k) (x^2 - 1)^k"""
    terms = (comb(n + 1, 2 * k + 1) * x ** (n - 2 * k) * (x * x - 1) ** k for k in range(n // 2 + 1))
    return sum(terms, Fraction(0))


def _v(n: int, x: Fraction) -> Fraction:
    return _u(n, x) - (_u(n - 1, x) if n else 0)


def _w(n: int, x: Fraction) -> Fraction:
    return _u(n, x) + (_u(n - 1, x) if n else 0)


def _h(n: int, x: Fraction) -> Fraction:
    """n! times the sum of (-1)^k (2x)^(n - 2k) / (k! (n - 2k)!)"""
    terms = (Fraction((-1) ** k * factorial(n), factorial(k) * factorial(n - 2 * k)) * (2 * x) ** (n - 2 * k)
             for k in range(n // 2 + 1))  # fmt: skip
    return sum(terms, Fraction(0))


def _he(n: int, x: Fraction) -> Fraction:
    """n! times the sum of (-1)^k x^(n - 2k) / (2^k k! (n - 2k)!)"""
    terms = (Fraction((-1) ** k * factorial(n), 2**k * factorial(k) * factorial(n - 2 * k)) * x ** (n - 2 * k)
             for k in range(n // 2 + 1))  # fmt: skip
    return sum(terms, Fraction(0))


def _l(n: int, x: Fraction) -> Fraction:
    """The sum of C(n, k) (-x)^k / k!"""
    return sum((Fraction(comb(n, k), factorial(k)) * (-x) ** k for k in range(n + 1)), Fraction(0))


def _p(n: int, x: Fraction) -> Fraction:
    """2^-n times the sum of (-1)^k C(n, k) C(2n - 2k, n) x^(n - 2k)"""
    terms = ((-1) ** k * comb(n, k) * comb(2 * n - 2 * k, n) * x ** (n - 2 * k) for k in range(n // 2 + 1))
    return sum(terms, Fraction(0)) / 2**n


def round_polynomial(sum_: Sum, dtype: str, x: float, n: float) -> float | Unspecified:
    """Of degrees from 0 to 32 alone, and of infinities up to 1 (P249)."""
    if isnan(n) or not 0 <= n < HIGHEST + 1:
        return UNSPECIFIED
    if (n := int(n)) == 0:
        return 1.0
    if isnan(x) or isinf(x):
        is_rising = sum_(1, Fraction(1)) > sum_(1, Fraction(0))
        return nan if isnan(x) else UNSPECIFIED if n > 1 else x if is_rising else -x
    value = sum_(int(n), Fraction(x))
    return round_ratio(dtype, value.numerator, value.denominator)


def _define(name: str, sum_: Sum) -> None:
    def function(x: Operand, n: Operand) -> RefTensor:
        dtype, shape, data = common_operands(x, n, floating=True)
        if category(dtype) == COMPLEX:
            raise ValueError(f"{name} is not defined for {dtype}")
        once = cache(lambda x, n: round_polynomial(sum_, dtype, x, n))
        return RefTensor(dtype, shape, [once(*pair) for pair in zip(*data, strict=True)])

    function.__name__, function.__doc__ = name, f"The {name.replace('_', ' ')} of degree n at x"
    reference(*(f"aten::special_{name}{suffix}" for suffix in ("", ".x_scalar", ".n_scalar")))(function)


for _kind, _sum in {"t": _t, "u": _u, "v": _v, "w": _w}.items():
    _define(f"chebyshev_polynomial_{_kind}", _sum)
    _define(f"shifted_chebyshev_polynomial_{_kind}", lambda n, x, _sum=_sum: _sum(n, 2 * x - 1))
_define("hermite_polynomial_h", _h)
_define("hermite_polynomial_he", _he)
_define("laguerre_polynomial_l", _l)
_define("legendre_polynomial_p", _p)
