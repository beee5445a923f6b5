"""Distances of vectors: norms of the exact differences, rounded once."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf, isfinite, isnan, nan

from conform.refs.exact.promotion import FLOAT, category
from conform.refs.exact.rounding import round_number, round_ratio
from conform.refs.exact.tensor import (
    UNSPECIFIED,
    RefTensor,
    Unspecified,
    broadcast_shapes,
    expand,
    positions,
    strides_of,
)
from conform.refs.reduction.norms import round_power_mean
from conform.refs.references import reference


@reference("aten::cdist", "aten::_cdist_forward")
def cdist(x1: RefTensor, x2: RefTensor, p: float = 2.0, compute_mode: int | None = None) -> RefTensor:
    """result[..., i, j] is the p-norm of x1[..., i, :] - x2[..., j, :]; batch dims broadcast.

    p 0 counts the differences that are not 0, p inf takes the greatest magnitude. compute_mode only chooses a way.
    """
    _check("cdist", x1, p)
    if x2.dtype != x1.dtype or min(len(x1.shape), len(x2.shape)) < 2 or x1.shape[-1] != x2.shape[-1]:
        raise ValueError(f"x1 of {x1.dtype}, shape {x1.shape}; x2 of {x2.dtype}, shape {x2.shape}")
    if compute_mode not in (None, 0, 1, 2):
        raise ValueError(f"compute_mode {compute_mode}")
    batch = broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
    (rows, width), columns = x1.shape[-2:], x2.shape[-2]
    starts = (_batch_starts(x, batch) for x in (x1, x2))
    data = [
        _distance(x1.dtype, p, x1.data[a + i * width :][:width], x2.data[b + j * width :][:width])
        for a, b in zip(*starts, strict=True)
        for i in range(rows)
        for j in range(columns)
    ]
    return RefTensor(x1.dtype, (*batch, rows, columns), data)


@reference("aten::_euclidean_dist")
def euclidean_dist(x1: RefTensor, x2: RefTensor) -> RefTensor:
    """The length of x1[..., i, :] - x2[..., j, :], for every i and j."""
    return cdist(x1, x2)


def _batch_starts(x: RefTensor, batch: Sequence[int]) -> list[int]:
    """The position of the first element of x's matrix for each index of the batch."""
    strides = strides_of(x.shape)[:-2]
    repeating = [0 if size == 1 else stride for size, stride in zip(x.shape[:-2], strides, strict=True)]
    return positions(batch, [0] * (len(batch) - len(repeating)) + repeating)


@reference("aten::_pdist_forward", "aten::pdist")
def pdist(self: RefTensor, p: float = 2.0) -> RefTensor:
    """The p-norms of the differences of all pairs of rows i < j of a matrix, in the order (0, 1), (0, 2), ..."""
    _check("pdist", self, p)
    if len(self.shape) != 2:
        raise ValueError(f"pdist needs a matrix, found shape {self.shape}")
    count, width = self.shape
    rows = [self.data[i * width : (i + 1) * width] for i in range(count)]
    data = [_distance(self.dtype, p, rows[i], rows[j]) for i in range(count) for j in range(i + 1, count)]
    return RefTensor(self.dtype, (len(data),), data)


@reference("aten::dist")
def dist(self: RefTensor, other: RefTensor, p: int | float = 2) -> RefTensor:
    """The p-norm of self - other, one number; shapes broadcast. Of no elements 0, but for p inf, which has none."""
    _check("dist", self, p)
    if other.dtype != self.dtype:
        raise ValueError(f"dist of {self.dtype} and {other.dtype}")
    shape = broadcast_shapes(self.shape, other.shape)
    x, y = (expand(one.data, one.shape, shape) for one in (self, other))
    if not x and p == inf:
        raise ValueError("the largest of no elements")
    return RefTensor(self.dtype, (), [_distance(self.dtype, float(p), x, y)])


def _check(op: str, x: RefTensor, p: float) -> None:
    if category(x.dtype) != FLOAT or not p >= 0:
        raise ValueError(f"{op} of {x.dtype} with p {p}")


def _distance(dtype: str, p: float, x: list[float], y: list[float]) -> float | Unspecified:
    """The norm of x - y; with p 0 open where a difference is NaN."""
    differences = [abs(_difference(a, b)) for a, b in zip(x, y, strict=True)]
    if any(isinstance(d, float) and isnan(d) for d in differences):
        return UNSPECIFIED if p == 0 else nan
    if p == 0:
        return round_number(dtype, sum(d != 0 for d in differences))
    if inf in differences:
        return inf
    terms = [d for d in differences if d != 0]
    if not terms:
        return 0.0
    if p == inf:
        return round_ratio(dtype, max(terms).numerator, max(terms).denominator)
    return round_power_mean(dtype, terms, p)


def _difference(x: float, y: float) -> Fraction | float:
    """x - y, a fraction where both are finite."""
    return Fraction(x) - Fraction(y) if isfinite(x) and isfinite(y) else x - y
