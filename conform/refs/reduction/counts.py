"""Counts by value and by interval: bincount, histc."""

from __future__ import annotations

from fractions import Fraction
from math import floor, isfinite, isnan, nan

from conform.refs.exact.promotion import FLOAT, INTEGER, Scalar, category
from conform.refs.exact.reals import round_exact, sum_exact
from conform.refs.exact.rounding import round_number
from conform.refs.exact.tensor import UNSPECIFIED, RefTensor
from conform.refs.references import reference


@reference("aten::bincount")
def bincount(self: RefTensor, weights: RefTensor | None = None, minlength: int = 0) -> RefTensor:
    """How often each of 0, 1, ... max(self) occurs, or the sum of its weights; zeros up to minlength places."""
    if category(self.dtype) != INTEGER or len(self.shape) != 1 or minlength < 0 or any(i < 0 for i in self.data):
        raise ValueError(f"bincount of {self.dtype}, shape {self.shape}, minlength {minlength}")
    places = range(max([minlength, *(i + 1 for i in self.data)]))
    if weights is None:
        return RefTensor("int64", (len(places),), [self.data.count(i) for i in places])
    if weights.shape != self.shape:
        raise ValueError(f"weights of shape {weights.shape} for self of shape {self.shape}")
    if weights.dtype not in ("float32", "float64"):
        raise NotImplementedError(f"torch documents no dtype of bincount for weights of {weights.dtype}")
    lists = [[w for i, w in zip(self.data, weights.data, strict=True) if i == place] for place in places]
    data = [round_exact(weights.dtype, sum_exact(terms)) for terms in lists]
    return RefTensor(weights.dtype, (len(places),), data)


@reference("aten::histc")
def histc(self: RefTensor, bins: int = 100, min: Scalar = 0, max: Scalar = 0) -> RefTensor:
    """How many elements each of `bins` equal intervals of [min, max] holds, the last one with its upper end.

    What is outside, and NaN, is not counted. With min and max 0 they are those of the data; open where those are
    equal, or not finite (P144).
    """
    if category(self.dtype) != FLOAT or bins <= 0 or isinstance(min, complex) or isinstance(max, complex):
        raise ValueError(f"histc of {self.dtype}, {bins} bins from {min} to {max}")
    if not (isfinite(min) and isfinite(max)) or min > max:
        raise ValueError(f"a histogram from {min} to {max}")
    low, high = float(min), float(max)
    if low == high == 0 and self.data:
        ordered = sorted(self.data)
        low, high = (nan, nan) if any(map(isnan, ordered)) else (ordered[0], ordered[-1])
    if self.data and not (isfinite(low) and isfinite(high) and low < high):
        return RefTensor(self.dtype, (bins,), [UNSPECIFIED] * bins)
    counts = [0] * bins
    for x in self.data:
        if low <= x <= high:
            part = (Fraction(x) - Fraction(low)) / (Fraction(high) - Fraction(low))
            counts[bins - 1 if x == high else floor(part * bins)] += 1
    return RefTensor(self.dtype, (bins,), [round_number(self.dtype, count) for count in counts])
