"""Frobenius's norm."""

from __future__ import annotations

from fractions import Fraction
from math import inf, isinf, isnan, nan

from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.rounding import round_sqrt
from conform.refs.exact.tensor import RefTensor, dims_or_all, groups, reduced_shape
from conform.refs.references import reference


@reference("aten::frobenius_norm.dim")
def frobenius_norm(self: RefTensor, dim: list[int], keepdim: bool = False) -> RefTensor:
    """The root of the sum of the squares over the dims, at most two of them; over all of none."""
    if category(self.dtype) != FLOAT:
        raise NotImplementedError(f"the reference of frobenius_norm covers floats, found {self.dtype}")
    if len(dim) > 2 or len(set(dims_or_all(dim, len(self.shape)))) != (len(dim) or max(len(self.shape), 1)):
        raise ValueError(f"frobenius_norm is over two different dims at most, found {dim}")
    dims = dims_or_all(dim, len(self.shape))
    data = [_root_of_squares(self.dtype, [self.data[i] for i in group]) for group in groups(self.shape, dims)]
    return RefTensor(self.dtype, reduced_shape(self.shape, dims, keepdim), data)


def _root_of_squares(dtype: str, numbers: list[float]) -> float:
    if any(map(isnan, numbers)):
        return nan
    if any(map(isinf, numbers)):
        return inf
    squares = sum((Fraction(x) ** 2 for x in numbers), Fraction(0))
    return round_sqrt(dtype, squares.numerator, squares.denominator)
