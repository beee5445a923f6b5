"""mean, var and std: exact quotients of exact sums, rounded once."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf, isfinite, nan

from conform.refs.exact.promotion import COMPLEX, FLOAT, Scalar, category, converted
from conform.refs.exact.reals import scale_to_integers, sum_exact
from conform.refs.exact.rounding import round_ratio, round_sqrt
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, dims_or_all, groups, reduced_shape
from conform.refs.references import reference

Dims = list[int] | int | None


def _refuse_other_than_float(op: str, dtype: str) -> None:
    """ValueError for integers and bools (P58), NotImplementedError for complex."""
    if category(dtype) < FLOAT:
        raise ValueError(f"{op} is not defined for {dtype}")
    if category(dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of {op} covers real dtypes only, found {dtype}")


def _reduce(dtype: str, self: RefTensor, values: list, dim: Dims, keepdim: bool, line: Callable) -> RefTensor:
    """`line(dtype, values)` of the values over `dim`, over all dims where that is None or []."""
    dims = dims_or_all(dim, len(self.shape))
    data = [line(dtype, [values[i] for i in group]) for group in groups(self.shape, dims)]
    return RefTensor(dtype, reduced_shape(self.shape, dims, keepdim), data)


@reference("aten::mean", "aten::mean.dim")
def mean(self: RefTensor, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> RefTensor:
    """The sum over `dim` divided by the number of its elements; self is first converted to a dtype that is given."""
    result_dtype = dtype or self.dtype
    _refuse_other_than_float("mean", result_dtype)
    return _reduce(result_dtype, self, values=converted(self, result_dtype), dim=dim, keepdim=keepdim, line=round_mean)


def round_mean(dtype: str, values: list[float]) -> float:
    """The sum divided by the count; NaN of no values (P57), infinite or NaN where the sum is."""
    if not values:
        return nan
    total = sum_exact(values)
    if isinstance(total, float):
        return total
    m, e = total
    return round_ratio(dtype, m << max(e, 0), len(values) << max(-e, 0))


@reference("aten::var.correction")
def var(self: RefTensor, dim: Dims = None, correction: Scalar | None = None, keepdim: bool = False) -> RefTensor:
    """sum (x - mean)^2 / max(0, n - correction) over `dim`."""
    return _of_variance("var", _round_var, self, dim, correction=correction, keepdim=keepdim)


@reference("aten::std.correction")
def std(self: RefTensor, dim: Dims = None, correction: Scalar | None = None, keepdim: bool = False) -> RefTensor:
    """The square root of var."""
    return _of_variance("std", _round_std, self, dim, correction=correction, keepdim=keepdim)


def _of_variance(
    name: str, rounded: Callable, self: RefTensor, dim: Dims, correction: Scalar | None, keepdim: bool
) -> RefTensor:
    _refuse_other_than_float(name, self.dtype)
    taken = _correction(correction)

    def line(dtype: str, xs: list[float]) -> object:
        return rounded(dtype, variance(xs, taken))

    return _reduce(self.dtype, self, values=self.data, dim=dim, keepdim=keepdim, line=line)


def _correction(correction: Scalar | None) -> float:
    """What is taken from the count, 1 by default (P59)."""
    if isinstance(correction, complex):
        raise ValueError(f"correction is a real number, found {correction!r}")
    return 1.0 if correction is None else float(correction)


@reference("aten::var", "aten::var.dim")
def var_unbiased(self: RefTensor, dim: Dims = None, unbiased: bool = True, keepdim: bool = False) -> RefTensor:
    """var with a correction of 1, or of 0 where not unbiased."""
    return var(self, dim, int(unbiased), keepdim)


@reference("aten::std", "aten::std.dim")
def std_unbiased(self: RefTensor, dim: Dims = None, unbiased: bool = True, keepdim: bool = False) -> RefTensor:
    """std with a correction of 1, or of 0 where not unbiased."""
    return std(self, dim, int(unbiased), keepdim)


def variance(values: list[float], correction: float) -> Fraction | float | Unspecified:
    """sum (x - mean)^2 / max(0, n - correction), exactly; a float where it is infinite or NaN (P57), else P59."""
    if not values or not all(map(isfinite, values)) or correction != correction:
        return nan
    squares = sum_of_squared_deviations(values)
    if correction == -inf:
        return Fraction(0)
    if len(values) <= correction:
        return inf if squares else nan if len(values) == 1 else UNSPECIFIED
    return squares / (len(values) - Fraction(correction))


def sum_of_squared_deviations(values: list[float]) -> Fraction:
    """sum (x - mean)^2 of finite values."""
    integers, exponent = scale_to_integers(values)
    count, total = len(values), sum(integers)
    return Fraction(sum((count * x - total) ** 2 for x in integers), count * count) * Fraction(4) ** exponent


def _round_var(dtype: str, value: Fraction | float | Unspecified) -> float | Unspecified:
    return round_ratio(dtype, value.numerator, value.denominator) if isinstance(value, Fraction) else value


def _round_std(dtype: str, value: Fraction | float | Unspecified) -> float | Unspecified:
    return round_sqrt(dtype, value.numerator, value.denominator) if isinstance(value, Fraction) else value
