"""The incomplete gamma functions, the Hurwitz zeta function, polygamma and the multivariate log-gamma function."""

from __future__ import annotations

import numpy as np

from conform.interp.golden import Golden
from conform.interp.operands import broadcast_numbers, numbers
from conform.interp.ops.functions import gamma_formulas as formulas
from conform.interp.promotion import Operand, float_result, result_type
from conform.interp.semantics import pointwise
from conform.numerics import functions
from conform.numerics.ball import Ball
from conform.numerics.functions import hurwitz, incomplete_gamma, multigamma
from conform.numerics.real import where
from conform.numerics.rounding_errors import held_format


def _incomplete(is_upper: bool, self: np.ndarray, other: np.ndarray) -> Golden:
    fmt = result_type(self, other)
    a, x = broadcast_numbers(fmt, self, other)
    value, real = incomplete_gamma.apply(is_upper, fmt, a, x)
    shape, point = (Ball.exact(operand, held_format(fmt)) for operand in (a, x))
    golden = Golden.derived(fmt, value, real, formulas.incomplete(is_upper, shape, point, real.hi))
    return golden.opened(np.isinf(a) & np.isinf(x) & (a > 0) & (x > 0), "P246")


@pointwise("aten::igamma", "aten::special_gammainc")
def igamma(self: np.ndarray, other: np.ndarray) -> Golden:
    """The integral of t^(self - 1) e^-t from 0 to other, over Gamma(self); 1 of self = 0 and 0 of other = 0, NaN of two
    zeros and of negative operands (P246)"""
    return _incomplete(False, self, other)


@pointwise("aten::igammac", "aten::special_gammaincc")
def igammac(self: np.ndarray, other: np.ndarray) -> Golden:
    """The integral of t^(self - 1) e^-t from other on, over Gamma(self); 0 of self = 0 and 1 of other = 0, NaN of two
    zeros and of negative operands (P246)"""
    return _incomplete(True, self, other)


@pointwise("aten::special_zeta", "aten::special_zeta.self_scalar", "aten::special_zeta.other_scalar")
def zeta(self: Operand, other: Operand) -> Golden:
    """The sum of (k + other)^-self, k = 0, 1, ...; infinite where a term is, and of self = 1; NaN where self is no
    integer and other is negative (P247)"""
    fmt = float_result(result_type(self, other))
    s, q = broadcast_numbers(fmt, self, other)
    value, real = hurwitz.apply_zeta(fmt, s, q)
    exponent, begin = (Ball.exact(operand, held_format(fmt)) for operand in (s, q))
    golden = Golden.derived(fmt, value, real, formulas.zeta(exponent, begin, real.hi), zero_sign_free=True)
    with np.errstate(invalid="ignore"):
        is_between = (s != np.floor(s)) & (q < 0)  # powers of negative numbers that are not real
        is_pole = is_between & (q == np.floor(q))
        is_open = (s < 1) | np.isinf(s) | np.isinf(q) | is_pole | (s == 1) & (q <= 0)
    return golden.opened(is_open & ~(np.isnan(s) | np.isnan(q)), "P247")


@pointwise("aten::polygamma", "aten::special_polygamma")
def polygamma(n: int, self: np.ndarray) -> Golden:
    """The nth derivative of digamma; +inf at the poles of odd orders, open at the others and infinities (P248)"""
    fmt = float_result(result_type(self))
    x = numbers(self, fmt)
    ball = Ball.exact(x, held_format(fmt))
    if n == 0:
        value, real = functions.apply("digamma", fmt, x)
        return Golden.derived(fmt, value, real, formulas.digamma(ball))
    value, real = hurwitz.apply_polygamma(n, fmt, x)
    golden = Golden.derived(fmt, value, real, formulas.polygamma(n, ball, real.hi), zero_sign_free=True)
    at_pole = (x <= 0) & (x == np.floor(x)) if n % 2 == 0 else False
    return golden.opened(np.isinf(x) | at_pole, "P248")


@pointwise("aten::mvlgamma", "aten::special_multigammaln")
def mvlgamma(self: np.ndarray, p: int) -> Golden:
    """log Gamma(self) + log Gamma(self - 1/2) + ..., p terms, and p (p - 1)/4 log pi, where self is above (p - 1)/2;
    else open (P248)"""
    fmt = float_result(result_type(self))
    x = numbers(self, fmt)
    is_inside, is_nan = x > (p - 1) / 2, np.isnan(x)
    kept = np.where(is_inside, x, float(p))
    value, real = multigamma.apply(p, fmt, kept)
    ball = formulas.multigamma(p, Ball.exact(kept, held_format(fmt))).but_exact(is_nan)
    value = np.where(is_nan, fmt.storage.type(np.nan), value)
    golden = Golden.derived(fmt, value, where(is_nan, np.nan, real), ball)
    return golden.opened(~is_inside & ~is_nan, "P248")
