"""Quantiles of each line: sort, find the exact index, and go the documented way between the two numbers beside it."""

from __future__ import annotations

from fractions import Fraction
from math import floor, isinf, isnan, nan

from conform.refs.exact.rounding import round_ratio
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor, Unspecified, groups, reduced_shape, wrap_dim
from conform.refs.references import reference


@reference("aten::quantile")
def quantile(
    self: RefTensor, q: RefTensor, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> RefTensor:
    """The number at the index q (n - 1) of each line in order; NaN of a line with NaN."""
    if q.dtype != self.dtype or len(q.shape) > 1:
        raise ValueError(f"q of {q.dtype} {q.shape} for {self.dtype}")
    return _quantiles(self, q.data, q.shape, dim=dim, keepdim=keepdim, interpolation=interpolation, ignored=False)


@reference("aten::quantile.scalar")
def quantile_scalar(
    self: RefTensor, q: float, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> RefTensor:
    """The same of one q."""
    return _quantiles(self, [q], (), dim=dim, keepdim=keepdim, interpolation=interpolation, ignored=False)


@reference("aten::nanquantile")
def nanquantile(
    self: RefTensor, q: RefTensor, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> RefTensor:
    """The same of the numbers that are not NaN."""
    if q.dtype != self.dtype or len(q.shape) > 1:
        raise ValueError(f"q of {q.dtype} {q.shape} for {self.dtype}")
    return _quantiles(self, q.data, q.shape, dim=dim, keepdim=keepdim, interpolation=interpolation, ignored=True)


@reference("aten::nanquantile.scalar")
def nanquantile_scalar(
    self: RefTensor, q: float, dim: int | None = None, keepdim: bool = False, interpolation: str = "linear"
) -> RefTensor:
    """The same of one q."""
    return _quantiles(self, [q], (), dim=dim, keepdim=keepdim, interpolation=interpolation, ignored=True)


def _quantiles(
    self: RefTensor, shares: list[float], leading: tuple[int, ...], *, dim: int | None, keepdim: bool,
    interpolation: str, ignored: bool,
) -> RefTensor:  # fmt: skip
    if self.dtype not in ("float32", "float64"):
        raise ValueError(f"quantiles of {self.dtype}")
    if not self.data:
        raise ValueError("quantiles of no numbers")
    if interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
        raise ValueError(f"no interpolation {interpolation!r}")
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError(f"q lies in [0, 1], found {shares}")
    dims = list(range(len(self.shape))) if dim is None else [wrap_dim(dim, len(self.shape))]
    rows = [[self.data[i] for i in group] for group in groups(self.shape, dims)]
    shape = reduced_shape(self.shape, dims if self.shape else [], keepdim)
    data = [_of_line(self.dtype, row, share, interpolation, ignored) for share in shares for row in rows]
    return RefTensor(self.dtype, (*leading, *shape), data)


def _of_line(dtype: str, row: list[float], share: float, interpolation: str, ignored: bool) -> float | Unspecified:
    numbers = sorted(x for x in row if not isnan(x))
    if not numbers or (len(numbers) < len(row) and not ignored):
        return nan
    index = Fraction(share) * (len(numbers) - 1)
    below = floor(index)
    if index == below:
        return numbers[below]
    a, b, fraction = numbers[below], numbers[below + 1], index - below
    if a == b:
        return a
    match interpolation:
        case "lower":
            return a
        case "higher":
            return b
        case "nearest":
            return numbers[round(index)]
        case "midpoint":
            fraction = Fraction(1, 2)
    if isinf(a) or isinf(b):
        return UNSPECIFIED
    number = Fraction(a) + (Fraction(b) - Fraction(a)) * fraction
    return round_ratio(dtype, number.numerator, number.denominator)
