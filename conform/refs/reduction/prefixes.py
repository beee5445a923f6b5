"""What is said of the first 1, 2, ... elements along a dim: extremes, products, sums of exponentials."""

from __future__ import annotations

from collections.abc import Callable

from conform.refs.elementwise.comparison import greater
from conform.refs.exact.promotion import BOOL, FLOAT, Scalar, category, converted
from conform.refs.exact.tensor import RefTensor, lines, wrap_dim
from conform.refs.reduction.extremes import refuse_complex, smaller
from conform.refs.reduction.sums import product_line, round_logsumexp, sum_dtype
from conform.refs.references import reference


@reference("aten::cummax")
def cummax(self: RefTensor, dim: int) -> tuple[RefTensor, RefTensor]:
    """The greatest of the elements 0..i, NaN from the first NaN on, and an index of it: of equal ones the last."""
    return _running("cummax", self, dim, greater)


@reference("aten::cummin")
def cummin(self: RefTensor, dim: int) -> tuple[RefTensor, RefTensor]:
    """The least of the elements 0..i, NaN from the first NaN on, and an index of it: of equal ones the last."""
    return _running("cummin", self, dim, smaller)


def _running(
    op: str, self: RefTensor, dim: int, better: Callable[[Scalar, Scalar], Scalar]
) -> tuple[RefTensor, RefTensor]:
    refuse_complex(op, self.dtype)
    values, indices = list(self.data), [0] * len(self.data)
    for line in lines(self.shape, wrap_dim(dim, len(self.shape))):
        best = 0
        for i, position in enumerate(line):
            x, chosen = self.data[position], self.data[line[best]]
            if x != x or (chosen == chosen and better(x, chosen) == x):
                best = i
            values[position], indices[position] = self.data[line[best]], best
    return RefTensor(self.dtype, self.shape, values), RefTensor("int64", self.shape, indices)


def _of_prefixes(dtype: str, self: RefTensor, dim: int, of_prefix: Callable[[str, list], object]) -> RefTensor:
    values = converted(self, dtype)
    data = list(values)
    for line in lines(self.shape, wrap_dim(dim, len(self.shape))):
        elements = [values[position] for position in line]
        for i, position in enumerate(line):
            data[position] = of_prefix(dtype, elements[: i + 1])
    return RefTensor(dtype, self.shape, data)


@reference("aten::cumprod")
def cumprod(self: RefTensor, dim: int, dtype: str | None = None) -> RefTensor:
    """Element i is the product of the elements 0..i along `dim`, rounded once, as prod has it (P61)."""
    result_dtype = sum_dtype(self, dtype)
    if category(result_dtype) == BOOL:
        raise ValueError("cumprod is not defined for bool")
    return _of_prefixes(result_dtype, self, dim, product_line)


@reference("aten::logcumsumexp")
def logcumsumexp(self: RefTensor, dim: int) -> RefTensor:
    """Element i is the logsumexp (P56) of the elements 0..i along `dim`."""
    if category(self.dtype) != FLOAT:
        raise ValueError(f"the reference of logcumsumexp covers floats only, found {self.dtype}")
    return _of_prefixes(self.dtype, self, dim, round_logsumexp)
