"""Norms of vectors: (sum |x|^p)^(1/p) of the real magnitudes, rounded once, and its limits at p = 0, inf and -inf."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite, isinf, isnan, nan

from flint import arb

from conform.refs.exact.exponentials import LEAST_EXPONENT
from conform.refs.exact.promotion import COMPLEX, FLOAT, Scalar, category, converted, promote_types
from conform.refs.exact.radicals import rational_power
from conform.refs.exact.reals import fraction_ball, round_real
from conform.refs.exact.rounding import round_number, round_ratio, round_sqrt
from conform.refs.exact.tensor import RefTensor, dims_or_all, groups, reduced_shape
from conform.refs.references import reference

# Where p = a / b has a greater a (and different numbers) or b, exact roots are not looked for: a ball at one would not
# decide, and `round_real` would say so.
MOST_EXACT_POWER = 64
MOST_EXACT_ROOT = 4096


@reference("aten::linalg_vector_norm")
def linalg_vector_norm(
    self: RefTensor,
    ord: Scalar = 2,
    dim: list[int] | int | None = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> RefTensor:
    """The `ord` norm of the elements over `dim`, of all of them where that is None or []."""
    result_dtype = _result_dtype(self.dtype, dtype)
    if isinstance(ord, complex):
        raise ValueError(f"the order of a norm is a real number, found {ord!r}")
    p = float(ord)
    if isnan(p):
        raise NotImplementedError("the reference of norms has no order NaN")
    values, dims = converted(self, result_dtype), dims_or_all(dim, len(self.shape))
    lists = groups(self.shape, dims)
    if (p < 0 or p == inf) and not all(lists):
        raise ValueError(f"a norm of order {p} needs an element (P60): shape {self.shape}, dims {dims}")
    data = [_round_norm(result_dtype, [abs(values[i]) for i in group], p) for group in lists]
    return RefTensor(result_dtype, reduced_shape(self.shape, dims, keepdim), data)


def _result_dtype(own: str, dtype: str | None) -> str:
    """`dtype`, or the tensor's own; ValueError if that is not of floats or the dtype is narrower (P58, P60)."""
    if category(own) < FLOAT:
        raise ValueError(f"a norm is not defined for {own}")
    if dtype is not None and category(dtype) != category(own):
        raise ValueError(f"the dtype of a norm of {own} is of its category, found {dtype}")
    if category(own) == COMPLEX:
        raise NotImplementedError(f"the reference of norms covers real dtypes only, found {own}")
    if dtype is not None and promote_types(own, dtype) != dtype:
        raise ValueError(f"the dtype of a norm of {own} must not be narrower, found {dtype}")
    return dtype or own


@reference("aten::norm.Scalar", "aten::norm.ScalarOpt_dim")
def norm(self: RefTensor, p: Scalar | None = 2, dim: list[int] | int | None = None, keepdim: bool = False) -> RefTensor:
    """The `p` norm over `dim`; p None is 2."""
    return linalg_vector_norm(self, 2 if p is None else p, dim, keepdim)


def _round_norm(dtype: str, magnitudes: list[float], p: float) -> float:
    if p == 0:
        return round_number(dtype, sum(x != 0 for x in magnitudes))  # NaN is not 0
    if any(map(isnan, magnitudes)):
        return nan
    if isinf(p):
        return max(magnitudes) if p > 0 else min(magnitudes)
    if p < 0:
        return _round_negative_norm(dtype, magnitudes, p)
    if inf in magnitudes:
        return inf
    terms = [x for x in magnitudes if x != 0]
    return round_power_mean(dtype, terms, p) if terms else 0.0


def _round_negative_norm(dtype: str, magnitudes: list[float], p: float) -> float:
    """For p < 0: 0^p is infinite and its root 0; inf^p is 0, and the root of 0 infinite."""
    if 0 in magnitudes:
        return 0.0
    terms = [x for x in magnitudes if isfinite(x)]
    return round_power_mean(dtype, terms, p) if terms else inf


def round_power_mean(dtype: str, terms: Sequence[float | Fraction], p: float) -> float:
    """(sum x^p)^(1/p) of finite positive numbers, at least one, rounded once."""
    if p == 2:
        squares = sum(Fraction(x) ** 2 for x in terms)
        return round_sqrt(dtype, squares.numerator, squares.denominator)
    exactly = _rational_norm([Fraction(x) for x in terms], Fraction(p))
    if exactly is not None:
        return round_ratio(dtype, exactly.numerator, exactly.denominator)
    dominant = max(terms) if p > 0 else min(terms)
    return round_real(dtype, lambda: _norm_ball(terms, dominant, p))


def _norm_ball(terms: Sequence[float | Fraction], dominant: float | Fraction, p: float) -> arb:
    """dominant * (sum (x / dominant)^p)^(1/p), by logarithms; no power is greater than 1, that of `dominant`."""
    log_dominant, order = _ball(dominant).log(), arb(p)
    rest = list(terms)
    rest.remove(dominant)
    powers = {x: ((_ball(x).log() - log_dominant) * order).max(arb(LEAST_EXPONENT)).exp() for x in set(rest)}
    log_sum = sum((powers[x] for x in rest), arb(0)).log1p()
    return _ball(dominant) * (log_sum / order).max(arb(LEAST_EXPONENT)).min(arb(-LEAST_EXPONENT)).exp()


def _ball(x: float | Fraction) -> arb:
    return fraction_ball(Fraction(x))


def _rational_norm(terms: list[Fraction], p: Fraction) -> Fraction | None:
    """(sum x^p)^(1/p) if it is rational.

    With x0 one of the terms the norm is x0 * (sum (x / x0)^p)^(1/p). If it is a rational c, then the positive radicals
    x^p add up to the radical c^p. Positive radicals whose ratios are irrational are linearly independent over the
    rationals (Besicovitch), so each (x / x0)^p is rational, and so is the root of their sum.
    """
    x0 = terms[0]
    if len(terms) == 1:
        return x0
    if p.denominator > MOST_EXACT_ROOT or (len(set(terms)) > 1 and abs(p.numerator) > MOST_EXACT_POWER):
        return None
    total = Fraction(0)
    for x in terms:
        power = rational_power(x / x0, p)
        if power is None:
            return None
        total += power
    root = rational_power(total, 1 / p)
    return None if root is None else x0 * root
