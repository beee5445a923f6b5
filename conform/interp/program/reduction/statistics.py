"""What statistics, and sums of functions, are composed of."""

from __future__ import annotations

from typing import Any

from conform.interp.program.apply import apply
from conform.interp.program.elementwise.combinations import where
from conform.interp.program.number import Number
from conform.interp.program.reduction.over import Dims
from conform.interp.program.reduction.sums import mean_over, var, vector_norm
from conform.interp.program.rules import composition


@composition("aten::var", "aten::var.dim")
def var_unbiased(self: Number, dim: Dims = None, unbiased: bool = True, keepdim: bool = False) -> Number:
    return var(self, dim, int(unbiased), keepdim)


@composition("aten::std", "aten::std.dim")
def std_unbiased(self: Number, dim: Dims = None, unbiased: bool = True, keepdim: bool = False) -> Number:
    return var(self, dim, int(unbiased), keepdim).sqrt()


@composition("aten::std.correction")
def std(self: Number, dim: Dims = None, correction: float | None = None, keepdim: bool = False) -> Number:
    return var(self, dim, correction, keepdim).sqrt()


@composition("aten::var_mean.correction")
def var_mean(
    self: Number, dim: Dims = None, correction: float | None = None, keepdim: bool = False
) -> tuple[Number, Number]:
    return var(self, dim, correction, keepdim), mean_over(self, dim, keepdim)


@composition("aten::std_mean.correction")
def std_mean(
    self: Number, dim: Dims = None, correction: float | None = None, keepdim: bool = False
) -> tuple[Number, Number]:
    return std(self, dim, correction, keepdim), mean_over(self, dim, keepdim)


@composition("aten::logsumexp")
def logsumexp(self: Number, dim: Dims, keepdim: bool = False) -> Number:
    """The largest element, which is taken out first, and the logarithm of the sum; of an infinity it is that."""
    largest = self.amax(dim, True)
    shift = where(largest.isfinite(), largest, 0.0)
    result = (self - shift).exp().sum(dim, True).log() + shift
    return result if keepdim else result.sum(dim)


@composition("aten::nansum")
def nansum(self: Number, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> Number:
    return where(self.isnan(), 0.0, self).sum(dim, keepdim, dtype=dtype)


@composition("aten::nanmean")
def nanmean(self: Number, dim: Dims = None, keepdim: bool = False, dtype: str | None = None) -> Number:
    return nansum(self, dim, keepdim, dtype) / apply("aten::sum", ~self.isnan(), dim, keepdim)


@composition("aten::aminmax")
def aminmax(self: Number, dim: int | None = None, keepdim: bool = False) -> tuple[Number, Number]:
    dims = [] if dim is None else [dim]
    return self.amin(dims, keepdim), self.amax(dims, keepdim)


@composition("aten::norm.Scalar")
def norm(self: Number, p: float = 2) -> Any:
    return vector_norm(self, p)
