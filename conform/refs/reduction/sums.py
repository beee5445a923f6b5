"""Ops that reduce or accumulate along dims. Sums of floats are exact and rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from itertools import accumulate
from math import copysign, inf, isfinite, isnan, nan, prod

from conform.refs.elementwise.comparison import greater
from conform.refs.exact.exponentials import log_sum_exp
from conform.refs.exact.promotion import BOOL, COMPLEX, FLOAT, INTEGER, category, converted
from conform.refs.exact.reals import add_exact, exact, multiply_exact, round_exact, round_real, sum_exact
from conform.refs.exact.rounding import FLOAT_FORMATS, wrap_integer
from conform.refs.exact.tensor import (
    UNSPECIFIED,
    RefTensor,
    Unspecified,
    dims_or_all,
    groups,
    lines,
    reduced_shape,
    wrap_dim,
)
from conform.refs.references import reference


def sum_dtype(self: RefTensor, dtype: str | None) -> str:
    """torch.sum: the dtype argument, to which self is converted first; without it bools and integers sum in int64."""
    if dtype is not None:
        return dtype
    return self.dtype if category(self.dtype) >= FLOAT else "int64"


@reference("aten::sum", "aten::sum.dim_IntList")
def sum_(
    self: RefTensor, dim: list[int] | int | None = None, keepdim: bool = False, dtype: str | None = None
) -> RefTensor:
    """The sum over `dim`, over all dims if it is None or []; 0 where nothing is summed."""
    result_dtype = sum_dtype(self, dtype)
    values = converted(self, result_dtype)
    dims = dims_or_all(dim, len(self.shape))
    sums = [_sum_line(result_dtype, [values[i] for i in group]) for group in groups(self.shape, dims)]
    return RefTensor(result_dtype, reduced_shape(self.shape, dims, keepdim), sums)


def _sum_line(dtype: str, values: list) -> bool | int | float:
    kind = category(dtype)
    if kind == COMPLEX:
        raise NotImplementedError("the reference of sum covers real dtypes only")
    if UNSPECIFIED in values:  # a float that the integer dtype does not hold
        return UNSPECIFIED
    if kind == BOOL:
        return any(values)
    if kind == INTEGER:
        return wrap_integer(dtype, sum(values))
    return round_exact(dtype, sum_exact(values))


@reference("aten::cumsum")
def cumsum(self: RefTensor, dim: int, dtype: str | None = None) -> RefTensor:
    """Element i is the sum of the elements 0..i along `dim`, rounded once."""
    result_dtype = sum_dtype(self, dtype)
    if category(result_dtype) == BOOL:
        raise ValueError("cumsum is not defined for bool")
    values = converted(self, result_dtype)
    data = list(values)
    for line in lines(self.shape, wrap_dim(dim, len(self.shape))):
        for position, total in zip(line, _prefix_sums(result_dtype, [values[i] for i in line]), strict=True):
            data[position] = total
    return RefTensor(result_dtype, self.shape, data)


def _prefix_sums(dtype: str, values: list) -> list:
    """The sums of the first 1, 2, ... values."""
    if category(dtype) == INTEGER and UNSPECIFIED not in values:
        return [wrap_integer(dtype, total) for total in accumulate(values)]
    if category(dtype) == FLOAT:
        return [round_exact(dtype, total) for total in accumulate(map(exact, values), add_exact)]
    return [_sum_line(dtype, values[: i + 1]) for i in range(len(values))]


@reference("aten::logsumexp", "aten::special_logsumexp")
def logsumexp(self: RefTensor, dim: list[int] | int, keepdim: bool = False) -> RefTensor:
    """log(sum e^x) over `dim`; integers and bools become float32 first (P18)."""
    if category(self.dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of logsumexp covers real dtypes only, found {self.dtype}")
    if self.shape and not isinstance(dim, int) and not dim:
        raise ValueError(f"logsumexp needs a dim, found {dim!r}")
    dtype = self.dtype if category(self.dtype) == FLOAT else "float32"
    values, dims = converted(self, dtype), dims_or_all(dim, len(self.shape))
    data = [round_logsumexp(dtype, [values[i] for i in group]) for group in groups(self.shape, dims)]
    return RefTensor(dtype, reduced_shape(self.shape, dims, keepdim), data)


def round_logsumexp(dtype: str, values: list[float]) -> float:
    """On the extended reals (P56): a -inf adds nothing, and the logarithm of nothing is -inf."""
    terms = [x for x in values if x != -inf]
    if not all(map(isfinite, terms)):
        return nan if any(map(isnan, terms)) else inf
    if len(terms) <= 1:  # the only rational logarithms
        return round_exact(dtype, exact(terms[0])) if terms else -inf
    return round_real(dtype, lambda: log_sum_exp(terms))


@reference("aten::prod", "aten::prod.dim_int")
def prod_(self: RefTensor, dim: int | None = None, keepdim: bool = False, dtype: str | None = None) -> RefTensor:
    """The product over `dim`, over all dims if it is None; 1 where there is no factor."""
    result_dtype = sum_dtype(self, dtype)
    values = converted(self, result_dtype)
    dims = dims_or_all(dim, len(self.shape))
    products = [product_line(result_dtype, [values[i] for i in group]) for group in groups(self.shape, dims)]
    return RefTensor(result_dtype, reduced_shape(self.shape, dims, keepdim), products)


def product_line(dtype: str, values: list) -> bool | int | float | Unspecified:
    kind = category(dtype)
    if kind == COMPLEX:
        raise NotImplementedError("the reference of prod covers real dtypes only")
    if UNSPECIFIED in values:  # a float that the integer dtype does not hold
        return UNSPECIFIED
    if kind == BOOL:
        return all(values)
    if kind == INTEGER:
        return wrap_integer(dtype, prod(values))
    return _round_product(dtype, values)


def _round_product(dtype: str, values: list[float]) -> float | Unspecified:
    """The real product; open where one of some factors leaves the range of the compute type (P61)."""
    product = reduce(multiply_exact, map(exact, values), (1, 0))
    if isinstance(product, float) and isnan(product):
        return nan
    if _leaves_range("float64" if dtype == "float64" else "float32", values):
        return UNSPECIFIED
    negative = sum(copysign(1.0, x) < 0 for x in values) % 2 == 1
    return copysign(round_exact(dtype, product), -1.0 if negative else 1.0)


def _leaves_range(compute_dtype: str, factors: Sequence[float]) -> bool:
    """Whether the magnitudes above 1 multiply to more than the range holds, or those below 1 to less than normal."""
    fmt = FLOAT_FORMATS[compute_dtype]
    greatest, least_normal = 2 * Fraction(2) ** fmt.emax * (1 - Fraction(1, 2**fmt.precision)), Fraction(2) ** fmt.emin
    magnitudes = [Fraction(abs(x)) for x in factors if x != 0 and isfinite(x)]
    above = prod((x for x in magnitudes if x > 1), start=Fraction(1))
    below = prod((x for x in magnitudes if x < 1), start=Fraction(1))
    return above > greatest or below < least_normal


@reference("aten::amax")
def amax(self: RefTensor, dim: list[int] | int = (), keepdim: bool = False) -> RefTensor:
    """The greatest element over `dim`, over all dims if it is []; NaN if there is one."""
    if category(self.dtype) == COMPLEX:
        raise ValueError(f"amax is not defined for {self.dtype}")
    dims = dims_or_all(dim, len(self.shape))
    if any(size == 0 for d, size in enumerate(self.shape) if d in dims):
        raise ValueError(f"amax over no element: shape {self.shape}, dims {dims}")
    data = [reduce(greater, (self.data[i] for i in group)) for group in groups(self.shape, dims)]
    return RefTensor(self.dtype, reduced_shape(self.shape, dims, keepdim), data)


@reference("aten::argmax")
def argmax(self: RefTensor, dim: int | None = None, keepdim: bool = False) -> RefTensor:
    """The first index of the greatest element (NaN is the greatest) along `dim`; None flattens the tensor."""
    if category(self.dtype) in (BOOL, COMPLEX):
        raise ValueError(f"argmax is not defined for {self.dtype}")
    dims = list(range(max(len(self.shape), 1))) if dim is None else [wrap_dim(dim, len(self.shape))]
    lists = groups(self.shape, dims)
    if not all(lists):
        raise ValueError(f"argmax over no element: shape {self.shape}, dim {dim}")
    data = [_first_greatest([self.data[i] for i in group]) for group in lists]
    return RefTensor("int64", reduced_shape(self.shape, dims, keepdim), data)


def _first_greatest(values: list) -> int:
    best = 0
    for i, value in enumerate(values):
        if values[best] == values[best] and (value != value or value > values[best]):
            best = i
    return best
