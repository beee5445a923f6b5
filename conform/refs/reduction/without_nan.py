"""Sums and means of the elements that are not NaN, and deviations beside their means."""

from __future__ import annotations

from math import isnan

from conform.refs.exact.promotion import COMPLEX, FLOAT, Scalar, category, converted
from conform.refs.exact.tensor import RefTensor, dims_or_all, groups, reduced_shape
from conform.refs.reduction.statistics import Dims, mean, round_mean, std, var
from conform.refs.reduction.sums import sum_, sum_dtype
from conform.refs.references import reference


@reference("aten::nansum")
def nansum(self: RefTensor, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> RefTensor:
    """The sum over `dim`, NaN counting as 0; self is first converted to a dtype that is given."""
    if category(self.dtype) == COMPLEX:
        raise ValueError(f"nansum is not defined for {self.dtype}")
    result_dtype = sum_dtype(self, dtype)
    data = [0.0 if isinstance(x, float) and isnan(x) else x for x in converted(self, result_dtype)]
    return sum_(RefTensor(result_dtype, self.shape, data), dim, keepdim, result_dtype)


@reference("aten::nanmean")
def nanmean(self: RefTensor, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> RefTensor:
    """The mean of the elements over `dim` that are not NaN; NaN where all are."""
    result_dtype = dtype or self.dtype
    if category(self.dtype) < FLOAT or category(result_dtype) < FLOAT:
        raise ValueError(f"nanmean of {self.dtype} in {result_dtype}")
    if category(result_dtype) == COMPLEX or category(self.dtype) == COMPLEX:
        raise NotImplementedError(f"the reference of nanmean covers real dtypes only, found {self.dtype}")
    values, dims = converted(self, result_dtype), dims_or_all(dim, len(self.shape))
    lists = [[values[i] for i in group] for group in groups(self.shape, dims)]
    data = [round_mean(result_dtype, [x for x in group if not isnan(x)]) for group in lists]
    return RefTensor(result_dtype, reduced_shape(self.shape, dims, keepdim), data)


@reference("aten::std_mean.correction")
def std_mean(
    self: RefTensor, dim: Dims = None, correction: Scalar | None = None, keepdim: bool = False
) -> tuple[RefTensor, RefTensor]:
    """std.correction and the mean."""
    return std(self, dim, correction, keepdim), mean(self, dim, keepdim)


@reference("aten::var_mean.correction")
def var_mean(
    self: RefTensor, dim: Dims = None, correction: Scalar | None = None, keepdim: bool = False
) -> tuple[RefTensor, RefTensor]:
    """var.correction and the mean."""
    return var(self, dim, correction, keepdim), mean(self, dim, keepdim)
